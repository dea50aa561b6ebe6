"""`match`: each case is a branch, whose test asks what its pattern says.

    match s:                       if case s { Circle: true  Square: false } {
        case Circle(r): …     →        r = (s as a Circle).0; …
        case Square(a): …          } else { a = (s as a Square).0; … }

`match_statement.py` has made branches of it; here their tests are translated, and what
they capture. That a case is never come to, or that something is left over, is seen from
the types (`patterns.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from chadllvm.errors import flow_errors, union_errors
from chadllvm.frontend.arithmetic import compare, convert, join
from chadllvm.frontend.conditions import condition
from chadllvm.frontend.context import Context
from chadllvm.frontend.match_statement import (
    Captured,
    Matched,
    Uncovered,
    captures,
)
from chadllvm.frontend.narrowing import assume
from chadllvm.frontend.patterns import (
    ANY,
    NEVER,
    constant_of,
    has_members,
    mapping_parts,
    missing,
    normal,
    number_in,
    sequence_parts,
    subpatterns,
)
from chadllvm.frontend.recovery import POISON
from chadllvm.frontend.unions import is_one_of, narrowed
from chadllvm.frontend.width import component
from chadllvm.ir.term import If, Lit, Operand
from chadllvm.ir.types import Product, Sum, opened_type, reference_names
from chadllvm.ir.union import is_union, members
from chadllvm.support.diagnostic import InternalError

# ---- tests -----------------------------------------------------------------------


def matched(cx: Context, node: Matched) -> Operand:
    """Whether a case is taken, of which those before were not."""
    value = cx.value(node.subject)
    fits = _fits(cx, node.pattern, value)
    if node.guard is None:
        return fits
    with cx.nested() as b:
        assume(cx, _unguarded(node), True)
        for name in captures(node.pattern):
            cx.scope.bind(name, _taken(cx, node.pattern, value, name))
        holds = condition(cx, node.guard)
    orelse = cx.builder.child().block([Lit(False)])
    return cx.at(node).one(If(fits, b.block([holds]), orelse))


def _unguarded(node: Matched) -> Matched:
    plain = Matched(node.subject, node.pattern, None, node.earlier)
    return ast.copy_location(plain, node)


def _fits(cx: Context, pattern: ast.pattern, value: Operand) -> Operand:
    """Whether a value fits a pattern."""
    form = normal(cx, pattern, value.type)
    if form == ANY:
        return Lit(True)
    if form == NEVER:
        return Lit(False)
    b = cx.at(pattern)
    match pattern:
        case ast.MatchAs(ast.pattern() as inner):
            return _fits(cx, inner, value)
        case ast.MatchOr(patterns):
            return _together(cx, pattern, [_fits(cx, p, value) for p in patterns], "or")
    if isinstance(value.type, Sum) and is_union(value.type):
        return _fits_member(cx, pattern, value, value.type)
    match pattern:
        case ast.MatchValue(node):
            number = number_in(constant_of(cx, node))
            assert number is not None
            return compare(b, ast.Eq(), value, Lit(number + 0))
        case ast.MatchSingleton(wanted):
            return value if wanted else b.prim("not", value)
        case _:
            tests = [_fits(cx, p, v) for p, v in _parts(cx, pattern, value)]
            return _together(cx, pattern, tests, "and")


def _fits_member(cx: Context, pattern: ast.pattern, value: Operand, ty: Sum) -> Operand:
    """Whether a value is a member that fits; of the others nothing is asked."""
    b = cx.at(pattern)
    tests = []
    forms = [normal(cx, pattern, member) for member in members(ty)]
    whole = [k for k, form in enumerate(forms) if form == ANY]
    if whole:
        tests.append(is_one_of(b, value, whole))
    for k, form in enumerate(forms):
        if form not in (ANY, NEVER):
            tests.append(_fits_inside(cx, pattern, value, k))
    return _together(cx, pattern, tests, "or")


def _fits_inside(cx: Context, pattern: ast.pattern, value: Operand, k: int) -> Operand:
    """Whether a value is this member, and one that fits."""
    is_this = is_one_of(cx.at(pattern), value, [k])
    if reference_names(members(value.type)[k]) is None:
        inside = _fits(cx, pattern, narrowed(cx.at(pattern), value, [k]))
        return _together(cx, pattern, [is_this, inside], "and")
    # Of what is no reference there is no node to ask.
    with cx.nested() as b:
        inside = _fits(cx, pattern, narrowed(cx.at(pattern), value, [k]))
    orelse = cx.builder.child().block([Lit(False)])
    return cx.at(pattern).one(If(is_this, b.block([inside]), orelse))


def _together(
    cx: Context, node: ast.pattern, tests: Sequence[Operand], name: str
) -> Operand:
    """All of these, or one of them: they are asked all, for nothing can fail."""
    stops = name == "or"
    if Lit(stops) in tests:
        return Lit(stops)
    open_tests = [test for test in tests if not isinstance(test, Lit)]
    if not open_tests:
        return Lit(not stops)
    result = open_tests[0]
    for test in open_tests[1:]:
        result = cx.at(node).prim(name, result, test)
    return result


def _parts(
    cx: Context, pattern: ast.pattern, value: Operand
) -> Iterator[tuple[ast.pattern, Operand]]:
    """The patterns in a pattern that a value is known to fit as a whole."""
    ty = value.type
    match pattern:
        case ast.MatchClass():
            for name, inner in subpatterns(cx, pattern, ty) or ():
                yield inner, _attribute(cx, pattern, value, name) if name else value
        case ast.MatchSequence(patterns):
            for k, inner in (sequence_parts(cx, pattern, patterns, ty) or {}).items():
                yield inner, component(cx.at(pattern), value, k)
        case ast.MatchMapping():
            assert isinstance(ty, Product)
            for key, inner in (mapping_parts(cx, pattern, ty) or {}).items():
                yield inner, component(cx.at(pattern), value, ty.names.index(key))
        case _:
            raise InternalError(f"{cx.span(pattern)}: a pattern without parts")


def _attribute(cx: Context, node: ast.pattern, value: Operand, name: str) -> Operand:
    """A field, or a property, of what is matched."""
    ty = value.type
    held = opened_type(ty)
    if isinstance(held, Product) and name in held.names:
        return component(cx.at(node), value, held.names.index(name))
    owner = ast.Constant(None)
    ast.copy_location(owner, node)
    read = ast.Attribute(cx.settled(owner, value), name, ast.Load())
    return cx.value(ast.copy_location(read, node))


# ---- captures --------------------------------------------------------------------


def captured(cx: Context, node: Captured) -> Operand:
    """What a name of a pattern stands for, where the value fits the pattern."""
    return _taken(cx, node.pattern, cx.value(node.subject), node.name)


def _taken(cx: Context, pattern: ast.pattern, value: Operand, name: str) -> Operand:
    match pattern:
        case ast.MatchAs(None, found) if found == name:
            return value
        case ast.MatchAs(ast.pattern() as inner, found):
            if found == name:
                return _as_fitting(cx, inner, value)
            return _taken(cx, inner, value, name)
        case ast.MatchOr(patterns):
            fitting = [p for p in patterns if normal(cx, p, value.type) != NEVER]
            return _taken_of(cx, fitting, value, name)
    value = _as_fitting(cx, pattern, value)
    if isinstance(value.type, Sum):
        raise union_errors.unsupported_pattern(cx.span(pattern))
    for inner, part in _parts(cx, pattern, value):
        if name in captures(inner):
            return _taken(cx, inner, part, name)
    raise InternalError(f"{cx.span(pattern)}: `{name}` is not captured")


def _as_fitting(cx: Context, pattern: ast.pattern, value: Operand) -> Operand:
    """A value of a union as one of the members that fit a pattern."""
    if not isinstance(value.type, Sum) or not is_union(value.type):
        return value
    found = [
        k
        for k, member in enumerate(members(value.type))
        if normal(cx, pattern, member) != NEVER
    ]
    if not 0 < len(found) < len(members(value.type)):
        return value
    return narrowed(cx.at(pattern), value, found)


def _taken_of(
    cx: Context, patterns: Sequence[ast.pattern], value: Operand, name: str
) -> Operand:
    """What the first alternative captures that the value fits."""
    first, *others = patterns
    if not others:
        return _taken(cx, first, value, name)
    test = _fits(cx, first, value)
    if isinstance(test, Lit):
        return _taken_of(cx, [first] if test.value else others, value, name)
    with cx.nested() as then:
        x = _taken(cx, first, value, name)
    with cx.nested() as orelse:
        y = _taken_of(cx, others, value, name)
    ty = join(x.type, y.type)
    if ty is None:
        raise flow_errors.different_branches(cx.span(first), x.type, y.type)
    blocks = [b.block([convert(b, v, ty)]) for b, v in ((then, x), (orelse, y))]
    return cx.at(first).one(If(test, *blocks), name)


# ---- what is left ----------------------------------------------------------------


def uncovered(cx: Context, node: Uncovered) -> Operand:
    """Behind the last case: refuse what no case covers, if all has to be covered."""
    if node.is_end and cx.mistakes:  # Of which this may be a consequence.
        raise POISON.error(cx.span(node))
    ty = cx.matched.get(node.cases[0])
    if node.is_end or (ty is not None and has_members(ty)):
        patterns = [case.pattern for case in node.cases if case.guard is None]
        lacking = ["_"] if ty is None else missing(cx, patterns, ty)
        if lacking:
            raise union_errors.not_covered(cx.span(node), lacking)
    return Lit(False)
