"""Slices, sizes and ranges of extreme integers: what Python and NumPy do, or an error.

Each case runs in a process of its own, which is given some seconds: reading memory of
others, an endless loop and a wrong result are failures alike.
"""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

LEAST, MOST = -(2**63), 2**63 - 1

# Bounds of slices, indices and shifts.
FAR = (LEAST, LEAST + 1, -(2**62), -9, -1, 0, 5, 2**62, MOST)
FAR_FEW = (LEAST, -9, -1, 0, 2, 2**62, MOST)

# Sizes: few, or more than any memory holds.
SIZES = (LEAST, -1, 0, 3, 2**45, 2**61, 2**62, 3689348814741910324, MOST)

X, M = np.arange(1.0, 11.0), np.arange(12.0).reshape(4, 3)

Result = tuple[str, Any]


def part(x: cl.f64[:], a: int, b: int) -> cl.f64[:]:
    return x[a:b] * 1.0


def thirds(x: cl.f64[:], a: int, b: int) -> cl.f64[:]:
    return x[a:b:3] * 1.0


def backwards(x: cl.f64[:], a: int, b: int) -> cl.f64[:]:
    return x[a:b:-2] * 1.0


def far_steps(x: cl.f64[:], a: int, b: int) -> cl.f64[:]:
    up, down = x[a:b:9223372036854775807], x[a:b:-9223372036854775808]
    return np.concatenate((up, down, x[a:b:-9223372036854775807]))


def any_steps(x: cl.f64[:], a: int, b: int, c: int) -> cl.f64[:]:
    return x[a:b:c] * 1.0


def far_constants(x: cl.f64[:], a: int, b: int) -> cl.f64[:]:
    first = np.concatenate((x[a:-9223372036854775808], x[9:-9223372036854775808]))
    rest = np.concatenate((x[-9223372036854775808:b], x[9223372036854775807:b]))
    return np.concatenate((first, rest, x[:9223372036854775807:2], x[a:-3], x[2:b]))


def part_of_part(x: cl.f64[:], a: int, b: int) -> cl.f64[:]:
    return x[a:][:b][a:b] * 1.0


def rows(m: cl.f64[:, :], a: int, b: int) -> float:
    return float(len(m[a:b])) + np.sum(m[a:b])


def columns(m: cl.f64[:, :], a: int, b: int) -> float:
    return np.sum(m[:, a:b]) + 100.0 * np.sum(m[a:, b::-1])


def filled(x: cl.f64[:], a: int, b: int) -> cl.f64[:]:
    y = x.copy()
    y[a:b] = 7.0
    y[b:a:2] += 1.0
    y[a:b:-1] *= 2.0
    return y


def of_list(x: cl.f64[:], a: int, b: int) -> float:
    some = [v * 2.0 for v in x][a:b]
    return sum(some) + 100.0 * len(some)


def of_arrays(x: cl.f64[:], a: int, b: int) -> float:
    some = [x[i:] * 2.0 for i in range(5)][a:b]
    total = 0.0
    for y in some:
        total += np.sum(y)
    return total + 100.0 * len(some)


def squares(x: cl.f64[:], a: int, b: int) -> float:
    return np.sum(x[a:b] * x[a:b])


def indices(x: cl.f64[:], a: int) -> float:
    total = 0.0
    for i in range(3):
        total += x[i + a] + x[2 * i + a]
    return total + x[a]


def written(x: cl.f64[:], a: int) -> cl.f64[:]:
    y = x.copy()
    for i in range(3):
        y[i + a] += 1.0
    return y


def rolled(x: cl.f64[:], a: int) -> cl.f64[:]:
    return np.roll(x, a) + np.roll(x.reshape(5, 2), a, axis=0)[:, 0].repeat(2)


def first_of_range(x: cl.f64[:], a: int, b: int, c: int) -> float:
    total = 0.0
    for k, i in enumerate(range(a, b, c)):
        total += float(i // 4)
        if k > 3:
            break
    return total


def last_of_range(x: cl.f64[:], a: int, b: int) -> float:
    total = 0.0
    for i, j in zip(reversed(range(a, b)), range(3), strict=False):
        total += float(i // 4) + j
    for i, j in zip(reversed(range(a, b, -1)), range(3), strict=False):
        total -= float(i // 4) + j
    return total


def repeated(x: cl.f64[:], n: int) -> cl.f64[:]:
    return np.repeat(x.reshape(5, 2), n, axis=1).ravel()


def repeated_row(x: cl.f64[:], n: int) -> int:
    return np.repeat(x.reshape(10, 1), n, axis=1).shape[1]


def tiled(x: cl.f64[:], n: int) -> cl.f64[:]:
    return np.tile(x, n)


def tiled_both_ways(x: cl.f64[:], n: int, m: int) -> cl.f64[:]:
    return np.tile(x, (n, m)).ravel()


def tiled_matrix(x: cl.f64[:], n: int, m: int) -> cl.f64[:]:
    m2 = x.reshape(5, 2)
    return np.concatenate((np.tile(m2, n).ravel(), np.tile(m2, [m, 1, 2]).ravel()))


def times_list(x: cl.f64[:], n: int) -> float:
    many = [v for v in x] * n
    return sum(many) + len(many) + len([0.0] * n)


def zeros(x: cl.f64[:], n: int) -> float:
    return np.sum(np.zeros(n)) + np.sum(np.ones((n, 3))) + np.zeros(n).shape[0]


def squared(x: cl.f64[:], n: int, m: int) -> float:
    return np.sum(np.full((n, m), 2.0)) + np.sum(np.eye(n, m)) + np.sum(np.ones((m, n)))


def made(x: cl.f64[:], n: int, m: int) -> float:
    return np.sum(np.exp(np.zeros((n, 2, m))) * np.ones((n, 2, m)))


def numbers(x: cl.f64[:], n: int) -> float:
    steps = len(np.arange(n // 2)) + len(np.arange(float(n // 2)))
    return np.sum(np.linspace(0.0, 1.0, n)) + steps


def diagonals(x: cl.f64[:], n: int) -> float:
    m = x[:9].reshape(3, 3)
    low, high = np.tril(m, 4611686018427387904), np.triu(m, -4611686018427387904)
    return np.sum(low) + np.sum(high) + np.sum(np.eye(3, k=4611686018427387904)) + n


def reshaped(x: cl.f64[:], n: int, m: int) -> cl.f64[:]:
    return x.reshape(n, m, 5).ravel()


def reshaped_rest(x: cl.f64[:], n: int, m: int) -> cl.f64[:]:
    return x.reshape(n, -1, m).ravel()


def stretched(x: cl.f64[:], n: int, m: int) -> float:
    wide = np.broadcast_to(x[:1], (n, m))
    return np.sum(wide[:2, :2]) + wide.shape[0]


CASES: tuple[tuple[Callable[..., Any], np.ndarray, tuple[int, ...]], ...] = (
    *((f, X, FAR) for f in (part, thirds, backwards, far_steps, far_constants)),
    *((f, X, FAR) for f in (part_of_part, filled, of_list, of_arrays, squares)),
    *((f, M, FAR) for f in (rows, columns)),
    *((f, X, FAR) for f in (indices, written, rolled, last_of_range)),
    *((f, X, FAR_FEW) for f in (any_steps, first_of_range)),
    *((f, X, SIZES) for f in (repeated_row, tiled, times_list, zeros, squared, made)),
    *((f, X, SIZES) for f in (numbers, stretched)),
    # NumPy itself reads memory of others for the last two sizes.
    *((f, X, SIZES[1:6]) for f in (tiled_both_ways, tiled_matrix)),
    *((f, X, SIZES[2:]) for f in (repeated, reshaped, reshaped_rest)),
    (diagonals, X, (3,)),
)


def _result(run: Callable[..., Any], args: tuple[Any, ...]) -> Result:
    try:
        return "value", run(*args)
    except (ArithmeticError, LookupError, MemoryError, ValueError) as error:
        return "error", type(error).__name__


def _agree(one: Result, other: Result) -> bool:
    if one[0] != other[0] or one[0] == "error":
        return one[0] == other[0]
    found, wanted = np.asarray(one[1]), np.asarray(other[1])
    return found.shape == wanted.shape and bool(np.allclose(found, wanted))


def _arguments(
    function: Callable[..., Any], array: np.ndarray, numbers: tuple[int, ...]
) -> Iterator[tuple[Any, ...]]:
    count = function.__code__.co_argcount - 1
    for chosen in itertools.product(numbers, repeat=count):
        yield array, *chosen


def _compare(
    function: Callable[..., Any],
    array: np.ndarray,
    numbers: tuple[int, ...],
    optimize: int,
    failed: Any,
) -> None:
    compiled = cl.jit(function, optimize=optimize)
    for args in _arguments(function, array, numbers):
        failed.put(f"{args[1:]} does not end, or ends the process")
        found, wanted = _result(compiled, args), _result(function, args)
        agree = _agree(found, wanted) or _is_missed(function, wanted, args)
        failed.get()
        if not agree:
            failed.put(f"{args[1:]}: {found}, not {wanted}")
            return


def _is_missed(
    function: Callable[..., Any], wanted: Result, args: tuple[Any, ...]
) -> bool:
    """Whether NumPy makes an array of no elements, and of such sizes."""
    return wanted[0] == "value" and function in _SHAPED and max(args[1:]) > 2**44


_SHAPED = (squared, made, stretched, tiled_both_ways)


def _first_difference(
    function: Callable[..., Any],
    array: np.ndarray,
    numbers: tuple[int, ...],
    optimize: int,
) -> str | None:
    _compare(part, X, (0,), optimize, multiprocessing.SimpleQueue())
    context = multiprocessing.get_context("fork")
    failed: Any = context.SimpleQueue()
    args = (function, array, numbers, optimize, failed)
    process = context.Process(target=_compare, args=args)
    process.start()
    process.join(60)
    process.kill()
    process.join()
    return None if failed.empty() else failed.get()


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("optimize", (2, 0))
@pytest.mark.parametrize(
    ("function", "array", "numbers"), CASES, ids=[case[0].__name__ for case in CASES]
)
def test_extremes_are_what_python_makes_of_them(
    function: Callable[..., Any],
    array: np.ndarray,
    numbers: tuple[int, ...],
    optimize: int,
) -> None:
    assert _first_difference(function, array, numbers, optimize) is None


@pytest.mark.parametrize("function", [part, backwards, any_steps, of_arrays])
def test_no_bound_overflows_where_overflow_is_an_error(
    function: Callable[..., Any],
) -> None:
    checked = cl.jit(function, debug=True)
    for args in _arguments(function, X, FAR_FEW):
        assert _agree(_result(checked, args), _result(function, args)), args[1:]


def test_gradients_of_parts_are_those_of_no_elements() -> None:
    for optimize in (2, 0):
        gradient = cl.grad(cl.jit(squares, optimize=optimize))
        for a, b in itertools.product(FAR, repeat=2):
            wanted = np.zeros(10)
            wanted[a:b] = 2.0 * X[a:b]
            np.testing.assert_allclose(gradient(X, a, b), wanted)


def ones(n: int) -> float:
    return sum(1.0 for i in range(n))


@pytest.mark.sweep
def test_a_range_of_any_length_is_gone_through() -> None:
    """It takes as long as it does; no number of steps wraps around to none."""
    for count in (MOST, MOST - 127):
        context = multiprocessing.get_context("fork")
        process = context.Process(target=cl.jit(ones), args=(count,))
        process.start()
        process.join(2)
        assert process.is_alive()
        process.kill()
        process.join()


def rows_of_four(n: int) -> float:
    rows = [[1.0, 2.0, 3.0, float(i)] for i in range(n)]
    return sum(row[3] for row in rows) + float(len(rows))


def squares_in_turn(n: int) -> float:
    a = np.zeros((2, 2))
    for i in range(2):
        a = np.exp(np.zeros((n, n)) + a[0, 0]) * float(i)
    return a[0, 0]


def sums_of_all(n: int) -> float:
    a = np.zeros(n)
    table = a[:, None] + np.ones(n)
    return table[0, 0] + table[1, 1]


@pytest.mark.parametrize("count", [2**32, 2**61, 2**62])
@pytest.mark.parametrize("function", [rows_of_four, squares_in_turn, sums_of_all])
def test_memory_for_what_wraps_around_is_refused(
    function: Callable[[int], float], count: int
) -> None:
    if function is rows_of_four and count == 2**32:
        return
    with pytest.raises(MemoryError):
        cl.jit(function)(count)


def test_what_is_too_large_is_said_at_its_line() -> None:
    with pytest.raises(MemoryError, match=r"array too large \(.*, in zeros\)"):
        cl.jit(zeros)(X, 2**60)
