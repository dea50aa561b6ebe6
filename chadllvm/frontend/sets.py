"""Sets of integers: their elements in an array, and a hash table of these.

    s = set()          items = []; table = zeros(8); used = 0
    s.add(v)       →   if 3 * (used + 1) > 2 * len(table): table = rebuilt(items)
                       p = slot(items, table, v)
                       if table[p] == 0: append v, table[p] = len(items), used += 1
    v in s         →   table[slot(items, table, v)] > 0
    a & b          →   {v for v in a if v in b}

The parts are updated where they are, so an `add` takes a few steps; a table grows by
doubling. What is removed leaves its slot marked, and its place to the last element.
Elements are in the order in which they were added, but for those. `used` counts the
slots that are not free. The functions are `chadllvm/support/hashed.py`.

Two names of one set are two names of its arrays: `simplify/sharing.py` refuses changes
that the other would have to see.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import FunctionType

from chadllvm.errors import call_errors, set_errors
from chadllvm.frontend.arithmetic import to_int
from chadllvm.frontend.comprehension import any_or_all, list_comprehension
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Delayed, Value
from chadllvm.frontend.iteration import Items, items
from chadllvm.frontend.jitted import called
from chadllvm.frontend.surface import CHANGING_SETS, Augmented, Changed, For
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Apply, If, Lambda, Lit, Operand, Proj, Tuple, Var
from chadllvm.ir.types import BOOL, I64, SET, Array, is_set
from chadllvm.ops.build import Build
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Dim, Empty, Index
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.require import Require
from chadllvm.ops.update import Update
from chadllvm.support import hashed
from chadllvm.support.hashed import Routine

# The elements, the table, and how many of its slots are not free.
Parts = tuple[Operand, Operand, Operand]

_NUMBERS = Array(I64, 1)

# Up to as many elements of a set that is written out are added one by one.
_FEW = 2


def is_set_value(value: Value) -> bool:
    return not isinstance(value, Delayed) and is_set(value.type)


def parts_of(b: Builder, value: Operand) -> Parts:
    first, second, third = (b.one(Proj(value, k)) for k in range(3))
    return first, second, third


def joined(b: Builder, parts: Sequence[Operand]) -> Var:
    return b.one(Tuple(tuple(parts), SET.names))


def _routine(cx: Context, node: ast.expr, function: Routine, *args: Operand) -> Operand:
    assert isinstance(function, FunctionType)
    return called(cx, node, function, args, is_jitted=True)


def _integer(cx: Context, node: ast.expr, value: Value) -> Operand:
    """An element of a set, which is an integer."""
    if value.type not in (I64, BOOL):
        raise set_errors.not_an_element(cx.span(node), value.type)
    return to_int(cx.at(node), cx.make(cx, node, value))


# ---- what asks a set ---------------------------------------------------------------


def size_of(b: Builder, value: Operand) -> Operand:
    """`len(s)`"""
    return b.one(Apply(Dim(0), (b.one(Proj(value, 0)),)))


def elements(b: Builder, value: Operand) -> Operand:
    """The array of the elements; it changes with the set, and is only read."""
    return b.one(Proj(value, 0))


def contains(cx: Context, node: ast.expr, value: Operand, element: Value) -> Operand:
    """`element in value`"""
    number = _integer(cx, node, element)
    b = cx.at(node)
    things, table, _ = parts_of(b, value)
    at = _routine(cx, node, hashed.slot, things, table, number)
    b = cx.at(node)
    return b.prim("ilt", Lit(0), b.apply(Index(), [table, at])[0])


def set_comparison(
    cx: Context, node: ast.expr, op: ast.cmpop, left: Value, right: ast.expr
) -> Operand:
    """A comparison of two sets."""
    first = cx.make(cx, node, left)
    return compared(cx, node, op, first, cx.make(cx, right, cx.lazy(right)))


def set_membership(
    cx: Context, node: ast.expr, left: Value, right: ast.expr
) -> Operand | None:
    """`left in right` of a set, or of integers that are written out; else None.

    What `right` is made of is computed.
    """
    if isinstance(right, ast.Set):
        return _is_one_of(cx, node, left, right.elts)
    if isinstance(right, ast.Tuple | ast.List):
        stars = any(isinstance(part, ast.Starred) for part in right.elts)
        if stars or not all(_is_integer(cx.lazy(part)) for part in right.elts):
            return None
        return _is_one_of(cx, node, left, right.elts) if _is_integer(left) else None
    value = cx.lazy(right)
    if not is_set_value(value):
        return None
    return contains(cx, node, cx.make(cx, right, value), left)


def _is_integer(value: Value) -> bool:
    return value.type in (I64, BOOL)


def _is_one_of(
    cx: Context, node: ast.expr, left: Value, parts: Sequence[ast.expr]
) -> Operand:
    """`n in {1, 2, 3}` makes no set: all elements are computed, and compared."""
    number = _integer(cx, node, left)
    found: Operand = Lit(False)
    for part in parts:
        element = _integer(cx, part, cx.lazy(part))
        b = cx.at(node)
        found = b.prim("or", found, b.prim("ieq", number, element))
    return found


def set_operation(cx: Context, node: ast.BinOp, x: Value, y: Value) -> Operand:
    """An operator with a set on one side at least."""
    sides = (node.left, x), (node.right, y)
    return operation(cx, node, node.op, *(cx.make(cx, n, v) for n, v in sides))


def compared(
    cx: Context, node: ast.expr, op: ast.cmpop, x: Operand, y: Operand
) -> Operand:
    """`x <= y` and so on: whether one set has all elements of the other."""
    for value in (x, y):
        if not is_set(value.type):
            raise set_errors.not_a_set(cx.span(node), value.type)
    if isinstance(op, ast.Gt | ast.GtE):
        x, y = y, x
    b = cx.at(node)
    sizes = size_of(b, x), size_of(b, y)
    inside = _is_inside(cx, node, x, y)
    b = cx.at(node)
    match op:
        case ast.LtE() | ast.GtE():
            return inside
        case ast.Lt() | ast.Gt():
            return b.prim("and", inside, b.prim("ilt", *sizes))
        case _:
            same = b.prim("and", inside, b.prim("ieq", *sizes))
            return same if isinstance(op, ast.Eq) else b.prim("not", same)


def _is_inside(cx: Context, node: ast.expr, x: Operand, y: Operand) -> Operand:
    """Whether all elements of x are in y."""
    generator = _filtered(cx, node, x, y, None, ast.GeneratorExp)
    call = ast.copy_location(ast.Call(generator, [], []), node)
    return any_or_all(cx, generator, call, is_any=False)


def _filtered(
    cx: Context, node: ast.expr, x: Operand, y: Operand, is_in: bool | None, form: type
) -> ast.expr:
    """The elements of x that are in y or are not; with None whether each of them is."""
    element = ast.copy_location(ast.Name("element", ast.Load()), node)
    op = ast.NotIn() if is_in is False else ast.In()
    test = ast.Compare(element, [op], [cx.settled(node, y)])
    target = ast.copy_location(ast.Name("element", ast.Store()), node)
    tests: list[ast.expr] = [] if is_in is None else [ast.copy_location(test, node)]
    clause = ast.comprehension(target, cx.settled(node, x), tests, 0)
    made = ast.copy_location(test, node) if is_in is None else element
    found: ast.expr = ast.copy_location(form(made, [clause]), node)
    return found


# ---- what makes a set --------------------------------------------------------------


def empty(cx: Context, node: ast.expr) -> Operand:
    """`set()`"""
    b = cx.at(node)
    things = b.apply(Empty(_NUMBERS), [], [], ["items"])[0]
    free = Lambda((Var("i", I64),), b.child().block([Lit(0)]))
    table = b.apply(Build(), [Lit(hashed.SMALLEST)], [free], ["table"])[0]
    return joined(b, [things, table, Lit(0)])


def display(cx: Context, node: ast.Set) -> Operand:
    """`{a, b, c}`; of many elements a loop adds them, so that the code stays short."""
    made = empty(cx, node)
    if len(node.elts) > _FEW:
        array = cx.value(ast.copy_location(ast.List(node.elts, ast.Load()), node))
        return _with_all(cx, node, made, items(cx, cx.settled(node, array)))
    for part in node.elts:
        made = added(cx, part, made, cx.lazy(part))
    return made


def comprehension(cx: Context, node: ast.SetComp) -> Operand:
    """`{f(v) for v in a}`"""
    whole = ast.ListComp(node.elt, node.generators)
    array = list_comprehension(cx, ast.copy_location(whole, node))
    return _with_all(cx, node, empty(cx, node), items(cx, cx.settled(node, array)))


def set_call(cx: Context, node: ast.Call) -> Operand:
    """`set()`, `set(a)`: of an array, a list, a range, another set."""
    if node.keywords or len(node.args) > 1:
        raise call_errors.wrong_argument_count(cx.span(node), "set", "one argument")
    if not node.args:
        return empty(cx, node)
    (argument,) = node.args
    if isinstance(argument, ast.GeneratorExp):
        whole = ast.SetComp(argument.elt, argument.generators)
        return comprehension(cx, ast.copy_location(whole, argument))
    if isinstance(argument, ast.Name | ast.Attribute | ast.Subscript):
        value = cx.lazy(argument)
        if is_set_value(value):
            return copied(cx, node, cx.make(cx, argument, value))
        argument = cx.settled(argument, value)
    return _with_all(cx, node, empty(cx, node), items(cx, argument))


def copied(cx: Context, node: ast.expr, value: Operand) -> Operand:
    """A set of its own."""
    things, table, used = parts_of(cx.at(node), value)
    pair = _routine(cx, node, hashed.copied, things, table)
    b = cx.at(node)
    return joined(b, [b.one(Proj(pair, 0)), b.one(Proj(pair, 1)), used])


def operation(
    cx: Context, node: ast.expr, op: ast.operator, x: Operand, y: Operand
) -> Operand:
    """`x | y`, `x & y`, `x - y`, `x ^ y`"""
    for value in (x, y):
        if not is_set(value.type):
            raise set_errors.not_a_set(cx.span(node), value.type)
    match op:
        case ast.BitOr():
            source = items(cx, cx.settled(node, y))
            return _with_all(cx, node, copied(cx, node, x), source)
        case ast.BitAnd() | ast.Sub():
            is_in = isinstance(op, ast.BitAnd)
            kept = _filtered(cx, node, x, y, is_in, ast.SetComp)
            return cx.value(kept)
        case ast.BitXor():
            left = operation(cx, node, ast.Sub(), x, y)
            right = operation(cx, node, ast.Sub(), y, x)
            return _with_all(cx, node, left, items(cx, cx.settled(node, right)))
        case _:
            raise set_errors.not_an_operator(cx.span(node))


# ---- what changes a set ------------------------------------------------------------


def added(cx: Context, node: ast.expr, value: Operand, element: Value) -> Operand:
    """The set with one more element."""
    number = _integer(cx, node, element)
    b = cx.at(node)
    return joined(b, _added(cx, node, b, parts_of(b, value), number))


def _added(
    cx: Context, node: ast.expr, b: Builder, parts: Parts, number: Operand
) -> Sequence[Operand]:
    things, table, used = _with_room(cx, node, parts)
    at = _routine(cx, node, hashed.slot, things, table, number)
    b = cx.at(node)
    is_new = b.prim("ieq", b.apply(Index(), [table, at])[0], Lit(0))
    then = b.child()
    longer = then.apply(Append(), [things, number], [], ["items"])[0]
    place = then.one(Apply(Dim(0), (longer,)))
    filled = then.apply(Update(), [table, at, place], [], ["table"])[0]
    taken = then.prim("iadd", used, Lit(1))
    same = b.child().block([things, table, used])
    return b.emit(If(is_new, then.block([longer, filled, taken]), same))


def _with_room(cx: Context, node: ast.expr, parts: Parts) -> Sequence[Operand]:
    """The parts, with a table of which a third is free when one more slot is taken."""
    things, table, used = parts
    b = cx.at(node)
    size = b.one(Apply(Dim(0), (table,)))
    needed = b.prim("imul", b.prim("iadd", used, Lit(1)), Lit(3))
    is_full = b.prim("ilt", b.prim("imul", size, Lit(2)), needed)
    with cx.nested() as inner:
        larger = _routine(cx, node, hashed.rebuilt, things, Lit(1))
        count = inner.one(Apply(Dim(0), (things,)))
        then = inner.block([larger, count])
    same = cx.builder.child().block([table, used])
    return things, *cx.at(node).emit(If(is_full, then, same))


def _with_all(cx: Context, node: ast.expr, value: Operand, source: Items) -> Operand:
    """The set with all of these elements."""
    index = Var("i", I64)
    states = [Var(name, ty) for name, ty in zip(SET.names, SET.fields, strict=True)]
    first, second, third = states
    with cx.nested() as b:
        number = _integer(cx, node, source.element(cx.at(node), index))
        body = b.block(_added(cx, node, b, (first, second, third), number))
    b = cx.at(node)
    start = [source.length, *parts_of(b, value)]
    loop = Lambda((index, *states), body)
    return joined(b, b.apply(Iterate(), start, [loop], list(SET.names)))


def _without(cx: Context, node: ast.expr, value: Operand, number: Operand) -> Operand:
    """The set without an element, if it is there."""
    b = cx.at(node)
    things, table, used = parts_of(b, value)
    at = _routine(cx, node, hashed.slot, things, table, number)
    found = cx.at(node).apply(Index(), [table, at])[0]
    with cx.nested() as inner:
        last = inner.prim("isub", inner.one(Apply(Dim(0), (things,))), Lit(1))
        moved = inner.apply(Index(), [things, last])[0]
        other = _routine(cx, node, hashed.slot, things, table, moved)
        place = inner.prim("isub", found, Lit(1))
        filled = inner.apply(Update(), [things, place, moved], [], ["items"])[0]
        linked = inner.apply(Update(), [table, other, found], [], ["table"])[0]
        marked = inner.apply(Update(), [linked, at, Lit(-1)], [], ["table"])[0]
        shorter = inner.apply(DropLast(), [filled], [], ["items"])[0]
        then = inner.block([shorter, marked])
    b = cx.at(node)
    same = b.child().block([things, table])
    is_there = b.prim("ilt", Lit(0), found)
    return joined(b, [*b.emit(If(is_there, then, same)), used])


def _without_all(cx: Context, node: ast.expr, value: Operand, source: Items) -> Operand:
    """The set without any of these elements."""
    index = Var("i", I64)
    states = [Var(name, ty) for name, ty in zip(SET.names, SET.fields, strict=True)]
    with cx.nested() as b:
        number = _integer(cx, node, source.element(cx.at(node), index))
        left = _without(cx, node, joined(cx.at(node), states), number)
        body = b.block(parts_of(b, left))
    b = cx.at(node)
    start = [source.length, *parts_of(b, value)]
    loop = Lambda((index, *states), body)
    return joined(b, b.apply(Iterate(), start, [loop], list(SET.names)))


def popped(cx: Context, node: ast.expr, value: Operand) -> Operand:
    """What `s.pop()` gives: the last element."""
    b = cx.at(node)
    size = size_of(b, value)
    some = b.prim("ilt", Lit(0), size)
    b.apply(Require("KeyError", "pop from an empty set"), [some])
    things = elements(b, value)
    return b.apply(Index(), [things, b.prim("isub", size, Lit(1))])[0]


def change(cx: Context, call: Changed, value: Operand) -> None:
    """A statement that changes a set: `s.add(v)`, `s.discard(v)`, `s.update(a)`."""
    assert isinstance(call.func, ast.Attribute)
    method, name = call.func.attr, call.target.id
    count = 0 if method in ("pop", "clear") else 1
    change = _CHANGES.get(method)
    if change is None and count:
        raise set_errors.set_method(cx.span(call.func), method)
    if call.keywords or len(call.args) != count:
        expected = f"{count} argument{'' if count == 1 else 's'}"
        raise call_errors.wrong_argument_count(cx.span(call), method, expected)
    if method == "pop":
        last = popped(cx, call, value)
        cx.scope.assign(name, _without(cx, call, value, last))
    elif change is None:
        cx.scope.assign(name, _cleared(cx, call, value))
    else:
        cx.scope.assign(name, change(cx, call.args[0], value))


def _cleared(cx: Context, node: ast.expr, value: Operand) -> Operand:
    """The set without its elements, whoever else has a name for it."""
    every = cx.settled(node, copied(cx, node, value))
    return _without_all(cx, node, value, items(cx, every))


def _add(cx: Context, node: ast.expr, value: Operand) -> Operand:
    return added(cx, node, value, cx.lazy(node))


def _discard(cx: Context, node: ast.expr, value: Operand) -> Operand:
    return _without(cx, node, value, _integer(cx, node, cx.lazy(node)))


def _remove(cx: Context, node: ast.expr, value: Operand) -> Operand:
    number = _integer(cx, node, cx.lazy(node))
    there = contains(cx, node, value, number)
    cx.at(node).apply(Require("KeyError", "{0}"), [there, number])
    return _without(cx, node, value, number)


def _update(cx: Context, node: ast.expr, value: Operand) -> Operand:
    return _with_all(cx, node, value, items(cx, node))


_CHANGES: dict[str, Callable[[Context, ast.expr, Operand], Operand]] = {
    "add": _add,
    "discard": _discard,
    "remove": _remove,
    "update": _update,
}


def change_by(cx: Context, name: ast.Name, node: Augmented, value: Operand) -> None:
    """`s |= t` and the other operators, which change the set, as in Python."""
    other = cx.value(node.right)
    if not is_set(other.type):
        raise set_errors.not_a_set(cx.span(node.right), other.type)
    if isinstance(node.op, ast.BitOr):
        made = _update(cx, cx.settled(node.right, other), value)
    elif isinstance(node.op, ast.BitAnd | ast.Sub | ast.BitXor):
        made = _less(cx, node, value, other)
    else:
        raise set_errors.changing_operator(cx.span(node))
    cx.scope.assign(name.id, made)


def _less(cx: Context, node: Augmented, value: Operand, other: Operand) -> Operand:
    """`s &= t`, `s -= t`, `s ^= t`: what goes, and what comes."""
    which = ast.Sub() if isinstance(node.op, ast.BitAnd) else ast.BitAnd()
    gone = operation(cx, node, which, value, other)
    new = operation(cx, node, ast.Sub(), other, value)
    made = _without_all(cx, node, value, items(cx, cx.settled(node, gone)))
    if isinstance(node.op, ast.BitXor):
        made = _with_all(cx, node, made, items(cx, cx.settled(node, new)))
    return made


# ---- other methods -----------------------------------------------------------------

_OPERATORS: dict[str, ast.operator | ast.cmpop] = {
    "union": ast.BitOr(),
    "intersection": ast.BitAnd(),
    "difference": ast.Sub(),
    "symmetric_difference": ast.BitXor(),
    "issubset": ast.LtE(),
    "issuperset": ast.GtE(),
}


def method(cx: Context, node: ast.Call, owner: Operand, name: str) -> Operand:
    """`s.copy()`, `s.union(t)`, `s.issubset(t)`, `s.isdisjoint(t)`"""
    if name == "copy" and not node.args and not node.keywords:
        return copied(cx, node, owner)
    if name not in (*_OPERATORS, "isdisjoint") or node.keywords or len(node.args) != 1:
        raise set_errors.set_method(cx.span(node.func), name)
    (argument,) = node.args
    other = cx.lazy(argument)
    right = cx.make(cx, argument, other) if is_set_value(other) else None
    if right is None:
        source = items(cx, cx.settled(argument, other))
        right = _with_all(cx, argument, empty(cx, argument), source)
    op = _OPERATORS.get(name)
    if isinstance(op, ast.operator):
        return operation(cx, node, op, owner, right)
    if isinstance(op, ast.cmpop):
        return compared(cx, node, op, owner, right)
    common = operation(cx, node, ast.BitAnd(), owner, right)
    b = cx.at(node)
    return b.prim("ieq", size_of(b, common), Lit(0))


def check_unchanged(cx: Context, loop: For) -> None:
    """A loop over a set does not change it."""
    match loop.iterable:
        case ast.Name(name) if is_set_name(cx, name):
            for part in ast.walk(loop.node):
                if _changes(part, name):
                    raise set_errors.changed_in_loop(cx.span(loop.iterable), name)


def is_set_name(cx: Context, name: str) -> bool:
    value = cx.scope.lookup(name)
    return isinstance(value, Var) and is_set(value.type)


def _changes(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(ast.Attribute(ast.Name(owner), method)):
            return owner == name and method in (*CHANGING_SETS, "pop")
        case ast.AugAssign(ast.Name(owner)):
            return owner == name
        case _:
            return False
