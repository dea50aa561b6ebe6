"""Values captured from outside the function: numbers become literals, arrays `Const`.

An array is copied when the function is compiled; what happens to the original later is
not seen. The constants stand at the start of the function, each once.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from chadllvm.errors import function_errors, name_errors, record_errors
from chadllvm.frontend.annotations import field_annotation, reference_to, target_type
from chadllvm.frontend.arithmetic import convert
from chadllvm.frontend.context import Context
from chadllvm.frontend.records import BadRecord, is_record, record_class
from chadllvm.frontend.references import made
from chadllvm.frontend.width import is_weak, product, weak_list
from chadllvm.ir.record import NONE_NAMES, SET_NAMES, Kind, RecordNames, Snapshot, fit
from chadllvm.ir.term import Const, Lit, Operand, Tuple, Var, literal
from chadllvm.ir.types import F32
from chadllvm.support.diagnostic import CompileError, Span

_LARGEST = 2**63


def constant(cx: Context, value: Any, name: str, span: Span) -> Operand:
    """The operand for a captured value that the user calls `name`."""
    known = cx.constants.get(id(value))
    if known is not None:
        return known[1]
    operand = _constant(cx, value, name, span)
    cx.constants[id(value)] = (value, operand)
    return operand


def _constant(cx: Context, value: Any, name: str, span: Span) -> Operand:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.float32):
        return literal(value.item(), F32)
    if isinstance(value, np.generic):
        value = _plain(value, name, span)
    if isinstance(value, bool | int | float):
        return number(value, span)
    if value is None:
        return _emit(cx, Tuple((), NONE_NAMES), name, span)
    if is_record(type(value)):
        return _record(cx, value, name, span)
    if isinstance(value, Snapshot):
        names = value.names
        parts = tuple(
            constant(cx, part, names.path(name, field), span)
            for field, part in zip(names, value, strict=True)
        )
        return _emit(cx, Tuple(parts, names), name, span)
    if isinstance(value, tuple):
        parts = tuple(constant(cx, part, name, span) for part in value)
        return _emit(cx, Tuple(parts), name, span)
    if type(value) is dict and value and all(isinstance(k, str) for k in value):
        parts = tuple(constant(cx, part, name, span) for part in value.values())
        return _emit(cx, Tuple(parts, RecordNames(value, Kind.DICT, dict)), name, span)
    if SET_NAMES.matches(value):
        if not fit(value):
            raise name_errors.large_integer(span)
        things, table, used = SET_NAMES.parts(value)
        consts = [_emit(cx, Const(part), name, span) for part in (things, table)]
        return _emit(cx, Tuple((*consts, Lit(used)), SET_NAMES), name, span)
    if isinstance(value, list):
        return _list(cx, value, name, span)
    if isinstance(value, np.ndarray):
        array = _emit(cx, Const(_array(value, name, span)), name, span)
        cx.shapes[array] = tuple(map(Lit, value.shape))
        return array
    raise unusable(value, name, span)


def _list(cx: Context, value: list[Any], name: str, span: Span) -> Operand:
    """A list from outside, which is only read: an array of numbers, else a tuple."""
    axes = _axes(value)
    if not axes:
        parts = tuple(constant(cx, part, name, span) for part in value)
        return _emit(cx, Tuple(parts), name, span)
    for leaf in _leaves(value):
        number(leaf, span)  # Integers have to fit.
    array = _array(np.array(value), name, span)
    made = weak_list(cx.prelude, _emit(cx, Const(array), name, span), is_loose=True)
    cx.shapes[made] = tuple(map(Lit, array.shape))
    cx.marks[made] = axes
    return made


def _axes(value: list[Any]) -> int:
    """How many axes a list of numbers has, or a regular list of them; no other has."""
    if not value:
        return 0
    if all(type(part) in (bool, int, float) for part in value):
        return 1
    if not all(type(part) is list and len(part) == len(value[0]) for part in value):
        return 0
    inner = {*map(_axes, value)}
    return 1 + inner.pop() if len(inner) == 1 and 0 not in inner else 0


def _leaves(value: list[Any]) -> Iterator[Any]:
    for part in value:
        if isinstance(part, list):
            yield from _leaves(part)
        else:
            yield part


def _record(cx: Context, value: Any, name: str, span: Span) -> Operand:
    """A record from outside; its fields have the types that its class declares."""
    python: type = type(value)
    record = record_class(python)
    assert record is not None
    parts = []
    for field, part in zip(record.fields, record.names.parts(value), strict=True):
        path = record.names.path(name, field.name)
        operand = constant(cx, part, path, span)
        try:
            annotation = field_annotation(record, field)
        except BadRecord as bad:
            raise record_errors.bad_record(span, str(bad)) from None
        ty = target_type(annotation, operand.type, weak=is_weak(operand))
        if ty is None:
            raise function_errors.wrong_annotation(span, operand.type, annotation)
        cx.prelude.span = span
        parts.append(convert(cx.prelude, operand, ty))
    if record.is_recursive:
        cx.prelude.span = span
        return made(cx.prelude, reference_to(record), parts)
    return _emit(cx, Tuple(tuple(parts), record.names), name, span)


def _emit(cx: Context, expr: Const | Tuple, name: str, span: Span) -> Var:
    cx.prelude.span = span
    if isinstance(expr, Tuple):
        return product(cx.prelude, expr, name)
    return cx.prelude.one(expr, name)


def number(value: float | int | bool, span: Span) -> Lit:
    """The literal for a number of exactly one of Python's three types."""
    if isinstance(value, bool):
        return Lit(bool(value))
    if isinstance(value, int):
        if not -_LARGEST <= value < _LARGEST:
            raise name_errors.large_integer(span)
        return Lit(int(value))
    return Lit(float(value))


def _plain(value: Any, name: str, span: Span) -> float | int | bool:
    """A NumPy scalar as a Python number."""
    if isinstance(value, np.bool_ | np.integer | np.float64):
        plain: float | int | bool = value.item()
        return plain
    raise name_errors.unsupported_dtype(span, name, value.dtype)


def _array(value: np.ndarray, name: str, span: Span) -> np.ndarray:
    """A read-only copy in C order, with a dtype of ours."""
    dtype: type[np.generic]
    if value.dtype in (np.float64, np.float32):
        dtype = value.dtype.newbyteorder("=").type
    elif value.dtype == np.bool_:
        dtype = np.bool_
    elif value.dtype.kind in "iu" and _fits(value):
        dtype = np.int64
    else:
        raise name_errors.unsupported_dtype(span, name, value.dtype)
    copy = np.array(value, dtype=dtype, order="C", copy=True)
    copy.flags.writeable = False
    return copy


def _fits(value: np.ndarray) -> bool:
    """Whether integers fit into 64 bits with a sign."""
    return value.dtype != np.uint64 or not (value >= _LARGEST).any()


def unusable(value: Any, name: str, span: Span) -> CompileError:
    """The error for a captured value that is not one of ours."""
    if callable(value):
        is_class = isinstance(value, type)
        return name_errors.function_as_value(span, name, is_class=is_class)
    kind = "a module" if isinstance(value, ModuleType) else _article(value)
    return name_errors.not_a_value(span, name, kind)


def _article(value: Any) -> str:
    name = type(value).__name__
    if value is None:
        return "`None`"
    return f"an `{name}`" if name[0] in "aeiouAEIOU" else f"a `{name}`"
