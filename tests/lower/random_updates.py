"""Random recursions that update arrays which they are given, or that are around them:

def f(v: cl.f64[:]) -> float:
    n, x, y, t = len(v), v * 1.0, v * 0.5 + 0.1, 0.2

    def g(i, d):
        nonlocal t
        if d <= 0:
            return x[i % n]
        x[i % n], y[(i + 1) % n] = y[(i + 1) % n], x[i % n]
        s = g(i + 1, d - 1)
        for k in range(2):
            x[(i + k) % n] += s * 0.3
        …
"""

from __future__ import annotations

from random import Random


class Writer:
    """Writes a program; `is_given`: the arrays are parameters of the recursion."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._is_given = self._may(0.4)
        self._has_result = not self._is_given and self._may(0.5)
        self._has_total = not self._is_given and self._may(0.5)
        self._calls = 0

    def text(self) -> str:
        given = ", x, y" if self._is_given else ""
        lines = [
            "import math",
            "import numpy as np",
            "import chadllvm as cl",
            "def f(v: cl.f64[:]) -> float:",
            "    n, x, y, t = len(v), v * 1.0, v * 0.5 + 0.1, 0.2",
            f"    def g(i, d{given}):",
        ]
        body = ["nonlocal t"] if self._has_total else []
        body += [f"if d <= 0:\n    {self._leave()}"]
        body += self._block(0, self._random.randint(3, 6))
        body += [self._call("d > 0"), self._leave()]
        lines += _indented(body, 2)
        lines += _indented(self._uses(), 1)
        return "\n".join(lines) + "\n"

    def _uses(self) -> list[str]:
        """What the function around does with the arrays."""
        called = self._invoked("0", "3")
        found = [f"t += {called}" if self._has_result else called]
        if self._may(0.5):
            found = [f"for r in range(2):\n    {found[0]}\n    x[r % n] += 0.5 * t"]
        if self._may(0.3):
            found = ["z = x.copy()", *found, "t += z[0] * x[1]"]
        found.append("return np.sum(x * v) + y[0] * y[-1] + np.sum(y) * t")
        return found

    def _may(self, share: float) -> bool:
        return self._random.random() < share

    def _leave(self) -> str:
        return f"return {self._number()}" if self._has_result else "return"

    def _place(self) -> str:
        return self._random.choice(("i % n", "(i + 1) % n", "(i * 2 + d) % n", "0"))

    def _element(self) -> str:
        return f"{self._random.choice('xy')}[{self._place()}]"

    def _number(self) -> str:
        match self._random.randrange(6):
            case 0:
                return f"0.5 * {self._element()} + 0.1"
            case 1:
                return f"math.sin({self._element()})"
            case 2:
                return f"{self._element()} * v[{self._place()}]"
            case 3:
                return "t" if self._has_total or not self._has_result else "0.3"
            case 4:
                return f"{self._element()} * {self._element()} * 0.5"
            case _:
                return self._element()

    def _invoked(self, i: str, d: str) -> str:
        arrays = ""
        if self._is_given:
            arrays = self._random.choice((", x, y", ", x, y", ", x, y", ", y, x"))
        return f"g({i}, {d}{arrays})"

    def _call(self, condition: str) -> str:
        self._calls += 1
        step = self._random.choice(("i + 1", "2 * i + 1", "i + d"))
        called = self._invoked(step, "d - 1")
        if self._has_result:
            called = f"{self._element()} = 0.5 * {called}"
        return f"if {condition}:\n    {called}"

    def _block(self, depth: int, count: int) -> list[str]:
        return [self._statement(depth) for _ in range(count)]

    def _statement(self, depth: int) -> str:
        match self._random.randrange(10):
            case 0 | 1:
                sign = self._random.choice(("=", "+=", "*="))
                return f"{self._element()} {sign} {self._number()}"
            case 2:
                one, other = self._element(), self._element()
                return f"{one}, {other} = {other}, {one}"
            case 3 if self._has_total:
                return f"t = 0.5 * t + {self._number()}"
            case 4 if depth < 2:
                test = self._random.choice(("i % 2 == 0", "d > 1", "x[0] > 0.5"))
                then = _indented(self._block(depth + 1, 2), 1)
                orelse = _indented(self._block(depth + 1, 1), 1)
                found = [f"if {test}:", *then]
                return "\n".join(
                    [*found, "else:", *orelse] if self._may(0.5) else found
                )
            case 5 if depth < 2:
                inner = _indented(self._block(depth + 1, 2), 1)
                return "\n".join([f"for k{depth} in range(2):", *inner])
            case 6 if self._calls < 3 and depth < 2:
                return self._call(self._random.choice(("d > 1", "i % 2 == 0")))
            case 7:
                one, other = self._random.sample("xy", 2)
                return f"{one}[1:3] = {other}[0:2] * 0.5"
            case _:
                return f"{self._element()} = {self._number()}"


def _indented(texts: list[str], level: int) -> list[str]:
    lines = [line for text in texts for line in text.splitlines()]
    return ["    " * level + line for line in lines]
