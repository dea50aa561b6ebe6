"""The examples whose programs are data: their values, their gradients, and a fit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from test_examples import STEP, load, undecorated

import chadllvm as cl


@pytest.fixture(scope="module")
def formulas() -> Any:
    return load("expression_trees")


@pytest.fixture(scope="module")
def interpreter() -> Any:
    return load("closure_interpreter")


# ---- expression trees


def random_formula(model: Any, random: Any, depth: int, names: list[int]) -> Any:
    """A formula with values of moderate size, that knows these names."""
    if depth == 0:
        if random.random() < 0.5:
            return model.Variable(int(random.choice(names)))
        # Ones and zeros are what is simplified.
        return model.Constant(float(random.choice([0.0, 1.0, random.normal()])))
    part = lambda: random_formula(model, random, depth - 1, names)  # noqa: E731
    match random.choice(["add", "multiply", "power", "wave", "log", "let"]):
        case "add":
            return model.Add(part(), part())
        case "multiply":
            return model.Multiply(model.Sin(part()), part())
        case "power":
            return model.Power(model.Exp(model.Sin(part())), model.Cos(part()))
        case "wave":
            return model.Sin(part())
        case "log":
            # One object at two places is two parts of the tree.
            root = part()
            square = model.Multiply(root, root)
            return model.Log(model.Add(square, model.Constant(1.5)))
        case _:
            # Names are never used twice, whatever other branches bind.
            name = int(random.integers(10, 10**6))
            inner = random_formula(model, random, depth - 1, [*names, name])
            return model.Let(name, part(), inner)


def some_formulas(model: Any) -> list[Any]:
    """The example's own, and random ones."""
    found = [make() for make in model.FORMULAS.values()]
    for seed in range(25):
        random = np.random.default_rng(seed)
        found.append(random_formula(model, random, 1 + seed % 5, [model.T]))
    return found


def at(model: Any, t: float) -> Any:
    """The environment of a time."""
    return model.Scope(model.T, t, None)


@pytest.mark.sweep
def test_formulas_have_the_values_of_plain_python(formulas: Any) -> None:
    plain, model = undecorated("expression_trees"), formulas
    pairs = zip(some_formulas(model), some_formulas(plain), strict=True)
    for ours, theirs in pairs:
        exact = plain.evaluate(theirs, at(plain, 0.7))
        assert model.evaluate(ours, at(model, 0.7)) == pytest.approx(exact, rel=1e-13)
        assert repr(model.simplified(ours)) == repr(plain.simplified(theirs))
        slope, plain_slope = model.derivative(ours, 0), plain.derivative(theirs, 0)
        assert repr(slope) == repr(plain_slope)
        assert model.size(slope) == plain.size(plain_slope)
        general, last = model.named(ours, 10**6)
        assert repr((general, last)) == repr(plain.named(theirs, 10**6))
        assert last - 10**6 == len(model.constants(ours))


@pytest.mark.sweep
def test_simplified_formulas_have_the_same_value(formulas: Any) -> None:
    model, shorter = formulas, 0
    for e in some_formulas(model):
        short, scope = model.simplified(e), at(model, 1.3)
        shorter += model.size(short) < model.size(e)
        exact = model.evaluate(e, scope)
        assert model.evaluate(short, scope) == pytest.approx(exact, rel=1e-12)
    assert shorter > 5


def test_slopes_by_constants_are_those_of_differences(formulas: Any) -> None:
    model, scope = formulas, at(formulas, 0.7)
    gradient_of = cl.grad(model.evaluate)
    for e in some_formulas(model):
        gradient = gradient_of(e, scope)
        assert type(gradient) is type(e)
        theta = np.array(model.constants(e))
        slopes = model.constants(gradient)
        assert len(slopes) == len(theta)
        for number, slope in enumerate(slopes):
            ends = []
            for step in (STEP, -STEP):
                moved = theta.copy()
                moved[number] += step
                other = model.with_constants(e, iter(moved))
                ends.append(model.evaluate(other, scope))
            difference = (ends[0] - ends[1]) / (2.0 * STEP)
            assert slope == pytest.approx(difference, rel=1e-5, abs=1e-7)


@pytest.mark.sweep
def test_slopes_are_those_of_symbolic_derivatives(formulas: Any) -> None:
    """By the constants, which are leaves, and by the time, in an environment."""
    model, by_time = formulas, cl.grad(formulas.evaluate, argnums=1)
    by_leaves = cl.grad(model.evaluate)
    for e in some_formulas(model):
        scope = at(model, 0.7)
        slopes = model.constants(by_leaves(e, scope))
        general, last = model.named(e, 10**6)
        for value, name in zip(model.constants(e), itertools.count(10**6)):
            scope = model.Scope(name, value, scope)
        for slope, name in zip(slopes, range(10**6, last), strict=True):
            formula = model.simplified(model.derivative(general, name))
            assert model.evaluate(formula, scope) == pytest.approx(slope, abs=1e-12)
        exact = model.evaluate(model.derivative(e, model.T), at(model, 0.7))
        found = by_time(e, at(model, 0.7))
        assert found.name is None and found.rest is None
        assert found.value == pytest.approx(exact, abs=1e-12)


@pytest.mark.sweep
def test_a_swing_is_found_in_readings(formulas: Any) -> None:
    model, (times, readings) = formulas, formulas.measured(200, seed=1)
    e = model.fit(model.swing(), times, readings, steps=300)
    assert model.mean_square(e, times, readings) < 0.05**2
    # The order is that of the text: frequency, phase, fading, height.
    np.testing.assert_allclose(model.constants(e), [2.0, 0.4, -0.3, 1.5], atol=0.05)
    values = np.array(model.constants(e))
    by_leaves = model.constants(cl.grad(model.evaluate)(e, at(model, 1.5)))
    np.testing.assert_allclose(model.symbolic_slopes(e, values, 1.5), by_leaves)


def test_a_name_without_a_value_is_an_error(formulas: Any) -> None:
    model = formulas
    with pytest.raises(KeyError, match="nothing has the name 7"):
        model.evaluate(model.Sin(model.Variable(7)), at(model, 1.0))


# ---- the interpreter of closures


NAMES = ("compose", "Church numerals", "power", "reciprocal")


def test_all_programs_are_here(interpreter: Any) -> None:
    assert tuple(interpreter.PROGRAMS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_programs_have_the_values_and_slopes_of_python(
    interpreter: Any, name: str
) -> None:
    model = interpreter
    _, same, values = model.PROGRAMS[name]
    value, gradient = cl.value_and_grad(model.result)(model.program(name))
    assert value == pytest.approx(same(*values), rel=1e-12)
    plain = undecorated("closure_interpreter")
    assert value == pytest.approx(plain.result(plain.program(name)), rel=1e-13)
    slopes = [model.numbers(gradient)[place] for place in model.places(name)]
    direct = cl.grad(same, argnums=tuple(range(len(values))))(*values)
    np.testing.assert_allclose(slopes, direct, rtol=1e-9, atol=1e-12)


# The iteration is left at a residual that is large against a step of the differences.
ROUGH = {"reciprocal": [7.0, 0.05, 1e-10]}


@pytest.mark.parametrize("name", NAMES)
def test_slopes_of_programs_are_those_of_differences(
    interpreter: Any, name: str
) -> None:
    """By all numbers of a text, also by those that the same in Python does not take."""
    model = interpreter
    text, _, values = model.PROGRAMS[name]
    program = model.read(text.format(*ROUGH.get(name, values)))
    theta = model.numbers(program)
    for number, slope in enumerate(model.numbers(cl.grad(model.result)(program))):
        ends, step = [], STEP * theta[number]
        for signed in (step, -step):
            moved = [v + signed * (k == number) for k, v in enumerate(theta)]
            ends.append(model.result(model.with_numbers(program, iter(moved))))
        difference = (ends[0] - ends[1]) / (2.0 * step)
        assert slope == pytest.approx(difference, rel=1e-5, abs=1e-7)


def test_interpreted_recursion_may_be_deep(interpreter: Any) -> None:
    """Deeper than Python's own would be allowed to be."""
    model = interpreter
    text, _, _ = model.PROGRAMS["power"]
    program = model.read(text.format(1.0001, 3000))
    value, gradient = cl.value_and_grad(model.result)(program)
    assert value == pytest.approx(1.0001**3000, rel=1e-10)
    slope = model.numbers(gradient)[model.places("power")[0]]
    assert slope == pytest.approx(3000 * 1.0001**2999, rel=1e-10)


def test_what_is_no_program_is_an_error(interpreter: Any) -> None:
    model = interpreter
    for text, kind in (
        ("(2 3)", TypeError),
        ("(+ 1 (lambda (x) x))", TypeError),
        ("(lambda (x) x)", TypeError),
    ):
        with pytest.raises(kind, match="number"):
            model.result(model.read(text))
    with pytest.raises(IndexError, match="no lambda"):
        model.result(model.Lambda(model.Parameter(0)).body)
    for text in ("(+ 1 x)", "(+ 1", "1 2", "()"):
        with pytest.raises(SyntaxError):
            model.read(text)
