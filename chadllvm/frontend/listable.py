"""Which values lists may hold: what has a place for all that is in it.

An array of records is an array for each part of one (`simplify/flatten.py`). Where one
of several members has an array of numbers in it, whose size is its own, the numbers of
all stand in one array (`simplify/pieces.py`): in lists, not in lists of lists. And
where there are no parts at all, nothing would know how long the list is.
"""

from __future__ import annotations

from collections.abc import Iterable

from chadllvm.errors import set_errors, union_errors
from chadllvm.ir.record import ListNames
from chadllvm.ir.term import Block, Var, nested
from chadllvm.ir.types import (
    Acc,
    Array,
    Box,
    Fun,
    Product,
    Scalar,
    Sum,
    Type,
    has_pieces,
    holds_set,
)
from chadllvm.support.diagnostic import Span


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
        case Array(elem, rank):
            if holds_set(elem):
                raise set_errors.in_a_list(span)
            if _is_empty(elem) or not _is_kept(elem, rank):
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


def _is_kept(ty: Type, rank: int, in_sum: bool = False) -> bool:
    """Whether there is a place for the arrays in elements of an array."""
    match ty:
        case Sum():
            return all(_is_kept(payload, rank, True) for payload in ty.payloads)
        case Product(_, ListNames()) if in_sum:
            return False
        case Product(fields):
            return all(_is_kept(field, rank, in_sum) for field in fields)
        case Array(elem, _) if in_sum:
            return rank == 1 and isinstance(elem, Scalar)
        case Array(elem, _):
            return not has_pieces(elem)
        case _:
            return True
