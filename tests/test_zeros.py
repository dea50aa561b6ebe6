"""Signed zeros, infinities and NaN in quotients, remainders, minima and maxima."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

SPECIAL = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 7.5, -7.5, 0.1, -0.1),
    *(1e30, -1e30, 1e16, 1e-40, -1e-40, math.inf, -math.inf, math.nan),
)
PAIRS = list(itertools.product(SPECIAL, SPECIAL))
OPTIONS = [{}, {"optimize": 0}, {"strict": True}, {"contract": False}]


def same(found: Any, right: Any) -> bool:
    """Whether numbers are the same to the bit, but for what NaN it is."""
    a, b = np.asarray(found), np.asarray(right, np.asarray(found).dtype)
    equal = (a == b) & (np.signbit(a) == np.signbit(b))
    return a.shape == b.shape and bool(np.all(equal | (np.isnan(a) & np.isnan(b))))


def quotient(x: float, y: float) -> float:
    return x // y


def remainder(x: float, y: float) -> float:
    return x % y


def both(x: float, y: float) -> float:
    q, r = divmod(x, y)
    return q if x < y else r


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("function", [quotient, remainder, both])
def test_quotients_of_numbers_are_those_of_python(
    function: Callable[..., float], options: dict[str, Any]
) -> None:
    compiled = cl.jit(function, **options)
    for x, y in PAIRS:
        if y != 0.0:
            assert same(compiled(x, y), function(x, y)), (x, y)


def quotients(x: cl.f64[:], y: cl.f64[:]):
    return x // y, x % y


def single_quotients(x: cl.f32[:], y: cl.f32[:]):
    return x // y, x % y


def written_out(x: cl.f64[:], y: cl.f64[:]):
    first, second = np.zeros(len(x)), np.zeros(len(x))
    for i in range(len(x)):
        first[i] = x[i] // y[i]
        second[i] = x[i] % y[i]
    return first, second


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (quotients, np.float64),
        (written_out, np.float64),
        (single_quotients, np.float32),
    ],
)
def test_quotients_of_arrays_are_those_of_numpy(
    function: Callable[..., Any], dtype: type, options: dict[str, Any]
) -> None:
    x, y = np.array(PAIRS, dtype).T.copy()
    with np.errstate(all="ignore"):
        right = x // y, x % y
    found = cl.jit(function, **options)(x, y)
    assert same(found[0], right[0]) and same(found[1], right[1])


def lesser(x: float, y: float) -> float:
    return min(x, y)


def greater(x: float, y: float) -> float:
    return max(x, y)


def np_lesser(x: float, y: float) -> float:
    return np.minimum(x, y)


def np_greater(x: float, y: float) -> float:
    return np.maximum(x, y)


def fmin(x: float, y: float) -> float:
    return np.fmin(x, y)


def fmax(x: float, y: float) -> float:
    return np.fmax(x, y)


# What Python gives, and what it gives of a NaN: as Python's `min`, the NaN, the other.
BETTER = {
    lesser: (min, "python"),
    greater: (max, "python"),
    np_lesser: (min, "nan"),
    np_greater: (max, "nan"),
    fmin: (min, "number"),
    fmax: (max, "number"),
}


def better(name: tuple[Callable[..., float], str], x: float, y: float) -> float:
    choose, of_nan = name
    if of_nan != "python" and (math.isnan(x) or math.isnan(y)):
        numbers = [v for v in (x, y) if not math.isnan(v)]
        return math.nan if of_nan == "nan" or not numbers else numbers[0]
    return choose(x, y)


def of_arrays(function: Callable[..., float]) -> Callable[..., Any]:
    """The function of elements, in a loop that becomes vector code."""
    each = cl.jit(function)

    def elements(x: cl.f64[:], y: cl.f64[:]):
        out = np.zeros(len(x))
        for i in range(len(x)):
            out[i] = each(x[i], y[i])
        return out

    return elements


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("function", BETTER)
def test_of_equal_numbers_the_first_wins(
    function: Callable[..., float], options: dict[str, Any]
) -> None:
    right = [better(BETTER[function], x, y) for x, y in PAIRS]
    one = cl.jit(function, **options)
    assert same([one(x, y) for x, y in PAIRS], right)
    x, y = np.array(PAIRS).T.copy()
    assert same(cl.jit(of_arrays(function), **options)(x, y), right)


@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_so_it_is_for_whole_arrays(name: str, dtype: str) -> None:
    function = getattr(np, name)

    def doubles(x: cl.f64[:], y: cl.f64[:]):
        return function(x, y)

    def singles(x: cl.f32[:], y: cl.f32[:]):
        return function(x, y)

    made = doubles if dtype == "f64" else singles
    rule = (min if name == "minimum" else max, "nan")
    x, y = np.array(PAIRS, np.float64 if dtype == "f64" else np.float32).T.copy()
    assert same(cl.jit(made)(x, y), [better(rule, *pair) for pair in PAIRS])


# Of whole arrays.


def np_least(x: cl.f64[:]) -> float:
    return np.min(x)


def np_largest(x: cl.f64[:]) -> float:
    return x.max()


def least(x: cl.f64[:]) -> float:
    return min(x)


def largest(x: cl.f64[:]) -> float:
    return max([v for v in x])


def least_so_far(x: cl.f64[:]) -> float:
    found = x[0]
    for v in x:
        if v < found:
            found = v
    return found


def largest_so_far(x: cl.f64[:]) -> float:
    found = x[0]
    for v in x:
        found = max(found, v)
    return found


def largest_of_much(x: cl.f64[:]) -> float:
    """Elements that take too long to be looked at twice."""
    best = -math.inf
    for v in x:
        s = math.sin(v) + math.cos(v) * math.exp(v) - math.tan(v) / (2.0 + v * v)
        t = math.sin(2.0 * v) + math.cos(3.0 * v) * math.exp(-v) + s * math.atan(v)
        best = max(best, v if s + t > -1e9 else s * t)
    return best


WHOLE = [
    (np_least, min),
    (np_largest, max),
    (least, min),
    (largest, max),
    (least_so_far, min),
    (largest_so_far, max),
    (largest_of_much, max),
]


def zeros(sizes: Sequence[int]) -> list[np.ndarray]:
    """Zeros of both signs, alone and with numbers on either side of them."""
    random = np.random.default_rng(7)
    made = [random.choice([0.0, -0.0], size) for size in sizes]
    return [
        np.where(random.random(len(x)) < 0.3, other, x)
        for x in made
        for other in (x, -1.0, 1.0)
    ]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("function", "right"), WHOLE)
def test_of_equal_elements_the_first_wins(
    function: Callable[..., float], right: Callable[..., float], options: dict[str, Any]
) -> None:
    compiled = cl.jit(function, **options)
    derivative = cl.value_and_grad(compiled)
    for x in zeros((1, 2, 3, 17, 40, 65)):
        assert same(compiled(x), right(x.tolist()))
        assert same(derivative(x)[0], right(x.tolist()))


def rows(x: cl.f64[:, :]):
    return np.max(x, axis=1), np.min(x, axis=0)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_so_it_is_along_rows_and_columns(options: dict[str, Any]) -> None:
    for x in zeros((24, 120, 600)):
        matrix = x.reshape(-1, 8)
        found = cl.jit(rows, **options)(matrix)
        assert same(found[0], [max(row) for row in matrix.tolist()])
        assert same(found[1], [min(row) for row in matrix.T.tolist()])


def test_so_it_is_on_several_threads() -> None:
    x = np.full(300_000, 1.0)
    x[200_001], x[250_000] = -0.0, 0.0
    assert same(cl.jit(np_least)(x), -0.0)
    x[100_001] = 0.0
    assert same(cl.jit(np_least)(x), 0.0)
