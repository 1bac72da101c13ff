"""A mixture of experts that every peer holds whole: each sample goes through
the expert that a gate chooses, and experts that nobody chose have no gradient.
"""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

import potluck.torch


class Mixture(nn.Module):
    def __init__(self, inputs: int, hidden: int, experts: int) -> None:
        super().__init__()
        self.gate = nn.Linear(inputs, experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(),
                          nn.Linear(hidden, 1)) for _ in range(experts))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight, choice = self.gate(x).softmax(-1).max(-1)
        result = torch.zeros(len(x), 1)
        for number, expert in enumerate(self.experts):
            rows = (choice == number).nonzero().squeeze(1)
            if len(rows) > 0:
                result = result.index_add(0, rows, expert(x[rows]))
        return result * weight[:, None]


def quarters(inputs: int, batch: int):
    """Endless samples of a function that is another one in each quarter of the
    plane of the first two inputs."""
    scale = torch.tensor([1.0, -2.0, 3.0, -4.0])
    while True:
        x = torch.randn(batch, inputs)
        quarter = 2 * (x[:, 0] > 0) + (x[:, 1] > 0)
        yield x, (scale[quarter] * x[:, 2])[:, None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--tiny", action="store_true", help="for a quick look")
    arguments = parser.parse_args()
    inputs, hidden, experts = (4, 8, 4) if arguments.tiny else (32, 256, 16)
    torch.seed()  # Every peer draws other samples.
    model = Mixture(inputs, hidden, experts)
    optimizer = potluck.torch.Optimizer(model, run="mixture", target_batch=64,
                                        optimizer="adam", lr=3e-3,
                                        steps=arguments.steps)
    for x, y in quarters(inputs, batch=16):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step(loss=loss, samples=len(x))
        optimizer.zero_grad()
        if optimizer.finished:
            break


if __name__ == "__main__":
    main()
