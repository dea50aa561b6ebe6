"""Every program of `programs/`: its value and gradient, by every way to compute them.

The reference for values is the undecorated function in plain Python; for gradients it
is central differences of the compiled values, which agree with it.
"""

from __future__ import annotations

import zlib
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from containers import drawn, leaves, moved
from programs.case import Case

import chadllvm as cl
from chadllvm.chad.derived import has_derivatives
from chadllvm.driver.passes import OPTIONAL
from chadllvm.driver.pipeline import Compilation
from tests.interpreted_results import Results, flat
from tests.program_cases import CASES, real_params, tangents_of
from tests.sweep import named, swept

STEP = 1e-6

# Programs of which some runs are repeated without speculation: a size is not what was
# supposed, or a cotangent of zero meets an infinite slope.
SPECULATION_FAILS = (
    "elementwise",
    "sizes_of_one",
    "sizes_of_one_assigned",
    "stretched_values",
    "unused_element",
    "safe_logarithm",
    "untaken_branch",
    "untouched_in_loop",
)


class Compiled:
    """A program and its derivative in machine code: the tests of a case share them."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.params = real_params(case)
        # Speculation may fail where the program does not, and repeats the call then.
        speculate = case.name not in SPECULATION_FAILS
        self.options = cl.CompileOptions(speculate=speculate)
        self.function = cl.jit(case.function.py_func, options=self.options)

    @cached_property
    def derivative(self) -> Any:
        """The value and the gradient by all that is real."""
        return cl.value_and_grad(self.function, argnums=self.params)


@pytest.fixture(scope="class")
def compiled(case: Case) -> Compiled:
    return Compiled(case)


@pytest.mark.parametrize("case", CASES, ids=named(CASES), scope="class")
class TestProgram:
    @pytest.mark.optimised(share=3)
    def test_value_is_that_of_plain_python(self, compiled: Compiled) -> None:
        case = compiled.case
        found = compiled.function(*case.args)
        if case.name in SPECULATION_FAILS:
            np.testing.assert_allclose(found, case.function(*case.args), rtol=1e-15)
        np.testing.assert_allclose(found, case.plain_value(), rtol=1e-12)

    @pytest.mark.sweep(share=6)
    @pytest.mark.sweep(share=6)
    @pytest.mark.optimised(share=3)
    def test_gradient_agrees_with_differences(self, compiled: Compiled) -> None:
        case, params = compiled.case, compiled.params
        if not params:
            with pytest.raises(cl.CompileError):
                cl.grad(compiled.function)(*case.args)
            return
        value, gradient = compiled.derivative(*case.args)
        np.testing.assert_allclose(value, case.plain_value(), rtol=1e-12)
        check_direction(case, compiled.function, params, gradient)

    @pytest.mark.sweep(share=6)
    def test_forward_mode_agrees_with_reverse_mode(self, compiled: Compiled) -> None:
        case, params = compiled.case, compiled.params
        ts = tangents_of(case)
        value, tangent = cl.jvp(compiled.function, case.args, ts)
        np.testing.assert_allclose(value, case.plain_value(), rtol=1e-12)
        if not params:
            return
        _, gradient = compiled.derivative(*case.args)
        along = leaves(tuple(ts[k] for k in params))
        pairs = zip(leaves(gradient), along, strict=True)
        expected = sum(float(np.sum(g * t)) for g, t in pairs)
        assert tangent == pytest.approx(expected, rel=1e-9, abs=1e-12)

    @pytest.mark.sweep(share=12)
    def test_the_permanent_mode_gives_the_same(self, compiled: Compiled) -> None:
        """Value and gradient, NaN and infinity as well."""
        case, params = compiled.case, compiled.params
        permanent = cl.jit(case.function.py_func, optimize=0)
        found = leaves(permanent(*case.args))
        wanted = leaves(compiled.function(*case.args))
        if params:
            derivative = cl.value_and_grad(permanent, argnums=params)
            found += leaves(derivative(*case.args))
            wanted += leaves(compiled.derivative(*case.args))
        for a, b in zip(found, wanted, strict=True):
            assert type(a) is type(b) and np.shape(a) == np.shape(b)
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-14)

    @pytest.mark.sweep(share=3)
    def test_interpreter_agrees_at_every_stage(self, compiled: Compiled) -> None:
        case = compiled.case
        if not compiled.params:
            return
        expected = compiled.derivative(*case.args)
        (version,) = compiled.derivative._versions.values()
        stages = version.compilation.stages
        types = [p.type for p in stages["core"].entry.params]
        results = Results(types, compiled.params, expected)
        given = flat(case.args, types)
        for name, program in stages.items():
            if any(has_derivatives(f.body) for f in program.functions):
                program = Compilation(compiled.options).normalised(program)
                name = "core without derivatives"
            args = case.args if name == "core" else given
            results.check(name, program, args)


OPTIONS = {
    "checked": cl.CompileOptions(speculate=False),
    "plain": cl.CompileOptions(disabled=frozenset(OPTIONAL)),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("case", swept(CASES, 8, "options"))
def test_options_change_nothing(case: Case, name: str) -> None:
    check_with(case, OPTIONS[name])


@pytest.mark.sweep
@pytest.mark.parametrize("case", swept(CASES, 24, "one pass less"))
def test_no_pass_is_needed_by_another(
    case: Case, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each pass is left out in turn; but for `--whole` two of them for each program.

    A pass that finds nothing to do in a program need not be left out: all that follows
    would be the same.
    """
    passes = sorted(OPTIONAL & effective_passes(case, monkeypatch))
    if not request.config.getoption("--whole"):
        first = zlib.crc32(case.name.encode()) % len(passes)
        passes = [passes[first], passes[(first + len(passes) // 2) % len(passes)]]
    for name in passes:
        try:
            check_with(case, cl.CompileOptions(disabled=frozenset({name})))
        except Exception as error:
            error.add_note(f"without the pass {name}")
            raise


def effective_passes(case: Case, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The passes that find something to do in a program or its gradient."""
    made: list[Compilation] = []
    begin = Compilation.__post_init__

    def noted(compilation: Compilation) -> None:
        made.append(compilation)
        begin(compilation)

    with monkeypatch.context() as patch:
        patch.setattr(Compilation, "__post_init__", noted)
        check_with(case, cl.CompileOptions())
    return {name for compilation in made for name in compilation.effective}


def check_with(case: Case, options: cl.CompileOptions) -> None:
    """The value is Python's and the gradient the slope, with these options."""
    params = real_params(case)
    function = cl.jit(case.function.py_func, options=options)
    expected = case.plain_value()
    np.testing.assert_allclose(function(*case.args), expected, rtol=1e-12)
    if params:
        value, gradient = cl.value_and_grad(function, argnums=params)(*case.args)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        check_direction(case, function, params, gradient)


def check_direction(
    case: Case, function: Any, params: list[int], gradient: Any
) -> None:
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
            ends.append(function(*args))
        difference = (ends[0] - ends[1]) / (2 * STEP)
        assert np.isfinite(slope)
        if case.is_smooth and np.isfinite(difference):
            assert slope == pytest.approx(difference, rel=2e-5, abs=2e-7)
