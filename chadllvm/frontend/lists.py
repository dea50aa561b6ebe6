"""Lists that grow and shrink at their end, and other methods that change an array.

    xs = []                   xs = empty[f64[:]]()
    for i in range(n):        xs = iterate(n, xs) { i, xs ->
        xs.append(f(i))   →     y = f(i); t = append(xs, y); yield t }
    last = xs.pop()           last = xs[-1]; xs = drop_last(xs)

What an empty list holds is found out by an `append`: the function is translated again
with what was learned (`Learned`). Until then a list that is read is taken for one of
integers, and where that is a mistake, of floats; what may be made of its own elements
only says that they may be so. All lists of one name in a function hold one type.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import NoReturn

from chadllvm.errors import call_errors, ragged_errors, update_errors
from chadllvm.frontend.arithmetic import convert, join_values
from chadllvm.frontend.closures import check_element_growth
from chadllvm.frontend.containers import is_record_value
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value
from chadllvm.frontend.element_sizes import check_new_element
from chadllvm.frontend.iteration import integer, items, iterator_of
from chadllvm.frontend.marks import (
    Mark,
    check_settled,
    common,
    is_python_list,
    is_unmade,
    listed,
    mark_as,
    mark_of,
    unmade,
)
from chadllvm.frontend.ragged import is_list, ragged
from chadllvm.frontend.ragged_making import (
    appended_to,
    check_lists,
    empty_list,
    extended,
    is_element,
    list_of,
    shortened,
)
from chadllvm.frontend.scope import Unusable
from chadllvm.frontend.subscript import dimension
from chadllvm.frontend.surface import Augmented, Changed, For, names_in, target_names
from chadllvm.frontend.varying import may_vary, record_may_vary
from chadllvm.frontend.writing import (
    add_at,
    assign,
    place_of,
    place_of_items,
    whole,
)
from chadllvm.ir.build import Builder
from chadllvm.ir.record import ListNames
from chadllvm.ir.term import Inject, Lambda, Lit, Operand, Var
from chadllvm.ir.types import (
    I64,
    Array,
    Product,
    Scalar,
    Type,
    element,
    list_names,
)
from chadllvm.ir.union import varied
from chadllvm.ir.wording import said
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Empty, Index
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Replace, Update
from chadllvm.support.diagnostic import Span


class Learned(Exception):
    """What a list of some name holds; the function is to be translated again."""

    def __init__(self, name: str, elem: Type, *, is_sure: bool) -> None:
        super().__init__(name)
        self.name, self.elem, self.is_sure = name, elem, is_sure


@dataclass(frozen=True, slots=True)
class _EmptyList(Unusable):
    """A list that nothing is known of."""

    name: str


def is_empty_list(node: ast.expr) -> bool:
    """`[]` or `list()`"""
    match node:
        case ast.List([]) | ast.Call(ast.Name("list"), [], []):
            return True
        case _:
            return False


def begin_list(cx: Context, target: ast.Name, node: ast.expr) -> None:
    """`xs = []`"""
    name = target.id
    cx.begun[name] = len(cx.enclosing)
    wanted = cx.wanted.get(node)
    if isinstance(wanted, Product):
        cx.scope.assign(name, empty_list(cx.at(node), wanted))
        return
    known = cx.elements.get(name)
    if known is None:

        def learn(span: Span) -> NoReturn:
            raise Learned(name, I64, is_sure=False)

        cx.scope.assign(name, _EmptyList(learn, name))
        return
    if known.unsure is None and not known.is_sure:
        known.unsure = node
    if isinstance(known.elem, Product) and list_names(known.elem) is not None:
        cx.scope.assign(name, empty_list(cx.at(node), known.elem))
        return
    rank = known.elem.rank + 1 if isinstance(known.elem, Array) else 1
    elem = known.elem.elem if isinstance(known.elem, Array) else known.elem
    made = cx.at(node).apply(Empty(Array(elem, rank)), [], [], [name])[0]
    cx.lists.add(made)
    cx.marks[made] = unmade(made.type, lists=1)
    cx.scope.assign(name, made)


def begin_filled(cx: Context, name: str, node: ast.List | ast.ListComp) -> None:
    """`xs = [[1.0]]`: its lists are of any sizes if such are appended."""
    cx.begun[name] = len(cx.enclosing)
    known = cx.elements.get(name)
    if known is not None and list_names(known.elem) is not None:
        cx.wanted[node] = known.elem


def change(cx: Context, call: Changed) -> None:
    """A statement that changes what a name stands for: `xs.append(v)` and so on."""
    assert isinstance(call.func, ast.Attribute)
    method, name = call.func.attr, call.target
    if call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
        raise call_errors.unexpected_keyword(cx.span(call), method, "**")
    low, high = _ARGUMENTS[method]
    if not low <= len(call.args) <= high:
        expected = f"{high} argument{'' if high == 1 else 's'}"
        raise call_errors.wrong_argument_count(cx.span(call), method, expected)
    value = cx.scope.lookup(name.id)
    if isinstance(value, Var) and list_names(value.type) is not None:
        _change_list(cx, call, value)
        return
    match method:
        case "append":
            _append(cx, name, call.args[0], cx.value(call.args[0]))
        case "extend":
            _extend(cx, name, call.args[0])
        case "pop":
            _pop(cx, name, call)
        case "insert":
            _insert(cx, name, call)
        case "remove":
            _remove(cx, name, call)
        case "clear":
            _clear(cx, name, call)
        case "fill":
            _fill(cx, name, call.args[0])
        case _:
            _add_at(cx, name, call.args[1], call.args[2])


# The methods that change what they are called on, and how many arguments they take.
_ARGUMENTS = {
    **{"append": (1, 1), "extend": (1, 1), "insert": (2, 2), "pop": (0, 1)},
    **{"remove": (1, 1), "clear": (0, 0), "fill": (1, 1), "at": (3, 3)},
}

# Those of lists that sets have as well.
LIST_METHODS = ("remove", "clear")


def _change_list(cx: Context, call: Changed, value: Var) -> None:
    """The same for a list of arrays that differ in size."""
    assert isinstance(call.func, ast.Attribute)
    name, ty = call.target, value.type
    assert isinstance(ty, Product) and isinstance(ty.names, ListNames)
    if ty.names.is_part:
        raise ragged_errors.grows_elsewhere(cx.span(call))
    match call.func.attr:
        case "append":
            item = cx.lazy(call.args[0])
            made = appended_to(cx, call.args[0], value, item)
        case "extend":
            made = extended(cx, call.args[0], value)
        case "pop":
            made = _popped(cx, call, value)
        case _:
            raise ragged_errors.list_part_changed(cx.span(call))
    cx.scope.assign(name.id, made)


def _popped(cx: Context, call: Changed, value: Var) -> Var:
    """What `pop` gives is read before, as a copy."""
    if call.args and not _is_last(call.args[0]):
        raise update_errors.pop_place(cx.span(call.args[0]))
    count = ragged(cx, call, value).count
    cx.at(call).prim("poppable", count)
    return shortened(cx, call, value)


def extend_list(cx: Context, name: ast.Name, node: Augmented, value: Var) -> None:
    """`xs += ys` of lists of arrays that differ in size."""
    if not isinstance(node.op, ast.Add):
        raise update_errors.list_grows(cx.span(node))
    names = list_names(value.type)
    if names is not None and names.is_part:
        raise ragged_errors.grows_elsewhere(cx.span(node))
    right = cx.lazy(node.right)
    check_lists(cx, node, value, right)
    cx.scope.assign(name.id, extended(cx, cx.settled(node.right, right), value))


def extend(cx: Context, name: ast.Name, node: Augmented) -> Value | None:
    """`xs += ys`; where `ys` is an array the sum is one, and `ys` is given instead."""
    if not isinstance(node.op, ast.Add):
        raise update_errors.list_grows(cx.span(node))
    right = node.right
    if iterator_of(cx, right) is None:
        value = cx.lazy(right)
        if isinstance(value.type, Array) and isinstance(value.type.elem, Scalar):
            check_settled(cx, right, value)
            if not is_python_list(cx, value):
                return value
        right = cx.settled(right, value)
    _extend(cx, name, right)
    return None


def doubted_names(cx: Context) -> set[str]:
    """The names whose values may follow from a guess of what an empty list holds."""
    names = {name for name in cx.elements if _is_open(cx, name)} | cx.doubted
    for loop in cx.loops:
        if isinstance(loop, For) and not names.isdisjoint(names_in(loop.iterable)):
            names.update(target_names(loop.target))
    return names


def _is_open(cx: Context, name: str) -> bool:
    """Whether it is not settled what a list holds: its type, or which are lists."""
    value = cx.scope.lookup(name)
    is_made = not isinstance(value, Var) or not is_unmade(mark_of(cx, value))
    return not (cx.elements[name].is_sure and is_made)


def _append(cx: Context, name: ast.Name, node: ast.expr, item: Operand) -> None:
    level = cx.begun.get(name.id, len(cx.enclosing))
    known = cx.elements.get(name.id)
    whole = cx.scope.lookup(name.id)
    if is_list(item) or (is_element(item) and may_vary(cx, level, item, whole)):
        ty = list_of(cx, item)
        if known is None or known.elem != ty:
            raise Learned(name.id, ty, is_sure=True)
    is_unknown = isinstance(cx.scope.lookup(name.id), _EmptyList)
    begins = known is not None or is_unknown
    if begins and isinstance(item.type, Product) and record_may_vary(cx, level, item):
        item = cx.at(node).one(Inject(varied(item.type), 0, item))
    if is_unknown or (known is not None and not known.is_sure):
        is_guess = not doubted_names(cx).isdisjoint(names_in(node))
        if known is None or known.elem != item.type or not is_guess:
            is_sure = known is not None or not is_guess
            raise Learned(name.id, item.type, is_sure=is_sure)
        known.is_likely = True
    array = _list(cx, name, "append", item.type)
    made = _appended(cx, node, cx.at(node), name.id, array, item)
    _bind(cx, name, made, _with(cx, array, item))


def _list(cx: Context, name: ast.Name, method: str, elem: Type | None) -> Var:
    """The list of this name; `elem` is what it is known to hold, if it is."""
    value = cx.scope.lookup(name.id)
    if isinstance(value, _EmptyList) and elem is not None:
        raise Learned(name.id, elem, is_sure=True)
    array = cx.value(name)
    if not isinstance(array, Var) or not is_python_list(cx, array):
        found = said(array.type)
        raise update_errors.not_a_list(cx.span(name), name.id, method, found)
    return array


def _appended(
    cx: Context, node: ast.expr, b: Builder, name: str, array: Var, item: Operand
) -> Var:
    """The list with one more element."""
    assert isinstance(array.type, Array)
    elem, known = element(array.type, 1), cx.elements.get(name)
    joined = join_values(Var("x", elem), item)
    if known is not None and joined is not None and joined != elem:
        check_element_growth(cx.span(node), name, elem, joined)
        raise Learned(name, joined, is_sure=True)
    if joined != elem:
        raise update_errors.other_elements(cx.span(node), elem, item.type)
    item = convert(b, item, elem)
    if isinstance(elem, Array) and isinstance(elem.elem, Scalar):
        check_row(b, array, item)
    else:
        check_new_element(b, array, item)
    return b.apply(Append(), [array, item], [], [name])[0]


def check_row(b: Builder, array: Operand, row: Operand) -> None:
    """A row has the sizes of those before it, if there are any."""
    assert isinstance(row.type, Array)
    is_first = b.prim("ieq", dimension(b, array, 0), Lit(0))
    for axis in range(row.type.rank):
        new, old = dimension(b, row, axis), dimension(b, array, axis + 1)
        b.prim("same", new, b.prim("iselect", is_first, new, old))


def _extend(cx: Context, name: ast.Name, node: ast.expr) -> None:
    """`xs.extend(ys)`: an append for each element, in order."""
    source = items(cx, node)
    sample = source.element(Builder(), Var("i", I64)).type
    known = cx.elements.get(name.id)
    if known is not None and not known.is_sure:
        raise Learned(name.id, sample, is_sure=True)
    array = _list(cx, name, "extend", sample)
    index, state = Var("i", I64), Var(name.id, array.type)
    with cx.nested() as b:
        item = source.element(b, index)
        body = b.block([_appended(cx, node, b, name.id, state, item)])
        mark = _with(cx, array, item)
    loop = Lambda((index, state), body)
    made = cx.at(node).apply(Iterate(), [source.length, array], [loop], [name.id])[0]
    _bind(cx, name, made, mark)


def _pop(cx: Context, name: ast.Name, call: Changed) -> None:
    """`xs.pop()`; what it gives is read before (`read.py`)."""
    if call.is_behind and is_record_value(cx.value(name)):
        return  # It was a method of that name.
    array = _list(cx, name, "pop", None)
    b = cx.at(call)
    length = dimension(b, array, 0)
    b.prim("poppable", length)
    if call.args and not _is_last(call.args[0]):
        _moved(cx, name, call, _place_in(cx, call.args[0], length), is_up=True)
    _drop_last(cx, name, call)


def _drop_last(cx: Context, name: ast.Name, call: Changed) -> None:
    array = _list(cx, name, "pop", None)
    made = cx.at(call).apply(DropLast(), [array], [], [name.id])[0]
    _bind(cx, name, made, mark_of(cx, array))


def _place_in(cx: Context, node: ast.expr, length: Operand) -> Operand:
    """The place of an index, which counts from the end if it is negative."""
    return cx.at(node).prim("bound", integer(cx, node), length)


def _moved(
    cx: Context, name: ast.Name, call: Changed, at: Operand, *, is_up: bool
) -> None:
    """The elements behind a place go to the places before them, or the other way.

    The element that is left is there twice then, at an end.
    """
    b, array = cx.at(call), _list(cx, name, "pop", None)
    last = b.prim("isub", dimension(b, array, 0), Lit(1))
    index, state = Var("i", I64), Var(name.id, array.type)
    inner = b.child()
    if is_up:
        to = inner.prim("iadd", at, index)
        source = inner.prim("iadd", to, Lit(1))
    else:
        to = inner.prim("isub", last, index)
        source = inner.prim("isub", to, Lit(1))
    element = inner.apply(Index(), [state, source])[0]
    op = Replace() if isinstance(element.type, Array) else Update()
    body = Lambda((index, state), inner.block(inner.apply(op, [state, to, element])))
    steps = b.prim("isub", last, at)
    made = b.apply(Iterate(), [steps, array], [body], [name.id])[0]
    _bind(cx, name, made, mark_of(cx, array))


def _insert(cx: Context, name: ast.Name, call: Changed) -> None:
    """`xs.insert(k, v)`: places beyond the ends are the ends."""
    where, new = call.args
    index, item = integer(cx, where), cx.value(new)
    b = cx.at(call)
    _append(cx, name, new, item)
    last = b.prim("isub", dimension(b, cx.value(name), 0), Lit(1))
    turned = b.prim("imax", b.prim("iadd", index, last), Lit(0))
    is_behind = b.prim("ilt", index, Lit(0))
    at = b.prim("iselect", is_behind, turned, b.prim("imin", index, last))
    _moved(cx, name, call, at, is_up=False)
    target = ast.Subscript(name, cx.settled(where, at), ast.Store())
    place = place_of(cx, ast.copy_location(target, call))
    assign(cx, place, item)


def _remove(cx: Context, name: ast.Name, call: Changed) -> None:
    """`xs.remove(v)`: the first of those that are equal."""
    method = ast.copy_location(ast.Attribute(name, "index", ast.Load()), call)
    found = cx.value(ast.copy_location(ast.Call(method, call.args, []), call))
    _moved(cx, name, call, found, is_up=True)
    _drop_last(cx, name, call)


def _clear(cx: Context, name: ast.Name, call: Changed) -> None:
    """`xs.clear()`"""
    array = _list(cx, name, "clear", None)
    b = cx.at(call)
    state = Var(name.id, array.type)
    inner = b.child()
    body = inner.block(inner.apply(DropLast(), [state], [], [name.id]))
    loop = Lambda((Var("i", I64), state), body)
    made = b.apply(Iterate(), [dimension(b, array, 0), array], [loop], [name.id])[0]
    _bind(cx, name, made, mark_of(cx, array))


def _is_last(node: ast.expr) -> bool:
    return ast.unparse(node) == "-1"


def _with(cx: Context, array: Var, item: Operand) -> Mark:
    """What is a list in a list that has one more element."""
    assert isinstance(array.type, Array)
    new = mark_as(cx, item, element(array.type, 1))
    return common([mark_of(cx, array), listed(new)])


def _bind(cx: Context, name: ast.Name, made: Var, mark: Mark) -> None:
    cx.lists.add(made)
    cx.marks[made] = mark
    cx.scope.assign(name.id, made)


def _fill(cx: Context, name: ast.Name, node: ast.expr) -> None:
    """`a.fill(v)`"""
    value = cx.value(node)
    place = whole(cx, name)
    if place is None or isinstance(value.type, Array):
        raise update_errors.not_updatable(cx.span(name), cx.value(name).type)
    assign(cx, place, value)


def _add_at(cx: Context, name: ast.Name, index: ast.expr, node: ast.expr) -> None:
    """`np.add.at(a, index, v)`"""
    place = place_of_items(cx, name, index)
    add_at(cx, place, cx.lazy(node))
