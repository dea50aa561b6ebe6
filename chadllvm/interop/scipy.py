"""Objectives over records for `scipy.optimize`, which takes vectors; C callbacks.

fit = objective(loss, start)
found = minimize(fit, fit.x0, (x, y), "trust-ncg", jac=True, hessp=fit.hessp)
fit.unravel(found.x)

quad(low_level_callable(integrand), 0.0, 1.0)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import LowLevelCallable

from chadllvm.api.compiled import Compiled
from chadllvm.api.jacobian import hessian, hvp, jacfwd
from chadllvm.api.placed import frozen
from chadllvm.api.pointer import Adapter, pointer
from chadllvm.api.transforms import value_and_grad
from chadllvm.backend.aot.wrapper import Wrapper
from chadllvm.interop.derived import of_vector
from chadllvm.ir.types import F64, Array, Type
from chadllvm.support import call_rules

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
        self.x0, self.unravel, self.residuals = of_vector(function, start)
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


# What SciPy calls: of a number, of a point, of a window that a filter moves.
_NUMBER = "double (double, void *)"
_POINT = "double (int, double *, void *)"
_WINDOW = "int (double *, npy_intp, double *, void *)"

_VECTOR = Array(F64, 1)
_DOUBLES = ctypes.POINTER(ctypes.c_double)


def low_level_callable(
    function: Callable[..., Any], signature: str = _NUMBER
) -> LowLevelCallable:
    """A compiled function that returns a float, as SciPy's C code calls it.

    Args:
        function: its parameters are as the signature says. Others are bound before, by
            `functools.partial`: what is bound is a constant of the callback.
        signature: what SciPy expects. `"double (double, void *)"` is of a function of a
            float, for `quad`; `"double (int, double *, void *)"` of one of so many
            floats, or of a float64 vector, for `nquad`;
            `"int (double *, npy_intp, double *, void *)"` of one of the float64 vector
            of what is in the window, for `ndimage.generic_filter`.

    Returns:
        A callback, which stays valid. Where the program fails, those of `quad` and
        `nquad` return NaN, and `generic_filter` raises a RuntimeError.

    Raises:
        TypeError: if parameters or the result are not as the signature says.
        ValueError: for an unknown signature.
        RuntimeError: if there is no C compiler, which puts the callback together.
    """
    taken = frozen(function)
    adapter = _ADAPTERS.get(signature)
    if adapter is None:
        known = ", ".join(map(repr, _ADAPTERS))
        raise call_rules.wrong_option(f"signature={signature!r}: SciPy has {known}")
    found = pointer(taken, _types(taken, signature), adapter)
    return LowLevelCallable(found.ctypes)


def _types(function: Compiled, signature: str) -> tuple[Type, ...]:
    """The types of the parameters of what SciPy calls like this."""
    is_one = len(function.parameters) == 1
    if signature == _POINT and is_one and function.parameters[0].annotation == _VECTOR:
        return (_VECTOR,)
    if function.parameters and (signature == _POINT or is_one):
        ty = _VECTOR if signature == _WINDOW else F64
        return (ty,) * len(function.parameters)
    raise call_rules.wrong_count(
        f"{function.name}: {signature!r} is of a function of one argument, this one "
        f"takes {len(function.parameters)}; bind others by functools.partial"
    )


def _adapter(restype: Any, argtypes: tuple[Any, ...], declared: str) -> Adapter:
    def source(name: str, wrapper: Wrapper) -> str:
        function = wrapper.function
        outputs = [output.type for output in wrapper.outputs]
        if outputs != [F64] or wrapper.updated:
            raise call_rules.wrong_type(
                f"{function.title}: SciPy calls what returns a float, and updates "
                "nothing"
            )
        types = [ty for _, ty in function.params]
        guard, passed = "", "x"
        if "count" in declared:
            is_vector = types == [_VECTOR]
            guard = "" if is_vector else f"count == {len(types)} && "
            items = ", ".join(f"x[{k}]" for k in range(len(types)))
            passed = "x, (int64_t)count" if is_vector else items
        call = f"{guard}{wrapper.name}(NULL, {passed}, &value, NULL) == CL_OK"
        ends = "value : (double)NAN"
        if restype is ctypes.c_int:
            call, ends = f"(*result = 0.0, {call})", "(*result = value, 1) : 0"
        return (
            f"#include <math.h>\n\nCL_API {declared.format(name)} {{\n"
            f"  double value = 0.0;\n  (void)user;\n  return {call} ? {ends};\n}}\n"
        )

    return Adapter(restype, argtypes, source)


_ADAPTERS = {
    _NUMBER: _adapter(
        ctypes.c_double,
        (ctypes.c_double, ctypes.c_void_p),
        "double {}(double x, void *user)",
    ),
    _POINT: _adapter(
        ctypes.c_double,
        (ctypes.c_int, _DOUBLES, ctypes.c_void_p),
        "double {}(int count, double *x, void *user)",
    ),
    _WINDOW: _adapter(
        ctypes.c_int,
        (_DOUBLES, ctypes.c_ssize_t, _DOUBLES, ctypes.c_void_p),
        "int {}(double *x, intptr_t count, double *result, void *user)",
    ),
}
