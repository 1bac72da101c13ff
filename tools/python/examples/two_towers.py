"""Two towers that learn which picture and which words belong together."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

import potluck.torch


class TwoTowers(nn.Module):
    def __init__(self, pixels: int, words: int, width: int) -> None:
        super().__init__()
        self.seen = nn.Sequential(nn.Linear(pixels, width), nn.ReLU(),
                                  nn.Linear(width, width))
        self.read = nn.EmbeddingBag(words, width)
        self.log_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, pictures: torch.Tensor,
                texts: torch.Tensor) -> torch.Tensor:
        """The loss: each pair against all other pairs of the batch."""
        seen = F.normalize(self.seen(pictures), dim=-1)
        read = F.normalize(self.read(texts), dim=-1)
        logits = self.log_scale.exp() * seen @ read.T
        pair = torch.arange(len(logits))
        return (F.cross_entropy(logits, pair)
                + F.cross_entropy(logits.T, pair)) / 2


def pairs(pixels: int, words: int, batch: int):
    """Endless batches of pictures and the four words that describe them."""
    look = torch.randn(words, pixels,
                       generator=torch.Generator().manual_seed(0))
    while True:
        texts = torch.randint(words, (batch, 4))
        yield look[texts].sum(1) + torch.randn(batch, pixels), texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--tiny", action="store_true", help="for a quick look")
    arguments = parser.parse_args()
    pixels, words, width = (16, 12, 16) if arguments.tiny else (768, 1000, 256)
    torch.seed()  # Every peer draws other samples.
    model = TwoTowers(pixels, words, width)
    optimizer = potluck.torch.Optimizer(model, run="two-towers",
                                        target_batch=128, optimizer="lamb",
                                        lr=5e-3, steps=arguments.steps)
    for pictures, texts in pairs(pixels, words, batch=32):
        loss = model(pictures, texts)
        loss.backward()
        optimizer.step(loss=loss, samples=len(texts))
        optimizer.zero_grad()
        if optimizer.finished:
            break


if __name__ == "__main__":
    main()
