"""`python -m bench recursion [names]`: the price of a recursive function beside loops.

Each kernel is measured as it is, and in a program that calls a small recursive function
as well. Both take turns in one process, on one core, and are to take the same time.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import chadllvm as cl
from bench.measure import interleaved, one_core, seconds
from bench.table import Table, duration, printer, ratio_text

ROUNDS = 21
SAMPLE_SECONDS = 2e-3

Kernel = Callable[[np.ndarray, np.ndarray], float]


@cl.jit
def depth(n: int) -> float:
    """How deep it goes, by calls that do not come last."""
    return 0.0 if n <= 0 else abs(1.0 + depth(n - 1))


def elementary(x: cl.f64[:], c: cl.f64[:]) -> float:
    """A sum of elementary functions."""
    total = 0.0
    for i in range(len(x)):
        total += math.exp(-x[i] * x[i]) * math.sin(c[0] * x[i])
    return total


def horner(x: cl.f64[:], c: cl.f64[:]) -> float:
    """Polynomials of the same coefficients, side by side."""
    total = 0.0
    for i in range(len(x)):
        s = 0.0
        for k in range(len(c)):
            s = s * x[i] + c[k]
        total += s * s
    return total


def stencil(x: cl.f64[:], c: cl.f64[:]) -> float:
    """Steps of a diffusion; ends take another formula."""
    u = x.copy()
    for _ in range(8):
        v = np.zeros(len(x))
        for j in range(len(x)):
            left = u[j - 1] if j > 0 else 0.0
            right = u[j + 1] if j < len(x) - 1 else 0.0
            v[j] = u[j] + c[0] * (left - 2.0 * u[j] + right)
        u = v
    return np.sum(u * u)


def product(x: cl.f64[:], c: cl.f64[:]) -> float:
    """A matrix times a vector, whose columns are the rows of an array."""
    n = len(c)
    m = len(x) // n
    y = np.zeros(m)
    for i in range(m):
        s = 0.0
        for k in range(n):
            s += x[i * n + k] * c[k]
        y[i] = s
    return np.sum(np.tanh(y))


def scan(x: cl.f64[:], c: cl.f64[:]) -> float:
    """Sums on the way, and what is made of them."""
    s, total = 0.0, 0.0
    for i in range(len(x)):
        s += c[0] * x[i]
        total += math.exp(-s * s)
    return total


def reductions(x: cl.f64[:], c: cl.f64[:]) -> float:
    """The logarithm of a sum of exponentials, for each element."""
    total = 0.0
    for i in range(len(x)):
        most = -math.inf
        for k in range(len(c)):
            most = max(most, -((x[i] - c[k]) ** 2))
        s = 0.0
        for k in range(len(c)):
            s += math.exp(-((x[i] - c[k]) ** 2) - most)
        total += most + math.log(s)
    return total


def gather(x: cl.f64[:], c: cl.f64[:]) -> float:
    """Elements that are looked up at other places."""
    n = len(x)
    total = 0.0
    for i in range(n):
        total += x[(7 * i + 3) % n] * x[i] + c[i % len(c)]
    return total


def recurrences(x: cl.f64[:], c: cl.f64[:]) -> float:
    """Two loops whose steps wait for each other, but not for the other loop."""
    s = t = 0.0
    for v in x:
        s = math.tanh(c[0] * s + v)
    for v in x:
        t = math.sin(c[1] * t - v)
    return s * t


KERNELS = (
    elementary, horner, stencil, product, scan, reductions, gather, recurrences,
)  # fmt: skip


def alone(kernel: Kernel, options: cl.CompileOptions | None = None) -> Any:
    """The kernel in a program without recursion, which has the same parameters."""
    inner = cl.jit(kernel)

    def program(x: cl.f64[:], c: cl.f64[:], n: int) -> float:
        return inner(x, c) + 0.0 * n

    return cl.jit(program, options=options or cl.CompileOptions(cache=False))


def beside(kernel: Kernel, options: cl.CompileOptions | None = None) -> Any:
    """The same kernel beside a recursive function."""
    inner = cl.jit(kernel)

    def program(x: cl.f64[:], c: cl.f64[:], n: int) -> float:
        return inner(x, c) + 0.0 * depth(n)

    return cl.jit(program, options=options or cl.CompileOptions(cache=False))


def arguments(size: int) -> tuple[np.ndarray, np.ndarray, int]:
    """An array of this size, eight coefficients, and a depth."""
    rng = np.random.default_rng(size)
    return rng.normal(size=size), rng.uniform(0.1, 0.4, size=8), 3


def ratios(kernel: Kernel, size: int, rounds: int) -> list[tuple[float, float]]:
    """Seconds of value, and of value with gradient: alone, and beside a recursion."""
    args, found = arguments(size), []
    for wrapped in (lambda f: f, lambda f: cl.value_and_grad(f, argnums=(0, 1))):
        runs = {n: wrapped(p(kernel)) for n, p in (("a", alone), ("b", beside))}
        calls = {k: (lambda f=f: f(*args)) for k, f in runs.items()}
        for run in calls.values():
            run()
        count = max(1, round(SAMPLE_SECONDS / seconds(calls["a"])))
        times = interleaved(calls, rounds, count)
        found.append((times["a"], times["b"]))
    return found


def add_command(commands: Any) -> None:
    """Add `recursion` to the command line."""
    parser = commands.add_parser("recursion", help="loops beside a recursive function")
    names = [kernel.__name__ for kernel in KERNELS]
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(names))
    parser.add_argument("--size", type=int, default=20_000, help="elements")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds of runs")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure the kernels, and print their table."""
    kernels = [k for k in KERNELS if not options.names or k.__name__ in options.names]
    rows = []
    for kernel in kernels:
        with one_core():
            found = ratios(kernel, options.size, options.rounds)
        cells = [c for a, b in found for c in (duration(a), ratio_text(b / a))]
        rows.append((kernel.__name__, *cells))
    head = ("kernel", "value", "beside", "with gradient", "beside")
    printer().print(Table("Beside a recursion", head, tuple(rows), words=1).rich())
    return 0
