"""How a run goes, on the terminal or in a notebook."""
from __future__ import annotations

import sys
import time
from typing import Optional


def wanted_by_default() -> bool:
    """Whether somebody looks: in notebooks and on terminals."""
    return "ipykernel" in sys.modules or sys.stderr.isatty()


class Progress:
    """A bar of tqdm where that is installed; else a plain line now and then."""

    def __init__(self, title: str, every: float = 5.0) -> None:
        """@param every Seconds between two plain lines, at least."""
        self._title = title
        self._every = every
        self._last_line = -every
        self._bar = None
        try:
            from tqdm.auto import tqdm
            self._bar = tqdm(desc=title, unit="step", file=sys.stderr)
        except ImportError:
            pass

    def show(self, step: int, steps: int, loss: Optional[float],
             samples_per_second: Optional[float], peers: int) -> None:
        """@param steps Of the whole run; 0 when not known."""
        if self._bar is not None:
            self._bar.total = steps or None
            self._bar.n = step
            said = {"peers": peers}
            if loss is not None:
                said["loss"] = f"{loss:.4g}"
            if samples_per_second:
                said["samples/s"] = f"{samples_per_second:.4g}"
            self._bar.set_postfix(said)
            return
        now = time.monotonic()
        if now - self._last_line < self._every and step != steps:
            return
        self._last_line = now
        line = f"{self._title}: step {step}"
        if steps:
            line += f" of {steps}"
        if loss is not None:
            line += f"  loss {loss:.4g}"
        if samples_per_second:
            line += f"  {samples_per_second:.4g} samples/s"
        line += f"  {peers} peer{'' if peers == 1 else 's'}"
        print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
