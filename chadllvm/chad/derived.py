"""Calls of derivatives inside of programs become calls of functions that compute them.

    def f(x) { …; return y }                 def f(x) { …; return y }
    def main(a) {                      →     def f_grad(x) { D[…]…; return y, close xc }
      y, g = derivative gradient[0] @f(a)    def main(a) {
      … }                                      y, g = @f_grad(a)
                                               … }

Callees stand before their callers, so that a derivative of what calls derivatives
itself is made of a program in which these are functions already: D[·] knows cells.
What has to be done with a function before D[·] and after it, `pipeline.py` says.
Products and sums are gone by then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from chadllvm.chad.forward import push_forward
from chadllvm.chad.gradient import pull_back, value_and_gradient
from chadllvm.ir.build import unused_name
from chadllvm.ir.rewrite import rebuild
from chadllvm.ir.term import (
    Binding,
    Block,
    Call,
    Derivative,
    Function,
    Mode,
    Program,
    nested,
)
from chadllvm.ir.types import has_float

Simplify = Callable[[Program], Program]


def has_derivatives(block: Block) -> bool:
    """Whether a derivative is called in a block."""
    for binding in block.bindings:
        if isinstance(binding.expr, Call) and binding.expr.derivative is not None:
            return True
        if any(has_derivatives(inner) for _, inner in nested(binding.expr)):
            return True
    return False


def derived(program: Program, before: Simplify, after: Simplify) -> Program:
    """The program without calls of derivatives.

    `before` leaves of a program one function, without calls, that can be
    differentiated; `after` is applied to what came of it, and removes functions.
    """
    if not any(has_derivatives(f.body) for f in program.functions):
        return program
    resolver = _Resolver(before, after, {f.name for f in program.functions})
    for function in program.functions:
        body = resolver.block(function.body)
        function = Function(function.name, function.params, body, function.span)
        resolver.functions.append(function)
    return Program(tuple(resolver.functions))


class _Resolver:
    """Goes through functions in order; each derivative is made once."""

    def __init__(self, before: Simplify, after: Simplify, names: set[str]) -> None:
        self.before, self.after = before, after
        self.names = names
        self.functions: list[Function] = []
        self.made: dict[tuple[str, Derivative], str] = {}

    def block(self, block: Block) -> Block:
        if not has_derivatives(block):
            return block
        bindings = tuple([self._binding(b) for b in block.bindings])
        return Block(bindings, block.results)

    def _binding(self, binding: Binding) -> Binding:
        match binding.expr:
            case Call(str() as name, args, Derivative() as derivative):
                new = Call(self._derived(name, derivative), args)
                return Binding(binding.vars, new, binding.span)
            case expr:
                return Binding(binding.vars, rebuild(expr, self.block), binding.span)

    def _derived(self, name: str, derivative: Derivative) -> str:
        key = name, derivative
        if key not in self.made:
            last = [f.name for f in self.functions].index(name)
            program = self.before(Program(tuple(self.functions[: last + 1])))
            function = differentiated(program.entry, derivative)
            (function,) = self.after(Program((function,))).functions
            new = unused_name(function.name, self.names)
            function = Function(new, function.params, function.body, function.span)
            self.functions.append(function)
            self.made[key] = new
        return self.made[key]


def differentiated(function: Function, derivative: Derivative) -> Function:
    """The derivative of one flat function."""
    wrt = derivative.wrt
    match derivative.mode:
        case Mode.GRADIENT:
            return value_and_gradient(function, wrt)
        case Mode.PULL_BACK:
            results = function.body.results
            reals = [k for k, r in enumerate(results) if has_float(r.type)]
            return pull_back(function, wrt, reals)
        case Mode.PUSH_FORWARD:
            return push_forward(function, wrt)
        case _:
            assert_never(derivative.mode)
