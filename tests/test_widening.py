"""Integers of every width, bools, and what is no real number, as data."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

NARROW = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i2", ">u4", "?")
BYTES = np.frombuffer(b"\x05\x06\x07", np.uint8)


@dataclasses.dataclass(frozen=True)
class Counts:
    n: cl.i64[:]
    scale: float


@cl.jit
def weighted(x: cl.f64[:], n: cl.i64[:]) -> float:
    return sum(x[i] * n[i] for i in range(len(x)))


@cl.jit
def untyped(x, n):
    return sum(x[i] * n[i] for i in range(len(x)))


@cl.jit
def scaled(x: float, n: int) -> float:
    return x * n


def ways(function: Any) -> list[Any]:
    permanent = cl.jit(function.py_func, optimize=0)
    return [f for g in (function, permanent) for f in (g, cl.value_and_grad(g))]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("function", [weighted, untyped])
def test_arrays_of_integers_are_widened(function: Any, dtype: str) -> None:
    x, n = np.array([0.5, 2.0, 4.0]), np.array([1, 0, 1]).astype(dtype)
    for run in ways(function):
        found = run(x, n)
        value, gradient = found if isinstance(found, tuple) else (found, n)
        assert value == 4.5
        assert gradient.tolist() == n.tolist()
    out, out_t = cl.jvp(function, (x, n), (np.ones(3), None))
    assert (out, out_t) == (4.5, 2.0)


def test_the_values_at_the_ends_of_each_width() -> None:
    @cl.jit
    def ends(n):
        return n[0], n[1]

    for dtype in NARROW[:7]:
        info = np.iinfo(dtype)
        assert ends(np.array([info.min, info.max], dtype)) == (info.min, info.max)
    most = 2**63 - 1
    assert ends(np.array([0, most], np.uint64)) == (0, most)


@pytest.mark.parametrize("function", [weighted, untyped])
def test_unsigned_integers_that_do_not_fit(function: Any) -> None:
    large = np.array([1, 2**63], np.uint64)
    with pytest.raises(OverflowError, match=r"parameter n: 9223372036854775808 is too"):
        function(np.ones(2), large)
    with pytest.raises(OverflowError, match="parameter n"):
        cl.grad(function)(np.ones(2), large)
    assert function(np.ones(2), large[:1].repeat(2)) == 2.0


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, np.uint64(2**63), 10**400])
def test_integers_beyond_64_bits(number: Any) -> None:
    for run in ways(scaled):
        with pytest.raises(OverflowError, match=r"scaled: parameter n: .* too large"):
            run(1.0, number)
        assert run(1.0, -(2**63)) is not None


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "uint8", "uint64", "bool"])
def test_scalars_of_numpy(kind: str) -> None:
    value = np.dtype(kind).type(1)
    for run in ways(scaled):
        assert run(2.5, value) in (2.5, (2.5, 1.0))
        assert run(2.5, np.array(value)) in (2.5, (2.5, 1.0))


def test_fields_of_structured_arrays_and_of_records() -> None:
    dtype = [("n", "u1"), ("x", ">f8"), ("m", "i4", (2,)), ("flag", "?")]
    rows = np.array([(200, 1.5, (1, -2), True), (3, 2.0, (4, 5), False)], dtype)

    @cl.jit
    def total(rows) -> float:
        return sum(r["x"] * (r["n"] + r["m"][1]) if r["flag"] else 0.0 for r in rows)

    assert total(rows) == 1.5 * 198
    assert cl.grad(total)(rows)["x"].tolist() == [198.0, 0.0]

    @cl.jit
    def given_back(rows):
        return [r for r in rows]

    assert given_back(rows)["n"].dtype == np.int64
    assert given_back(rows)["n"].tolist() == [200, 3]

    @cl.jit
    def counted(c: Counts) -> float:
        return c.scale * np.sum(c.n)

    assert counted(Counts(BYTES, 0.5)) == 9.0
    assert cl.grad(counted)(Counts(BYTES, 0.5)).scale == 18.0


def test_constants_from_outside() -> None:
    counts, unsigned = np.array([1, 2], np.int16), np.array([7], np.uint64)

    @cl.jit
    def f(x: float) -> float:
        return x * (counts[1] + unsigned[0] + BYTES[2])

    assert f(2.0) == 32.0
    large = np.array([2**63], np.uint64)

    @cl.jit
    def g(x: float) -> float:
        return x * large[0]

    with pytest.raises(cl.CompileError, match="uint64"):
        g(1.0)


@pytest.mark.parametrize(
    "value",
    [
        np.ones(3, np.float16),
        np.ones(3, np.longdouble),
        np.ones(3, complex),
        np.ones(3, object),
        np.array(["a", "b", "c"]),
        np.zeros(3, "M8[s]"),
        np.zeros(3, "m8[s]"),
        np.array(1.0, np.float16),
    ],
    ids=lambda a: str(a.dtype),
)
def test_what_is_refused(value: Any) -> None:
    for parameter in (0, 1):
        args = [np.ones(3), np.ones(3, int)]
        args[parameter] = value
        name = "xn"[parameter]
        with pytest.raises(TypeError, match=f"parameter {name} ") as refusal:
            weighted(*args)
        assert str(value.dtype) in str(refusal.value) or value.ndim == 0
        if value.ndim:
            with pytest.raises(TypeError, match=f"parameter {name} is an array of"):
                untyped(*args)


@pytest.mark.parametrize("value", [1j, np.complex64(1j), np.array([1j, 2.0])])
def test_complex_numbers(value: Any) -> None:
    with pytest.raises(TypeError, match="real numbers"):
        untyped(value, value)
    with pytest.raises(TypeError, match="real numbers"):
        weighted(value, np.ones(2, int))


def test_shapes_and_layouts_of_integers() -> None:
    square = np.arange(16, dtype=np.int32).reshape(4, 4)

    @cl.jit
    def picked(x: float, n: cl.i64[:, :]) -> float:
        return sum(x * n[i, i] for i in range(len(n)))

    for given in (square, square.T, square[::-1, ::-1], np.asfortranarray(square)):
        assert picked(0.5, given) == 15.0
    read_only = square.astype(np.int16)
    read_only.flags.writeable = False
    assert picked(0.5, read_only) == 15.0
    unaligned = np.frombuffer(b"0" + square.tobytes(), "i4", offset=1)
    assert picked(0.5, unaligned.reshape(4, 4)) == 15.0
    assert picked(0.5, np.zeros((0, 0), np.uint8)) == 0.0
    with pytest.raises(ValueError, match="2 dimension"):
        picked(0.5, np.array(3, np.int8))
