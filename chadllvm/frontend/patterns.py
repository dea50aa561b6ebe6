"""The patterns of a `match` by themselves: which values of a type they stand for.

    case Circle(r=0.0) | Square():      one of   Circle(0.0, …)
                                                 Square(…)

A pattern is brought into a normal form that knows the type of what it is matched with.
Whether a case is ever reached, and what no case covers, is then a question about rows
of patterns (L. Maranget, "Warnings for pattern matching", 2007): a row is *useful*
after others if some value fits it and none of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from chadllvm.errors import union_errors
from chadllvm.frontend.classes import classes_of, is_instance
from chadllvm.frontend.closures import is_tuple
from chadllvm.frontend.context import Context
from chadllvm.frontend.match_statement import Matched
from chadllvm.frontend.scope import NotStatic
from chadllvm.ir.record import Kind, RecordNames
from chadllvm.ir.types import (
    BOOL,
    Array,
    Product,
    Scalar,
    Sum,
    Type,
    opened_type,
    references,
)
from chadllvm.ir.union import is_none, is_union, members
from chadllvm.ir.wording import said

# ---- the normal form -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Whatever:
    """Every value of the type."""


@dataclass(frozen=True, slots=True)
class Made:
    """What is made by one of several constructors, with such parts.

    The members of a union are constructors, and True and False; a product has one. `of`
    are the types of what they make, and this one is at `index`.
    """

    index: int
    of: tuple[Type, ...]
    parts: tuple[Form, ...]

    @property
    def ty(self) -> Type:
        return self.of[self.index]


@dataclass(frozen=True, slots=True)
class Equal:
    """A value equal to this constant, of which there are any number of others."""

    value: Any


@dataclass(frozen=True, slots=True)
class OneOf:
    """What one of these stands for; of none, nothing."""

    options: tuple[Form, ...]


Form = Whatever | Made | Equal | OneOf
ANY = Whatever()
NEVER = OneOf(())


def normal(cx: Context, pattern: ast.pattern, ty: Type) -> Form:
    """The normal form of a pattern that is matched with values of this type."""
    if isinstance(ty, Sum) and is_union(ty) and not _is_wild(pattern):
        if isinstance(pattern, ast.MatchOr):
            return _one_of([normal(cx, p, ty) for p in pattern.patterns])
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
            return normal(cx, pattern.pattern, ty)
        forms = [normal(cx, pattern, member) for member in ty.payloads]
        return _one_of(
            [
                NEVER if form == NEVER else Made(k, ty.payloads, (form,))
                for k, form in enumerate(forms)
            ]
        )
    match pattern:
        case ast.MatchAs(None):
            return ANY
        case ast.MatchAs(ast.pattern() as inner):
            return normal(cx, inner, ty)
        case ast.MatchOr(patterns):
            return _one_of([normal(cx, p, ty) for p in patterns])
        case ast.MatchValue(value):
            return _constant(constant_of(cx, value), ty)
        case ast.MatchSingleton(value):
            return _singleton(value, ty)
        case ast.MatchClass():
            return _class(cx, pattern, ty)
        case ast.MatchSequence(patterns):
            return _sequence(cx, pattern, patterns, ty)
        case ast.MatchMapping():
            return _mapping(cx, pattern, ty)
        case _:
            raise union_errors.unsupported_pattern(cx.span(pattern))


def _is_wild(pattern: ast.AST) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def _one_of(forms: Sequence[Form]) -> Form:
    kept = tuple(form for form in forms if form != NEVER)
    return kept[0] if len(kept) == 1 else OneOf(kept)


def constant_of(cx: Context, node: ast.expr) -> Any:
    """The constant in a pattern."""
    match node:
        case ast.Constant(value):
            return value
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)):
            return -value
        case ast.Attribute():
            try:
                return cx.static(node)
            except NotStatic:
                pass
    raise union_errors.unsupported_pattern(cx.span(node))


def number_in(value: Any) -> int | float | bool | None:
    """The number that a constant is equal to, if there is one."""
    if isinstance(value, Enum) and not isinstance(value, int | float):
        return None
    return value if isinstance(value, int | float) else None


def _constant(value: Any, ty: Type) -> Form:
    number = number_in(value)
    if number is None or not isinstance(ty, Scalar):
        return NEVER
    if ty == BOOL:
        return Made(int(number), (BOOL, BOOL), ()) if number in (0, 1) else NEVER
    return Equal(number + 0)


def _singleton(value: bool | None, ty: Type) -> Form:
    """`True` and `False` are no numbers here: they are compared by `is`."""
    if value is None:
        return ANY if is_none(ty) else NEVER
    return Made(int(value), (BOOL, BOOL), ()) if ty == BOOL else NEVER


def subpatterns(
    cx: Context, pattern: ast.MatchClass, ty: Type
) -> list[tuple[str, ast.pattern]] | None:
    """The parts of a class pattern by attribute; None if the value is no instance.

    Of what is no record, the one part that there may be is the value itself: "".
    """
    classes = tuple(classes_of(cx, pattern.cls))
    if not is_instance(cx, pattern.cls, ty, classes):
        return None
    ty = opened_type(ty)
    names = ty.names if isinstance(ty, Product) else ()
    if not isinstance(names, RecordNames) or not names.is_class:
        if len(pattern.patterns) > 1 or pattern.kwd_attrs:
            raise union_errors.wrong_pattern_parts(cx.span(pattern), said(ty), ())
        return [("", inner) for inner in pattern.patterns]
    places = getattr(classes[0], "__match_args__", ())
    parts = [*zip(places, pattern.patterns, strict=False)]
    parts += zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True)
    given = [name for name, _ in parts]
    if len(pattern.patterns) > len(places) or len(set(given)) < len(given):
        raise union_errors.wrong_pattern_parts(cx.span(pattern), names.title, places)
    for name in given:
        if name not in names and not hasattr(names.python, name):
            raise union_errors.wrong_pattern_parts(
                cx.span(pattern), names.title, tuple(names)
            )
    return parts


def _class(cx: Context, pattern: ast.MatchClass, ty: Type) -> Form:
    parts = subpatterns(cx, pattern, ty)
    ty = opened_type(ty)
    if parts is None:
        return NEVER
    if not parts:
        return ANY
    if not isinstance(ty, Product) or parts[0][0] == "":
        return normal(cx, parts[0][1], ty)
    fields = {
        name: normal(cx, inner, ty.fields[ty.names.index(name)])
        for name, inner in parts
        if name in ty.names
    }
    # Of properties nothing is known, so that no two patterns of them are the same.
    others = [p for name, p in parts if name not in ty.names and not _is_wild(p)]
    if others:
        return Equal(id(pattern))
    return _product([fields.get(name, ANY) for name in ty.names], ty)


def _product(parts: Sequence[Form], ty: Type) -> Form:
    if NEVER in parts:
        return NEVER
    if all(part == ANY for part in parts):
        return ANY
    return Made(0, (ty,), tuple(parts))


def sequence_parts(
    cx: Context, node: ast.pattern, patterns: Sequence[ast.pattern], ty: Type
) -> dict[int, ast.pattern] | None:
    """The patterns of a tuple's components; None if it has another length."""
    ty = opened_type(ty)
    if isinstance(ty, Array):
        raise union_errors.pattern_of_array(cx.span(node), ty)
    if not is_tuple(ty):
        return None
    names = ty.names
    if isinstance(names, RecordNames) and not names.is_sequence:
        return None
    stars = [k for k, p in enumerate(patterns) if isinstance(p, ast.MatchStar)]
    count, size = len(patterns), len(ty.fields)
    if count - len(stars) > size or (not stars and count != size):
        return None
    if not stars:
        return dict(enumerate(patterns))
    star = patterns[stars[0]]
    assert isinstance(star, ast.MatchStar)
    if star.name is not None:
        raise union_errors.unsupported_pattern(cx.span(star))
    behind = count - stars[0] - 1
    return {
        **dict(enumerate(patterns[: stars[0]])),
        **{size - behind + k: p for k, p in enumerate(patterns[stars[0] + 1 :])},
    }


def _sequence(
    cx: Context, node: ast.pattern, patterns: Sequence[ast.pattern], ty: Type
) -> Form:
    parts = sequence_parts(cx, node, patterns, ty)
    ty = opened_type(ty)
    if parts is None:
        return NEVER
    assert isinstance(ty, Product)
    forms = [
        normal(cx, parts[k], field) if k in parts else ANY
        for k, field in enumerate(ty.fields)
    ]
    return _product(forms, ty)


def mapping_parts(
    cx: Context, pattern: ast.MatchMapping, ty: Type
) -> dict[str, ast.pattern] | None:
    """The patterns of a dictionary's values by key; None if a key is missing."""
    names = ty.names if isinstance(ty, Product) else ()
    if pattern.rest is not None:
        raise union_errors.unsupported_pattern(cx.span(pattern))
    if not isinstance(names, RecordNames) or names.kind is not Kind.DICT:
        return None
    keys = [constant_of(cx, key) for key in pattern.keys]
    if not all(key in names for key in keys):
        return None
    return dict(zip(keys, pattern.patterns, strict=True))


def _mapping(cx: Context, pattern: ast.MatchMapping, ty: Type) -> Form:
    parts = mapping_parts(cx, pattern, ty)
    if parts is None:
        return NEVER
    assert isinstance(ty, Product)
    forms = [
        normal(cx, parts[name], field) if name in parts else ANY
        for name, field in zip(ty.names, ty.fields, strict=True)
    ]
    return _product(forms, ty)


# ---- rows of patterns ------------------------------------------------------------

Row = tuple[Form, ...]


def left_over(rows: Sequence[Row], row: Row) -> tuple[str, ...] | None:
    """Values that fit a row and none of those before it, as they are written."""
    if not row:
        return None if rows else ()
    head, *rest = row
    match head:
        case OneOf(options):
            found = (left_over(rows, (option, *rest)) for option in options)
            return next((f for f in found if f is not None), None)
        case Made():
            return _behind(rows, head, (*head.parts, *rest))
        case Equal(value):
            below = left_over(list(_without(rows, value)), tuple(rest))
            return None if below is None else (repr(value), *below)
        case Whatever():
            return _any_left_over(rows, tuple(rest))


def _any_left_over(rows: Sequence[Row], rest: Row) -> tuple[str, ...] | None:
    made = {form.index: form for form in _heads(rows) if isinstance(form, Made)}
    if made and len(made) == len(next(iter(made.values())).of):
        for form in made.values():
            found = _behind(rows, form, ((ANY,) * len(form.parts)) + rest)
            if found is not None:
                return found
        return None
    below = left_over(list(_without(rows, None)), rest)
    if below is None:
        return None
    return (_absent(made) if made else "_", *below)


def _absent(made: dict[int, Made]) -> str:
    """What is made by a constructor that no row names."""
    some = next(iter(made.values()))
    missing = next(k for k in range(len(some.of)) if k not in made)
    return str(bool(missing)) if some.ty == BOOL else said_member(some.of[missing])


def _behind(rows: Sequence[Row], form: Made, row: Row) -> tuple[str, ...] | None:
    """What is left over of the values that a constructor makes."""
    found = left_over(list(_of_constructor(rows, form)), row)
    if found is None:
        return None
    parts, rest = found[: len(form.parts)], found[len(form.parts) :]
    return (_written(form, parts), *rest)


def _written(form: Made, parts: Sequence[str]) -> str:
    ty = opened_type(form.ty)
    if ty == BOOL:
        return str(bool(form.index))
    if len(form.of) > 1:  # A member of a union: what it holds, or its class alone.
        return said_member(ty) if parts[0] == "_" else parts[0]
    names = ty.names if isinstance(ty, Product) else ()
    if isinstance(names, RecordNames) and names.is_class:
        shown = [f"{n}={p}" for n, p in zip(names, parts, strict=True) if p != "_"]
        return f"{names.title}({', '.join(shown)})"
    return f"({', '.join(parts)})"


def said_member(ty: Type) -> str:
    """A member of a union as a pattern."""
    return "None" if is_none(ty) else f"{said(ty)}()"


def _heads(rows: Sequence[Row]) -> Iterator[Form]:
    """The first patterns of rows, alternatives one by one."""
    stack = [row[0] for row in rows]
    while stack:
        form = stack.pop()
        if isinstance(form, OneOf):
            stack += form.options
        else:
            yield form


def _of_constructor(rows: Sequence[Row], form: Made) -> Iterator[Row]:
    """The rows that what this constructor makes may fit, with its parts in front."""
    for head, *rest in rows:
        match head:
            case OneOf(options):
                inner = [(option, *rest) for option in options]
                yield from _of_constructor(inner, form)
            case Made(index, _, parts) if index == form.index:
                yield (*parts, *rest)
            case Whatever():
                yield (*((ANY,) * len(form.parts)), *rest)
            case _:
                pass


def _without(rows: Sequence[Row], value: Any) -> Iterator[Row]:
    """What is behind the first pattern of the rows that a constant fits."""
    for head, *rest in rows:
        match head:
            case OneOf(options):
                yield from _without([(option, *rest) for option in options], value)
            case Equal(other) if value is not None and other == value:
                yield tuple(rest)
            case Whatever():
                yield tuple(rest)
            case _:
                pass


# ---- cases -----------------------------------------------------------------------


def missing(cx: Context, patterns: Sequence[ast.pattern], ty: Type) -> list[str]:
    """What no pattern covers of a type: for a union, all members of which some is."""
    rows = [(normal(cx, p, ty),) for p in patterns]
    every: list[Form] = [ANY]
    if is_union(ty):
        every = [Made(k, members(ty), (ANY,)) for k in range(len(members(ty)))]
    found = [left_over(rows, (form,)) for form in every]
    return [values[0] for values in found if values is not None]


def matched_members(
    cx: Context, node: ast.expr, ty: Type, outcome: bool
) -> frozenset[int]:
    """The members of a union that a value may be where a case is taken, or is not."""
    assert isinstance(node, Matched)
    form = normal(cx, node.pattern, ty)
    every = {k: Made(k, members(ty), (ANY,)) for k in range(len(members(ty)))}
    if outcome:
        heads = [*_heads([(form,)])]
        fitting = {head.index for head in heads if isinstance(head, Made)}
        return frozenset(every if ANY in heads else fitting)
    if node.guard is not None:
        return frozenset(every)
    left = (k for k, one in every.items() if left_over([(form,)], (one,)) is not None)
    return frozenset(left)


def decided_case(cx: Context, node: Matched, ty: Type) -> bool | None:
    """Whether a case is taken whenever it is come to, or never; None if neither."""
    form = normal(cx, node.pattern, ty)
    if form == NEVER:
        return False
    if node.guard is not None:
        return None
    rows = [(normal(cx, p, ty),) for p in (*node.earlier, node.pattern)]
    return True if left_over(rows, (ANY,)) is None else None


def check_cases(cx: Context, node: Matched, ty: Type, *, is_declared: bool) -> None:
    """Refuse cases that are never come to; the first one asks for all of them.

    One that only raises an exception may stand behind the others all the same. A
    function that takes what comes may have cases for what does not come this time; and
    where the type is not declared, for what the value has been found not to be.
    """
    cx.matched[node.cases[0]] = ty
    if _takes_anything(cx) or not (isinstance(ty, Scalar) or has_members(ty)):
        return
    rows: list[Row] = []
    for case in node.cases:
        form = normal(cx, case.pattern, ty)
        is_plain = form != NEVER and not any(map(_is_wild, ast.walk(case.pattern)))
        is_asked = is_declared or is_plain
        if isinstance(case.body[0], ast.Raise):
            is_asked = False
        if is_asked and left_over(rows, (form,)) is None:
            raise union_errors.never_taken(cx.span(case.pattern), ty)
        if case.guard is None:
            rows.append((form,))


def _takes_anything(cx: Context) -> bool:
    """Whether a parameter has no annotation."""
    args = cx.source.definition.args
    nodes = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return any(node.annotation is None for node in nodes)


def has_members(ty: Type) -> bool:
    """Whether there is a union in a type, so that a `match` has to cover all of it."""
    return any(map(_has_union, [ty, *(names.content for names in references([ty]))]))


def _has_union(ty: Type) -> bool:
    match ty:
        case Product(fields):
            return any(map(_has_union, fields))
        case _:
            return is_union(ty)
