"""Cotangents inside of programs: `cl.vjp`.

out, back = cl.vjp(f, x)       out = @f(x);  back = {x: x, out: out}
dx = back(ct)          →       _, dx = derivative pull_back[0] @f(x, ct)
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from chadllvm.errors import call_errors, closure_errors
from chadllvm.frontend.apart import Apart, Packed
from chadllvm.frontend.applying import (
    Made,
    captures_of,
    closure,
    for_each,
    function_of,
)
from chadllvm.frontend.closures import holds_reals
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value
from chadllvm.frontend.differentiated import Target, target_of
from chadllvm.frontend.directions import cotangent_of
from chadllvm.frontend.functions import arguments
from chadllvm.frontend.records import NO_DEFAULT
from chadllvm.frontend.signature import Parameter
from chadllvm.frontend.unions import NONE_VALUE
from chadllvm.ir.term import Call, Derivative, Mode, Operand, Tuple
from chadllvm.support.diagnostic import Span


@dataclass(frozen=True)
class Pullback(Made):
    """What `vjp` gives beside the result: it takes a cotangent of that.

    It captures what the function has captured, the arguments, and the result. `at` is
    where the parameters are among these.
    """

    of: str
    called: Packed
    at: tuple[int | None, ...]
    made_at: Span

    @property
    def title(self) -> str:
        return f"pullback_{self.of}"

    def parameters(self, cx: Context, node: ast.expr) -> tuple[Parameter, ...]:
        return (Parameter("cotangent", None, NO_DEFAULT, self.made_at),)

    def call(self, cx: Context, node: ast.Call, function: Operand) -> Value:
        (argument,) = arguments(cx, node, "the pullback", 1, 1)
        *operands, out = captures_of(cx, node, function).values()
        called = Apart(self.called, tuple(operands))
        if not holds_reals(out.type) or not called.by:
            raise closure_errors.no_reals(cx.span(node), self.title, 0, out.type)
        ct = cotangent_of(cx, argument, cx.value(argument), called, out)
        rule = Derivative(Mode.PULL_BACK, called.wrt)
        b = cx.at(node)
        _, *found = b.emit(Call(called.name, (*operands, ct), rule), "out")
        gradients = dict(zip(called.by, called.gradients(b, found), strict=True))
        unit = None if len(gradients) == len(self.at) else b.one(NONE_VALUE)
        parts = [unit if at is None else gradients.get(at, unit) for at in self.at]
        return b.one(Tuple(tuple([p for p in parts if p is not None])))


def vjp(cx: Context, node: ast.Call) -> Value:
    """A call of `vjp`."""
    if not node.args:
        raise call_errors.missing_argument(cx.span(node), "vjp", "function")
    function = function_of(cx, node.args[0])
    moved = ast.copy_location(
        ast.Call(node.args[0], node.args[1:], node.keywords), node
    )

    def pull(cx: Context, node: ast.Call, function: Operand) -> Operand:
        return _pulled(cx, node, target_of(cx, node, function).of_given(node))

    return for_each(cx, moved, function, pull)


def _pulled(cx: Context, node: ast.Call, target: Target) -> Operand:
    """The result, and the pullback."""
    b = cx.at(node)
    by = [
        at
        for at in target.at
        if at is not None and holds_reals(target.operands[at].type)
    ]
    called = target.apart(b, by, packs=True)
    (out,) = b.call(called.name, called.operands)
    captures = {f"p{k}": o for k, o in enumerate(called.operands)}
    captures["out"] = out
    made = Pullback(target.title, called.function, target.at, target.span)
    pullback = closure(cx, node, made, captures)
    return b.one(Tuple((called.result(b, out), pullback)))
