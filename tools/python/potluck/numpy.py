"""Training with others from NumPy, JAX, or whatever has arrays.

    weights = {"layer": {"weight": numpy.zeros((3, 4)), "bias": numpy.zeros(3)}}
    with potluck.numpy.Optimizer(weights, run="poems", target_batch=256) as run:
        while not run.finished:
            loss, gradients = value_and_gradients(run.parameters, next(batches))
            run.step(gradients, samples=32, loss=float(loss))

Parameters may be nested in dictionaries and sequences; `layer.weight` is then
a tensor's name. The same names, shapes and order as a PyTorch module has make
the same run.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, Optional, Tuple

import numpy

from potluck._errors import Mistake
from potluck._member import Member
from potluck.run import Run, Tensor, addresses, decays_by_default

Tree = Any  #: An array, or a dictionary, list or tuple of trees.


class Optimizer(Member):
    """A run whose parameters are arrays."""

    def __init__(self, parameters: Tree, *,
                 decays: Optional[Callable[[str, Any], bool]] = None,
                 **settings: Any) -> None:
        """Joins or founds the run; returns when there are parameters.

        @param parameters Where training begins, if this peer founds the run.
        @param decays Whether a tensor of this name and values decays; None:
            all but biases, norms and what has fewer than two dimensions.
        @param settings As potluck.Run has them.
        """
        self._values = {
            name: numpy.array(leaf, dtype=numpy.float32, order="C")
            for name, leaf in _leaves(parameters)}
        if not self._values:
            raise Mistake("There is no parameter, so there is nothing to "
                          "train.")
        self._like = parameters
        self._gradients: Dict[str, numpy.ndarray] = {}
        rule = decays or (lambda name, values: decays_by_default(
            name, values.ndim))
        self.run = Run([Tensor(name, values.shape, rule(name, values),
                               values.ctypes.data)
                        for name, values in self._values.items()], **settings)
        self._taken = addresses([values.ctypes.data
                                 for values in self._values.values()])
        try:
            self.run.open()
            self.run.follow(self._taken)
        except BaseException:
            self.run.leave()
            raise

    @property
    def parameters(self) -> Tree:
        """As they were given, with the run's values: float32 arrays that each
        step changes in place."""
        return _tree(self._like, self._values, "")

    def step(self, gradients: Tree, *, samples: int, loss: float) -> Tree:
        """Adds a batch; waits if its step is complete. Gives the parameters.

        @param gradients Of the batch's mean loss, nested as the parameters.
        @param samples That the batch has.
        @param loss Their mean loss.
        """
        if not self.run.over:
            self.run.add(self._given(gradients), samples, float(loss))
            self.run.follow(self._taken)
        return self.parameters

    def _given(self, gradients: Tree) -> Any:
        given = dict(_leaves(gradients))
        for name in given:
            if name not in self._values:
                raise Mistake(f"There is a gradient of {name}, which is not "
                              "among the parameters.")
        pointers = []
        for name, values in self._values.items():
            gradient = given.get(name)
            if gradient is None:
                pointers.append(None)
                continue
            gradient = numpy.ascontiguousarray(gradient, dtype=numpy.float32)
            gradient = gradient.reshape(()) if not values.shape and (
                gradient.size == 1) else gradient
            if gradient.shape != values.shape:
                raise Mistake(f"The gradient of {name} has the shape "
                              f"{gradient.shape}, and {name} has "
                              f"{values.shape}.")
            self._gradients[name] = gradient  # Kept until the call is over.
            pointers.append(gradient.ctypes.data)
        return addresses(pointers)


def _leaves(tree: Tree, name: str = "") -> Iterator[Tuple[str, Any]]:
    """The arrays with their names, in order."""
    if isinstance(tree, dict):
        inner: Any = tree.items()
    elif isinstance(tree, (list, tuple)):
        inner = enumerate(tree)
    else:
        if tree is not None:
            yield name or "parameter", tree
        return
    for key, value in inner:
        yield from _leaves(value, f"{name}.{key}" if name else str(key))


def _tree(like: Tree, values: Dict[str, Any], name: str) -> Tree:
    """The values, nested like that tree."""
    def below(key: Any, value: Tree) -> Tree:
        return _tree(value, values, f"{name}.{key}" if name else str(key))
    if isinstance(like, dict):
        return {key: below(key, value) for key, value in like.items()}
    if isinstance(like, (list, tuple)):
        inner = [below(place, value) for place, value in enumerate(like)]
        named = hasattr(like, "_fields")
        return type(like)(*inner) if named else type(like)(inner)
    return None if like is None else values[name or "parameter"]
