"""Random programs of loops, branches and exits do what plain Python does."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from frontend.generated import define

import chadllvm as cl
from chadllvm.frontend import specialise
from chadllvm.ir.interp import evaluate
from chadllvm.ir.types import F64, I64, Array
from tests.sweep import part

TYPES = [F64, F64, Array(F64, 1), I64]
ARGS = (0.7, -0.4, np.array([0.3, -1.2, 0.8, 1.5]), 3)

NUMBERS = ("x", "y", "a[k % 4]", "z", "0.5")
TESTS = (
    "x > y",
    "z < 0.8",
    "k % 2 == 0",
    "k % 3",
    "a[k % 4] > x",
    "x < 2 and y < z",
    "not n",
)


class Writer:
    """Writes the statements of a function; no loop of it runs for ever."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loops = 0

    def function(self) -> str:
        start = ["z = x * y", "k = n", "fuel = 60", "b = a * 1.0"]
        body = [*start, *self.block(3, in_loop=False)]
        end = "return x + 2.0 * y + 3.0 * z + b[0] * b[1] + 0.1 * k"
        lines = [f"    {line}" for line in [*body, end]]
        return "\n".join(["def f(x, y, a, n):", *lines, ""])

    def block(self, depth: int, *, in_loop: bool) -> Iterator[str]:
        for _ in range(self.random.randint(1, 3)):
            yield from self.statement(depth, in_loop)

    def statement(self, depth: int, in_loop: bool) -> Iterator[str]:
        kinds = ["assign", "assign", "if"]
        if depth > 0:
            kinds += ["while", "for", "if"]
        kind = self.random.choice(kinds)
        if kind == "assign":
            yield self.assignment()
        elif kind == "if":
            yield from self.branch(depth, in_loop)
        else:
            yield from self.loop(kind, depth)

    def assignment(self) -> str:
        number, other = self.random.choice(NUMBERS), self.random.choice(NUMBERS)
        return self.random.choice(
            (
                f"x = 0.5 * {number} + 0.3 * {other}",
                f"y = np.sin({number}) - 0.4 * {other}",
                f"z = {number} * {other}",
                f"b[k % 4] = {number} - 0.5 * b[(k + 1) % 4]",
                "k += 1",
                f"x, y = y, {number}",
            )
        )

    def branch(self, depth: int, in_loop: bool) -> Iterator[str]:
        yield f"if {self.random.choice(TESTS)}:"
        yield from self.inside(depth, in_loop)
        if self.random.random() < 0.5:
            yield "else:"
            yield from self.inside(depth, in_loop)

    def inside(self, depth: int, in_loop: bool) -> Iterator[str]:
        body = list(self.block(depth - 1, in_loop=in_loop)) if depth > 0 else []
        exits = ["return x * z", "return b[1] + y", "raise ValueError(f'k = {k}')"]
        if in_loop:
            exits += ["break", "continue"] * 3
        if not body or self.random.random() < 0.5:
            body.append(self.random.choice([*exits, self.assignment()]))
        yield from (f"    {line}" for line in body)

    def loop(self, kind: str, depth: int) -> Iterator[str]:
        self.loops += 1
        if kind == "for":
            yield f"for i{self.loops} in range({self.random.choice(('3', 'n', '4'))}):"
        else:
            yield f"while {self.random.choice((*TESTS, 'True'))}:"
        yield "    fuel -= 1"
        yield "    k += 1"
        yield "    if fuel < 0:"
        yield f"        {self.random.choice(('break', 'return x', 'return z * y'))}"
        yield from (f"    {line}" for line in self.block(depth - 1, in_loop=True))
        if self.random.random() < 0.3:
            yield "else:"
            yield from (f"    {line}" for line in self.block(0, in_loop=False))


def outcome(function: Any, args: Any = ARGS) -> Any:
    """The result, or the exception's class and message."""
    try:
        return function(*args)
    except ValueError as error:
        return type(error), error.args


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert found == expected
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def written(seed: int) -> Any:
    function = define(Writer(seed).function())
    function.__globals__["np"] = np
    return function


@pytest.mark.parametrize("seed", range(part(300, 3)))
def test_the_interpreter_does_what_python_does(seed: int) -> None:
    function = written(seed)
    expected = outcome(function)
    if not isinstance(expected, tuple):
        program = specialise(function, TYPES)
        np.testing.assert_allclose(evaluate(program, *ARGS), expected, rtol=1e-12)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("options", [{}, {"optimize": 0}], ids=["default", "permanent"])
@pytest.mark.parametrize("seed", range(0, 300, 20))
def test_compiled_code_does_what_python_does(seed: int, options: Any) -> None:
    """The values, and the gradients along a direction as tangents say."""
    function = written(seed)
    expected = outcome(function)
    compiled = cl.jit(function, **options)
    same(outcome(compiled), expected)
    gradient = cl.value_and_grad(compiled, argnums=(0, 1, 2))
    if isinstance(expected, tuple):
        same(outcome(gradient), expected)
        return
    value, slopes = gradient(*ARGS)
    same(value, expected)
    along = (0.3, -0.7, np.array([0.2, 0.5, -0.1, 0.9]), None)
    _, slope = cl.jvp(compiled, ARGS, along)
    found = slopes[0] * along[0] + slopes[1] * along[1] + np.sum(slopes[2] * along[2])
    np.testing.assert_allclose(found, slope, rtol=1e-9, atol=1e-11)
