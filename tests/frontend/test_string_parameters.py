"""Parameters annotated with `str`, an enumeration or a `Literal` are static."""

from __future__ import annotations

import math
from enum import Enum
from typing import Literal, Optional

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.support.diagnostic import CompileError


class Kind(Enum):
    PLAIN = "plain"
    STEEP = "steep"


def helper(x: float, kind: Kind = Kind.PLAIN, *, how: Literal["up", "down"] = "up"):
    y = 2.0 * x if kind is Kind.PLAIN else 3.0 * x
    return y if how == "up" else -y


@cl.jit
def bent(x: float, mode: str = "soft", kind: Kind | None = None) -> float:
    more = 1.0 if kind is None else helper(x, kind, how="down")
    if mode == "soft":
        return math.log1p(math.exp(x)) + more
    if mode == "hard":
        return max(x, 0.0) + more + helper(x, Kind.STEEP)
    raise ValueError(f"unknown {mode!r:>8} of {kind} and {x}")


@pytest.mark.parametrize("kind", [None, Kind.PLAIN, Kind.STEEP])
@pytest.mark.parametrize("mode", ["soft", "hard"])
def test_each_value_has_a_version(mode: str, kind: Kind | None) -> None:
    assert bent(0.5, mode, kind) == pytest.approx(bent.py_func(0.5, mode, kind))
    value, slope = cl.value_and_grad(bent)(0.5, mode, kind=kind)
    near = (bent(0.5 + 1e-6, mode, kind) - bent(0.5 - 1e-6, mode, kind)) / 2e-6
    assert value == bent(0.5, mode, kind) and slope == pytest.approx(near, rel=1e-7)


def test_defaults() -> None:
    assert bent(0.5) == bent(0.5, "soft", None) == bent(0.5, mode="soft")


@pytest.mark.parametrize("kind", [None, Kind.STEEP])
def test_messages_show_them(kind: Kind | None) -> None:
    with pytest.raises(ValueError) as ours:
        bent(0.5, "other", kind)
    with pytest.raises(ValueError) as pythons:
        bent.py_func(0.5, "other", kind)
    assert str(ours.value).startswith(str(pythons.value))


@cl.jit
def summed(xs: cl.f64[:], how: Optional[str]) -> float:  # noqa: UP045
    if how is None:
        raise ValueError(how or "nothing is said")
    return sum(bent(x, how) for x in xs)


def test_they_are_passed_on() -> None:
    x = np.array([0.5, 1.5])
    assert summed(x, "hard") == pytest.approx(sum(bent(v, "hard") for v in x))
    assert cl.grad(summed)(x, how="hard").tolist() == [4.0, 4.0]


class Law:
    def __init__(self, rate: float) -> None:
        self.rate = rate

    def at(self, x: float, shape: str) -> float:
        return self.rate * x if shape == "line" else self.rate * x * x


def test_methods_take_them() -> None:
    assert cl.grad(Law(2.0).at)(3.0, "square") == 12.0
    assert cl.grad(Law(2.0).at)(3.0, "line") == 2.0


def test_they_are_known_when_the_program_is_compiled() -> None:
    @cl.jit
    def chosen(x: float, flag: bool) -> float:
        return bent(x, "hard" if flag else "soft")

    with pytest.raises(CompileError, match="CL0614"):
        chosen(0.5, True)
    with pytest.raises(ValueError, match="static"):
        cl.grad(bent, argnums=1)(0.5, "hard")
