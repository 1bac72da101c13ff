"""Where the library reads gradients and writes parameters.

A tensor that lies on the CPU as float32 in C order is read and written in
place. Others go through memory of the CPU, which is pinned for those of a GPU,
and is used for gradient and parameter in turn.
"""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Set

import torch

from potluck._errors import Mistake
from potluck.run import addresses
from potluck.torch.tensors import Entry


def _in_place(tensor: torch.Tensor) -> bool:
    return (tensor.dtype == torch.float32 and tensor.device.type == "cpu"
            and tensor.is_contiguous())


class Memory:
    """Of the tensors of one run."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = list(entries)
        self._shapes = [entry.parameter.shape for entry in entries]
        self._staged: Dict[int, torch.Tensor] = {}

    def values(self) -> List[int]:
        """Addresses of the parameters' present values."""
        found = []
        for place, (_, parameter, _) in enumerate(self._entries):
            if not _in_place(parameter):
                self._stage(place).copy_(parameter.detach())
            found.append(self._address(place))
        return found

    def gradients(self, given: Sequence[Optional[torch.Tensor]]) -> Any:
        """Addresses of these gradients, None for zeros. They are valid until
        the next call here, and as long as the gradients are."""
        found: List[Optional[int]] = []
        devices: Set[torch.device] = set()
        for place, gradient in enumerate(given):
            if gradient is None:
                found.append(None)
                continue
            self._check(place, gradient)
            if _in_place(gradient):
                found.append(gradient.data_ptr())
                continue
            stage = self._stage(place)
            stage.copy_(gradient, non_blocking=True)
            found.append(stage.data_ptr())
            devices.add(gradient.device)
        _await(devices)
        return addresses(found)

    def targets(self) -> Any:
        """Addresses for new parameters; `settle` then brings them there."""
        return addresses([self._address(place)
                          for place in range(len(self._entries))])

    def settle(self) -> None:
        """New parameters are at `targets`."""
        devices: Set[torch.device] = set()
        with torch.no_grad():
            for place, (_, parameter, _) in enumerate(self._entries):
                if _in_place(parameter):
                    # Tells autograd that the values are others now.
                    flat = parameter.view(-1)
                    flat[:0].zero_()
                else:
                    parameter.copy_(self._stage(place), non_blocking=True)
                    devices.add(parameter.device)
        _await(devices)

    def _address(self, place: int) -> int:
        parameter = self._entries[place].parameter
        if parameter.shape != self._shapes[place]:
            raise Mistake(
                f"{self._entries[place].name} has the shape "
                f"{tuple(parameter.shape)} and had "
                f"{tuple(self._shapes[place])} when the run was opened; make "
                "the optimizer after the model has its last shape.")
        return (parameter.data_ptr() if _in_place(parameter)
                else self._stage(place).data_ptr())

    def _stage(self, place: int) -> torch.Tensor:
        parameter = self._entries[place].parameter
        stage = self._staged.get(place)
        pinned = parameter.device.type == "cuda"
        if stage is None or (pinned and not stage.is_pinned()):
            stage = torch.empty(self._shapes[place], dtype=torch.float32,
                                pin_memory=pinned)
            self._staged[place] = stage
        return stage

    def _check(self, place: int, gradient: torch.Tensor) -> None:
        name = self._entries[place].name
        if gradient.layout != torch.strided:
            raise Mistake(f"{name} has a sparse gradient, and gradients are "
                          "averaged whole; make the layer with sparse=False.")
        if gradient.shape != self._shapes[place]:
            raise Mistake(f"The gradient of {name} has the shape "
                          f"{tuple(gradient.shape)}, and {name} had "
                          f"{tuple(self._shapes[place])} when the run was "
                          "opened.")


def _await(devices: Set[torch.device]) -> None:
    """Until copies of these devices are done."""
    for device in devices:
        if device.type == "cuda":
            torch.cuda.current_stream(device).synchronize()
