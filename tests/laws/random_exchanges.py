"""Random programs that exchange arrays and update them, at work of n:

    def main(a, b, c):
        n = len(a)
        p, q, r = a.copy(), b.copy(), c * 0.5
        s = 0.0
        for i in range(n):
            if c[i] > 0.3:
                p, q = q, p
            q[i] = p[(i + 1) % n] * 0.5 + c[i]
            for k in range(2):
                r[(i + k) % n] += q[i]
        return s + p[0] + q[n // 2] * r[1 % n]

Each of the names is another array at all times, so that any of them may be updated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from tests.laws.plain import plain

HEAD = """
def main(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    p, q, r = a.copy(), b.copy(), c * 0.5
    s = 0.0
"""

TAIL = "    return s + p[0] + q[n // 2] * r[1 % n] + 0.1 * p[n - 1]\n"


class Writer:
    """Writes the steps of a loop over `i`, and of loops inside of it.

    Half of the programs make arrays instead, in place of those that are exchanged: a
    gradient copies where loops inside exchange or make such arrays.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._makes = random.random() < 0.5

    def _arrays(self, count: int) -> list[str]:
        return self._random.sample(["p", "q", "r"], count)

    def _test(self, depth: int) -> str:
        at = "i" if not depth else f"(i + k{depth}) % n"
        return self._random.choice(
            [f"c[{at}] > 0.2", f"b[{at}] < 0.1", "i % 3 == 1", "p[i] > q[0]"]
        )

    def _at(self, depth: int) -> str:
        loop = f"k{depth}" if depth else "2"
        return self._random.choice(["i", f"(i + {loop}) % n", "i // 2", "0"])

    def _value(self, depth: int) -> str:
        x, y = self._arrays(2)
        return self._random.choice(
            [
                f"{x}[{self._at(depth)}] * 0.5 + c[i]",
                f"np.sin({x}[{self._at(depth)}]) * {y}[{self._at(depth)}]",
                f"b[i] * {x}[{self._at(depth)}] - 0.1",
                f"0.2 * np.sum({x}[:2]) + a[i]",
            ]
        )

    def _exchange(self, depth: int) -> list[str]:
        names = self._arrays(self._random.choice([2, 2, 3]))
        return [f"{', '.join(names)} = {', '.join((*names[1:], names[0]))}"]

    def _update(self, depth: int) -> list[str]:
        (x,) = self._arrays(1)
        sign = self._random.choice(["=", "=", "+="])
        return [f"{x}[{self._at(depth)}] {sign} {self._value(depth)}"]

    def _borrow(self, depth: int) -> list[str]:
        x, y = self._arrays(2)
        y = self._random.choice([y, y, "a", "b"])
        chosen = f"t = {x} if {self._test(depth)} else {y}"
        return [chosen, f"s += t[{self._at(depth)}] * 0.3"]

    def _made(self, depth: int) -> list[str]:
        """An array in place of another one, in one step of them all."""
        if not self._makes:
            return self._update(depth)
        x, y = self._arrays(2)
        made = self._random.choice([f"np.sin({y})", f"{y} * 0.5", "np.zeros(n)"])
        step = self._random.choice(["n // 3", "n // 2"])
        return [f"if i % n == {step}:", f"    {x} = {made}"]

    def _branch(self, depth: int) -> list[str]:
        then, orelse = self.block(depth, 2), self.block(depth, 1)
        lines = [f"if {self._test(depth)}:", *_indented(then)]
        return lines + (["else:", *_indented(orelse)] if orelse else [])

    def _loop(self, depth: int) -> list[str]:
        if depth > 1 or self._makes:
            return self._update(depth)
        inner = self.block(depth + 1, 2) or self._update(depth + 1)
        return [f"for k{depth + 1} in range(2):", *_indented(inner)]

    def block(self, depth: int, most: int) -> list[str]:
        kinds = [
            self._exchange,
            self._update,
            self._update,
            self._borrow,
            self._made,
            self._branch,
            self._loop,
        ]
        count = self._random.randint(1, most)
        return [
            line for _ in range(count) for line in self._random.choice(kinds)(depth)
        ]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def written(seed: int) -> str:
    """The text of a program."""
    random = Random(seed)
    lines = Writer(random).block(0, 5)
    if random.random() < 0.3:
        head, lines = ["i = 0", "while i < n and s < 1e6:"], [*lines, "i += 1"]
    else:
        head = ["for i in range(n):"]
    steps = _indented([*head, *_indented(lines)])
    return HEAD + "\n".join(steps) + "\n" + TAIL


def program(seed: int) -> Callable[..., float]:
    """A program, as plain Python."""
    return plain(written(seed), f"<exchanges {seed}>")
