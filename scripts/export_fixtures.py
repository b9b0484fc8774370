#!/usr/bin/env python3
"""Writes the reference fixtures that the Rust tests of `hormone-t5` compare against.

Run by hand by maintainers, never by the build; its output is committed. From the repository's root, with Python 3.11 or later:

    python3 -m venv .venv && .venv/bin/pip install -r scripts/requirements.txt
    .venv/bin/python scripts/export_fixtures.py            # writes crates/hormone-t5/tests/fixtures
    .venv/bin/python scripts/export_fixtures.py --check    # recomputes from the committed weights and compares

Each takes about two minutes on an idle core. Versions: scripts/requirements.txt (torch 2.15.0, transformers 4.57.6, numpy 2.4.6,
safetensors 0.8.0; transformers 5 was not tried).

What is written, tensor by tensor: crates/hormone-t5/tests/fixtures/README.md. How it is made:

* Weights are seeded random numbers, far wilder than a fresh model's, so that a wrong bias, mask or scale shows. They are rounded
  to f16 and stored so; f16 and f32 loaders then see the same numbers.
* References are computed from the stored files by Hugging Face's T5 (eager attention, no dropout) and by `hormone_reference.py`, in
  float64; float tensors are stored as f32. Hugging Face itself goes through float32 in its softmax and norms.
* Ids, masks, settings and single numbers are JSON; float tensors are safetensors.
* Decoded ids must survive noise of 2e-4 on every logit, else the script refuses to write them: no test hangs on a near tie.
"""

import argparse
import json
import math
import random
import shutil
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList, T5Config, T5ForConditionalGeneration
from transformers.generation import logits_process
from transformers.modeling_outputs import BaseModelOutput
from transformers.models.t5.modeling_t5 import T5Attention
from transformers.utils import logging as transformers_logging

from hormone_reference import ATTENTION_TEMPERATURE, HORMONES, HormoneBlock, HormoneLosses, hormone_losses, initial_query

FIXTURES = Path(__file__).resolve().parent.parent / "crates" / "hormone-t5" / "tests" / "fixtures"
MAX_TOTAL_BYTES = 1_000_000

PAD, EOS, START, IGNORED_LABEL = 0, 1, 0, -100
SOURCE_LENGTHS = (1, 25, 140)
"""One token; an ordinary text; one longer than the farthest bucket (128)."""
TARGET_LENGTH = 40
NEW_TOKENS = 40
NOISE = 2e-4
"""About ten times what float32 does to these logits."""

Tensors = dict[str, Tensor]
Facts = dict[str, object]


@dataclass
class Expected:
    """A folder's references: `expected.safetensors` (and others) and `expected.json`."""

    facts: Facts
    tensors: Tensors = field(default_factory=dict)
    gradients: Tensors = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        write_json(folder / "expected.json", self.facts)
        for name, tensors in self.tensor_files():
            write_tensors(folder / name, tensors)

    def tensor_files(self) -> list[tuple[str, Tensors]]:
        files = [("expected.safetensors", self.tensors), ("gradients.safetensors", self.gradients)]
        return [(name, tensors) for name, tensors in files if tensors]


# ---------------------------------------------------------------------------------------------------------------------------
# Weights
# ---------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TinyT5:
    """A random T5: Hugging Face's configuration, and how wild its weights are."""

    folder: str
    config: T5Config
    seed: int
    score_deviation: float
    """Standard deviation of attention scores q.k."""
    embedding_deviation: float
    """Standard deviation of the embedding; small under a tied head, whose favourite next token is else the last one again."""
    attention_gain: float
    """Size of what attention adds to the residual stream."""
    feed_forward_gain: float
    """Size of what feed-forward layers add; large, so that the next token is a wild function of the last one."""
    logit_deviation: float


def t5_config(**fields: object) -> T5Config:
    shared = dict(vocab_size=96, d_model=32, d_ff=64, decoder_start_token_id=START, pad_token_id=PAD, eos_token_id=EOS)
    return T5Config(**shared, **fields, architectures=["T5ForConditionalGeneration"])


V1_0 = TinyT5(
    folder="t5-v1_0",
    config=t5_config(d_kv=8, num_heads=4, num_layers=2, feed_forward_proj="relu", tie_word_embeddings=True),
    seed=67,
    score_deviation=2.0,
    embedding_deviation=0.1,
    attention_gain=0.5,
    feed_forward_gain=4.0,
    logit_deviation=2.5,
)
V1_1 = TinyT5(
    folder="t5-v1_1",
    # The inner width of attention (2 * 12) is not d_model, and the decoder is shallower than the encoder.
    config=t5_config(
        d_kv=12, num_heads=2, num_layers=3, num_decoder_layers=2, feed_forward_proj="gated-gelu", tie_word_embeddings=False
    ),
    seed=3,
    score_deviation=2.0,
    embedding_deviation=1.0,
    attention_gain=1.0,
    feed_forward_gain=4.0,
    logit_deviation=2.5,
)
BLOCK_FOLDER, BLOCK_SEED, BLOCK_WIDTH = "hormone-block", 5, 32
STEP_FOLDER = "training-step"


def write_t5_weights(root: Path, tiny: TinyT5) -> None:
    """Writes `config.json` and `model.safetensors` (f16) as `save_pretrained` does: tied tensors once."""
    config, random_numbers = tiny.config, torch.Generator().manual_seed(tiny.seed)
    inner = config.num_heads * config.d_kv
    query_key = (tiny.score_deviation**0.5) * config.d_kv**-0.25 * config.d_model**-0.5
    # Standard deviation by the end of the name; norms vary around a mean instead.
    deviations = {
        "shared.weight": tiny.embedding_deviation,
        "lm_head.weight": tiny.logit_deviation * config.d_model**-0.5,
        "relative_attention_bias.weight": 1.0,
        ".q.weight": query_key,
        ".k.weight": query_key,
        ".v.weight": config.d_model**-0.5,
        ".o.weight": tiny.attention_gain * inner**-0.5,
        ".wi.weight": config.d_model**-0.5,
        ".wi_0.weight": 1.5 * config.d_model**-0.5,
        ".wi_1.weight": config.d_model**-0.5,
        ".wo.weight": tiny.feed_forward_gain * config.d_ff**-0.5,
    }
    model = T5ForConditionalGeneration(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=random_numbers)
            if name.endswith(".wo.weight"):
                # ReLU's mean would add the same vector at every position, and all positions would predict the same token.
                noise -= noise.mean(dim=1, keepdim=True)
            if name.endswith("layer_norm.weight"):
                tied_head = config.tie_word_embeddings and name == "decoder.final_layer_norm.weight"
                mean = tiny.logit_deviation / tiny.embedding_deviation if tied_head else 1.0
                parameter.copy_(mean * (1.0 + 0.2 * noise))
            else:
                parameter.copy_(noise * next(value for end, value in deviations.items() if name.endswith(end)))
    folder = root / tiny.folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as saved:
        model.half().save_pretrained(saved)
        for file in ("config.json", "model.safetensors"):
            shutil.copyfile(Path(saved) / file, folder / file)


def write_block_weights(root: Path) -> None:
    """Writes the block's `model.safetensors` (f16): every parameter random."""
    random_numbers = torch.Generator().manual_seed(BLOCK_SEED)
    block = HormoneBlock(BLOCK_WIDTH)
    with torch.no_grad():
        for name, parameter in block.named_parameters():
            noise = torch.randn(parameter.shape, generator=random_numbers)
            is_norm = "attended_norm" in name or "hormone_to_embedding.2" in name
            if name == "modulation_strength":
                parameter.fill_(0.27)  # within 0.1..0.5, so that its gradient is not cut off
            elif is_norm and name.endswith("weight"):
                parameter.copy_(1.0 + 0.2 * noise)
            elif name.endswith("output_proj.8.weight"):
                parameter.copy_(2.0 * noise * parameter.shape[-1] ** -0.5)  # spreads the levels
            elif name.endswith("bias"):
                parameter.copy_(0.2 * noise)
            elif name.endswith("hormone_query"):
                parameter.copy_(noise)
            else:
                parameter.copy_(1.5 * noise * parameter.shape[-1] ** -0.5)
    tensors = {f"hormone_block.{name}": value.half() for name, value in block.state_dict().items()}
    write_tensors(root / BLOCK_FOLDER / "model.safetensors", tensors)


def load_t5(root: Path, tiny: TinyT5, dtype: torch.dtype = torch.float64) -> T5ForConditionalGeneration:
    """Hugging Face's T5 from the stored files, as a user would load it."""
    model = T5ForConditionalGeneration.from_pretrained(root / tiny.folder, dtype=torch.float32, attn_implementation="eager")
    return model.to(dtype).eval()


def load_block(root: Path, dtype: torch.dtype = torch.float64) -> HormoneBlock:
    block = HormoneBlock(BLOCK_WIDTH)
    tensors = load_file(root / BLOCK_FOLDER / "model.safetensors")
    block.load_state_dict({name.removeprefix("hormone_block."): value.float() for name, value in tensors.items()})
    return block.to(dtype).eval()


# ---------------------------------------------------------------------------------------------------------------------------
# A. T5
# ---------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class T5Inputs:
    sources: dict[int, list[int]]
    decoder_input_ids: list[int]
    batch_input_ids: list[list[int]]
    batch_attention_mask: list[list[int]]
    batch_decoder_input_ids: list[list[int]]
    cross_attention_source: int = 25
    cross_attention_targets: int = 10


def t5_inputs(tiny: TinyT5) -> T5Inputs:
    """Ids are ordinary ones (2 and up); sources of more than one token end with the end token, decoder inputs begin with the start token."""
    numbers = random.Random(f"{tiny.folder} ids")

    def ordinary(count: int) -> list[int]:
        return [numbers.randrange(2, tiny.config.vocab_size) for _ in range(count)]

    def source(length: int) -> list[int]:
        return ordinary(length) if length == 1 else [*ordinary(length - 1), EOS]

    sources = {length: source(length) for length in SOURCE_LENGTHS}
    decoder_input_ids = [START, *ordinary(TARGET_LENGTH - 1)]
    input_ids, attention_mask = pad([source(length) for length in (5, 9, 17)])
    return T5Inputs(sources, decoder_input_ids, input_ids, attention_mask, [[START, *ordinary(11)] for _ in input_ids])


def pad(rows: list[list[int]], filler: int = PAD) -> tuple[list[list[int]], list[list[int]]]:
    """Rows filled up to the longest, and their mask."""
    length = max(map(len, rows))
    filled = [row + [filler] * (length - len(row)) for row in rows]
    return filled, [[1] * len(row) + [0] * (length - len(row)) for row in rows]


def expected_t5(root: Path, tiny: TinyT5) -> Expected:
    inputs = t5_inputs(tiny)
    model = load_t5(root, tiny)
    tensors = t5_tensors(model, inputs)
    check_t5_tensors(tiny, inputs, model, tensors)
    in_float32 = t5_tensors(load_t5(root, tiny, torch.float32), inputs)
    facts = {
        "sources": {str(length): ids for length, ids in inputs.sources.items()},
        "decoder_input_ids": inputs.decoder_input_ids,
        "batch": {
            "input_ids": inputs.batch_input_ids,
            "attention_mask": inputs.batch_attention_mask,
            "decoder_input_ids": inputs.batch_decoder_input_ids,
        },
        "cross_attention": {
            "source": str(inputs.cross_attention_source),
            "decoder_input_ids": inputs.decoder_input_ids[: inputs.cross_attention_targets],
        },
        "generation": [generation for run in GENERATIONS for generation in generate(model, inputs, run)],
        # Hugging Face's own float32 run against this float64 one: how exact an f32 implementation can be.
        "float32_error": float32_error(in_float32, tensors),
    }
    check_generations(tiny, facts["generation"])
    return Expected(facts, tensors)


@torch.no_grad()
def t5_tensors(model: T5ForConditionalGeneration, inputs: T5Inputs) -> Tensors:
    tensors = {}
    decoder_input_ids = torch.tensor([inputs.decoder_input_ids])
    for length, ids in inputs.sources.items():
        output = model(input_ids=torch.tensor([ids]), decoder_input_ids=decoder_input_ids)
        tensors[f"encoder_hidden_states.{length}"] = output.encoder_last_hidden_state
        tensors[f"logits.{length}"] = output.logits
    mask = torch.tensor(inputs.batch_attention_mask)
    output = model(
        input_ids=torch.tensor(inputs.batch_input_ids),
        attention_mask=mask,
        decoder_input_ids=torch.tensor(inputs.batch_decoder_input_ids),
    )
    # What the encoder gives at padding is nobody's business: zero.
    tensors["batch.encoder_hidden_states"] = output.encoder_last_hidden_state * mask[:, :, None]
    tensors["batch.logits"] = output.logits
    output = model(
        input_ids=torch.tensor([inputs.sources[inputs.cross_attention_source]]),
        decoder_input_ids=decoder_input_ids[:, : inputs.cross_attention_targets],
        output_attentions=True,
    )
    for layer, weights in enumerate(output.cross_attentions):
        tensors[f"cross_attention.{layer}"] = weights
    return tensors


@torch.no_grad()
def check_t5_tensors(tiny: TinyT5, inputs: T5Inputs, model: T5ForConditionalGeneration, tensors: Tensors) -> None:
    """The references must be worth comparing against."""
    for row, (ids, mask) in enumerate(zip(inputs.batch_input_ids, inputs.batch_attention_mask)):
        alone = model(
            input_ids=torch.tensor([ids[: sum(mask)]]), decoder_input_ids=torch.tensor([inputs.batch_decoder_input_ids[row]])
        )
        difference = (alone.logits[0] - tensors["batch.logits"][row]).abs().max().item()
        require(difference < 1e-5, f"{tiny.folder}: row {row} of the batch must not feel its padding, but does by {difference:.1e}")
    for name, tensor in tensors.items():
        require(bool(tensor.isfinite().all()), f"{tiny.folder}: {name} must be finite")
    for length in SOURCE_LENGTHS:
        deviation = tensors[f"logits.{length}"].std().item()
        require(1.0 < deviation < 10.0, f"{tiny.folder}: logits should be of order 1 to 10, their deviation is {deviation:.2f}")
    weights = tensors["cross_attention.0"]
    require(0.15 < weights.max(-1).values.mean() < 0.9, f"{tiny.folder}: cross-attention should be neither flat nor all on one token")
    # Taking either stack's position bias away must show.
    for stack in (model.encoder, model.decoder):
        bias = stack.block[0].layer[0].SelfAttention.relative_attention_bias.weight
        kept = bias.clone()
        bias.zero_()
        change = (t5_tensors(model, inputs)["logits.25"] - tensors["logits.25"]).abs().mean().item()
        bias.copy_(kept)
        require(change > 0.1, f"{tiny.folder}: the position bias should matter, but changes logits by {change:.3f} only")


# ---------------------------------------------------------------------------------------------------------------------------
# A. Generation
# ---------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """Settings of `generate`, for these sources."""

    name: str
    sources: Iterable[int]
    settings: dict[str, object]


def greedy(**settings: object) -> dict[str, object]:
    return dict(do_sample=False, num_beams=1, max_new_tokens=NEW_TOKENS, **settings)


def beams(num_beams: int, **settings: object) -> dict[str, object]:
    shared = dict(do_sample=False, num_beams=num_beams, num_return_sequences=num_beams, early_stopping=False, max_new_tokens=NEW_TOKENS)
    return shared | settings


# `min_new_tokens = 40` masks the end token at each of the 40 steps.
GENERATIONS = (
    Run("greedy", SOURCE_LENGTHS, greedy(min_new_tokens=NEW_TOKENS)),
    Run("greedy_until_eos", SOURCE_LENGTHS, greedy()),
    Run("greedy_repetition_penalty", SOURCE_LENGTHS, greedy(min_new_tokens=NEW_TOKENS, repetition_penalty=1.3)),
    Run("greedy_no_repeat_2", SOURCE_LENGTHS, greedy(min_new_tokens=NEW_TOKENS, no_repeat_ngram_size=2)),
    Run("beams_4", SOURCE_LENGTHS, beams(4, no_repeat_ngram_size=3, length_penalty=1.0)),
    Run("beams_4_full_length", SOURCE_LENGTHS, beams(4, no_repeat_ngram_size=3, length_penalty=1.0, min_new_tokens=NEW_TOKENS)),
    Run("beams_3_all_rules", SOURCE_LENGTHS, beams(3, no_repeat_ngram_size=2, length_penalty=2.0, min_new_tokens=12, repetition_penalty=1.3)),
)


def generate(model: T5ForConditionalGeneration, inputs: T5Inputs, run: Run) -> list[Facts]:
    """One entry a source: settings, sequences (without the start token; with the end token, where there is one) and scores."""
    entries = []
    for length in run.sources:
        sequences, scores = generate_once(model, inputs.sources[length], run)
        for seed in range(8):
            noisy, _ = generate_once(model, inputs.sources[length], run, noise=Noise(seed))
            require(noisy == sequences, f"{model.name_or_path}: {run.name} of source {length} hangs on a near tie")
        entry = {"name": run.name, "source": str(length), "settings": run.settings, "sequences": sequences}
        entries.append(entry | ({"scores": scores} if scores else {}))
    return entries


class Noise(LogitsProcessor):
    """Adds a uniform number within +-NOISE to every score."""

    def __init__(self, seed: int):
        self.random_numbers = torch.Generator().manual_seed(seed)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        return scores + NOISE * (2 * torch.rand(scores.shape, generator=self.random_numbers, dtype=scores.dtype) - 1)


@torch.no_grad()
def generate_once(
    model: T5ForConditionalGeneration, source: list[int], run: Run, noise: Noise | None = None
) -> tuple[list[list[int]], list[float]]:
    config = GenerationConfig(
        pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=START, return_dict_in_generate=True, output_scores=True, **run.settings
    )
    output = model.generate(
        torch.tensor([source]), generation_config=config, logits_processor=LogitsProcessorList([noise] if noise else [])
    )
    sequences = [until_eos(sequence[1:]) for sequence in output.sequences.tolist()]
    return sequences, output.sequences_scores.tolist() if config.num_beams > 1 else []


def until_eos(ids: list[int]) -> list[int]:
    return ids[: ids.index(EOS) + 1] if EOS in ids else ids


def check_generations(tiny: TinyT5, entries: list[Facts]) -> None:
    by_name: dict[str, list[list[list[int]]]] = {}
    for entry in entries:
        by_name.setdefault(entry["name"], []).append(entry["sequences"])
    for (plain,), (penalised,), (no_repeat,) in zip(*(by_name[name] for name in ("greedy", "greedy_repetition_penalty", "greedy_no_repeat_2"))):
        require(len(plain) == len(penalised) == len(no_repeat) == NEW_TOKENS, f"{tiny.folder}: forced runs must have all {NEW_TOKENS} steps")
        require(len(set(plain)) >= 8, f"{tiny.folder}: greedy decoding repeats itself: {plain}")
        require(plain != penalised and plain != no_repeat, f"{tiny.folder}: the rules must change greedy decoding")
    ended = [ids[-1] == EOS for sequences in by_name["beams_4"] for ids in sequences]
    require(any(ended), f"{tiny.folder}: beams must be able to end")
    require(any(ids[-1] == EOS and len(ids) > 1 for (ids,) in by_name["greedy_until_eos"]), f"{tiny.folder}: a greedy run should end by itself")


# ---------------------------------------------------------------------------------------------------------------------------
# A. Single steps, and buckets
# ---------------------------------------------------------------------------------------------------------------------------


def expected_logits_processors() -> Facts:
    """What Hugging Face's processors make of one vector of logits; `null` stands for minus infinity."""
    numbers = random.Random("logits")
    spread = [round(numbers.gauss(0, 3), 4) for _ in range(24)]
    tied = [1.5, -0.5, 2.25, 1.5, 0.75, 1.5, -3.0, 2.25]  # top-k keeps all that share the last place
    history = [0, 5, 9, 5, 2, 9, 5]
    cases = [
        (spread, {"temperature": 0.8}),
        (spread, {"temperature": 2.5}),
        (spread, {"top_k": 1}),
        (spread, {"top_k": 5}),
        (spread, {"top_k": 100}),
        (tied, {"top_k": 3}),
        (spread, {"top_p": 0.1}),
        (spread, {"top_p": 0.92}),
        (spread, {"top_p": 0.98}),
        (spread, {"temperature": 0.8, "top_p": 0.92}),
        (spread, {"temperature": 2.5, "top_k": 8, "top_p": 0.7}),
        (spread, {"repetition_penalty": 1.3}),
        (spread, {"repetition_penalty": 0.7}),
        (spread, {"no_repeat_ngram_size": 1}),
        (spread, {"no_repeat_ngram_size": 2}),
        (spread, {"no_repeat_ngram_size": 3}),
        (spread, {"repetition_penalty": 1.3, "no_repeat_ngram_size": 2, "temperature": 0.8, "top_k": 6, "top_p": 0.9}),
    ]
    return {"history": history, "cases": [processor_case(logits, history, settings) for logits, settings in cases]}


PROCESSORS = {
    "repetition_penalty": logits_process.RepetitionPenaltyLogitsProcessor,
    "no_repeat_ngram_size": logits_process.NoRepeatNGramLogitsProcessor,
    "temperature": logits_process.TemperatureLogitsWarper,
    "top_k": logits_process.TopKLogitsWarper,
    "top_p": logits_process.TopPLogitsWarper,
}


def processor_case(logits: list[float], history: list[int], settings: dict[str, float]) -> Facts:
    """The processors of `settings` one after the other, on `logits` after the ids of `history`."""
    scores = torch.tensor([logits], dtype=torch.float64)
    for name, value in settings.items():
        if name == "top_p":
            falling = scores.softmax(-1).sort(descending=True).values.cumsum(-1)
            require(bool(((falling - value).abs() > 1e-4).all()), f"top_p {value} cuts too near a token")
        scores = PROCESSORS[name](value)(torch.tensor([history]), scores.clone())
    scores = scores[0].tolist()
    return {
        "logits": logits,
        "processors": [{name: value} for name, value in settings.items()],
        "scores": [None if math.isinf(score) else score for score in scores],
        "kept": [id for id, score in enumerate(scores) if not math.isinf(score)],
    }


def expected_buckets() -> Facts:
    """Hugging Face's bucket of every relative position (key's place minus query's) from -200 to 200."""
    positions = torch.arange(-200, 201)
    bidirectional, one_sided = (
        T5Attention._relative_position_bucket(positions, two_sided, num_buckets=32, max_distance=128).tolist() for two_sided in (True, False)
    )
    return {"num_buckets": 32, "max_distance": 128, "first_relative_position": -200, "bidirectional": bidirectional, "one_sided": one_sided}


# ---------------------------------------------------------------------------------------------------------------------------
# B. The hormone block
# ---------------------------------------------------------------------------------------------------------------------------

BLOCK_TARGETS = [
    [0.95, 0.90, 0.05, 0.90, 0.10, 0.95],  # friendly
    [0.05, 0.05, 0.95, 0.05, 0.95, 0.05],  # rude
    [0.50, 0.50, 0.30, 0.85, 0.15, 0.50],
]


def expected_block(root: Path) -> Expected:
    hidden_states = torch.randn(3, 9, BLOCK_WIDTH, generator=torch.Generator().manual_seed(BLOCK_SEED + 1)).half()
    _, attention_mask = pad([[PAD] * 4, [PAD] * 9, [PAD] * 6])
    block, mask = load_block(root), torch.tensor(attention_mask)
    tensors, losses = block_tensors(block, hidden_states.double(), mask)
    in_float32, _ = block_tensors(load_block(root, torch.float32), hidden_states.float(), mask)
    facts = {
        "attention_mask": attention_mask,
        "target_levels": BLOCK_TARGETS,
        "modulation_strength": block.modulation_strength.item(),
        "alpha": block.alpha().item(),
        "losses": losses,
        "float32_error": float32_error(in_float32, tensors),
    }
    tensors["initial_queries.512"] = torch.cat([initial_query(hormone, 512)[:, :2] for hormone in range(len(HORMONES))])
    tensors["initial_queries.32"] = torch.cat([initial_query(hormone, 32) for hormone in range(len(HORMONES))])

    levels, weights = tensors["tau_0.5.levels"], tensors["tau_0.5.attention_weights"]
    require(levels.min() < 0.2 and levels.max() > 0.8, f"levels should spread, they are {levels}")
    require(bool((weights * (1 - mask)[:, None, None, :] == 0).all()), "padding must get no attention")
    require(bool((weights.sum(-1) - 1).abs().max() < 1e-9), "attention must sum to 1")
    for name, parts in losses.items():
        require(parts["margin_high"] > 0 and parts["margin_low"] > 0, f"{name}: both parts of the margin loss should be at work: {parts}")
    return Expected(facts, tensors)


@torch.no_grad()
def block_tensors(block: HormoneBlock, hidden_states: Tensor, mask: Tensor) -> tuple[Tensors, Facts]:
    """What the block makes of `hidden_states` at two temperatures, and the losses against `BLOCK_TARGETS`."""
    targets = torch.tensor(BLOCK_TARGETS, dtype=hidden_states.dtype)
    tensors, losses = {"hidden_states": hidden_states}, {}
    for temperature in (0.5, 2.0):
        reading = block(hidden_states, mask, temperature)
        tensors |= {f"tau_{temperature}.{field.name}": getattr(reading, field.name) for field in fields(reading)}
        losses[f"tau_{temperature}"] = loss_facts(hormone_losses(reading.levels, targets, block.queries()))
    return tensors, losses


def loss_facts(losses: HormoneLosses) -> Facts:
    return {
        "mse": losses.mse.item(),
        "margin_high": losses.margin_high.item(),
        "margin_low": losses.margin_low.item(),
        "margin": losses.margin.item(),
        "hormone": losses.hormone.item(),
        "diversity": losses.diversity.item(),
        "weighted": losses.weighted.item(),
    }


# ---------------------------------------------------------------------------------------------------------------------------
# C. One training step
# ---------------------------------------------------------------------------------------------------------------------------

STEP_TARGETS = [
    [0.95, 0.90, 0.05, 0.90, 0.10, 0.95],  # friendly
    [0.05, 0.05, 0.95, 0.05, 0.95, 0.05],  # rude
    [0.10, 0.15, 0.60, 0.90, 0.25, 0.10],  # sad, but for adrenaline: 0.20 lies on the margin's edge
]


class EmotionalT5(nn.Module):
    """The tiny v1.0 T5 with the block between encoder and decoder; parameters named as in a checkpoint."""

    def __init__(self, t5: T5ForConditionalGeneration, hormone_block: HormoneBlock):
        super().__init__()
        self.t5 = t5
        self.hormone_block = hormone_block

    def forward(self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor, targets: Tensor) -> tuple[Tensor, Facts, Tensors]:
        """The total loss, its parts, and what it was made of."""
        hidden_states = self.t5.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        reading = self.hormone_block(hidden_states, attention_mask)
        output = self.t5(
            encoder_outputs=BaseModelOutput(last_hidden_state=reading.modulated), attention_mask=attention_mask, labels=labels
        )
        losses = hormone_losses(reading.levels, targets, self.hormone_block.queries())
        total = 1.0 * output.loss + losses.weighted
        real = attention_mask[:, :, None]
        tensors = {
            "encoder_hidden_states": hidden_states * real,
            "attention_weights": reading.attention_weights,
            "levels": reading.levels,
            "embedding": reading.embedding,
            "modulated": reading.modulated * real,
            "logits": output.logits,
        }
        facts = loss_facts(losses) | {"seq": output.loss.item(), "total": total.item()}
        return total, facts, {name: tensor.detach() for name, tensor in tensors.items()}


def expected_step(root: Path) -> Expected:
    numbers = random.Random("training step")

    def text(length: int) -> list[int]:
        return [*(numbers.randrange(2, V1_0.config.vocab_size) for _ in range(length - 1)), EOS]

    input_ids, attention_mask = pad([text(length) for length in (7, 12, 4)])
    labels, _ = pad([text(length) for length in (6, 8, 11)], IGNORED_LABEL)
    batch = (torch.tensor(input_ids), torch.tensor(attention_mask), torch.tensor(labels), torch.tensor(STEP_TARGETS, dtype=torch.float64))
    model = EmotionalT5(load_t5(root, V1_0), load_block(root))
    losses, tensors, gradients = training_step(model, batch)
    float32_model = EmotionalT5(load_t5(root, V1_0, torch.float32), load_block(root, torch.float32))
    _, float32_tensors, float32_gradients = training_step(float32_model, (*batch[:3], batch[3].float()))

    require(losses["margin_high"] > 0 and losses["margin_low"] > 0, f"both parts of the margin loss should be at work: {losses}")
    for name, gradient in gradients.items():
        require(bool(gradient.abs().max() > 1e-3), f"{name} should have a gradient")
    require_slopes(model, batch, gradients)
    facts = {
        "input_ids": input_ids,
        "attention_mask": attention_mask,
        "labels": labels,
        "decoder_input_ids": model.t5._shift_right(batch[2]).tolist(),
        "target_levels": STEP_TARGETS,
        "attention_temperature": ATTENTION_TEMPERATURE,
        "alpha": model.hormone_block.alpha().item(),
        "losses": losses,
        "float32_error": float32_error(float32_tensors, tensors) | {"gradients": max(float32_error(float32_gradients, gradients).values())},
    }
    return Expected(facts, tensors, gradients)


def training_step(model: EmotionalT5, batch: tuple[Tensor, ...]) -> tuple[Facts, Tensors, Tensors]:
    """Losses, what they were made of, and every parameter's gradient."""
    total, losses, tensors = model(*batch)
    total.backward()
    return losses, tensors, {name: parameter.grad for name, parameter in model.named_parameters()}


@torch.no_grad()
def require_slopes(model: EmotionalT5, batch: tuple[Tensor, ...], gradients: Tensors) -> None:
    """A small step both ways must change the loss as the gradient says; between the gradient's direction and a random one."""
    random_numbers = torch.Generator().manual_seed(0)
    for name, parameter in model.named_parameters():
        gradient = gradients[name]
        direction = 2 * unit(gradient) + unit(torch.randn(parameter.shape, generator=random_numbers, dtype=torch.float64))
        predicted = (gradient * direction).sum().item()
        # Long steps bend, short ones drown in the float32 inside Hugging Face's softmax: one of the three must fit.
        slopes = [slope(model, batch, parameter, direction, step) for step in (1e-3, 1e-4, 1e-5)]
        fits = any(abs(measured - predicted) < 0.003 * abs(predicted) + 1e-4 for measured in slopes)
        require(fits, f"{name}: slopes {slopes}, gradient says {predicted}")


def unit(direction: Tensor) -> Tensor:
    return direction / direction.norm()


def slope(model: EmotionalT5, batch: tuple[Tensor, ...], parameter: Tensor, direction: Tensor, step: float) -> float:
    start, losses = parameter.clone(), []
    for signed_step in (step, -step):
        parameter.copy_(start + signed_step * direction)
        losses.append(model(*batch)[0].item())
    parameter.copy_(start)
    return (losses[0] - losses[1]) / (2 * step)


# ---------------------------------------------------------------------------------------------------------------------------
# Files
# ---------------------------------------------------------------------------------------------------------------------------


def all_expected(root: Path) -> dict[str, Expected | Facts]:
    """Every reference by folder or JSON file, computed from the weights under `root`."""
    return {
        V1_0.folder: expected_t5(root, V1_0),
        V1_1.folder: expected_t5(root, V1_1),
        BLOCK_FOLDER: expected_block(root),
        STEP_FOLDER: expected_step(root),
        "relative-position-buckets.json": expected_buckets(),
        "logits-processors.json": expected_logits_processors(),
    }


def export(root: Path) -> None:
    write_t5_weights(root, V1_0)
    write_t5_weights(root, V1_1)
    write_block_weights(root)
    for name, expected in all_expected(root).items():
        if isinstance(expected, Expected):
            expected.write(root / name)
        else:
            write_json(root / name, expected)


def check(root: Path) -> None:
    """Recomputes every reference from the stored weights, and compares; also the README's table and the total size."""
    readme = (root / "README.md").read_text()
    for name, expected in all_expected(root).items():
        if not isinstance(expected, Expected):
            compare(name, json.loads((root / name).read_text()), expected)
            continue
        compare(name, json.loads((root / name / "expected.json").read_text()), expected.facts)
        for file, tensors in expected.tensor_files():
            compare_tensors(f"{name}/{file}", load_file(root / name / file), tensors)
        for tensor_name, tensor in expected.tensors.items():
            row = f"| `{tensor_name}` | {list(tensor.shape)} |"
            require(row in readme, f"README.md lacks this row for {name}: {row}")
    total = sum(file.stat().st_size for file in root.rglob("*") if file.is_file())
    require(total < MAX_TOTAL_BYTES, f"{total} bytes are too many")
    print(f"{root}: all references agree; {total} bytes in all")


def compare_tensors(place: str, stored: Tensors, computed: Tensors) -> None:
    require(stored.keys() == computed.keys(), f"{place}: other names: {stored.keys() ^ computed.keys()}")
    for name, tensor in computed.items():
        require(stored[name].shape == tensor.shape, f"{place}: {name} has another shape")
        scale = max(1.0, tensor.abs().max().item())
        difference = (stored[name].double() - tensor).abs().max().item()
        require(difference < 1e-5 * scale, f"{place}: {name} differs by {difference:.1e}")


def compare(place: str, stored: object, computed: object) -> None:
    """JSON against JSON: floats within 1e-5, all else exactly; `float32_error`, which differs between machines, not at all."""
    if isinstance(computed, dict):
        require(isinstance(stored, dict) and stored.keys() == computed.keys(), f"{place}: other fields")
        for key in computed.keys() - {"float32_error"}:
            compare(f"{place}.{key}", stored[key], computed[key])
    elif isinstance(computed, (list, tuple)):
        require(isinstance(stored, list) and len(stored) == len(computed), f"{place}: other length")
        for index, (left, right) in enumerate(zip(stored, computed)):
            compare(f"{place}[{index}]", left, right)
    elif isinstance(computed, float):
        require(isinstance(stored, (int, float)) and abs(stored - computed) < 1e-5, f"{place}: {stored} is stored, {computed} computed")
    else:
        require(stored == computed, f"{place}: {stored} is stored, {computed} computed")


def write_tensors(path: Path, tensors: Tensors) -> None:
    """f16 stays f16; all else becomes f32."""
    path.parent.mkdir(parents=True, exist_ok=True)
    narrow = {name: tensor if tensor.dtype == torch.float16 else tensor.float() for name, tensor in tensors.items()}
    save_file({name: tensor.contiguous() for name, tensor in narrow.items()}, path)
    path.chmod(0o644)


def write_json(path: Path, facts: Facts) -> None:
    """One field a line down to lists of plain values, which stay on one line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json_text(facts) + "\n")


def json_text(value: object, indent: str = "") -> str:
    deeper = indent + "  "
    if isinstance(value, dict) and any(isinstance(item, (dict, list, tuple)) for item in value.values()):
        fields = (f"{deeper}{json.dumps(key)}: {json_text(item, deeper)}" for key, item in value.items())
        return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
    if isinstance(value, (list, tuple)) and any(isinstance(item, (dict, list, tuple)) for item in value):
        return "[\n" + ",\n".join(deeper + json_text(item, deeper) for item in value) + f"\n{indent}]"
    return json.dumps(value)


def float32_error(in_float32: Tensors, tensors: Tensors) -> dict[str, float]:
    """Largest absolute difference of each tensor, rounded up to one digit."""

    def rounded_up(error: float) -> float:
        unit = 10.0 ** math.floor(math.log10(error)) if error > 0 else 1.0
        return float(f"{math.ceil(error / unit) * unit:.0e}")

    return {name: rounded_up((in_float32[name] - tensor).abs().max().item()) for name, tensor in tensors.items()}


def require(condition: bool, otherwise: str) -> None:
    if not condition:
        sys.exit(otherwise)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; recompute and compare")
    parser.add_argument("--fixtures", type=Path, default=FIXTURES, help="where they lie (default: %(default)s)")
    arguments = parser.parse_args()
    transformers_logging.set_verbosity_error()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    if not arguments.check:
        export(arguments.fixtures)
    check(arguments.fixtures)


if __name__ == "__main__":
    main()
