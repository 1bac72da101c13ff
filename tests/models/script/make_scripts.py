"""Writes files of TorchScript, good ones and bad ones, into a folder.

    make_scripts.py FOLDER
"""
import pathlib
import sys
from typing import Dict, Tuple

import torch
from torch import Tensor, nn


class Words(nn.Module):
    """Predicts each token from the one before it; output weights are tied."""

    def __init__(self, vocabulary: int = 40, hidden: int = 8):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.part = nn.Sequential(nn.Linear(hidden, 16), nn.GELU(),
                                  nn.Dropout(0.5), nn.Linear(16, hidden))
        self.out = nn.Linear(hidden, vocabulary)
        self.out.weight = self.embed.weight
        self.register_buffer("scale", torch.ones(1))

    def forward(self, tokens: Tensor, labels: Tensor) -> Dict[str, Tensor]:
        x = self.embed(tokens) * self.scale
        scores = self.out(x + self.part(self.norm(x)))
        loss = nn.functional.cross_entropy(scores.flatten(0, 1),
                                           labels.flatten())
        right = scores.argmax(-1) == labels
        return {"loss": loss, "accuracy": right.float().mean(),
                "perplexity": loss.exp(), "top/all": torch.ones(1, 1),
                "sure": right.any(), "scores": scores, "two words": loss,
                "never": loss - float("inf")}


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 8)
        self.out = nn.Linear(8, 40)

    def forward(self, tokens: Tensor, positions: Tensor, labels: Tensor,
                weights: Tensor) -> Tensor:
        scores = self.out(self.embed(tokens).flatten(0, 1)[positions])
        each = nn.functional.cross_entropy(scores, labels, reduction="none")
        return (each * weights).sum() / tokens.size(0)


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 4, 3, stride=2), nn.BatchNorm2d(4), nn.ReLU(),
            nn.Conv2d(4, 8, 3, stride=2), nn.ReLU(), nn.Flatten(),
            nn.Linear(288, 10))

    def forward(self, images: Tensor, labels: Tensor) -> Dict[str, Tensor]:
        scores = self.body(images)
        return {"loss": nn.functional.cross_entropy(scores, labels),
                "accuracy": (scores.argmax(-1) == labels).float().mean()}


class Large(Masked):
    """With a buffer that no charter has room for."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.zeros(1500000))


class Base(nn.Module):
    """What the bad ones have in common: one parameter."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 2))


class NoScalar(Base):
    def forward(self, tokens: Tensor) -> Tensor:
        return self.weight * 2


class NoLoss(Base):
    def forward(self, tokens: Tensor) -> Dict[str, Tensor]:
        return {"cost": self.weight.sum()}


class NoFloat(Base):
    def forward(self, tokens: Tensor) -> Tensor:
        return tokens.sum()


class Apart(Base):
    def forward(self, tokens: Tensor) -> Tensor:
        return tokens.float().mean()


class NoParameters(nn.Module):
    def forward(self, tokens: Tensor) -> Tensor:
        return tokens.float().mean()


class Frozen(Base):
    def __init__(self):
        super().__init__()
        self.weight.requires_grad_(False)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.weight.sum()


class Double(Base):
    def __init__(self):
        super().__init__()
        self.weight.data = self.weight.data.double()

    def forward(self, tokens: Tensor) -> Tensor:
        return self.weight.sum()


class NotFinite(Base):
    def forward(self, tokens: Tensor) -> Tensor:
        return (self.weight.sum() - 7).log()


class BadGradient(Base):
    """A loss of 0 whose gradient is infinite."""

    def forward(self, tokens: Tensor) -> Tensor:
        return (self.weight - self.weight.detach()).abs().sqrt().sum()


class Endless(Base):
    def forward(self, tokens: Tensor) -> Tensor:
        x = self.weight.sum()
        while bool(x.abs() >= 0):
            x = x * 0.5
        return x


class Hungry(Base):
    def forward(self, tokens: Tensor) -> Tensor:
        return torch.ones(1 << 36).sum() * self.weight.sum()


class Failing(Base):
    def forward(self, tokens: Tensor) -> Tensor:
        return self.weight.matmul(self.weight).sum()


class Unknown(Base):
    def forward(self, words: Tensor) -> Tensor:
        return self.weight.sum()


class Mixed(Base):
    def forward(self, tokens: Tensor, pixels: Tensor) -> Tensor:
        return self.weight.sum()


class Number(Base):
    def forward(self, tokens: int) -> Tensor:
        return self.weight.sum()


class Writing(Base):
    def __init__(self, path: str):
        super().__init__()
        self.path = path

    def forward(self, tokens: Tensor) -> Tensor:
        x = torch.from_file(self.path, True, 4, dtype=torch.float)
        return x.fill_(1).sum() + self.weight.sum()


class WritingLate(nn.Module):
    """In a module of the module, and in a branch of it."""

    def __init__(self, path: str):
        super().__init__()
        self.inner = Writing(path)

    def forward(self, tokens: Tensor) -> Tensor:
        if tokens.size(0) > 1:
            return self.inner(tokens)
        return self.inner.weight.sum()


class WritingAtOnce(Base):
    """While it is being loaded."""

    def __init__(self, path: str):
        super().__init__()
        self.path = path

    def forward(self, tokens: Tensor) -> Tensor:
        return self.weight.sum()

    @torch.jit.export
    def __getstate__(self):
        return self.weight, self.path, self.training

    @torch.jit.export
    def __setstate__(self, state: Tuple[Tensor, str, bool]):
        self.weight = state[0]
        self.path = state[1]
        self.training = state[2]
        torch.from_file(self.path, True, 4, dtype=torch.float).fill_(1)


class Changing(Base):
    """Writes into what the run alone may change."""

    def forward(self, tokens: Tensor) -> Tensor:
        self.weight.detach().add_(1)
        return self.weight.sum()


class Beside(Base):
    def forward(self, tokens: Tensor) -> Tensor:
        return torch.jit.wait(torch.jit.fork(torch.sum, self.weight))


class Printing(Base):
    def forward(self, tokens: Tensor) -> Tensor:
        print(tokens)
        return self.weight.sum()


class Reaching(Base):
    """Looks at memory beyond its own."""

    def forward(self, tokens: Tensor) -> Tensor:
        far = torch.as_strided(tokens, [1], [1], 1 << 40)
        return far.float().sum() + self.weight.sum()


def main(folder):
    torch.manual_seed(0)
    script(folder, Words(), "words")
    script(folder, Masked(), "masked")
    script(folder, Digits(), "digits")
    script(folder, Large(), "large")
    for kind in (NoScalar, NoLoss, NoFloat, Apart, NoParameters, Frozen, Double,
                 NotFinite, BadGradient, Endless, Hungry, Failing, Unknown,
                 Mixed, Number, Beside, Printing, Reaching, Changing):
        script(folder, kind(), kind.__name__)
    written = str(folder / "written")
    for kind in (Writing, WritingLate, WritingAtOnce):
        script(folder, kind(written), kind.__name__)


def script(folder, module, name):
    torch.jit.script(module).save(str(folder / f"{name}.pt"))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
