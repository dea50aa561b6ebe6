"""Arrays of boxes as arrays of numbers, for a tape that native code cannot return.

    xs : box s[:][:]     →     flat: s[:], offsets: i64[:], sizes: i64[:]

Element k of `xs` is what stands in `flat` from `offsets[k]` on. Both ways cost what the
elements hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.chad.halves import Halves
from chadllvm.ir.build import Builder
from chadllvm.ir.rewrite import Renaming
from chadllvm.ir.term import Apply, Block, Function, Lambda, Lit, Operand, Var
from chadllvm.ir.types import BOOL, I64, Array, Box, Scalar, Type, is_float
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index, MakeBox, Unbox, Zeros
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update


def packed(made: Halves) -> Halves | None:
    """Halves that hand on numbers and arrays of numbers alone; None if they cannot.

    What is saved stands behind all results of the first half.
    """
    early, late = made.early, made.late
    count = len(early.body.results) - len(made.saved)
    saved = early.body.results[count:]
    if not all(_is_packable(v.type) for v in saved):
        return None
    before, after = Builder(early.span), Builder(late.span)
    handed: list[Operand] = []
    taken: list[Var] = []
    names: dict[Var, Operand] = {}
    for var, param in zip(saved, late.params, strict=False):
        parts = _pack(before, var)
        params = [Var(f"{param.name}_{k}", p.type) for k, p in enumerate(parts)]
        handed += parts
        taken += params
        names[param] = _unpack(after, param.type, params)
    results = (*early.body.results[:count], *handed)
    block = Block((*early.body.bindings, *before.bindings), results)
    first = Function(early.name, early.params, block, early.span)
    rest = Renaming(names).block(late.body)
    every = (*taken, *late.params[len(saved) :])
    block = Block((*after.bindings, *rest.bindings), rest.results)
    second = Function(late.name, every, block, late.span)
    return Halves(first, second, tuple(range(count, len(results))))


def _is_packable(ty: Type) -> bool:
    match ty:
        case Array(Box(Array(elem, _)), 1) | Box(Array(elem, _)) | Array(elem, _):
            return isinstance(elem, Scalar)
        case _:
            return isinstance(ty, Scalar)


def _pack(b: Builder, value: Operand) -> list[Operand]:
    match value.type:
        case Box():
            return [b.one(Apply(Unbox(), (value,)))]
        case Array(Box(Array(Scalar() as elem, rank)), 1):
            assert isinstance(value, Var)
            sizes = _sizes(b, value, rank)
            total, offsets = _offsets(b, sizes)
            return [_flat(b, value, elem, sizes, total, offsets), offsets, *sizes]
        case _:
            return [value]


def _sizes(b: Builder, boxes: Var, rank: int) -> tuple[Var, ...]:
    """For each axis, how long the arrays are."""
    count = b.one(Apply(Dim(0), (boxes,)))
    index, inner = Var("k", I64), b.child()
    array = _element(inner, boxes, index)
    dims = [inner.one(Apply(Dim(axis), (array,))) for axis in range(rank)]
    return b.apply(Build(), [count], [Lambda((index,), inner.block(dims))])


def _element(b: Builder, boxes: Var, index: Operand) -> Var:
    return b.one(Apply(Unbox(), (b.one(Apply(Index(), (boxes, index))),)))


def _offsets(b: Builder, sizes: Sequence[Var]) -> tuple[Var, ...]:
    """How many numbers there are, and where those of each array begin."""
    count = b.one(Apply(Dim(0), (sizes[0],)))
    index, start, inner = Var("k", I64), Var("start", I64), b.child()
    number: Operand = Lit(1)
    for axis in sizes:
        size = inner.one(Apply(Index(), (axis, index)))
        number = inner.prim("imul", number, size)
    block = inner.block([inner.prim("iadd", start, number), start])
    return b.apply(Iterate(), [count, Lit(0)], [Lambda((index, start), block)])


def _flat(
    b: Builder,
    boxes: Var,
    elem: Scalar,
    sizes: Sequence[Var],
    total: Operand,
    offsets: Operand,
) -> Operand:
    """All numbers in one array."""
    count = b.one(Apply(Dim(0), (boxes,)))
    zeros = _room(b, elem, total)
    index, state, inner = Var("k", I64), Var("flat", zeros.type), b.child()
    array = _element(inner, boxes, index)
    place = inner.one(Apply(Index(), (offsets, index)))
    dims = [inner.one(Apply(Index(), (axis, index))) for axis in sizes]

    def level(
        b: Builder, state: Operand, place: Operand, at: Sequence[Operand]
    ) -> Operand:
        """`place` is where the numbers with the first indices `at` begin."""
        if len(at) == len(dims):
            number = b.one(Apply(Index(), (array, *at)))
            return b.one(Apply(Update(), (state, place, number)))
        axis, row, inner = Var("i", I64), Var("flat", zeros.type), b.child()
        step: Operand = axis
        for size in dims[len(at) + 1 :]:
            step = inner.prim("imul", step, size)
        moved = inner.prim("iadd", place, step)
        block = inner.block([level(inner, row, moved, [*at, axis])])
        body = Lambda((axis, row), block)
        return b.apply(Iterate(), [dims[len(at)], state], [body])[0]

    block = inner.block([level(inner, state, place, ())])
    return b.apply(Iterate(), [count, zeros], [Lambda((index, state), block)])[0]


def _room(b: Builder, elem: Scalar, total: Operand) -> Operand:
    """An array to write all numbers to; what is not real has no `zeros`."""
    if is_float(elem):
        return b.one(Apply(Zeros(elem), (total,)))
    nothing = Lit(False) if elem == BOOL else Lit(0)
    body = Lambda((Var("k", I64),), Block((), (nothing,)))
    return b.apply(Build(), [total], [body])[0]


def _unpack(b: Builder, ty: Type, parts: Sequence[Var]) -> Operand:
    match ty:
        case Box():
            return b.one(Apply(MakeBox(), (parts[0],)))
        case Array(Box(), 1):
            flat, offsets, *sizes = parts
            return _boxes(b, flat, offsets, sizes)
        case _:
            return parts[0]


def _boxes(b: Builder, flat: Var, offsets: Var, sizes: Sequence[Var]) -> Operand:
    """The array of boxes again."""
    count = b.one(Apply(Dim(0), (offsets,)))
    index, inner = Var("k", I64), b.child()
    place = inner.one(Apply(Index(), (offsets, index)))
    dims = [inner.one(Apply(Index(), (axis, index))) for axis in sizes]

    def level(b: Builder, number: Operand, depth: int) -> Operand:
        """`number` counts the rows, or numbers, before this one."""
        if depth == len(dims):
            return b.one(Apply(Index(), (flat, b.prim("iadd", place, number))))
        axis, inner = Var("i", I64), b.child()
        next_number = inner.prim("imul", number, dims[depth])
        next_number = inner.prim("iadd", next_number, axis)
        block = inner.block([level(inner, next_number, depth + 1)])
        return b.apply(Build(), [dims[depth]], [Lambda((axis,), block)])[0]

    box = inner.one(Apply(MakeBox(), (level(inner, Lit(0), 0),)))
    return b.apply(Build(), [count], [Lambda((index,), inner.block([box]))])[0]
