"""Lists that begin empty, and are read in front of the first `append`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.support.diagnostic import CompileError

A = np.random.default_rng(2).normal(size=(4, 4))


def gram_schmidt(a: cl.f64[:, :]) -> float:
    basis = []
    for j in range(a.shape[1]):
        v = a[:, j]
        for q in basis:
            v = v - (q @ v) * q
        basis.append(v / np.linalg.norm(v))
    return sum(float(np.sum(q**3)) for q in basis)


def by_a_sum(a: cl.f64[:, :]) -> float:
    basis = []
    for j in range(a.shape[1]):
        v = a[:, j]
        part = sum((q @ v) * q for q in basis) if basis else np.zeros(4)
        v = v - part
        basis.append(v / np.linalg.norm(v))
    return sum(float(np.sum(q**3)) for q in basis)


def by_places(a: cl.f64[:, :]) -> float:
    basis = []
    for j in range(a.shape[1]):
        v = a[:, j].copy()
        for i in range(len(basis)):
            q = basis[i]
            r = q.dot(v)
            v -= r * q
        basis.append(v / np.linalg.norm(v))
    return float(np.sum(np.array(basis) ** 3))


def lanczos(a: cl.f64[:, :]) -> float:
    both = a @ a.T
    found = []
    alphas, betas = [], []
    v = np.ones(4) / 2.0
    for j in range(3):
        w = both @ v
        alpha = v @ w
        w = w - alpha * v
        if j > 0:
            w = w - betas[-1] * found[-1]
        beta = np.sqrt(w @ w)
        found.append(v)
        alphas.append(alpha)
        betas.append(beta)
        v = w / beta
    return sum(alphas) * sum(betas)


@pytest.mark.parametrize("form", [gram_schmidt, by_a_sum, by_places, lanczos])
def test_they_hold_arrays(form: Callable[..., Any]) -> None:
    compiled = cl.jit(form)
    assert np.isclose(compiled(A), form(A))
    assert cl.check_grads(compiled, (A,)) is None  # type: ignore[func-returns-value]


def sums_of_two(n: int) -> list[int]:
    found = []
    for i in range(n):
        if i > 1:
            found.append(found[-1] + found[-2])
        else:
            found.append(1)
    return found


def chosen(n: int) -> list[int]:
    found = []
    for i in range(n):
        found.append(found[-1] + found[-2] if i > 1 else 1)
    return found


def of_another(n: int) -> list[int]:
    first, second = [], []
    for _ in range(n):
        if second:
            first.append(second[-1] * 2 + 1)
            second.append(first[-1])
        else:
            second.append(2)
    return first


def signs(n: int) -> list[bool]:
    found = []
    for _ in range(n):
        found.append(not found[-1] if found else True)
    return found


def with_zero(n: int) -> list[float]:
    found = []
    for i in range(n):
        before = found[-1] if found else 0.0
        found.append(before + i)
    return found


@pytest.mark.parametrize("form", [sums_of_two, chosen, of_another, signs, with_zero])
def test_numbers_made_of_their_own_keep_their_type(form: Callable[..., Any]) -> None:
    """Integers beyond 2⁵³ are exact, which they would not be as floats."""
    expected = form(60)
    found = cl.jit(form)(60)
    assert found.tolist() == expected
    assert found.dtype == np.array(expected).dtype


def of_a_range(a: cl.f64[:, :]) -> float:
    places = range(len(a))
    total = 0.0
    for i in places:
        total += a[i, i] * i
    for i in reversed(places):
        total = 0.5 * total + a[i, 0]
    steps = range(1, 10, 3) if a[0, 0] > 0.0 else range(3)
    return total * steps[1] + len(places) + (3 in places) + sum(steps)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_range_is_a_list(sign: float) -> None:
    compiled = cl.jit(of_a_range)
    assert np.isclose(compiled(sign * A), of_a_range(sign * A))


def real_mistake(a: cl.f64[:, :]) -> float:
    found = []
    for j in range(4):
        v = a[:, j]
        for q in found:
            v = v + q.nothing
        found.append(v)
    return found[0][0]


def test_a_mistake_is_reported_at_its_place() -> None:
    with pytest.raises(CompileError, match="nothing") as failed:
        cl.jit(real_mistake)(A)
    assert len(failed.value.diagnostics) == 1
