"""What programs define before the function: classes, compiled functions, rules."""

from __future__ import annotations

import re

HEAD = """\
import bisect
import dataclasses
import functools
import heapq
import itertools
import math
import operator
from collections.abc import Callable
from typing import NamedTuple, TypedDict

import numpy as np
from scipy import linalg, special, stats

import chadllvm as cl
"""

DEFINITIONS = {
    "damped": """
def damped(x, rate=0.5):
    return rate * x / (1.0 + abs(x))
""",
    "softened": """
@cl.vectorize
def softened(x, width=1.0):
    if abs(x) < width:
        return 0.5 * x * x / width
    return abs(x) - 0.5 * width
""",
    "Ball": """
@dataclasses.dataclass
class Ball:
    height: float
    speed: float = 0.5

    def energy(self, mass: float) -> float:
        return mass * (self.height + 0.5 * self.speed * self.speed)

    def kick(self, by: float) -> float:
        self.speed += by
        return self.speed
""",
    "thrown": """
def thrown(ball: Ball, times: int) -> Ball:
    for _ in range(times):
        ball.kick(0.25 * ball.height)
        ball.height -= 0.1 * ball.speed
    return ball
""",
    "Point": """
class Point(NamedTuple):
    x: float
    y: float = 0.0

    def norm(self) -> float:
        return math.sqrt(1.0 + self.x * self.x + self.y * self.y)

    def turned(self, angle: float) -> "Point":
        c, s = math.cos(angle), math.sin(angle)
        return Point(c * self.x - s * self.y, s * self.x + c * self.y)

    @staticmethod
    def unit() -> "Point":
        return Point(1.0)
""",
    "Body": """
@dataclasses.dataclass(frozen=True)
class Body:
    at: Point
    mass: float = 1.0
    number: int = 0

    @property
    def weight(self) -> float:
        return 9.81 * self.mass + self.number
""",
    "Spin": """
@dataclasses.dataclass(frozen=True)
class Spin:
    real: float
    imaginary: float = 0.0

    def __mul__(self, other: "Spin") -> "Spin":
        real = self.real * other.real - self.imaginary * other.imaginary
        return Spin(real, self.real * other.imaginary + self.imaginary * other.real)

    def __rmul__(self, scale: float) -> "Spin":
        return Spin(scale * self.real, scale * self.imaginary)

    def __add__(self, other: "Spin") -> "Spin":
        return Spin(self.real + other.real, self.imaginary + other.imaginary)

    def __neg__(self) -> "Spin":
        return Spin(-self.real, -self.imaginary)
""",
    "Entries": """
class Entries(TypedDict):
    w: cl.f64[:]
    scale: float
""",
    "Shape": """
class Circle(NamedTuple):
    radius: float


@dataclasses.dataclass(frozen=True)
class Rectangle:
    width: float
    height: float = 1.0

    def area(self) -> float:
        return self.width * self.height


Shape = Circle | Rectangle
""",
    "area": """
@cl.jit
def area(shape: Shape) -> float:
    match shape:
        case Circle(r) if r > 2.0:
            return 3.0 * r
        case Circle(radius=r):
            return math.pi * r**2
        case Rectangle():
            return shape.area()
""",
    "Tree": """
@dataclasses.dataclass(frozen=True)
class Leaf:
    value: float


@dataclasses.dataclass(frozen=True)
class Node:
    left: "Tree"
    right: "Tree"


Tree = Leaf | Node


@cl.jit
def product(tree: Tree) -> float:
    match tree:
        case Leaf(value):
            return math.sin(value)
        case Node(left, right):
            return product(left) * product(right) + product(left)


@cl.jit
def scaled_tree(tree: Tree, factor: float) -> Tree:
    if isinstance(tree, Leaf):
        return Leaf(factor * tree.value)
    return Node(scaled_tree(tree.left, factor), scaled_tree(tree.right, factor))
""",
    "Chain": """
@dataclasses.dataclass(frozen=True)
class Chain:
    head: float
    tail: "Chain | None"


@cl.jit
def horner(chain: Chain | None, x: float) -> float:
    value = 0.0
    while chain is not None:
        value = 0.5 * value * x + chain.head
        chain = chain.tail
    return value


@cl.jit
def chained(x: cl.f64[:]) -> Chain | None:
    found: Chain | None = None
    for v in x:
        found = Chain(v, found)
    return found


@cl.jit
def backwards(chain: Chain | None) -> Chain | None:
    found: Chain | None = None
    while chain is not None:
        found = Chain(chain.head, found)
        chain = chain.tail
    return found
""",
    "fill": """
@cl.jit
def fill(u: cl.f64[:], s: float) -> None:
    for i in range(1, len(u)):
        u[i] = 0.5 * u[i - 1] + s * u[i]
""",
    "decay": """
@cl.jit(updates="u")
def decay(u: cl.f64[:], rate: float = 0.5) -> float:
    u *= rate
    return np.sum(u)
""",
    "quicksort": """
@cl.jit
def quicksort(a: cl.f64[:], first: int, last: int) -> None:
    if first >= last:
        return
    pivot, k = a[last], first
    for i in range(first, last):
        if a[i] < pivot:
            a[i], a[k] = a[k], a[i]
            k += 1
    a[last], a[k] = a[k], a[last]
    quicksort(a, first, k - 1)
    quicksort(a, k + 1, last)
""",
    "softplus": """
@cl.jit
def softplus(x: float) -> float:
    return max(x, 0.0) + math.log(1.0 + math.exp(-abs(x)))
""",
    "SCALE": """
SCALE = 1.5
WEIGHTS = np.array([0.5, -1.0, 0.25])
""",
    "smoothed": """
@cl.jit
def smoothed(x: cl.f64[:], rate: float):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] += rate * 0.5 * y[i - 1]
    return y
""",
    "huber": """
@cl.jit
def huber(residual: float, width: float = 1.0, *, sharp: bool = False) -> float:
    size = abs(residual)
    if size <= width and not sharp:
        return 0.5 * residual * residual
    return width * (size - 0.5 * width)
""",
    "fall": """
@cl.jit(static_argnames=("method", "steps"))
def fall(x: float, steps: int, *, method: str = "euler", step: float = 0.5) -> float:
    for _ in range(steps):
        if method == "euler":
            x = x - step * math.sin(x)
        else:
            x = x - step * math.sin(x - 0.5 * step * math.sin(x))
    return x
""",
    "bent_by": """
@cl.jit
def bent_by(x: float, shape: str) -> float:
    return math.sin(x) if shape == "sine" else 0.5 * x
""",
    "COEFFICIENTS": """
COEFFICIENTS = [0.5, -0.25, 2]
TABLE = [[1.0, 0.5], [-0.5, 2.0]]
""",
    "midpoint": """
@cl.jit
def midpoint(f: Callable[[float], float], low: float, high: float, n: int) -> float:
    step = (high - low) / n
    return step * sum(f(low + (i + 0.5) * step) for i in range(n))
""",
    "scaler": """
@cl.jit
def scaler(k: float):
    return lambda t: k * math.sin(t)
""",
    "power_of": """
@cl.jit
def power_of(x: float, n: int) -> float:
    if n <= 0:
        return 1.0
    return 0.5 * x * power_of(x, n - 1) + math.cos(x)
""",
    "even": """
@cl.jit
def even(x: float, n: int) -> float:
    return x if n <= 0 else odd(0.5 * x, n - 1)


@cl.jit
def odd(x: float, n: int) -> float:
    return -x if n <= 0 else even(x + 1.0, n - 1)
""",
    "halved": """
@cl.jit
def halved(x: float, n: int) -> float:
    if n <= 1:
        return math.sin(x)
    return halved(x, n // 2) * halved(0.5 * x, n - n // 2)
""",
    "tree_sum": """
@cl.jit
def tree_sum(x: cl.f64[:], low: int, high: int) -> float:
    if high - low < 1:
        return 0.0
    if high - low == 1:
        return math.sin(x[low])
    middle = (low + high) // 2
    return tree_sum(x, low, middle) + 0.5 * tree_sum(x, middle, high)
""",
    "log_sum_exp": """
@cl.custom_jvp
def log_sum_exp(x: cl.f64[:]) -> float:
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


@log_sum_exp.defjvp
def rule_of_log_sum_exp(primals, tangents):
    (x,), (x_t,) = primals, tangents
    y = log_sum_exp(x)
    return y, np.sum(np.exp(x - y) * x_t)
""",
    "bent": """
@cl.custom_vjp
def bent(x: float, y: float) -> float:
    return math.sin(x) * y + x


def bent_forward(x, y):
    return math.sin(x) * y + x, (x, y)


def bent_backward(kept, ct):
    x, y = kept
    return ct * (math.cos(x) * y + 1.0), ct * math.sin(x)


bent.defvjp(bent_forward, bent_backward)
""",
    "squashed": """
@cl.custom_vjp
def squashed(x: cl.f64[:], s: float):
    return np.tanh(s * x)


def squashed_forward(x, s):
    y = np.tanh(s * x)
    return y, (x, y, s)


def squashed_backward(kept, ct):
    x, y, s = kept
    inner = ct * (1.0 - y * y)
    return s * inner, np.sum(x * inner)


squashed.defvjp(squashed_forward, squashed_backward)
""",
    "Oscillator": """
@dataclasses.dataclass(frozen=True)
class Oscillator:
    stiffness: float
    damping: float = 0.25

    def potential(self, x: float) -> float:
        return 0.5 * self.stiffness * x * x

    def force(self, x: float) -> float:
        return -self.stiffness * x - self.damping * x


OSCILLATOR = Oscillator(1.5)
""",
    "Spring": """
class Spring:
    damping = 0.25

    def __init__(self, stiffness: float, forces: np.ndarray) -> None:
        self.stiffness = stiffness
        self.forces = forces

    def potential(self, x: float) -> float:
        return 0.5 * self.stiffness * x * x

    def force(self, x: float) -> float:
        return -self.stiffness * x - self.damping * x
""",
}

DEFINED = re.compile(r"^(?:def |class |(?=\w+ =))(\w+)", re.MULTILINE)

# What definitions need before them.
BEFORE = {"Body": ("Point",), "area": ("Shape",), "thrown": ("Ball",)}


def with_needs(names: list[str], text: str) -> list[str]:
    """The definitions that a text needs, in the order in which they may stand."""
    order: list[str] = []
    for name in names:
        for each in (*BEFORE.get(name, ()), name):
            if each not in order:
                order.append(each)
    needed: list[str] = []
    for name in reversed(order):
        defined = DEFINED.findall(DEFINITIONS[name])
        if any(re.search(rf"\b{each}\b", text) for each in defined):
            needed.append(name)
            text += DEFINITIONS[name]
    return needed[::-1]
