"""A language model of LSTMs whose input and output share one matrix."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

import potluck.torch


class Tied(nn.Module):
    def __init__(self, letters: int, width: int, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(letters, width)
        self.lstm = nn.LSTM(width, width, layers, batch_first=True)
        self.decode = nn.Linear(width, letters)
        self.decode.weight = self.embed.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.decode(self.lstm(self.embed(tokens))[0])


def counting(letters: int, length: int, batch: int):
    """Endless batches of sequences that count on by a fixed number."""
    while True:
        start = torch.randint(letters, (batch, 1))
        by = torch.randint(1, 4, (batch, 1))
        yield (start + by * torch.arange(length + 1)) % letters


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--tiny", action="store_true", help="for a quick look")
    arguments = parser.parse_args()
    letters, width, layers = (12, 16, 1) if arguments.tiny else (100, 256, 2)
    torch.seed()  # Every peer draws other samples.
    model = Tied(letters, width, layers)
    optimizer = potluck.torch.Optimizer(model, run="lstm", target_batch=64,
                                        optimizer="adam", lr=2e-3,
                                        steps=arguments.steps)
    for tokens in counting(letters, 10, batch=16):
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step(loss=loss, samples=len(tokens))
        optimizer.zero_grad()
        if optimizer.finished:
            break


if __name__ == "__main__":
    main()
