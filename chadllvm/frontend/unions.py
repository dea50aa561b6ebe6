"""Values of unions: made where paths with different classes meet, and taken apart.

x = Circle(r) if c else Square(a)    →   inject Circle, inject Square
shape, known to be a Circle          →   case shape { Circle: its fields  …: zeros }
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from chadllvm.ir.build import Builder
from chadllvm.ir.record import NONE_NAMES
from chadllvm.ir.term import Binding, Case, Inject, Lambda, Lit, Operand, Tuple, Var
from chadllvm.ir.types import Product, Sum, Type
from chadllvm.ir.union import is_class, is_none, is_union, kind_of, members, union_of
from chadllvm.ops.index import nothing

Join = Callable[[Type, Type], Type | None]
Convert = Callable[[Builder, Operand, Type], Operand]

NONE_VALUE = Tuple((), NONE_NAMES)


def may_unite(first: Type, second: Type) -> bool:
    """Whether values of both types, which are not the same, make up a union.

    Records of several classes do, what may be None, and what is one of a union already;
    a number and a record say, which is a mistake as a rule, do so by annotation only.
    """
    kinds = {kind_of(member) for ty in (first, second) for member in members(ty)}
    if None in kinds or len(kinds) == 1:
        return False
    if is_union(first) or is_union(second) or is_none(first) or is_none(second):
        return True
    return is_class(first) and is_class(second)


def join_unions(first: Type, second: Type, join: Join) -> Type | None:
    """The union of the members of two; those of the same kind are joined."""
    found = {kind_of(member): member for member in members(first)}
    for member in members(second):
        kind = kind_of(member)
        joined = join(found[kind], member) if kind in found else member
        if joined is None:
            return None
        found[kind] = joined
    return union_of(found.values())


def index_of(ty: Sum, member: Type) -> int:
    """Which member of a union values of this type are, or become."""
    kinds, kind = [kind_of(payload) for payload in ty.payloads], kind_of(member)
    # A regular array is a list of its rows where a list is asked for.
    return kinds.index(kind if kind in kinds or kind != "array" else "list")


def convert_union(b: Builder, value: Operand, ty: Sum, convert: Convert) -> Operand:
    """A value as one of a union that it is a member of, or of all of whose members."""
    if is_union(value.type):
        assert isinstance(value.type, Sum)
        branches = []
        for payload in value.type.payloads:
            param, inner = Var("member", payload), b.child()
            block = inner.block([convert_union(inner, param, ty, convert)])
            branches.append(Lambda((param,), block))
        return b.one(Case(value, tuple(branches)))
    index = index_of(ty, value.type)
    return b.one(Inject(ty, index, convert(b, value, ty.payloads[index])))


class Narrowed(Var):
    """A value of a union that is known to be one of several members of a larger one.

    Whoever asks which asks the value that it was before, of which `kept` are the
    members.
    """

    __slots__ = ("before", "kept")

    def __init__(
        self,
        name: str,
        type: Type,
        before: Operand | None = None,
        kept: tuple[int, ...] = (),
    ) -> None:
        super().__init__(name, type)
        self.before = before
        self.kept = kept


def _at_first(value: Operand, kept: Collection[int]) -> tuple[Operand, Collection[int]]:
    """The value that one was narrowed from, and these members among those of it."""
    if isinstance(value, Narrowed) and value.before is not None:
        return _at_first(value.before, [value.kept[k] for k in kept])
    return value, kept


def is_one_of(b: Builder, value: Operand, kept: Collection[int]) -> Operand:
    """Whether a value is one of the members at these positions."""
    value, kept = _at_first(value, kept)
    assert isinstance(value.type, Sum)
    branches = [
        Lambda((Var("member", payload),), b.child().block([Lit(k in kept)]))
        for k, payload in enumerate(value.type.payloads)
    ]
    return b.one(Case(value, tuple(branches)))


def known_type(b: Builder, value: Operand) -> Type | None:
    """The type that a value had before it was made one of a union just now."""
    if not is_union(value.type):
        return None
    for binding in reversed(b.bindings):
        if value in binding.vars:
            match binding.expr:
                case Inject(_, _, arg):
                    return arg.type
                case Case(arg, branches) if is_union(arg.type):
                    return arg.type if all(map(_injects, branches)) else None
            return None
    return None


def _injects(branch: Lambda) -> bool:
    """Whether what a branch gives is what it is given, as a member of a union."""
    bindings, results = branch.body.bindings, branch.body.results
    return (
        len(bindings) == 1
        and isinstance(bindings[0].expr, Inject)
        and (bindings[0].expr.arg in branch.params and results == bindings[0].vars)
    )


def narrowed(b: Builder, value: Operand, kept: Collection[int]) -> Operand:
    """A value that is sure to be one of these members, as what it is then."""
    value, kept = _at_first(value, kept)
    assert isinstance(value, Var) and isinstance(value.type, Sum)
    payloads = value.type.payloads
    ty = union_of(payloads[k] for k in sorted(kept))
    branches = []
    for k, payload in enumerate(payloads):
        param, inner = Var("member", payload), b.child()
        result: Operand = param
        if k not in kept:
            result = placeholder(inner, ty)
        elif isinstance(ty, Sum) and is_union(ty):
            result = inner.one(Inject(ty, index_of(ty, payload), param))
        branches.append(Lambda((param,), inner.block([result])))
    made = b.one(Case(value, tuple(branches)), value.name)
    if len(kept) == 1:
        return made
    last = b.bindings[-1]
    several = Narrowed(made.name, ty, value, tuple(sorted(kept)))
    b.bindings[-1] = Binding((several,), last.expr, last.span)
    return several


def placeholder(b: Builder, ty: Type) -> Operand:
    """A value of this type that nobody looks at."""
    match ty:
        case Product():
            parts = tuple([placeholder(b, field) for field in ty.fields])
            return b.one(Tuple(parts, ty.names))
        case Sum():
            return b.one(Inject(ty, 0, placeholder(b, ty.payloads[0])))
        case _:
            return nothing(b, ty)
