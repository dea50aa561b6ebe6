"""Recursive data as plain data: what a value holds, and for each class its nodes.

    List(1.0, List(2.0, None))     →     List{node: 0}
                                         [(1.0, List{node: 1}), (2.0, None)]

Derivatives by recursive data, and of any, are those by the packed form, and of it: it
holds arrays of what the nodes hold, in which the numbers of nodes are places in these
arrays. Whoever is called with it makes nodes again, which are that function's own.

Nodes are numbered as they are met, breadth first, so that data of the same structure
have the same numbers. What is shared is there as often as it is referred to, as in the
arguments of calls from Python. Two heaps that hold numbers alone help to go through
the data: the nodes that have been met are the one's, and the other says of each node
where those in it begin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chadllvm.ir.build import Builder
from chadllvm.ir.record import ReferenceNames
from chadllvm.ir.term import (
    Apply,
    Case,
    If,
    Inject,
    Lambda,
    Lit,
    Operand,
    Proj,
    Tuple,
    Var,
)
from chadllvm.ir.types import (
    I64,
    Array,
    Product,
    Sum,
    Type,
    holds_reference,
    list_names,
    references,
)
from chadllvm.ops.build import Build
from chadllvm.ops.heap import Count, Fetch, New
from chadllvm.ops.index import Dim, Index
from chadllvm.ops.iterate import Iterate

# More steps than any loop takes.
_ENDLESS = (1 << 63) - 1

# What stands for the number of a node, and the counters after it.
AtReference = Callable[
    [Builder, ReferenceNames, Operand, tuple[Operand, ...]],
    tuple[Operand, tuple[Operand, ...]],
]


def classes_in(ty: Type) -> list[ReferenceNames]:
    """The classes that a value refers to, in the order of their arrays."""
    return [*references([ty])]


def is_packable(ty: Type) -> bool:
    """Whether values of a type with references have a packed form."""
    match ty:
        case Product() if list_names(ty) is not None:
            return False
        case Product(fields):
            return all(map(is_packable, fields))
        case Array(elem, rank):
            return rank == 1 or not holds_reference(elem)
        case _:
            return True


def renumbered(
    b: Builder,
    value: Operand,
    change: AtReference,
    counters: tuple[Operand, ...] = (),
) -> tuple[Operand, tuple[Operand, ...]]:
    """The value with other numbers of nodes; `counters` go from each to the next."""
    ty = value.type
    if not holds_reference(ty):
        return value, counters
    match ty:
        case Product(_, ReferenceNames() as names):
            number, counters = change(b, names, b.one(Proj(value, 0)), counters)
            return b.one(Tuple((number,), names)), counters
        case Product(fields, names):
            parts: list[Operand] = []
            for k in range(len(fields)):
                old = b.one(Proj(value, k))
                part, counters = renumbered(b, old, change, counters)
                parts.append(part)
            return b.one(Tuple(tuple(parts), names)), counters
        case Sum():
            return _member(b, value, ty, change, counters)
        case _:
            assert isinstance(ty, Array)
            return _items(b, value, change, counters)


def _member(
    b: Builder,
    value: Operand,
    ty: Sum,
    change: AtReference,
    counters: tuple[Operand, ...],
) -> tuple[Operand, tuple[Operand, ...]]:
    branches = []
    for k, payload in enumerate(ty.payloads):
        param, inner = Var("member", payload), b.child()
        part, after = renumbered(inner, param, change, counters)
        made = inner.one(Inject(ty, k, part))
        branches.append(Lambda((param,), inner.block([made, *after])))
    found, *last = b.emit(Case(value, tuple(branches)))
    return found, tuple(last)


def _items(
    b: Builder, array: Operand, change: AtReference, counters: tuple[Operand, ...]
) -> tuple[Operand, tuple[Operand, ...]]:
    """Those of a list, one after the other."""
    index, inner = Var("k", I64), b.child()
    states = tuple(Var("next", c.type) for c in counters)
    item = inner.one(Apply(Index(), (array, index)))
    made, after = renumbered(inner, item, change, states)
    body = Lambda((index, *states), inner.block([*after, made]))
    size = b.one(Apply(Dim(0), (array,)))
    *last, found = b.apply(Iterate(), [size, *counters], [body])
    return found, tuple(last)


# ---- from recursive data ---------------------------------------------------------


class _Met:
    """The nodes of a class that have been met, from `base` on in its helping heap."""

    def __init__(
        self, b: Builder, of: ReferenceNames, classes: list[ReferenceNames]
    ) -> None:
        self.of, self.content = of, of.content
        self.inside = [
            k for k, other in enumerate(classes) if _refers_to(self.content, other)
        ]
        types = (I64,) * len(self.inside)
        self.numbers = f"{of.heap}.met", (I64,)
        self.begins = f"{of.heap}.begins", types
        self.base = b.one(Apply(Count(*self.numbers), ()), "base")
        self.first = b.one(Apply(Count(*self.begins), ()), "first")

    def size(self, b: Builder) -> Operand:
        """How many have been met."""
        count = b.one(Apply(Count(*self.numbers), ()))
        return b.prim("isub", count, self.base)

    def fetched(self, b: Builder, place: Operand) -> Operand:
        """What the node at a place holds."""
        at = b.prim("iadd", self.base, place)
        number = b.one(Apply(Fetch(*self.numbers), (at,)))
        op = Fetch(self.of.heap, self.content.fields)
        parts = b.apply(op, [number], (), self.content.names)
        return b.one(Tuple(tuple(parts), self.content.names))


def _refers_to(ty: Type, of: ReferenceNames) -> bool:
    match ty:
        case Product(_, ReferenceNames() as names):
            return names == of
        case Product(fields):
            return any(_refers_to(field, of) for field in fields)
        case Sum():
            return any(_refers_to(payload, of) for payload in ty.payloads)
        case Array(elem, _):
            return _refers_to(elem, of)
        case _:
            return False


def packed(b: Builder, value: Operand) -> list[Operand]:
    """The value with places for numbers, and the arrays of its classes."""
    classes = classes_in(value.type)
    if not classes:
        return [value]
    met = [_Met(b, of, classes) for of in classes]

    def meet(
        b: Builder, of: ReferenceNames, number: Operand, counters: tuple[Operand, ...]
    ) -> tuple[Operand, tuple[Operand, ...]]:
        b.apply(New(*met[classes.index(of)].numbers), [number])
        return number, counters

    renumbered(b, value, meet)
    _meet_all(b, met, meet)
    found = _placed(b, value, classes, [*range(len(classes))], [Lit(0) for _ in met])
    return [found, *(_contents(b, of, met, classes) for of in met)]


def _meet_all(b: Builder, met: Sequence[_Met], meet: AtReference) -> None:
    """Go through all nodes that have been met, and note those in them."""

    def is_more(b: Builder, done: Sequence[Operand]) -> Operand:
        flags = [b.prim("ilt", k, of.size(b)) for k, of in zip(done, met, strict=True)]
        more = flags[0]
        for flag in flags[1:]:
            more = b.prim("or", more, flag)
        return more

    def step(b: Builder, done: Sequence[Operand], c: int) -> Sequence[Operand]:
        """Of the first class, from this one on, of which there is a node left."""
        if c < len(met) - 1:
            is_left = b.prim("ilt", done[c], met[c].size(b))
            here, other = b.child(), b.child()
            then = here.block(own(here, done, c))
            return b.emit(If(is_left, then, other.block(step(other, done, c + 1))))
        return own(b, done, c)

    def own(b: Builder, done: Sequence[Operand], c: int) -> Sequence[Operand]:
        of = met[c]
        begins = [met[k].size(b) for k in of.inside]
        b.apply(New(*of.begins), begins)
        renumbered(b, of.fetched(b, done[c]), meet)
        after = [*done]
        after[c] = b.prim("iadd", done[c], Lit(1))
        return after

    zeros: list[Operand] = [Lit(0) for _ in met]
    index, go, inner = Var("k", I64), Var("go", Lit(True).type), b.child()
    done = [Var("done", I64) for _ in met]
    after = step(inner, done, 0)
    body = Lambda((index, go, *done), inner.block([is_more(inner, after), *after]))
    b.apply(Iterate(True), [Lit(_ENDLESS), is_more(b, zeros), *zeros], [body])


def _placed(
    b: Builder,
    value: Operand,
    classes: Sequence[ReferenceNames],
    inside: Sequence[int],
    begins: Sequence[Operand],
) -> Operand:
    """The value with places for numbers; those of each class are one behind another."""

    def place(
        b: Builder, of: ReferenceNames, _: Operand, counters: tuple[Operand, ...]
    ) -> tuple[Operand, tuple[Operand, ...]]:
        k = inside.index(classes.index(of))
        after = b.prim("iadd", counters[k], Lit(1))
        return counters[k], (*counters[:k], after, *counters[k + 1 :])

    return renumbered(b, value, place, tuple(begins))[0]


def _contents(
    b: Builder, of: _Met, met: Sequence[_Met], classes: Sequence[ReferenceNames]
) -> Operand:
    """What the nodes of a class hold."""
    index, inner = Var("k", I64), b.child()
    at = inner.prim("iadd", of.first, index)
    begins = inner.apply(Fetch(*of.begins), [at])
    content = of.fetched(inner, index)
    found = _placed(inner, content, classes, of.inside, begins)
    body = Lambda((index,), inner.block([found]))
    return b.apply(Build(), [of.size(b)], [body], ["nodes"])[0]


# ---- to recursive data -----------------------------------------------------------


def unpacked(b: Builder, value: Operand, contents: Sequence[Operand]) -> Operand:
    """The value whose packed form this is, made of new nodes."""
    classes = classes_in(value.type)
    bases = [
        b.one(Apply(Count(of.heap, of.content.fields), ()), "base") for of in classes
    ]

    def move(
        b: Builder, of: ReferenceNames, place: Operand, counters: tuple[Operand, ...]
    ) -> tuple[Operand, tuple[Operand, ...]]:
        return b.prim("iadd", bases[classes.index(of)], place), counters

    for of, content in zip(classes, contents, strict=True):
        _made_nodes(b, of, content, move)
    return renumbered(b, value, move)[0]


def _made_nodes(
    b: Builder, of: ReferenceNames, contents: Operand, move: AtReference
) -> None:
    """Make all nodes of a class, which have the next numbers."""
    content: Product = of.content
    index, inner = Var("k", I64), b.child()
    packed = inner.one(Apply(Index(), (contents, index)))
    held, _ = renumbered(inner, packed, move)
    parts = [inner.one(Proj(held, k)) for k in range(len(content.fields))]
    inner.apply(New(of.heap, content.fields), parts)
    size = b.one(Apply(Dim(0), (contents,)))
    b.apply(Iterate(), [size], [Lambda((index,), inner.block([]))])
