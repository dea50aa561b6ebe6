"""Random programs that pass arrays on in all ways at once, at work of n:

    PYTHONPATH=tests python -m tests.laws.random_arrays [how many [the first]]

    def main(a, b, c):
        n = len(a)
        p, q, r = a, b, c
        w = a
        …
        for i in range(n):
            if c[i] > 0.3:
                p, q = q, p
            w = w[1:] if len(w) > 2 else q
            s += p[i] * w[0] + walk(q, r, c, i, 2)
        return s

Each step chooses, swaps, slices, captures and rebinds some of what is in scope, a step
in all makes arrays, and what is read is a constant number of elements.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import chadllvm as cl
from tests.laws.cost_sweep import Measured, measured, violations
from tests.laws.plain import plain

SIZES = (150, 600, 2400)


@dataclass(frozen=True)
class Two:
    x: cl.f64[:]
    y: cl.f64[:]


@dataclass(frozen=True)
class One:
    x: cl.f64[:]


# Functions that call themselves, with a constant depth.
FUNCTIONS = """
@cl.jit
def walk(p: cl.f64[:], q: cl.f64[:], c: cl.f64[:], i: int, depth: int) -> float:
    if depth == 0:
        return p[i] * q[0]
    k = p if c[(i + depth) % len(c)] > 0.0 else c
    return 0.5 * walk(q, k, c, i, depth - 1) + p[i]


@cl.jit
def pick(p: cl.f64[:], q: cl.f64[:], i: int, depth: int) -> cl.f64[:]:
    if depth == 0 or p[i] > q[i]:
        return p
    return pick(q, p, i, depth - 1)


@cl.jit
def ends(w: cl.f64[:], depth: int) -> float:
    if depth == 0 or len(w) < 3:
        return w[0] * w[len(w) - 1]
    return w[0] + ends(w[1:] if w[0] > w[1] else w[:-1], depth - 1)
"""

HEAD = """
def main(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    n = len(a)
    p, q, r = a, b, c
    w = a
    st = Two(b, c)
    u: One | Two = One(a)
    o = None
    f = lambda j: a[j]
    items = [c, a, b]
    m = np.outer(np.array([1.0, 2.0]), a)
    d = b.copy()
    s = 0.0
"""


class Writer:
    """Writes the steps of a loop."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def array(self) -> str:
        """An array of n numbers that is there."""
        return self.random.choice(
            ["p", "q", "r", "a", "b", "c", "st.x", "st.y", "items[i % 3]", "m[i % 2]"]
        )

    def state(self) -> str:
        return self.random.choice(["p", "q", "r"])

    def test(self) -> str:
        random = self.random
        return random.choice(
            [
                f"c[i] > {random.uniform(-1.0, 1.0):.2f}",
                f"b[i] < {random.uniform(-1.0, 1.0):.2f}",
                "a[i] > b[i]",
                f"i % {random.randint(2, 5)} == 1",
            ]
        )

    def statement(self) -> list[str]:
        """Lines of a step."""
        array, state, test = self.array, self.state, self.test
        random = self.random
        kind = random.randrange(16)
        match kind:
            case 0:
                x, y = random.sample(["p", "q", "r"], 2)
                return [f"if {test()}:", f"    {x}, {y} = {y}, {x}"]
            case 1:
                return [f"if {test()}:", f"    {state()} = {array()}"]
            case 2:
                return [
                    f"if {test()}:",
                    f"    {state()} = {array()}",
                    f"elif {test()}:",
                    f"    {state()} = {array()}",
                    "else:",
                    f"    {state()} = {array()}",
                ]
            case 3:
                part = random.choice(["p", "st.x", "q"])
                made = random.choice(["{} * b", "np.sin({})", "{} + c * 0.5"])
                at = random.randint(2, 4)
                return [f"if i == n // {at}:", f"    {state()} = {made.format(part)}"]
            case 4:
                return [f"w = w[1:] if len(w) > 4 and {test()} else {array()}"]
            case 5:
                part = random.choice(["[::-1]", "[i:]", "[::2]", "[: n // 2]"])
                return [f"if {test()}:", f"    w = {array()}{part}"]
            case 6:
                return [
                    f"if {test()}:",
                    "    st = Two(st.y, st.x)",
                    f"elif {test()}:",
                    f"    st = Two({array()}, st.x)",
                ]
            case 7:
                return [
                    f"if {test()}:",
                    f"    u = Two({array()}, {state()})",
                    f"elif {test()}:",
                    f"    u = One({array()})",
                    "match u:",
                    "    case One(x):",
                    "        s += x[i]",
                    "    case Two(x, y):",
                    "        s += x[i] * y[0]",
                ]
            case 8:
                return [
                    f"if {test()}:",
                    f"    o = {array()}",
                    f"elif {test()}:",
                    "    o = None",
                    "if o is not None:",
                    "    s += o[i] * 0.5",
                ]
            case 9:
                return [
                    f"if {test()}:",
                    f"    f = lambda j, k={state()}: k[j] * 2.0",
                    "s += f(i)",
                ]
            case 10:
                return [f"for t in [{array()}, {array()}]:", "    s += t[i] * t[0]"]
            case 11:
                return [f"s += walk({array()}, {array()}, c, i, 2) * 0.1"]
            case 12:
                return [f"{state()} = pick({array()}, {array()}, i, 2)"]
            case 13:
                return ["s += ends(w, 2)"]
            case 14:
                return [f"d[i] = d[(i * 3) % n] * 0.5 + {array()}[i]"]
            case _:
                x, y = random.sample(["p", "q", "r"], 2)
                return [
                    "for h in range(2):",
                    "    if c[(i + h) % n] > 0.0:",
                    f"        {x}, {y} = {y}, {x}",
                    f"    s += {x}[h] * {y}[i]",
                ]

    def body(self) -> list[str]:
        count = self.random.randint(3, 6)
        lines = [line for _ in range(count) for line in self.statement()]
        read = f"s += {self.array()}[i] * {self.state()}[0] + w[0] * w[len(w) - 1]"
        return [*lines, read]


def written(seed: int) -> str:
    """The text of a program."""
    random = Random(seed)
    lines = Writer(random).body()
    if random.random() < 0.3:
        head, lines = ["i = 0", "while i < n:"], [*lines, "i += 1"]
    else:
        head = ["for i in range(n):"]
    steps = [*head, *(f"    {line}" for line in lines)]
    ending = "    return s + d[0] + d[n // 2] * p[0]\n"
    return FUNCTIONS + HEAD + "".join(f"    {line}\n" for line in steps) + ending


def program(seed: int) -> Callable[..., float]:
    """A program, as plain Python."""
    return plain(written(seed), f"<arrays {seed}>", One=One, Two=Two)


def found(seed: int, orders: bool = False) -> list[Measured]:
    return list(measured(program(seed), SIZES, orders))


def main(count: int, first: int) -> int:
    """Measure programs; 1 if one breaks the law."""
    failed, most = 0, {"gradient": 0.0, "jvp": 0.0}
    for seed in range(first, first + count):
        each = found(seed)
        for one in each[1:]:
            ratio = one.work[-1] / each[0].work[-1]
            most[one.what] = max(most[one.what], ratio)
        for text in violations(each, SIZES):
            failed = 1
            print(f"{seed}: {text}", flush=True)
    print(", ".join(f"{what} {ratio:.1f}" for what, ratio in most.items()))
    return failed


if __name__ == "__main__":
    sys.exit(main(*[*map(int, sys.argv[1:]), *[50, 0][len(sys.argv) - 1 :]]))
