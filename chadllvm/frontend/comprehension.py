"""Comprehensions become `build`, reductions of generators become `fold`.

[e(x) for x in a]               →   build(dim[0](a)) { k -> x = index(a, k); e(x) }
sum(e(i) for i in range(n))     →   fold[add](n) { i -> yield e(i) }
any(p(x) for x in a)            →   iterate(n, False) { i, s ->
                                      if s { yield s } else { yield p(x) } }
[e(i, j) for i … for j in f(i)] →   iterate(n, empty) { i, s -> iterate(m, s) { j, s ->
                                      yield append(s, e(i, j)) } }

The last form is for lists whose length is not known beforehand (`clauses.py`). Minima
of what has no known length are found by such loops too: they carry the best value, and
where it is.

min(e(i, j) for i … for j in f(i)) →   found, _, i, j = iterate(n, False, 0, 0, 0) { … }
                                       fold[min](1 if found else 0) { yield e(i, j) }
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from chadllvm.errors import flow_errors, record_errors, type_errors
from chadllvm.frontend.arithmetic import is_number, to_int, truth
from chadllvm.frontend.clauses import (
    Comprehension,
    Leaf,
    Step,
    bind_step,
    flat,
    in_nest,
)
from chadllvm.frontend.conditions import condition
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value
from chadllvm.frontend.element_sizes import check_new_element
from chadllvm.frontend.iteration import Items, items
from chadllvm.frontend.keys import Part, parts_of
from chadllvm.frontend.lists import check_row
from chadllvm.frontend.marks import Mark, is_python_list, mark_list, mark_of
from chadllvm.frontend.ragged import is_list, make_list
from chadllvm.frontend.ragged_making import (
    appended,
    collected,
    empty_parts,
    is_element,
    list_of,
)
from chadllvm.frontend.varying import may_vary, record_may_vary
from chadllvm.frontend.width import as_weak, is_loose, weak_list
from chadllvm.ir.build import Builder
from chadllvm.ir.record import ListNames
from chadllvm.ir.term import Block, If, Inject, Lambda, Lit, Operand, Var, literal
from chadllvm.ir.types import BOOL, I64, Array, Product, Scalar, Type, is_float, stacked
from chadllvm.ir.union import varied
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.grow import Append
from chadllvm.ops.index import Empty
from chadllvm.ops.iterate import Iterate

# ---- lists -----------------------------------------------------------------------


def list_comprehension(cx: Context, node: Comprehension) -> Operand:
    """An array of the values of the element, in order."""
    parts = parts_of(cx, node)
    if parts is not None:
        return cx.value(_display(cx, node, parts))
    marks: list[Mark] = []
    made = _collected(cx, node, marks)
    if not is_list(made):
        mark_list(cx, made, marks[-1])
    return made


def _display(cx: Context, node: Comprehension, parts: Sequence[Part]) -> ast.expr:
    """The list of what there is for each entry of a dictionary."""
    if any(part.test is not None for part in parts):
        raise record_errors.unknown_test(cx.span(node))
    nodes = [part.node for part in parts]
    if len(node.generators) == 1 or not nodes:
        return ast.copy_location(ast.List(nodes, ast.Load()), node)
    lists = [ast.ListComp(n.elt, n.generators) for n in nodes if _is_clause(n)]
    total: ast.expr = ast.copy_location(lists[0], node)
    for part in lists[1:]:
        both = ast.BinOp(total, ast.Add(), ast.copy_location(part, node))
        total = ast.copy_location(both, node)
    return total


def written_list(cx: Context, node: ast.expr) -> ast.expr:
    """A list comprehension over keys as the list that it makes; others as they are."""
    parts = parts_of(cx, node) if isinstance(node, ast.ListComp) else None
    if parts is None or not isinstance(node, ast.ListComp):
        return node
    return _display(cx, node, parts)


def _is_clause(node: ast.expr) -> TypeGuard[Comprehension]:
    return isinstance(node, Comprehension)


def dictionary_comprehension(cx: Context, node: ast.DictComp) -> Operand:
    """`{k: f(v) for k, v in d.items()}`, whose keys are known."""
    parts = parts_of(cx, node) if len(node.generators) == 1 else None
    if parts is None:
        raise record_errors.dictionary_key(cx.span(node))
    if any(part.test is not None for part in parts):
        raise record_errors.unknown_test(cx.span(node))
    pairs = [part.node for part in parts]
    keys = [pair.elts[0] for pair in pairs if isinstance(pair, ast.Tuple)]
    values = [pair.elts[1] for pair in pairs if isinstance(pair, ast.Tuple)]
    return cx.value(ast.copy_location(ast.Dict([*keys], values), node))


def _collected(cx: Context, node: Comprehension, marks: list[Mark]) -> Operand:
    """An array of the elements, or a list if they are arrays that differ in size.

    What is a list in an element is added to the `marks`.
    """
    loop, level = flat(cx, node), len(cx.enclosing)
    if loop is None:
        return _grown(cx, node, marks)
    differ: list[bool] = []
    loose: list[bool] = []

    def leaf() -> Operand:
        value = cx.value(node.elt)
        loose.append(is_loose(value))
        differ.append(_makes_list(cx, node, level, value))
        marks.append(mark_of(cx, value))
        return _of_its_own_sizes(cx, level, value)

    body = loop.body(cx, leaf)
    if any(differ):
        return _grown(cx, node, marks)
    (made,) = cx.at(node).apply(Build(), [loop.count], [body])
    return weak_list(cx.builder, made, all(loose))


def _makes_list(cx: Context, node: ast.expr, level: int, value: Value) -> bool:
    """Whether such elements make a list of arrays that differ in size."""
    if is_list(value):
        return True
    return is_element(value) and (node in cx.wanted or may_vary(cx, level, value))


def _of_its_own_sizes(cx: Context, level: int, value: Operand) -> Operand:
    """An element as it is kept where the sizes of arrays in it depend on the step."""
    if not isinstance(value.type, Product) or not record_may_vary(cx, level, value):
        return value
    return cx.builder.one(Inject(varied(value.type), 0, value))


def listed(cx: Context, node: ast.expr, call: ast.Call) -> Operand:
    """`list(...)`: an array of what its argument runs over."""
    source = items(cx, node)
    index, level = Var("i", I64), len(cx.enclosing)
    with cx.nested() as b:
        value = source.element(cx.at(node), index)
        differ, mark = _makes_list(cx, call, level, value), mark_of(cx, value)
        body = b.block([value])
    if differ:
        return collected(cx, node, source.length, source.element)
    made = cx.at(call).apply(Build(), [source.length], [Lambda((index,), body)])[0]
    mark_list(cx, made, mark)
    return made


class Carrying:
    """Loops that hand on what there is so far; `states` are those in their bodies.

    Their types are known as soon as the innermost body is translated.
    """

    def __init__(
        self, loops: int, start: Callable[[Builder, Sequence[Type]], Sequence[Operand]]
    ) -> None:
        self.states: list[tuple[Var, ...]] = [()] * loops
        self._start = start

    def begin(self, types: Sequence[Type]) -> tuple[Var, ...]:
        """The states in the innermost loop."""
        self.states = [tuple(Var("s", ty) for ty in types) for _ in self.states]
        return self.states[-1]

    def skipped(self, depth: int, values: Sequence[Operand]) -> Sequence[Operand]:
        return self.states[depth]

    def loop(
        self, b: Builder, depth: int, length: Operand, index: Var, step: Step
    ) -> Sequence[Operand]:
        states = self.states[depth]
        before = self.states[depth - 1] if depth else None
        start = before or self._start(b, [state.type for state in states])
        body = Lambda((index, *states), self.body(b, states, step))
        return b.apply(Iterate(), [length, *start], [body])

    def body(self, b: Builder, states: Sequence[Var], step: Step) -> Block:
        """What a loop runs in each step."""
        return step.block()


def _grown(cx: Context, node: Comprehension, marks: list[Mark]) -> Operand:
    """A list to which an element is appended in each step."""
    found: list[Product] = []
    level = len(cx.enclosing)

    def start(b: Builder, types: Sequence[Type]) -> Sequence[Operand]:
        return empty_parts(b, found[0]) if found else _empty(b, types)

    carrying = Carrying(len(node.generators), start)

    def append(indices: Sequence[Var]) -> Sequence[Operand]:
        value = cx.lazy(node.elt)
        if _makes_list(cx, node, level, value):
            ty = list_of(cx, value)
            found.append(ty)
            return appended(cx, node.elt, ty, carrying.begin(ty.fields), value)
        value = cx.make(cx, node.elt, value)
        marks.append(mark_of(cx, value))
        value = _of_its_own_sizes(cx, level, value)
        (state,) = carrying.begin([stacked(value.type)])
        b = cx.at(node.elt)
        if isinstance(value.type, Array) and isinstance(value.type.elem, Scalar):
            check_row(b, state, value)
        else:
            check_new_element(b, state, value)
        return b.apply(Append(), [state, value], [], ["xs"])

    made = in_nest(cx, node, _first(cx, node), append, carrying)
    if not found:
        return made[0]
    names = found[0].names
    assert isinstance(names, ListNames)
    return make_list(cx.at(node), names, made)


def _empty(b: Builder, types: Sequence[Type]) -> Sequence[Operand]:
    (ty,) = types
    assert isinstance(ty, Array)
    return b.apply(Empty(ty), [], [], ["xs"])


def _first(cx: Context, node: Comprehension) -> Items:
    """What the outermost loop runs over."""
    return items(cx, node.generators[0].iter)


# ---- sums, minima and maxima -----------------------------------------------------


class _Summing:
    """Sums of sums; what is skipped is not run, and adds zero."""

    def skipped(self, depth: int, values: Sequence[Operand]) -> Sequence[Operand]:
        return [literal(0, value.type) for value in values]

    def loop(
        self, b: Builder, depth: int, length: Operand, index: Var, step: Step
    ) -> Sequence[Operand]:
        return b.apply(Fold("add"), [length], [Lambda((index,), step.block())])


class ArraysAdded(Exception):
    """What is to be added are no numbers, but arrays of a type."""

    def __init__(self, ty: Type) -> None:
        super().__init__()
        self.type = ty


def reduce_generator(
    cx: Context, node: Comprehension, call: ast.Call, kind: str
) -> Operand:
    """`sum`, `min` or `max` of a generator, without making the array."""
    parts = parts_of(cx, node)
    if parts is not None:
        return _reduced_parts(cx, node, call, kind, parts)
    numbers: list[Operand] = []

    def number() -> Operand:
        numbers.append(_number(cx, node.elt, cx.value(node.elt), kind))
        return numbers[-1]

    if kind == "add":
        summing = _Summing()
        (total,) = in_nest(cx, node, _first(cx, node), lambda _: [number()], summing)
        return as_weak(cx.builder, total, numbers)
    has_tests = any(clause.ifs for clause in node.generators)
    loop = None if has_tests else flat(cx, node)
    if loop is None:
        best = _best(cx, node, call, kind, number)
    else:
        body = loop.body(cx, number)
        (best,) = cx.at(call).apply(Fold(kind), [loop.count], [body])
    return as_weak(cx.builder, best, numbers)


def _reduced_parts(
    cx: Context, node: Comprehension, call: ast.Call, kind: str, parts: Sequence[Part]
) -> Operand:
    """The same of what there is for each entry of a dictionary."""
    nodes = []
    for part in parts:
        item = part.node
        if len(node.generators) > 1:
            if kind != "add":
                raise record_errors.unknown_test(cx.span(node))
            inner = ast.copy_location(ast.Name("sum", ast.Load()), call)
            item = ast.copy_location(ast.Call(inner, [item], []), call)
        if part.test is not None:
            if kind != "add":
                raise record_errors.unknown_test(cx.span(part.test))
            none = ast.copy_location(ast.Constant(0), item)
            item = ast.copy_location(ast.IfExp(part.test, item, none), item)
        nodes.append(item)
    if not nodes and kind == "add":
        return Lit(0)
    values = ast.copy_location(ast.Tuple(nodes, ast.Load()), node)
    return cx.value(ast.copy_location(ast.Call(call.func, [values], []), call))


def _best(
    cx: Context, node: Comprehension, call: ast.Call, kind: str, leaf: Leaf
) -> Operand:
    """The least or largest value of some steps: where it is, and then what.

    The place has no derivative. What is there is a minimum of a single value, or of
    none, which fails.
    """
    carrying = Carrying(len(node.generators), nothing_found)

    def better(indices: Sequence[Var]) -> Sequence[Operand]:
        value = leaf()
        states = carrying.begin([BOOL, value.type, *[I64] * len(indices)])
        b = cx.at(node.elt)
        pair = (value, states[1]) if kind == "min" else (states[1], value)
        is_better = b.prim("flt" if is_float(value.type) else "ilt", *pair)
        wins = b.prim("or", b.prim("not", states[0]), is_better)
        new = b.child().block([Lit(True), value, *indices])
        return b.emit(If(wins, new, b.child().block(states)))

    source = _first(cx, node)
    found, _, *places = in_nest(cx, node, source, better, carrying)
    count = cx.at(call).prim("bool_to_int", found)
    with cx.nested() as b:
        bind_step(cx, node, source, places)
        body = Lambda((Var("i", I64),), b.block([leaf()]))
    return cx.at(call).apply(Fold(kind), [count], [body])[0]


def nothing_found(b: Builder, types: Sequence[Type]) -> Sequence[Operand]:
    """Nothing is found yet."""
    return [Lit(False), *(literal(0, ty) for ty in types[1:])]


def reduce_items(cx: Context, node: ast.expr, call: ast.Call, kind: str) -> Operand:
    """`sum`, `min` or `max` of an array, or of another thing to run over."""
    source = items(cx, node)
    index = Var("i", I64)
    with cx.nested() as b:
        value = source.element(cx.at(node), index)
        number = _number(cx, node, value, kind)
        body = b.block([number])
    b = cx.at(call)
    (found,) = b.apply(Fold(kind), [source.length], [Lambda((index,), body)])
    return as_weak(b, found, [number])


def _number(cx: Context, node: ast.expr, value: Operand, kind: str) -> Operand:
    """An element as what can be added and compared; `ArraysAdded` tells of others."""
    is_array = isinstance(value.type, Array) and not is_python_list(cx, value)
    if kind == "add" and is_array:
        raise ArraysAdded(value.type)
    if not is_number(value.type):
        raise flow_errors.not_summable(cx.span(node), _NAMES[kind], value.type)
    return to_int(cx.at(node), value)


_NAMES = {"add": "sum", "min": "min", "max": "max"}


# ---- `any` and `all` -------------------------------------------------------------


@dataclass(frozen=True)
class _Deciding:
    """Loops that do nothing more once an element has decided."""

    is_any: bool

    def skipped(self, depth: int, values: Sequence[Operand]) -> Sequence[Operand]:
        return [Lit(not self.is_any)]

    def loop(
        self, b: Builder, depth: int, length: Operand, index: Var, step: Step
    ) -> Sequence[Operand]:
        state, outer = Var("s", BOOL), b.child()
        done, rest = outer.child().block([state]), step.block()
        decided = If(state, *((done, rest) if self.is_any else (rest, done)))
        body = Lambda((index, state), outer.block([outer.one(decided)]))
        return b.apply(Iterate(), [length, Lit(not self.is_any)], [body])


def any_or_all(cx: Context, node: ast.expr, call: ast.Call, is_any: bool) -> Operand:
    """`any(...)` or `all(...)`: what follows the element that decides is not run."""
    deciding = _Deciding(is_any)
    parts = parts_of(cx, node) if isinstance(node, Comprehension) else None
    if parts is not None:
        return _decided_parts(cx, call, is_any, parts)
    if isinstance(node, Comprehension):
        elt, first = node.elt, _first(cx, node)

        def leaf(indices: Sequence[Var]) -> Sequence[Operand]:
            return [_truth(cx, elt, cx.value(elt))]

        return in_nest(cx, node, first, leaf, deciding)[0]
    source, index = items(cx, node), Var("i", I64)
    with cx.nested() as b:
        value = _truth(cx, node, source.element(cx.at(node), index))
    return deciding.loop(cx.at(call), 0, source.length, index, Step(b, [value]))[0]


def _decided_parts(
    cx: Context, call: ast.Call, is_any: bool, parts: Sequence[Part]
) -> Operand:
    """The same of what there is for each entry of a dictionary."""
    tests = []
    for part in parts:
        item = part.node
        if isinstance(item, Comprehension):
            item = ast.copy_location(ast.Call(call.func, [item], []), call)
        if part.test is not None:
            op = ast.And() if is_any else ast.Or()
            skip = ast.copy_location(ast.UnaryOp(ast.Not(), part.test), part.test)
            first = part.test if is_any else skip
            item = ast.copy_location(ast.BoolOp(op, [first, item]), item)
        tests.append(item)
    if not tests:
        return Lit(not is_any)
    op = ast.Or() if is_any else ast.And()
    return condition(cx, ast.copy_location(ast.BoolOp(op, tests), call))


def _truth(cx: Context, node: ast.expr, value: Operand) -> Operand:
    if not is_number(value.type):
        raise type_errors.not_a_condition(cx.span(node), value.type)
    return truth(cx.at(node), value)
