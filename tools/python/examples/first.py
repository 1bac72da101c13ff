"""The README's program: a small network learns the sine of a sum."""
import argparse

import torch
from torch import nn

import potluck.torch

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=5000)
parser.add_argument("--tiny", action="store_true", help="it is, anyway")
arguments = parser.parse_args()

torch.seed()  # Every peer draws other samples.
model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = potluck.torch.Optimizer(model, run="first", target_batch=256,
                                    optimizer="adam", lr=0.01,
                                    steps=arguments.steps)
while not optimizer.finished:
    x = 2 * torch.randn(32, 2)
    loss = ((model(x) - x.sum(1, keepdim=True).sin())**2).mean()
    loss.backward()
    optimizer.step(loss=loss, samples=len(x))
    optimizer.zero_grad()
print(f"step {optimizer.step_number}, digest {optimizer.digest}")
