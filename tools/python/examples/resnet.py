"""A ResNet with batch norm that tells ten drawn patterns apart."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

import potluck.torch


class Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outputs))
        self.short = (nn.Identity() if inputs == outputs and stride == 1 else
                      nn.Conv2d(inputs, outputs, 1, stride, bias=False))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.body(x) + self.short(x))


def resnet(width: int, stages: int) -> nn.Module:
    layers = [nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width),
              nn.ReLU()]
    for stage in range(stages):
        inputs, outputs = width * max(1, 2**(stage - 1)), width * 2**stage
        layers += [Block(inputs, outputs, 1 if stage == 0 else 2),
                   Block(outputs, outputs, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(width * 2**(stages - 1), 10))


class Patterns(torch.utils.data.Dataset):
    """Noisy pictures of ten patterns."""

    def __init__(self, pictures: int, side: int) -> None:
        chance = torch.Generator().manual_seed(0)
        self.patterns = torch.randn(10, 3, side, side, generator=chance)
        self.labels = torch.randint(10, (pictures,), generator=chance)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int):
        chance = torch.Generator().manual_seed(index)
        pattern = self.patterns[self.labels[index]]
        noise = torch.randn(pattern.shape, generator=chance)
        return pattern + noise, self.labels[index]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--tiny", action="store_true", help="for a quick look")
    arguments = parser.parse_args()
    model = resnet(4, 2) if arguments.tiny else resnet(32, 3)
    dataset = Patterns(4096, 8 if arguments.tiny else 32)
    # The running means of batch norm stay local, as each peer's evaluation
    # needs its own.
    optimizer = potluck.torch.Optimizer(model, run="resnet", target_batch=64,
                                        optimizer="lamb", lr=5e-3,
                                        steps=arguments.steps)
    loader = torch.utils.data.DataLoader(
        dataset, batch_size=16, sampler=potluck.torch.Sampler(dataset))
    while not optimizer.finished:
        for pictures, labels in loader:
            loss = F.cross_entropy(model(pictures), labels)
            loss.backward()
            optimizer.step(loss=loss, samples=len(labels))
            optimizer.zero_grad()
            if optimizer.finished:
                break


if __name__ == "__main__":
    main()
