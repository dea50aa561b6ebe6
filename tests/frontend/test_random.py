"""Random programs with branches, loops and guards mean what Python says they mean."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from frontend.generated import define
from frontend.meaning import assert_same, interpret

from chadllvm.ir.op import ProgramError
from chadllvm.support.diagnostic import CompileError
from tests.sweep import part

NAMES = ("a", "b", "c", "d", "x")


class Writer:
    """Writes a function of x; a, b and c are defined from the start, d is not."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []

    def function(self) -> str:
        self.lines = ["def f(x):", "    a = 1", "    b = 2", "    c = x"]
        self.block(1, self.random.randint(3, 7))
        self.lines.append(f"    return a, b, c + {self.expression()}")
        return "\n".join(self.lines) + "\n"

    def block(self, depth: int, length: int, in_loop: bool = False) -> None:
        for _ in range(length):
            kind = self.random.random()
            if kind < 0.5 or depth > 4:
                self.assign(depth)
            elif kind < 0.75:
                self.branch(depth, in_loop)
            else:
                self.loop(depth)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def assign(self, depth: int) -> None:
        first, second = self.random.sample(NAMES[:4], 2)
        match self.random.randrange(4):
            case 0:
                left, right = self.expression(), self.expression()
                self.line(depth, f"{first}, {second} = {left}, {right}")
            case 1:
                self.line(depth, f"{first} += {self.expression()} % 5")
            case _:
                self.line(depth, f"{first} = ({self.expression()}) % 7")

    def branch(self, depth: int, in_loop: bool) -> None:
        self.line(depth, f"if {self.condition()}:")
        if depth == 1 and not in_loop and self.random.random() < 0.3:
            self.line(depth + 1, f"return a, {self.expression()}, c")
            return
        self.block(depth + 1, self.random.randint(1, 3), in_loop)
        if self.random.random() < 0.5:
            self.line(depth, "else:")
            self.block(depth + 1, self.random.randint(1, 3), in_loop)

    def loop(self, depth: int) -> None:
        target = self.random.choice(("i", "j", "a", "d"))
        count = self.random.randrange(4)
        self.line(depth, f"for {target} in range({count}):")
        self.block(depth + 1, self.random.randint(1, 3), in_loop=True)

    def condition(self) -> str:
        op = self.random.choice(("<", "<=", "==", ">"))
        return f"{self.expression()} {op} {self.expression()}"

    def expression(self) -> str:
        kind = self.random.randrange(6)
        first, second = self.random.choices(NAMES[:3] + NAMES[4:], k=2)
        if kind == 0:
            return str(self.random.randrange(4))
        if kind == 1:
            return f"{first} * 0.5"
        if kind == 2:
            return f"sum({first} + k for k in range(2))"
        if kind == 3 and self.random.random() < 0.3:
            return "d"
        return f"({first} {self.random.choice('+-')} {second})"


def assert_agrees(function: Callable[[float], object], x: float) -> None:
    """Both give the same, or what a loop without a step has not defined is read."""
    try:
        found = interpret(function, x)
    except ProgramError as error:
        assert "cannot access local variable 'd'" in str(error)
        with pytest.raises(UnboundLocalError):
            function(x)
    else:
        assert_same(found, function(x))


@pytest.mark.parametrize("seed", range(10))
def test_random_programs(seed: int) -> None:
    refused = 0
    for number in range(part(40, 4)):
        text = Writer(seed * 1000 + number).function()
        function = define(text)
        try:
            for x in (0.75, -2.0):
                assert_agrees(function, x)
        except CompileError as error:
            assert "`d`" in error.diagnostic.label, text
            refused += 1
    assert refused < part(40, 4)
