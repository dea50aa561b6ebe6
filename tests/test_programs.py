"""Every program of `programs/`: its value and gradient, by every way to compute them.

The reference for values is the undecorated function in plain Python; for gradients it
is central differences of the compiled values, which agree with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from containers import drawn, flattened, has_union, leaves, moved
from programs import (
    arrays,
    assignments,
    bits,
    calculus,
    closed_forms,
    comprehensions,
    control,
    customs,
    derivatives,
    functions,
    higher_order,
    in_place,
    linear_algebra,
    machines,
    matches,
    models,
    numpy_style,
    optimisers,
    ragged,
    records,
    recursion,
    scalars,
    sequences,
    simulations,
    sums,
    unpacking,
    updates,
)
from programs.case import CASES, Case

import chadllvm as cl
from chadllvm.chad.derived import has_derivatives
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.term import Program
from chadllvm.ir.types import has_float
from chadllvm.ir.value import from_value, to_value
from chadllvm.pipeline import OPTIONAL, Compilation
from tests.leaves import all_leaves

STEP = 1e-6

OPTIONS = {
    "default": cl.CompileOptions(),
    "checked": cl.CompileOptions(speculate=False),
    "plain": cl.CompileOptions(disabled=frozenset(OPTIONAL)),
    "permanent": cl.CompileOptions(optimize=0),
}

# Programs of which some runs are repeated without speculation.
SPECULATION_FAILS = (
    "negative_index",
    "elementwise",
    "sizes_of_one",
    "sizes_of_one_assigned",
    "stretched_values",
    "updated_copy",
)

assert all(
    (
        arrays,
        assignments,
        bits,
        calculus,
        closed_forms,
        comprehensions,
        control,
        customs,
        derivatives,
        functions,
        higher_order,
        in_place,
        linear_algebra,
        machines,
        matches,
        models,
        numpy_style,
        optimisers,
        ragged,
        records,
        recursion,
        scalars,
        sequences,
        simulations,
        sums,
        unpacking,
        updates,
    )
)

IDS = [f"{case.name}-{k}" for k, case in enumerate(CASES)]


def is_real(value: Any) -> bool:
    return any(d is not None for d in leaves(drawn(value, np.random.default_rng(0))))


def real_params(case: Case) -> list[int]:
    return [k for k, arg in enumerate(case.args) if is_real(arg)]


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_value_is_that_of_plain_python(case: Case, name: str) -> None:
    compiled = cl.jit(case.function.py_func, options=OPTIONS[name])
    expected = case.plain_value()
    np.testing.assert_allclose(compiled(*case.args), expected, rtol=1e-12)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_gradient_agrees_with_differences(case: Case, name: str) -> None:
    params = real_params(case)
    if not params:
        with pytest.raises(cl.CompileError):
            cl.grad(case.function)(*case.args)
        return
    compiled = cl.jit(case.function.py_func, options=OPTIONS[name])
    value, gradient = cl.value_and_grad(compiled, argnums=params)(*case.args)
    np.testing.assert_allclose(value, case.plain_value(), rtol=1e-12)
    check_direction(case, params, gradient)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_permanent_mode_gives_the_same(case: Case) -> None:
    """Value and gradient, NaN and infinity as well."""
    permanent = cl.jit(case.function.py_func, optimize=0)
    params = real_params(case)
    runs = [permanent, case.function]
    if params:
        runs += [cl.value_and_grad(f, argnums=params) for f in runs]
    found, wanted = (
        [leaf for run in runs[k::2] for leaf in leaves(run(*case.args))] for k in (0, 1)
    )
    for a, b in zip(found, wanted, strict=True):
        assert type(a) is type(b) and np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-14)


def check_direction(case: Case, params: list[int], gradient: Any) -> None:
    """The slope along random directions is the gradient's."""
    random = np.random.default_rng(3)
    for _ in range(2):
        directions = [drawn(case.args[k], random) for k in params]
        if case.name in ("untaken_branch", "unused_element"):
            directions = [abs(d) for d in directions]
        slope = sum(
            float(np.sum(g * d))
            for g, d in zip(leaves(gradient), leaves(tuple(directions)), strict=True)
        )
        ends = []
        for step in (STEP, -STEP):
            args = list(case.args)
            for k, direction in zip(params, directions, strict=True):
                args[k] = moved(args[k], direction, step)
            ends.append(case.function(*args))
        difference = (ends[0] - ends[1]) / (2 * STEP)
        assert np.isfinite(slope)
        if case.is_smooth and np.isfinite(difference):
            assert slope == pytest.approx(difference, rel=2e-5, abs=2e-7)


def flat_arguments(case: Case, source: Program) -> list[Any]:
    """The leaves of the arguments, as the interpreter takes them."""
    types = [p.type for p in source.entry.params]
    values = [to_value(a, ty) for a, ty in zip(case.args, types, strict=True)]
    return all_leaves(values, types)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_interpreter_agrees_at_every_stage(case: Case) -> None:
    params = real_params(case)
    if not params:
        return
    # Speculation may fail where the program does not, and repeats the call then.
    options = cl.CompileOptions(speculate=case.name not in SPECULATION_FAILS)
    function = cl.jit(case.function.py_func, options=options)
    derivative = cl.value_and_grad(function, argnums=params)
    expected = leaves(derivative(*case.args))
    (version,) = derivative._versions.values()
    stages = version.compilation.stages
    types = [p.type for p in stages["core"].entry.params]
    unions = any(map(has_union, types))
    if unions:
        value, gradients = derivative(*case.args)
        expected = [value]
        for k, gradient in zip(params, gradients, strict=True):
            expected += flattened(gradient, types[k], real=True)
    pairs = zip(case.args, types, strict=True)
    given = [leaf for arg, ty in pairs for leaf in flattened(arg, ty)]
    for name, program in stages.items():
        if any(has_derivatives(f.body) for f in program.functions):
            program = Compilation(options).normalised(program)
            name = "core without derivatives"
        if name == "core":
            pairs = zip(case.args, program.entry.params, strict=True)
            values = [to_value(a, p.type) for a, p in pairs]
            (result,) = Interpreter(program).run(*values)
            np.testing.assert_allclose(result, expected[0], rtol=1e-12)
            continue
        pairs = zip(given, program.entry.params, strict=True)
        values = [to_value(a, p.type) for a, p in pairs]
        run = Interpreter(program).run(*values)
        # Beside numbers, a list of arrays says where these are.
        both = zip(run, program.entry.body.types, strict=True)
        results = [(found, ty) for found, ty in both if unions or has_float(ty)]
        wanted = expected[: len(results)]
        for (result, ty), want in zip(results, wanted, strict=True):
            np.testing.assert_allclose(
                from_value(result, ty), want, rtol=1e-11, atol=1e-13, err_msg=name
            )
