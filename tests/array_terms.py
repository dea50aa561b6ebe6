"""Small array programs that are cheap, but their derivatives are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chadllvm.ir.op import PRIMS
from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, I64, UNIT, Array, Product, Type
from chadllvm.paper import bag
from chadllvm.paper.arrays import Build, Dim, Index, Stack
from chadllvm.paper.elements import Elements
from chadllvm.paper.fold import Fold
from chadllvm.paper.gathers import MapOver, Zip
from chadllvm.paper.linear import free
from chadllvm.paper.loops import Iterate
from chadllvm.paper.recognise import gathered
from chadllvm.paper.terms import (
    Do,
    Let,
    Literal,
    Match,
    Primitive,
    Ref,
    Term,
    fst,
    function,
    pair,
    snd,
    type_of,
    unit,
)
from tests.term_strategies import Experiment

X, A = Var("x", F64), Var("a", Array(F64, 1))
PAIR = Product((F64, F64))

Body = Callable[[Term], Term]


def number(value: float | int) -> Term:
    return Do(Literal(value), (unit(),))


def prim(name: str, arg: Term) -> Term:
    return Do(Primitive(PRIMS[name]), (arg,))


def build(count: Term, body: Body) -> Term:
    return Do(Build(), (count, function("i", I64, body)))


def fold(ty: Type, body: Body, whole: Term) -> Term:
    return Do(Fold(), (function("p", Product((ty, ty)), body), whole))


def loop(count: Term, ty: Type, start: Term, body: Body) -> Term:
    return Do(Iterate(), (count, function("x", Product((I64, ty)), body), start))


def index(i: Term) -> Term:
    return Do(Index(), (Ref(A), i))


def length() -> Term:
    return Do(Dim(), (Ref(A),))


def added(p: Term) -> Term:
    return prim("add", p)


def cheap_terms(n: int) -> dict[str, Term]:
    """Terms over x : ℝ and a : Array ℝ of this length."""
    units = build(number(n), lambda i: unit())
    reads = build(length(), index)
    doubled = build(length(), lambda i: prim("mul", pair(index(i), number(2.0))))
    return {
        "replicate": build(number(n), lambda i: Ref(X)),
        "constants": build(number(n), lambda i: number(1.0)),
        "indices": build(number(n), lambda i: i),
        "units": units,
        "reads": reads,
        "one element": build(number(n), lambda i: index(number(0))),
        "rows": Do(Stack(1), (build(number(n), lambda i: Ref(A)),)),
        "first": fold(F64, fst, Ref(A)),
        "outer": fold(F64, lambda p: Ref(X), Ref(A)),
        "sum": fold(F64, added, Ref(A)),
        "fold of units": fold(UNIT, lambda p: unit(), units),
        "idle loop": loop(number(n), F64, Ref(X), lambda s: pair(snd(s), unit())),
        "outer loop": loop(number(n), F64, Ref(X), lambda s: pair(Ref(X), unit())),
        "outputs": loop(number(n), F64, Ref(X), lambda s: pair(snd(s), Ref(X))),
        "units loop": loop(number(n), UNIT, unit(), lambda s: pair(unit(), unit())),
        "index": index(number(0)),
        "gathered reads": gathered(reads),
        "gathered doubled": gathered(doubled),
        "unread": Do(
            MapOver(),
            (function("x", F64, lambda x: unit()), Ref(A)),
        ),
        "zip": Do(Zip(), (Ref(A), Ref(A))),
    }


def full(value: Any, ty: Type) -> Any:
    """A cotangent of a value that has ones everywhere, arrays as one BArray."""
    match ty:
        case Product((first, second)):
            return full(value[0], first), full(value[1], second)
        case Array():
            held = ty.elem if ty.rank == 1 else Array(ty.elem, ty.rank - 1)
            return bag.of_array([full(x, held) for x in value.items], None, free)
        case _:
            return 1.0 if ty == F64 else ()


def experiment(term: Term, n: int, value: Any, d: Any = None) -> Experiment:
    """A term over x and a, with a full cotangent of its value unless one is given."""
    ty = type_of(term)
    given = full(value, ty) if d is None else d
    return Experiment(
        (X, A), term, ty, (2.0, Elements([1.0] * n)), given, (0.0, bag.EMPTY)
    )


def pointwise() -> Term:
    """let b = build … (i. a ! i · x) in build (length b) (i. b ! i · 2), as in §8.1"""
    b = Var("b", Array(F64, 1))
    first = build(length(), lambda i: prim("mul", pair(index(i), Ref(X))))
    second = build(
        Do(Dim(), (Ref(b),)),
        lambda i: prim("mul", pair(Do(Index(), (Ref(b), i)), number(2.0))),
    )
    return Let(b, first, second)


def nested_fold(op: Fold, depth: int) -> Term:
    """fold (p. fold (p. … fst p · snd p …) [fst p, snd p]) a: a product, in the end."""

    def star(depth: int) -> Body:
        if depth == 0:
            return lambda p: prim("mul", p)
        return lambda p: Do(op, (function("p", PAIR, star(depth - 1)), both(p)))

    def both(p: Term) -> Term:
        """[fst p, snd p]"""
        return build(
            number(2),
            lambda i: Match(
                prim("ilt", pair(number(0), i)),
                function("u", UNIT, lambda _: fst(p)),
                function("u", UNIT, lambda _: snd(p)),
            ),
        )

    return Do(op, (function("p", PAIR, star(depth)), Ref(A)))
