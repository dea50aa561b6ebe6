"""The functions of calculus against mpmath: values, derivatives, edges, vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from exact import FUNCTIONS, Function, error, interior, slope, value
from function_edges import EDGES

import chadllvm as cl
import chadllvm.ops
from chadllvm.chad.forward import push_forward
from chadllvm.ir import term
from chadllvm.ir.build import Builder, lit
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import PRIMS
from chadllvm.ir.types import F64
from tests.ops.test_lowering import native

INF, NAN = math.inf, math.nan

BY_NAME = {function.name: function for function in FUNCTIONS}

# Piecewise constant: nothing to compare but the edges.
STEPS = {"floor", "ceil", "trunc", "rint", "sign"}

# Where the interpreter, which has Python's gamma, is a little less exact.
INTERPRETER_ULPS = {"gamma": 40.0, "lgamma": 40.0}

each = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)


def derivative(name: str, args: Sequence[Any], k: int) -> term.Function:
    """The program of the derivative of a row along its k-th argument."""
    b, prim = Builder(), PRIMS[name]
    params = [term.Var(f"x{j}", ty) for j, ty in enumerate(prim.params)]
    given = [p if p.type == F64 else lit(a) for p, a in zip(params, args, strict=True)]
    assert prim.transpose is not None
    cts = prim.transpose(b, given, b.prim(name, *given), lit(1.0))
    ct = cts[k]
    floats = tuple(p for p in params if p.type == F64)
    return term.Function("slope", floats, b.block([lit(0.0) if ct is None else ct]))


def run(function: term.Function, *args: float) -> tuple[Any, ...]:
    program = term.Program((function,))
    check(program, after="a derivative")
    return Interpreter(program).run(*args)


def slopes(name: str, args: Sequence[Any]) -> tuple[float, ...]:
    """The derivatives along every float argument, by the interpreter."""
    floats = [arg for arg in args if isinstance(arg, float)]
    return tuple(
        run(derivative(name, args, k), *floats)[0]
        for k, arg in enumerate(args)
        if isinstance(arg, float)
    )


def test_every_function_of_floats_is_here() -> None:
    arithmetic = {"add", "sub", "neg", "mul", "div", "abs", "floordiv", "mod", "powi"}
    choices = {"minimum", "maximum", "select", "scale", "to_float", "widen"}
    digits = {"ldexp", "round_to"}
    floats = {p.name for p in PRIMS.values() if p.result == F64}
    assert floats - arithmetic - choices - STEPS - digits - {"stop"} == set(BY_NAME)


@each
def test_machine_code(function: Function) -> None:
    compiled = native(PRIMS[function.name], {})
    for args in function.grid:
        wanted = value(function, args)
        lost = error(compiled(*args), wanted, function.absolute)
        assert lost <= function.ulps, (args, compiled(*args), wanted)


@each
def test_interpreter(function: Function) -> None:
    ulps = INTERPRETER_ULPS.get(function.name, function.ulps)
    absolute = max(function.absolute, 2e-15 * (function.name in INTERPRETER_ULPS))
    for args in function.grid:
        found, wanted = PRIMS[function.name].meaning(*args), value(function, args)
        assert error(found, wanted, absolute) <= ulps, (args, found, wanted)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize(("name", "args", "expected"), EDGES)
def test_machine_code_at_an_edge(
    name: str, args: tuple[Any, ...], expected: Any
) -> None:
    result = native(PRIMS[name], {})(*args)
    assert type(result) is type(expected)
    if expected != expected:
        assert result != result
    elif expected == 0.0:
        assert result == 0.0 and math.copysign(1, result) == math.copysign(1, expected)
    else:
        assert result == pytest.approx(expected, rel=9e-16, abs=0.0)


# How far a derivative may be off: relative to it, and absolutely where it is the
# difference of two numbers of the size of 1 (as 1 - tanh(x)^2 is).
SLOPE = 1e-12


@each
def test_derivative(function: Function) -> None:
    for args in interior(function):
        floats = [k for k, arg in enumerate(args) if isinstance(arg, float)]
        for k, found in zip(floats, slopes(function.name, args), strict=True):
            wanted = float(slope(function, args, k))
            assert found == pytest.approx(wanted, rel=SLOPE, abs=1e-14), (args, k)


@each
def test_second_derivative(function: Function) -> None:
    """The tangent of the derivative's program: rows have rows for derivatives."""
    for args in list(interior(function))[::3]:
        for k, arg in enumerate(args):
            if not isinstance(arg, float):
                continue
            first = derivative(function.name, args, k)
            place = [p.name for p in first.params].index(f"x{k}")
            floats = [a for a in args if isinstance(a, float)]
            found = run(push_forward(first, [place]), *floats, 1.0)[1]
            wanted = float(slope(function, args, k, 2))
            assert found == pytest.approx(wanted, rel=1e-9, abs=1e-11), (args, k)


def mixed(name: str, x: float, y: float) -> float:
    """The derivative along the second argument of that along the first."""
    tangent = push_forward(derivative(name, (x, y), 0), [1])
    return float(run(tangent, x, y, 1.0)[1])


def test_an_edge_along_one_argument_is_none_along_the_other() -> None:
    assert mixed("pow", 2.0, 0.0) == pytest.approx(0.5)
    assert mixed("xlogy", 0.0, 2.0) == pytest.approx(0.5)
    assert mixed("logaddexp", 1.5, 1.5) == pytest.approx(-0.25)
    assert mixed("hypot", 3.0, 4.0) == pytest.approx(-12.0 / 125.0)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("sign", (0.0,), (0.0,)),
        ("sign", (-3.0,), (0.0,)),
        ("floor", (2.0,), (0.0,)),
        ("rint", (0.5,), (0.0,)),
        ("copysign", (0.0, -1.0), (0.0, 0.0)),
        ("copysign", (-2.0, 1.0), (-1.0, 0.0)),
        ("hypot", (0.0, 0.0), (0.0, 0.0)),
        ("hypot", (0.0, -3.0), (0.0, -1.0)),
        ("hypot", (3e200, 4e200), (0.6, 0.8)),
        ("atan2", (0.0, 0.0), (NAN, NAN)),
        ("atan2", (0.0, -2.0), (-0.5, 0.0)),
        ("atan2", (3e-200, 4e-200), (1.6e199, -1.2e199)),
        ("cbrt", (0.0,), (INF,)),
        ("root_cube", (0.0,), (0.0,)),
        ("log", (0.0,), (INF,)),
        ("log", (-2.0,), (-0.5,)),
        ("log1p", (-1.0,), (INF,)),
        ("asin", (1.0,), (INF,)),
        ("acos", (-1.0,), (-INF,)),
        ("asin", (2.0,), (NAN,)),
        ("acosh", (1.0,), (INF,)),
        ("acosh", (-2.0,), (NAN,)),
        ("atanh", (-1.0,), (INF,)),
        ("atanh", (2.0,), (-1.0 / 3.0,)),
        ("asinh", (1e200,), (1e-200,)),
        ("tanh", (INF,), (0.0,)),
        ("expm1", (-40.0,), (math.exp(-40.0),)),
        ("fmod", (1.0, 0.1), (1.0, -9.0)),
        ("fmod", (-7.0, 2.0), (1.0, 3.0)),
        ("fmod", (6.0, 3.0), (1.0, -2.0)),
        ("fmod", (2.0, INF), (1.0, 0.0)),
        ("remainder", (7.0, 4.0), (1.0, -2.0)),
        ("remainder", (6.0, 4.0), (1.0, -2.0)),
        ("erf", (INF,), (0.0,)),
        ("gamma", (-2.0,), (NAN,)),
        ("lgamma", (0.0,), (-INF,)),
        ("lgamma", (-2.0,), (NAN,)),
        ("digamma", (0.0,), (INF,)),
        ("expit", (1000.0,), (0.0,)),
        ("expit", (-1000.0,), (0.0,)),
        ("expit", (40.0,), (math.exp(-40.0),)),
        ("log_expit", (-1000.0,), (1.0,)),
        ("log_expit", (1000.0,), (0.0,)),
        ("logit", (0.0,), (INF,)),
        ("logit", (1.0,), (INF,)),
        ("logaddexp", (2.0, 2.0), (0.5, 0.5)),
        ("logaddexp", (-INF, -INF), (0.5, 0.5)),
        ("logaddexp", (INF, 1.0), (1.0, 0.0)),
        ("logaddexp", (1000.0, -1000.0), (1.0, 0.0)),
        ("xlogy", (0.0, 0.0), (-INF, 0.0)),
        ("xlogy", (0.0, 2.0), (math.log(2.0), 0.0)),
        ("xlogy", (2.0, 0.0), (-INF, INF)),
        ("xlog1py", (0.0, -1.0), (-INF, 0.0)),
        ("xlog1py", (2.0, -1.0), (-INF, INF)),
        ("pow", (NAN, 0.0), (0.0, NAN)),
        ("sinc", (0, 0.0), (0.0,)),
        ("sinc", (1, 0.0), (-1.0 / 3.0,)),
    ],
)
def test_derivative_at_an_edge(
    name: str, args: tuple[Any, ...], expected: tuple[float, ...]
) -> None:
    found = slopes(name, args)
    assert found == pytest.approx(expected, rel=1e-14, abs=0.0, nan_ok=True)


IN_LOOPS = {
    "exp": math.exp, "exp2": math.exp2, "expm1": math.expm1, "log": math.log,
    "log2": math.log2, "log10": math.log10, "log1p": math.log1p, "cbrt": math.cbrt,
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin,
    "acos": math.acos, "atan": math.atan, "sinh": math.sinh, "cosh": math.cosh,
    "tanh": math.tanh, "asinh": math.asinh, "acosh": math.acosh, "atanh": math.atanh,
    "erf": math.erf, "erfc": math.erfc,
}  # fmt: skip


def looped(function: Callable[[float], float]) -> Any:
    """The function of each element of an array, in vectors if the machine can."""

    def every(x: cl.f64[:]):  # type: ignore[no-untyped-def,valid-type]
        return [function(v) for v in x]

    return cl.jit(every)


@pytest.mark.parametrize("name", IN_LOOPS)
def test_in_vectors(name: str) -> None:
    """Vector code is as exact as that of one number, and has the same edges."""
    function = BY_NAME[name]
    xs = np.array([args[0] for args in function.grid] * 2)
    found = looped(IN_LOOPS[name])(xs)
    for x, y in zip(xs, found, strict=True):
        assert error(float(y), value(function, (float(x),))) <= 4.0, (x, y)
    edges = [(args[0], wanted) for n, args, wanted in EDGES if n == name] * 3
    at_edges = looped(IN_LOOPS[name])(np.array([x for x, _ in edges]))
    wanted = np.array([y for _, y in edges])
    np.testing.assert_allclose(at_edges, wanted, rtol=1e-15, atol=0.0)


def test_mpmath_is_as_exact_as_we_ask() -> None:
    with mp.workdps(30):
        assert abs(mp.mpf(value(BY_NAME["erf"], (0.5,))) - mp.erf(0.5)) < 1e-28
