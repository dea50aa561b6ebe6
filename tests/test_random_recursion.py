"""Random programs of loops and recursions: loops before, after, around and inside.

Value and gradient are those of the permanent mode, which Python's value agrees with;
and the bits do not depend on the number of threads.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import numpy as np
import pytest
from campaign.load import Loaded, load

import chadllvm as cl
from tests.sweep import part

LEAVES = ("{a}[i]", "s", "c[i % 4]", "{a}[(7 * i + 3) % n]", "0.3", "c[0]")
UNARY = ("math.sin({})", "math.tanh({})", "math.exp(-({}) * ({}))", "0.5 * ({})")
BINARY = ("({}) * ({})", "({}) + ({})", "({}) - 0.7 * ({})")


class Writer:
    """Writes a program; `a` and `b` are arrays of n numbers, `s` and `t` numbers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def program(self) -> str:
        return "\n".join(
            [
                "import math\nimport numpy as np\nimport chadllvm as cl\n",
                *self.numbers(),
                *self.arrays(),
                *self.entry(),
                f"x = np.random.default_rng(5).normal(size={self.size()})",
                "ARGS = (x, np.array([0.4, -0.3, 0.6, 0.2]), 2)",
                "",
            ]
        )

    def size(self) -> int:
        return self.random.choice((1, 9, 40, 67, 130))

    def numbers(self) -> Iterator[str]:
        """A recursion that takes and returns numbers, with one call or two."""
        yield "@cl.jit"
        yield "def r(v: float, c: cl.f64[:], k: int) -> float:"
        yield "    if k <= 0:"
        yield "        return math.sin(v)"
        call = "r(0.5 * v, c, k - 1)"
        if self.random.random() < 0.4:
            call += " - 0.3 * r(v * c[1], c, k - 2)"
        head = self.random.choice(("v +", "v *", "math.tanh(v) *"))
        yield f"    return {head} {call}"

    def arrays(self) -> Iterator[str]:
        """A recursion that takes an array, with loops in front of calls and behind."""
        yield "@cl.jit"
        yield "def q(a: cl.f64[:], c: cl.f64[:], k: int) -> float:"
        yield "    n = len(a)"
        yield "    s, t = 0.1, 0.2"
        yield "    b = np.zeros(n)"
        lines = [*self.loops(self.random.randint(1, 2))]
        given = self.random.choice(("a", "b"))
        lines += ["if k > 0:", f"    t += 0.5 * q({given}, c, k - 1)"]
        if self.random.random() < 0.4:
            lines += [f"    t -= 0.25 * q({given}, c, k - 2)"]
        lines += self.loops(self.random.randint(0, 2))
        yield from (f"    {line}" for line in lines)
        yield "    return s + t + b[0]"

    def entry(self) -> Iterator[str]:
        yield "@cl.jit"
        yield "def f(x: cl.f64[:], c: cl.f64[:], k: int) -> float:"
        yield "    n = len(x)"
        yield "    s, t = 0.0, 0.0"
        yield "    a, b = x.copy(), np.zeros(n)"
        for _ in range(self.random.randint(3, 5)):
            kind = self.random.choice(("loops", "loops", "call", "calls", "updated"))
            yield from (f"    {line}" for line in getattr(self, kind)())
        yield "    return s + 0.5 * t + np.sum(b) + a[0]"

    # Statements.

    def call(self) -> Iterator[str]:
        yield self.random.choice(
            ("s += r(c[2], c, 3)", "t += q(a, c, k)", "s += q(b, c, 1)")
        )

    def calls(self) -> Iterator[str]:
        yield "for i in range(n):"
        if self.random.random() < 0.5:
            yield "    s += r(a[i], c, i % 3)"
        else:
            yield "    b[i] = r(a[i] + b[i], c, 2)"

    def updated(self) -> Iterator[str]:
        """What a call has been given is updated behind it."""
        yield "t += q(a, c, 1)"
        yield from self.loops(1)
        yield "for i in range(n):"
        yield f"    a[i] = 0.5 * a[i] + {self.expression(1)}"
        yield "s += q(a, c, 1)"

    def loops(self, count: int = 1) -> Iterator[str]:
        for _ in range(count):
            yield from self.loop()

    def loop(self) -> Iterator[str]:
        yield "for i in range(n):"
        match self.random.randrange(7):
            case 0:
                yield f"    s += {self.expression(2)}"
            case 1:
                yield f"    s = math.tanh(0.5 * s + {self.expression(2)})"
            case 2:
                yield f"    b[i] = {self.expression(2)}"
            case 3:
                yield f"    b[(3 * i + 1) % n] += {self.expression(1)}"
            case 4:
                yield "    left = a[i - 1] if i > 0 else 0.0"
                yield "    right = a[i + 1] if i < n - 1 else 0.0"
                yield "    b[i] = left - 2.0 * a[i] + right"
            case 5:
                yield "    p = 0.0"
                yield "    for j in range(4):"
                yield "        p = p * a[i] + c[j]"
                yield f"    {self.random.choice(('s += p * p', 'b[i] = p'))}"
            case _:
                yield "    if a[i] > 0.2:"
                yield f"        t += {self.expression(1)}"
                yield "    else:"
                yield "        t -= 0.1 * s"

    def expression(self, depth: int) -> str:
        if depth == 0:
            leaf = self.random.choice(LEAVES)
            return leaf.format(a=self.random.choice("aab"))
        if self.random.random() < 0.5:
            inner = self.expression(depth - 1)
            return self.random.choice(UNARY).format(inner, inner)
        sides = self.expression(depth - 1), self.expression(depth - 1)
        return self.random.choice(BINARY).format(*sides)


def outcome(
    program: Loaded, options: cl.CompileOptions, threads: int = 1
) -> list[np.ndarray]:
    """The value, and the value with its derivatives, on so many threads."""
    cl.set_num_threads(threads)
    function = cl.jit(program.function.py_func, options=options)
    value = function(*program.args)
    again, slopes = cl.value_and_grad(function, argnums=(0, 1))(*program.args)
    return [np.asarray(part) for part in (value, again, *slopes)]


def check(text: str) -> None:
    program = load(text)
    plain = outcome(program, cl.CompileOptions(optimize=0, cache=False))
    assert math.isclose(plain[0], program.plain(*program.plain_args), rel_tol=1e-9)
    for parallel in (True, False):
        options = cl.CompileOptions(parallel=parallel, cache=False, verify=True)
        alone, both = (outcome(program, options, threads) for threads in (1, 2))
        for one, two, other in zip(alone, both, plain, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)
            assert one.tobytes() == two.tobytes()


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(part(160, 16)))
@pytest.mark.usefixtures("small_chunks")
def test_random_programs(seed: int) -> None:
    text = Writer(seed).program()
    try:
        check(text)
    except Exception as error:
        error.add_note(text)
        raise
