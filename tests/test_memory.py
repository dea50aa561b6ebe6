"""Memory: calls leave nothing behind, and loops keep only what they need."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.runtime import runtime
from tests.sweep import marks

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/statm"), reason="/proc tells the memory in use"
)

MEGABYTE = 1 << 20


def resident() -> int:
    """The bytes of memory that this process has now."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_of_call() -> int:
    """The most bytes that the context used last has held since it was asked last."""
    context, lib = runtime().pool[-1][0], runtime().lib
    assert lib.chad_memory_used(context) == 0
    peak = int(lib.chad_memory_peak(context))
    lib.chad_memory_reset_peak(context)
    return peak


@cl.jit
def scalar(x: float) -> float:
    return x * x + math.sin(x)


@cl.jit
def arrays(a: cl.f64[:], k: int) -> float:
    squares = [v * v for v in a]
    total = 0.0
    for i in range(k):
        total = total + squares[i] * a[i]
    return total


@cl.jit
def results(a: cl.f64[:], k: int):
    return a[k], ([v * 2.0 for v in a], [[v * w for v in a] for w in a])


def untyped_source(x, k):
    return x * k


untyped = cl.jit(untyped_source)


@cl.jit(debug=True)
def debugged(a: cl.f64[:], k: int) -> float:
    squares = [v * v for v in a]
    return sum(squares) * (k + 2**63 - 1)


def watched(run: Callable[..., Any], *args: Any) -> None:
    with cl.debug_nans():
        run(*args)


A = np.arange(50.0)
INFINITE = np.where(A % 2 == 0.0, math.inf, -math.inf)

CALLS: dict[str, Callable[[int], Any]] = {
    "scalar": lambda k: scalar(1.5),
    "scalar gradient": lambda k, run=cl.grad(scalar): run(1.5),
    "arrays": lambda k: arrays(A, 50),
    "arrays gradient": lambda k, run=cl.value_and_grad(arrays): run(A, 50),
    "results": lambda k: results(A, 3),
    "results gradient": (lambda k, run=cl.grad(results, has_aux=True): run(A, 3)),
    "converted": lambda k: arrays(A[::-1], np.int64(7)),
    "no annotation": lambda k: untyped(1.5, k),
    "wrong type": lambda k: arrays([1.0], 3),
    "wrong type of scalar": lambda k: arrays(A, "3"),
    "out of range": lambda k: results(A, 50 + k),
    "overflow in debug mode": lambda k: debugged(A, 1 + k),
    "overflow in a gradient": lambda k, run=cl.grad(debugged): run(A, 1 + k),
    "a NaN is made": lambda k: watched(arrays, INFINITE, 50),
    "a NaN in a gradient": lambda k, run=cl.value_and_grad(arrays): watched(
        run, INFINITE, 9
    ),
    "out of range gradient": lambda k, run=cl.grad(arrays): run(A, 51 + k),
}


@pytest.mark.sweep
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=marks(kind, 4, "calls")) for kind in CALLS]
)
def test_many_calls_leave_nothing_behind(kind: str) -> None:
    call = CALLS[kind]

    def calls(count: int) -> None:
        for k in range(count):
            try:
                call(k)
            except (TypeError, IndexError, ArithmeticError):
                continue

    calls(1000)
    gc.collect()
    before = resident()
    calls(10_000)
    gc.collect()
    # A leak of as little as 200 bytes for a call would be more than this.
    assert resident() - before < 2 * MEGABYTE
    assert len(runtime().pool) < 100


@cl.jit
def oscillate(x: float, v: float, steps: int) -> float:
    for _ in range(steps):
        v = v - 1e-7 * x
        x = x + 1e-7 * v
    return x


def test_a_loop_over_scalars_uses_no_memory() -> None:
    oscillate(1.0, 0.0, 10)
    peak_of_call()
    before = resident()
    oscillate(1.0, 0.0, 10**7)
    assert peak_of_call() < 4096
    assert resident() - before < MEGABYTE


@cl.jit
def diffuse(a: cl.f64[:], steps: int):
    n = len(a)
    for _ in range(steps):
        a = [0.5 * a[i] + 0.25 * (a[i - 1] + a[(i + 1) % n]) for i in range(n)]
    return a


@cl.jit
def rotate(a: cl.f64[:], b: cl.f64[:], steps: int) -> float:
    for i in range(steps):
        if i % 3 == 0:
            a, b = b, [v * 0.5 for v in a]
        else:
            b = [v + a[0] for v in b]
    return a[0] + b[1]


@pytest.mark.parametrize("run", [diffuse, rotate], ids=lambda run: run.__name__)
def test_a_loop_over_arrays_keeps_a_few_of_them(run: Any) -> None:
    a = np.ones(100)
    args = (a,) if run is diffuse else (a, a)
    peaks = []
    for steps in (10, 10**5):
        run(*args, steps)
        peak_of_call()
        run(*args, steps)
        peaks.append(peak_of_call())
    assert peaks[0] == peaks[1] < 20 * 8 * 100


@cl.jit
def walk(x: float, steps: int) -> float:
    for i in range(steps):
        x = x + math.sin(x * i)
    return x


def test_a_gradient_keeps_one_state_for_each_step() -> None:
    gradient = cl.grad(walk)
    gradient(0.5, 10)
    peak_of_call()
    gradient(0.5, 10**6)
    assert peak_of_call() < 3 * 8 * 10**6


@cl.jit
def cooled(a: cl.f64[:], steps: int) -> float:
    for _ in range(steps):
        a = np.sin(a)
    return np.sum(a)


@cl.jit
def cooled_by_parts(a: cl.f64[:], steps: int) -> float:
    for _ in range(steps):
        b, x = np.zeros(len(a)), 0.5
        for i in range(len(a)):
            x = math.sin(x + a[i])
            b[i] = x
        a = b
    return np.sum(a)


@pytest.mark.parametrize(
    ("run", "kept"), [(cooled, 1), (cooled_by_parts, 2)], ids=["whole", "by parts"]
)
def test_arrays_of_one_shape_are_kept_side_by_side(run: Any, kept: int) -> None:
    """No more than their elements: few, here, so that anything else would show."""
    gradient = cl.grad(run)
    a = np.ones(5)
    gradient(a, 10**4)
    peak_of_call()
    gradient(a, 10**4)
    assert peak_of_call() < 1.1 * kept * a.nbytes * 10**4


@cl.jit
def nearest(x: cl.f64[:]) -> float:
    n = len(x)
    pairs = sum(1 for i in range(n) for j in range(i) if x[i] > x[j])
    return pairs * min(abs(x[i] - x[j]) for i in range(n) for j in range(i))


@pytest.mark.parametrize("run", [nearest, cl.value_and_grad(nearest)])
def test_a_generator_makes_no_list(run: Any) -> None:
    """Over a million pairs are looked at, and no more is kept than the gradient."""
    x = np.random.default_rng(0).normal(size=1500)
    run(x[:3])
    peak_of_call()
    run(x)
    assert peak_of_call() < 2 * 8 * 1500


def test_functions_are_freed_with_their_code() -> None:
    def fresh(k: int) -> Any:
        @cl.jit
        def f(x: float) -> float:
            return math.exp(x * k)

        return f

    function = fresh(1)
    function(0.5)
    (version,) = function._versions.values()
    code = weakref.ref(version.native.code)
    del version
    function(0.25)
    del function
    gc.collect()
    assert code() is None


GROWTH = """
import gc, math, os
import chadllvm as cl

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def compile_and_drop(k):
    @cl.jit
    def f(x: float) -> float:
        return math.exp(x * k)
    f(0.5)

for k in range(10):
    compile_and_drop(k)
gc.collect()
before = resident()
for k in range(30):
    compile_and_drop(k)
gc.collect()
print((resident() - before) // 30)
"""


def test_compiling_again_and_again_grows_little(tmp_path: Path) -> None:
    path = tmp_path / "growth.py"
    path.write_text(GROWTH)
    found = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, timeout=100, check=True
    )
    # LLVM's pass managers cannot be freed; our own objects and the code are.
    assert int(found.stdout) < 400_000


LIFTED = """
import math, resource, sys
import chadllvm as cl

@cl.jit
def grown(x: float, n: int) -> float:
    a = [x]
    for i in range(n):
        a.append(a[-1] * 0.5 + x)
    return a[-1]

@cl.jit
def summed(x: float, n: int) -> float:
    a = [math.exp(x * i / n) for i in range(n)]
    b = [math.exp(v * v) for v in a]
    return sum(b) + b[n // 2] * a[n // 3]

run = cl.grad({"grown": grown, "summed": summed}[sys.argv[1]])
run(0.5, 10)
with open("/proc/self/statm") as statm:
    space = int(statm.read().split()[0]) * resource.getpagesize() + (100 << 20)
before = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (space, before[1]))
try:
    run(0.5, 20_000_000)
except MemoryError:
    resource.setrlimit(resource.RLIMIT_AS, before)
    run(0.5, 20_000_000)
else:
    raise AssertionError("there was no limit")
"""


@pytest.mark.parametrize("program", ["grown", "summed"])
def test_a_limit_that_is_lifted_counts_at_the_next_call(
    tmp_path: Path, program: str
) -> None:
    path = tmp_path / "lifted.py"
    path.write_text(LIFTED)
    subprocess.run([sys.executable, path, program], check=True, timeout=100)
