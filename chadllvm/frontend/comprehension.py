"""Comprehensions become `build`, reductions of generators become `fold`.

[e(x) for x in a]       →   build(dim[0](a)) { k -> x = index(a, k); yield e(x) }
sum(e(i) for i in range(n))   →   fold[add](n) { i -> yield e(i) }
"""

from __future__ import annotations

import ast

from chadllvm.frontend import errors, type_errors
from chadllvm.frontend.arithmetic import is_number, to_int, truth
from chadllvm.frontend.context import Context
from chadllvm.frontend.iteration import Items, items
from chadllvm.frontend.targets import bind_target
from chadllvm.ir.term import If, Lambda, Lit, Operand, Var
from chadllvm.ir.types import BOOL, I64
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.iterate import Iterate


def list_comprehension(cx: Context, node: ast.ListComp | ast.GeneratorExp) -> Operand:
    """An array of the values of the element, in order."""
    source = _source(cx, node)
    index = new_index(node.generators[0].target, source)
    with cx.nested() as b:
        bind_item(cx, node.generators[0].target, source, index)
        body = b.block([cx.value(node.elt)])
    made = cx.at(node).apply(Build(), [source.length], [Lambda((index,), body)])[0]
    cx.lists.add(made)
    return made


def reduce_generator(
    cx: Context, node: ast.GeneratorExp | ast.ListComp, call: ast.Call, kind: str
) -> Operand:
    """`sum`, `min` or `max` of a generator, without making the array."""
    source = _source(cx, node)
    index = new_index(node.generators[0].target, source)
    with cx.nested() as b:
        bind_item(cx, node.generators[0].target, source, index)
        value = cx.value(node.elt)
        if not is_number(value.type):
            raise errors.not_summable(cx.span(node.elt), _NAMES[kind], value.type)
        body = b.block([_at_least_int(cx, node.elt, value)])
    return cx.at(call).apply(Fold(kind), [source.length], [Lambda((index,), body)])[0]


def reduce_items(cx: Context, node: ast.expr, call: ast.Call, kind: str) -> Operand:
    """`sum`, `min` or `max` of an array, or of another thing to run over."""
    source = items(cx, node)
    index = Var("i", I64)
    with cx.nested() as b:
        value = source.element(cx.at(node), index)
        if not is_number(value.type):
            raise errors.not_summable(cx.span(node), _NAMES[kind], value.type)
        body = b.block([_at_least_int(cx, node, value)])
    return cx.at(call).apply(Fold(kind), [source.length], [Lambda((index,), body)])[0]


def listed(cx: Context, node: ast.expr, call: ast.Call) -> Operand:
    """`list(...)`: an array of what its argument runs over."""
    source = items(cx, node)
    index = Var("i", I64)
    with cx.nested() as b:
        body = b.block([source.element(cx.at(node), index)])
    made = cx.at(call).apply(Build(), [source.length], [Lambda((index,), body)])[0]
    cx.lists.add(made)
    return made


def any_or_all(cx: Context, node: ast.expr, call: ast.Call, is_any: bool) -> Operand:
    """`any(...)` or `all(...)`: what follows the element that decides is not run.

    any(p(x) for x in a)   →   iterate(n, False) { i, s -> if s { s } else { p(x) } }
    """
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        source = _source(cx, node)
    else:
        source = items(cx, node)
    index, state = Var("i", I64), Var("s", BOOL)
    with cx.nested() as step:
        with cx.nested() as b:
            if isinstance(node, ast.GeneratorExp | ast.ListComp):
                bind_item(cx, node.generators[0].target, source, index)
                value, place = cx.value(node.elt), node.elt
            else:
                value, place = source.element(cx.at(node), index), node
            if not is_number(value.type):
                raise type_errors.not_a_condition(cx.span(place), value.type)
            rest = b.block([truth(cx.at(place), value)])
        done = step.child().block([state])
        decided = If(state, *((done, rest) if is_any else (rest, done)))
        body = step.block([step.one(decided)])
    args = [source.length, Lit(not is_any)]
    return cx.at(call).apply(Iterate(), args, [Lambda((index, state), body)])[0]


_NAMES = {"add": "sum", "min": "min", "max": "max"}


def _at_least_int(cx: Context, node: ast.expr, value: Operand) -> Operand:
    return to_int(cx.at(node), value)


def _source(cx: Context, node: ast.ListComp | ast.GeneratorExp) -> Items:
    """What the only `for` clause runs over."""
    generator = node.generators[0]
    if len(node.generators) > 1:
        raise errors.two_for_clauses(cx.span(node.generators[1].target))
    if generator.ifs:
        raise errors.comprehension_condition(cx.span(generator.ifs[0]))
    return items(cx, generator.iter)


def bind_item(cx: Context, target: ast.expr, source: Items, index: Var) -> None:
    """Make the target stand for the element at the index, inside the body."""
    since = len(cx.builder.bindings)
    value = source.element(cx.at(target), index)
    bind_target(cx, target, value, since)


def new_index(target: ast.expr, source: Items) -> Var:
    """The variable for the position in a loop over this target."""
    if source.is_count and isinstance(target, ast.Name):
        return Var(target.id, I64)
    return Var("i", I64)
