"""Collects one result of a loop's iterations into an array.

Scalars and boxes are stored at the index. Rows go into their part of the array:
directly if their shape is known in front of the loop; else the first row decides the
shape, memory is taken then, and the rows are copied. Rows of different shapes end the
program.

Where the number of iterations is not known in front of the loop, see `growing.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from chadllvm.ir import loops as l
from chadllvm.ir.loops import PTR, RESULT, Atom, Slot
from chadllvm.ir.op import ArrayOp
from chadllvm.ir.term import Apply, Binding, Close, Lambda, Lit, Open, Operand, Var
from chadllvm.ir.types import Array, Box, Scalar
from chadllvm.ir.value import ROWS_DIFFER
from chadllvm.lower.destination import definitions, maker
from chadllvm.lower.memory import CALLER
from chadllvm.lower.reasons import FIRST_ROW, ROW, Reason
from chadllvm.lower.represent import ArrayRep, Rep, element_type
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.iterate import Iterate
from chadllvm.support.diagnostic import Span

if TYPE_CHECKING:
    from chadllvm.lower.lower import Lowering
    from chadllvm.lower.state import Carrier


class Collector:
    """How the results for one variable are collected; the base collects scalars."""

    def __init__(self, lowering: Lowering, var: Var, count: Atom) -> None:
        self.lowering = lowering
        self.var = var
        self.count = count

    def offer(self, index: Atom) -> None:
        """Say where this iteration's result may be put directly."""

    def collect(self, index: Atom, result: Rep) -> None:
        """Keep the result of the iteration at this index."""
        raise AssertionError("abstract")

    def finish(self) -> None:
        """After the loop: bind the variable."""


class _Elements(Collector):
    """Scalars or boxes."""

    def __init__(
        self, lowering: Lowering, var: Var, count: Atom, elem: Scalar | Box
    ) -> None:
        super().__init__(lowering, var, count)
        self.rep = lowering.allocate(var, (count,), elem)

    def collect(self, index: Atom, result: Rep) -> None:
        self.lowering.store(self.rep, index, result)

    def finish(self) -> None:
        self.lowering.bind(self.var, self.rep)


class _Rows(Collector):
    """Rows whose shape is known in front of the loop."""

    def __init__(
        self,
        lowering: Lowering,
        var: Var,
        count: Atom,
        elem: Scalar | Box,
        dims: Sequence[Atom],
        direct: Var | None,
        span: Span,
    ) -> None:
        super().__init__(lowering, var, count)
        self.direct = direct
        self.span = span
        self.dims = tuple(dims)
        outer = [lowering.loops.some(count, d) for d in dims]
        self.rep = lowering.allocate(var, (count, *outer), elem)

    def _row(self, index: Atom) -> ArrayRep:
        inside = ArrayRep(
            self.rep.ptr, (self.count, *self.dims), self.rep.elem, self.rep.root
        )
        return self.lowering.row(inside, [index])

    def offer(self, index: Atom) -> None:
        if self.direct is None:
            return
        row = self._row(index)
        self.lowering.destinations[self.direct] = lambda _: (row.ptr, row.root)

    def collect(self, index: Atom, result: Rep) -> None:
        assert isinstance(result, ArrayRep)
        if self.direct is None:
            self.lowering.copy_into(self._row(index), result)
            self.lowering.notes.copied(self.var, self.span, Reason(ROW))

    def finish(self) -> None:
        self.lowering.bind(self.var, self.rep)


class _StateRows(_Rows):
    """The same, of a state of the loop: others than the first may not differ."""

    def collect(self, index: Atom, result: Rep) -> None:
        assert isinstance(result, ArrayRep)
        loops = self.lowering.loops
        for first, dim in zip(self.dims, result.dims, strict=True):
            same = loops.let("ieq", first, dim)
            loops.check(same, "ValueError", ROWS_DIFFER, self.span)
        super().collect(index, result)


class _UnknownRows(Collector):
    """Rows whose shape the first of them decides."""

    def __init__(
        self,
        lowering: Lowering,
        var: Var,
        count: Atom,
        elem: Scalar | Box,
        rank: int,
        span: Span,
    ) -> None:
        super().__init__(lowering, var, count)
        self.elem = elem
        self.span = span
        self.root = lowering.roots.new()
        self.destination = lowering.destinations.pop(var, None)
        self.ptr = lowering.loops.slot(var.name, no_elements(lowering, self.root))
        self.dims: list[Slot] = [
            lowering.loops.slot(f"{var.name}_n", Lit(0)) for _ in range(rank)
        ]

    def collect(self, index: Atom, result: Rep) -> None:
        assert isinstance(result, ArrayRep)
        loops = self.lowering.loops
        loops.open(is_loop=False)
        loops.set(self.ptr, self._begin(result))
        for slot, dim in zip(self.dims, result.dims, strict=True):
            loops.set(slot, dim)
        first = loops.close()
        loops.open(is_loop=False)
        for slot, dim in zip(self.dims, result.dims, strict=True):
            same = loops.let("ieq", loops.get(slot), dim)
            loops.check(same, "ValueError", ROWS_DIFFER, self.span)
        other = loops.close()
        loops.emit(l.Branch(loops.let("ieq", index, Lit(0)), first, other))
        now = ArrayRep(
            loops.get(self.ptr), (self.count, *result.dims), self.elem, self.root
        )
        self.lowering.copy_into(self.lowering.row(now, [index]), result)
        self.lowering.notes.copied(self.var, self.span, Reason(FIRST_ROW))

    def _give_empty(self) -> None:
        """The caller owns its results, so that of no rows is a buffer as well."""
        loops = self.lowering.loops
        empty = loops.let("ile", self.count, Lit(0))
        loops.open(is_loop=False)
        none = ArrayRep(Lit(0), (Lit(0),), self.elem, self.root)
        loops.set(self.ptr, self.lowering.new_buffer(none, RESULT, self.root))
        loops.emit(l.Branch(empty, loops.close()))

    def _begin(self, first: ArrayRep) -> Atom:
        """The buffer, now that the first row is there."""
        whole = ArrayRep(Lit(0), (self.count, *first.dims), self.elem, self.root)
        if self.destination is not None:
            ptr, root = self.destination(whole)
            self.lowering.roots.union(self.root, root)
            return ptr
        home = self.lowering.life.home(self.var)
        return self.lowering.new_buffer(whole, self.lowering.region(home), self.root)

    def finish(self) -> None:
        loops = self.lowering.loops
        if self.lowering.life.home(self.var) is CALLER:
            self._give_empty()
        dims = tuple(loops.get(s) for s in self.dims)
        rep = ArrayRep(loops.get(self.ptr), (self.count, *dims), self.elem, self.root)
        self.lowering.bind(self.var, rep)


def collectors(
    lowering: Lowering,
    variables: Sequence[Var],
    body: Lambda,
    first: int,
    count: Atom,
    span: Span,
    carriers: Sequence[Carrier] = (),
) -> list[Collector]:
    """Collectors for the results of a body from `first` on, one for each variable.

    The arrays that carriers make directly have a buffer that waits for them already.
    """
    defined = definitions(body.body)
    results = body.body.results[first:]
    taken = {carrier.direct for carrier in carriers}
    inits = {carrier.param: carrier.init for carrier in carriers}
    found: list[Collector] = []
    for var, result in zip(variables, results, strict=True):
        elem = element_type(result.type)
        if not isinstance(result.type, Array):
            found.append(_Elements(lowering, var, count, elem))
            continue
        dims = _known_dims(lowering, result, body, defined, inits)
        if dims is None:
            rank = result.type.rank
            found.append(_UnknownRows(lowering, var, count, elem, rank, span))
            continue
        direct = maker(result, defined, lowering.in_place)
        if direct is not None and (
            direct in taken or _outlives(lowering, direct, body)
        ):
            direct = None
        if direct is not None:
            taken.add(direct)
        kind = _StateRows if result in inits else _Rows
        found.append(kind(lowering, var, count, elem, dims, direct, span))
    return found


def _outlives(lowering: Lowering, var: Var, body: Lambda) -> bool:
    """Whether a row is also kept somewhere else, beyond its iteration."""
    return lowering.life.home(var).depth < lowering.life.bodies[body].depth


def _known_dims(
    lowering: Lowering,
    operand: Operand,
    body: Lambda,
    defined: dict[Var, Binding],
    begin: Mapping[Var, Operand],
) -> list[Atom] | None:
    """The dimensions of a body's result if they do not depend on the iteration.

    Those of a state are the initial value's: the first row decides, and others may not
    differ. `begin` has the initial values of the loops around.
    """
    if isinstance(operand, Var) and operand in begin:
        return _known_dims(lowering, begin[operand], body, defined, begin)
    if not isinstance(operand, Var) or operand in body.params:
        return None
    if operand not in defined:
        if operand not in lowering.env:
            return None
        return list(lowering.array(operand).dims)
    match defined[operand].expr:
        case Apply(Build() | Fold() | Iterate(stops=False), (n, *inits), (inner,)):
            position = defined[operand].vars.index(operand)
            if position < len(inits):
                if inner.params[1 + position] not in lowering.steady:
                    return None
                return _known_dims(lowering, inits[position], body, defined, begin)
            outer = _outside(lowering, [n], body, defined)
            if outer is None:
                return None
            result = inner.body.results[position]
            if not isinstance(result.type, Array):
                return outer
            both = {**defined, **definitions(inner.body)}
            states = dict(zip(inner.params[1:], inits, strict=True))
            rest = _known_dims(lowering, result, inner, both, {**begin, **states})
            # An empty array of rows has no columns.
            if rest is None:
                return None
            return [outer[0], *(lowering.loops.some(outer[0], d) for d in rest)]
        case Apply(ArrayOp(name="zeros"), dims):
            return _outside(lowering, dims, body, defined)
        case Close(Var() as cell) if cell in defined:
            match defined[cell].expr:
                case Open(Array(Box()), (like,)):
                    return _known_dims(lowering, like, body, defined, begin)
                case Open(_, sizes):
                    return _outside(lowering, sizes, body, defined)
                case _:
                    return None
        case Apply(ArrayOp(name="index"), (Var() as array, *indices)):
            whole = _known_dims(lowering, array, body, defined, begin)
            return None if whole is None else whole[len(indices) :]
        case _:
            return None


def _outside(
    lowering: Lowering,
    sizes: Sequence[Operand],
    body: Lambda,
    defined: dict[Var, Binding],
) -> list[Atom] | None:
    """The atoms of sizes that are known in front of the loop."""
    if any(
        isinstance(s, Var) and (s in defined or s not in lowering.env) for s in sizes
    ):
        return None
    return [lowering.loops.count(lowering.atom(s)) for s in sizes]


def no_elements(lowering: Lowering, root: int) -> Atom:
    """Where an array begins that has no elements yet."""
    empty = lowering.loops.reg("none", PTR)
    lowering.loops.emit(l.Data(empty, np.zeros(0), root))
    return empty
