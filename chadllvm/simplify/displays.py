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
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

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
)
from chadllvm.ir.types import I64, Array, Type, element
from chadllvm.ops.build import Build
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Dim, Index
from chadllvm.ops.update import Replace
from chadllvm.simplify.codes import Window
from chadllvm.simplify.constants import folded
from chadllvm.simplify.walk import Walk
from chadllvm.simplify.windows import handed_on, window

_MOST = 16  # The arrays of a list, of which each has a branch.


def displays(program: Program) -> Program:
    """Put arrays in the places of rows of lists of them."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    walk = _Displays(handed_on(function.body), _items(function.body))
    return with_body(function, walk.block(function.body))


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


class _Displays(Walk):
    def __init__(self, handed_on: frozenset[Var], items: Collection[Type]) -> None:
        super().__init__()
        self._handed_on = handed_on
        self._items = items
        self._rows: dict[Operand, tuple[Block, ...]] = {}
        self._sizes: dict[tuple[Operand, int], Operand] = {}
        # What elements are of, and at how many indices.
        self._elements: dict[Operand, tuple[Operand, int]] = {}
        # For sizes that were found to be equal, the one of them that was first.
        self._equal: dict[Operand, Operand] = {}

    def enter(self, params: tuple[Var, ...], block: Block) -> Block:
        sizes, equal = {**self._sizes}, {**self._equal}
        new = self.block(block)
        self._sizes, self._equal = sizes, equal
        return new

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Index(), (array, *at)):
                self._elements[binding.vars[0]] = array, len(at)
        match binding.expr:
            case Apply(Dim(axis), (array,)):
                self._sizes[array, axis] = binding.vars[0]
            case Apply(Prim(name="same"), sizes):
                first, second = map(self._first, sizes)
                if first != second:
                    self._equal[second] = first
            case Apply(Build(), (count,)) as node:
                # Others had better not be made, if only their elements are needed.
                items = (var for var in binding.vars if var.type in self._items)
                self._sizes |= {(var, 0): count for var in items}
                if rows := self._written_out(node):
                    self._rows[binding.vars[0]] = rows
                    if binding.vars[0] in self._handed_on:
                        binding = self._by_rows(binding, node, rows)
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

    def _by_rows(self, binding: Binding, node: Apply, rows: Sequence[Block]) -> Binding:
        """A list that is handed on, made of arrays where it is made of their elements.

        So it is known what is in it (`lists.py`).
        """
        if any(row.bindings for row in rows):
            return binding
        index, out = Var("i", I64), Builder(binding.span)
        row = Var("row", node.bodies[0].body.results[0].type)
        body = Lambda((index,), out.block([_choose(index, rows, 1, row, out)]))
        return Binding(binding.vars, Apply(node.op, node.args, (body,)), binding.span)

    def _first(self, size: Operand) -> Operand:
        while size in self._equal:
            size = self._equal[size]
        return size

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

    def _size(self, array: Operand, axis: int) -> Operand | None:
        """The size of an array that is known by a name, or by the number of what it was
        made of; a list's are its elements'."""
        while (array, axis) not in self._sizes:
            if array not in self._elements:
                return None
            array, count = self._elements[array]
            axis += count
        return self._sizes[array, axis]

    def _is_whole(self, part: Window) -> bool:
        indices, places = part.place.params, part.place.body
        if places.bindings or places.results != indices:
            return False
        axes = range(_rank(part.array))
        sizes = [self._size(part.array, axis) for axis in axes]
        known = [self._first(size) for size in sizes if size is not None]
        return known == [*map(self._first, part.counts)]


def _rank(array: Var) -> int:
    assert isinstance(array.type, Array)
    return array.type.rank


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
