"""Sizes that were found to be equal are one size from there on.

    n = dim[0](a)                         n = dim[0](a)
    m = dim[0](b)                         m = dim[0](b)
    s = same(n, m)                        s = same(n, m)
    x = build(n) { i -> … }         →     x = build(n) { i -> … }
    y = build(m) { j -> … }               y = build(n) { j -> … }

Loops over what is one size may run together. The size that was there first stands for
the other one, inside of the loops and branches that the check is in; a number stands
for both. A size is not negative, so the larger one of it and zero is the size itself.
With `speculate`, sizes from outside of a block are compared where it begins, and those
from outside of a loop in front of it: a call that fails is repeated.
"""

from __future__ import annotations

from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import map_functions, with_body
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
from chadllvm.simplify.scopes import LOOPS, FactWalk
from chadllvm.simplify.walk import same


def equal(program: Program, *, speculate: bool) -> Program:
    """Use one name for sizes that are equal."""

    def change(function: Function) -> Function:
        walk = _Equal(function.params, speculate)
        body = _lifted(function.body) if speculate else function.body
        return with_body(function, walk.block(body))

    return map_functions(program, change)


class _Equal(FactWalk):
    """`_age` says which variables were there first, `_names` which others a size stands
    for, and `_found` what was found, in order.
    """

    def __init__(self, params: tuple[Var, ...], speculate: bool) -> None:
        super().__init__(params)
        self._speculate = speculate
        self._age: dict[Operand, int] = {}
        self._names: dict[Operand, list[Var]] = {}
        self._found: list[tuple[Operand, list[Var]]] = []

    def block(self, block: Block) -> Block:
        """What is found inside of a block holds there only."""
        before = len(self._found)
        new = super().block(_checked_first(block) if self._speculate else block)
        while len(self._found) > before:
            self._forget()
        return new

    def keep(self, binding: Binding) -> None:
        for var in binding.vars:
            self._age[var] = len(self._age)
        super().keep(binding)

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Prim(name="imax"), (Var() as size, Lit(0))) if (
                self.facts.is_not_negative(self.facts.value(size))
            ):
                self._stand_for(binding.vars[0], size)
            case Apply(Prim(name="same"), (a, b)) if a != b:
                self.keep(binding)
                first, second = sorted((a, b), key=self._order)
                if isinstance(second, Var):
                    self._stand_for(second, first)
            case _:
                self.keep(binding)

    def _stand_for(self, second: Var, first: Operand) -> None:
        """Use `first` for what `second` stood for."""
        names = [second, *self._names.get(second, ())]
        for var in names:
            self.replace(var, first)
        self._names.setdefault(first, []).extend(names)
        self._found.append((first, names))

    def _forget(self) -> None:
        first, names = self._found.pop()
        second = names[0]
        del self._names[first][-len(names) :]
        for var in names:
            self.replace(var, second)
        del self.mapping[second]

    def _order(self, operand: Operand) -> int:
        """Numbers come first, then parameters."""
        return -2 if isinstance(operand, Lit) else self._age.get(operand, -1)


def _lifted(block: Block) -> Block:
    """The block with what compares sizes from outside of loops in front of these."""
    new: list[Binding] = []
    for binding in block.bindings:
        match binding.expr:
            case Apply(op, args, (body,)) if isinstance(op, LOOPS):
                inner = _lifted(body.body)
                first, rest = _divided(inner, body.params)
                new += first
                inner = Block(rest, inner.results) if first else inner
                if inner is not body.body:
                    loop = Apply(op, args, (Lambda(body.params, inner),))
                    binding = Binding(binding.vars, loop, binding.span)
            case If(cond, then, orelse):
                branches = _lifted(then), _lifted(orelse)
                if not same(branches, (then, orelse)):
                    chosen = If(cond, *branches)
                    binding = Binding(binding.vars, chosen, binding.span)
        new.append(binding)
    return block if same(new, block.bindings) else Block(tuple(new), block.results)


def _checked_first(block: Block) -> Block:
    """The block with what compares sizes from outside of it in front."""
    first, rest = _divided(block, ())
    if not first or all(a is b for a, b in zip(first, block.bindings, strict=False)):
        return block
    return Block((*first, *rest), block.results)


def _divided(
    block: Block, params: tuple[Var, ...]
) -> tuple[tuple[Binding, ...], tuple[Binding, ...]]:
    """What compares sizes from outside of a block under parameters, and the rest."""
    inside = {*params, *(v for b in block.bindings for v in b.vars)}
    first = tuple(
        b
        for b in block.bindings
        if _compares(b) and inside.isdisjoint(operands(b.expr))
    )
    return first, tuple(b for b in block.bindings if b not in first)


def _compares(binding: Binding) -> bool:
    match binding.expr:
        case Apply(Prim(name="same")):
            return True
        case _:
            return False
