"""First-order layouts of values that hold functions.

What an existential type may hide, and which closed functions a type may hold, is not
in the type. A layout says it for the values that one place of a program can have:

| value                  | layout              | its first-order type             |
|------------------------|---------------------|----------------------------------|
| without functions      | `Flat`              | its type                         |
| pair, sum              | `Pair`, `Either`    | product, sum of the parts'       |
| array                  | `Row`               | array                            |
| closed function        | `Code`: which ones  | 1 + … + 1, one for each          |
| packed value           | `Tagged`: by tag    | sum of the layouts of the tags   |
| none comes here        | `Never`             | 1                                |

Where control flow joins, so do layouts; a value is moved into the joined one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, I64, UNIT, Product, Sum, Type
from chadllvm.paper.array_types import array
from chadllvm.paper.terms import (
    Do,
    Inject,
    Lam,
    Let,
    Literal,
    Match,
    Ref,
    Term,
    fst,
    pair,
    snd,
    unit,
)
from chadllvm.paper.types import product
from chadllvm.support.diagnostic import InternalError


@dataclass(frozen=True)
class Never:
    """No value comes here."""


@dataclass(frozen=True)
class Flat:
    """Values of a type without functions."""

    type: Type


@dataclass(frozen=True)
class Pair:
    """Pairs, one of whose components holds functions."""

    first: Layout
    second: Layout


@dataclass(frozen=True)
class Either:
    """Values of a sum that may hold functions."""

    left: Layout
    right: Layout


@dataclass(frozen=True)
class Row:
    """Arrays whose elements hold functions."""

    element: Layout


@dataclass(frozen=True)
class Code:
    """Closed functions: one of these."""

    functions: tuple[Lam, ...]


@dataclass(frozen=True)
class Tagged:
    """Packed values: each of the types they hide with the layout of what is packed."""

    contents: tuple[tuple[Type, Layout], ...]

    @property
    def layouts(self) -> tuple[Layout, ...]:
        return tuple([layout for _, layout in self.contents])


Layout = Never | Flat | Pair | Either | Row | Code | Tagged


def row_layout(element: Layout) -> Layout:
    """That of an array, which is flat if its elements are."""
    return Flat(array(element.type)) if isinstance(element, Flat) else Row(element)


def pair_layout(first: Layout, second: Layout) -> Layout:
    """That of a pair, which is flat if both components are."""
    if isinstance(first, Flat) and isinstance(second, Flat):
        return Flat(product(first.type, second.type))
    return Pair(first, second)


def first_order(layout: Layout) -> Type:
    """The type of the values of a layout."""
    match layout:
        case Never():
            return UNIT
        case Flat(ty):
            return ty
        case Pair(first, second):
            return product(first_order(first), first_order(second))
        case Either(left, right):
            return choice([first_order(left), first_order(right)])
        case Row(element):
            return array(first_order(element))
        case Code(functions):
            return choice([UNIT] * len(functions))
        case Tagged():
            return choice([first_order(x) for x in layout.layouts])
        case _:
            assert_never(layout)


def joined(a: Layout, b: Layout) -> Layout:
    """The layout of values that come from either of two places."""
    match a, b:
        case (Never(), other) | (other, Never()):
            return other
        case Pair(a1, a2), Pair(b1, b2):
            return Pair(joined(a1, b1), joined(a2, b2))
        case Either(a1, a2), Either(b1, b2):
            return Either(joined(a1, b1), joined(a2, b2))
        case Code(some), Code(others):
            return Code(tuple(dict.fromkeys((*some, *others))))
        case Tagged(some), Tagged(others):
            return Tagged(_joined_contents(some, others))
        case _:
            if a != b:
                text = "arrays of different functions at one place"
                raise InternalError(f"reference: {text}")
            return a


def _joined_contents(
    some: Sequence[tuple[Type, Layout]], others: Sequence[tuple[Type, Layout]]
) -> tuple[tuple[Type, Layout], ...]:
    found = dict(some)
    for tag, layout in others:
        found[tag] = joined(found.get(tag, Never()), layout)
    return tuple(found.items())


def moved(term: Term, source: Layout, target: Layout) -> Term:
    """A value of a layout as one of a layout that was joined of it and others."""
    if source == target:
        return term
    match source, target:
        case Never(), _:
            return anything(first_order(target))
        case Pair(a1, a2), Pair(b1, b2):
            whole = Var("whole", first_order(source))
            first = moved(fst(Ref(whole)), a1, b1)
            second = moved(snd(Ref(whole)), a2, b2)
            return Let(whole, term, pair(first, second))
        case Either(a1, a2), Either(b1, b2):
            return _moved(term, [a1, a2], [b1, b2], [0, 1])
        case Code(some), Code(functions):
            old, new = ([Flat(UNIT) for _ in fs] for fs in (some, functions))
            return _moved(term, old, new, [functions.index(f) for f in some])
        case Tagged(), Tagged():
            tags = [tag for tag, _ in target.contents]
            places = [tags.index(tag) for tag, _ in source.contents]
            return _moved(term, source.layouts, target.layouts, places)
        case _:
            raise InternalError("reference: a value of another layout")


def _moved(
    term: Term, old: Sequence[Layout], new: Sequence[Layout], places: Sequence[int]
) -> Term:
    """The alternatives of a sum at their places among those of another."""
    types = [first_order(layout) for layout in new]
    held = [Var("held", first_order(layout)) for layout in old]
    branches: list[Term] = []
    for var, layout, place in zip(held, old, places, strict=True):
        value = moved(Ref(var), layout, new[place])
        branches.append(injected(value, place, types))
    return cases(term, held, branches)


# Sums of any number of types: that of none is 1, that of one is the type.


def choice(types: Sequence[Type]) -> Type:
    """τ₁ + (τ₂ + …)"""
    if len(types) < 2:
        return types[0] if types else UNIT
    return Sum((("left", types[0]), ("right", choice(types[1:]))))


def injected(term: Term, index: int, types: Sequence[Type]) -> Term:
    """A value of one of the types as one of their sum."""
    if len(types) < 2:
        return term
    whole = choice(types)
    assert isinstance(whole, Sum)
    if index == 0:
        return Do(Inject(0, whole), (term,))
    return Do(Inject(1, whole), (injected(term, index - 1, types[1:]),))


def cases(term: Term, held: Sequence[Var], branches: Sequence[Term]) -> Term:
    """A case of a value of the sum of the types of the variables `held`."""
    if len(held) == 1:
        return Let(held[0], term, branches[0])
    left = Lam(held[0], branches[0])
    if len(held) == 2:
        return Match(term, left, Lam(held[1], branches[1]))
    rest = Var("rest", choice([var.type for var in held[1:]]))
    return Match(term, left, Lam(rest, cases(Ref(rest), held[1:], branches[1:])))


def anything(ty: Type) -> Term:
    """Some value of a first-order type, where none is ever needed."""
    match ty:
        case Product((first, second)):
            return pair(anything(first), anything(second))
        case Product(()):
            return unit()
        case Sum():
            return Do(Inject(0, ty), (anything(ty.payloads[0]),))
        case _ if ty in (F64, I64):
            return Do(Literal(0.0 if ty == F64 else 0), (unit(),))
        case _:
            raise InternalError(f"reference: {ty} is not of the first-order language")
