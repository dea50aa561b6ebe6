"""`next(...)`: the first element of a generator expression, or another value.

next(x for x in xs if p(x))    →   found, k = iterate(n, False, 0) { i, found, k ->
                                     x = xs[i]; if found or not p(x) { found, k }
                                     else { True, i } }
                                   require[StopIteration](found); xs[k]
next((e(x) for x in xs), y)    →   …; if found { e(xs[k]) } else { y }
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from chadllvm.errors import call_errors
from chadllvm.frontend.clauses import Step, bind_step, in_nest
from chadllvm.frontend.comprehension import Carrying, nothing_found
from chadllvm.frontend.conditions import choose
from chadllvm.frontend.context import Context
from chadllvm.frontend.functions import arguments
from chadllvm.frontend.iteration import Items, items
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Block, If, Lit, Operand, Var
from chadllvm.ir.types import BOOL, I64, Type
from chadllvm.ops.require import Require


def next_call(cx: Context, node: ast.Call) -> Operand:
    generator, *others = arguments(cx, node, "next", 1, 2)
    if not isinstance(generator, ast.GeneratorExp):
        given = cx.lazy(generator).type
        raise call_errors.wrong_operand(
            cx.span(generator), "next", "a generator expression", given
        )
    source = items(cx, generator.generators[0].iter)
    found, *places = _found(cx, generator, source)
    if not others:
        cx.at(node).apply(Require("StopIteration", ""), [found])
    with cx.nested() as there:
        bind_step(cx, generator, source, places)
        value = cx.value(generator.elt)
    if not others:
        cx.builder.bindings += there.bindings
        return value
    with cx.nested() as missing:
        other = cx.value(others[0])
    return choose(cx, node, found, (there, value), (missing, other))


class _Finding(Carrying):
    """Loops that do nothing more once an element is found."""

    def body(self, b: Builder, states: Sequence[Var], step: Step) -> Block:
        outer = b.child()
        done = outer.child().block(states)
        return outer.block(outer.emit(If(states[0], done, step.block())))


def _found(cx: Context, node: ast.GeneratorExp, source: Items) -> Sequence[Operand]:
    """Whether there is an element, and the indices of the first one."""
    finding = _Finding(len(node.generators), nothing_found)

    def here(indices: Sequence[Var]) -> Sequence[Operand]:
        types: list[Type] = [BOOL, *[I64] * len(indices)]
        finding.begin(types)
        return [Lit(True), *indices]

    return in_nest(cx, node, source, here, finding)
