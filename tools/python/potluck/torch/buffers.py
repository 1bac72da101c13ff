"""What a module keeps besides its parameters, averaged over the peers.

The running means of batch norm, for instance. No gradient leads to them. So
they are the tensors of a second run in which a step is plain gradient descent
at the rate one, and a peer's gradient is the difference between the run's
values and its own: the run's next values are then the mean of all, weighted by
samples, equal to the bit everywhere.
"""
from __future__ import annotations

from typing import Any, Dict, List, Optional

import torch

from potluck._errors import Mistake
from potluck.run import Run, Tensor, addresses

_SETTINGS = dict(optimizer="sgd", momentum=0.0, lr=1.0, schedule="constant",
                 warmup_steps=0, weight_decay=0.0, clip_norm=0.0,
                 steps=1_000_000_000)

# Of the model's run, what holds for that of its buffers, too.
_SHARED = ("peers", "listen", "target_batch", "updates", "identity", "insecure",
           "port_mapping", "max_upload", "max_download")


class Buffers:
    """The floating-point buffers of one module."""

    def __init__(self, module: Optional[torch.nn.Module],
                 settings: Dict[str, Any]) -> None:
        """Joins or founds their run; returns when they have the run's values.

        @param settings Those of the model's run.
        """
        if module is None:
            raise Mistake('buffers="average" needs the module whose buffers '
                          "they are; give it as module=.")
        if not settings.get("run"):
            raise Mistake('buffers="average" needs a run with a name of its '
                          'own, run=; with an invitation they stay "local".')
        found = {name: buffer for name, buffer in module.named_buffers()
                 if buffer.is_floating_point()}
        if not found:
            raise Mistake("The module has no buffer of real numbers; leave "
                          "buffers= out.")
        self._buffers: List[torch.Tensor] = list(found.values())
        self._values = [self._present(buffer) for buffer in self._buffers]
        self._addresses = addresses([each.data_ptr() for each in self._values])
        kept = {name: settings[name] for name in _SHARED if name in settings}
        self.run = Run([Tensor(name, tuple(values.shape), False,
                               values.data_ptr())
                        for name, values in zip(found, self._values)],
                       run=settings["run"] + "-buffers", progress=False,
                       **kept, **_SETTINGS)
        try:
            self.run.open()
            self.follow()
        except BaseException:
            self.run.leave()
            raise

    @staticmethod
    def _present(buffer: torch.Tensor) -> torch.Tensor:
        """The values now, in memory that is ours."""
        return buffer.detach().to("cpu", torch.float32, copy=True).contiguous()

    def add(self, samples: int, loss: float) -> None:
        """Contributes the values as that many samples have left them."""
        differences = [values - self._present(buffer) for values, buffer
                       in zip(self._values, self._buffers)]
        self.run.add(addresses([each.data_ptr() for each in differences]),
                     samples, loss)

    def follow(self) -> None:
        """Waits for a step if it is due; the module then has the means."""
        if self.run.follow(self._addresses):
            with torch.no_grad():
                for values, buffer in zip(self._values, self._buffers):
                    buffer.copy_(values)

    def leave(self) -> None:
        self.run.leave()
