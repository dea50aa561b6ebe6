"""A pass that goes forward over bindings and replaces variables on the way."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_

from chadllvm.ir.rewrite import Renaming
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Case,
    Expr,
    If,
    Lambda,
    Operand,
    Var,
    nested,
    operands,
)


class Walk(Renaming):
    """Visits bindings in order; `replace` a variable and its later uses change.

    A subclass says in `visit` what becomes of a binding whose operands are replaced
    already and whose nested blocks have been walked: it calls `keep` or `replace`. What
    is not changed stays the same object.
    """

    def __init__(self) -> None:
        super().__init__()
        self.out: list[Binding] = []

    def visit(self, binding: Binding) -> None:
        """What becomes of a binding; by default it is kept."""
        self.keep(binding)

    def keep(self, binding: Binding) -> None:
        self.out.append(binding)

    def replace(self, var: Var, operand: Operand) -> None:
        """Use the operand in place of the variable from here on."""
        self.mapping[var] = operand

    def enter(self, params: tuple[Var, ...], block: Block) -> Block:
        """Walk a nested block; subclasses open and close a scope around it."""
        return self.block(block)

    def block(self, block: Block) -> Block:
        outer, self.out = self.out, []
        for binding in block.bindings:
            self.visit(self.walked(binding))
        bindings, self.out = self.out, outer
        results = self.operands(block.results)
        if same(results, block.results) and same(bindings, block.bindings):
            return block
        return Block(tuple(bindings), results)

    def walked(self, binding: Binding) -> Binding:
        """The binding with its operands replaced and its nested blocks walked."""
        expr = binding.expr
        if self.mapping.keys().isdisjoint(operands(expr)) and not nested(expr):
            return binding
        new = self.expr(expr)
        if new is expr:
            return binding
        return Binding(binding.vars, new, binding.span)

    def expr(self, expr: Expr) -> Expr:
        changed = not self.mapping.keys().isdisjoint(operands(expr))
        match expr:
            case Apply(op, args, bodies):
                if not bodies:
                    return Apply(op, self.operands(args)) if changed else expr
                new = tuple(map(self.body, bodies))
                changed = changed or not same(new, bodies)
                return Apply(op, self.operands(args), new) if changed else expr
            case If(cond, then, orelse):
                blocks = self.enter((), then), self.enter((), orelse)
                changed = changed or not same(blocks, (then, orelse))
                return If(self.operand(cond), *blocks) if changed else expr
            case Lambda():
                return self.body(expr)
            case Case(arg, branches):
                new = tuple(map(self.body, branches))
                changed = changed or not same(new, branches)
                return Case(self.operand(arg), new) if changed else expr
            case _:
                return super().expr(expr) if changed else expr

    def body(self, body: Lambda) -> Lambda:
        block = self.enter(body.params, body.body)
        return body if block is body.body else Lambda(body.params, block)


def same(a: Sequence[object], b: Sequence[object]) -> bool:
    """Whether two sequences consist of the same objects."""
    return len(a) == len(b) and all(map(is_, a, b))
