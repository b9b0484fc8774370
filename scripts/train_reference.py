"""Trains the same model on the same examples in PyTorch: how fast that is, and how fast it learns.

    cargo run --release -p hormone-t5 --features train --bin hormone -- examples --count 20000 > checkpoints/examples.jsonl
    python scripts/train_reference.py --run checkpoints/NAME --examples checkpoints/examples.jsonl --minutes 3

The run folder is one that `hormone pretrain` has just begun: its configuration, vocabulary and first weights are taken.
"""

import argparse
import json
import time
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import T5Config, T5ForConditionalGeneration

from hormone_reference import HORMONES, HormoneBlock, hormone_losses

MAX_TOKENS = 64


def padded(rows: list[list[int]], fill: int) -> torch.Tensor:
    width = max(1, max(map(len, rows)))
    return torch.tensor([row + [fill] * (width - len(row)) for row in rows])


def levels_of(value: dict | None) -> list[float]:
    return [value[name] for name in HORMONES] if value else [float("nan")] * len(HORMONES)


class Batch:
    """Examples as tensors."""

    def __init__(self, examples: list[dict], tokenizer: Tokenizer):
        def ids(text: str | None) -> list[int]:
            return tokenizer.encode(text, add_special_tokens=False).ids[: MAX_TOKENS - 1] + [1] if text else []

        sources = [ids(example["source"]) for example in examples]
        self.input_ids = padded(sources, 0)
        self.attention_mask = padded([[1] * len(source) for source in sources], 0)
        self.labels = padded([ids(example["target"]) for example in examples], -100)
        self.target_levels = torch.tensor([levels_of(example["target_levels"]) for example in examples])
        self.reply_levels = torch.tensor([levels_of(example["reply_levels"]) for example in examples])
        self.alpha = torch.tensor([float("nan") if example["alpha"] is None else example["alpha"] for example in examples])


def sequence_loss(t5: T5ForConditionalGeneration, block: HormoneBlock, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Cross-entropy of the replies and the predicted levels `[B, N]`."""
    hidden = t5.encoder(input_ids=batch.input_ids, attention_mask=batch.attention_mask).last_hidden_state
    reading = block(hidden, batch.attention_mask)
    levels = torch.where(batch.reply_levels.isnan(), reading.levels, batch.reply_levels)
    alpha = torch.where(batch.alpha.isnan(), block.alpha(), batch.alpha)
    modulated = hidden * (1 + alpha[:, None, None] * block.hormone_to_embedding(levels)[:, None, :])
    output = t5(encoder_outputs=(modulated,), attention_mask=batch.attention_mask, labels=batch.labels)
    return output.loss, reading.levels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--warmup-steps", type=int, default=150)
    parser.add_argument("--hormone-weight", type=float, default=15)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bf16", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(42)

    config = T5Config(**json.loads((arguments.run / "config.json").read_text()))
    t5, block = T5ForConditionalGeneration(config), HormoneBlock(config.d_model)
    weights = load_file(arguments.run / "model.safetensors")
    part = lambda prefix: {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
    t5.load_state_dict(part("t5."), strict=False)
    block.load_state_dict(part("hormone_block."))
    t5.train(), block.train()
    optimizer = torch.optim.AdamW([*t5.parameters(), *block.parameters()], lr=arguments.learning_rate, weight_decay=0.01)

    tokenizer = Tokenizer.from_file(str(arguments.run / "tokenizer.json"))
    examples = [json.loads(line) for line in arguments.examples.open()]
    held_out = [example for example in examples[-512:] if example["target"]]
    held_out = Batch(held_out, tokenizer)
    size = arguments.batch_size
    begun, step, seconds = time.time(), 0, 0.0
    while (step + 1) * size <= len(examples) - 512 and time.time() - begun < 60 * arguments.minutes:
        batch = Batch(examples[step * size : (step + 1) * size], tokenizer)
        start = time.time()
        for group in optimizer.param_groups:
            group["lr"] = arguments.learning_rate * min(1, (step + 1) / arguments.warmup_steps)
        with torch.autocast("cpu", torch.bfloat16, enabled=arguments.bf16):
            loss, levels = sequence_loss(t5, block, batch)
        known = ~batch.target_levels[:, 0].isnan()
        losses = hormone_losses(levels.float()[known], batch.target_levels[known], block.queries())
        total = loss + arguments.hormone_weight * (torch.nan_to_num(losses.mse) + 0.1 * losses.margin) + 0.1 * losses.diversity
        optimizer.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_([*t5.parameters(), *block.parameters()], 1.0)
        optimizer.step()
        step, seconds = step + 1, seconds + time.time() - start
        if step % 50 == 0:
            t5.eval(), block.eval()
            with torch.no_grad():
                right = sequence_loss(t5, block, held_out)[0].item()
                keep = held_out.input_ids, held_out.attention_mask
                held_out.input_ids, held_out.attention_mask = keep[0].roll(1, 0), keep[1].roll(1, 0)
                shuffled = sequence_loss(t5, block, held_out)[0].item()
                held_out.input_ids, held_out.attention_mask = keep
            t5.train(), block.train()
            print(
                f"step {step}  {seconds:.0f} s  loss {loss.item():.3f}  held out {right:.3f}"
                f"  conditional gain {shuffled - right:.3f}  {step * size / seconds:.1f} pairs/s",
                flush=True,
            )


if __name__ == "__main__":
    main()
