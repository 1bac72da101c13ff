"""A network trained by a loop of Hugging Face's Accelerate (package accelerate):
`prepare` takes Potluck's optimizer like any other, and `step()` counts the
samples that it was told.
"""
import argparse

import torch
from accelerate import Accelerator
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import potluck.torch


def parity(samples: int, bits: int) -> TensorDataset:
    """Bits, and whether an odd number of the first three is set."""
    x = torch.randint(0, 2, (samples, bits)).float()
    return TensorDataset(x, x[:, :3].sum(1).long() % 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--tiny", action="store_true", help="for a quick look")
    arguments = parser.parse_args()
    bits, hidden = (4, 8) if arguments.tiny else (16, 256)
    torch.seed()  # Every peer draws other samples.
    batch = 16
    accelerator = Accelerator(cpu=arguments.tiny)
    model = nn.Sequential(nn.Linear(bits, hidden), nn.ReLU(),
                          nn.Linear(hidden, 2)).to(accelerator.device)
    optimizer = potluck.torch.Optimizer(
        model, run="accelerate", target_batch=64, optimizer="adam", lr=3e-3,
        steps=arguments.steps, samples_per_step=batch)
    data = DataLoader(parity(64 * batch, bits), batch_size=batch, shuffle=True)
    model, prepared, data = accelerator.prepare(model, optimizer, data)
    while not optimizer.finished:
        for x, y in data:
            accelerator.backward(F.cross_entropy(model(x), y))
            prepared.step()
            prepared.zero_grad()
            if optimizer.finished:
                break


if __name__ == "__main__":
    main()
