"""Random programs whose branches ask few conditions again and again, in each other and
in loops: their gradients with all passes against those of the plain mode."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.support.options import CompileOptions
from tests.frontend.generated import define
from tests.sweep import part

pytestmark = pytest.mark.optimised

CONDITIONS = ("c", "d", "x < 0.3", "p[0] < y")
HEAD = "def f(x: float, y: float, p: cl.f64[:], c: bool, d: bool) -> float:"


class Writer:
    """Writes a function whose branches compute the same few expressions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.values = [self.value(2) for _ in range(4)]

    def function(self) -> str:
        body = ["s, t, u = x, y, 0.0", *self.block(0), *self.block(0), *self.block(0)]
        lines = [f"    {line}" for line in [*body, "return s * t + u"]]
        return "\n".join(["import math", "import chadllvm as cl", HEAD, *lines, ""])

    def value(self, depth: int) -> str:
        if depth == 0:
            return self.random.choice(("x", "y", "p[0]"))
        a, b = self.value(depth - 1), self.value(depth - 1)
        forms = f"({a} + {b})", f"math.sin({a})", f"math.exp(-({a}) * ({a}))"
        quotient = f"({a}) / (2.0 + ({b}) * ({b}))"
        return self.random.choice((*forms, quotient, f"math.sqrt(1.0 + ({a}) * ({a}))"))

    def block(self, depth: int, in_loop: bool = False) -> Iterator[str]:
        """Assignments, branches, and loops that are in no other one."""
        for _ in range(self.random.randint(2, 3)):
            kind = self.random.random()
            if kind < 0.45 and depth < 3:
                yield f"if {self.random.choice(CONDITIONS)}:"
                yield from indented(self.block(depth + 1, in_loop))
                if self.random.random() < 0.6:
                    yield "else:"
                    yield from indented(self.block(depth + 1, in_loop))
            elif kind < 0.55 and not in_loop:
                yield f"for _ in range({self.random.randint(1, 3)}):"
                yield from indented(self.block(depth + 1, in_loop=True))
            else:
                name = self.random.choice("stu")
                yield f"{name} = 0.5 * {name} + {self.random.choice(self.values)}"


def indented(lines: Iterator[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


@pytest.mark.sweep
def test_random_programs() -> None:
    seeds = range(part(40, 5))
    found = 0
    for seed in seeds:
        text = Writer(seed).function()
        function = define(text, f"<random branches {seed}>")
        plain = cl.jit(function, optimize=0, cache=False)
        fast = cl.value_and_grad(cl.jit(function, cache=False), argnums=(0, 1, 2))
        slow = cl.value_and_grad(plain, argnums=(0, 1, 2))
        for k in range(8):
            x, y, z = np.random.default_rng((seed, k)).normal(size=3)
            arguments = x, y, np.array([z]), bool(k & 1), bool(k & 2)
            value, slopes = fast(*arguments)
            expected, right = slow(*arguments)
            assert math.isclose(value, expected, rel_tol=1e-9), text
            for slope, wanted in zip(slopes, right, strict=True):
                np.testing.assert_allclose(slope, wanted, 1e-8, 1e-8, err_msg=text)
        compiled = fast.planned_for(arguments).compile(CompileOptions())
        found += "correlated" in compiled.effective
    assert found > len(seeds) // 2
