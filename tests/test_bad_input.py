"""Bad input: it works, or an exception names what is wrong and the process goes on."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

HERE = re.escape(__file__)
A = np.array([1.0, 2.0, 3.0])


def ways(function: Any) -> list[Callable[..., Any]]:
    """Value and gradient: fast, without speculation, and in the permanent mode."""
    checked = cl.jit(function.py_func, options=cl.CompileOptions(speculate=False))
    all_ways = function, checked, cl.jit(function.py_func, optimize=0)
    return [*all_ways, *map(cl.grad, all_ways), *map(cl.value_and_grad, all_ways)]


def line_of(function: Any, text: str) -> int:
    """The line of this file where a function has this text."""
    lines = function.show("source").splitlines()
    (found,) = (k for k, line in enumerate(lines) if text in line)
    return int(function.py_func.__code__.co_firstlineno + found)


def check_failure(
    function: Any, args: tuple[Any, ...], error: type[Exception], line: str, text: str
) -> None:
    """Every way to call raises the error at that line."""
    for run in ways(function):
        for _ in range(2):
            with pytest.raises(error) as caught:
                run(*args)
            place = f"{__file__}:{line_of(function, line)}"
            assert text in str(caught.value) and place in str(caught.value)
            assert line in "\n".join(caught.value.__notes__)


# ---- arguments


@cl.jit
def dot(x: cl.f64[:], y: cl.f64[:], scale: float = 1.0) -> float:
    return scale * sum(x[i] * y[i] for i in range(len(x)))


@cl.jit
def norm(m: cl.f64[:, :]) -> float:
    n, k = m.shape
    return sum(sum(m[i, j] * m[i, j] for j in range(k)) for i in range(n))


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize(
    ("value", "error"),
    [
        ([1.0, "2.0", 3.0], TypeError),
        ([1.0, 2.0, None], TypeError),
        ([1.0, 2.0, 3j], TypeError),
        ([[1.0], [2.0, 3.0]], TypeError),
        ([[1.0, 2.0, 3.0]], ValueError),
        ([1.0, 2.0, 3.0], None),
        ((1.0, 2.0, 3.0), TypeError),
        (None, TypeError),
        ("abc", TypeError),
        (b"abc", TypeError),
        (1.0, TypeError),
        (1j, TypeError),
        (A.astype(np.float32), TypeError),
        (A.astype(np.int64), None),
        (A.astype(complex), TypeError),
        (A.astype(object), TypeError),
        (A.astype(bool), None),
        (A.astype(str), TypeError),
        (A.astype("M8[s]"), TypeError),
        (np.ma.masked_array(A, [0, 1, 0]), TypeError),
        (np.zeros(3, [("x", np.float64)]), TypeError),
        (A.reshape(1, 3), ValueError),
        (np.array(1.0), ValueError),
        (range(3), None),
        ({1.0: 2.0}, TypeError),
        (A, None),
    ],
    ids=repr,
)
def test_what_is_no_array_of_floats(value: Any, error: type[Exception] | None) -> None:
    for run in ways(dot):
        if error is None:
            run(A, value)
            continue
        with pytest.raises(error, match=r"dot.*parameter y "):
            run(A, value)
        run(A, A)


@pytest.mark.parametrize("value", ["1", None, 1j, [1.0], A, (1.0,), A[:1]], ids=repr)
def test_what_is_no_float(value: Any) -> None:
    for run in ways(dot):
        with pytest.raises(TypeError, match=r"dot.*parameter scale "):
            run(A, A, value)
        with pytest.raises(TypeError, match=r"dot.*parameter scale "):
            run(A, A, scale=value)


@pytest.mark.parametrize("value", ["1", 1j, [1.0], {1: 2}, object(), A * 1j])
def test_what_has_no_type(value: Any) -> None:
    @cl.jit
    def f(x):
        return x * 1.0

    for run in ways(f):
        with pytest.raises(TypeError, match=r"f: parameter x (must be|is a)"):
            run(value)
        assert run(2.0) is not None


def test_none_is_no_number() -> None:
    """It has a type, which the function finds nothing to do with."""

    @cl.jit
    def f(x):
        return x * 1.0

    for run in ways(f):
        with pytest.raises(cl.CompileError, match="takes numbers, found None"):
            run(None)
        assert run(2.0) is not None


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "fortran": np.asfortranarray,
    "strided": lambda m: np.repeat(m, 2, 1)[:, ::2],
    "reversed": lambda m: m[::-1, ::-1].copy()[::-1, ::-1],
    "transposed": lambda m: m.T.copy().T,
    "broadcast": lambda m: np.broadcast_to(m[0], m.shape),
    "big-endian": lambda m: m.astype(">f8"),
    "read-only": lambda m: np.frombuffer(m.tobytes()).reshape(m.shape),
    "unaligned": lambda m: np.frombuffer(b"0" + m.tobytes(), "f8", offset=1).reshape(
        m.shape
    ),
    "matrix subclass": lambda m: m.view(np.recarray),
    "memory map": lambda m: m.view(np.memmap),
    "dtype copied": lambda m: m.view(np.dtype("f8", False, True)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout_of_an_array_works(layout: str) -> None:
    plain = np.arange(12.0).reshape(3, 4)
    given = LAYOUTS[layout](plain)
    plain = np.array(given, np.float64)
    before = given.tobytes()
    value, gradient = cl.value_and_grad(norm)(given)
    assert value == norm(given) == (plain**2).sum()
    assert type(gradient) is np.ndarray and gradient.dtype == np.float64
    assert (gradient == 2 * plain).all() and gradient.flags.c_contiguous
    assert given.tobytes() == before


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_arrays_of_length_zero(shape: tuple[int, int]) -> None:
    value, gradient = cl.value_and_grad(norm)(np.zeros(shape))
    assert value == 0.0 and gradient.shape == shape
    assert cl.grad(dot, (0, 1))(np.zeros(0), np.zeros(0))[1].shape == (0,)


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
def test_special_floats_are_data(special: float) -> None:
    data = np.array([1.0, special])
    weights = np.array([2.0, 3.0])
    assert str(dot(data, weights)) == str(2.0 + 3.0 * special)
    x_ct, y_ct = cl.grad(dot, (0, 1))(data, weights)
    assert x_ct.tolist() == [2.0, 3.0]
    np.testing.assert_equal(y_ct, data)
    np.testing.assert_equal(cl.grad(dot)(data, weights, special), special * weights)


# ---- failures of the program


@cl.jit
def pick(a: cl.f64[:], k: int) -> float:
    first = a[0] * 2.0
    return first + a[k]


@pytest.mark.parametrize("index", [3, -4, 2**62, -(2**63)])
def test_an_index_out_of_range(index: int) -> None:
    check_failure(pick, (A, index), IndexError, "a[k]", str(index))
    assert pick(A, -1) == 5.0


def test_an_index_into_nothing() -> None:
    check_failure(pick, (np.zeros(0), 0), IndexError, "a[0]", "0")


def test_arrays_of_different_lengths() -> None:
    check_failure(dot, (A, A[:2]), IndexError, "sum(", "2")
    assert dot(A[:2], A) == 5.0


@cl.jit
def product(m: cl.f64[:, :], n: cl.f64[:, :]) -> float:
    p = [
        [sum(m[i, k] * n[k, j] for k in range(m.shape[1])) for j in range(n.shape[1])]
        for i in range(m.shape[0])
    ]
    return sum(sum(row) for row in p)


def test_inner_dimensions_that_differ() -> None:
    check_failure(
        product, (np.ones((2, 3)), np.ones((2, 4))), IndexError, "n[k, j]", "2"
    )
    assert product(np.ones((2, 3)), np.ones((3, 4))) == 24.0
    assert product(np.ones((0, 3)), np.ones((2, 4))) == 0.0


@cl.jit
def two_loops(a: cl.f64[:], n: int, m: int, d: int) -> float:
    total = 0.0
    for i in range(n):
        total = total + a[i]
        total = total * (10 // d)
    for j in range(m):
        total = total - a[j] * a[j + 1]
    return total


def test_the_first_error_in_program_order_is_raised() -> None:
    check_failure(two_loops, (A, 4, 3, 1), IndexError, "total + a[i]", "3")
    check_failure(two_loops, (A, 3, 3, 1), IndexError, "a[j + 1]", "3")
    check_failure(two_loops, (A, 4, 9, 0), ZeroDivisionError, "10 // d", "")
    check_failure(two_loops, (A, 0, 9, 0), IndexError, "a[j + 1]", "3")
    assert two_loops(A, 0, 0, 0) == 0.0
    assert two_loops(A, 3, 2, 10) == -2.0


@cl.jit
def guarded(a: cl.f64[:], k: int) -> float:
    return a[k] if k >= 0 and k < len(a) else 0.0


def test_a_branch_not_taken_does_not_fail() -> None:
    for k in (-1, 3, 10**18):
        assert guarded(A, k) == 0.0
        assert cl.grad(guarded)(A, k).tolist() == [0.0, 0.0, 0.0]
    assert cl.grad(guarded)(A, 1).tolist() == [0.0, 1.0, 0.0]


@cl.jit
def gather(a: cl.f64[:], where: cl.i64[:]) -> float:
    return sum(a[k] * a[k] for k in where)


def test_data_that_are_indices() -> None:
    assert gather(A, np.array([0, -1, 1])) == 14.0
    assert cl.grad(gather)(A, np.array([0, -1, -1])).tolist() == [2.0, 0.0, 12.0]
    check_failure(gather, (A, np.array([0, 5, 7])), IndexError, "a[k]", "5")


@cl.jit
def integers(x: float, n: int, m: int) -> float:
    q = n // m
    return x * q + n % m


def test_division_by_zero() -> None:
    check_failure(integers, (1.0, 5, 0), ZeroDivisionError, "n // m", "zero")
    assert integers(1.0, -(2**63), -1) == -(2.0**63)
    assert cl.grad(integers)(1.0, -7, 2) == -4.0

    @cl.jit
    def floats(x: float, y: float) -> float:
        return x / y

    assert floats(1.0, 0.0) == math.inf
    assert cl.grad(floats)(1.0, 0.0) == math.inf


@cl.jit
def smallest(a: cl.f64[:], n: int) -> float:
    head = [a[i] for i in range(n)]
    return min(head)


def test_the_least_of_nothing() -> None:
    check_failure(smallest, (A, 0), ValueError, "min(head)", "empty")
    check_failure(smallest, (A, -3), ValueError, "min(head)", "empty")
    assert smallest(A, 2) == 1.0


@cl.jit
def ragged(x: float, a: cl.f64[:], n: int) -> float:
    rows = [a if i else a[1:] for i in range(n)]
    return sum(np.sum(row) for row in rows) * x


def test_rows_of_different_lengths() -> None:
    check_failure(ragged, (1.0, A, 3), ValueError, "rows = [", "")
    assert ragged(1.0, A[:1], 1) == 0.0
    assert cl.grad(ragged)(1.0, A, 0) == 0.0


def test_ranges_of_nothing_and_overflow() -> None:
    @cl.jit
    def f(x: float, n: int) -> float:
        y = x
        for i in range(n):
            y = y * i
        return y + len([0.0 for _ in range(n)]) + sum(x for _ in range(5, n))

    for n in (0, -1, -(2**62)):
        assert f(2.0, n) == 2.0
        assert cl.grad(f)(2.0, n) == 1.0

    @cl.jit
    def wrap(x: float, n: int) -> float:
        return x * (n * n + n - 1)

    assert wrap(1.0, 2**32) == 2.0**32 - 1
    assert cl.grad(wrap)(1.0, 2**63 - 1) == 2.0**63


@cl.jit
def huge(x: float, n: int):
    many = [x * i for i in range(n)]
    return many[n // 2], many


@cl.jit
def huge_square(x: float, n: int):
    many = [[x * i * j for j in range(n)] for i in range(n)]
    return many[n // 2, n // 3], many


@cl.jit
def huge_state(x: float, n: int) -> float:
    many = [x * i for i in range(n)]
    for _ in range(3):
        many = [math.sin(v) + many[0] for v in many]
    return many[n // 2]


@pytest.mark.parametrize("size", [10**15, 2**62, 2**63 - 1])
def test_more_than_any_memory(size: int) -> None:
    for function in (huge, huge_square):
        for run in (function, cl.grad(function, has_aux=True)):
            with pytest.raises(MemoryError, match="huge"):
                run(1.0, size)
            assert run(1.0, 3)
    for run in ways(huge_state):
        with pytest.raises(MemoryError, match="huge_state"):
            run(1.0, size)
        run(1.0, 3)


def test_a_square_beyond_any_memory() -> None:
    with pytest.raises(MemoryError, match="huge_square"):
        huge_square(1.0, 10**9)
    assert huge_square(1.0, 2)[0] == 0.0


@cl.jit
def power(x: float, n: int, m: int) -> float:
    return x**n * m**n


def test_powers() -> None:
    check_failure(power, (2.0, -1, 2), ValueError, "m**n", "")
    assert power(0.0, 0, 0) == 1.0
    assert cl.grad(power)(0.0, 0, 2) == 0.0
    assert cl.grad(power)(0.0, 1, 2) == 2.0


@cl.jit
def truncated(x: float, a: cl.f64[:]) -> float:
    return a[int(x)] * x


def test_floats_that_are_no_integers() -> None:
    check_failure(truncated, (math.nan, A), ValueError, "int(x)", "")
    check_failure(truncated, (math.inf, A), OverflowError, "int(x)", "")
    check_failure(truncated, (1e300, A), OverflowError, "int(x)", "")
    check_failure(truncated, (7.5, A), IndexError, "a[int(x)]", "7")
    assert truncated(-1.5, A) == -4.5


@cl.jit
def helper(a: cl.f64[:], k: int) -> float:
    return a[k]


@cl.jit
def caller(a: cl.f64[:], k: int) -> float:
    return helper(a, k) + helper(a, k + 1)


def test_a_failure_in_a_callee_names_the_callee() -> None:
    for run in ways(caller):
        with pytest.raises(IndexError, match="helper") as caught:
            run(A, 2)
        assert f"{__file__}:{line_of(helper, 'return')}" in str(caught.value)


def test_an_unsupported_statement_is_refused_at_its_line() -> None:
    @cl.jit
    def f(x: float) -> float:
        with open("file"):
            return x

    for run in ways(f):
        with pytest.raises(cl.CompileError) as caught:
            run(1.0)
        assert f"{__file__}:{line_of(f, 'with')}" in str(caught.value)


# ---- Ctrl-C

INTERRUPTED = {
    "one loop": """
        def f(x: float, n: int) -> float:
            for i in range(n):
                x = x + math.sin(x) / (i + 1)
            return x
    """,
    "inner loops": """
        def f(x: float, n: int) -> float:
            for i in range(n):
                for j in range(3):
                    x = x + math.sin(x) / (i + j + 1)
            return x
    """,
    "outer of a long one": """
        def f(x: float, n: int) -> float:
            for i in range(3):
                y = x
                for j in range(n):
                    y = y + math.sin(y) / (i + j + 1)
                x = y
            return x
    """,
    "sums": """
        def f(x: float, n: int) -> float:
            return sum(sum(math.sin(x * i * j) for j in range(1000)) for i in range(n))
    """,
    "least": """
        def f(x: float, n: int) -> float:
            return min(math.sin(x * i) for i in range(n))
    """,
}


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("kind", ["value", "gradient"])
@pytest.mark.parametrize("loops", INTERRUPTED)
def test_a_long_call_can_be_interrupted(kind: str, loops: str, tmp_path: Path) -> None:
    body = textwrap.indent(textwrap.dedent(INTERRUPTED[loops]), "")
    # A gradient needs memory for each step.
    run, steps = ("f", 2**40) if kind == "value" else ("cl.grad(f)", 5 * 10**7)
    path = tmp_path / "long.py"
    path.write_text(
        "import math, os, signal, threading, time\n"
        "import chadllvm as cl\n"
        f"@cl.jit{body}"
        f"run = {run}\n"
        "expected = run(0.5, 10)\n"
        "start = 0.0\n"
        "def stop():\n"
        "    global start\n"
        "    start = time.perf_counter()\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Timer(0.1, stop).start()\n"
        "try:\n"
        f"    run(0.5, {steps})\n"
        "    print('finished')\n"
        "except KeyboardInterrupt:\n"
        "    took = time.perf_counter() - start\n"
        "    again = run(0.5, 10)\n"
        "    print('interrupted', took < 1.5, again == expected)\n"
    )
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    assert done.stdout == "interrupted True True\n"


def test_a_function_for_a_parameter_without_an_annotation() -> None:
    def applied(f, x: float) -> float:
        return f(x)

    with pytest.raises(TypeError, match="f is a function; annotate it with `Call"):
        cl.jit(applied)(lambda t: t * t, 1.0)
