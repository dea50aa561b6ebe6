"""Cotangents and tangents of unions, as programs have them and as CHAD has them.

    s: Circle | Square      CHAD:      (ct of Circle, ct of Square), one of them zero
                            programs:  a Circle or a Square of cotangents, as s is one

CHAD's have room for all members. In a program they are what the value is: a derivative
that comes from CHAD is `shown`, one that the user gives is `hidden`, by a case on the
primal. What holds no unions is the same in both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chadllvm.frontend.list_numbers import like, numbers_of
from chadllvm.frontend.unions import NONE_VALUE, placeholder
from chadllvm.ir.build import Builder
from chadllvm.ir.record import ListNames
from chadllvm.ir.term import Apply, Case, Inject, Lambda, Lit, Operand, Proj, Tuple, Var
from chadllvm.ir.types import (
    I64,
    NONE,
    Array,
    Product,
    Sum,
    Type,
    cotangent_type,
    has_float,
    has_pieces,
    list_names,
)
from chadllvm.ir.union import (
    is_union,
    is_varied,
    kind_of,
    members,
    union_of,
    varied,
)
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index, sized
from chadllvm.ops.reals import Reals, WithReals
from chadllvm.ops.require import Require

# Emits what is to hold of the sizes in a tangent and its primal.
Check = Callable[[Builder, Operand, Operand], None]

_OTHER_MEMBER = "a tangent or cotangent is not of the class that its value is of"


def holds_union(ty: Type) -> bool:
    """Whether there are unions with reals in values of this type."""
    match ty:
        case Product(fields):
            return any(map(holds_union, fields))
        case Array(elem, _):
            return holds_union(elem)
        case _:
            return is_union(ty) and has_float(ty)


def shown_type(ty: Type, in_union: bool = False) -> Type:
    """The type of a value's cotangent in programs.

    In members of unions lists of arrays are such lists; elsewhere they are numbers yet
    (`list_tangents.py`).
    """
    match ty:
        case Sum() if is_union(ty):
            shown = [shown_type(payload, True) for payload in ty.payloads]
            if is_varied(ty):
                return varied(*shown)
            return union_of({kind_of(t): t for t in shown}.values())
        case Product(_, ListNames()) if in_union and has_float(ty):
            return ty
        case Product(fields, names):
            return Product(tuple(shown_type(f, in_union) for f in fields), names)
        case Array(elem, rank) if has_float(ty):
            return Array(shown_type(elem, in_union), rank)
        case _:
            return cotangent_type(ty)


def shown(b: Builder, ct: Operand, primal: Operand) -> Operand:
    """CHAD's cotangent or tangent of a value as programs have it."""
    ty = primal.type
    if not holds_union(ty):
        return ct
    match ty:
        case Product(fields, names):
            parts = [
                shown(b, b.one(Proj(ct, k)), b.one(Proj(primal, k)))
                for k in range(len(fields))
            ]
            return b.one(Tuple(tuple(parts), names))
        case Array(elem, rank) if has_pieces(elem):
            rows = b.one(Apply(WithReals(Array(row_type(elem), rank)), (ct, primal)))
            if rows.type == shown_type(ty):
                return rows
            return each(b, [rows], rank, lambda i, o: _shown_row(i, o[0], elem))
        case Array(_, rank):
            return each(b, [ct, primal], rank, lambda i, o: shown(i, o[0], o[1]))
        case _:
            return by_member(b, primal, lambda i, k, p: _shown_member(i, ct, ty, k, p))


def _shown_member(
    b: Builder, ct: Operand, ty: Type, index: int, payload: Operand
) -> Operand:
    part = like(b, shown(b, b.one(Proj(ct, index)), payload), payload)
    return injected(b, shown_type(ty), part)


def injected(b: Builder, ty: Type, value: Operand) -> Operand:
    """A value as one of a union, if it is one of several things."""
    if not isinstance(ty, Sum) or not is_union(ty):
        return value
    kinds = [kind_of(member) for member in ty.payloads]
    return b.one(Inject(ty, kinds.index(kind_of(value.type)), value))


def hidden(b: Builder, tangent: Operand, primal: Operand, check: Check) -> Operand:
    """A tangent or cotangent of a program as CHAD has it.

    It is `shown_type`'s. The program fails if it is of another member than the value;
    `check` sees to the sizes of arrays.
    """
    ty = primal.type
    if not holds_union(ty):
        check(b, tangent, primal)
        return tangent
    match ty:
        case Product(fields, names):
            parts = [
                hidden(b, b.one(Proj(tangent, k)), b.one(Proj(primal, k)), check)
                for k in range(len(fields))
            ]
            return b.one(Tuple(tuple(parts), names))
        case Array(_, rank):
            for axis in range(rank):
                sizes = [b.apply(Dim(axis), [a])[0] for a in (tangent, primal)]
                b.prim("same", *sizes)
            both = [tangent, primal]
            if has_pieces(ty.elem):
                rows = each(b, both, rank, lambda i, o: _row(i, o[0], o[1], check))
                return b.one(Apply(Reals(), (rows, primal)))
            return each(b, both, rank, lambda i, o: hidden(i, o[0], o[1], check))
        case _:
            return by_member(
                b, primal, lambda i, k, p: _hidden_member(i, tangent, ty, k, p, check)
            )


def _hidden_member(
    b: Builder, tangent: Operand, ty: Type, index: int, payload: Operand, check: Check
) -> Operand:
    """The cotangents of all members, zeros for all but this one."""
    kind = kind_of(shown_type(payload.type, True))
    wanted = [cotangent_type(member) for member in members(ty)]

    def of_member(inner: Builder, _: int, value: Operand) -> Operand:
        parts = [placeholder(inner, w) for w in wanted]
        if kind_of(value.type) == kind:
            own = numbers_of(inner, value, payload)
            parts[index] = hidden(inner, own, payload, check)
        else:
            of_other_member(inner)
        return inner.one(Tuple(tuple(parts)))

    if not is_union(tangent.type):
        return of_member(b, 0, tangent)
    return by_member(b, tangent, of_member)


def of_other_member(b: Builder) -> None:
    """Fail: a cotangent is of another class than its value."""
    b.apply(Require("TypeError", _OTHER_MEMBER), [Lit(False)])


# ---- elements of arrays that hold arrays of sizes of their own


def row_type(ty: Type) -> Type:
    """The type of an element's cotangent: sums of those of what each member holds."""
    match ty:
        case Sum(constructors):
            return Sum(tuple((name, row_type(held)) for name, held in constructors))
        case Product(fields, names):
            return Product(tuple(map(row_type, fields)), names)
        case Array(elem, rank) if has_float(elem):
            return Array(row_type(elem), rank)
        case _:
            return cotangent_type(ty)


def _shown_row(b: Builder, row: Operand, ty: Type) -> Operand:
    """The cotangent of an element as programs have it."""
    if not holds_union(ty):
        return row
    match ty:
        case Product(fields, names):
            parts = [
                _shown_row(b, b.one(Proj(row, k)), field)
                for k, field in enumerate(fields)
            ]
            return b.one(Tuple(tuple(parts), names))
        case Array(elem, rank):
            return each(b, [row], rank, lambda i, o: _shown_row(i, o[0], elem))
        case _:
            shown, held = shown_type(ty), members(ty)
            return by_member(
                b, row, lambda i, k, p: injected(i, shown, _shown_row(i, p, held[k]))
            )


def _row(b: Builder, tangent: Operand, primal: Operand, check: Check) -> Operand:
    """The cotangent of an element, which programs have, of the member that it is."""
    ty = primal.type
    if not holds_union(ty):
        check(b, tangent, primal)
        return tangent
    match ty:
        case Product(fields, names):
            parts = [
                _row(b, b.one(Proj(tangent, k)), b.one(Proj(primal, k)), check)
                for k in range(len(fields))
            ]
            return b.one(Tuple(tuple(parts), names))
        case Array(_, rank):
            both = [tangent, primal]
            return each(b, both, rank, lambda i, o: _row(i, o[0], o[1], check))
        case _:
            return by_member(
                b, primal, lambda i, k, p: _row_member(i, tangent, ty, k, p, check)
            )


def _row_member(
    b: Builder, tangent: Operand, ty: Type, index: int, payload: Operand, check: Check
) -> Operand:
    """The cotangent of a member, if that is what the tangent is."""
    kind, wanted = kind_of(shown_type(payload.type, True)), row_type(ty)
    assert isinstance(wanted, Sum)

    def of_member(inner: Builder, _: int, value: Operand) -> Operand:
        if kind_of(value.type) == kind:
            held = _row(inner, value, payload, check)
        else:
            of_other_member(inner)
            held = placeholder(inner, wanted.payloads[index])
        return inner.one(Inject(wanted, index, held))

    if not is_union(tangent.type):
        return of_member(b, 0, tangent)
    return by_member(b, tangent, of_member)


def without_integers(b: Builder, value: Operand) -> Operand:
    """A value with None for what holds no reals, of the type that `shown_type` says.

    Lists of arrays that are not in unions have become their numbers already.
    """
    ty = value.type
    if shown_type(ty) == ty or (list_names(ty) is not None and has_float(ty)):
        return value
    match ty:
        case Product(fields, names):
            parts = [
                without_integers(b, b.one(Proj(value, k))) for k in range(len(fields))
            ]
            return b.one(Tuple(tuple(parts), names))
        case Array(_, rank) if has_float(ty):
            return each(b, [value], rank, lambda i, o: without_integers(i, o[0]))
        case Sum() if is_union(ty):
            return by_member(
                b,
                value,
                lambda i, _, p: injected(i, shown_type(ty), without_integers(i, p)),
            )
        case _:
            assert cotangent_type(ty) == NONE
            return b.one(NONE_VALUE)


def by_member(
    b: Builder, value: Operand, give: Callable[[Builder, int, Operand], Operand]
) -> Operand:
    """What is given for the member that a value is."""
    branches = []
    for k, payload in enumerate(members(value.type)):
        param, inner = Var("member", payload), b.child()
        branches.append(Lambda((param,), inner.block([give(inner, k, param)])))
    return b.one(Case(value, tuple(branches)))


def each(
    b: Builder,
    arrays: Sequence[Operand],
    rank: int,
    give: Callable[[Builder, Sequence[Operand]], Operand],
) -> Operand:
    """The array of what is given for the elements of arrays of the same sizes."""

    def level(outer: Builder, indices: tuple[Var, ...]) -> Operand:
        if len(indices) == rank:
            parts = [outer.apply(Index(), [a, *indices])[0] for a in arrays]
            return give(outer, parts)
        index, inner = Var("i", I64), outer.child()
        body = Lambda((index,), inner.block([level(inner, (*indices, index))]))
        (size,) = outer.apply(Dim(len(indices)), [arrays[-1]])
        return outer.apply(Build(), [size], [body])[0]

    shape = [b.apply(Dim(axis), [arrays[-1]])[0] for axis in range(rank)]
    return sized(b, level(b, ()), shape)
