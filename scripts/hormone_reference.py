"""The hormone emotion block in plain PyTorch: the reference that the Rust block is compared against.

Written from ../shared/docs/helt.md (HELT, arXiv:2605.13858), not from the authors' code and not from ours: it makes keys and
values for every token, as the formulas say, so that a shortcut in the Rust code is compared against the long way.
Parameter names are those of the authors' checkpoint.

Symbols: B batch, S source tokens, D d_model, N = 6 hormones, J = 4 heads a hormone.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

HORMONES = ("dopamine", "serotonin", "cortisol", "oxytocin", "adrenaline", "endorphins")
HEADS = 4
ALPHA_RANGE = (0.1, 0.5)
ATTENTION_TEMPERATURE = 0.5
"""The paper's tau."""


def initial_query(hormone: int, d_model: int) -> Tensor:
    """Start value `[1, J, D/J]` of hormone `0..5`: a run of +-0.1 of alternating sign, elsewhere for each hormone."""
    width = d_model // HEADS
    run = width // len(HORMONES)
    start = hormone * width // len(HORMONES)
    query = torch.zeros(1, HEADS, width)
    for head in range(HEADS):
        for place in range(run):
            query[0, head, start + place] = 0.1 if (place + head) % 2 == 0 else -0.1
    return query


class HormoneHead(nn.Module):
    """Reads one hormone's level from the encoder's states."""

    def __init__(self, hormone: int, d_model: int):
        super().__init__()
        self.hormone_query = nn.Parameter(initial_query(hormone, d_model))
        self.key_proj = nn.Linear(d_model, d_model, bias=False)
        self.value_proj = nn.Linear(d_model, d_model, bias=False)
        self.attended_norm = nn.LayerNorm(d_model, eps=1e-5)
        self.output_proj = nn.Sequential(
            nn.Linear(d_model, d_model),  # 0
            nn.GELU(),
            nn.Dropout(0.1),
            nn.Linear(d_model, d_model // 2),  # 3
            nn.GELU(),
            nn.Dropout(0.1),
            nn.Linear(d_model // 2, d_model // 4),  # 6
            nn.GELU(),
            nn.Linear(d_model // 4, 1),  # 8
        )
        self.output_bias = nn.Parameter(torch.zeros(1))

    def forward(self, hidden_states: Tensor, attention_mask: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
        """`hidden_states [B, S, D]`, `attention_mask [B, S]` -> attention weights `[B, J, S]` and level `[B]`."""
        batch, length, d_model = hidden_states.shape
        width = d_model // HEADS
        keys = self.key_proj(hidden_states).view(batch, length, HEADS, width).transpose(1, 2)  # [B, J, S, D/J]
        values = self.value_proj(hidden_states).view(batch, length, HEADS, width).transpose(1, 2)  # [B, J, S, D/J]
        scores = torch.einsum("jd,bjsd->bjs", self.hormone_query[0], keys) / (temperature * width**0.5)  # [B, J, S]
        scores = scores.masked_fill(attention_mask[:, None, :] == 0, float("-inf"))
        weights = scores.softmax(dim=-1)  # [B, J, S]
        context = torch.einsum("bjs,bjsd->bjd", weights, values).reshape(batch, d_model)  # [B, D]
        level = torch.sigmoid(self.output_proj(self.attended_norm(context)) + self.output_bias)  # [B, 1]
        return weights, level[:, 0]


@dataclass
class HormoneReading:
    """What the block reads and does."""

    attention_weights: Tensor
    """`[B, N, J, S]`"""
    levels: Tensor
    """`[B, N]`"""
    embedding: Tensor
    """`[B, D]`"""
    modulated: Tensor
    """`[B, S, D]`"""


class HormoneBlock(nn.Module):
    """Encoder states in, six levels and the modulated states out."""

    def __init__(self, d_model: int):
        super().__init__()
        self.hormone_heads = nn.ModuleDict({name: HormoneHead(index, d_model) for index, name in enumerate(HORMONES)})
        self.hormone_to_embedding = nn.Sequential(
            nn.Linear(len(HORMONES), d_model),  # 0 = W1
            nn.GELU(),
            nn.LayerNorm(d_model, eps=1e-5),  # 2
            nn.Dropout(0.1),
            nn.Linear(d_model, d_model),  # 4 = W2
            nn.Tanh(),
        )
        self.modulation_strength = nn.Parameter(torch.tensor(0.2))

    def alpha(self) -> Tensor:
        """The learned strength, clamped."""
        return self.modulation_strength.clamp(*ALPHA_RANGE)

    def forward(self, hidden_states: Tensor, attention_mask: Tensor, temperature: float = ATTENTION_TEMPERATURE) -> HormoneReading:
        """`hidden_states [B, S, D]`, `attention_mask [B, S]`; nothing is detached."""
        readings = [head(hidden_states, attention_mask, temperature) for head in self.hormone_heads.values()]
        levels = torch.stack([level for _, level in readings], dim=1)  # [B, N]
        embedding = self.hormone_to_embedding(levels)  # [B, D]
        modulated = hidden_states * (1 + self.alpha() * embedding[:, None, :])  # [B, S, D]
        return HormoneReading(torch.stack([weights for weights, _ in readings], dim=1), levels, embedding, modulated)

    def queries(self) -> Tensor:
        """The six learned queries, flattened: `[N, D]`."""
        return torch.stack([head.hormone_query.flatten() for head in self.hormone_heads.values()])


@dataclass
class HormoneLosses:
    """The parts of the loss that look at the block."""

    mse: Tensor
    margin_high: Tensor
    """Mean over targets > 0.8 of ReLU(0.7 - h); 0 where there are none."""
    margin_low: Tensor
    """Mean over targets < 0.2 of ReLU(h - 0.3); 0 where there are none."""
    diversity: Tensor

    @property
    def margin(self) -> Tensor:
        return self.margin_high + self.margin_low

    @property
    def hormone(self) -> Tensor:
        """L_hormone."""
        return self.mse + 0.3 * self.margin

    @property
    def weighted(self) -> Tensor:
        """What the total loss takes of them."""
        return 5.0 * self.hormone + 0.5 * self.diversity


def hormone_losses(levels: Tensor, targets: Tensor, queries: Tensor) -> HormoneLosses:
    """`levels [B, N]`, `targets [B, N]`, `queries [N, D]`."""

    def mean_or_zero(values: Tensor) -> Tensor:
        return values.mean() if values.numel() else levels.new_zeros(())

    cosines = functional.cosine_similarity(queries[:, None, :], queries[None, :, :], dim=-1)  # [N, N]
    different = ~torch.eye(len(queries), dtype=torch.bool)
    return HormoneLosses(
        mse=functional.mse_loss(levels, targets),
        margin_high=mean_or_zero(functional.relu(0.7 - levels[targets > 0.8])),
        margin_low=mean_or_zero(functional.relu(levels[targets < 0.2] - 0.3)),
        diversity=cosines.abs()[different].mean(),
    )
