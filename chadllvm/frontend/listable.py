"""Which values lists may hold: what has a place for all that is in it.

An array of records is an array for each part of one (`simplify/flatten.py`). Where one
of several members has an array in it, whose size is its own, there is no such array;
and where there are no parts at all, nothing would know how long the list is.
"""

from __future__ import annotations

from collections.abc import Iterable

from chadllvm.diagnostic import Span
from chadllvm.frontend import union_errors
from chadllvm.ir.term import Block, Var, nested
from chadllvm.ir.types import Acc, Array, Box, Fun, Product, Scalar, Sum, Type


def check_lists(params: Iterable[Var], body: Block, span: Span) -> None:
    """Refuse lists that cannot be kept, in a function."""
    for param in params:
        _check(param.type, span)
    stack = [body]
    while stack:
        for binding in stack.pop().bindings:
            for var in binding.vars:
                _check(var.type, binding.span)
            for inside, block in nested(binding.expr):
                for var in inside:
                    _check(var.type, binding.span)
                stack.append(block)


def _check(ty: Type, span: Span) -> None:
    match ty:
        case Array(Scalar() | Box()) | Scalar() | Box() | Fun() | Acc():
            return
        case Array(elem, _):
            if _is_empty(elem) or _has_bare_arrays(elem):
                raise union_errors.list_without_room(span, elem)
            _check(elem, span)
        case Product(fields):
            for field in fields:
                _check(field, span)
        case Sum():
            for payload in ty.payloads:
                _check(payload, span)


def _is_empty(ty: Type) -> bool:
    """Whether there is nothing in values of this type."""
    return isinstance(ty, Product) and all(map(_is_empty, ty.fields))


def _has_bare_arrays(ty: Type) -> bool:
    """Whether one of several members has an array in it."""
    match ty:
        case Sum():
            return any(map(_holds_array, ty.payloads))
        case Product(fields):
            return any(map(_has_bare_arrays, fields))
        case _:
            return False


def _holds_array(ty: Type) -> bool:
    match ty:
        case Array():
            return True
        case Product(fields):
            return any(map(_holds_array, fields))
        case Sum():
            return any(map(_holds_array, ty.payloads))
        case _:
            return False
