"""A run, as the library has it, for any Python program with tensors in memory.

Knows neither PyTorch nor NumPy: tensors are names, shapes and addresses of
float32 values in C order. `potluck.torch` and `potluck.numpy` stand on it.
"""
from __future__ import annotations

import ctypes
import json
import logging
import math
import os
import pathlib
import sys
import weakref
from typing import (Any, Callable, Dict, Iterable, Iterator, List, Mapping,
                    NamedTuple, Optional, Sequence, Set, Tuple, Union)
from urllib.parse import quote

from potluck import _library as c
from potluck._errors import (Error, Failed, Mistake, NotFinite,
                             TooFewExperts)
from potluck.progress import Progress, wanted_by_default

log = logging.getLogger("potluck")

Event = Dict[str, Any]
Hook = Callable[[Event], Any]

#: A call of the library that waits returns after this many seconds, so that
#: Python can see to Ctrl-C.
PATIENCE = 0.2

# What Python calls shorter, or by another form, than the library.
_OPTIONS = {"lr": "learning-rate", "eps": "epsilon",
            "identity": "identity-dir"}


class Tensor(NamedTuple):
    """One tensor of the model."""

    name: str
    shape: Tuple[int, ...]
    decays: bool      #: Whether weight decay and trust ratios apply.
    address: int = 0  #: Of its first values; 0: zeros.


class Status(NamedTuple):
    """What is known at a glance; `struct potluck_status` in potluck.h."""

    step: int             #: Optimizer steps made, as of the last report.
    steps: int            #: Of the run; 0 while unknown.
    peers: int            #: That take part, this one included.
    samples: int          #: Of all peers for the next step, so far.
    target: int           #: At which it is made; 0 while unknown.
    own: int              #: Samples added here since the run was opened.
    stale: int            #: Of them, dropped: computed with old parameters.
    taken: int            #: Step of the parameters taken last.
    loss: float           #: Mean, in the last step.
    rate: float           #: Samples a second, of all peers.
    share: float          #: Of the last step's samples, of this peer.
    learning_rate: float  #: Of the next step.
    progress: float       #: Of joining, 0 to 1.
    phase: str
    trouble: str          #: Why it does not go on, or well.


def decays_by_default(name: str, dimensions: int) -> bool:
    """Whether weight decay applies to a tensor where nobody says so: not to
    biases and norms, nor to anything else of one dimension or none."""
    low = name.lower()
    return dimensions > 1 and "bias" not in low and "norm" not in low


def as_name(name: str) -> str:
    """A tensor's name as the library takes it: printable ASCII without spaces,
    everything else as in a URL."""
    return "".join(each if "!" <= each <= "~" else quote(each)
                   for each in name)


def as_text(value: Any) -> str:
    """An option's value, as the library reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return repr(value) if isinstance(value, float) else str(value)


def addresses(pointers: Sequence[Optional[int]]) -> Any:
    """Addresses, one a tensor, as the library takes them; None or 0: none."""
    return (ctypes.c_void_p * len(pointers))(*pointers)


def _further(address: str, ports: int) -> str:
    """The address with a port that is so many further; port 0 is any."""
    host, _, port = address.strip().rpartition(":")
    if not port.isdigit() or port == "0":
        return address
    return f"{host}:{int(port) + ports}"


def _close(library: Any, handle: int, process: int) -> None:
    """Leaves in order. Not in a child: what it inherited is its parent's."""
    if os.getpid() == process:
        library.potluck_leave(handle, 2.0)
        library.potluck_free(handle)


_open_runs: "weakref.WeakValueDictionary[str, Run]" = (
    weakref.WeakValueDictionary())


class Run:
    """Takes part in one run.

    The order of use: make it, `open` it, wait in `follow` for the first
    parameters; then again and again `add` a gradient and `follow`; `leave`.
    It can be used in a `with` statement, which leaves. A program that exits
    without leaving has left, too.

    Memory at the addresses given must stay where it is during a call.
    """

    def __init__(self, tensors: Iterable[Tensor], *,
                 run: Optional[str] = None,
                 invitation: Optional[str] = None,
                 peers: Union[str, Sequence[str], None] = None,
                 listen: Union[str, Sequence[str], None] = None,
                 checkpoint: Union[str, "os.PathLike[str]", None] = None,
                 artifacts: Optional[Mapping[
                     str, Union[str, "os.PathLike[str]"]]] = None,
                 on_step: Optional[Hook] = None,
                 on_event: Optional[Hook] = None,
                 on_end: Optional[Hook] = None,
                 progress: Optional[bool] = None,
                 **settings: Any) -> None:
        """Declares the model, and checks the settings; opens nothing.

        @param run Name of the run. Whoever is first founds it.
        @param invitation Or that to a run which somebody created.
        @param peers HOST:PORT of peers to contact first; without, those of
            the environment variable POTLUCK_PEERS, separated by commas. None
            at all: found the run.
        @param listen HOST:PORT to listen at; without, POTLUCK_LISTEN, and for
            further runs of this process the ports behind it; else any free
            port.
        @param checkpoint File that gets the training state now and then, and
            in the end. If it is there, training goes on from it.
        @param artifacts Files of up to 256 MiB by names, for whoever founds the
            run: all peers get them (`artifact`) before they train.
        @param on_step Called with each `step` event.
        @param on_event Called with each event: runtime/README.md lists them.
        @param on_end Called once, with the event `finished`, or with `left`.
        @param progress Whether to show a bar; None: where somebody looks.
        @param settings Options of potluck_set and settings of the run, with
            underscores: target_batch=4096, optimizer="adamw", lr=3e-4; also
            as PyTorch calls them: lr, betas, eps.
        """
        self.tensors = list(tensors)
        self.name = run or ("the invitation's run" if invitation else "")
        self.over = False
        self._step_hook = on_step
        self._event_hook = on_event
        self._end_hook = on_end
        self._progress_wanted = progress
        self._progress: Optional[Progress] = None
        self._last: Event = {}
        self._warned: Set[str] = set()
        self._process = os.getpid()
        self._opened = False
        self._checkpoint = checkpoint
        self._text = ctypes.create_string_buffer(1 << 16)
        self._library = c.library()
        if not run and not invitation and not (
                checkpoint and os.path.exists(checkpoint)):
            raise Mistake("Say which run: run=NAME, or invitation=TEXT.")
        self._handle = self._library.potluck_new()
        if not self._handle:
            raise Failed(self._sentence(0) or "There are too many runs in this "
                         "process; leave some.")
        self._closing = weakref.finalize(self, _close, self._library,
                                         self._handle, self._process)
        self._settings = self._gathered(run, invitation, peers, listen,
                                        checkpoint, settings)
        self._settings += [("artifact", f"{name}={as_text(path)}")
                           for name, path in (artifacts or {}).items()]
        try:
            self._declare(checkpoint)
        except BaseException:
            self._closing()
            raise

    def _gathered(self, run: Any, invitation: Any, peers: Any, listen: Any,
                  checkpoint: Any, settings: Dict[str, Any]
                  ) -> List[Tuple[str, str]]:
        """Everything for potluck_set, in order."""
        found: List[Tuple[str, str]] = []
        for name, value in (("run", run), ("invitation", invitation),
                            ("checkpoint", checkpoint)):
            if value is not None:
                found.append((name, as_text(value)))
        for name, value, variable in (("peer", peers, "POTLUCK_PEERS"),
                                      ("listen", listen, "POTLUCK_LISTEN")):
            if value is None:
                value = os.environ.get(variable, "").split(",")
                if name == "listen":
                    value = [_further(each, len(_open_runs)) for each in value]
            if isinstance(value, str):
                value = [value]
            found += [(name, each.strip()) for each in value if each.strip()]
        settings = dict(settings)
        if settings.get("betas") is not None:
            settings["beta1"], settings["beta2"] = settings.pop("betas")
        for name, value in settings.items():
            if value is not None:
                found.append((_OPTIONS.get(name, name.replace("_", "-")),
                              as_text(value)))
        return found

    def _declare(self, checkpoint: Any) -> None:
        for name, value in self._settings:
            self._call("set", name.encode(), value.encode())
        for tensor in self.tensors:
            shape = (ctypes.c_long * len(tensor.shape))(*tensor.shape)
            self._call("tensor", as_name(tensor.name).encode(), shape,
                       len(tensor.shape), 1 if tensor.decays else 0,
                       tensor.address or None)
        if checkpoint is not None and os.path.exists(checkpoint):
            log.info("continuing from %s", checkpoint)
            self._call("load", os.fsencode(checkpoint))

    # ---- before it is opened ------------------------------------------------

    def create(self) -> str:
        """Creates the run instead of founding a trial; gives the invitation.

        Needs `announce=HOST:PORT`, and an identity that is kept."""
        text = ctypes.create_string_buffer(4096)
        self._call("create", text, len(text))
        return text.value.decode()

    def set_moments(self, step: int, first: Sequence[int],
                    second: Sequence[int]) -> None:
        """Begins with this state of the optimizer: addresses, one a tensor."""
        self._call("set_moments", step, addresses(first), addresses(second))

    def open(self) -> "Run":
        """Connects, and joins or founds the run; `follow` waits for that."""
        other = _open_runs.get(self.name)
        if other is not None and other is not self and not other.left:
            if "ipykernel" not in sys.modules:
                raise Mistake(f"This process is in the run {self.name} "
                              "already; leave it first, or give the second "
                              "model a run of its own.")
            log.info("leaving %s, since a cell opens it again", self.name)
            other.leave()
        self._call("open")
        self._opened = True
        _open_runs[self.name] = self
        if (wanted_by_default() if self._progress_wanted is None
                else self._progress_wanted):
            self._progress = Progress(self.name)
        return self

    # ---- training -----------------------------------------------------------

    def add(self, gradients: Any, samples: int, loss: float) -> None:
        """Adds the gradient of a batch's mean loss.

        @param gradients What `addresses` gives; None: zeros.
        @param samples That the batch has.
        @param loss Their mean loss.
        """
        samples = int(samples)
        if samples < 1:
            raise Mistake(f"A batch of {samples} samples was added; samples= "
                          "is how many it has, at least one.")
        if not math.isfinite(loss):
            raise NotFinite(f"The loss is {loss}, so this batch was left out; "
                            "look at the data, or lower the learning rate.")
        while self._call("add", gradients, samples, loss,
                         PATIENCE) == c.TIMEOUT:
            self._tell()

    def follow(self, parameters: Any, wait: bool = True) -> bool:
        """Waits until there is something to compute. Then events have been
        told, and hooks called.

        @param parameters Where new parameters go, as `addresses` gives it.
        @param wait False: looks, and returns at once.
        @return Whether the parameters are new.
        """
        if self.over:
            return False
        outcome = self._call("take", parameters, 0.0)
        while outcome == c.TIMEOUT and wait:
            self._tell()
            outcome = self._call("take", parameters, PATIENCE)
        # The event of the end may come a moment behind it.
        self._tell(1.0 if outcome == c.OVER else 0.0)
        if outcome == c.OVER:
            self._end()
        return outcome in (c.OK, c.OVER)

    def call_experts(self, function: str, layer: int, samples: int,
                     memory: Sequence[Optional[int]],
                     patience: float) -> None:
        """Calls experts of the run, and waits; raises TooFewExperts.

        @param function "find_experts", "forward" or "backward": one of
            potluck.h, where `memory` is described, too.
        """
        self._call(function, layer, samples, *memory, patience)

    @property
    def status(self) -> Status:
        fields = c.StatusFields()
        fields.size = ctypes.sizeof(fields)
        self._call("status", ctypes.byref(fields))
        values = [getattr(fields, name) for name, _ in fields._fields_[1:]]
        values[-2:] = [text.decode(errors="replace") for text in values[-2:]]
        return Status(*values)

    @property
    def digest(self) -> str:
        """Of step, parameters and moments: equal at all peers after a step."""
        text = ctypes.create_string_buffer(33)
        self._call("digest", text)
        return text.value.decode()

    def get(self, name: str) -> str:
        """A setting or option in effect, as text; see potluck_get."""
        size = self._call("get", name.encode(), None, 0)
        text = ctypes.create_string_buffer(size + 1)
        self._call("get", name.encode(), text, size + 1)
        return text.value.decode()

    def artifact(self, name: str) -> pathlib.Path:
        """Where the run's artifact of this name is on this machine. It is here
        once `follow` has given parameters; do not change that file."""
        return pathlib.Path(self.get("artifact:" + name))

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a checkpoint, for `potluck export` and `checkpoint=`."""
        self._call("save", os.fsencode(path))

    def moments(self, first: Sequence[int], second: Sequence[int]) -> int:
        """Copies the optimizer's moments to these addresses; gives the step."""
        step = ctypes.c_ulong()
        self._call("moments", ctypes.byref(step), addresses(first),
                   addresses(second))
        return step.value

    # ---- the end ------------------------------------------------------------

    @property
    def left(self) -> bool:
        return not self._closing.alive

    def leave(self) -> None:
        """Says goodbye, and closes the run. More calls do nothing."""
        if self.left or os.getpid() != self._process:
            return
        if self._opened:
            self._library.potluck_leave(self._handle, 2.0)
            self._tell()
            if self._checkpoint is not None and not self.over:
                self._keep()
            self._end()
        self._closing()
        if _open_runs.get(self.name) is self:
            del _open_runs[self.name]

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: Any) -> None:
        self.leave()

    def __reduce__(self) -> Any:
        raise TypeError("A run cannot be copied or sent to another process; "
                        "open one there, or keep its checkpoint.")

    # ---- inside -------------------------------------------------------------

    def _keep(self) -> None:
        """Writes the last checkpoint; at a run's end the library does."""
        try:
            self.save(self._checkpoint)
        except Error as problem:
            log.warning("%s: no checkpoint: %s", self.name, problem)

    def _end(self) -> None:
        if self.over:
            return
        self.over = True
        if self._progress is not None:
            self._progress.close()
        if self._end_hook is not None:
            self._end_hook(self._last if self._last.get("event") == "finished"
                           else {"event": "left"})

    def _events(self, patience: float) -> Iterator[Event]:
        while True:
            wait = 0.0 if self._last.get("event") == "finished" else patience
            length = self._library.potluck_event(
                self._handle, self._text, len(self._text), wait)
            if length >= len(self._text):
                self._text = ctypes.create_string_buffer(length + 1)
                continue
            if length <= 0:
                return
            yield json.loads(self._text.value.decode(errors="replace"))

    def _tell(self, patience: float = 0.0) -> None:
        """Tells of what has happened.

        @param patience Seconds to wait for the end of the run.
        """
        for event in self._events(patience):
            what = event.get("event")
            if what == "finished":
                self._last = event
            self._log(event)
            if self._event_hook is not None:
                self._event_hook(event)
            if what != "step":
                continue
            if self._progress is not None:
                self._show(event)
            if self._step_hook is not None:
                self._step_hook(event)

    def _log(self, event: Event) -> None:
        what = event.get("event", "")
        if what == "step":
            log.info("%s: step %s, loss %s, %s samples of %s peers", self.name,
                     event.get("step"), event.get("loss"),
                     event.get("samples"), event.get("peers"))
        elif what in ("fault", "ban", "split", "notice"):
            detail = event.get("message", event.get("detail", ""))
            sentence = str(detail)[:500]
            if what != "notice":
                sentence = f"{event.get('what', what)}: {sentence}"
            # What happens again and again is a warning once.
            again = sentence in self._warned
            self._warned.add(sentence)
            log.log(logging.INFO if again else logging.WARNING, "%s: %s",
                    self.name, sentence)
        else:
            log.debug("%s: %s", self.name, event)

    def _show(self, event: Event) -> None:
        status = self.status
        self._progress.show(event.get("step", 0), status.steps,
                            event.get("loss"),
                            event.get("samples_per_second"), status.peers)

    def _call(self, function: str, *arguments: Any) -> int:
        """The result of potluck_FUNCTION, unless it is a mistake."""
        if self.left:
            raise Mistake(f"The run {self.name} was left; make a new one to "
                          "join it again.")
        result = getattr(self._library, "potluck_" + function)(self._handle,
                                                               *arguments)
        if result >= 0:
            return result
        if result == c.FORKED:
            raise Mistake("This process was forked after the run was opened; "
                          "open a run of its own in the child, or start it "
                          "with the method spawn.")
        sentence = self._sentence(self._handle) or (
            f"The library failed with {result}.")
        kinds = {c.NOT_FINITE: NotFinite, c.FAILED: Failed, c.NO_RUN: Failed,
                 c.NO_EXPERTS: TooFewExperts}
        raise kinds.get(result, Mistake)(sentence)

    def _sentence(self, handle: int) -> str:
        return self._library.potluck_error(handle).decode(errors="replace")
