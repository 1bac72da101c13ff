"""A mixture of experts that live on other machines: the gates are trained
together, and the experts learn where they are, from everybody. Two hosts:

    python3 -m potluck expert --run mixture --peer HOST:PORT --grid 1x4x4 \\
        --uids 'quarters.*.0-1.*' --hidden 64      (and 'quarters.*.2-3.*')

Without one the first batch waits. With --tiny: --grid 1x2x2, 'quarters.*.0.*',
'quarters.*.1.*', --hidden 8.
"""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

import potluck.torch


class Mixture(nn.Module):
    def __init__(self, inputs: int, hidden: int, grid: "tuple[int, int]",
                 k: int) -> None:
        super().__init__()
        self.input = nn.Linear(inputs, hidden)
        self.mixture = potluck.torch.MixtureOfExperts(
            hidden, experts="quarters", grid=grid, k=k)
        self.output = nn.Linear(hidden, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.input(x)
        return self.output(x + self.mixture(F.layer_norm(x, x.shape[-1:])))


def quarters(inputs: int, batch: int):
    """Endless samples of a function that is another one in each quarter of the
    plane of the first two inputs."""
    scale = torch.tensor([1.0, -2.0, 3.0, -4.0])
    while True:
        x = torch.randn(batch, inputs)
        quarter = 2 * (x[:, 0] > 0) + (x[:, 1] > 0)
        yield x, (scale[quarter] * x[:, 2])[:, None]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--tiny", action="store_true", help="for a quick look")
    arguments = parser.parse_args()
    inputs, hidden, grid, k = ((4, 8, (2, 2), 2) if arguments.tiny
                               else (32, 64, (4, 4), 4))
    torch.seed()  # Every peer draws other samples.
    model = Mixture(inputs, hidden, grid, k)
    optimizer = potluck.torch.Optimizer(model, run="mixture", target_batch=64,
                                        optimizer="adam", lr=3e-3,
                                        steps=arguments.steps)
    for x, y in quarters(inputs, batch=16):
        loss = F.mse_loss(model(x), y)
        (loss + 0.01 * model.mixture.balance_loss).backward()
        optimizer.step(loss=loss, samples=len(x))
        optimizer.zero_grad()
        if optimizer.finished:
            break


if __name__ == "__main__":
    main()
