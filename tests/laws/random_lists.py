"""Random programs that join, cut, turn and change lists of arrays, at work of n:

    def main(a, b, c):
        xs, ys = [a, b, c], [c, a]
        for i in range(n):
            if c[i] > 0.3:
                xs = xs[1:] + [ys[0]]
            else:
                xs = xs[::-1]
            ys = xs[:1] + ys if len(ys) < 4 else ys[:2]
            if len(xs) > 0:
                s += xs[0][i] * xs[-1][0]
        return s

Lists may be empty in between, and a constant number of elements is read of them.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.laws.plain import plain

HEAD = """
def main(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    s = 0.0
    xs = [a, b, c]
    ys = [c, a]
    p = b
"""


class Writer:
    """Writes the steps of a loop."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def name(self) -> str:
        return self.random.choice(["xs", "ys"])

    def array(self) -> str:
        return self.random.choice(["a", "b", "c", "p"])

    def test(self) -> str:
        random = self.random
        return random.choice(
            [
                f"c[i] > {random.uniform(-1.0, 1.0):.2f}",
                "a[i] > b[i]",
                f"i % {random.randint(2, 5)} == 1",
                f"len({self.name()}) > {random.randint(1, 3)}",
            ]
        )

    def made(self) -> str:
        """A list that is made of others and of arrays."""
        random, x, y = self.random, self.name(), self.name()
        k = random.randint(1, 2)
        return random.choice(
            [
                f"{x}[{k}:] + {x}[:{k}]",
                f"{x}[1:] + [{self.array()}]",
                f"[{self.array()}] + {x}[:-1]",
                f"{x}[::-1]",
                f"{x}[:{k}] + {y}[-{k}:]",
                f"{x}[:{k}]",
                f"{x}[i % 3 :]",
                f"[{self.array()}, {self.array()}]",
                f"list({x})",
                f"[t for t in {x} if t[i] > 0.0]",
                f"[{x}[-1 - k] for k in range(len({x}))]",
            ]
        )

    def statement(self) -> list[str]:
        """Lines of a step."""
        x, y, test = self.name(), self.name(), self.test
        match self.random.randrange(8):
            case 0:
                return [f"{x} = {self.made()}"]
            case 1:
                return [f"{x} = {self.made()} if {test()} else {self.made()}"]
            case 2:
                return [
                    f"if {test()}:",
                    f"    {x} = {self.made()}",
                    "else:",
                    f"    {y} = {self.made()}",
                ]
            case 3:
                return [f"if len({x}) < 5:", f"    {x}.append({self.array()})"]
            case 4:
                return [f"if len({x}) > 0:", f"    p = {x}.pop()"]
            case 5:
                return [
                    f"if len({x}) > 1:",
                    f"    {x}[0], {x}[-1] = {x}[-1], {x}[0]",
                ]
            case 6:
                return [f"for t in {x}:", "    s += t[i] * 0.5"]
            case _:
                at = self.random.choice(["0", "-1", "i % len(xs)"])
                return ["if len(xs) > 0:", f"    p = xs[{at}]", "    s += p[0]"]

    def body(self) -> list[str]:
        count = self.random.randint(2, 5)
        lines = [line for _ in range(count) for line in self.statement()]
        short = [line for x in ("xs", "ys") for line in self.cut(x)]
        read = "if len(xs) > 0 and len(ys) > 0:"
        return [*lines, *short, read, "    s += xs[0][i] * ys[-1][0] * p[i]"]

    def cut(self, x: str) -> list[str]:
        return [f"if len({x}) > 4:", f"    {x} = {x}[:3]"]


def written(seed: int) -> str:
    """The text of a program."""
    lines = Writer(Random(seed)).body()
    steps = ["for i in range(n):", *(f"    {line}" for line in lines)]
    ending = "    return s + sum(t[0] * t[-1] for t in xs) + p[0]\n"
    return HEAD + "".join(f"    {line}\n" for line in steps) + ending


def program(seed: int) -> Callable[..., float]:
    """A program, as plain Python."""
    return plain(written(seed), f"<lists {seed}>")
