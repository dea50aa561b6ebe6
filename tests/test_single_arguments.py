"""f32 at the boundary: what parameters take, what results are, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.ir.types import F32, F64, I64, Array

A = np.array([0.5, 1.5, -2.0], np.float32)


@cl.jit
def scaled(a: cl.f32[:], x: cl.f32) -> cl.f32:
    return np.sum(a) * x


@cl.jit
def untyped(a, x):
    return np.sum(a) * x


@pytest.mark.parametrize(
    "x", [np.float32(2), 2.0, 2, True, np.int64(2), np.float16(2), np.array(2, "f4")]
)
def test_a_parameter_takes_what_has_a_value_there(x: Any) -> None:
    assert scaled(A, x) == np.float32(0.0) and isinstance(scaled(A, x), np.float32)
    assert scaled(A + 1, x) == np.sum(A + 1) * np.float32(x)


def test_a_number_of_pythons_is_rounded() -> None:
    assert scaled(np.ones(1, np.float32), 0.1) == np.float32(0.1)
    assert scaled(np.ones(1, np.float32), 1e300) == np.inf


REFUSED: list[tuple[tuple[Any, ...], str]] = [
    ((A, np.float64(2)), "x must be a float32, found float64"),
    ((A, np.longdouble(2)), "x must be a float32"),
    ((A, "2"), "x must be a float32, found str"),
    ((A.astype(float), 2.0), r"a must be .* float32 .*\.astype\(numpy\.float32\)"),
    (([np.float64(0.5)], 2.0), "a must be a NumPy array of float32"),
    (((0.5,), 2.0), "dtype=numpy.float32"),
]


@pytest.mark.parametrize(("args", "message"), REFUSED)
def test_a_refusal_names_the_parameter(args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        scaled(*args)


def test_f32_is_refused_where_arrays_of_f64_are_wanted() -> None:
    @cl.jit
    def wide(a: cl.f64[:]) -> float:
        return np.sum(a)

    with pytest.raises(TypeError, match=r"\.astype\(numpy\.float64\)"):
        wide(A)


@pytest.mark.parametrize("options", [{}, {"optimize": 0}])
def test_an_open_parameter_takes_the_width_of_its_argument(options: Any) -> None:
    function = cl.jit(untyped.py_func, **options)
    assert isinstance(function(A, np.float32(2)), np.float32)
    assert isinstance(function(A, 2), np.float32)
    # A number of Python's is as wide as what is beside it.
    assert isinstance(function(A, 2.0), np.float32)
    assert type(function(A.astype(float), 2.0)) is float
    with pytest.raises(cl.CompileError, match="f32 and f64 meet"):
        function(A, np.float64(2))


def test_gradients_have_the_dtype_of_their_arguments() -> None:
    value, (by_a, by_x) = cl.value_and_grad(scaled, argnums=(0, 1))(A, 2.0)
    assert isinstance(value, np.float32) and isinstance(by_x, np.float32)
    assert by_a.dtype == np.float32
    np.testing.assert_array_equal(by_a, np.full(3, 2.0))

    @cl.jit
    def mixed(a: cl.f32[:], x: float) -> float:
        return np.float64(np.sum(a)) * x

    by_a, by_x = cl.grad(mixed, argnums=(0, 1))(A, 0.1)
    assert by_a.dtype == np.float32 and type(by_x) is float
    np.testing.assert_array_equal(by_a, np.full(3, np.float32(0.1)))


class Weighted(NamedTuple):
    """A record whose fields say their width."""

    weight: cl.f32
    count: int
    values: cl.f32[:]


def test_fields_may_be_f32() -> None:
    @cl.jit
    def total(w: Weighted) -> cl.f32:
        return w.weight * np.sum(w.values) * w.count

    w = Weighted(0.5, 2, A + 1)
    assert total(w) == np.sum(A + 1) * np.float32(1.0)
    gradient = cl.grad(total)(w)
    assert isinstance(gradient.weight, np.float32) and gradient.count is None
    assert gradient.values.dtype == np.float32


def test_structured_arrays_keep_their_widths() -> None:
    rows = np.zeros(3, [("m", "f4"), ("n", "i8"), ("x", "f8"), ("p", "f4", (2,))])
    rows["m"], rows["n"], rows["x"] = [1, 2, 3], [4, 5, 6], [0.1, 0.2, 0.3]
    rows["p"] = [[1, 2], [3, 4], [5, 6]]

    @cl.jit
    def total(rows):
        s = 0.0
        for row in rows:
            s += row["x"] * np.float64(row["m"] * np.sum(row["p"])) * row["n"]
        return s

    assert total(rows) == pytest.approx(total.py_func(rows), rel=1e-7)
    gradient = cl.grad(total)(rows)
    assert gradient.dtype["m"] == np.float32 and gradient.dtype["x"] == np.float64
    np.testing.assert_allclose(gradient["m"], [1.2, 7.0, 19.8], rtol=1e-6)
    np.testing.assert_allclose(gradient["p"][:, 1], [0.4, 2.0, 5.4], rtol=1e-6)


@cl.jit
def casts(a, n):
    b = a.astype(np.float64) * np.float64(0.1)
    c = np.asarray(b, dtype=np.float32) + np.zeros(len(a), dtype=cl.f32)
    d = np.full(len(a), 0.1, dtype=np.float32) + np.arange(len(a), dtype=np.float32)
    e = np.linspace(0.0, 1.0, len(a), dtype=np.float32) * cl.f32(n)
    return b, c, d, e, float(a[0]), cl.f64(a[1]), int(a[1]), n / 2


def test_casts() -> None:
    for function in (casts, cl.jit(casts.py_func, optimize=0)):
        found, wanted = function(A, 3), casts.py_func(A, 3)
        for f, w in zip(found[:4], wanted[:4], strict=True):
            assert f.dtype == w.dtype
            np.testing.assert_allclose(f, w, rtol=1e-7)
        assert found[4:] == wanted[4:]
        assert [type(x) for x in found[4:]] == [float, float, int, float]


def literals_everywhere(a, n):
    scale = 0.1 * np.pi
    total = 0.0
    for i in range(n):
        total = total * 0.5 + scale * np.exp(-0.5 * a[i] ** 2) / 3.0
    return max(total, 0.25) + n


def test_literals_never_widen() -> None:
    text = str(cl.jit(literals_everywhere).show("loops", A, 3))
    assert "f32" in text and "f64" not in text
    assert "widen" not in text and "to_float" not in text
    for line in text.splitlines():
        assert "." not in line.replace("..", "") or "f32" in line, line


WIDTHS: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    (lambda x: x + 1, (F32,), F32),
    (lambda x: x * 0.1, (F32,), F32),
    (lambda x, n: x * n, (F32, I64), F32),
    (lambda n: n / 2, (I64,), F64),
    (lambda x: np.float64(x) + 0.1, (F32,), F64),
    (lambda a: a * 0.5 + 1, (Array(F32, 1),), Array(F32, 1)),
    (lambda a: np.zeros(len(a)) + 1, (Array(F32, 1),), Array(F64, 1)),
    (lambda a: np.mean(a), (Array(F32, 1),), F32),
]


@pytest.mark.parametrize("k", range(len(WIDTHS)))
def test_the_type_of_an_expression(k: int) -> None:
    from chadllvm.frontend import specialise

    function, types, wanted = WIDTHS[k]
    assert specialise(function, types).entry.body.types == (wanted,)
