"""Programs of f32: values, gradients and tangents, and that they stay f32.

The judges are plain Python, which computes in f32 as well, and the same program given
f64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from containers import leaves, parts, rebuilt
from programs import single_precision
from programs.case import SINGLE_CASES, Case

import chadllvm as cl
from chadllvm.driver.passes import OPTIONAL
from chadllvm.frontend import specialise
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.types import F32
from chadllvm.ir.value import from_value, to_value
from chadllvm.paper.source import read
from chadllvm.support.diagnostic import InternalError

assert single_precision

OPTIONS = {
    "default": cl.CompileOptions(),
    "plain": cl.CompileOptions(disabled=frozenset(OPTIONAL)),
    "permanent": cl.CompileOptions(optimize=0),
}
IDS = [case.name for case in SINGLE_CASES]

each = pytest.mark.parametrize("case", SINGLE_CASES, ids=IDS)


def of_width(value: Any, dtype: Any) -> Any:
    """The floats in a container as ones of this dtype; what is no float stays."""
    if isinstance(value, list):
        return [of_width(item, dtype) for item in value]
    components = parts(value)
    if components is not None:
        return rebuilt(value, [of_width(c, dtype) for c in components])
    if isinstance(value, np.ndarray | np.floating) and value.dtype.kind == "f":
        return value.astype(dtype)
    return value


def floats(value: Any) -> list[Any]:
    """The floats in a container, each an f32 or an array of them."""
    found = [x for x in leaves(value) if np.asarray(x).dtype.kind == "f"]
    for x in found:
        assert isinstance(x, np.ndarray | np.float32) and x.dtype == np.float32, x
    return found


def real_params(case: Case) -> list[int]:
    return [k for k, arg in enumerate(case.args) if floats(arg)]


def close(found: Any, wanted: Any, tolerance: float) -> None:
    """Relative to the largest number of both: others are differences of such."""
    size = max((float(np.max(np.abs(w), initial=0.0)) for w in wanted), default=0.0)
    for f, w in zip(found, wanted, strict=True):
        assert np.shape(f) == np.shape(w)
        np.testing.assert_allclose(f, w, rtol=tolerance, atol=tolerance * (size + 0.1))


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("name", OPTIONS)
@each
def test_value_is_that_of_plain_python(case: Case, name: str) -> None:
    compiled = cl.jit(case.function.py_func, options=OPTIONS[name])
    found = floats(compiled(*case.args))
    assert found
    close(found, leaves(case.function.py_func(*case.args)), 1e-5)


def gradient(case: Case, options: cl.CompileOptions, dtype: Any) -> Any:
    compiled = cl.jit(case.function.py_func, options=options)
    derivative = cl.value_and_grad(compiled, argnums=real_params(case))
    return derivative(*of_width(case.args, dtype))


def is_scalar(case: Case) -> bool:
    return isinstance(case.function.py_func(*case.args), np.floating)


SCALAR = [case for case in SINGLE_CASES if is_scalar(case)]
each_scalar = pytest.mark.parametrize("case", SCALAR, ids=lambda c: c.name)


@pytest.mark.sweep
@pytest.mark.parametrize("name", OPTIONS)
@each_scalar
def test_gradient_is_that_of_f64(case: Case, name: str) -> None:
    value, found = gradient(case, OPTIONS[name], np.float32)
    wanted_value, wanted = gradient(case, OPTIONS["default"], np.float64)
    assert isinstance(value, np.float32)
    close([value], [wanted_value], 1e-5)
    close(floats(found), leaves(wanted), 1e-4)


@pytest.mark.sweep
@pytest.mark.parametrize("name", ("default", "permanent"))
@each
def test_tangent_and_cotangent_agree(case: Case, name: str) -> None:
    """The tangent is that of f64, and for a number what the gradient says."""
    compiled = cl.jit(case.function.py_func, options=OPTIONS[name])
    random = np.random.default_rng(5)
    tangents = tuple(tangent(arg, random) for arg in case.args)
    value, moved = cl.jvp(compiled, case.args, tangents)
    close(floats(value), leaves(case.function(*case.args)), 1e-5)
    wide_args, wide_tangents = of_width((case.args, tangents), np.float64)
    _, wanted = cl.jvp(case.function, wide_args, wide_tangents)
    close(floats(moved), leaves(wanted), 1e-4)
    if is_scalar(case):
        slope = dot(
            leaves(gradient(case, OPTIONS[name], np.float32)[1]), leaves(tangents)
        )
        assert float(moved) == pytest.approx(slope, rel=1e-3, abs=1e-4)


def dot(xs: list[Any], ys: list[Any]) -> float:
    pairs = zip(xs, ys, strict=True)
    return sum(float(np.sum(np.float64(x) * np.float64(y))) for x, y in pairs)


def tangent(value: Any, random: np.random.Generator) -> Any:
    """A direction of f32; None for what is no float."""
    if isinstance(value, list):
        return [tangent(item, random) for item in value]
    components = parts(value)
    if components is not None:
        return rebuilt(value, [tangent(c, random) for c in components])
    if isinstance(value, np.ndarray | np.floating) and value.dtype.kind == "f":
        return np.float32(1.0) * random.normal(size=np.shape(value)).astype(np.float32)
    return None


@pytest.mark.sweep(share=3)
@each_scalar
def test_interpreter_agrees_at_every_stage(case: Case) -> None:
    function = cl.jit(case.function.py_func)
    derivative = cl.value_and_grad(function, argnums=real_params(case))
    expected = leaves(derivative(*case.args))
    (version,) = derivative._versions.values()
    for name, program in version.compilation.stages.items():
        given = case.args if name == "core" else leaves(case.args)
        pairs = zip(given, program.entry.params, strict=True)
        results = Interpreter(program).run(*[to_value(a, p.type) for a, p in pairs])
        types = program.entry.body.types
        found = [from_value(r, ty) for r, ty in zip(results, types, strict=True)]
        close(floats(found[0]) + found[1:], expected[: len(found)], 1e-4)


def test_the_reference_does_not_take_f32_for_its_reals() -> None:
    """It would have no cotangent there."""
    program = specialise(lambda x: x * x, (F32,))
    with pytest.raises(InternalError, match="x is f32, the paper's reals f64"):
        read(program.entry)
