"""Comprehensions become `build`, reductions of generators become `fold`.

[e(x) for x in a]               →   build(dim[0](a)) { k -> x = index(a, k); e(x) }
sum(e(i) for i in range(n))     →   fold[add](n) { i -> yield e(i) }
any(p(x) for x in a)            →   iterate(n, False) { i, s ->
                                      if s { yield s } else { yield p(x) } }
[e(i, j) for i … for j in f(i)] →   iterate(n, empty) { i, s -> iterate(m, s) { j, s ->
                                      yield append(s, e(i, j)) } }

The last form is for what is not known to have a length of its own (`clauses.py`).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from chadllvm.frontend import errors, type_errors
from chadllvm.frontend.arithmetic import is_number, to_int, truth
from chadllvm.frontend.clauses import Comprehension, Leaf, Step, flat, in_nest
from chadllvm.frontend.context import Context
from chadllvm.frontend.iteration import items
from chadllvm.frontend.lists import check_row
from chadllvm.frontend.subscript import dimension
from chadllvm.ir.build import Builder
from chadllvm.ir.term import If, Lambda, Lit, Operand, Var
from chadllvm.ir.types import BOOL, F64, I64, Array, stacked
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.grow import Append
from chadllvm.ops.index import Empty, Index
from chadllvm.ops.iterate import Iterate

# ---- lists -----------------------------------------------------------------------


def list_comprehension(cx: Context, node: Comprehension) -> Operand:
    """An array of the values of the element, in order."""
    made = _collected(cx, node, lambda: cx.value(node.elt))
    cx.lists.add(made)
    return made


def _collected(cx: Context, node: Comprehension, leaf: Leaf) -> Operand:
    """An array of what the leaf gives."""
    loop = flat(cx, node)
    if loop is None:
        return _grown(cx, node, leaf)
    body = loop.body(cx, leaf)
    return cx.at(node).apply(Build(), [loop.count], [body])[0]


def listed(cx: Context, node: ast.expr, call: ast.Call) -> Operand:
    """`list(...)`: an array of what its argument runs over."""
    source = items(cx, node)
    index = Var("i", I64)
    with cx.nested() as b:
        body = b.block([source.element(cx.at(node), index)])
    made = cx.at(call).apply(Build(), [source.length], [Lambda((index,), body)])[0]
    cx.lists.add(made)
    return made


@dataclass
class _Growing:
    """Loops that hand on the list so far; `states` are those in their bodies.

    What the list holds is known as soon as the innermost body is translated.
    """

    states: list[Var] = field(default_factory=list)

    def begin(self, loops: int, elem: Operand) -> Var:
        """The list in the innermost loop."""
        self.states = [Var("xs", stacked(elem.type)) for _ in range(loops)]
        return self.states[-1]

    def skipped(self, depth: int, value: Operand) -> Operand:
        return self.states[depth]

    def loop(
        self, b: Builder, depth: int, length: Operand, index: Var, step: Step
    ) -> Operand:
        state = self.states[depth]
        assert isinstance(state.type, Array)
        if depth:
            start = self.states[depth - 1]
        else:
            start = b.apply(Empty(state.type), [], [], ["xs"])[0]
        body = Lambda((index, state), step.builder.block([step.value]))
        return b.apply(Iterate(), [length, start], [body], ["xs"])[0]


def _grown(cx: Context, node: Comprehension, leaf: Leaf) -> Operand:
    """A list to which an element is appended in each step."""
    growing = _Growing()

    def append() -> Operand:
        value = leaf()
        state = growing.begin(len(node.generators), value)
        b = cx.at(node.elt)
        if isinstance(value.type, Array):
            check_row(b, state, value)
        return b.apply(Append(), [state, value], [], ["xs"])[0]

    return in_nest(cx, node, append, growing)


# ---- sums, minima and maxima -----------------------------------------------------


class _Summing:
    """Sums of sums; what is skipped is not run, and adds zero."""

    def skipped(self, depth: int, value: Operand) -> Operand:
        return Lit(0.0) if value.type == F64 else Lit(0)

    def loop(
        self, b: Builder, depth: int, length: Operand, index: Var, step: Step
    ) -> Operand:
        body = Lambda((index,), step.builder.block([step.value]))
        return b.apply(Fold("add"), [length], [body])[0]


def reduce_generator(
    cx: Context, node: Comprehension, call: ast.Call, kind: str
) -> Operand:
    """`sum`, `min` or `max` of a generator, without making the array if it can be."""

    def number() -> Operand:
        return _number(cx, node.elt, cx.value(node.elt), kind)

    if kind == "add":
        return in_nest(cx, node, number, _Summing())
    loop = flat(cx, node)
    if loop is not None:
        return cx.at(call).apply(Fold(kind), [loop.count], [loop.body(cx, number)])[0]
    array, index = _grown(cx, node, number), Var("i", I64)
    b = cx.at(call)
    inner = b.child()
    body = Lambda((index,), inner.block(inner.apply(Index(), [array, index])))
    return b.apply(Fold(kind), [dimension(b, array, 0)], [body])[0]


def reduce_items(cx: Context, node: ast.expr, call: ast.Call, kind: str) -> Operand:
    """`sum`, `min` or `max` of an array, or of another thing to run over."""
    source = items(cx, node)
    index = Var("i", I64)
    with cx.nested() as b:
        value = source.element(cx.at(node), index)
        body = b.block([_number(cx, node, value, kind)])
    return cx.at(call).apply(Fold(kind), [source.length], [Lambda((index,), body)])[0]


def _number(cx: Context, node: ast.expr, value: Operand, kind: str) -> Operand:
    """An element as what can be added and compared."""
    if not is_number(value.type):
        raise errors.not_summable(cx.span(node), _NAMES[kind], value.type)
    return to_int(cx.at(node), value)


_NAMES = {"add": "sum", "min": "min", "max": "max"}


# ---- `any` and `all` -------------------------------------------------------------


@dataclass(frozen=True)
class _Deciding:
    """Loops that do nothing more once an element has decided."""

    is_any: bool

    def skipped(self, depth: int, value: Operand) -> Operand:
        return Lit(not self.is_any)

    def loop(
        self, b: Builder, depth: int, length: Operand, index: Var, step: Step
    ) -> Operand:
        state, outer = Var("s", BOOL), b.child()
        done, rest = outer.child().block([state]), step.builder.block([step.value])
        decided = If(state, *((done, rest) if self.is_any else (rest, done)))
        body = Lambda((index, state), outer.block([outer.one(decided)]))
        return b.apply(Iterate(), [length, Lit(not self.is_any)], [body])[0]


def any_or_all(cx: Context, node: ast.expr, call: ast.Call, is_any: bool) -> Operand:
    """`any(...)` or `all(...)`: what follows the element that decides is not run."""
    deciding = _Deciding(is_any)
    if isinstance(node, Comprehension):
        elt = node.elt
        return in_nest(cx, node, lambda: _truth(cx, elt, cx.value(elt)), deciding)
    source, index = items(cx, node), Var("i", I64)
    with cx.nested() as b:
        value = _truth(cx, node, source.element(cx.at(node), index))
    return deciding.loop(cx.at(call), 0, source.length, index, Step(b, value))


def _truth(cx: Context, node: ast.expr, value: Operand) -> Operand:
    if not is_number(value.type):
        raise type_errors.not_a_condition(cx.span(node), value.type)
    return truth(cx.at(node), value)
