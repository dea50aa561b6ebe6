"""What all calls of a recursion hand on unchanged is no parameter of theirs.

    recurse(x, a) { f, p, q ->             recurse(x) { f, p ->
      … call f(y, q) … q … }         →       … call f(y) … a … }

The body reads it from outside, as the body of a loop does. So an array that is handed
on has one cell for all calls, and no call takes what is the same for all. What calls
update where they return stays a parameter: it is what they are given to update.

Inlining shows the arguments of the outermost call; the recursions that closure
conversion makes hand on the cells of all that is free in the body.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chadllvm.ir.rewrite import Renaming, everywhere, map_functions, rebuild, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Expr,
    Lambda,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import Fun
from chadllvm.ops.handed_back import handed_back_by
from chadllvm.ops.recurse import Recurse


def invariants(program: Program) -> Program:
    """Remove the parameters of recursions that never change."""
    return map_functions(program, lambda f: with_body(f, _block(f.body)))


def _block(block: Block) -> Block:
    new = tuple([_binding(b) for b in block.bindings])
    if all(a is b for a, b in zip(new, block.bindings, strict=True)):
        return block
    return Block(new, block.results)


def _binding(binding: Binding) -> Binding:
    expr = rebuild(binding.expr, _block)
    if isinstance(expr, Apply) and isinstance(expr.op, Recurse):
        expr = _recursion(expr)
    if expr is binding.expr:
        return binding
    return Binding(binding.vars, expr, binding.span)


def _recursion(node: Apply) -> Apply:
    (body,) = node.bodies
    itself, *params = body.params
    calls = list(_calls(itself, body.body))
    pairs = list(zip(params, node.args, strict=True))
    assert isinstance(node.op, Recurse)
    updated = handed_back_by(body, node.op.plain(body)).values()
    fixed = [
        k not in updated and all(args[k] is param or args[k] is arg for args in calls)
        for k, (param, arg) in enumerate(pairs)
    ]
    if not any(fixed):
        return node
    assert isinstance(itself.type, Fun)
    changing = [p for p, same in zip(params, fixed, strict=True) if not same]
    function = Var(
        itself.name, Fun(tuple(p.type for p in changing), itself.type.results)
    )
    outside = {p: a for (p, a), same in zip(pairs, fixed, strict=True) if same}
    block = Renaming(outside).block(body.body)
    block = _Redirect(itself, function, fixed).block(block)
    return Apply(
        node.op,
        tuple(a for a, same in zip(node.args, fixed, strict=True) if not same),
        (Lambda((function, *changing), block),),
    )


def _calls(function: Var, block: Block) -> Iterator[Sequence[Operand]]:
    """The arguments of all calls of a function in a block."""
    for binding in everywhere(block):
        match binding.expr:
            case Call(called, args) if called is function:
                yield args


class _Redirect(Renaming):
    """Calls another function, without the arguments that are dropped."""

    def __init__(self, old: Var, new: Var, dropped: Sequence[bool]) -> None:
        super().__init__()
        self.old, self.new, self.dropped = old, new, dropped

    def expr(self, expr: Expr) -> Expr:
        match expr:
            case Call(function, args) if function is self.old:
                pairs = zip(args, self.dropped, strict=True)
                return Call(self.new, tuple(a for a, flag in pairs if not flag))
            case _:
                return super().expr(expr)
