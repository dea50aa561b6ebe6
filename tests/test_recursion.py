"""Recursion in machine code: how deep it may be, and what is left when it ends badly.

What recursive programs give is tested program by program in `test_programs.py`, and
their derivatives in `test_recursive_derivatives.py`.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.runtime import runtime
from chadllvm.frontend import specialise
from chadllvm.ir.types import F64, I64

MEGABYTE = 1 << 20

OPTIONS = {
    "default": cl.CompileOptions(),
    "permanent": cl.CompileOptions(optimize=0),
}


@cl.jit
def chain(x: float, n: int) -> float:
    return x if n == 0 else math.sin(chain(x, n - 1)) + x


@cl.jit
def count(n: int) -> int:
    return 0 if n == 0 else abs(1 + count(n - 1))


@cl.jit
def halves(x: cl.f64[:], low: int, high: int) -> float:
    if high - low == 1:
        return x[low] * x[low]
    middle = (low + high) // 2
    return halves(x, low, middle) + halves(x, middle, high)


@cl.jit
def endless(x: float, n: int) -> float:
    return x if n < 0 else math.sin(endless(x, n + 1)) + x


@cl.jit
def for_ever(x: float, n: int) -> float:
    """The depth is at most fifty, the number of calls has no end."""
    if n == 50:
        return x
    return for_ever(x, n + 1) + for_ever(x, n + 1)


@cl.jit
def deep_rows(x: cl.f64[:], n: int) -> cl.f64[:]:
    return x * 2.0 if n == 0 else deep_rows(x + 1.0, n - 1) * 0.5


def with_options(function: Any, name: str) -> Any:
    return cl.jit(function.py_func, options=OPTIONS[name])


def chained(x: float, n: int) -> tuple[float, float]:
    """What `chain` gives, and its slope."""
    value, slope = x, 1.0
    for _ in range(n):
        value, slope = math.sin(value) + x, math.cos(value) * slope + 1.0
    return value, slope


# ---- depth


@pytest.mark.parametrize("name", OPTIONS)
def test_a_chain_of_a_hundred_thousand_calls(name: str) -> None:
    run = with_options(chain, name)
    value, slope = chained(0.7, 100_000)
    assert run(0.7, 100_000) == pytest.approx(value, rel=1e-12)
    found = cl.value_and_grad(run)(0.7, 100_000)
    assert found == pytest.approx((value, slope), rel=1e-12)
    moved = cl.jvp(run, (0.7, 100_000), (1.0, 0))
    assert moved == pytest.approx((value, slope), rel=1e-12)


def test_a_chain_of_a_million_calls() -> None:
    assert count(1_000_000) == 1_000_000


@pytest.mark.parametrize("name", OPTIONS)
def test_a_balanced_recursion_of_a_million_calls(name: str) -> None:
    x = np.linspace(-1.0, 1.0, 1 << 19)
    run = with_options(halves, name)
    assert run(x, 0, len(x)) == pytest.approx(np.sum(x * x), rel=1e-12)
    gradient = cl.grad(run)(x, 0, len(x))
    np.testing.assert_allclose(gradient, 2.0 * x, rtol=1e-14)


def derivatives(function: Any) -> list[Callable[..., Any]]:
    """The function of x and n, its gradient, and its tangent."""
    return [
        function,
        cl.grad(function),
        lambda x, n: cl.jvp(function, (x, n), (1.0, 0)),
    ]


@pytest.mark.parametrize("way", [0, 2])
def test_too_deep_is_an_error_and_the_next_call_works(way: int) -> None:
    run = derivatives(endless)[way]
    expected = run(0.3, -1)
    with pytest.raises(RecursionError, match="endless: too many nested calls"):
        run(0.3, 0)
    assert run(0.3, -1) == expected
    assert count(1000) == 1000
    assert memory_in_use() == 0


LITTLE_MEMORY = """
import resource
import sys
from typing import NamedTuple
import chadllvm as cl

compiled = cl.jit(optimize=int(sys.argv[1]))

@compiled
def tail(x: float) -> float:
    return tail(x * 0.5)

@compiled
def there(x: float) -> float:
    unused = tail(x)
    return back(x + 1.0)

@compiled
def back(x: float) -> float:
    return there(x * 0.5)

class Node(NamedTuple):
    value: float
    rest: "Node | None"

@compiled
def nodes(x: float, n: int) -> float:
    node: Node | None = None
    k = 0
    while k < n:
        node = Node(x * k, node)
        k += 1
    return 0.0 if node is None else node.value

def raises(kind, run, *args):
    try:
        run(*args)
    except kind:
        return
    raise AssertionError(f"{run} does not raise {kind}")

nodes(0.1, 10)
with open("/proc/self/statm") as statm:
    space = int(statm.read().split()[0]) * resource.getpagesize() + (300 << 20)
resource.setrlimit(resource.RLIMIT_AS, (space, space))
raises(RecursionError, tail, 1.0)
raises(RecursionError, cl.jvp, tail, (1.0,), (1.0,))
raises(RecursionError, cl.value_and_grad(there), 1.0)
raises(MemoryError, cl.grad(nodes), 0.1, 10**9)
assert nodes(2.0, 10) == 18.0
"""


@pytest.mark.parametrize("level", ["2", "0"])
def test_what_has_no_end_raises_before_memory_is_used_up(
    tmp_path: Any, level: str
) -> None:
    """Also where nothing is left to do after a call, and no path returns."""
    program = tmp_path / "little_memory.py"
    program.write_text(LITTLE_MEMORY)
    subprocess.run([sys.executable, program, level], check=True, timeout=120)


@contextmanager
def memory_limit(limit: int) -> Iterator[None]:
    """The contexts may hold no more than this."""
    lib = runtime().lib
    count(0)
    (context, *_) = runtime().pool[-1]
    lib.chad_set_memory_limit(context, limit)
    try:
        yield
    finally:
        lib.chad_set_memory_limit(context, -1)


def memory_in_use() -> int:
    return int(runtime().lib.chad_memory_used(runtime().pool[-1][0]))


@pytest.mark.parametrize("name", OPTIONS)
def test_a_tape_beyond_the_limit_is_out_of_memory(name: str) -> None:
    gradient = cl.grad(with_options(chain, name))
    with memory_limit(4 * MEGABYTE):
        with pytest.raises(MemoryError):
            gradient(0.7, 1_000_000)
        assert memory_in_use() == 0
        assert gradient(0.7, 100) == pytest.approx(chained(0.7, 100)[1])


@pytest.mark.parametrize("name", OPTIONS)
def test_calls_leave_no_memory_in_use(name: str) -> None:
    run = with_options(deep_rows, name)
    x = np.linspace(0.0, 1.0, 1000)
    for n in (0, 1, 200):
        run(x, n)
        assert memory_in_use() == 0
        cl.vjp(run, x, n)
        assert memory_in_use() == 0


@cl.jit(cache=False)
def settings(s: cl.i64[:], k: int, w: cl.f64[:]) -> float:
    """Two calls with one array, which is written to between them."""
    if k == len(s):
        return sum(w[s[i]] * math.sin(i + w[s[i]]) for i in range(len(s)))
    own = s.copy()
    own[k] = 1
    first = settings(own, k + 1, w)
    own[k] = 2
    second = settings(own, k + 1, w)
    return 3.0 * first + math.sin(second)


@cl.jit(cache=False)
def all_settings(s: cl.i64[:], w: cl.f64[:]) -> float:
    return settings(s, 0, w)


def test_a_call_sees_what_is_written_in_front_of_it() -> None:
    args = np.zeros(4, int), np.array([0.1, 0.5, 0.9])
    plain = cl.jit(optimize=0, cache=False)(all_settings.py_func)
    assert all_settings(*args) == pytest.approx(plain(*args), rel=1e-12)
    value, slope = cl.value_and_grad(all_settings, argnums=1)(*args)
    wanted, other = cl.value_and_grad(plain, argnums=1)(*args)
    assert value == pytest.approx(wanted, rel=1e-12)
    np.testing.assert_allclose(slope, other, rtol=1e-12)


def test_arrays_of_calls_that_are_over_are_given_back() -> None:
    """Of 2^13 calls, of which 14 are under way at once, each makes an array."""

    @cl.jit
    def many(x: cl.f64[:], n: int) -> float:
        y = np.sin(x + n)
        if n == 0:
            return y[-1]
        return many(y, n - 1) + many(x, n - 1)

    x = np.linspace(0.0, 1.0, 4096)
    many(x, 2)
    lib, context = runtime().lib, runtime().pool[-1][0]
    lib.chad_memory_reset_peak(context)
    many(x, 12)
    assert lib.chad_memory_peak(context) < 4 * MEGABYTE


# ---- threads and processes


@pytest.mark.parametrize("name", OPTIONS)
def test_many_threads_at_once(name: str) -> None:
    run = with_options(chain, name)
    gradient = cl.grad(run)
    expected = [chained(0.1 * k, 20_000) for k in range(8)]
    found: dict[int, Any] = {}

    def work(k: int) -> None:
        pairs = {(run(0.1 * k, 20_000), gradient(0.1 * k, 20_000)) for _ in range(3)}
        (found[k],) = pairs

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, pair in enumerate(expected):
        assert found[k] == pytest.approx(pair, rel=1e-12)


def test_a_hundred_thousand_calls_in_a_thread_of_little_stack() -> None:
    found: list[Any] = []
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(count(100_000)))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert found == [100_000]


def test_threads_give_their_stacks_back() -> None:
    def mapped() -> int:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")

    def turn() -> None:
        thread = threading.Thread(target=count, args=(10_000,))
        thread.start()
        thread.join()

    turn()
    before = mapped()
    for _ in range(20):
        turn()
    # A thread gives its stack back when it ends, which is a little after its join.
    deadline = time.monotonic() + 10.0
    while mapped() - before >= 1 << 30 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert mapped() - before < 1 << 30


IN_A_CHILD = """
import os
import sys
import chadllvm as cl

@cl.jit
def count(n: int) -> int:
    return 0 if n == 0 else abs(1 + count(n - 1))

assert count(50_000) == 50_000
child = os.fork()
if child == 0:
    os._exit(0 if count(60_000) == 60_000 else 1)
_, status = os.waitpid(child, 0)
assert count(70_000) == 70_000
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_of_a_process_recurses_too(tmp_path: Any) -> None:
    program = tmp_path / "forks.py"
    program.write_text(IN_A_CHILD)
    subprocess.run([sys.executable, program], check=True, timeout=120)


# ---- interrupts


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("way", range(3))
def test_an_endless_recursion_is_interrupted(name: str, way: int) -> None:
    run = derivatives(with_options(for_ever, name))[way]
    run(1.0, 49)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        run(1.0, 0)
    timer.join()
    assert time.perf_counter() - start < 2.0
    assert memory_in_use() == 0
    run(1.0, 45)


def test_a_signal_may_call_programs() -> None:
    """One that recurses is refused there, for the stack is taken; others run."""
    seen: list[Any] = []

    @cl.jit
    def plain(x: float) -> float:
        return 2.0 * x

    plain(1.0)
    for_ever(1.0, 49)

    def handler(*_: Any) -> None:
        seen.append(plain(4.0))
        with pytest.raises(RecursionError):
            count(3)
        raise TimeoutError

    before = signal.signal(signal.SIGUSR1, handler)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        timer.start()
        with pytest.raises(TimeoutError):
            for_ever(1.0, 0)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    assert seen == [8.0]
    assert count(3) == 3


# ---- failures


@cl.jit
def index_fails(a: cl.f64[:], x: float, k: int) -> float:
    e = a[k] * x  # here
    return e + index_fails(a, x * e, k + 1)


@cl.jit
def division_fails(a: cl.f64[:], x: float, k: int) -> float:
    if k == -1:
        return x
    y = x + 6 // k  # here
    return division_fails(a, y, k - 1) * y


@cl.jit
def assertion_fails(a: cl.f64[:], x: float, k: int) -> float:
    assert k < 5, "too far"  # here
    return np.sum(a) * assertion_fails(a, x, k + 1)


@cl.jit
def fails_in_another(a: cl.f64[:], x: float, k: int) -> float:
    return other(a, x, k + 1) * x


@cl.jit
def other(a, x, k):
    rows = [a[j] * x for j in range(k)]  # here
    return fails_in_another(a, np.sum(np.array(rows)), k)


@cl.jit
def fails_on_the_way_back(a: cl.f64[:], x: float, k: int) -> float:
    if k == 3:
        return x
    y = fails_on_the_way_back(a, x * 0.5, k + 1)
    return y * a[3 - k]  # here


FAILING: list[tuple[Any, type[Exception]]] = [
    (index_fails, IndexError),
    (division_fails, ZeroDivisionError),
    (assertion_fails, AssertionError),
    (fails_in_another, IndexError),
    (fails_on_the_way_back, IndexError),
]


def line_of_failure(function: Any) -> int:
    """The line that says `# here`, of the function or of what stands behind it."""
    with open(__file__) as source:
        lines = source.read().splitlines()
    start = function.py_func.__code__.co_firstlineno
    return next(k for k in range(start, len(lines)) if "# here" in lines[k - 1])


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("way", ["value", "gradient", "tangent"])
@pytest.mark.parametrize("function, kind", FAILING)
def test_a_failure_is_pythons_at_its_line(
    function: Any, kind: type[Exception], way: str, name: str
) -> None:
    a = np.array([1.0, 2.0, 3.0])
    args = (a, 1.5, 2 if function is division_fails else 0)
    compiled = with_options(function, name)
    ways: dict[str, Callable[[], Any]] = {
        "value": lambda: compiled(*args),
        "gradient": lambda: cl.grad(compiled, argnums=(0, 1))(*args),
        "tangent": lambda: cl.jvp(compiled, args, (a, 1.0, 0)),
    }
    with pytest.raises(kind) as plain:
        function.py_func(*args)
    with pytest.raises(kind) as found:
        ways[way]()
    if kind is AssertionError:  # The words are the user's.
        assert str(found.value) == str(plain.value)
    else:
        assert f"({__file__}:{line_of_failure(function)}, in " in str(found.value)
    assert memory_in_use() == 0


@cl.jit(cache=False)
def up(x: float, n: int) -> float:
    return x if n <= 0 else 2.0 * down(x, n - 1)


@cl.jit(cache=False)
def down(x: float, n: int) -> float:
    return x + 1.0 if n <= 0 else 0.5 * up(x, n - 1)


def test_mutual_recursion_with_other_options() -> None:
    """Functions that call each other are there once, with whichever options."""
    for optimize in (0, 2):
        other = cl.jit(up.py_func, optimize=optimize, cache=False)
        assert [other(3.0, n) for n in range(4)] == [3.0, 8.0, 3.0, 8.0]
        assert cl.grad(other)(3.0, 5) == 2.0
        functions = specialise(other.frozen_function, [F64, I64]).functions
        assert [f.name for f in functions] == ["down", "up"]
