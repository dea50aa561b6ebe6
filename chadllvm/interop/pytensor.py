"""Compiled functions as operations of PyTensor, with gradients, for PyMC's models.

log_density = pytensor_op(cl.jit(f))
with pymc.Model():
    x = pymc.Normal("x", shape=3)
    pymc.Potential("likelihood", log_density(x))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op

from chadllvm.interop.derived import as_argument, compiled, pullback, results_of


def pytensor_op(function: Callable[..., Any], rank: int = 0) -> Callable[..., Any]:
    """An operation on PyTensor variables that calls a compiled function.

    Args:
        function: takes floats and arrays of float64, and returns one.
        rank: how many dimensions the result has, 0 for a number.

    Returns:
        A function of PyTensor variables, or what becomes one, of float64. It has
        gradients of any order.
    """
    return _Function(compiled(function), (rank,))


class _Function(Op):
    """An operation; of a pullback the results are like the first arguments."""

    __props__ = ("function", "ranks")

    def __init__(self, function: Callable[..., Any], ranks: tuple[int, ...]) -> None:
        self.function, self.ranks = function, ranks

    def make_node(self, *inputs: Any) -> Apply:
        given = [pt.as_tensor_variable(x) for x in inputs]
        for k, each in enumerate(given):
            if each.type.dtype != "float64":
                given[k] = pt.cast(each, "float64")
        outputs = [pt.tensor(dtype="float64", shape=(None,) * r) for r in self.ranks]
        return Apply(self, given, outputs)

    def perform(self, node: Apply, inputs: Any, outputs: Any) -> None:
        value = self.function(*(as_argument(np.asarray(x)) for x in inputs))
        for place, found in zip(outputs, results_of(value), strict=True):
            place[0] = np.array(found, dtype=np.float64)

    def grad(self, inputs: Any, output_grads: Any) -> list[Variable]:
        count, results = len(inputs), len(self.ranks)
        pulled = pullback(self.function, count, results if results > 1 else 0)
        ranks = tuple(x.type.ndim for x in inputs)
        cts = [
            pt.zeros_like(out) if isinstance(ct.type, DisconnectedType) else ct
            for ct, out in zip(
                output_grads, self(*inputs, return_list=True), strict=True
            )
        ]
        found = _Function(pulled, ranks)(*inputs, *cts)
        return [*found] if isinstance(found, list | tuple) else [found]
