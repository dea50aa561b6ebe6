"""Branches between rows of one array choose an index instead.

    r = if c {                                i = if c {
      k = bound(e, n)                           k = bound(e, n)
      a = index(m, k)                           yield k
      yield a                           →     } else {
    } else {                                    yield 0
      b = index(m, 0)                         }
      yield b                                 r = index(m, i)
    }

Then r is known to be a row of m, for its size and for what is read of it. CHAD has to
know: the cell of a row is a part of the cell of its array. A cell of its own would have
to be cleared and added up in each run of a block that perhaps reads one element. Inner
branches go first, so that it does not matter how many rows there are to choose from.
"""

from __future__ import annotations

from dataclasses import dataclass

from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    If,
    Operand,
    Program,
    Var,
    nested,
)
from chadllvm.ir.types import I64, Array
from chadllvm.ops.index import Index
from chadllvm.simplify.walk import Walk


def choose(program: Program) -> Program:
    """Put one row in the place of a branch between several."""
    return map_functions(program, lambda f: with_body(f, _Choosing().block(f.body)))


@dataclass(frozen=True)
class _Row:
    """A part of an array."""

    array: Var
    indices: tuple[Operand, ...]


class _Choosing(Walk):
    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[Var, _Row] = {}

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Index(), (Var() as array, *indices)):
                self._rows[binding.vars[0]] = _Row(array, tuple(indices))
                self.keep(binding)
            case If() as node:
                self._branch(binding, node)
            case _:
                self.keep(binding)

    def _branch(self, binding: Binding, node: If) -> None:
        """The branch without the rows that it gives, and these behind it."""
        kept: list[Var] = []
        results: list[tuple[Operand, Operand]] = []
        rows: list[Binding] = []
        inside = _bound(node)
        pairs = zip(node.then.results, node.orelse.results, strict=True)
        for var, pair in zip(binding.vars, pairs, strict=True):
            given = self._two_rows(*pair, inside)
            if given is None:
                kept.append(var)
                results.append(pair)
                continue
            indices = [Var("i", I64) for _ in given[0].indices]
            kept += indices
            results += zip(*(row.indices for row in given), strict=True)
            row = self._rows[var] = _Row(given[0].array, tuple(indices))
            read = Apply(Index(), (row.array, *row.indices))
            rows.append(Binding((var,), read, binding.span))
        if rows:
            then = Block(node.then.bindings, tuple([a for a, _ in results]))
            orelse = Block(node.orelse.bindings, tuple([b for _, b in results]))
            binding = Binding(tuple(kept), If(node.cond, then, orelse), binding.span)
        for piece in (binding, *rows):
            self.keep(piece)

    def _two_rows(
        self, then: Operand, orelse: Operand, inside: set[Var]
    ) -> tuple[_Row, _Row] | None:
        """What the branches give, if it is rows of one array from outside of them."""
        if not (isinstance(then, Var) and isinstance(orelse, Var)):
            return None
        a, b = self._rows.get(then), self._rows.get(orelse)
        if not isinstance(then.type, Array) or a is None or b is None:
            return None
        same = a.array is b.array and len(a.indices) == len(b.indices)
        return (a, b) if same and a.array not in inside else None


def _bound(node: If) -> set[Var]:
    """The variables that the branches bind."""
    return {v for _, block in nested(node) for b in block.bindings for v in b.vars}
