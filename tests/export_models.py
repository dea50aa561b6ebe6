"""What the tests export: a function for each form that arguments and results have."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from example_modules import load

import chadllvm as cl


class Site(NamedTuple):
    height: float
    count: int
    depths: cl.f64[:]


@dataclass(frozen=True)
class Disc:
    radius: float


@dataclass(frozen=True)
class Outline:
    points: cl.f64[:, :]


@cl.jit
def line(x: float, k: float) -> float:
    return x * x + k


@cl.jit
def energy(x: cl.f64[:], stiffness: float) -> float:
    stretch = sum((x[i + 1] - x[i]) ** 2 for i in range(len(x) - 1))
    return 0.5 * stiffness * stretch + sum(math.cos(value) for value in x)


@cl.jit
def pick(x: cl.f64[:], index: int) -> float:
    return 2.0 * x[index]


@cl.jit
def checked_root(x: float, negate: bool) -> tuple[float, bool]:
    if x < 0.0:
        raise ValueError("no root of a negative number")
    return math.sqrt(x), not negate


@cl.jit
def doubled(x: cl.f64[:, :]):
    return 2.0 * x


@cl.jit
def narrow(x: cl.f32, v: cl.f32[:]) -> cl.f32:
    return x * np.sum(v)


@cl.jit
def volume(site: Site) -> float:
    return site.height * site.count + np.sum(site.depths)


@cl.jit
def volumes(sites: list[Site]) -> float:
    return sum([s.height * s.count + np.sum(s.depths) for s in sites])


@cl.jit
def made(height: float) -> Site:
    return Site(height, 3, np.array([height, 2.0 * height]))


@cl.jit
def size(shape: Disc | Outline) -> float:
    match shape:
        case Disc(radius):
            return radius * radius
        case Outline(points):
            return np.sum(points * points)


@cl.jit
def sizes(shapes: list[Disc | Outline]) -> float:
    total = 0.0
    for shape in shapes:
        total += size(shape)
    return total


@cl.jit
def squares(xs: list[cl.f64[:]]) -> float:
    return sum([np.sum(x * x) for x in xs])


@cl.jit
def blocks(xs: list[cl.f64[:, :]]) -> float:
    return sum([np.sum(x * x) for x in xs])


@cl.jit
def positive(x: cl.f64[:]):
    return np.array([value for value in x if value > 0.0])


@cl.jit
def power(x: float, n: int) -> float:
    return 1.0 if n == 0 else abs(x * power(x, n - 1))


@cl.jit
def table(index: int) -> float:
    return TABLE[index]


TABLE = np.arange(5000.0)


@dataclass(frozen=True)
class Cons:
    head: float
    tail: Cons | None


@dataclass(frozen=True)
class Leaf:
    value: cl.f32


@dataclass(frozen=True)
class Branch:
    left: Leaf | Branch
    right: Leaf | Branch
    weight: int


class Forest(NamedTuple):
    """Recursive data beside arrays."""

    name: int
    tree: Leaf | Branch
    scales: cl.f64[:]


@cl.jit
def chain_squares(numbers: Cons | None) -> float:
    total = 0.0
    while numbers is not None:
        total += numbers.head**2
        numbers = numbers.tail
    return total


@cl.jit
def product(tree: Leaf | Branch, scale: float) -> float:
    match tree:
        case Leaf(value):
            return scale * np.float64(value)
        case Branch(left, right, weight):
            return product(left, scale) * product(right, scale) * weight


@cl.jit
def mirrored(tree: Leaf | Branch) -> Leaf | Branch:
    match tree:
        case Leaf(value):
            return Leaf(2.0 * value)
        case Branch(left, right, weight):
            return Branch(mirrored(right), mirrored(left), weight)


@cl.jit
def products(trees: list[Leaf | Branch]) -> float:
    return sum([product(tree, 1.0) for tree in trees])


@cl.jit
def forest(at: Forest) -> float:
    return product(at.tree, at.scales[at.name])


@cl.jit
def tails(chains: list[Cons]) -> list[Cons]:
    return [Cons(2.0 * chain.head, chain) for chain in chains]


FUNCTIONS: dict[str, Any] = {
    "line": line,
    "line_grad": cl.value_and_grad(line, argnums=(0, 1)),
    "energy": cl.value_and_grad(energy),
    "pick": pick,
    "checked_root": checked_root,
    "doubled": doubled,
    "narrow": narrow,
    "narrow_grad": cl.value_and_grad(narrow, argnums=(0, 1)),
    "volume": volume,
    "volume_grad": cl.value_and_grad(volume),
    "volumes": volumes,
    "volumes_grad": cl.grad(volumes),
    "made": made,
    "size": size,
    "size_grad": cl.grad(size),
    "sizes": sizes,
    "sizes_grad": cl.value_and_grad(sizes),
    "squares": squares,
    "squares_grad": cl.grad(squares),
    "blocks_grad": cl.value_and_grad(blocks),
    "positive": positive,
    "power": power,
    "power_grad": cl.grad(power),
    "table": table,
    "chain_grad": cl.value_and_grad(chain_squares),
    "product": product,
    "product_grad": cl.value_and_grad(product, argnums=(0, 1)),
    "mirrored": mirrored,
    "products_grad": cl.value_and_grad(products),
    "forest_grad": cl.grad(forest),
    "tails": tails,
}

# Run as a script, an example finds those beside it.
sys.modules.setdefault("gmm_model", load("gmm_model"))
MIXTURE: dict[str, Any] = load("gmm_export").FUNCTIONS
