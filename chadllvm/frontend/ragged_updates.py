"""Writing to lists of arrays of different sizes.

    xs[i][j] = v      →   items = update(items, starts[i] + j, v)
    xs[i][1:] *= 2    →   the same for each element of the part
    xs[i] = a         →   the elements of a are put there, one by one; if a has another
                          size, all that follow move

Each is a new list; the arrays are updated in place, as arrays are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from chadllvm.errors import ragged_errors
from chadllvm.frontend.arithmetic import convert, to_int
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import (
    Delayed,
    Indices,
    Value,
    build_nest,
    delayed,
    force,
    is_array,
    number_of,
    ravelled,
    read_first,
    referring,
    unravelled,
)
from chadllvm.frontend.expression import operation
from chadllvm.frontend.ragged import Ragged, element, make_list, ragged
from chadllvm.frontend.ragged_making import (
    list_of_item,
    size_row,
)
from chadllvm.frontend.slicing import Selection, selection
from chadllvm.frontend.subscript import index_items
from chadllvm.frontend.surface import Augmented, base
from chadllvm.frontend.writing import Place, put_elements
from chadllvm.ir.build import Builder
from chadllvm.ir.term import If, Lambda, Lit, Operand, Var
from chadllvm.ir.types import I64, list_names
from chadllvm.ops.index import Dim, Index
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Replace, Update


def changes_list(cx: Context, target: ast.Subscript) -> bool:
    """Whether this is a part of a list of arrays."""
    name = base(target)
    value = None if name is None else cx.scope.lookup(name.id)
    return isinstance(value, Var) and list_names(value.type) is not None


def assign_in_list(cx: Context, target: ast.Subscript, node: ast.expr) -> None:
    """`xs[i] = a`, `xs[i][j] = v`, and the same with `op=`."""
    name = base(target)
    assert name is not None
    value: Value | None = None
    if not isinstance(node, Augmented):
        value = cx.lazy(node)
    links = [target]
    while isinstance(links[0].value, ast.Subscript):
        links.insert(0, links[0].value)
    whole = cx.value(name)
    names = list_names(whole.type)
    assert names is not None and isinstance(whole, Var)
    if len(links) < names.depth:
        raise ragged_errors.list_part_changed(cx.span(target))
    outer, inner = links[: names.depth], links[names.depth :]
    xs, place = _located(cx, outer, whole)
    if not inner and xs.names.of_lists and value is None:
        raise ragged_errors.list_part_changed(cx.span(target))
    if not inner and value is not None:
        made = _replaced(cx, target, whole, xs, place, value)
    else:
        items = _changed(cx, target, xs, place, inner, node, value)
        made = _with_items(cx, target, whole, items)
    cx.scope.assign(name.id, made)


def _located(
    cx: Context, links: list[ast.Subscript], whole: Var
) -> tuple[Ragged, Operand]:
    """The innermost list, and the place of an array in it."""
    value: Operand = whole
    for link in links:
        xs = ragged(cx, link, value)
        (index,) = index_items(cx, link) if _is_plain(link) else (None,)
        if index is None or isinstance(index, ast.expr) or is_array(index):
            raise ragged_errors.list_part_changed(cx.span(link))
        b = cx.at(link)
        place = b.prim("bound", to_int(b, force(cx, link, index)), xs.count)
        if xs.names.depth > 1:
            value = force(cx, link, element(cx, b, xs, place))
    return xs, place


def _is_plain(link: ast.Subscript) -> bool:
    return not isinstance(link.slice, ast.Slice | ast.Tuple)


def _with_items(cx: Context, node: ast.expr, whole: Var, items: Operand) -> Var:
    """The list with these numbers in place of its own."""
    names = list_names(whole.type)
    assert names is not None
    xs = ragged(cx, node, whole)
    rest = xs.parts[1:]
    window = [xs.first, xs.count] if names.is_part else []
    return make_list(cx.at(node), names, [items, *rest, *window])


# ---- elements --------------------------------------------------------------------


def _changed(
    cx: Context,
    target: ast.Subscript,
    xs: Ragged,
    place: Operand,
    inner: list[ast.Subscript],
    node: ast.expr,
    value: Value | None,
) -> Operand:
    """The numbers of all arrays, where a part of one is changed."""
    array = element(cx, cx.at(target), xs, place)
    assert isinstance(array, Delayed)
    chosen = selection(
        cx, target, array, [item for link in inner for item in index_items(cx, link)]
    )
    begin = _begin(cx.at(target), xs, place)

    def number(b: Builder, indices: Indices) -> list[Operand]:
        own = ravelled(b, chosen.place(b, indices), array.shape)
        return [b.prim("iadd", begin, own)]

    change = None
    if isinstance(node, Augmented):
        value, change = cx.lazy(node.right), partial(operation, cx, node)
    assert value is not None
    if xs.names.of_lists and chosen.shape and (change or not is_array(value)):
        raise ragged_errors.list_part_changed(cx.span(target))
    into = Place(target, "items", xs.items, (), ())
    flat = Selection(chosen.shape, number, chosen.is_regular)
    return put_elements(cx, into, flat, value, change)


def _begin(b: Builder, xs: Ragged, place: Operand) -> Operand:
    """Where an array begins among the numbers of all."""
    at = place if xs.first == Lit(0) else b.prim("iadd", xs.first, place)
    return b.apply(Index(), [xs.starts[0], at])[0]


# ---- arrays ----------------------------------------------------------------------


def _replaced(
    cx: Context,
    target: ast.Subscript,
    whole: Var,
    xs: Ragged,
    place: Operand,
    value: Value,
) -> Var:
    """The list with an array in the place of another, which it refers to in Python."""
    names = list_names(whole.type)
    assert names is not None
    if names.is_part or names.depth > 1:
        raise ragged_errors.list_part_changed(cx.span(target))
    list_of_item(cx, target, whole.type, value)
    source = delayed(cx, target, force(cx, target, value))
    old = element(cx, cx.at(target), xs, place)
    assert isinstance(old, Delayed)
    b = cx.at(target)
    begin = _begin(b, xs, place)
    sizes = [number_of(b, array.shape) for array in (old, source)]

    def number(inner: Builder, k: Operand) -> Operand:
        item = source.element(inner, unravelled(inner, k, source.shape))
        return convert(inner, item, xs.elem)

    is_same = b.prim("ieq", *sizes)
    then, orelse = b.child(), b.child()
    put = _put(then, xs.items, begin, sizes[1], number)
    moved = _moved(orelse, xs, place, begin, sizes, number)
    both = If(is_same, then.block([put, xs.starts[0]]), orelse.block(moved))
    items, starts = b.emit(both, "items", "starts_1")
    parts = [referring(cx, target, items, value)]
    if xs.sizes is not None:
        row = size_row(b, source.shape)
        parts += b.apply(Update(), [xs.sizes, place, row], [], ["sizes"])
    return make_list(cx.at(target), names, [*parts, starts])


_Number = Callable[[Builder, Operand], Operand]


def _put(
    b: Builder, items: Var, begin: Operand, count: Operand, number: _Number
) -> Operand:
    """The numbers with those of one array replaced by as many."""
    index, state, inner = Var("j", I64), Var("items", items.type), b.child()
    at = inner.prim("iadd", begin, index)
    after = inner.apply(Replace(), [state, at, number(inner, index)])
    body = Lambda((index, state), inner.block(after))
    (made,) = b.apply(Iterate(), [count, items], [body], ["items"])
    read_first(b)
    return made


def _moved(
    b: Builder,
    xs: Ragged,
    place: Operand,
    begin: Operand,
    sizes: list[Operand],
    number: _Number,
) -> list[Operand]:
    """The numbers with others between them, and where the arrays begin then."""
    shift = b.prim("isub", sizes[1], sizes[0])
    end = b.prim("iadd", begin, sizes[1])
    total = b.prim("iadd", b.apply(Dim(0), [xs.items])[0], shift)

    def item(inner: Builder, indices: Indices) -> Operand:
        (k,) = indices
        before, there, behind = inner.child(), inner.child(), inner.child()
        first = before.block(before.apply(Index(), [xs.items, k]))
        own = there.block([number(there, there.prim("isub", k, begin))])
        back = behind.prim("isub", k, shift)
        last = behind.block(behind.apply(Index(), [xs.items, back]))
        rest = inner.child()
        chosen = rest.one(If(rest.prim("ilt", k, end), own, last))
        return inner.one(If(inner.prim("ilt", k, begin), first, rest.block([chosen])))

    def start(inner: Builder, indices: Indices) -> Operand:
        (old,) = inner.apply(Index(), [xs.starts[0], indices[0]])
        is_behind = inner.prim("ilt", place, indices[0])
        return inner.prim("iselect", is_behind, inner.prim("iadd", old, shift), old)

    (count,) = b.apply(Dim(0), [xs.starts[0]])
    return [build_nest(b, (total,), item), build_nest(b, (count,), start)]
