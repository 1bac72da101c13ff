"""The optimizer."""
from __future__ import annotations

import contextlib
import logging
from typing import Any, Callable, Dict, Iterator, List, Optional, Union

import torch

from potluck._errors import Mistake
from potluck._member import Member
from potluck.run import Hook, Run, Tensor
from potluck.torch.buffers import Buffers
from potluck.torch.experts import connect, expert_settings, mixtures_in
from potluck.torch.gathering import Gathering
from potluck.torch.memory import Memory
from potluck.torch.rates import rates_of
from potluck.torch.tensors import (Entry, Parameters, decay_of, entries_of)

log = logging.getLogger("potluck")

Loss = Union[float, torch.Tensor]


class Optimizer(Member, torch.optim.Optimizer):
    """Takes the steps of a run: those that all its peers take together.

    `step` adds the gradients of a batch, which is a part of the run's batch.
    Only when all peers together have `target_batch` samples are the gradients
    averaged, and the parameters change, at every peer alike. The step itself
    is made by the library, with float32 values of its own.

    The parameters are the run's: those of its founder, or, in a run that goes
    on, the present ones. They are in the module when this is constructed.

    It can be used in a `with` statement, which leaves the run. A program that
    ends has left, too.
    """

    def __init__(self, params: Parameters, *, run: Optional[str] = None,
                 samples_per_step: Optional[int] = None,
                 buffers: str = "local",
                 evaluate: Optional[Callable[[], Any]] = None,
                 evaluate_every: int = 100,
                 on_evaluation: Optional[Hook] = None,
                 module: Optional[torch.nn.Module] = None,
                 **settings: Any) -> None:
        """Joins or founds the run; returns when there are parameters.

        @param params The module; or parameters, named ones, or groups of
            them, as other optimizers take them. In a group weight_decay=0
            leaves its tensors out of weight decay; else biases, norms and
            what has fewer than two dimensions are. A group's lr becomes a
            factor of the run's, in its setting `rates`; all peers must say
            the same.
        @param run Its name; or give `invitation`, and the like: potluck.Run
            has these and the hooks `on_step`, `on_event` and `on_end`.
        @param samples_per_step Samples behind each call of `step` that does
            not say it.
        @param buffers "local": each peer keeps its own buffers, such as the
            running means of batch norm. "average": all take their mean at
            each step, by a second run, NAME-buffers; all peers must say so.
        @param evaluate Called after every `evaluate_every` steps of the run;
            what it returns is given to `on_evaluation`.
        @param module Where the parameters get their names from, if `params`
            is no module.
        @param settings Of the run, with underscores: target_batch=4096,
            optimizer="adamw", lr=3e-4, weight_decay=0.01, warmup_steps=100,
            steps=10000. `python3 -m potluck join --help` lists them all.
        """
        if buffers not in ("local", "average"):
            raise Mistake(f'buffers="{buffers}" is not known; they stay '
                          '"local", or everybody takes the "average".')
        if not isinstance(params, (torch.nn.Module, torch.Tensor)):
            params = [_listed(each) for each in params]
        self._entries = entries_of(params, module)
        self._module = params if isinstance(params,
                                            torch.nn.Module) else module
        decay = decay_of(params)
        if decay is not None:
            settings.setdefault("weight_decay", decay)
        if "learning_rate" in settings:
            settings["lr"] = settings.pop("learning_rate")
        if settings.get("rates") is None:
            settings["lr"], settings["rates"] = rates_of(
                params, self._entries, settings.get("lr"))
        settings.update(expert_settings(mixtures_in(self._module)))
        self._samples = samples_per_step
        self._evaluate = evaluate
        self._evaluate_every = max(1, evaluate_every)
        self._evaluation_hook = on_evaluation
        self._settings = dict(settings, run=run)
        self._memory = Memory(self._entries)
        self._gathering = Gathering()
        self._counted = Gathering()
        self._accumulates = False
        self._evaluated = 0
        self._versions: List[int] = []
        self._warned: Dict[str, bool] = {}
        self.run: Run = None  # type: ignore[assignment]
        groups = self._groups(params)
        super().__init__(groups, {"lr": settings.get("lr") or 0.0,
                                  "weight_decay": 0.0})
        base = settings.get("lr")
        self._factors = [group["lr"] / base if base else 1.0
                         for group in self.param_groups]
        self.run = self._joined()
        self._buffers: Optional[Buffers] = None
        if buffers == "average":
            try:
                self._buffers = Buffers(self._module, self._settings)
            except BaseException:
                self.run.leave()
                raise
        self._read_out()

    # ---- training -----------------------------------------------------------

    def step(self, closure: Optional[Callable[[], Loss]] = None, *,
             loss: Optional[Loss] = None,
             samples: Optional[int] = None) -> Optional[Loss]:
        """Adds the gradients of a batch. Waits if the run's batch is complete,
        and has put the new parameters into the module when it returns.

        The gradients are those of the *mean* loss of the batch's samples.

        @param closure Computes loss and gradients, and returns the loss.
        @param loss The batch's mean loss, for the run's reports.
        @param samples How many there are; without, `samples_per_step`.
        @return What the closure returned.
        """
        result: Optional[Loss] = None
        if closure is not None:
            with torch.enable_grad():
                result = closure()
            loss = result if loss is None else loss
        if self.finished:
            return result
        samples = self._samples if samples is None else samples
        if samples is None:
            raise Mistake("The batch's samples are not known; call "
                          "step(samples=...), or construct the optimizer with "
                          "samples_per_step.")
        self._check_rates()
        self._check_parameters()
        said = 0.0 if loss is None else float(loss)
        if self._accumulates:
            self._counted.count(samples, said)
            return result
        gradients = [entry.parameter.grad for entry in self._entries]
        if all(gradient is None for gradient in gradients):
            raise Mistake("No parameter has a gradient; call loss.backward() "
                          "before step(), and zero_grad() behind it.")
        self._add(gradients, samples, said)
        self._follow()
        return result

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """In its `with` statement `step` counts samples only, and `zero_grad`
        does nothing: gradients add up in the module until the first `step`
        behind it. Divide each loss by the number of batches, as usual."""
        self._accumulates = True
        try:
            yield
        finally:
            self._accumulates = False

    def zero_grad(self, set_to_none: bool = True) -> None:
        if not self._accumulates:
            super().zero_grad(set_to_none=set_to_none)

    # ---- the run ------------------------------------------------------------

    def leave(self) -> None:
        """Says goodbye to the others."""
        super().leave()
        if self._buffers is not None:
            self._buffers.leave()

    def __getstate__(self) -> Any:
        raise TypeError("An optimizer of a run cannot be copied or sent to "
                        "another process; make one there, or keep its "
                        "state_dict().")

    # ---- PyTorch's ----------------------------------------------------------

    def add_param_group(self, param_group: Dict[str, Any]) -> None:
        """Only while this is constructed: a run's tensors stay the same."""
        if self.run is not None:
            raise Mistake("A group of parameters was added after the run was "
                          "opened; a run's tensors stay the same, so give all "
                          "of them when the optimizer is made.")
        super().add_param_group(param_group)

    def state_dict(self) -> Dict[str, Any]:
        """Groups, and what the optimizer keeps of each parameter, in PyTorch's
        form; besides, under "potluck", the step. With the module's own state
        it is enough to go on from."""
        packed = super().state_dict()
        first = [torch.zeros(entry.parameter.shape) for entry in self._entries]
        second = [torch.zeros_like(tensor) for tensor in first]
        step = self.run.moments([tensor.data_ptr() for tensor in first],
                                [tensor.data_ptr() for tensor in second])
        packed["state"] = {
            place: {"step": step, "exp_avg": first[index],
                    "exp_avg_sq": second[index]}
            for place, index in enumerate(self._order())}
        packed["potluck"] = {"step": step, "digest": self.digest}
        return packed

    def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
        """Goes on from there, with the values that the module has now, unless
        the run itself is further already. Load the module's values first."""
        try:
            step = state_dict["potluck"]["step"]
            state = state_dict["state"]
        except (KeyError, TypeError):
            raise Mistake("This is not the state of an optimizer of Potluck, "
                          "so it does not say how far the run was.") from None
        if step <= self.step_number:
            log.info("the run is at step %d, and the state at %d: it stays",
                     self.step_number, step)
            return
        first: List[torch.Tensor] = [None] * len(self._entries)  # type: ignore
        second = list(first)
        for place, index in enumerate(self._order()):
            name, parameter, _ = self._entries[index]
            kept = state.get(place)
            if kept is None or kept["exp_avg"].shape != parameter.shape:
                raise Mistake(f"The state has nothing that fits {name} with "
                              f"the shape {tuple(parameter.shape)}; it is of "
                              "another model.")
            first[index] = kept["exp_avg"].float().cpu().contiguous()
            second[index] = kept["exp_avg_sq"].float().cpu().contiguous()
        self.run.leave()
        self.run = self._joined(step, first, second)
        self._read_out()

    # ---- inside -------------------------------------------------------------

    def _groups(self, params: Parameters) -> List[Dict[str, Any]]:
        """As PyTorch wants them: each tensor once, frozen ones not."""
        trained = {id(entry.parameter) for entry in self._entries}
        if isinstance(params, torch.nn.Module) or not any(
                isinstance(each, dict) for each in params):
            return [{"params": [entry.parameter for entry in self._entries]}]
        groups = []
        for group in params:
            inner = group["params"]
            inner = [inner] if isinstance(inner, torch.Tensor) else inner
            inner = [each[1] if isinstance(each, tuple) else each
                     for each in inner]
            mine = [each for each in inner if id(each) in trained]
            trained -= {id(each) for each in mine}
            groups.append(dict(group, params=list(dict.fromkeys(mine))))
        return [group for group in groups if group["params"]]

    def _order(self) -> List[int]:
        """The place among the entries of each parameter of the groups."""
        places = {id(entry.parameter): place
                  for place, entry in enumerate(self._entries)}
        return [places[id(parameter)] for group in self.param_groups
                for parameter in group["params"]]

    def _joined(self, step: int = 0,
                first: Optional[List[torch.Tensor]] = None,
                second: Optional[List[torch.Tensor]] = None) -> Run:
        """Opens the run, and waits until there are parameters."""
        values = self._memory.values()
        run = Run([Tensor(name, tuple(parameter.shape), decays, address)
                   for (name, parameter, decays), address in
                   zip(self._entries, values)], **self._settings)
        try:
            if first is not None and second is not None:
                run.set_moments(step, [each.data_ptr() for each in first],
                                [each.data_ptr() for each in second])
            run.open()
            if run.follow(self._memory.targets()):
                self._settle()
        except BaseException:
            run.leave()
            raise
        connect(mixtures_in(self._module), run)
        return run

    def _add(self, gradients: List[Optional[torch.Tensor]], samples: int,
             loss: float) -> None:
        """Hands the gradients to the library, or keeps them on their GPU until
        there are as many as the run wants at once."""
        if self._counted.samples:  # By no_sync: these are all its gradients.
            self._counted.count(samples, loss)
            samples, loss = self._counted.samples, self._counted.loss
            self._counted.clear()
        on_gpu = any(gradient is not None and gradient.device.type == "cuda"
                     for gradient in gradients)
        if on_gpu or self._gathering.samples:
            self._gathering.add(gradients, samples, loss)
            if self._can_wait(samples):
                return
            gradients = self._gathering.mean()
            samples, loss = self._gathering.samples, self._gathering.loss
        try:
            self.run.add(self._memory.gradients(gradients), samples, loss)
            if self._buffers is not None:
                self._buffers.add(samples, loss)
        finally:
            self._gathering.clear()

    def _can_wait(self, samples: int) -> bool:
        """Whether what was gathered, of which that many samples came last,
        may lie where it is until the next batch: it is less than an eighth of
        this peer's part of the step, and the step is not about to be made
        without it."""
        status = self.run.status
        mine = self._gathering.samples
        return (8 * mine * status.peers < status.target and
                status.samples + (mine + samples) * status.peers
                < status.target)

    def _follow(self) -> None:
        news = self.run.follow(self._memory.targets())
        if self._buffers is not None:
            if self.finished:
                self._buffers.leave()
            else:
                self._buffers.follow()
        if not news:
            return
        self._settle()
        # What was gathered belongs to the parameters before.
        self._gathering.clear()
        self._read_out()
        step = self.run.status.taken
        if self._evaluate is not None and (
                step // self._evaluate_every > self._evaluated
                or self.finished):
            self._evaluated = step // self._evaluate_every
            self._evaluation(step)

    def _evaluation(self, step: int) -> None:
        with torch.no_grad():
            result = self._evaluate()
        event = {"event": "evaluation", "step": step}
        event.update(result if isinstance(result, dict)
                     else {"result": result})
        log.info("%s: evaluation at step %d: %s", self.run.name, step, result)
        if self._evaluation_hook is not None:
            self._evaluation_hook(event)

    def _settle(self) -> None:
        self._memory.settle()
        self._versions = [entry.parameter._version for entry in self._entries]

    def _read_out(self) -> None:
        """Puts the rate of the next step into the groups."""
        self._rate = self.run.status.learning_rate
        for group, factor in zip(self.param_groups, self._factors):
            group["lr"] = self._rate * factor

    def _check_rates(self) -> None:
        for number, group in enumerate(self.param_groups):
            right = self._rate * self._factors[number]
            if group["lr"] != right:
                raise Mistake(
                    f"The learning rate of group {number} was set to "
                    f"{group['lr']:g}, and the run's is {right:g} now: all "
                    "peers follow one schedule. Leave the scheduler out (or "
                    "use potluck.torch.Schedule), and give lr=, warmup_steps= "
                    "and steps= to the optimizer.")

    def _check_parameters(self) -> None:
        for entry, version in zip(self._entries, self._versions):
            if entry.parameter._version != version:
                self._warn(f"{entry.name} was changed by something else than "
                           "the run, whose values replace it at the next step.")
                break
        if self._module is None:
            return
        known = {id(entry.parameter) for entry in self._entries}

        def is_known(parameter: Optional[torch.nn.Parameter]) -> bool:
            return (parameter is None or id(parameter) in known
                    or not parameter.requires_grad)
        # Names take ten times as long, so they come only when one is wanted.
        if all(is_known(parameter) for inside in self._module.modules()
               for parameter in inside._parameters.values()):
            return
        for name, parameter in self._module.named_parameters():
            if not is_known(parameter):
                raise Mistake(f"{name} was added, replaced or unfrozen after "
                              "the run was opened; a run's tensors stay the "
                              "same, so make the optimizer behind that.")

    def _warn(self, sentence: str) -> None:
        """Once for each sentence."""
        if sentence not in self._warned:
            self._warned[sentence] = True
            log.warning("%s: %s", self.run.name, sentence)


def _listed(each: Any) -> Any:
    """A group of parameters, which may come as a generator, as a list."""
    if not isinstance(each, dict) or isinstance(each["params"], torch.Tensor):
        return each
    return dict(each, params=list(each["params"]))
