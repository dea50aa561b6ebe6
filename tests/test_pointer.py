"""Compiled functions as C function pointers: ctypes, cffi, errors."""

from __future__ import annotations

import ctypes
import gc
from typing import Any, NamedTuple

import cffi
import numpy as np
import pytest

import chadllvm as cl

DOUBLES = ctypes.POINTER(ctypes.c_double)


@cl.jit
def element(x: float, values: cl.f64[:], k: int) -> float:
    return x * values[k]


@cl.jit
def open_element(x, values, k):
    return x * values[k]


class Point(NamedTuple):
    x: float
    y: float


@pytest.mark.parametrize("from_types", [False, True])
def test_ctypes(from_types: bool) -> None:
    types = (cl.f64, cl.f64[:], int) if from_types else ()
    call = (open_element if from_types else element).pointer(*types).ctypes
    values, found = np.array([3.0, 5.0]), ctypes.c_double()
    given = values.ctypes.data_as(DOUBLES), 2
    assert call(None, 2.0, *given, 1, ctypes.byref(found), None) == 0
    assert found.value == 10.0
    # An index that there is not: status PROGRAM, and the result is left alone.
    assert call(None, 2.0, *given, 2, ctypes.byref(found), None) == 2
    assert found.value == 10.0


def test_cffi_calls_a_gradient() -> None:
    pointer = cl.value_and_grad(element, argnums=(0, 1)).pointer()
    ffi = cffi.FFI()
    call = ffi.cast(pointer.type, pointer.address)
    values, results = np.array([3.0, 5.0]), np.zeros(4)
    at = ffi.from_buffer("double[]", results)
    data = ffi.from_buffer("double[]", values)
    null = ffi.NULL
    assert call(null, 2.0, data, 2, 1, at, at + 1, at + 2, null) == 0
    assert results.tolist() == [10.0, 5.0, 0.0, 2.0]
    assert "cl_element" in pointer.header


def test_an_address_outlives_its_function() -> None:
    def double(x: float) -> float:
        return 2.0 * x

    made = cl.jit(double)
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int32, ctypes.c_void_p, ctypes.c_double, DOUBLES, ctypes.c_void_p
    )
    call = kind(made.address)
    assert made.pointer() is made.pointer()
    del made
    gc.collect()
    found = ctypes.c_double()
    assert call(None, 21.0, ctypes.byref(found), None) == 0
    assert found.value == 42.0


def test_records_go_by_their_address() -> None:
    @cl.jit
    def length(point: Point) -> float:
        return point.x**2 + point.y**2

    pointer = length.pointer()
    point, found = (ctypes.c_double * 2)(3.0, 4.0), ctypes.c_double()
    assert pointer.type == "int32_t(*)(void *, void *, double *, void *)"
    assert pointer.ctypes(None, point, ctypes.byref(found), None) == 0
    assert found.value == 25.0


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ((), "nothing says what parameter x is"),
        ((cl.f64,), "takes 3 arguments, 1 types were given"),
        ((cl.f64, np.ndarray, int), "does not say what an argument is"),
        ((cl.f64, "nothing", int), "'nothing' does not say what an argument is"),
    ],
)
def test_types_are_said(types: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        open_element.pointer(*types)


def test_types_agree_with_annotations() -> None:
    with pytest.raises(TypeError, match="parameter k is int, not float"):
        element.pointer(cl.f64, cl.f64[:], cl.f64)
