"""Different data for each peer."""
from __future__ import annotations

import os
from typing import Iterator, Optional, Sized

import torch.utils.data


class Sampler(torch.utils.data.Sampler):
    """All samples of a dataset, in an order that is each peer's own.

    Nobody deals out the data in a run: peers come and go. With orders of their
    own, they see each sample equally often in the long run. Every iteration
    is another order.
    """

    def __init__(self, data_source: Sized, seed: Optional[int] = None) -> None:
        """@param seed Gives the same orders again; by chance when None."""
        self.data_source = data_source
        self.seed = (int.from_bytes(os.urandom(7), "little") if seed is None
                     else seed)
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Has the next iteration be that of this number."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.data_source)

    def __iter__(self) -> Iterator[int]:
        chance = torch.Generator().manual_seed(
            (self.seed * 1000003 + self.epoch) % 2**63)
        self.epoch += 1
        yield from torch.randperm(len(self), generator=chance).tolist()
