"""Nodes whose fields are of several kinds: what shares a place comes back as it was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.ir.types import BOOL, F32, F64, I64, Product, Sum
from chadllvm.lower.nodes import node_shape


@dataclass(frozen=True)
class Dot:
    pass


@dataclass(frozen=True)
class Disc:
    radius: float


@dataclass(frozen=True)
class Frame:
    sides: int
    width: float
    filled: bool


Shape = Dot | Disc | Frame


@dataclass(frozen=True)
class Plain:
    shape: Shape
    weight: float


@dataclass(frozen=True)
class Both:
    first: Shape
    second: Shape


@dataclass(frozen=True)
class End:
    closed: bool
    rest: float


@dataclass(frozen=True)
class Link:
    drawn: Plain | Both
    next: Chain


Chain = End | Link


@cl.jit
def shape_of(x: float, k: int) -> Shape:
    if k % 3 == 0:
        return Dot()
    if k % 3 == 1:
        return Disc(x)
    return Frame(-k, x * x, k % 2 == 0)


@cl.jit
def chain(x: cl.f64[:], k: int) -> Chain:
    if k == len(x):
        return End(k % 2 == 1, x[0] * 3.0)
    shape = shape_of(x[k], k * k % 7)
    if k % 4 < 2:
        return Link(Plain(shape, x[k] + 1.0), chain(x, k + 1))
    return Link(Both(shape, shape_of(2.0 * x[k], k)), chain(x, k + 1))


@cl.jit
def area(shape: Shape) -> float:
    match shape:
        case Dot():
            return 0.25
        case Disc(radius):
            return 3.0 * radius * radius
        case Frame(sides, width, filled):
            return width * sides if filled else width - sides


@cl.jit
def total(whole: Chain) -> float:
    match whole:
        case End(closed, rest):
            return rest if closed else -rest
        case Link(Plain(shape, weight), after):
            return area(shape) * weight + 0.5 * total(after)
        case Link(Both(first, second), after):
            return area(first) * area(second) + 0.5 * total(after)


@cl.jit
def drawn(x: cl.f64[:]) -> float:
    return total(chain(x, 0))


@pytest.mark.parametrize("size", [1, 6, 29])
def test_values_and_gradients(size: int) -> None:
    x = np.random.default_rng(size).uniform(0.5, 1.5, size)
    value, slope = cl.value_and_grad(drawn)(x)
    assert value == pytest.approx(drawn.py_func(x), rel=1e-12)
    assert drawn(x) == pytest.approx(value, rel=1e-12)
    plain = cl.jit(drawn.py_func, options=cl.CompileOptions(optimize=0))
    np.testing.assert_allclose(slope, cl.grad(plain)(x), rtol=1e-12, atol=1e-14)


def test_nodes_of_the_border_come_back() -> None:
    x = np.random.default_rng(0).uniform(0.5, 1.5, 13)
    whole = cl.jit(chain.py_func)(x, 0)
    assert whole == chain.py_func(x, 0)
    assert total(whole) == pytest.approx(drawn(x), rel=1e-12)


SHAPE = Sum(
    (
        ("Dot", Product(())),
        ("Disc", Product((F64,))),
        ("Frame", Product((I64, F64, BOOL, F32))),
    )
)
PAIR = Sum((("One", Product((SHAPE, F32))), ("Two", Product((SHAPE, SHAPE, BOOL)))))


def test_what_is_never_there_at_once_shares_its_place() -> None:
    tree = Sum((("Leaf", Product((F64,))), ("Node", Product((I64,)))))
    assert node_shape((F64, tree, tree)).words == 4
    assert node_shape((F64, I64, BOOL)).words == 3
    # A tag, an integer and a float; a float of 32 bits and a bool beside it.
    assert node_shape((SHAPE,)).words == 4
    # Two of these; two floats of 32 bits fill a word, a tag and three bools another.
    assert node_shape((PAIR,)).words == 6 + 1 + 1
