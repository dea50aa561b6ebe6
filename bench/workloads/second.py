"""Second derivatives: Hessians times a direction, against gradients and against C.

The pendulum is a loop that carries a few numbers, as solvers of differential equations
are; the mixture has arrays of parameters, of which all move. The C kernels are forward
mode over reverse mode as well. How long the mixture's Hessian takes to compile is
measured in new processes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import cffi
import numpy as np

import chadllvm as cl
from bench.kernels import Case, Kernel, check
from bench.measure import fresh, interleaved
from bench.mixtures import Problem, random_problem
from bench.reference.load import build, declarations
from bench.results import Figure
from bench.settings import Settings
from examples.gmm_model import log_posterior

COMPONENTS = 25
TARGET_TO_GRADIENT = 3.0
TARGET_COMPILE = 5.0

_COMPILE = """
import time
import chadllvm as cl
from bench.mixtures import random_problem
from examples.gmm_model import log_posterior
problem = random_problem(4, 2, 3)
second = cl.hessian(log_posterior, 1)
start = time.process_time()
second(*problem.arguments)
print(time.process_time() - start)
"""

Run = Callable[[], Any]


@cl.jit
def pendulum(p: cl.f64[:], n: int) -> float:
    """angle² + speed² of a damped pendulum, by the classical Runge-Kutta method."""
    x, v = p[0], p[1]
    h = 10.0 / n
    for _ in range(n):
        a, b = v, pull(p[2], x, v)
        c, d = v + 0.5 * h * b, pull(p[2], x + 0.5 * h * a, v + 0.5 * h * b)
        e, f = v + 0.5 * h * d, pull(p[2], x + 0.5 * h * c, v + 0.5 * h * d)
        g, k = v + h * f, pull(p[2], x + h * e, v + h * f)
        x += h / 6.0 * (a + 2.0 * c + 2.0 * e + g)
        v += h / 6.0 * (b + 2.0 * d + 2.0 * f + k)
    return x * x + v * v


@cl.jit
def pull(strength: float, x: float, v: float) -> float:
    """The acceleration at an angle and a speed."""
    return -strength * math.sin(x) - 0.1 * v


def measure(settings: Settings) -> Iterator[Figure]:
    """Times and ratios of both programs, and the time to compile a Hessian."""
    libraries = build(settings.build_folder, "second")
    rounds = settings.rounds(15)
    yield from _pendulum(1_000 if settings.quick else 100_000, libraries, rounds)
    for d in (10, 32):
        problem = random_problem(50 if settings.quick else 1000, COMPONENTS, d)
        yield from _mixture(problem, libraries, rounds)
    yield Figure("hessian of the mixture, cold", fresh(_COMPILE), "s", TARGET_COMPILE)


def _pendulum(steps: int, libraries: list[Path], rounds: int) -> Iterator[Figure]:
    p, v = np.array([1.0, 0.5, 2.0]), np.array([0.3, -0.2, 0.5])
    case = Case(pendulum, (p, steps), (0,), ())
    gradient, product = case.gradient(), cl.hvp(pendulum)
    kernels = [Kernel(path, case) for path in libraries]
    runs: dict[str, Run] = {
        "value": lambda: pendulum(p, steps),
        "gradient": lambda: gradient(p, steps),
        "product": lambda: product(p, steps, v),
    }
    for kernel, path in zip(kernels, libraries, strict=True):
        check(case, gradient, kernel)
        c_product, (found,) = _product(path, "pendulum", (p, steps, v), [p])
        c_product()
        np.testing.assert_allclose(product(p, steps, v), found, rtol=1e-6)
        runs[f"C value {kernel.build}"] = kernel.value
        runs[f"C gradient {kernel.build}"] = kernel.value_and_gradient
        runs[f"C product {kernel.build}"] = c_product
    times = interleaved(runs, rounds)
    for what in ("value", "gradient"):
        yield Figure(f"pendulum {what} to C", _to_c(what, times), "x")
    yield from _figures("pendulum", times)


def _mixture(problem: Problem, libraries: list[Path], rounds: int) -> Iterator[Figure]:
    rng = np.random.default_rng(0)
    direction = [rng.normal(size=p.shape) for p in problem.parameters]
    tangents = *direction, None, None, None
    gradient = cl.grad(log_posterior, argnums=(0, 1, 2, 3))
    runs: dict[str, Run] = {
        "gradient": lambda: gradient(*problem.arguments),
        "product": lambda: cl.jvp(gradient, problem.arguments, tangents)[1],
    }
    (n, d), k = problem.x.shape, len(problem.alpha)
    arguments = n, k, d, problem.m, problem.gamma, *problem.arguments[:5], *direction
    for path in libraries:
        run, found = _product(path, "mixture", arguments, problem.parameters)
        run()
        for ours, theirs in zip(runs["product"](), found, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)
        runs[f"C product {path.stem}"] = run
    yield from _figures(f"mixture d={d}", interleaved(runs, rounds))


def _product(
    path: Path, name: str, arguments: tuple[Any, ...], like: Any
) -> tuple[Run, list[Any]]:
    """The C function of a build on these arguments, and the arrays that it fills."""
    ffi = cffi.FFI()
    ffi.cdef(declarations("second"))
    library = ffi.dlopen(str(path))
    found = [np.zeros_like(part) for part in like]
    given = [
        ffi.from_buffer("double[]", a) if isinstance(a, np.ndarray) else a
        for a in (*arguments, *found)
    ]

    def run() -> None:
        if getattr(library, f"{name}_product")(*given) != 0:
            raise MemoryError("the reference kernel found no memory")

    return run, found


def _to_c(what: str, times: Mapping[str, float]) -> float:
    """The time of what we compute, to the least of the C builds."""
    return times[what] / min(t for k, t in times.items() if k.startswith(f"C {what}"))


def _figures(name: str, times: Mapping[str, float]) -> Iterator[Figure]:
    yield Figure(f"{name} gradient", times["gradient"] * 1e3, "ms")
    yield Figure(f"{name} hvp", times["product"] * 1e3, "ms")
    ratio = times["product"] / times["gradient"]
    yield Figure(f"{name} hvp/gradient", ratio, "x", TARGET_TO_GRADIENT)
    yield Figure(f"{name} hvp to C", _to_c("product", times), "x")
