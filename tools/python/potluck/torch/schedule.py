"""What stands in for a learning-rate scheduler."""
from __future__ import annotations

from typing import Any, Dict, List


class Schedule:
    """Has the methods of PyTorch's schedulers, and leaves the rate alone.

    The schedule is the run's: `warmup_steps`, `steps` and `schedule` of the
    optimizer. Programs that insist on a scheduler get this one.
    """

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer

    def step(self, *_: Any, **__: Any) -> None:
        """Does nothing."""

    def get_last_lr(self) -> List[float]:
        """The rate of the next step, for each group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> Dict[str, Any]:
        return {}

    def load_state_dict(self, _: Dict[str, Any]) -> None:
        """Does nothing."""
