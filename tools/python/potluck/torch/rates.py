"""Groups of parameters with learning rates of their own, as a run's settings:
one rate, and patterns of names with a factor each.

Knows neither runs nor the library.
"""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

import torch

from potluck._errors import Mistake
from potluck.run import as_name
from potluck.torch.tensors import Entry

_ROOM = 255  # Characters of the setting `rates`.


def rates_of(params: Any, entries: Sequence[Entry], lr: Optional[float]
             ) -> Tuple[Optional[float], Optional[str]]:
    """The run's `lr` and `rates`; None for either: nobody states it.

    @param params As optimizers take them.
    @param lr The optimizer's own; without, the first group's.
    """
    stated = _stated(params)
    if not stated:
        return lr, None
    base = next(iter(stated.values())) if lr is None else lr
    if base <= 0:
        raise Mistake(f"The learning rate is {base:g}, and groups have others; "
                      "theirs become factors of it, so it must be above 0.")
    factors: Dict[str, float] = {}
    for entry in entries:
        mine = stated.get(id(entry.parameter))
        if mine is None and lr is None:
            raise Mistake(f"The group of {entry.name} has no lr, and neither "
                          "has the optimizer; give it lr=.")
        factors[as_name(entry.name)] = 1.0 if mine is None else mine / base
    found = [f"{pattern}:{repr(factor).removesuffix('.0')}"
             for factor in dict.fromkeys(factors.values()) if factor != 1
             for pattern in _patterns(factors, factor)]
    text = ",".join(found)
    if len(text) > _ROOM:
        raise Mistake(f"The groups' learning rates need {len(text)} characters "
                      f"of patterns, and a run has room for {_ROOM}; let the "
                      "names of a group's parameters begin or end alike, or "
                      "give rates= yourself.")
    return base, text or None


def _stated(params: Any) -> Dict[int, float]:
    """What groups say, by the parameter's id; the first counts."""
    found: Dict[int, float] = {}
    if isinstance(params, torch.nn.Module):
        return found
    for group in params:
        if not isinstance(group, dict) or group.get("lr") is None:
            continue
        inner = group["params"]
        for each in [inner] if isinstance(inner, torch.Tensor) else inner:
            parameter = each[1] if isinstance(each, tuple) else each
            found.setdefault(id(parameter), float(group["lr"]))
    return found


def _patterns(factors: Dict[str, float], factor: float) -> List[str]:
    """Few that fit all names of this factor, and no other name."""
    left = [name for name, mine in factors.items() if mine == factor]
    others = [name for name, mine in factors.items() if mine != factor]
    found = []
    while left:
        fits: Dict[str, Set[str]] = {}
        for name in left:
            for pattern in _candidates(name):
                if pattern not in fits and not any(
                        _matches(pattern, each) for each in others):
                    fits[pattern] = {each for each in left
                                     if _matches(pattern, each)}
        best = min(fits, key=lambda each: (-len(fits[each]), len(each), each))
        if "," in best:
            raise Mistake(f"{best} has a comma in its name, and its group a "
                          "learning rate of its own, which the run tells by "
                          "the name; rename it.")
        found.append(best)
        left = [each for each in left if each not in fits[best]]
    return found


def _candidates(name: str) -> List[str]:
    parts = name.split(".")
    found = [name, "*"]
    for count in range(1, len(parts)):
        found.append(".".join(parts[:count]) + ".*")
        found.append("*." + ".".join(parts[count:]))
    return found


def _matches(pattern: str, name: str) -> bool:
    if pattern.endswith("*"):
        return name.startswith(pattern[:-1])
    if pattern.startswith("*"):
        return name.endswith(pattern[1:])
    return name == pattern
