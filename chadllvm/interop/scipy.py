"""Objectives over records for `scipy.optimize`, which takes vectors.

fit = objective(loss, start)
found = minimize(fit, fit.x0, (x, y), "trust-ncg", jac=True, hessp=fit.hessp)
fit.unravel(found.x)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from chadllvm.api import value_and_grad
from chadllvm.interop.derived import compiled
from chadllvm.jacobian import hessian, hvp, jacfwd
from chadllvm.prelude.flat import ravel
from chadllvm.vectorized import written

Vector = np.ndarray[Any, Any]


class Objective:
    """A function of a record, as functions of the vector of its numbers.

    Called it gives the value and the gradient, for `jac=True`.

    Attributes:
        x0: the record that it was made with, as a vector.
        unravel: makes a record of a vector.
        hess, hessp: the Hessian, and its product with a vector.
        residuals, jacobian: for `least_squares` and `root`, of a function that returns
            a vector.
    """

    def __init__(self, function: Callable[..., Any], start: Any) -> None:
        self.x0, self.unravel = ravel(start)
        names = {"function": compiled(function), "unravel": self.unravel}
        code = getattr(function, "py_func", function).__code__
        rest = code.co_varnames[1 : code.co_argcount]
        given = "".join(f", {name}" for name in rest)
        flat = written(
            f"flat(v{given})",
            f"return function(unravel(v){given})",
            names,
            __name__,
            f"<objective {id(self)}>",
        )
        self.residuals = compiled(flat)
        self._value_and_grad = value_and_grad(self.residuals)
        self.hess = hessian(self.residuals)
        self.jacobian = jacfwd(self.residuals)
        self._hvp = hvp(self.residuals)

    def __call__(self, v: Vector, *args: Any) -> tuple[float, Vector]:
        value, gradient = self._value_and_grad(v, *args)
        return value, gradient

    def hessp(self, v: Vector, direction: Vector, *args: Any) -> Vector:
        """The product of the Hessian and a vector."""
        found: Vector = self._hvp(v, *args, direction)
        return found


def objective(function: Callable[..., Any], start: Any) -> Objective:
    """A function whose first parameter is a record, for SciPy's optimisers.

    Args:
        function: takes the record, and further arguments (SciPy's `args`).
        start: the record to start at: floats, float64 arrays, and tuples, named tuples,
            frozen dataclasses, dictionaries and lists of them (`cl.ravel`).

    Raises:
        TypeError: if there is something else in the record.
    """
    return Objective(function, start)
