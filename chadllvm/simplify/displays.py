"""A row of a list of arrays that are written out is one of these arrays.

    n = dim[0](a); s = same(n, dim[0](b))
    xs = build(2) { i ->
      x = build(n) { j ->
        c = ilt(i, 1)                       c = ilt(k, 1)
        v = if c { index(a, j) }      →     r = if c { yield a }
            else { index(b, j) }                else { yield b }
        yield v }
      yield x }
    r = index(xs, k)

So it is a reference (`references.py`) where it is chosen or handed on, and the list
need not be made. Of an array that is not known to be as long it is a part. Where only
the elements of a row are read, `slices` reads them where they are.

So is a row of lists that were joined, however many they have, if the result is handed
on: `bufs[1:] + [new]` has rows of `bufs` and the array `new`.

    x = build(n) { j ->                     c = ilt(i, k)
      c = ilt(i, k)                         r = if c {
      v = if c {                              p = iadd(i, 1)
        p = iadd(i, 1)               →        x = index(bufs, p)
        x = index(bufs, p, j) }               yield x }
      else { x = index(new, j) }              else { yield new }
      yield v }
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import Renaming, everywhere, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    If,
    Lambda,
    Lit,
    Operand,
    Program,
    Var,
    operands,
)
from chadllvm.ir.types import I64, Array, Type, element
from chadllvm.ops.build import Build
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Index
from chadllvm.ops.update import Replace
from chadllvm.simplify.codes import Window
from chadllvm.simplify.constants import folded
from chadllvm.simplify.failing import is_plain
from chadllvm.simplify.row_sizes import RowSizes
from chadllvm.simplify.walk import Walk
from chadllvm.simplify.windows import exchanged, handed_on, window

_MOST = 16  # The arrays of a list, of which each has a branch.


def displays(program: Program) -> Program:
    """Put arrays in the places of rows of lists of them."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    """A list that consists of parts of another one tells what is asked of that."""
    while True:
        changing = _changing(function.body)
        walk = _Displays(handed_on(function.body), _items(function.body), changing)
        body = walk.block(function.body)
        if body is function.body:
            return function
        function = with_body(function, body)


def _items(block: Block) -> set[Type]:
    """The types of the arrays of which lists get or lose some."""
    found: set[Type] = set()
    for binding in everywhere(block):
        match binding.expr:
            case Apply(Append() | DropLast() | Replace()):
                changed = binding.vars[0].type
                assert isinstance(changed, Array)
                found.add(element(changed, 1))
    return found


def _changing(block: Block) -> set[Var]:
    """The arrays that are where a list may be which is made of other arrays."""
    made: list[Var] = []
    for binding in everywhere(block):
        match binding.expr:
            case Apply(Build(), _, (Lambda(body=body),)) if _consists(body):
                made += binding.vars
    return exchanged(block, made)


def _consists(block: Block) -> bool:
    """Whether a block gives nothing but arrays from outside, or rows of these."""
    match block.types:
        case (Array(),):
            return all(
                is_plain(b.expr)
                or isinstance(b.expr, If)
                or (isinstance(b.expr, Apply) and isinstance(b.expr.op, Index))
                for b in everywhere(block)
            )
        case _:
            return False


class _Displays(Walk):
    def __init__(
        self,
        handed_on: frozenset[Var],
        items: Collection[Type],
        changing: Collection[Var],
    ) -> None:
        super().__init__()
        self._handed_on = handed_on
        self._items = items
        self._changing = changing
        self._rows: dict[Operand, tuple[Block, ...]] = {}
        self._sizes = RowSizes()

    def enter(self, params: tuple[Var, ...], block: Block) -> Block:
        with self._sizes.scope():
            return self.block(block)

    def visit(self, binding: Binding) -> None:
        self._sizes.learn(binding)
        match binding.expr:
            case Apply(Build(), (count,)) as node:
                # Others had better not be made, if only their elements are needed.
                for var in binding.vars:
                    if var.type in self._items:
                        self._sizes.enter(var, count)
                rows = self._written_out(node)
                if rows:
                    self._rows[binding.vars[0]] = rows
                is_list = any(map(self._is_list, binding.vars))
                if is_list and rows and not any(row.bindings for row in rows):
                    binding = self._by_rows(binding, node)
                elif made := self._joined(binding.vars, node):
                    binding = Binding(binding.vars, made, binding.span)
            case Apply(Index(), (array, k)) if array in self._rows:
                if binding.vars[0] in self._handed_on:
                    out = Builder(binding.span)
                    row = _choose(k, self._rows[array], 1, binding.vars[0], out)
                    self.out += out.bindings
                    self.replace(binding.vars[0], row)
                    return
            case _:
                pass
        self.keep(binding)

    def _by_rows(self, binding: Binding, node: Apply) -> Binding:
        """A list that is handed on, made of arrays where it is made of their elements.

        So it is known what is in it (`lists.py`).
        """
        index, out = Var("i", I64), Builder(binding.span)
        row = Var("row", node.bodies[0].body.results[0].type)
        rows = self._rows[binding.vars[0]]
        body = Lambda((index,), out.block([_choose(index, rows, 1, row, out)]))
        return Binding(binding.vars, Apply(node.op, node.args, (body,)), binding.span)

    def _is_list(self, var: Var) -> bool:
        """Whether a list is handed on, or changes."""
        return var in self._handed_on or self._changes(var)

    def _changes(self, var: Var) -> bool:
        """Whether a list may become longer or shorter, or get other elements, or be one
        that is made of other arrays."""
        match var.type:
            case Array(_, rank) as ty if rank > 1:
                return element(ty, 1) in self._items or var in self._changing
            case _:
                return False

    def _joined(self, bound: Sequence[Var], node: Apply) -> Apply | None:
        """A list that consists of parts of others, made of arrays if it is handed on.

        Its sizes are known also where its elements are asked for by another such list.
        """
        match node.bodies:
            case (Lambda((index,), Block(results=(Var(type=Array()),)) as body),):
                (var,) = bound
            case _:
                return None
        is_joined = bool(_asked(index, body))
        if not is_joined and not self._changes(var):
            return None
        block = folded(body)
        (count,) = node.args
        row = self._side(index, block, count) if is_joined else self._row(block)
        if row is None:
            return None
        self._sizes.enter(var, count, *_counts(body))
        if not self._is_list(var):
            return None
        return Apply(node.op, node.args, (Lambda((index,), row),))

    def _side(self, index: Var, block: Block, count: Operand) -> Block | None:
        """A block that gives an array, as a choice by the index, which is below a
        number, among whole ones."""
        needed = _asked(index, block)
        if not needed:
            return None
        (side,) = needed[-1].vars
        rows: list[Block] = []
        for taken in (True, False):
            one = folded(Renaming(fresh=True).block(_Taken(side, taken).block(block)))
            row = self._side(index, one, count)
            known = self._sizes.of_side(needed[-1].expr, taken, count)
            row = row or self._row(one, known)
            if row is None:
                return None
            rows.append(row)
        out = Builder(needed[-1].span)
        out.bindings += needed
        return out.block([out.one(If(side, *rows), "row")])

    def _row(
        self, block: Block, known: Mapping[Operand, Operand] | None = None
    ) -> Block | None:
        """A block that makes an array, or a row of one, again: what gives that. Of some
        sizes is `known` what they are."""
        before, last = block.bindings[:-1], block.bindings[-1:]
        if not last or last[0].vars != block.results:
            return None
        (made,) = last
        part = window(made.expr)
        if part is None:
            return None
        indices, places = part.place.params, part.place.body
        count = len(places.results) - len(indices)
        at = places.results[:count]
        needed = _needed(at, places.bindings)
        read = {o for b in needed for o in operands(b.expr)}
        if places.results[count:] != indices or not read.isdisjoint(indices):
            return None
        sizes = [(known or {}).get(size, size) for size in part.counts]
        if not self._sizes.are(part.array, count, sizes):
            return None
        out = Builder(made.span)
        out.bindings += (*before, *needed)
        rows = self._rows.get(part.array)
        if not at:
            return out.block([part.array])
        if rows and count == 1:
            return out.block([_choose(at[0], rows, 1, made.vars[0], out)])
        row = Apply(Index(), (part.array, *at))
        return out.block([out.one(row, made.vars[0].name)])

    def _written_out(self, node: Apply) -> tuple[Block, ...]:
        """What each row is; none unless all are arrays from outside, or parts."""
        (body,) = node.bodies
        match node.args, body.body.types:
            case (Lit(int(count)),), (Array(),) if 1 <= count <= _MOST:
                pass
            case _:
                return ()
        (index,) = body.params
        rows: list[Block] = []
        for k in range(count):
            row = folded(Renaming({index: lit(k)}, fresh=True).block(body.body))
            match row:
                case Block((Binding((made,), expr),), (result,)) if made is result:
                    part = window(expr)
                case _:
                    part = None
            if part is None:
                return ()
            rows.append(Block((), (part.array,)) if self._is_whole(part) else row)
        return tuple(rows)

    def _is_whole(self, part: Window) -> bool:
        indices, places = part.place.params, part.place.body
        if places.bindings or places.results != indices:
            return False
        return self._sizes.are(part.array, 0, part.counts)


def _counts(block: Block) -> Iterator[Operand]:
    """How many times the loops run that make an array of elements."""
    while block.bindings:
        match block.bindings[-1].expr:
            case Apply(Build(), (count,), (Lambda(body=block),)):
                yield count
            case _:
                return


class _Taken(Walk):
    """Puts a literal in the place of a condition that is computed inside."""

    def __init__(self, cond: Var, taken: bool) -> None:
        super().__init__()
        self._cond, self._taken = cond, lit(taken)

    def visit(self, binding: Binding) -> None:
        if binding.vars == (self._cond,):
            self.replace(self._cond, self._taken)
        else:
            self.keep(binding)


def _asked(index: Var, block: Block) -> list[Binding]:
    """What computes the first thing that is asked of the index for an element of what
    a block makes, and of no other index: on which side of a number it is."""
    inside: dict[Var, Binding] = {}
    varying: set[Operand] = set()
    while block.bindings:
        *before, made = block.bindings
        for binding in before:
            if is_plain(binding.expr) and varying.isdisjoint(operands(binding.expr)):
                inside[binding.vars[0]] = binding
            else:
                varying.update(binding.vars)
        if made.vars != block.results:
            break
        match made.expr:
            case Apply(Build(), (_,), (Lambda((inner,), body),)):
                varying.add(inner)
                block = body
            case If(Var() as cond) if cond in inside:
                needed = _needed([cond], [*inside.values()])
                is_of_index = any(index in operands(b.expr) for b in needed)
                match needed[-1].expr:
                    case Apply(Prim(name="ilt" | "ile" | "ieq" | "ine")):
                        return needed if is_of_index else []
                break
            case _:
                break
    return []


def _needed(wanted: Iterable[Operand], bindings: Sequence[Binding]) -> list[Binding]:
    """Those of bindings that these operands need, in order."""
    needed, found = {*wanted}, []
    for binding in reversed(bindings):
        if not needed.isdisjoint(binding.vars):
            needed.update(operands(binding.expr))
            found.append(binding)
    return found[::-1]


def _choose(
    k: Operand, rows: Sequence[Block], position: int, row: Var, out: Builder
) -> Operand:
    """The row of a number."""
    first, *others = (Renaming(fresh=True).block(block) for block in rows)
    if not others:
        out.bindings += first.bindings
        return first.results[0]
    inner = out.child()
    rest = inner.block([_choose(k, others, position + 1, row, inner)])
    is_first = out.prim("ilt", k, lit(position))
    return out.one(If(is_first, first, rest), row.name)
