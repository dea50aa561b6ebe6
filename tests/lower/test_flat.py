"""Elements of arrays by their number among all: of memory, no quotients are needed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

# By what an index is divided in a loop's body, further in than a count of chunks is.
DIVISION = re.compile(r"^ {4,}.*(udiv|irem|idiv|/ |% )(?!.*chunk)", re.MULTILINE)

M, T = np.arange(12.0).reshape(3, 4) + 0.5, np.arange(24.0).reshape(2, 3, 4) - 7.0
W = np.cos(np.arange(24.0))

Form = Callable[[Any], Any]

FLAT: list[tuple[Form, Any]] = [
    (lambda a: np.sum(np.ravel(a) ** 2), M),
    (lambda a: np.sum(a.reshape(-1) * W[:12]), M),
    (lambda a: np.sum(a.reshape(a.shape[1], a.shape[0]) ** 2), M),
    (lambda a: np.sum((2.0 * a).reshape(-1) * W[:12]), M),
    (lambda a: np.dot(np.tanh(a).ravel(), W), T),
    (lambda a: np.sum(a.reshape(2, -1) ** 2, axis=0), T),
    (lambda a: np.sum(a.reshape(-1, a.shape[2]) ** 2, axis=1), T),
    (lambda a: a.reshape(a.shape[2], -1) * 2.0, T),
    (lambda a: np.concatenate([row * row for row in a]), M),
    (lambda a: sum(np.dot(a[k].ravel(), W[:12]) for k in range(len(a))), T),
    (lambda a: np.outer(a[0], a[1]).ravel() ** 2, M),
    (lambda a: np.tanh(a.reshape(-1, 4) @ a[0].T) ** 2, T),
    (lambda a: (a @ a[0].T) ** 2, T),
]

# Parts of an array, and its elements in another order.
APART: list[tuple[Form, Any]] = [
    (lambda a: a.T.reshape(-1) * W[:12], M),
    (lambda a: a[:, 1:].reshape(-1) * W[:9], M),
    (lambda a: a[:, ::2].ravel() ** 2, M),
    (lambda a: a[1:].reshape(-1) ** 2, M),
    (lambda a: a.swapaxes(0, 1).reshape(3, -1) ** 2, T),
    (lambda a: a[:, :2].reshape(-1, 2) ** 2, T),
    (lambda a: np.repeat(a, 3) * np.tile(a.ravel(), 3), M),
    (lambda a: np.broadcast_to(a[0], (3, 4)).reshape(-1) * W[:12], M),
    (lambda a: np.concatenate([row[:3] * row[0] for row in a]), M),
]

EMPTY: list[tuple[Form, Any]] = [
    (lambda a: a.ravel() * 2.0, np.zeros(shape))
    for shape in ((0, 4), (4, 0), (0, 0), (2, 0, 3), (2, 3, 0))
]
EMPTY += [
    (lambda a: a.reshape(0, 5) * 2.0, np.zeros((4, 0))),
    (lambda a: a.ravel()[0] if a.size > 0 else 1.0, np.zeros((4, 0))),
    (lambda a: np.tile(a, 2), np.zeros((2, 0))),
    (lambda a: np.repeat(a, 0, axis=1), np.zeros((2, 3))),
]


def loops(function: Any) -> str:
    return str(function.show("loops"))


@pytest.mark.sweep(share=2)
@pytest.mark.optimised
@pytest.mark.parametrize("row", range(len(FLAT)))
def test_no_index_is_divided(row: int) -> None:
    form, argument = FLAT[row]
    value = cl.jit(form, parallel=False)
    value(argument)
    gradient = cl.grad(cl.jit(lambda a: np.sum(form(a)), parallel=False))
    gradient(argument)
    assert "udiv(i" not in loops(value) and "udiv(i" not in loops(gradient)


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize("row", range(len(FLAT + APART + EMPTY)))
@pytest.mark.parametrize("options", [{}, {"sanitize": True}], ids=["", "sanitized"])
def test_elements_in_order(row: int, options: dict[str, bool]) -> None:
    form, argument = (FLAT + APART + EMPTY)[row]
    chosen = cl.CompileOptions(**options)
    found = cl.jit(form, options=chosen)(argument)
    np.testing.assert_allclose(found, form(argument), rtol=1e-13)
    cl.check_grads(cl.jit(form, options=chosen), (argument,))


def test_numbers_in_a_recursion() -> None:
    """What is known in front of it is used in its calls alone."""

    def descended(m: Any, w: Any) -> float:
        def call(n: int, s: float) -> float:
            if n <= 0:
                return s
            turned = np.tanh(s * m.T)
            return 0.5 * call(n - 1, 0.5 * s + np.vdot(turned, m)) + np.sum(
                turned.ravel() * w
            )

        return call(3, 0.1)

    compiled = cl.jit(descended)
    assert np.isclose(compiled(M, W[:12]), descended(M, W[:12]))
    cl.check_grads(compiled, (M, W[:12]))
