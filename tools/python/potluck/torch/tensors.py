"""Which tensors of a module a run trains, their names, and whether they decay.

Knows PyTorch, but neither runs nor the library.
"""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

import torch

from potluck.run import decays_by_default

_COMPILED = "_orig_mod."  # What torch.compile puts before a module's names.

Parameters = Union[torch.nn.Module, Iterable[Any]]


class Entry(NamedTuple):
    """One tensor that is trained."""

    name: str
    parameter: torch.nn.Parameter
    decays: bool


def entries_of(params: Parameters,
               module: Optional[torch.nn.Module] = None) -> List[Entry]:
    """The tensors to train, in order, each once; frozen ones are left out.

    `params` is what PyTorch's optimizers take, or a module. Parameters that
    come without names have those of `module`, or are called by their place.
    Raises ValueError or TypeError with a sentence that names the tensor.
    """
    if isinstance(params, torch.nn.Module):
        module = module or params
        params = params.parameters()
    if isinstance(params, torch.Tensor):
        raise TypeError("The parameters are a single tensor; give the module, "
                        "or a list of parameters.")
    names = {} if module is None else {
        id(parameter): name.replace(_COMPILED, "")
        for name, parameter in module.named_parameters()}
    entries: List[Entry] = []
    seen: Dict[int, str] = {}
    for place, (name, parameter, decay) in enumerate(_flattened(params)):
        name = name or names.get(id(parameter), f"parameter.{place}")
        _check(name, parameter)
        if id(parameter) in seen or not parameter.requires_grad:
            continue
        seen[id(parameter)] = name
        decays = (decays_by_default(name, parameter.dim()) if decay is None
                  else decay != 0)
        entries.append(Entry(name, parameter, decays))
    if not entries:
        what = "has no parameter" if not seen and not names else (
            "has only frozen parameters")
        raise ValueError(f"The module {what}, so there is nothing to train; "
                         "set requires_grad of those that should be.")
    taken = set()
    for entry in entries:
        if entry.name in taken:
            raise ValueError(f"Two parameters are called {entry.name}; give "
                             "each its own name.")
        taken.add(entry.name)
    return entries


def decay_of(params: Parameters) -> Optional[float]:
    """The weight decay that groups state; None: none does, or it is zero.

    Raises ValueError when they state several besides zero."""
    if isinstance(params, torch.nn.Module):
        return None
    stated = {group["weight_decay"] for group in params
              if isinstance(group, dict) and group.get("weight_decay")}
    if len(stated) > 1:
        raise ValueError(f"The groups state weight decays of "
                         f"{', '.join(map(str, sorted(stated)))}; a run has "
                         "one, and groups with weight_decay=0 go without.")
    return stated.pop() if stated else None


def _flattened(params: Iterable[Any]) -> Iterable[
        Tuple[str, Any, Optional[float]]]:
    """Name (or none), parameter, and the decay that its group states."""
    for number, each in enumerate(params):
        if isinstance(each, dict):
            unknown = set(each) - {"params", "weight_decay", "lr"}
            if unknown:
                raise ValueError(
                    f"Group {number} has its own {sorted(unknown)[0]}; all "
                    "groups of a run have one, which is an argument of the "
                    "optimizer. Only lr, and weight_decay=0, may differ.")
            inner = each["params"]
            if isinstance(inner, torch.Tensor):
                inner = [inner]
            for name, parameter, _ in _flattened(inner):
                yield name, parameter, each.get("weight_decay")
        elif isinstance(each, tuple):
            yield str(each[0]), each[1], None
        else:
            yield "", each, None


def _check(name: str, parameter: Any) -> None:
    if not isinstance(parameter, torch.Tensor):
        raise TypeError(f"{name} is {type(parameter).__name__}, and only "
                        "tensors can be trained.")
    if type(parameter).__name__ == "UninitializedParameter":
        raise ValueError(f"{name} has no shape yet; call the module once "
                         "before the optimizer is made.")
    if parameter.is_complex():
        raise ValueError(f"{name} is complex; hold its real and imaginary "
                         "parts as two parameters.")
    if not parameter.is_floating_point():
        raise ValueError(f"{name} holds {parameter.dtype}, which has no "
                         "gradient; make it float32, bfloat16 or float16.")
    if parameter.is_meta:
        raise ValueError(f"{name} is on the device meta and holds nothing; "
                         "give it values on a real one first.")
    if not parameter.is_leaf:
        raise ValueError(f"{name} is the result of a computation; train the "
                         "tensors that it was computed from.")
    if parameter.numel() == 0:
        raise ValueError(f"{name} has the shape {tuple(parameter.shape)} and "
                         "so no values; leave it out.")
