"""A variational autoencoder of blobs: pictures of one bright spot."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

import potluck.torch


class VAE(nn.Module):
    def __init__(self, pixels: int, hidden: int, codes: int) -> None:
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(pixels, hidden), nn.ReLU(),
                                    nn.Linear(hidden, 2 * codes))
        self.decode = nn.Sequential(nn.Linear(codes, hidden), nn.ReLU(),
                                    nn.Linear(hidden, pixels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The loss: what is lost of the pictures, and the codes' distance from
        the normal distribution."""
        mean, log_variance = self.encode(x).chunk(2, dim=-1)
        code = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        lost = F.binary_cross_entropy_with_logits(self.decode(code), x,
                                                  reduction="none").sum(-1)
        distance = (mean**2 + log_variance.exp() - 1 - log_variance).sum(-1) / 2
        return (lost + distance).mean()


def blobs(side: int, batch: int):
    """Endless batches of pictures."""
    line = torch.arange(side, dtype=torch.float32)
    while True:
        centre = torch.rand(batch, 2, 1) * (side - 1)
        wave = torch.exp(-(line - centre)**2 / 4)
        yield (wave[:, 0, :, None] * wave[:, 1, None, :]).flatten(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--tiny", action="store_true", help="for a quick look")
    arguments = parser.parse_args()
    side, hidden, codes = (8, 32, 2) if arguments.tiny else (28, 512, 16)
    torch.seed()  # Every peer draws other samples.
    model = VAE(side * side, hidden, codes)
    optimizer = potluck.torch.Optimizer(model, run="vae", target_batch=64,
                                        optimizer="adam", lr=1e-3,
                                        steps=arguments.steps)
    for pictures in blobs(side, batch=16):
        loss = model(pictures)
        loss.backward()
        optimizer.step(loss=loss, samples=len(pictures))
        optimizer.zero_grad()
        if optimizer.finished:
            break


if __name__ == "__main__":
    main()
