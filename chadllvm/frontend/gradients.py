"""Gradients inside of programs: `cl.grad`, `cl.value_and_grad`.

g = cl.grad(f)                 g = a function value that captures what f does
y = g(x)               →       v, y = derivative gradient[0] @f(x)
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

from chadllvm.errors import closure_errors
from chadllvm.frontend.applying import (
    Made,
    Outside,
    captures_of,
    closure,
    for_each,
    function_of,
)
from chadllvm.frontend.closures import Code, code_of
from chadllvm.frontend.context import Callees, Context
from chadllvm.frontend.delayed import Value
from chadllvm.frontend.derivative_arguments import (
    Argnums,
    argument_numbers,
    constant_argument,
    given_arguments,
    positions,
)
from chadllvm.frontend.differentiated import Target, parameters_of, target_of
from chadllvm.frontend.signature import Parameter
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Call, Derivative, Mode, Operand, Tuple
from chadllvm.ir.term import Function as CoreFunction
from chadllvm.ir.types import Fun, is_float
from chadllvm.support.derivative_kinds import GRADIENT_PARTS
from chadllvm.support.twins import FROZEN

# The positions of parameters, whether the value is given, whether there is more.
GradientParts = tuple[Argnums | None, bool, bool]


@dataclass(frozen=True)
class Gradient(Made):
    """The gradient of a function of this code, made by `grad` or `value_and_grad`."""

    of: Code
    argnums: Argnums
    value: bool
    has_aux: bool

    @property
    def title(self) -> str:
        return f"grad_{self.of.title}"

    def parameters(self, cx: Context, node: ast.expr) -> tuple[Parameter, ...]:
        return parameters_of(cx, self.of, node)

    def call(self, cx: Context, node: ast.Call, function: Operand) -> Value:
        inner = closure(cx, node, self.of, captures_of(cx, node, function))
        target = target_of(cx, node, inner, result_only=True)
        return self.at(target, cx.at(node))

    def at(self, target: Target, b: Builder) -> Operand:
        """The gradient of a function at its arguments."""
        ty, name = target.result, target.name
        if self.has_aux:
            ty, _ = target.pair()
            name = target.with_aux()
        if not is_float(ty):
            raise closure_errors.not_differentiable(
                target.span, target.title, ty, "a float, for example a sum"
            )
        target = replace(target, name=name)
        called = target.apart(b, target.wrt(positions(self.argnums)), packs=False)
        rule = Derivative(Mode.GRADIENT, called.wrt)
        value, *rest = b.emit(Call(called.name, called.operands, rule), "value")
        out: Operand = value
        if self.has_aux:
            aux, *rest = rest
            out = b.one(Tuple((value, aux))) if self.value else aux
        gradients = called.gradients(b, rest)
        gradient = gradients[0]
        if not isinstance(self.argnums, int):
            gradient = b.one(Tuple(tuple(gradients)))
        if self.value:
            return b.one(Tuple((out, gradient)))
        return b.one(Tuple((gradient, out))) if self.has_aux else gradient


def gradient(cx: Context, node: ast.Call, value: bool) -> Value:
    """A call of `grad`, or of `value_and_grad`."""
    name = ast.unparse(node.func)
    given = given_arguments(cx, node, name, ("function", "argnums", "has_aux"))
    function = function_of(cx, given["function"])
    argnums = constant_argument(cx, given.get("argnums"), name, 0)
    has_aux = bool(constant_argument(cx, given.get("has_aux"), name, False))
    place = given.get("argnums", node)

    def make(cx: Context, node: ast.Call, function: Operand) -> Operand:
        code = code_of(function.type)
        assert code is not None
        parameters = parameters_of(cx, code, node)
        found = argument_numbers(cx, place, name, code.title, parameters, argnums)
        made = Gradient(code, found, value, has_aux)
        return closure(cx, node, made, captures_of(cx, node, function))

    return for_each(cx, node, function, make)


# ---- gradients from outside ------------------------------------------------------


def gradient_from_outside(function: Any) -> Gradient | None:
    """The code of a gradient that was made outside, if it is one."""
    parts = getattr(function, GRADIENT_PARTS, None)
    if parts is None:
        return None
    of, argnums, value, has_aux = parts
    if isinstance(of, FunctionType):
        of = getattr(function, FROZEN, of)
    inner = gradient_from_outside(of) or Outside(of)
    return Gradient(inner, argnums, value, has_aux)


def function_constant(cx: Context, node: ast.expr, value: Any) -> Operand:
    """The operand of a function, or a gradient, from outside."""
    return closure(cx, node, gradient_from_outside(value) or Outside(value), {})


@dataclass(frozen=True)
class _Named:
    """A function of the program of which only the title matters."""

    title: str


def nested_gradient(
    callees: Callees,
    signature: Callable[[str], Fun],
    entry: CoreFunction,
    below: Sequence[GradientParts],
) -> str:
    """Append gradients of a function to the program, each of the one before."""
    name, title, params = entry.name, entry.name, entry.params
    at = tuple(range(len(params)))
    for argnums, value, has_aux in below:
        assert argnums is not None
        made = Gradient(_Named(title), argnums, value, has_aux)
        (result,) = signature(name).results
        target = Target(name, name, result, params, at, entry.span, callees.wrapper)

        def body(
            b: Builder,
            given: Sequence[Operand],
            made: Gradient = made,
            of: Target = target,
        ) -> Sequence[Operand]:
            return (made.at(replace(of, operands=tuple(given)), b),)

        name, title = callees.wrapper(made.title, params, body), made.title
    return name
