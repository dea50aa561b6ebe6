"""Supposes that what tangents and cotangents are multiplied by is finite.

    y_t = scale(x_t, p)                    y_t = mul(x_t, p)
    z = feq(d, 0.0)                        w = mul(c, d)
    w = scale(c, d)                  →     …
    v = select(z, 0.0, w)                  n = no_nan(y_t)
    …                                      return y, y_t
    return y, y_t

A zero tangent is zero whatever it is multiplied by (`chad/forward.py`), and so is a
zero cotangent; only if the other factor is infinite, or no number, is that more than a
product. To ask costs as much as the products, and there are more of these than of
anything else in a second derivative. Here the question is asked once, in the end: a
product that is not what it should be is NaN, so that the results that it leads to are
NaN (`spread` says whether they are). Then the call fails, and is repeated by a program
in which nothing of this kind was supposed; if a NaN was right, it finds it again.

What differs is the sign of a zero.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from chadllvm.ir.build import Builder
from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.rewrite import with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    Lit,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import Array, Scalar
from chadllvm.ops.no_nan import NoNan
from chadllvm.simplify.dce import dce
from chadllvm.simplify.spread import Hidden, spread
from chadllvm.simplify.walk import Walk


def finite(program: Program) -> Program:
    """Multiply instead of asking for zeros, and see that no result is NaN."""
    if len(program.functions) > 1:
        return program
    products = _Products()
    body = products.block(program.entry.body)
    if not products.made:
        return program
    # What asked for zeros asks no more.
    new = dce(Program((with_body(program.entry, body),)))
    try:
        return Program((_checked(new.entry, products.made),))
    except Hidden:
        return program


def _checked(function: Function, products: Set[Var]) -> Function:
    """The function that fails if a result is NaN because of the products.

    Raises: Hidden.
    """
    body = function.body
    reached = spread(body, products)
    checks = Builder(function.span)
    for result in dict.fromkeys(body.results):
        if isinstance(result, Var) and result in reached:
            _check(checks, result)
    block = Block((*body.bindings, *checks.bindings), body.results)
    return with_body(function, block)


class _Products(Walk):
    """Makes products of what asks for zeros; `made` are these."""

    def __init__(self) -> None:
        super().__init__()
        self.made: set[Var] = set()
        self._factors: dict[Var, Sequence[Operand]] = {}
        # What is true if a number is zero.
        self._tests: dict[Var, Var] = {}

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Prim(name="scale"), args):
                self.made.add(binding.vars[0])
                node = Apply(PRIMS["mul"], args)
                binding = Binding(binding.vars, node, binding.span)
                self._factors[binding.vars[0]] = args
            case Apply(Prim(name="mul"), args):
                self._factors[binding.vars[0]] = args
            case Apply(Prim(name="feq"), (Var() as number, Lit(0.0))):
                self._tests[binding.vars[0]] = number
            case Apply(Prim(name="select"), (Var() as test, Lit(0.0), Var() as value)):
                if self._tests.get(test) in self._factors.get(value, ()):
                    self.made.add(value)
                    self.replace(binding.vars[0], value)
                    return
        self.keep(binding)


def _check(out: Builder, result: Var) -> None:
    """Fail if a result is NaN or holds one. Raises: Hidden."""
    match result.type:
        case Scalar() | Array(Scalar()):
            out.apply(NoNan("a derivative"), (result,))
        case _:
            raise Hidden
