"""What a test tells of the values of unions: `isinstance(x, Circle)`, `x is None`.

    if isinstance(s, Circle):        if case s { Circle: true  Square: false } {
        a = s.r                 →        c = case s { Circle(m): m  Square: zeros }
    else:                                … c.0 …
        a = s.side                   } else { … }

In a branch, a name, or a field of one, that such a test is about stands for the value
as the member that it is there: values do not change, so this holds up to the end of the
block. What the types decide alone is decided when the program is compiled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from chadllvm.errors import call_errors
from chadllvm.frontend.classes import classes_of, is_instance
from chadllvm.frontend.context import Context
from chadllvm.frontend.match_statement import Matched
from chadllvm.frontend.patterns import matched_members
from chadllvm.frontend.references import opened
from chadllvm.frontend.scope import NotStatic, Place
from chadllvm.frontend.unions import is_one_of, narrowed
from chadllvm.ir.record import RecordNames
from chadllvm.ir.term import Lit, Operand, Proj, Var
from chadllvm.ir.types import Product, Type, opened_type
from chadllvm.ir.union import is_none, is_union, members

# Which members a test lets through, by the place that it is about.
Kept = dict[Place, frozenset[int]]

Accepts = Callable[[Type], bool]


class TypeTest:
    """`isinstance(value, …)`, `value is None` or `value is not None`."""

    def __init__(self, node: ast.expr, value: ast.expr, accepts: Accepts) -> None:
        self.node = node
        self.value = value
        self.accepts = accepts

    def kept(self, ty: Type, outcome: bool = True) -> frozenset[int]:
        """The members of which it is true, or false."""
        return frozenset(
            k for k, m in enumerate(members(ty)) if self.accepts(m) is outcome
        )

    def outcome(self, ty: Type) -> bool | None:
        """The outcome for all values of this type, if there is only one."""
        count = len(self.kept(ty))
        if count == 0:
            return False
        return True if count == len(members(ty)) else None

    def ask(self, cx: Context) -> Operand:
        """Whether it is true of the value."""
        value = cx.make(cx, self.value, cx.of_any_member(self.value))
        known = self.outcome(value.type)
        if known is not None:
            return Lit(known)
        return is_one_of(cx.at(self.node), value, self.kept(value.type))


def type_test(cx: Context, node: ast.expr) -> TypeTest | None:
    """The test that an expression is, if it is one of a value of the program."""
    match node:
        case ast.Compare(value, [ast.Is() | ast.IsNot() as op], [ast.Constant(None)]):
            wanted = isinstance(op, ast.Is)
            return TypeTest(node, value, lambda ty: is_none(ty) is wanted)
        case ast.Call(ast.Name("isinstance") as function, [value, which], []):
            if not _is_builtin(cx, function):
                return None
            classes = tuple(classes_of(cx, which))
            return TypeTest(node, value, lambda ty: is_instance(cx, which, ty, classes))
        case _:
            return None


def _is_builtin(cx: Context, function: ast.Name) -> bool:
    try:
        return cx.static(function) is isinstance
    except NotStatic:
        return False


def instance_test(cx: Context, node: ast.Call) -> Operand:
    """`isinstance(value, Circle)` as a value."""
    test = type_test(cx, node)
    if test is None:
        raise call_errors.wrong_argument_count(
            cx.span(node), "isinstance", "a value and a class"
        )
    return test.ask(cx)


# ---- places ----------------------------------------------------------------------


def place_of(cx: Context, node: ast.expr) -> tuple[Place, Type] | None:
    """The place that a name, or a field of one, is; with what is known of its type."""
    match node:
        case ast.Name(name):
            value = cx.scope.lookup(name)
            return ((value, ()), value.type) if isinstance(value, Var) else None
        case ast.Attribute(owner, name):
            inside = place_of(cx, owner)
            return None if inside is None else _field(cx, *inside, name)
        case _:
            return None


def _field(cx: Context, place: Place, ty: Type, name: str) -> tuple[Place, Type] | None:
    ty = opened_type(ty)
    if not isinstance(ty, Product) or name not in ty.names:
        return None
    if not isinstance(ty.names, RecordNames) or not ty.names.is_class:
        return None
    inside: Place = (place[0], (*place[1], name))
    found = cx.scope.known(inside)
    while isinstance(found, Var):
        inside = (found, ())
        found = cx.scope.known(inside)
    if not inside[1]:
        return inside, inside[0].type
    return inside, ty.fields[ty.names.index(name)]


def known_field(cx: Context, node: ast.Attribute) -> Operand | None:
    """The value of a field of which a test has told more than its type does."""
    found = place_of(cx, node)
    return found[0][0] if found is not None and not found[0][1] else None


# ---- what tests tell -------------------------------------------------------------


def decided_by_type(cx: Context, node: ast.expr) -> bool:
    """The outcome of a test that types decide, or `NotStatic`."""
    test = type_test(cx, node)
    found = None if test is None else place_of(cx, test.value)
    outcome = None
    if test is not None and found is not None:
        outcome = test.outcome(found[1])
    if outcome is None:
        raise NotStatic
    return outcome


def assume(cx: Context, node: ast.expr, outcome: bool) -> None:
    """Take it as known in this block that a test has had this outcome."""
    match node:
        case ast.UnaryOp(ast.Not(), operand):
            assume(cx, operand, not outcome)
            return
        case ast.BoolOp(op, values) if isinstance(op, ast.And) is outcome:
            for value in values:
                assume(cx, value, outcome)
            return
    for place, kept in told(cx, node, outcome).items():
        _keep(cx, node, place, kept)


def assume_told(cx: Context, node: ast.expr, kept: Kept) -> None:
    """Take as known what a test has told of values, whatever names stand for now."""
    for place, those in kept.items():
        _keep(cx, node, place, those)


def _keep(cx: Context, node: ast.expr, place: Place, kept: frozenset[int]) -> None:
    """Take it as known that what is at a place is one of these members."""
    value, path = place
    b = cx.at(node)
    operand: Operand = value
    for name in path:
        operand = opened(b, operand)
        assert isinstance(operand.type, Product)
        operand = b.one(Proj(operand, operand.type.names.index(name)))
    if 0 < len(kept) < len(members(operand.type)):
        cx.scope.narrowed[place] = narrowed(b, operand, kept)


def told(cx: Context, node: ast.expr, outcome: bool) -> Kept:
    """The members that remain, by place, where a test has this outcome."""
    match node:
        case ast.UnaryOp(ast.Not(), operand):
            return told(cx, operand, not outcome)
        case ast.BoolOp(op, values):
            parts = [told(cx, value, outcome) for value in values]
            return _all(parts) if isinstance(op, ast.And) is outcome else _any(parts)
        case Matched(subject):
            of = place_of(cx, subject)
            if of is None or not is_union(of[1]):
                return {}
            return {of[0]: matched_members(cx, node, of[1], outcome)}
    test = type_test(cx, node)
    found = None if test is None else place_of(cx, test.value)
    if test is None or found is None or not is_union(found[1]):
        return {}
    place, ty = found
    return {place: test.kept(ty, outcome)}


def _all(parts: list[Kept]) -> Kept:
    """What is left where all of several things are known."""
    found: Kept = {}
    for part in parts:
        for place, kept in part.items():
            found[place] = found.get(place, kept) & kept
    return found


def _any(parts: list[Kept]) -> Kept:
    """What is left where one of several things is known."""
    places = set.intersection(*(set(part) for part in parts))
    return {
        place: frozenset().union(*(part[place] for part in parts)) for place in places
    }
