"""A graph network that finds each node's community in random graphs."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

import potluck.torch


class Layer(nn.Module):
    """Each node hears the mean of what its neighbours say."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.said = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        start, end = edges
        said = self.said(x)
        heard = torch.zeros_like(said).index_add(0, end, said[start])
        count = torch.zeros(len(x), 1).index_add(0, end,
                                                 torch.ones(len(end), 1))
        return F.relu(self.own(x) + heard / count.clamp(min=1))


class GraphNetwork(nn.Module):
    def __init__(self, features: int, width: int, communities: int) -> None:
        super().__init__()
        self.first = Layer(features, width)
        self.second = Layer(width, width)
        self.label = nn.Linear(width, communities)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        return self.label(self.second(self.first(x, edges), edges))


def graphs(nodes: int, features: int, communities: int):
    """Endless graphs whose edges mostly stay within a community."""
    meaning = torch.randn(communities, features,
                          generator=torch.Generator().manual_seed(0))
    while True:
        label = torch.randint(communities, (nodes,))
        same = label[:, None] == label[None, :]
        edges = torch.rand(nodes, nodes) < torch.where(same, 0.3, 0.02)
        x = meaning[label] + 2 * torch.randn(nodes, features)
        yield x, edges.nonzero().T, label


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--tiny", action="store_true", help="for a quick look")
    arguments = parser.parse_args()
    nodes, features, width = (24, 4, 16) if arguments.tiny else (500, 32, 128)
    torch.seed()  # Every peer draws other samples.
    model = GraphNetwork(features, width, communities=4)
    optimizer = potluck.torch.Optimizer(model, run="graph", target_batch=8,
                                        optimizer="lamb", lr=5e-3,
                                        steps=arguments.steps)
    for x, edges, label in graphs(nodes, features, communities=4):
        loss = F.cross_entropy(model(x, edges), label)
        loss.backward()
        optimizer.step(loss=loss, samples=1)  # A sample is a graph.
        optimizer.zero_grad()
        if optimizer.finished:
            break


if __name__ == "__main__":
    main()
