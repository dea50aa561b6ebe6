"""Accumulation that is a pointwise computation in truth (paper, §8.1: gathers).

    c = open f64[:](n)                         x = build(n) { i ->
    build(n) { i ->                              v = …
      v = …                            →         yield v }
      one c[i] v }
    x = close c

The cell has one contribution, made by one loop over its first dimension, once in each
iteration, at the iteration's index: each element is that contribution. Where iterations
add more to their row, in whatever way, each row becomes a cell of its own iteration:

    build(n) { i -> r = view c[i]; … }   →   x = build(n) { i -> r = open …; …
                                                                 yield close r }

No rows have no length, so an array whose further dimensions are asked for stays a cell.
"""

from __future__ import annotations

from collections.abc import Iterator

from chadllvm.ir.rewrite import (
    Renaming,
    free_vars_of,
    map_functions,
    rebuild,
    with_body,
)
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Close,
    Lambda,
    One,
    Open,
    Operand,
    Program,
    Var,
    View,
    nested,
    operands,
)
from chadllvm.ir.types import Acc, Array, Box, stacked
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index


def pointwise(program: Program) -> Program:
    """Turn accumulation into arrays where each element has one contribution."""
    return map_functions(program, lambda f: with_body(f, _block(f.body)))


def _block(block: Block) -> Block:
    """Outer cells first: a row that becomes a cell may be pointwise itself."""
    block = _without_cells(block)
    bindings = tuple(
        b if (e := rebuild(b.expr, _block)) is b.expr else Binding(b.vars, e, b.span)
        for b in block.bindings
    )
    if all(a is b for a, b in zip(bindings, block.bindings, strict=True)):
        return block
    return Block(bindings, block.results)


def _without_cells(block: Block) -> Block:
    """The block without the cells that it need not have."""
    openings = [b for b in block.bindings if _is_array_cell(b)]
    if not openings:
        return block
    removal = _Removal(block)
    for opening in openings:
        removal.attempt(opening)
    return removal.result()


def _is_array_cell(binding: Binding) -> bool:
    match binding.expr:
        case Open(Array(elem)):
            return not isinstance(elem, Box)
        case _:
            return False


class _Removal:
    """Removes cells of a block, which is rebuilt once at the end.

    `users` has, for each variable, the bindings of the block that mention it; `changed`
    what becomes of a binding: another one, or nothing.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self.users: dict[Var, list[Binding]] = {}
        for binding in block.bindings:
            for var in free_vars_of(binding.expr):
                self.users.setdefault(var, []).append(binding)
        self.results = set(block.results)
        self.changed: dict[Binding, Binding | None] = {}
        self.renaming = Renaming()

    def result(self) -> Block:
        if not self.changed:
            return self.block
        current = [self.changed.get(b, b) for b in self.block.bindings]
        bindings = [self.renaming.binding(b) for b in current if b is not None]
        return Block(tuple(bindings), self.renaming.operands(self.block.results))

    def attempt(self, opening: Binding) -> None:
        """Have the loop that makes all contributions to a cell collect them instead."""
        cell, opened = opening.vars[0], opening.expr
        pair = self._loop_and_close(cell)
        if pair is None:
            return
        old, close = pair
        loop = self.changed.get(old) or old
        node, total = loop.expr, close.vars[0]
        assert isinstance(node, Apply) and isinstance(opened, Open)
        if not isinstance(node.op, Build) or node.args[0] is not opened.dims[0]:
            return
        if len(opened.dims) > 1 and not self._is_only_read(total):
            return
        body = _collecting(node.bodies[0], cell, opened)
        if body is None:
            return
        array = Var(total.name, stacked(body.body.results[-1].type))
        collecting = Apply(node.op, node.args, (body,))
        self.changed[old] = Binding((*loop.vars, array), collecting, loop.span)
        self.changed[opening] = self.changed[close] = None
        self.renaming.mapping[total] = array

    def _loop_and_close(self, cell: Var) -> tuple[Binding, Binding] | None:
        """The only loop that mentions the cell, if nothing else but its close does."""
        users = self.users.get(cell, [])
        if len(users) != 2 or cell in self.results:
            return None
        loop, close = users
        if not isinstance(close.expr, Close) or cell in operands(loop.expr):
            return None
        return (loop, close) if isinstance(loop.expr, Apply) else None

    def _is_only_read(self, array: Var) -> bool:
        users = Block(tuple(self.users.get(array, ())), ())
        return array not in self.results and _only_read(users, array)


def _only_read(block: Block, array: Var) -> bool:
    """Whether nothing is wanted of an array but elements, rows and their number."""
    for binding in block.bindings:
        match binding.expr:
            case Apply(Index() | Dim(axis=0), (first, *_)) if first is array:
                pass
            case expr:
                if array in operands(expr):
                    return False
        if not all(_only_read(inner, array) for _, inner in nested(binding.expr)):
            return False
    return array not in block.results


def _mentioning(block: Block, cell: Var) -> Iterator[Operand]:
    for binding in block.bindings:
        yield from (o for o in operands(binding.expr) if o is cell)
        for _, inner in nested(binding.expr):
            yield from _mentioning(inner, cell)
    yield from (r for r in block.results if r is cell)


def _collecting(body: Lambda, cell: Var, opened: Open) -> Lambda | None:
    """The body that yields its contribution at its index instead of adding it."""
    block, index = body.body, body.params[0]
    if sum(1 for _ in _mentioning(block, cell)) != 1:
        return None
    for k, binding in enumerate(block.bindings):
        match binding.expr:
            case One(c, (i,), value) if c is cell and i is index:
                rest = (*block.bindings[:k], *block.bindings[k + 1 :])
                return Lambda(body.params, Block(rest, (*block.results, value)))
            case View(c, (i,)) if c is cell and i is index:
                return _with_own_cell(body, k, opened)
    return None


def _with_own_cell(body: Lambda, position: int, opened: Open) -> Lambda:
    """The body with a cell of its own in place of a row of an outer cell."""
    block = body.body
    view = block.bindings[position]
    row = view.vars[0]
    assert isinstance(row.type, Acc)
    content = row.type.content
    own = Binding(view.vars, Open(content, opened.dims[1:]), view.span)
    total = Var(row.name.removesuffix("_c") + "_ct", content)
    close = Binding((total,), Close(row), view.span)
    bindings = (
        *block.bindings[:position],
        own,
        *block.bindings[position + 1 :],
        close,
    )
    return Lambda(body.params, Block(bindings, (*block.results, total)))
