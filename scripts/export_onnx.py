"""Writes ONNX files of T5-small's shape with random weights, f32 and int8, for `cargo xtask bench --onnx OUT`.

Needs, in a virtual environment: torch, "optimum-onnx[onnxruntime]", "transformers<5", onnx; 3 GB on disk, two minutes.
Usage: python scripts/export_onnx.py OUT
"""

import subprocess
import sys

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import T5Config, T5ForConditionalGeneration

PARTS = ("encoder_model", "decoder_model", "decoder_with_past_model")


def main(out: str) -> None:
    torch.manual_seed(0)
    config = T5Config(vocab_size=32128, d_model=512, d_kv=64, d_ff=2048, num_layers=6, num_heads=8, decoder_start_token_id=0)
    T5ForConditionalGeneration(config).eval().save_pretrained(out, safe_serialization=True)
    export = [sys.executable, "-m", "optimum.commands.optimum_cli", "export", "onnx", "--model", out]
    subprocess.run([*export, "--task", "text2text-generation-with-past", "--no-post-process", out], check=True)
    for part in PARTS:
        quantize_dynamic(f"{out}/{part}.onnx", f"{out}/{part}_q8.onnx", weight_type=QuantType.QInt8, per_channel=True)


if __name__ == "__main__":
    main(sys.argv[1])
