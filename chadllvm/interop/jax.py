"""Compiled functions as functions of JAX arrays, within `jit`, `grad` and `vmap`.

    energy = jax_function(cl.jit(f))
    jax.grad(jax.jit(energy))(x)

JAX calls back into Python; so it is slower than the function alone, and runs on the
processor. Double precision is to be enabled in JAX: `jax_enable_x64`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from chadllvm.interop.derived import (
    as_argument,
    compiled,
    pullback,
    pushforward,
    results_of,
)


def jax_function(
    function: Callable[..., Any],
    result: Callable[..., Any] | None = None,
    *,
    forward: bool = False,
) -> Callable[..., Any]:
    """A function of JAX arrays that calls a compiled one, and its derivatives.

    Args:
        function: takes floats and arrays of float64, and returns one.
        result: gives the shape of the result for the shapes of the arguments, each a
            tuple; a function that gives a number for all needs none.
        forward: whether it has tangents (`jax.jvp`, `jax.jacfwd`, to any order) in the
            place of cotangents (`jax.grad`, `jax.vjp`, to any order).

    Raises:
        TypeError: from a call, if an argument is not of float64.
    """
    shape_of = result or (lambda *shapes: ())
    ours = compiled(function)
    return _forward(ours, shape_of) if forward else _reverse(ours, shape_of)


Shapes = Callable[..., Any]


def _called(function: Callable[..., Any], shapes: Any, args: Any) -> Any:
    """A call back from JAX; the results have these shapes, a tuple of them or one."""
    for k, each in enumerate(args):
        check_float64(f"argument {k}", each)
    is_one = not isinstance(shapes, list)
    every = [shapes] if is_one else shapes
    kinds = tuple(jax.ShapeDtypeStruct(shape, np.float64) for shape in every)

    def call(*arrays: Any) -> Any:
        value = function(*(as_argument(np.asarray(a)) for a in arrays))
        return results_of(value)

    found = jax.pure_callback(call, kinds, *args, vmap_method="sequential")
    return found[0] if is_one else tuple(found)


def check_float64(name: str, value: Any) -> None:
    """Refuse what JAX holds in another type.

    Raises:
        TypeError: if it is not of float64.
    """
    kind = jax.numpy.result_type(value)
    if kind != np.float64:
        raise TypeError(
            f"{name} is of {kind}: functions take float64, which "
            "`jax.config.update('jax_enable_x64', True)` enables"
        )


def _reverse(function: Callable[..., Any], shape_of: Shapes) -> Callable[..., Any]:
    @jax.custom_vjp
    def call(*args: Any) -> Any:
        return _called(function, shape_of(*map(np.shape, args)), args)

    def run(*args: Any) -> Any:
        return call(*args), args

    def back(args: Any, ct: Any) -> Any:
        count = len(args)
        pulled = pullback(function, count, 0)

        def shapes(*given: Any) -> Any:
            return given[0] if count == 1 else [*given[:count]]

        if count == 1:
            return (_reverse(pulled, shapes)(*args, ct),)
        return _reverse_of_tuple(pulled, count)(*args, ct)

    call.defvjp(run, back)
    return call


def _reverse_of_tuple(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The same of a function whose results are of the shapes of its first arguments."""

    @jax.custom_vjp
    def call(*args: Any) -> Any:
        return _called(function, [np.shape(a) for a in args[:count]], args)

    def run(*args: Any) -> Any:
        return call(*args), args

    def back(args: Any, cts: Any) -> Any:
        pulled = pullback(function, len(args), count)
        return _reverse_of_tuple(pulled, len(args))(*args, *cts)

    call.defvjp(run, back)
    return call


def _forward(function: Callable[..., Any], shape_of: Shapes) -> Callable[..., Any]:
    @jax.custom_jvp
    def call(*args: Any) -> Any:
        return _called(function, shape_of(*map(np.shape, args)), args)

    @call.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        count = len(primals)
        pushed = pushforward(function, count)
        tangent = _forward(pushed, lambda *shapes: shape_of(*shapes[:count]))
        return call(*primals), tangent(*primals, *tangents)

    return call
