"""A small GPT as a file of TorchScript, for tools/bench/trainer.

    script_network.py FILE
"""
import sys

import torch
from torch import Tensor, nn


class Block(nn.Module):
    def __init__(self, hidden: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        b, s, h = x.size()
        q, k, v = self.qkv(self.norm1(x)).view(b, s, 3, self.heads, -1).unbind(2)
        scores = q.transpose(1, 2) @ k.transpose(1, 2).transpose(2, 3)
        scores = scores / (h / self.heads) ** 0.5 + mask
        mixed = scores.softmax(-1) @ v.transpose(1, 2)
        x = x + self.out(mixed.transpose(1, 2).reshape(b, s, h))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Network(nn.Module):
    def __init__(self, hidden: int = 256, layers: int = 4):
        super().__init__()
        self.embed, self.place = nn.Embedding(2000, hidden), nn.Embedding(64, hidden)
        self.blocks = nn.ModuleList([Block(hidden, 4) for _ in range(layers)])
        self.norm = nn.LayerNorm(hidden)
        self.register_buffer("mask", torch.full((64, 64), float("-inf")).triu(1))

    def forward(self, tokens: Tensor, labels: Tensor) -> Tensor:
        x = self.embed(tokens) + self.place.weight
        for block in self.blocks:
            x = block(x, self.mask)
        scores = nn.functional.linear(self.norm(x), self.embed.weight)
        return nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten())


torch.jit.script(Network()).save(sys.argv[1])
