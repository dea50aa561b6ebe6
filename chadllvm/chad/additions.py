"""To which cells the bindings of a function add active values.

A cell that a view or a branch names is part of the cells that were opened for it, its
*roots*; what is said of additions is said of roots.

    c = open f64[:](n)
    build(n) { i ->           adds to c, by its body
      v = view c[i]           the root of v is c
      one v y }               adds to c, if y is active
    s = close c

What calls of a recursion collect they add to the array of it, which stands for a root:
a call is to be reversed for its sake even if nobody asks for what the call returns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Expr,
    If,
    One,
    Operand,
    Var,
    View,
    nested,
    operands,
)
from chadllvm.ir.types import Acc
from chadllvm.ops.heap import Load, New, Place
from chadllvm.ops.ledger import ledger_of
from chadllvm.ops.recurse import Recurse

Roots = frozenset[Var]

_NONE: Roots = frozenset()


class Additions:
    """The additions of active values in a function's body."""

    def __init__(self, block: Block, active: Collection[Var]) -> None:
        self._active = active
        self._roots: dict[Var, Roots] = {}
        self._of_binding: dict[Binding, Roots] = {}
        self._of_block: dict[Block, Roots] = {}
        # The functions of recursions: their parameters, and what a call adds to.
        self._recursions: dict[Var, tuple[tuple[Var, ...], Roots]] = {}
        self._block(block)

    def of(self, binding: Binding) -> Roots:
        """The roots that a binding adds to, itself or by its nested blocks."""
        return self._of_binding.get(binding, _NONE)

    def of_block(self, block: Block) -> Roots:
        """The roots opened outside of a block that it adds to."""
        return self._of_block.get(block, _NONE)

    def roots(self, cell: Operand) -> Roots:
        """The opened cells that a cell is, or is a part of."""
        if not isinstance(cell, Var):
            return _NONE
        return self._roots.get(cell, frozenset((cell,)))

    def _block(self, block: Block) -> Roots:
        found: set[Var] = set()
        for binding in block.bindings:
            here = self._binding(binding)
            if here:
                self._of_binding[binding] = here
                found |= here
        found.difference_update(*(b.vars for b in block.bindings))
        if found:
            self._of_block[block] = frozenset(found)
        return self.of_block(block)

    def _binding(self, binding: Binding) -> Roots:
        """What a binding adds to; notes the roots of the cells that it names."""
        if isinstance(binding.expr, Apply) and isinstance(binding.expr.op, Recurse):
            return self._recursion(binding.expr, binding.vars)
        added = _NONE.union(*(self._block(b) for _, b in nested(binding.expr)))
        match binding.expr:
            case Call(Var() as function, args) if function in self._recursions:
                added = self._call(function, args)
            case One(cell, _, value) if value in self._active:
                added = self.roots(cell)
            case Apply(Place() as op, args):
                if any(args[1 + k] in self._active for k, _ in op.reals()):
                    added = frozenset([ledger_of(op.heap)])
            case Apply(New() | Load() as op, args):
                if any(args[k] in self._active for k, _ in op.reals()):
                    added = frozenset([ledger_of(op.heap)])
            case View(cell):
                self._roots[binding.vars[0]] = self.roots(cell)
            case If(_, then, orelse):
                self._choice([then, orelse], binding)
            case Case(_, branches):
                self._choice([b.body for b in branches], binding)
        return added

    def _recursion(self, node: Apply, variables: Sequence[Var]) -> Roots:
        """What any of the calls adds to, known when nothing new is found."""
        (body,) = node.bodies
        function, *params = body.params
        op = node.op
        assert isinstance(op, Recurse)
        _, _, arrays = op.parts(variables, op.plain(body))
        collected = frozenset(v for v in arrays if v in self._active)
        self._roots.update((p, _NONE) for p in params if isinstance(p.type, Acc))
        known: object = None
        added = collected
        while known != (added, [self._roots.get(p) for p in params]):
            known = added, [self._roots.get(p) for p in params]
            self._recursions[function] = tuple(params), added
            self._call(function, node.args)
            added = collected | self._block(body.body)
        return added

    def _call(self, function: Var, args: Iterable[Operand]) -> Roots:
        params, added = self._recursions[function]
        for param, arg in zip(params, args, strict=True):
            if isinstance(param.type, Acc):
                self._roots[param] |= self.roots(arg)
        return added

    def _choice(self, blocks: list[Block], binding: Binding) -> None:
        for position, var in enumerate(binding.vars):
            if isinstance(var.type, Acc):
                chosen = (self.roots(b.results[position]) for b in blocks)
                self._roots[var] = _NONE.union(*chosen)

    def influences(self, block: Block, wanted: Iterable[Var]) -> set[Var]:
        """The active variables that the wanted ones may depend on, with themselves.

        A wanted cell depends on all that is added to it.
        """
        found = set(wanted)
        self._influences(block, found)
        return found

    def _influences(self, block: Block, found: set[Var]) -> None:
        for binding in reversed(block.bindings):
            used = not found.isdisjoint(binding.vars)
            if used or not found.isdisjoint(self.of(binding)):
                self._through(binding.expr, used, found)

    def _through(self, expr: Expr, used: bool, found: set[Var]) -> None:
        """Add what an expression depends on; `used`: some result of it is wanted.

        What a loop adds may depend on all of its states.
        """
        found.update(self._variables(operands(expr)))
        for _, inner in nested(expr):
            if used or not isinstance(expr, If):
                found.update(self._variables(inner.results))
            self._influences(inner, found)

    def _variables(self, found: Iterable[Operand]) -> Iterator[Var]:
        return (v for v in found if isinstance(v, Var) and v in self._active)
