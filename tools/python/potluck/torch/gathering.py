"""Gradients of several batches as one, on the device that computed them.

A run that wants hundreds of samples of this peer for each step does not need
every small batch at once, and a gradient that stays on the GPU costs no copy.
"""
from __future__ import annotations

from typing import List, Optional, Sequence

import torch

Gradients = Sequence[Optional[torch.Tensor]]


class Gathering:
    """The mean over samples of the gradients added so far."""

    def __init__(self) -> None:
        self.samples = 0
        self._loss = 0.0
        self._sums: List[Optional[torch.Tensor]] = []

    def count(self, samples: int, loss: float) -> None:
        """Samples whose gradients are kept elsewhere."""
        self.samples += samples
        self._loss += loss * samples

    def add(self, gradients: Gradients, samples: int, loss: float) -> None:
        if not self._sums:
            self._sums = [None] * len(gradients)
        for place, gradient in enumerate(gradients):
            if gradient is None:
                continue
            total = self._sums[place]
            if total is None or total.device != gradient.device:
                self._sums[place] = gradient.detach().float() * samples
            else:
                total.add_(gradient.detach(), alpha=samples)
        self.count(samples, loss)

    @property
    def loss(self) -> float:
        """The samples' mean."""
        return self._loss / max(1, self.samples)

    def mean(self) -> List[Optional[torch.Tensor]]:
        """The mean gradients, which take the place of the sums."""
        for total in self._sums:
            if total is not None:
                total.div_(self.samples)
        return self._sums

    def clear(self) -> None:
        self.samples, self._loss, self._sums = 0, 0.0, []
