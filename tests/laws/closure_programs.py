"""Random programs in Python whose values are functions too, with loops around them.

    def main(x: cl.f64[:], n: int) -> float:
        f0 = lambda t: math.sin(t * x[1])
        fs1 = [lambda t, k=k: f0(t + k * 0.1) for k in range(n)]
        v2 = x[0]
        for k in range(n):
            v2 = math.tanh(v2 + fs1[k](v2))
        ...

Local functions capture numbers and functions, stand in lists, are handed to others,
chosen by tests of integers, and differentiated. Numbers stay small, and everything is
smooth. In plain Python the programs run as they are.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import chadllvm as cl

HEAD = "def main(x: cl.f64[:], n: int) -> float:"


@dataclass
class Names:
    """What is in scope: numbers, functions of one number, lists of n of these."""

    numbers: list[str]
    functions: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)

    def inside(self, *numbers: str) -> Names:
        return Names([*self.numbers, *numbers], [*self.functions], [*self.lists])


class Writer:
    """Writes statements; every number is bounded, for `sin` is around what may grow.

    `derived`: derivatives of local functions are among the numbers. `recursive`: some
    functions call themselves, once or twice.
    """

    def __init__(self, random: Random, derived: bool, recursive: bool) -> None:
        self.random, self.derived, self.recursive = random, derived, recursive
        self.count = 0

    def fresh(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def number(self, names: Names, fuel: int) -> str:
        """An expression of a number."""
        if fuel <= 0:
            return self.leaf(names)
        ways: list[Callable[[Names, int], str]] = [self.sum, self.sine, self.product]
        if names.functions:
            ways += [self.call, self.call]
            if self.derived:
                ways.append(self.slope)
        if names.lists:
            ways.append(self.element_call)
        return self.random.choice(ways)(names, fuel - 1)

    def leaf(self, names: Names) -> str:
        constant = f"{self.random.uniform(-1, 1):.2f}"
        places = [f"x[{k}]" for k in range(3)]
        return self.random.choice([*names.numbers * 2, *places, constant])

    def sum(self, names: Names, fuel: int) -> str:
        return f"({self.number(names, fuel)} + {self.number(names, fuel)})"

    def product(self, names: Names, fuel: int) -> str:
        return f"({self.number(names, fuel)} * {self.number(names, fuel)})"

    def sine(self, names: Names, fuel: int) -> str:
        function = self.random.choice(["sin", "cos", "tanh", "atan"])
        return f"math.{function}({self.number(names, fuel)})"

    def call(self, names: Names, fuel: int) -> str:
        function = self.random.choice(names.functions)
        return f"{function}({self.number(names, fuel)})"

    def element_call(self, names: Names, fuel: int) -> str:
        place = self.random.choice(["0", "n - 1", "n // 2"])
        return f"{self.random.choice(names.lists)}[{place}]({self.number(names, fuel)})"

    def slope(self, names: Names, fuel: int) -> str:
        function, at = self.random.choice(names.functions), self.number(names, fuel - 1)
        along = self.leaf(names)
        return self.random.choice(
            [
                f"math.tanh(cl.grad({function})({at}))",
                f"math.sin(cl.jvp({function}, ({at},), ({along},))[1])",
                f"math.sin(cl.vjp({function}, {at})[1]({along})[0])",
            ]
        )

    def bounded(self, names: Names, fuel: int) -> str:
        return f"math.sin({self.number(names, fuel)})"

    # Statements; each puts what it binds into the names.

    def statement(self, names: Names) -> list[str]:
        ways = [self.assign, self.local, self.lambda_list, self.loop, self.local]
        if names.functions:
            ways += [self.choice, self.handed, self.total]
            if self.derived:
                ways.append(self.pulled)
        if self.recursive:
            ways += [self.recursion, self.recursion]
        return self.random.choice(ways)(names)

    def assign(self, names: Names) -> list[str]:
        line = self.bounded(names, 3)
        names.numbers.append(self.fresh("v"))
        return [f"{names.numbers[-1]} = {line}"]

    def local(self, names: Names) -> list[str]:
        """A function, by `def` or `lambda`."""
        body, name = self.bounded(names.inside("t"), 3), self.fresh("f")
        inner, scale = self.fresh("u"), self.leaf(names)
        names.functions.append(name)
        if self.random.random() < 0.5:
            return [f"{name} = lambda t: {body}"]
        return [
            f"def {name}(t, s={scale}):",
            f"    {inner} = {body}",
            f"    return {inner} * s + t",
        ]

    def lambda_list(self, names: Names) -> list[str]:
        body, name = (
            self.bounded(names.inside("t", "(0.1 * k)", "w"), 2),
            self.fresh("fs"),
        )
        held = self.leaf(names)
        names.lists.append(name)
        return [f"{name} = [lambda t, k=k, w={held}: {body} for k in range(n)]"]

    def choice(self, names: Names) -> list[str]:
        first, last = (self.random.choice(names.functions) for _ in range(2))
        name = self.fresh("f")
        names.functions.append(name)
        return [f"{name} = {first} if n % {self.random.randint(2, 3)} else {last}"]

    def handed(self, names: Names) -> list[str]:
        """A function that takes one."""
        taker, name = self.fresh("h"), self.fresh("v")
        inside = self.number(Names(["t", *names.numbers[:2]], ["g"]), 3)
        given, at = self.random.choice(names.functions), self.number(names, 1)
        names.numbers.append(name)
        return [
            f"def {taker}(g, t):",
            f"    return math.sin({inside} + g(g(t)))",
            f"{name} = {taker}({given}, {at})",
        ]

    def total(self, names: Names) -> list[str]:
        function, name = self.random.choice(names.functions), self.fresh("v")
        names.numbers.append(name)
        which = self.random.choice(
            [
                f"sum({function}(t) for t in x)",
                f"np.sum(np.array([{function}(0.1 * k) for k in range(n)])) / n",
            ]
        )
        return [f"{name} = math.sin({which})"]

    def pulled(self, names: Names) -> list[str]:
        """A pullback that is called in a loop."""
        function, at = self.random.choice(names.functions), self.leaf(names)
        name, back = self.fresh("v"), self.fresh("back")
        names.numbers.append(name)
        return [
            f"{name}, {back} = cl.vjp({function}, {at})",
            "for k in range(n):",
            f"    {name} = math.sin({name} + {back}(0.1 * k + {name})[0])",
        ]

    def recursion(self, names: Names) -> list[str]:
        name, inner = self.fresh("r"), names.inside("t", "(0.1 * k)")
        last, step, moved = (self.bounded(inner, 2) for _ in range(3))
        start, depth = self.leaf(names), self.random.choice(["n", "3", "n - 1"])
        again = ""
        if self.random.random() < 0.5:
            again = f" * math.cos({name}(t - 0.3, k - 2))"
        names.numbers.append(self.fresh("v"))
        return [
            f"def {name}(t: float, k: int) -> float:",
            "    if k <= 0:",
            f"        return {last}",
            f"    return math.sin({step} + {name}({moved}, k - 1){again})",
            f"{names.numbers[-1]} = {name}({start}, {depth})",
        ]

    def loop(self, names: Names) -> list[str]:
        state, start = self.fresh("v"), self.leaf(names)
        inner = names.inside(state, "(0.1 * k)")
        lines = []
        if self.random.random() < 0.6:
            # A closure that is made anew in each step.
            body, name = self.bounded(inner.inside("t"), 2), self.fresh("f")
            lines.append(f"    {name} = lambda t: {body}")
            inner.functions.append(name)
        call = ""
        if names.lists:
            call = f" + {self.random.choice(names.lists)}[k]({state})"
        step = self.number(inner, 3)
        names.numbers.append(state)
        return [
            f"{state} = {start}",
            "for k in range(n):",
            *lines,
            f"    {state} = math.tanh({step}{call})",
        ]


def program(seed: int, derived: bool = True, recursive: bool = False) -> str:
    """The text of a random program `main(x, n)`; x has three elements at least."""
    writer = Writer(Random(f"closures {seed}"), derived, recursive)
    names = Names(["x[0]", "x[1]"])
    lines = writer.local(names)
    for _ in range(writer.random.randint(2, 5)):
        lines += writer.statement(names)
    lines.append(f"return {writer.number(names, 3)} + {names.numbers[-1]}")
    return "\n".join([HEAD, *(f"    {line}" for line in lines)]) + "\n"


def compiled(texts: Sequence[str], name: str) -> Any:
    """The last function of texts that define functions, each compiled."""
    text = "".join(f"@cl.jit\n{part}\n" for part in texts)
    file = f"<{name}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    space = {"cl": cl, "np": np, "math": math}
    exec(compile(text, file, "exec"), space)
    return list(space.values())[-1]
