"""Parameters and what annotations mean."""

from __future__ import annotations

import typing
from typing import Annotated, Any

import numpy as np
import pytest
from frontend.generated import define
from numpy.typing import NDArray

from chadllvm.frontend import boolean, f64, i64, signature, specialise, target_type
from chadllvm.frontend.annotations import OpenArray, OpenProduct, read_annotation
from chadllvm.ir.types import BOOL, F64, I64, Array, Product
from chadllvm.support.diagnostic import CompileError

FLOATS = NDArray[np.float64]


@pytest.mark.parametrize(
    ("annotation", "meaning"),
    [
        (float, F64),
        (int, I64),
        (bool, BOOL),
        (f64, F64),
        (i64, I64),
        (np.float64, F64),
        (np.int64, I64),
        (np.bool_, BOOL),
        (f64[:], Array(F64, 1)),
        (i64[:, :], Array(I64, 2)),
        (boolean[:], Array(BOOL, 1)),
        (tuple[float, f64[:]], Product((F64, Array(F64, 1)))),
        (typing.Tuple[float, int], Product((F64, I64))),  # noqa: UP006
        (tuple[()], Product(())),
        (FLOATS, OpenArray(F64)),
        (tuple[int, FLOATS], OpenProduct((I64, OpenArray(F64)))),
        (Annotated[FLOATS, f64[:, :]], Array(F64, 2)),
        (Annotated[float, "metres"], F64),
        (Any, None),
    ],
)
def test_annotation(annotation: Any, meaning: Any) -> None:
    assert read_annotation(annotation) == meaning


def test_one_colon_for_each_dimension() -> None:
    for wrong in (3, slice(1, 2), (), (slice(None), 0)):
        with pytest.raises(TypeError, match="one `:` per dimension"):
            f64[wrong]


def test_signature() -> None:
    """Annotations are strings in this file; `alias` is closed over."""
    alias = f64[:, :]

    def f(a, b: float, c: alias, d: tuple[int, FLOATS] = (1, 2), /, e=2.5):
        return alias

    a, b, c, d, e = signature(f)
    assert [p.name for p in (a, b, c, d, e)] == ["a", "b", "c", "d", "e"]
    assert a.annotation is None
    assert a.is_required
    assert b.annotation == F64
    assert c.annotation == Array(F64, 2)
    assert d.annotation == OpenProduct((I64, OpenArray(F64)))
    assert d.default == (1, 2)
    assert e.default == 2.5
    assert not e.is_required


@pytest.mark.parametrize(
    ("annotation", "given", "target"),
    [
        (None, Array(F64, 3), Array(F64, 3)),
        (F64, I64, F64),
        (F64, BOOL, F64),
        (I64, F64, None),
        (OpenArray(F64), Array(F64, 3), Array(F64, 3)),
        (OpenArray(F64), Array(I64, 3), None),
        (Array(F64, 1), Array(F64, 2), None),
        (Product((F64, F64)), Product((I64, F64)), Product((F64, F64))),
        (Product((F64,)), Product((F64, F64)), None),
        (OpenProduct((F64, None)), Product((I64, I64)), Product((F64, I64))),
    ],
)
def test_conversion_of_arguments(annotation: Any, given: Any, target: Any) -> None:
    assert target_type(annotation, given) == target


def test_result_is_converted_to_its_annotation() -> None:
    program = specialise(define("def f(x) -> float:\n    return 2 * x\n"), [I64])
    assert program.entry.body.types == (F64,)


def test_entry_has_one_variable_for_each_parameter() -> None:
    pair = Product((F64, Array(F64, 1)))
    function = define("def f(p, n):\n    x, a = p\n    return x * n, a\n")
    entry = specialise(function, [pair, I64]).entry
    assert [(p.name, p.type) for p in entry.params] == [("p", pair), ("n", I64)]
    assert entry.body.types == (pair,)


def test_missing_annotation_name() -> None:
    function = define("def f(x: 'f64[:'):\n    return x\n")
    with pytest.raises(CompileError, match="cannot be evaluated"):
        signature(function)
