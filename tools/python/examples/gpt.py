"""A GPT that learns sequences of a random grammar: letters follow letters."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

import potluck.torch


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.attend = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.attend(self.norm1(x)).chunk(3, dim=-1))
        scores = q @ k.transpose(-1, -2) / q.shape[-1]**0.5
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future.to(x.device), float("-inf"))
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape)
        x = x + self.project(mixed)
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, letters: int, length: int, width: int, heads: int,
                 layers: int) -> None:
        super().__init__()
        self.token = nn.Embedding(letters, width)
        self.position = nn.Parameter(0.02 * torch.randn(length, width))
        self.blocks = nn.Sequential(*(Block(width, heads)
                                      for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, letters, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.token(tokens) + self.position[:tokens.shape[1]]
        return self.head(self.norm(self.blocks(x)))


def sequences(letters: int, length: int, batch: int):
    """Endless batches in which four letters may follow each letter."""
    follows = torch.randint(letters, (letters, 4),
                            generator=torch.Generator().manual_seed(0))
    while True:
        tokens = torch.randint(letters, (batch, 1))
        while tokens.shape[1] <= length:
            choice = torch.randint(4, (batch,))
            tokens = torch.cat([tokens, follows[tokens[:, -1], choice, None]], 1)
        yield tokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--tiny", action="store_true", help="for a quick look")
    arguments = parser.parse_args()
    letters, length, width, heads, layers = ((16, 8, 16, 2, 1)
                                             if arguments.tiny else
                                             (64, 64, 256, 8, 4))
    torch.seed()  # Every peer draws other samples.
    model = GPT(letters, length, width, heads, layers)
    optimizer = potluck.torch.Optimizer(model, run="gpt", target_batch=64,
                                        optimizer="adamw", lr=1e-3,
                                        steps=arguments.steps)
    for tokens in sequences(letters, length, batch=16):
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step(loss=loss, samples=len(tokens))
        optimizer.zero_grad()
        if optimizer.finished:
            break


if __name__ == "__main__":
    main()
