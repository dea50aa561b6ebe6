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
from dataclasses import dataclass

from chadllvm.ir.rewrite import Renaming, map_functions, rebuild, with_body
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
from chadllvm.ir.types import Array, stacked
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index


def pointwise(program: Program) -> Program:
    """Turn accumulation into arrays where each element has one contribution."""
    return map_functions(program, lambda f: with_body(f, _block(f.body)))


def _block(block: Block) -> Block:
    """Outer cells first: a row that becomes a cell may be pointwise itself."""
    for cell in [b.vars[0] for b in block.bindings if _is_array_cell(b)]:
        block = _try(block, cell) or block
    bindings = tuple(
        b if (e := rebuild(b.expr, _block)) is b.expr else Binding(b.vars, e, b.span)
        for b in block.bindings
    )
    if all(a is b for a, b in zip(bindings, block.bindings, strict=True)):
        return block
    return Block(bindings, block.results)


def _is_array_cell(binding: Binding) -> bool:
    match binding.expr:
        case Open(Array()):
            return True
        case _:
            return False


@dataclass(frozen=True)
class _Found:
    """The loop that makes all contributions to a cell, and where the cell is closed."""

    loop: Binding
    close: Binding


def _try(block: Block, cell: Var) -> Block | None:
    """The block without this cell, if it can be had."""
    opening = next(b for b in block.bindings if cell in b.vars)
    assert isinstance(opening.expr, Open)
    found = _users(block, cell)
    if found is None:
        return None
    node = found.loop.expr
    assert isinstance(node, Apply)
    if not isinstance(node.op, Build) or node.args[0] is not opening.expr.dims[0]:
        return None
    if len(opening.expr.dims) > 1 and not _only_read(block, found.close.vars[0]):
        return None
    body = _collecting(node.bodies[0], cell, opening.expr)
    if body is None:
        return None
    value = body.body.results[-1]
    array = Var(found.close.vars[0].name, stacked(value.type))
    loop = Binding(
        (*found.loop.vars, array), Apply(node.op, node.args, (body,)), found.loop.span
    )
    return _without(block, opening, found, loop)


def _without(block: Block, opening: Binding, found: _Found, loop: Binding) -> Block:
    """The block with the collecting loop, whose last result is the cell's content."""
    renaming = Renaming({found.close.vars[0]: loop.vars[-1]})
    bindings: list[Binding] = []
    closed = False
    for binding in block.bindings:
        if binding is found.loop:
            bindings.append(loop)
        elif binding is found.close:
            closed = True
        elif binding is not opening:
            bindings.append(renaming.binding(binding) if closed else binding)
    return Block(tuple(bindings), renaming.operands(block.results))


def _users(block: Block, cell: Var) -> _Found | None:
    """The only loop that mentions the cell, if nothing else but its close does."""
    loops: list[Binding] = []
    closes: list[Binding] = []
    for binding in block.bindings:
        if isinstance(binding.expr, Close) and binding.expr.cell is cell:
            closes.append(binding)
        elif cell in operands(binding.expr):
            return None
        elif any(_mentions(inner, cell) for _, inner in nested(binding.expr)):
            loops.append(binding)
    if len(loops) != 1 or len(closes) != 1 or cell in block.results:
        return None
    return _Found(loops[0], closes[0]) if isinstance(loops[0].expr, Apply) else None


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


def _mentions(block: Block, cell: Var) -> bool:
    return any(True for _ in _mentioning(block, cell))


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
    content = row.type.content  # type: ignore[union-attr]
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
