"""Random programs that put arrays into lists, and take them out of lists."""

from __future__ import annotations

import random

HEAD = """\
import numpy as np
import chadllvm as cl

def f(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    d = np.sin(a) * 2.0
    w = np.outer(a, c)
    t = b
    s = 0.0
"""


class Writer:
    """One program, by its seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._lines: list[str] = []
        self._depth = 1
        self._in_loop = False
        self._lists: list[str] = []

    def text(self) -> str:
        for name in "lm"[: self._random.randint(1, 2)]:
            self._new_list(name)
            self._lists.append(name)
        for _ in range(self._random.randint(1, 2)):
            self._block(self._one("for i in range(n):", "for i in range(1, n):"), 4)
            self._statement()
        for name in self._lists:
            self._read_all(name)
        self._write("return s + t[1]")
        return HEAD + "".join(self._lines)

    def _one(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _write(self, line: str) -> None:
        self._lines.append("    " * self._depth + line + "\n")

    def _block(self, head: str, most: int) -> None:
        self._write(head)
        was, self._in_loop = self._in_loop, self._in_loop or head.startswith("for i ")
        self._depth += 1
        for _ in range(self._random.randint(1, most)):
            self._statement()
        self._depth -= 1
        self._in_loop = was

    def _new_list(self, name: str) -> None:
        if self._random.random() < 0.5:
            self._write(f"{name} = [{self._several()}]")
            return
        chosen = (
            f"({self._array()} if {self._one(*'abc')}[i] > 0.1 else {self._array()})"
        )
        self._write(f"{name} = [{chosen} for i in range(n)]")

    def _several(self) -> str:
        count = self._random.randint(1, 3)
        return ", ".join(self._chosen() for _ in range(count))

    def _array(self) -> str:
        if self._lists and self._random.random() < 0.3:
            return self._element()
        return self._one("a", "b", "c", "d", "t", "w[1]")

    def _chosen(self) -> str:
        if self._random.random() < 0.6:
            return self._array()
        return f"({self._array()} if {self._condition()} else {self._array()})"

    def _element(self) -> str:
        name, i = self._one(*self._lists), "i" if self._in_loop else "2"
        return name + self._one("[-1]", "[0]", f"[{i} % len({name})]")

    def _condition(self) -> str:
        if not self._in_loop:
            return self._one("a[0] > 0.2", "s > 0.0")
        return self._one("a[i] > 0.0", "c[i] > 0.3", "i % 2 == 0", "s > 1.0", "i == 3")

    def _statement(self) -> None:
        name = self._one(*self._lists)
        match self._random.randrange(11):
            case 0 | 1:
                self._write(f"{name}.append({self._chosen()})")
            case 2:
                self._write(f"if len({name}) > 1:")
                self._write(f"    {name}.pop()")
            case 3:
                self._write(f"{name} = [{self._several()}]")
            case 4:
                self._write(f"t = {self._chosen()}")
            case 5 if self._depth < 5:
                self._block(f"if {self._condition()}:", 1)
                if self._random.random() < 0.5:
                    self._block("else:", 1)
            case 6 if self._depth < 4:
                self._block("for _ in range(2):", 2)
            case 7:
                self._write(f"s += np.sum({self._element()} * {self._array()})")
            case 8:
                self._write(f"{self._element()} = {self._chosen()}")
            case 9:
                name, other = self._one(*self._lists), self._one(*self._lists)
                self._write(f"{name}[0], {other}[-1] = {other}[-1], {name}[0]")
            case _:
                i = "i" if self._in_loop else "2"
                self._write(f"s += {self._element()}[{i}] * {self._one('0.5', 'a[0]')}")

    def _read_all(self, name: str) -> None:
        match self._random.randrange(4):
            case 0:
                self._write(f"for i in range(len({name})):")
                self._write(f"    s += {name}[i][i % n] * (i + 1.0)")
            case 1:
                self._write(f"for v in {name}:")
                self._write("    s += v[1] * v[0]")
            case 2:
                self._write(f"s += np.sum(np.array([v[2] for v in {name}]))")
            case _:
                self._write(f"s += {name}[-1][0] * len({name})")
