"""Mixtures of experts that live on other machines (Ryabinin and Gusev 2020).

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.input = nn.Linear(784, 64)
            self.mixture = potluck.torch.MixtureOfExperts(64, experts="ffn",
                                                          grid=(4, 4), k=2)
            self.output = nn.Linear(64, 10)

`potluck expert` hosts the experts: any number of peers, a few experts each.
The run's optimizer connects the layers of its module; `call_experts` does for
programs that only compute.
"""
from __future__ import annotations

import logging
import threading
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch
from torch.autograd.function import once_differentiable

from potluck._errors import Mistake, TooFewExperts
from potluck.run import Run

log = logging.getLogger("potluck")

# Seconds between two tries while no expert answers.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0

# Of an expert that has not answered, so that softmax gives it nothing.
_NOTHING = -1e30


class MixtureOfExperts(torch.nn.Module):
    """Sends each sample to those `k` living experts that its gates prefer, and
    mixes what they answer.

    [..., values] to [..., values], on any device and of any real type; what
    travels is float32, or packed. The gates are the layer's parameters: one
    linear map for each dimension of the grid. An expert's score is the sum of
    its coordinates' scores, and the softmax of the scores of those that answer
    weighs their outputs. Experts have parameters of their own, where they
    live: they learn at once whenever a backward pass reaches them, from all
    peers. Inside `torch.no_grad()` nobody learns.

    An expert that fails or is late is left out. Where none answers at all, a
    pass waits for one; samples that none of their experts answers become
    zeros.
    """

    #: How unevenly the experts were used in the last pass: 1 when all alike.
    #: Add about a hundredth of it to the loss.
    balance_loss: torch.Tensor

    def __init__(self, values: int, *, experts: str = "ffn",
                 grid: Sequence[int] = (4, 4), k: int = 4,
                 layer: Optional[int] = None, packing: str = "float32",
                 patience: float = 30.0, wait: float = 60.0) -> None:
        """Draws the gates; connects nothing.

        All layers of a model agree in everything up to `packing`, but for the
        layer; so do all peers of a run.

        @param values Of a sample, there and back: `--hidden` of the hosts.
        @param experts Their name: those of layer L are EXPERTS.L.I.J..., the
            `--uids` of the hosts.
        @param grid How many there are in each of 1 to 4 dimensions.
        @param k How many are called for a sample.
        @param layer Its number, 0 to 255; without: its place among the layers
            of the module that is connected.
        @param packing How values travel: float32, float16, bfloat16 or int8.
        @param patience Seconds for the answers of a pass. Who has not answered
            a second after a sample's first answer is left out before.
        @param wait Seconds to try again while no expert answers; then
            TooFewExperts is raised.
        """
        super().__init__()
        if values < 1 or k < 1 or not grid:
            raise Mistake("A mixture of experts needs values, k and a grid of "
                          "at least 1.")
        self.values = int(values)
        self.experts = experts
        self.grid = tuple(int(size) for size in grid)
        self.k = int(k)
        self.layer = layer
        self.packing = packing
        self.patience = float(patience)
        self.wait = float(wait)
        self.gates = torch.nn.ModuleList(
            torch.nn.Linear(self.values, size) for size in self.grid)
        self.balance_loss = torch.zeros(())
        self._link: Optional[Tuple[Run, int]] = None

    def extra_repr(self) -> str:
        return (f"{self.values}, experts={self.experts!r}, grid={self.grid}, "
                f"k={self.k}")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The mean of the experts' answers. Blocks while they compute; raises
        TooFewExperts."""
        if x.dim() == 0 or x.shape[-1] != self.values or x.numel() == 0:
            raise Mistake(f"A mixture of experts of {self.values} values was "
                          f"given the shape {tuple(x.shape)}; it takes "
                          f"[..., {self.values}] with at least one sample.")
        rows = x.reshape(-1, self.values)
        rows = rows.to(self.gates[0].weight.dtype)
        scores = torch.cat([gate(rows) for gate in self.gates], 1).float()
        end = time.monotonic() + self.wait
        pause, told = _FIRST_PAUSE, ""
        while True:
            try:
                mixed = self._mix(rows, scores)
                return mixed.to(x.dtype).reshape(x.shape)
            except TooFewExperts as problem:
                if time.monotonic() >= end:
                    raise
                if str(problem) != told:
                    told = str(problem)
                    log.warning("%s; waiting for one", told.rstrip("."))
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    # ---- inside -------------------------------------------------------------

    def _mix(self, rows: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        samples, device = len(rows), rows.device
        plain = _plain(scores)
        places = torch.empty(samples, self.k, len(self.grid),
                             dtype=torch.int32)
        alive = torch.empty(plain.shape[1], dtype=torch.uint8)
        self._call("find_experts", samples, plain, places, alive)
        outputs, answered = _Experts.apply(
            rows, torch.empty(0, requires_grad=True), self, places)
        firsts = [sum(self.grid[:d]) for d in range(len(self.grid))]
        columns = (places + torch.tensor(firsts, dtype=torch.int32)
                   ).clamp(min=0).long().to(device)
        counts = answered.bool()
        score = scores.gather(1, columns.flatten(1)).view(columns.shape).sum(2)
        weights = score.masked_fill(~counts, _NOTHING).softmax(1) * counts
        found = (places[..., 0] >= 0).to(device)
        self.balance_loss = self._balance(scores, columns[found],
                                          alive.bool().to(device))
        return torch.bmm(weights.unsqueeze(1), outputs).squeeze(1)

    def _balance(self, scores: torch.Tensor, columns: torch.Tensor,
                 alive: torch.Tensor) -> torch.Tensor:
        """For each dimension of n living coordinates n times the sum of the
        share of calls times the mean probability; the mean over dimensions
        (Fedus et al. 2021, equations 4 to 6)."""
        calls = torch.bincount(columns.flatten(), minlength=scores.shape[1])
        shares = calls.to(scores.dtype) / max(1, len(columns))
        total, first = scores.new_zeros(()), 0
        for size in self.grid:
            living = alive[first:first + size].nonzero().squeeze(1) + first
            chance = scores[:, living].softmax(1).mean(0)
            total = total + (chance * shares[living]).sum() * len(living)
            first += size
        return total / len(self.grid)

    def _call(self, function: str, samples: int,
              *tensors: Optional[torch.Tensor]) -> None:
        """potluck_FUNCTION over the memory of these tensors, while Ctrl-C is
        heard."""
        if self._link is None:
            raise Mistake("This mixture of experts is in no run: give its "
                          "module to potluck.torch.Optimizer, or to "
                          "potluck.torch.call_experts.")
        run, layer = self._link

        def call() -> None:
            run.call_experts(function, layer, samples,
                             [None if each is None else each.data_ptr()
                              for each in tensors], self.patience)
        _aside(call)

    def __getstate__(self) -> Dict[str, Any]:
        # A copy is in no run, and graphs cannot be copied.
        return dict(self.__dict__, _link=None, balance_loss=torch.zeros(()))


class _Experts(torch.autograd.Function):
    """The experts of a batch: [n, values] to [n, k, values]."""

    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, spark: torch.Tensor,
                layer: MixtureOfExperts, places: torch.Tensor) -> Any:
        """`spark` only makes the result need a gradient, so that experts learn
        even where the inputs do not."""
        samples = len(rows)
        outputs = torch.empty(samples, layer.k, layer.values)
        answered = torch.empty(samples, layer.k, dtype=torch.uint8)
        layer._call("forward", samples, places, _plain(rows), outputs,
                    answered)
        ctx.save_for_backward(rows)
        ctx.layer, ctx.places, ctx.answered = layer, places, answered
        given = answered.to(rows.device)
        ctx.mark_non_differentiable(given)
        return outputs.to(rows.device), given

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradients: torch.Tensor, _: Any) -> Any:
        (rows,) = ctx.saved_tensors
        answer = (torch.empty(rows.shape) if ctx.needs_input_grad[0] else None)
        ctx.layer._call("backward", len(rows), ctx.places, _plain(rows),
                        _plain(gradients), answer, ctx.answered.clone())
        if answer is not None:
            answer = answer.to(rows.device, rows.dtype)
        return answer, None, None, None


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """As the library reads it."""
    return tensor.detach().to("cpu", torch.float32).contiguous()


def _aside(job: Any) -> None:
    """Runs it; of the main thread in another one, for only so is Ctrl-C heard
    meanwhile."""
    if threading.current_thread() is not threading.main_thread():
        job()
        return
    problems: List[BaseException] = []

    def work() -> None:
        try:
            job()
        except BaseException as problem:  # For whoever waits.
            problems.append(problem)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if problems:
        raise problems[0]


def mixtures_in(module: Optional[torch.nn.Module]) -> List[MixtureOfExperts]:
    """The mixtures in it, in order, each once."""
    return [] if module is None else [each for each in module.modules() if
                                      isinstance(each, MixtureOfExperts)]


def expert_settings(layers: Sequence[MixtureOfExperts]) -> Dict[str, Any]:
    """What a run with these layers says of its experts."""
    found: Dict[str, Any] = {}
    for each in layers:
        mine = {"experts": each.experts,
                "expert_grid": "x".join(map(str, each.grid)),
                "experts_per_sample": each.k, "expert_values": each.values,
                "call_packing": each.packing}
        for name, value in mine.items():
            if found.setdefault(name, value) != value:
                raise Mistake(
                    f"Two mixtures of experts differ in {name}, which is "
                    f"{found[name]} and {value}; all of a run agree.")
    return found


def connect(layers: Sequence[MixtureOfExperts], run: Run) -> None:
    """From here on they call the run's experts."""
    for place, each in enumerate(layers):
        each._link = (run, place if each.layer is None else each.layer)


def call_experts(module: torch.nn.Module, *, run: Optional[str] = None,
                 invitation: Optional[str] = None, **options: Any) -> Run:
    """Connects the module's mixtures with the experts of a run, without taking
    part in its training: to evaluate, to use a model, or to train it with any
    other optimizer.

    @param run Its name; or give its `invitation`.
    @param options Of potluck.Run, such as `peers`.
    @return To be left in the end, for instance by a `with` statement.
    """
    layers = mixtures_in(module)
    if not layers:
        raise Mistake("The module has no MixtureOfExperts, so there is nothing "
                      "to connect.")
    opened = Run([], run=run, invitation=invitation, progress=False,
                 **{**options, **expert_settings(layers)}).open()
    connect(layers, opened)
    return opened
