"""Cotangents and tangents of unions and lists of arrays, as rules of users' have them.

As everywhere in programs they are of the member that their value is, and lists of
arrays of its sizes. So a rule's program needs the value beside: to show CHAD's to the
user, and to check what the user gives.
"""

from __future__ import annotations

from chadllvm.frontend.annotations import target_type
from chadllvm.frontend.list_numbers import numbers_of
from chadllvm.frontend.list_tangents import own
from chadllvm.frontend.reals import as_reals, check_like, fits, is_regular
from chadllvm.frontend.regular import as_list
from chadllvm.frontend.union_cotangents import hidden, holds_union, without_integers
from chadllvm.ir.build import Builder
from chadllvm.ir.record import ListNames
from chadllvm.ir.term import Operand, Var
from chadllvm.ir.types import (
    Array,
    Product,
    Scalar,
    Sum,
    Type,
    cotangent_type,
    has_float,
    list_names,
)
from chadllvm.ir.union import is_union


def is_known(ty: Type) -> bool:
    """Whether cotangents can be compared in size with a value of this type."""
    match ty:
        case Product(_, ListNames()) | Scalar():
            return True
        case Product(fields):
            return all(is_known(field) for field in fields if has_float(field))
        case Sum():
            held = [payload for payload in ty.payloads if has_float(payload)]
            return is_union(ty) and all(map(is_known, held))
        case Array():
            return is_regular(ty) or holds_union(ty)
        case _:
            return False


def rule_type(ty: Type) -> Type:
    """The type of a value's cotangent in rules."""
    return own(Builder(), Var("ct", cotangent_type(ty)), Var("x", ty)).type


def may_be(found: Type, ty: Type) -> bool:
    """Whether what a rule gives is a cotangent of values of a type."""
    wanted = rule_type(ty)
    if _is_row(found, wanted):
        return target_type(wanted, found) == wanted
    return fits(without_integers(Builder(), Var("ct", found)).type, wanted)


def taken(b: Builder, value: Operand, primal: Operand) -> Operand:
    """CHAD's cotangent, of what a rule gives; the program fails if sizes differ."""
    wanted = rule_type(primal.type)
    if _is_row(value.type, wanted):
        assert isinstance(wanted, Product)
        value = as_list(b, value, wanted)
    value = as_reals(b, without_integers(b, value), wanted)
    return hidden(b, numbers_of(b, value, primal), primal, check_like)


def _is_row(found: Type, wanted: Type) -> bool:
    """Whether this is a regular array where a list is asked for."""
    return list_names(wanted) is not None and isinstance(found, Array)
