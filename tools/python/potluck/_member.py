"""What is the same of every optimizer whose steps a run takes."""
from __future__ import annotations

from typing import Any

from potluck.run import Run, Status


class Member:
    """Takes part in `run`."""

    run: Run

    @property
    def finished(self) -> bool:
        """Whether the run has made its last step, or was left. Then `step`
        does nothing."""
        return self.run.over

    @property
    def status(self) -> Status:
        """What is known of the run at a glance."""
        return self.run.status

    @property
    def step_number(self) -> int:
        """Steps that the run has made, of the parameters here."""
        return self.run.status.taken

    @property
    def digest(self) -> str:
        """Of step, parameters and moments: equal at all peers after a step."""
        return self.run.digest

    def leave(self) -> None:
        """Says goodbye to the others."""
        self.run.leave()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.leave()
