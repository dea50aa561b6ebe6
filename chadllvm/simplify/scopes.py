"""A walk that knows, at each place, the facts that hold there."""

from __future__ import annotations

from chadllvm.ir.op import ArrayOp
from chadllvm.ir.term import Apply, Binding, Block, Expr, If, Lambda, Lit, Var
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.iterate import Iterate
from chadllvm.simplify.facts import Facts
from chadllvm.simplify.walk import Walk, same

LOOPS = (Build, Fold, Iterate)


def sure_to_start(loop: Apply) -> bool:
    """Whether a loop runs its first step if it may run any."""
    return loop.op != Iterate(stops=True) or loop.args[1] == Lit(True)


class FactWalk(Walk):
    """Learns from each binding that is kept; subclasses may override `inside`."""

    def __init__(self, params: tuple[Var, ...]) -> None:
        super().__init__()
        self.facts = Facts()
        self.facts.bind(params)

    def inside(self, block: Block, index: Var | None) -> Block:
        """Walk a nested block; `index` if it is run for each step of a loop."""
        return self.block(block)

    def keep(self, binding: Binding) -> None:
        self.facts.learn(binding)
        super().keep(binding)

    def enter(self, params: tuple[Var, ...], block: Block) -> Block:
        with self.facts.nested(params):
            return self.inside(block, None)

    def expr(self, expr: Expr) -> Expr:
        match expr:
            case If():
                return self._if(expr)
            case Apply(op, _, (_,)) if isinstance(op, LOOPS):
                return self.loop_expr(expr)
            case _:
                return super().expr(expr)

    def _if(self, expr: If) -> If:
        cond = self.operand(expr.cond)
        with self.facts.branch(cond, True):
            then = self.inside(expr.then, None)
        with self.facts.branch(cond, False):
            orelse = self.inside(expr.orelse, None)
        if same((cond, then, orelse), (expr.cond, expr.then, expr.orelse)):
            return expr
        return If(cond, then, orelse)

    def loop_expr(self, expr: Apply) -> Apply:
        (body,) = expr.bodies
        args = self.operands(expr.args)
        # A loop that stops may not run the steps that its count allows.
        assert isinstance(expr.op, ArrayOp)
        index = None if expr.op.stops else body.params[0]
        with self.facts.loop(args[0], body):
            block = self.inside(body.body, index)
        if block is body.body and same(args, expr.args):
            return expr
        if block is not body.body:
            body = Lambda(body.params, block)
        return Apply(expr.op, args, (body,))
