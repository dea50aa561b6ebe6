"""Gradients that are known in closed form, against the formula, by every way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from programs.case import Case
from programs.closed_forms import CLOSED_FORMS, Formula

import chadllvm as cl

IDS = [f"{case.name}-{k}" for k, (case, _) in enumerate(CLOSED_FORMS)]


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("optimize", [2, 0])
@pytest.mark.parametrize(("case", "formula"), CLOSED_FORMS, ids=IDS)
def test_the_gradient_is_that_of_the_formula(
    case: Case, formula: Formula, optimize: int
) -> None:
    expected: tuple[Any, ...] = formula(*case.args)
    function = cl.jit(case.function.py_func, optimize=optimize)
    found = cl.grad(function, argnums=range(len(expected)))(*case.args)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("case", "formula"), CLOSED_FORMS, ids=IDS)
def test_tangents_are_those_of_the_formula(case: Case, formula: Formula) -> None:
    """Along each of the arguments with a formula, the others held fixed."""
    expected = formula(*case.args)
    random = np.random.default_rng(5)
    for position, gradient in enumerate(expected):
        tangents = [_still(arg) for arg in case.args]
        direction = random.normal(size=np.shape(gradient))
        tangents[position] = direction if np.ndim(gradient) else float(direction)
        _, slope = cl.jvp(case.function, case.args, tangents)
        size = np.sum(np.abs(gradient * direction))
        assert abs(slope - np.sum(gradient * direction)) <= 1e-10 * size + 1e-12


def _still(arg: Any) -> Any:
    """A tangent of zero, None for integers."""
    if np.asarray(arg).dtype.kind != "f":
        return None
    return np.zeros(np.shape(arg)) if np.ndim(arg) else 0.0
