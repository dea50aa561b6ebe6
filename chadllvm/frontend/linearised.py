"""Products with derivatives inside of programs: `cl.hvp`, `cl.linearize`.

cl.hvp(f)(x, v)            →   cl.jvp(cl.grad(f), (x,), (v,))[1]
out, map = cl.linearize(f, x)  →   out = @f(x);  map = {x: x}
map(v)                     →   _, y_t = derivative push_forward[0] @f(x, v)
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from chadllvm.errors import call_errors
from chadllvm.frontend.applying import (
    Made,
    captures_of,
    closure,
    for_each,
    function_of,
)
from chadllvm.frontend.closures import Code, code_of
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value
from chadllvm.frontend.derivative_arguments import (
    Argnums,
    argument_numbers,
    constant_argument,
    given_arguments,
    positions,
    written_at,
)
from chadllvm.frontend.differentiated import Target, parameters_of, target_of
from chadllvm.frontend.directions import parts_of, pushed
from chadllvm.frontend.functions import arguments
from chadllvm.frontend.gradients import Gradient
from chadllvm.frontend.records import NO_DEFAULT
from chadllvm.frontend.signature import Parameter
from chadllvm.ir.build import unused_name
from chadllvm.ir.term import Operand, Proj, Tuple
from chadllvm.ir.types import Type
from chadllvm.support.diagnostic import Span


@dataclass(frozen=True)
class HessianProduct(Made):
    """The Hessian of a function of this code times a direction, the last argument."""

    of: Code
    argnums: Argnums

    @property
    def title(self) -> str:
        return f"hvp_{self.of.title}"

    def parameters(self, cx: Context, node: ast.expr) -> tuple[Parameter, ...]:
        own = parameters_of(cx, self.of, node)
        name = unused_name("direction", {p.name for p in own})
        return *own, Parameter(name, None, NO_DEFAULT, cx.span(node))

    def call(self, cx: Context, node: ast.Call, function: Operand) -> Value:
        if not node.args:
            raise call_errors.missing_argument(cx.span(node), self.title, "direction")
        *primals, direction = node.args
        gradient = Gradient(self.of, self.argnums, False, False)
        inner = closure(cx, node, gradient, captures_of(cx, node, function))
        moved = ast.copy_location(ast.Call(node.func, primals, node.keywords), node)
        target = target_of(cx, moved, inner)
        along = [direction]
        if not isinstance(self.argnums, int):
            along = parts_of(
                cx, direction, len(self.argnums), written_at(cx.span(node))
            )
        given = dict(zip(positions(self.argnums), along, strict=True))
        nothing = ast.copy_location(ast.Constant(None), node)
        tangents = [given.get(k, nothing) for k in range(len(target.at))]
        return cx.at(node).one(Proj(pushed(cx, node, target, tangents), 1))


def hvp(cx: Context, node: ast.Call) -> Value:
    """A call of `hvp`."""
    name = ast.unparse(node.func)
    given = given_arguments(cx, node, name, ("function", "argnums"))
    function = function_of(cx, given["function"])
    argnums = constant_argument(cx, given.get("argnums"), name, 0)
    place = given.get("argnums", node)

    def make(cx: Context, node: ast.Call, function: Operand) -> Operand:
        code = code_of(function.type)
        assert code is not None
        parameters = parameters_of(cx, code, node)
        found = argument_numbers(cx, place, name, code.title, parameters, argnums)
        made = HessianProduct(code, found)
        return closure(cx, node, made, captures_of(cx, node, function))

    return for_each(cx, node, function, make)


@dataclass(frozen=True)
class LinearMap(Made):
    """What `linearize` gives beside the result: it takes a tangent for each argument.

    It captures what the function has captured, and the arguments. `at` is where the
    parameters are among these.
    """

    of: str
    name: str
    result: Type
    at: tuple[int | None, ...]
    made_at: Span

    @property
    def title(self) -> str:
        return f"linear_{self.of}"

    def parameters(self, cx: Context, node: ast.expr) -> tuple[Parameter, ...]:
        names = [f"tangent_{k}" for k in range(len(self.at))]
        return tuple(Parameter(n, None, NO_DEFAULT, self.made_at) for n in names)

    def call(self, cx: Context, node: ast.Call, function: Operand) -> Value:
        count = len(self.at)
        tangents = arguments(cx, node, "the linear map", count, count)
        operands = tuple(captures_of(cx, node, function).values())
        target = Target(
            self.of, self.name, self.result, operands, self.at, cx.span(node),
            cx.callees.wrapper,
        )  # fmt: skip
        return cx.at(node).one(Proj(pushed(cx, node, target, tangents), 1))


def linearize(cx: Context, node: ast.Call) -> Value:
    """A call of `linearize`."""
    if not node.args:
        raise call_errors.missing_argument(cx.span(node), "linearize", "function")
    function = function_of(cx, node.args[0])
    moved = ast.copy_location(
        ast.Call(node.args[0], node.args[1:], node.keywords), node
    )

    def make(cx: Context, node: ast.Call, function: Operand) -> Operand:
        target = target_of(cx, node, function).of_given(node)
        b = cx.at(node)
        (out,) = b.call(target.name, target.operands)
        captures = {f"p{k}": o for k, o in enumerate(target.operands)}
        made = LinearMap(
            target.title, target.name, target.result, target.at, target.span
        )
        return b.one(Tuple((out, closure(cx, node, made, captures))))

    return for_each(cx, moved, function, make)
