"""Random loops whose steps choose, add up and carry a state, or gather and scatter:
their gradients with all passes against those of the plain mode, and how many loops were
cut into stages.

    python -m tests.random_stages --count 200 --seed 0

The bounds of what is worth it are lifted, so that nearly all programs are cut.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import chadllvm as cl
from chadllvm.ir.loops import Branch
from chadllvm.ir.statements import everywhere
from chadllvm.lower import stages
from chadllvm.lower.stages import STEPS
from tests.frontend.generated import define

LENGTHS = (0, 1, 7, 30, STEPS - 1, STEPS, STEPS + 1, 4 * STEPS + 3)
PARAMETERS = ((0.3, -0.2, 0.5, 0.1), (0.3, 0.8, -0.5, 0.1), (-0.6, 0.1, 0.2, 0.9))
NUMBERS = ("0.1", "0.6", "-0.2")


class Writer:
    """Writes a function: a loop over a state, whose values stay small."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.floats = ["x", "v", "x * v", "p[0]", "0.7", "a[i]"]

    def function(self) -> str:
        body = [
            line for k in range(self.random.randint(6, 10)) for line in self.stage(k)
        ]
        lines = ["x, v, total, n = start, 0.5, 0.0, 1", "t = np.zeros(len(a) + 1)"]
        lines += ["for i in range(len(a)):", *indented([*body, *self.end()])]
        lines += ["return total + x + t[len(a) // 2] * v"]
        head = "def f(p: cl.f64[:], k: cl.i64[:], a: cl.f64[:], start: float) -> float:"
        imports = ["import math", "import numpy as np", "import chadllvm as cl"]
        return "\n".join([*imports, head, *indented(lines), ""])

    def value(self, depth: int = 2) -> str:
        if depth == 0:
            return self.random.choice(self.floats)
        a, b = self.value(depth - 1), self.value(depth - 1)
        return self.random.choice(
            (
                *(f"({a} + {b})", f"({a} - {b})", f"-{a}"),
                f"({a} * {b}) / (1.0 + ({a}) * ({a}))",
                f"math.sqrt(1.0 + ({a}) * ({a}))",
            )
        )

    def stage(self, number: int) -> Iterator[str]:
        """A value of the step, which a branch may change, with others."""
        name = f"t{number}"
        yield f"{name} = {self.value()}"
        if self.random.random() < 0.6:
            yield f"if {self.test()}:"
            yield from indented(self.side(name))
            if self.random.random() < 0.4:
                yield "else:"
                yield from indented(self.side(name))
        self.floats.append(name)

    def test(self) -> str:
        kinds = (f"{self.value(1)} > {self.random.choice(NUMBERS)}", "i % 3 == n")
        other = f"{self.random.choice(self.floats)} < {self.random.choice(NUMBERS)}"
        return self.random.choice((*kinds, other, f"{other} and {kinds[0]}"))

    def side(self, name: str) -> Iterator[str]:
        choose = self.random.choice
        places = ("p[0]", "p[1]", "p[k[0]]", "p[k[1]]", f"p[{choose((2, 3))}]")
        yield f"{name} = {name} * {self.value(1)} + {choose(places)}"
        earlier = [other for other in self.floats if other.startswith("t")]
        if earlier and self.random.random() < 0.5:
            other = choose(earlier)
            yield f"{other} = ({other} + {self.value(1)}) / (1.0 + {other} * {other})"
        if self.random.random() < 0.2:
            yield choose(("n = 2", f"total += {name} / (1.0 + {name} * {name})"))

    def end(self) -> Iterator[str]:
        """The next state, and what is added up."""
        u, w = (self.random.choice(self.floats) for _ in range(2))
        last = self.floats[-1]
        if self.random.random() < 0.5:
            yield f"if {self.test()}:"
            yield f"    total += {u} * n"
        if self.random.random() < 0.5:
            yield f"t[i + 1] = 0.4 * t[i] + {w} / (1.0 + ({w}) * ({w}))"
        yield f"q = {u} * {w} / (1.0 + v * v + ({u}) * ({u}))"
        yield "q = q / (1.0 + q * q)"
        yield "x, v = 0.7 * x + 0.1 * q - 0.1 * v, 0.8 * v - 0.03 * x"
        yield f"v += 0.01 * {last} / (1.0 + {last} * {last})"
        yield "total += x * q"


class Scattering(Writer):
    """Writes a function: a loop that reads and adds to elements whose places it reads.

    The places are those of `a`, and a place behind it fails.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.floats = ["a[m]", "a[l]", "p[0]", "0.7", "w[i]"]

    def function(self) -> str:
        body = ["m, l = k[i] - 2, k[len(k) - 1 - i] - 2"]
        stages = range(self.random.randint(4, 8))
        body += [line for n in stages for line in self.stage(n)]
        body += [*self.end()]
        lines = ["total, n = 0.0, 1", "t, w = np.zeros(len(a)), np.ones(len(k))"]
        lines += ["for i in range(len(k)):", *indented(body)]
        lines += ["return total + start * np.sum(t * t)"]
        head = "def f(p: cl.f64[:], k: cl.i64[:], a: cl.f64[:], start: float) -> float:"
        imports = ["import math", "import numpy as np", "import chadllvm as cl"]
        return "\n".join([*imports, head, *indented(lines), ""])

    def test(self) -> str:
        return super().test().replace("i % 3 == n", "(i + n) % 3 == 0")

    def side(self, name: str) -> Iterator[str]:
        return (line.replace("k[1]", "k[0]") for line in super().side(name))

    def end(self) -> Iterator[str]:
        """What is added up, and where."""
        u, w = (self.random.choice(self.floats) for _ in range(2))
        yield f"q = {self.floats[-1]} / (1.0 + {u} * {u}) * n"
        if self.random.random() < 0.5:
            yield f"if {self.test()}:"
            yield f"    t[m] += {w}"
        yield "t[l] += q"
        if self.random.random() < 0.5:
            yield f"t[k[i] - 2] += math.exp(-q * q) * {w}"
        yield "total += q * q"


def indented(lines: Iterator[str] | Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@contextmanager
def counted() -> Iterator[list[int]]:
    """Lifts the bounds; counts the loops that were cut, and the choices in them."""
    plan, found = stages._plan, [0, 0]
    bounds = {name: getattr(stages, name) for name in ("_WORTH", "_LEAST", "_MOST")}

    def counting(loop: Any, roots: Any, known: Any) -> Any:
        new = plan(loop, roots, known)
        if new is not None:
            found[0] += 1
            found[1] += branches(loop) - branches(new.loop)
        return new

    stages.__dict__.update(_WORTH=0, _LEAST=-1000, _MOST=100, _plan=counting)
    try:
        yield found
    finally:
        stages.__dict__.update(bounds, _plan=plan)


def branches(loop: Any) -> int:
    return sum(isinstance(stmt, Branch) for stmt in everywhere(loop.body))


def check(seed: int) -> tuple[int, int]:
    """Compare one program; how many loops were cut, and choices made."""
    scatters = seed % 2 == 1
    text = (Scattering if scatters else Writer)(seed).function()
    function = define(text, f"<random stages {seed}>")
    argnums = (0, 2, 3)

    def given(length: int, number: int, parameters: tuple[float, ...]) -> Any:
        args = arguments(seed, length, number, parameters)
        return scattered(args, seed + number) if scatters else args

    plain = cl.value_and_grad(cl.jit(function, optimize=0, cache=False), argnums)
    with counted() as found:
        fast = cl.value_and_grad(cl.jit(function, cache=False), argnums)
        fast(*given(1, 0, PARAMETERS[0]))
    for number, parameters in enumerate(PARAMETERS):
        for length in LENGTHS[number::2]:
            args = given(length, number, parameters)
            compare(text, length, fast(*args), plain(*args))
            if scatters and length > 1:
                args[1][[length // 2, length - 1]] = 50 + length, 60 + length
                assert message(fast, args) == message(plain, args), text
    return found[0], found[1]


def scattered(args: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    """With as many places as elements, all of which are elements of fewer."""
    p, _, a, start = args
    places = np.random.default_rng(seed).integers(0, 4, len(a))
    return p, places, np.resize(a, 4) if len(a) else np.ones(4), start


def message(gradient: Any, args: tuple[Any, ...]) -> str:
    """What the error says that a call ends with."""
    try:
        gradient(*args)
    except IndexError as error:
        return str(error)
    raise AssertionError("no place was out of range")


def arguments(
    seed: int, length: int, number: int, parameters: tuple[float, ...] = PARAMETERS[0]
) -> tuple[Any, ...]:
    a = np.random.default_rng((seed, length, number)).normal(size=length)
    return np.array(parameters), np.array([2, 3]), a, 0.4 - 0.5 * number


def compare(text: str, length: int, found: Any, expected: Any) -> None:
    """Relative to the largest slope: sums are in another order."""
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9, err_msg=text)
    most = max(float(np.max(np.abs(s), initial=0.0)) for s in expected[1])
    for slope, right in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(
            slope,
            right,
            rtol=1e-7,
            atol=1e-9 * (1.0 + most),
            err_msg=f"{length}\n{text}",
        )


def main() -> int:
    """Check many programs; the exit code says whether all agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    cut = chosen = failures = 0
    for seed in range(args.seed, args.seed + args.count):
        try:
            found = check(seed)
        except Exception as error:
            failures += 1
            print(f"seed {seed}: {type(error).__name__}: {error}"[:4000], flush=True)
            continue
        cut, chosen = cut + bool(found[0]), chosen + bool(found[1])
    print(f"{args.count} programs, {cut} cut, {chosen} with choices, {failures} fail")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
