"""A GAN that learns a ring of points: two optimizers, and so two runs."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

import potluck.torch


def network(inputs: int, hidden: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.LeakyReLU(0.2),
                         nn.Linear(hidden, hidden), nn.LeakyReLU(0.2),
                         nn.Linear(hidden, outputs))


def points(batch: int) -> torch.Tensor:
    """On a circle of radius two, with some noise."""
    angle = torch.rand(batch) * 6.2832
    ring = 2 * torch.stack([angle.cos(), angle.sin()], 1)
    return ring + 0.1 * torch.randn(batch, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--tiny", action="store_true", help="for a quick look")
    arguments = parser.parse_args()
    hidden, noise, batch = (16, 4, 16) if arguments.tiny else (256, 16, 64)
    torch.seed()  # Every peer draws other samples.
    generator = network(noise, hidden, 2)
    critic = network(2, hidden, 1)
    settings = dict(target_batch=2 * batch, optimizer="adam", lr=2e-4,
                    betas=(0.5, 0.999), steps=arguments.steps)
    draw = potluck.torch.Optimizer(generator, run="gan-generator", **settings)
    judge = potluck.torch.Optimizer(critic, run="gan-critic", **settings)
    while not (draw.finished and judge.finished):
        real, drawn = points(batch), generator(torch.randn(batch, noise))
        loss = (F.softplus(-critic(real)) +
                F.softplus(critic(drawn.detach()))).mean()
        judge.zero_grad()
        loss.backward()
        judge.step(loss=loss, samples=batch)
        loss = F.softplus(-critic(drawn)).mean()
        draw.zero_grad()
        loss.backward()
        draw.step(loss=loss, samples=batch)


if __name__ == "__main__":
    main()
