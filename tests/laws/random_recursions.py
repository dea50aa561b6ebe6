"""Random recursions whose calls hand on, make, exchange, update and return arrays:

def f(x, y, c, s, i, d):
    if d <= 0:
        return x, y[0] + s
    u = x.copy()
    u[i % len(u)] = s * 0.3
    if x[0] > 0.2:
        z0, v0 = f(u, y * 0.5, c, y[0], i + 1, d - 1)
        u[0] = v0 * 0.1
        return z0, v0 + c[0]
    …

def main(a, b, c):
    x, y, s = a.copy(), b.copy(), 0.2
    for i in range(len(a)):
        z, w = f(x, y, c, s, i, 3)
        s = s * 0.5 + w * 0.1 + z[0] * 0.1
        x[i] = s * b[i] * 0.1
    …
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random

import numpy as np

import chadllvm as cl

ARRAYS = ("x", "y", "x", "y", "x * 0.5", "np.sin(y)", "x * y", "y + c", "x[::-1]", "c")
NUMBERS = (
    *("x[i % len(x)]", "y[0]", "x[-1] * y[i % len(y)]", "s", "0.3"),
    *("math.sin(s)", "c[i % len(c)]", "np.sum(x) * 0.1"),
)
STEPS = (
    *("x[i] = s * b[i] * 0.1", "x[i] = s * b[i] * 0.1", "y[i] += 0.1 * x[i]"),
    *("if c[i] > 0.1:\n    x, y = y, x", "if i % 3 == 1:\n    x = np.cos(x)"),
)

HEAD = """
def f(
    x: cl.f64[:], y: cl.f64[:], c: cl.f64[:], s: float, i: int, d: int
) -> {}:
"""

MAIN = """
def main(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    x, y, s = a.copy(), b.copy(), 0.2
"""

TAIL = "    return s + np.sum(x) * 0.1 + y[0]\n"


class Writer:
    """Writes a recursion, and a function that calls it."""

    def __init__(self, random: Random) -> None:
        self._random = random
        # How many arrays a call returns.
        self._count = self._random.choice((0, 0, 1, 1, 2))
        # Arrays that the calls choose or update.
        self._own: list[str] = []

    def text(self) -> str:
        returned = ", ".join((*self._count * ["cl.f64[:]"], "float"))
        returned = f"tuple[{returned}]" if self._count else returned
        function = [*self._last_call(), *self._arrays(), *self._branches()]
        text = HEAD.format(returned) + _block(function) + MAIN
        return text + _block(self._calls()) + TAIL

    def _may(self, share: float) -> bool:
        return self._random.random() < share

    def _number(self) -> str:
        return self._random.choice(NUMBERS)

    def _array(self) -> str:
        return self._random.choice((*self._own, *self._random.sample(ARRAYS, 2)))

    def _result(self, arrays: Sequence[str], number: str) -> str:
        returned = (self._random.choice(arrays) for _ in range(self._count))
        return "return " + ", ".join((*returned, number))

    def _last_call(self) -> Iterator[str]:
        number = f"{self._number()} + {self._number()}"
        yield "if d <= 0:"
        yield "    " + self._result(("x", "y", "x * 0.9"), number)

    def _arrays(self) -> Iterator[str]:
        if self._may(0.5):
            other = self._random.choice(("y", "x * 0.7"))
            self._own.append("t")
            yield f"t = x if {self._number()} > 0.1 else {other}"
        if self._may(0.4):
            self._own.append("u")
            yield f"u = {self._random.choice(('x', 'y'))}.copy()"
            yield f"u[i % len(u)] = {self._number()} * {self._number()}"

    def _branches(self) -> Iterator[str]:
        *tested, _ = range(self._random.randint(1, 3))
        for k in tested:
            test = f"{self._number()} > {self._random.choice(('0.0', '0.2', '-0.3'))}"
            yield f"if {test if self._may(0.4) else f'(i + d) % 3 == {k}'}:"
            yield from (f"    {line}" for line in self._branch())
        yield from self._branch()

    def _branch(self) -> Iterator[str]:
        numbers, arrays = [], ["x", "y * 0.5"]
        # What calls return may be the array that is updated then.
        updates = "u" in self._own and self._may(0.3)
        for k in range(self._random.choice((1, 1, 2))):
            made = [f"z{k}", f"r{k}"][: self._count]
            yield from self._loop(k, made) if self._may(0.2) else self._one(k, made)
            numbers.append(f"v{k}")
            if updates:
                yield f"u[0] = {numbers[-1]} * 0.1"
            else:
                arrays += 2 * made
        weights = (self._random.choice(("0.7", self._number())) for _ in numbers)
        terms = [f"{v} * {w}" for v, w in zip(numbers, weights, strict=True)]
        if len(arrays) > 2 and self._may(0.7):
            terms.append(f"z0[0] * {self._number()}")
        total = " + ".join((*terms, self._number()))
        yield self._result(arrays, total)

    def _one(self, k: int, made: Sequence[str]) -> Iterator[str]:
        given = f"{self._array()}, {self._array()}, c, {self._number()}"
        steps = self._random.choice((1, 2)), self._random.choice((1, 1, 2))
        call = f"f({given}, i + {steps[0]}, d - {steps[1]})"
        yield ", ".join((*made, f"v{k}")) + f" = {call}"

    def _loop(self, k: int, made: Sequence[str]) -> Iterator[str]:
        """Steps whose calls are given what one has returned a step before, perhaps."""
        yield f"p, q, v{k} = {self._array()}, {self._array()}, s"
        yield from (f"{array} = {self._array()}" for array in made)
        yield "for k in range(2):"
        call = f"f(p, q, c, v{k} * 0.5, i + k, d - {self._random.choice((1, 2))})"
        yield "    " + ", ".join((*made, f"v{k}")) + f" = {call}"
        given = self._random.choice((*made, *made, "p", "p * 0.7"))
        if self._may(0.5):
            yield f"    if {self._number()} > 0.1:"
            yield f"        p = {given}"
        else:
            yield f"    p, q = q, {given}"

    def _calls(self) -> Iterator[str]:
        if self._may(0.5):
            yield "for i in range(len(a)):"
            first = self._random.choice(("x", "y", "x * 2.0", "a"))
            call = self._call(first, self._random.choice("yxbc"), "i")
            steps = [step for step in STEPS if self._may(0.4)]
            for line in (*call, *(line for step in steps for line in step.split("\n"))):
                yield f"    {line}"
        else:
            yield from self._call("x", self._random.choice("yb"), "1")
            yield "x[0] = s * y[1]"
            yield from self._call("x", "y", "0")

    def _call(self, one: str, other: str, i: str) -> Iterator[str]:
        call = f"f({one}, {other}, c, s, {i}, {self._random.randint(2, 4)})"
        made = ["z", "r"][: self._count]
        yield ", ".join((*made, "w")) + f" = {call}"
        terms = (f"{value} * 0.1" for value in ("w", *(f"{z}[0]" for z in made)))
        yield "s = s * 0.5 + " + " + ".join(terms)


def _block(lines: Iterable[str]) -> str:
    return "".join(f"    {line}\n" for line in lines)


def program(text: str) -> Callable[..., float]:
    """The program of this text, whose recursive function is a compiled one."""
    file = f"<recursion {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"cl": cl, "math": math, "np": np}
    exec(compile(text, file, "exec"), scope)
    scope["f"] = cl.jit(scope["f"])
    return scope["main"]
