"""What was just written to an element is known, and need not be read.

    b = update(a, i, x)                 b = update(a, i, x)
    y = index(b, i)             →       z = add(x, 1.0)
    z = add(y, 1.0)                     c = update(a, i, z)
    c = update(b, i, z)

An element that is written again before anybody reads it is not written the first time.
An element may be written in one block and read in another one inside of it. The pass
stands behind `bounds`, which makes indices comparable, and behind `scatter`, which
looks for elements that are read, added to and written back.
"""

from __future__ import annotations

from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    Operand,
    Program,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import Array
from chadllvm.ops.index import Index
from chadllvm.ops.update import Update
from chadllvm.simplify.identities import is_same
from chadllvm.simplify.walk import Walk


def written(program: Program) -> Program:
    """Put what was written in the place of reading it."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    forwarded = with_body(function, _Forwarding().block(function.body))
    return with_body(forwarded, _Overwriting(forwarded.body).block(forwarded.body))


class _Updates(Walk):
    """Knows the updates in scope, by their results."""

    def __init__(self) -> None:
        super().__init__()
        self.updates: dict[Operand, Apply] = {}

    def keep(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Update()) as node:
                self.updates[binding.vars[0]] = node
            case _:
                pass
        super().keep(binding)

    def written_at(
        self, array: Operand, indices: tuple[Operand, ...]
    ) -> tuple[Operand, Operand] | None:
        """What was updated at this very place, and the value put there."""
        node = self.updates.get(array)
        if node is None:
            return None
        before, *places, value = node.args
        if len(places) != len(indices) or not all(map(is_same, places, indices)):
            return None
        return before, value


class _Forwarding(_Updates):
    """Numbers only: a row is another name, which would outlive the update."""

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Index(), (array, *indices)) if not isinstance(
                binding.vars[0].type, Array
            ):
                found = self.written_at(array, tuple(indices))
            case _:
                found = None
        if found is None:
            self.keep(binding)
        else:
            self.replace(binding.vars[0], found[1])


class _Overwriting(_Updates):
    """Knows how often each variable is used; the updates are those of one block."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        self._uses: dict[Var, int] = {}
        self._count(block)

    def _count(self, block: Block) -> None:
        used = [*block.results]
        for binding in block.bindings:
            used += operands(binding.expr)
            for _, inner in nested(binding.expr):
                self._count(inner)
        for operand in used:
            if isinstance(operand, Var):
                self._uses[operand] = self._uses.get(operand, 0) + 1

    def enter(self, params: tuple[Var, ...], block: Block) -> Block:
        outer, self.updates = self.updates, {}
        new = self.block(block)
        self.updates = outer
        return new

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Update() as op, (array, *indices, value)):
                found = self.written_at(array, tuple(indices))
                if found is not None and self._is_read_once(array):
                    new = Apply(op, (found[0], *indices, value))
                    self._drop(array)
                    binding = Binding(binding.vars, new, binding.span)
            case _:
                pass
        self.keep(binding)

    def _is_read_once(self, array: Operand) -> bool:
        return isinstance(array, Var) and self._uses[array] == 1

    def _drop(self, array: Operand) -> None:
        """Take away the update that nobody sees."""
        self.out = [b for b in self.out if b.vars[:1] != (array,)]
