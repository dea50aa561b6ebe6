"""Cotangents and tangents of packed recursive data, for users and for CHAD.

For users a cotangent of recursive data is data of the same classes and the same
structure, with None in the place of what is no real. CHAD's has the reals alone, and
nothing in the place of numbers of nodes (`packed.py`). Here one becomes the other, by
the value that it belongs to.
"""

from __future__ import annotations

from functools import lru_cache

from chadllvm.errors import closure_errors
from chadllvm.frontend import union_cotangents
from chadllvm.frontend.arithmetic import convert, join
from chadllvm.frontend.list_tangents import own
from chadllvm.frontend.reals import as_reals, fits
from chadllvm.frontend.union_cotangents import (
    Check,
    by_member,
    each,
    hidden,
    injected,
    of_other_member,
    without_integers,
)
from chadllvm.frontend.unions import NONE_VALUE, placeholder
from chadllvm.frontend.width import is_weak, to_width
from chadllvm.ir.build import Builder
from chadllvm.ir.record import ReferenceNames
from chadllvm.ir.term import Apply, Operand, Proj, Tuple
from chadllvm.ir.types import (
    I64,
    Array,
    Product,
    Sum,
    Type,
    cotangent_type,
    has_float,
    holds_reference,
    is_float,
    references,
)
from chadllvm.ir.union import is_union, kind_of, members, union_of
from chadllvm.ops.index import Dim
from chadllvm.ops.require import Require
from chadllvm.support.diagnostic import Span

_OTHER_STRUCTURE = "a tangent or cotangent is made otherwise than its value"


def shown_type(ty: Type) -> Type:
    """The type of a value's cotangent in programs."""
    if not holds_reference(ty):
        return union_cotangents.shown_type(ty)
    match ty:
        case Product(_, ReferenceNames() as names):
            return Product((I64,), _of_gradients(names))
        case Product(fields, names):
            return Product(tuple(map(shown_type, fields)), names)
        case Sum():
            found = {kind_of(t): t for t in map(shown_type, ty.payloads)}
            return union_of(found.values())
        case _:
            assert isinstance(ty, Array)
            return Array(shown_type(ty.elem), ty.rank)


@lru_cache(maxsize=4096)
def _of_gradients(names: ReferenceNames) -> ReferenceNames:
    """The class of gradients: the same one if all that it holds are reals."""
    contents = (of.content for of in references([Product((I64,), names)]))
    if not any(map(_holds_others, contents)):
        return names

    def read() -> Type:
        return shown_type(names.content)

    return ReferenceNames(names.record, read, names)


def _holds_others(ty: Type) -> bool:
    """Whether there are numbers in a value that are no reals."""
    match ty:
        case Product(_, ReferenceNames()):
            return False
        case Product(fields):
            return any(map(_holds_others, fields))
        case Sum():
            return any(map(_holds_others, ty.payloads))
        case Array(elem, _):
            return _holds_others(elem)
        case _:
            return not is_float(ty)


def shown(b: Builder, ct: Operand | None, primal: Operand) -> Operand:
    """CHAD's cotangent or tangent as programs have it, both packed.

    It is None where it holds no reals.
    """
    ty = primal.type
    if not holds_reference(ty):
        if has_float(ty):
            assert ct is not None
            return own(b, ct, primal)
        return without_integers(b, primal)
    match ty:
        case Product(_, ReferenceNames() as names):
            return b.one(Tuple((b.one(Proj(primal, 0)),), _of_gradients(names)))
        case Product(fields, names):
            parts = [
                shown(b, _part(b, ct, k, field), b.one(Proj(primal, k)))
                for k, field in enumerate(fields)
            ]
            return b.one(Tuple(tuple(parts), names))
        case Sum():
            wanted = shown_type(ty)

            def of_member(b: Builder, k: int, payload: Operand) -> Operand:
                part = shown(b, _part(b, ct, k, payload.type), payload)
                return injected(b, wanted, part)

            return by_member(b, primal, of_member)
        case _:
            assert isinstance(ty, Array)
            if not has_float(ty):
                return each(b, [primal], ty.rank, lambda i, o: shown(i, None, o[0]))
            assert ct is not None
            return each(b, [ct, primal], ty.rank, lambda i, o: shown(i, o[0], o[1]))


def _part(b: Builder, ct: Operand | None, k: int, ty: Type) -> Operand | None:
    if ct is None or not has_float(ty):
        return None
    return b.one(Proj(ct, k))


# ---- what users give -------------------------------------------------------------


def alike(b: Builder, value: Operand, ty: Type, span: Span) -> Operand:
    """What is given as a cotangent for a value of a type, as one of its own type.

    That is the one of cotangents where there are references in it, or that of the
    value, for records with integers cannot be made without them.
    """
    if not holds_reference(ty):
        return value
    found = value.type
    if isinstance(ty, Product) and not isinstance(ty.names, ReferenceNames):
        if not isinstance(found, Product) or found.names != ty.names:
            raise closure_errors.wrong_tangent(span, found, ty)
        if len(found.fields) != len(ty.fields):
            raise closure_errors.wrong_tangent(span, found, ty)
        parts = [
            alike(b, b.one(Proj(value, k)), field, span)
            for k, field in enumerate(ty.fields)
        ]
        return b.one(Tuple(tuple(parts), ty.names))
    for wanted in (ty, shown_type(ty), _of_primals(ty)):
        if join(found, wanted) == wanted:
            return convert(b, value, wanted)
    raise closure_errors.wrong_tangent(span, found, ty)


def _of_primals(ty: Type) -> Type:
    """The type of the values that gradients of a type are by."""
    match ty:
        case Product(_, ReferenceNames() as names) if names.primal is not None:
            return Product((I64,), names.primal)
        case Product(fields, names):
            return Product(tuple(map(_of_primals, fields)), names)
        case Sum():
            return union_of(map(_of_primals, ty.payloads))
        case Array(elem, rank):
            return Array(_of_primals(elem), rank)
        case _:
            return ty


class Given:
    """What a user gives as cotangents, at a place in the program."""

    def __init__(self, span: Span, check: Check) -> None:
        self.span, self.check = span, check

    def reals(self, b: Builder, value: Operand, primal: Operand) -> Operand:
        """A packed cotangent as CHAD has it; of another structure it fails."""
        ty = primal.type
        if not holds_reference(ty):
            return self._plain(b, value, primal)
        match ty:
            case Product(_, ReferenceNames() as names):
                pair = b.one(Proj(value, 0)), b.one(Proj(primal, 0))
                is_same = b.prim("ieq", *pair)
                b.apply(Require("ValueError", _OTHER_STRUCTURE), [is_same])
                return b.one(Tuple((b.one(NONE_VALUE),), names))
            case Product(fields, names):
                parts = [
                    self.reals(b, b.one(Proj(value, k)), b.one(Proj(primal, k)))
                    for k in range(len(fields))
                ]
                return b.one(Tuple(tuple(parts), names))
            case Sum():
                return by_member(
                    b, primal, lambda i, k, p: self._member(i, value, ty, k, p)
                )
            case _:
                assert isinstance(ty, Array)
                return self._items(b, value, primal, ty)

    def _plain(self, b: Builder, value: Operand, primal: Operand) -> Operand:
        """Of what holds no references."""
        wanted = union_cotangents.shown_type(primal.type)
        if is_weak(value) and is_float(wanted):
            value = to_width(b, value, wanted)
        value = without_integers(b, value)
        if not fits(value.type, wanted):
            raise closure_errors.wrong_tangent(self.span, value.type, wanted)
        return hidden(b, as_reals(b, value, wanted), primal, self.check)

    def _items(self, b: Builder, value: Operand, primal: Operand, ty: Array) -> Operand:
        for axis in range(ty.rank):
            sizes = [b.one(Apply(Dim(axis), (a,))) for a in (value, primal)]
            is_same = b.prim("ieq", *sizes)
            b.apply(Require("ValueError", _OTHER_STRUCTURE), [is_same])
        found = each(
            b, [value, primal], ty.rank, lambda i, o: self.reals(i, o[0], o[1])
        )
        # Whether they are of the same structure has been asked though.
        return found if has_float(ty) else b.one(NONE_VALUE)

    def _member(
        self, b: Builder, value: Operand, ty: Sum, index: int, payload: Operand
    ) -> Operand:
        """The cotangents of all members, zeros for all but this one."""
        kind = kind_of(shown_type(payload.type))
        wanted = [cotangent_type(member) for member in members(ty)]

        def of_member(inner: Builder, _: int, found: Operand) -> Operand:
            parts = [placeholder(inner, w) for w in wanted]
            if kind in (kind_of(found.type), kind_of(shown_type(found.type))):
                parts[index] = self.reals(inner, found, payload)
            else:
                of_other_member(inner)
            return inner.one(Tuple(tuple(parts)))

        if not is_union(value.type):
            return of_member(b, 0, value)
        return by_member(b, value, of_member)
