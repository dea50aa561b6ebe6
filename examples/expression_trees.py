"""Fit formulas that are data: trees, with the numbers to be found in their leaves.

A formula is a tree of frozen dataclasses; `evaluate` is a `match` on it that calls
itself. It is compiled once, for all formulas. The gradient by a formula is a tree of
the same classes, with a slope for each constant, which gradient descent follows. The
symbolic derivative is a function from trees to trees, compiled too: for a constant that
is given a name, it is the formula of that slope.

    python examples/expression_trees.py
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import chadllvm as cl

Vector = NDArray[np.float64]


# ---- formulas


@dataclass(frozen=True)
class Constant:
    value: float


@dataclass(frozen=True)
class Variable:
    """What a `Let` or the environment has under this name, which is a number."""

    name: int


@dataclass(frozen=True)
class Add:
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Multiply:
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Power:
    """Of a positive base, if the exponent is not an integer."""

    base: Expr
    exponent: Expr


@dataclass(frozen=True)
class Sin:
    angle: Expr


@dataclass(frozen=True)
class Cos:
    angle: Expr


@dataclass(frozen=True)
class Exp:
    exponent: Expr


@dataclass(frozen=True)
class Log:
    """Of a positive number."""

    number: Expr


@dataclass(frozen=True)
class Let:
    """The body, in which the name is the value; no name is bound twice."""

    name: int
    value: Expr
    body: Expr


Expr = Constant | Variable | Add | Multiply | Power | Sin | Cos | Exp | Log | Let


@dataclass(frozen=True)
class Scope:
    """An environment is a linked list: a name, its value, and those further out."""

    name: int
    value: float
    rest: Scope | None


@cl.jit
def looked_up(name: int, scope: Scope | None) -> float:
    """The innermost value of a name.

    Raises:
        KeyError: if it has none.
    """
    while scope is not None:
        if scope.name == name:
            return scope.value
        scope = scope.rest
    raise KeyError(f"nothing has the name {name}")


@cl.jit
def evaluate(e: Expr, scope: Scope | None) -> float:
    """The value of a formula in an environment."""
    match e:
        case Constant(value):
            return value
        case Variable(name):
            return looked_up(name, scope)
        case Add(left, right):
            return evaluate(left, scope) + evaluate(right, scope)
        case Multiply(left, right):
            return evaluate(left, scope) * evaluate(right, scope)
        case Power(base, exponent):
            return float(evaluate(base, scope) ** evaluate(exponent, scope))
        case Sin(angle):
            return math.sin(evaluate(angle, scope))
        case Cos(angle):
            return math.cos(evaluate(angle, scope))
        case Exp(exponent):
            return math.exp(evaluate(exponent, scope))
        case Log(number):
            return math.log(evaluate(number, scope))
        case Let(name, value, body):
            return evaluate(body, Scope(name, evaluate(value, scope), scope))


# ---- from trees to trees


@cl.jit
def is_constant(e: Expr, number: float) -> bool:
    """Whether it is this number, and no formula that happens to have that value."""
    match e:
        case Constant(value):
            return value == number
        case _:
            return False


@cl.jit
def total(left: Expr, right: Expr) -> Expr:
    """The sum of two formulas, without the zeros in it."""
    if is_constant(left, 0.0):
        return right
    if is_constant(right, 0.0):
        return left
    match left, right:
        case Constant(a), Constant(b):
            return Constant(a + b)
        case _:
            return Add(left, right)


@cl.jit
def product(left: Expr, right: Expr) -> Expr:
    """The product of two formulas; constants are pulled together."""
    if is_constant(left, 0.0) or is_constant(right, 0.0):
        return Constant(0.0)
    if is_constant(left, 1.0):
        return right
    if is_constant(right, 1.0):
        return left
    match left, right:
        case Constant(a), Constant(b):
            return Constant(a * b)
        case Constant(a), Multiply(Constant(b), rest):
            return product(Constant(a * b), rest)
        case _, Constant(_):
            return product(right, left)
        case _:
            return Multiply(left, right)


@cl.jit
def raised(base: Expr, exponent: Expr) -> Expr:
    """A power of a formula, unless the exponent is zero or one."""
    if is_constant(exponent, 0.0):
        return Constant(1.0)
    return base if is_constant(exponent, 1.0) else Power(base, exponent)


@cl.jit
def mentions(e: Expr, name: int) -> bool:
    """Whether the value of a formula may depend on a name."""
    match e:
        case Constant(_):
            return False
        case Variable(other):
            return name == other
        case Add(a, b) | Multiply(a, b) | Power(a, b) | Let(_, a, b):
            return mentions(a, name) or mentions(b, name)
        case Sin(a) | Cos(a) | Exp(a) | Log(a):
            return mentions(a, name)


@cl.jit
def simplified(e: Expr) -> Expr:
    """A formula with the same values, without what is known or does nothing."""
    match e:
        case Add(left, right):
            return total(simplified(left), simplified(right))
        case Multiply(left, right):
            return product(simplified(left), simplified(right))
        case Power(base, exponent):
            return raised(simplified(base), simplified(exponent))
        case Sin(angle):
            return Sin(simplified(angle))
        case Cos(angle):
            return Cos(simplified(angle))
        case Exp(exponent):
            return Exp(simplified(exponent))
        case Log(number):
            return Log(simplified(number))
        case Let(name, value, body):
            inner = simplified(body)
            if not mentions(inner, name):
                return inner
            return Let(name, simplified(value), inner)
        case _:
            return e


@cl.jit
def derivative(e: Expr, name: int) -> Expr:
    """The formula of the slope of a formula by a variable."""
    match e:
        case Constant(_):
            return Constant(0.0)
        case Variable(other):
            return Constant(1.0 if name == other else 0.0)
        case Add(left, right):
            return total(derivative(left, name), derivative(right, name))
        case Multiply(left, right):
            by_left = product(derivative(left, name), right)
            return total(by_left, product(left, derivative(right, name)))
        case Power(base, exponent):
            by_exponent = product(derivative(exponent, name), product(e, Log(base)))
            lower = raised(base, total(exponent, Constant(-1.0)))
            by_base = product(derivative(base, name), product(exponent, lower))
            return total(by_base, by_exponent)
        case Sin(angle):
            return product(derivative(angle, name), Cos(angle))
        case Cos(angle):
            slope = product(Constant(-1.0), Sin(angle))
            return product(derivative(angle, name), slope)
        case Exp(exponent):
            return product(derivative(exponent, name), e)
        case Log(number):
            return product(derivative(number, name), Power(number, Constant(-1.0)))
        case Let(inner, value, body):
            # The body changes by itself, and by what the inner name stands for.
            through = product(derivative(body, inner), derivative(value, name))
            return Let(inner, value, total(derivative(body, name), through))


@cl.jit
def size(e: Expr) -> int:
    """How many nodes a formula has."""
    match e:
        case Add(a, b) | Multiply(a, b) | Power(a, b) | Let(_, a, b):
            return 1 + size(a) + size(b)
        case Sin(a) | Cos(a) | Exp(a) | Log(a):
            return 1 + size(a)
        case _:
            return 1


@cl.jit
def named(e: Expr, first: int) -> tuple[Expr, int]:
    """With variables for constants, named from a number on; the next name is given."""
    match e:
        case Constant(_):
            return Variable(first), first + 1
        case Variable(_):
            return e, first
        case Add(left, right):
            a, middle = named(left, first)
            b, last = named(right, middle)
            return Add(a, b), last
        case Multiply(left, right):
            a, middle = named(left, first)
            b, last = named(right, middle)
            return Multiply(a, b), last
        case Power(base, exponent):
            a, middle = named(base, first)
            b, last = named(exponent, middle)
            return Power(a, b), last
        case Sin(angle):
            a, last = named(angle, first)
            return Sin(a), last
        case Cos(angle):
            a, last = named(angle, first)
            return Cos(a), last
        case Exp(exponent):
            a, last = named(exponent, first)
            return Exp(a), last
        case Log(number):
            a, last = named(number, first)
            return Log(a), last
        case Let(name, value, body):
            a, middle = named(value, first)
            b, last = named(body, middle)
            return Let(name, a, b), last


# ---- how far a formula is from data

T, PHASE, FADING = 0, 1, 2  # Names; those of constants come behind all others.
LETTERS = "tpq"
FIRST_FREE = len(LETTERS)


@cl.jit
def mean_square(e: Expr, times: cl.f64[:], readings: cl.f64[:]) -> float:
    """The mean square of what a formula misses readings by."""
    squares = 0.0
    for i in range(len(times)):
        miss = evaluate(e, Scope(T, times[i], None)) - readings[i]
        squares += miss * miss
    return squares / len(times)


@cl.jit
def symbolic_slopes(e: Expr, values: cl.f64[:], t: float) -> cl.f64[:]:
    """The slopes of a formula by its constants, from their formulas."""
    general, _ = named(e, FIRST_FREE)
    scope: Scope | None = Scope(T, t, None)
    for i in range(len(values)):
        scope = Scope(FIRST_FREE + i, values[i], scope)
    slopes = np.zeros(len(values))
    for i in range(len(values)):
        slopes[i] = evaluate(simplified(derivative(general, FIRST_FREE + i)), scope)
    return slopes


# ---- the descent and a report, in plain Python


def constants(e: Any) -> list[float]:
    """The constants of a formula from left to right, or the slopes in a gradient."""
    if isinstance(e, Constant):
        return [e.value]
    if not dataclasses.is_dataclass(e):
        return []
    parts = [getattr(e, field.name) for field in dataclasses.fields(e)]
    return [value for part in parts for value in constants(part)]


def with_constants(e: Any, values: Iterator[float]) -> Any:
    """The formula with other constants, as many as are needed of these."""
    if isinstance(e, Constant):
        return Constant(float(next(values)))
    if not dataclasses.is_dataclass(e) or isinstance(e, type):
        return e
    parts = [getattr(e, field.name) for field in dataclasses.fields(e)]
    return type(e)(*(with_constants(part, values) for part in parts))


def shown(e: Expr) -> str:
    """A formula as one writes it."""
    match e:
        case Constant(value):
            return f"{value:.4g}"
        case Variable(name):
            return LETTERS[name] if name < FIRST_FREE else f"c{name - FIRST_FREE}"
        case Add(left, right):
            return f"({shown(left)} + {shown(right)})"
        case Multiply(left, right):
            return f"{shown(left)} {shown(right)}"
        case Power(base, exponent):
            return f"({shown(base)})^({shown(exponent)})"
        case Let(name, value, body):
            return f"[{LETTERS[name]} = {shown(value)}: {shown(body)}]"
        case _:
            (argument,) = (getattr(e, f.name) for f in dataclasses.fields(e))
            return f"{type(e).__name__.lower()}({shown(argument)})"


def fit(e: Expr, times: Vector, readings: Vector, steps: int) -> Expr:
    """Gradient descent by the constants, at a pace for each of them (Adam)."""
    value_and_gradient = cl.value_and_grad(mean_square)
    theta = np.array(constants(e))
    momentum, scale = np.zeros_like(theta), np.zeros_like(theta)
    for step in range(1, steps + 1):
        gradient = value_and_gradient(e, times, readings)[1]
        slopes = np.array(constants(gradient))
        momentum = 0.9 * momentum + 0.1 * slopes
        scale = 0.99 * scale + 0.01 * slopes**2
        pace = 0.05 * (1.0 - step / (steps + 1))
        root = np.sqrt(scale / (1.0 - 0.99**step)) + 1e-12
        theta = theta - pace * momentum / (1.0 - 0.9**step) / root
        e = with_constants(e, iter(theta))
    return e


def line() -> Expr:
    """A constant and a slope."""
    return Add(Constant(0.0), Multiply(Constant(0.0), Variable(T)))


def growth() -> Expr:
    """A power of the time, where the exponent is to be found."""
    return Add(
        Constant(0.0), Multiply(Constant(0.5), Power(Variable(T), Constant(1.0)))
    )


def swing() -> Expr:
    """A damped oscillation."""
    angle = Add(Multiply(Constant(2.2), Variable(T)), Constant(0.0))
    fading = Exp(Multiply(Constant(-0.1), Variable(T)))
    wave = Multiply(Constant(1.0), Multiply(Variable(FADING), Sin(Variable(PHASE))))
    return Let(PHASE, angle, Let(FADING, fading, wave))


FORMULAS = {"a line": line, "a power": growth, "a damped swing": swing}


def measured(n: int, seed: int) -> tuple[Vector, Vector]:
    """Times and readings of a pendulum that comes to rest."""
    random = np.random.default_rng(seed)
    times = np.sort(random.uniform(0.01, 8.0, size=n))
    exact = 1.5 * np.exp(-0.3 * times) * np.sin(2.0 * times + 0.4)
    return times, exact + 0.05 * random.normal(size=n)


def main() -> None:
    """Fit each formula, then show the derivatives of the one that fits best."""
    parser = argparse.ArgumentParser(description="Fit formulas to readings.")
    parser.add_argument("--steps", type=int, default=800)
    options = parser.parse_args()
    times, readings = measured(200, seed=1)
    fitted = {}
    for title, make in FORMULAS.items():
        before = make()
        after = fit(before, times, readings, options.steps)
        fitted[title] = after
        print(f"{title}:")
        for stage, e in (("before", before), ("after", after)):
            miss = math.sqrt(mean_square(e, times, readings))
            print(f"  {stage:>6}: {shown(e)}, off by {miss:.3f}")
    best = min(fitted.values(), key=lambda e: mean_square(e, times, readings))
    general, last = named(best, FIRST_FREE)
    values, t = np.array(constants(best)), 1.5
    slopes = symbolic_slopes(best, values, t)
    gradient = constants(cl.grad(evaluate)(best, Scope(T, t, None)))
    print(f"the slopes of {shown(general)} at t = {t}, as leaves and by formulas:")
    for i, name in enumerate(range(FIRST_FREE, last)):
        raw = derivative(general, name)
        formula = simplified(raw)
        print(f"  c{i}: {gradient[i]:.6f} and {slopes[i]:.6f} = {shown(formula)}")
        print(f"      {size(raw)} nodes, {size(formula)} when simplified")


if __name__ == "__main__":
    main()
