"""Lists of arrays of different sizes: made, made longer and shorter.

    [f(x) for x in xs]    →   items, starts = iterate(n, none, 0) { i, items, starts ->
                                … append each number of f(x) to items …
                                yield items, append(starts, dim[0](items)) }
    xs[lo:hi]             →   the same, of the elements from lo to hi

An array is put into a list by appending its numbers to those of all others, so that a
list is made in as many steps as there are numbers in it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from chadllvm.errors import ragged_errors, update_errors
from chadllvm.frontend.annotations import target_type
from chadllvm.frontend.arithmetic import convert, join, to_int
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import (
    Delayed,
    Indices,
    Shape,
    Value,
    build_nest,
    delayed,
    force,
    is_number_operand,
    number_of,
    read_first,
    referring,
    unravelled,
)
from chadllvm.frontend.marks import is_python_list
from chadllvm.frontend.ragged import (
    Ragged,
    element,
    is_list,
    length,
    list_of_parts,
    make_list,
    ragged,
)
from chadllvm.frontend.slicing import is_syntax, part
from chadllvm.ir.build import Builder
from chadllvm.ir.record import ListNames
from chadllvm.ir.rewrite import free_vars_of
from chadllvm.ir.term import Lambda, Lit, Operand, Var
from chadllvm.ir.types import (
    BOOL,
    I64,
    Array,
    Product,
    Scalar,
    Type,
    list_elem,
    list_names,
    list_type,
)
from chadllvm.ops.alias import Contains
from chadllvm.ops.build import Build
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Dim, Empty, Index
from chadllvm.ops.iterate import Iterate


def list_of(cx: Context, value: Value) -> Product:
    """The type of a list of such values, arrays or lists of arrays."""
    names = list_names(value.type)
    if names is not None:
        return list_type(list_elem(value.type), names.like(depth=names.depth + 1))
    ty = value.type
    assert isinstance(ty, Array) and isinstance(ty.elem, Scalar)
    of_lists = is_python_list(cx, value) and ty.rank == 1
    return list_type(ty.elem, ListNames(1, ty.rank, of_lists=of_lists))


def is_element(value: Value) -> bool:
    """Whether there may be a list of such values, each of its own size."""
    ty = value.type
    return is_list(value) or (isinstance(ty, Array) and isinstance(ty.elem, Scalar))


def empty_parts(b: Builder, ty: Product) -> list[Operand]:
    """The parts of a list without elements."""
    found: list[Operand] = []
    for name, field in zip(ty.names, ty.fields, strict=True):
        assert isinstance(field, Array)
        if name.startswith("starts"):
            body = Lambda((Var("i", I64),), b.child().block([Lit(0)]))
            found += b.apply(Build(), [Lit(1)], [body], [name])
        else:
            found += b.apply(Empty(field), [], [], [name])
    return found


def empty_list(b: Builder, ty: Product) -> Var:
    assert isinstance(ty.names, ListNames)
    return make_list(b, ty.names, empty_parts(b, ty))


def states_of(ty: Product) -> tuple[Var, ...]:
    """Variables for the parts of a list that a loop makes."""
    return tuple(Var(n, f) for n, f in zip(ty.names, ty.fields, strict=True))


def collected(
    cx: Context,
    node: ast.expr,
    count: Operand,
    element: Callable[[Builder, Operand], Value],
) -> Var:
    """The list of so many elements, which are given by their positions."""
    index = Var("i", I64)
    with cx.nested() as b:
        value = element(b, index)
        ty = list_of(cx, value)
        states = states_of(ty)
        body = b.block(appended(cx, node, ty, states, value))
    start = empty_parts(cx.at(node), ty)
    loop = Lambda((index, *states), body)
    parts = cx.at(node).apply(Iterate(), [count, *start], [loop], list(ty.names))
    assert isinstance(ty.names, ListNames)
    return make_list(cx.at(node), ty.names, parts)


def appended_to(cx: Context, node: ast.expr, xs: Var, value: Value) -> Var:
    """A list, which is no part of another, with one more element."""
    ty = list_of_item(cx, node, xs.type, value)
    assert isinstance(ty.names, ListNames)
    parts = appended(cx, node, ty, ragged(cx, node, xs).parts, value)
    return make_list(cx.at(node), ty.names, parts)


def list_of_item(cx: Context, node: ast.expr, ty: Type, value: Value) -> Product:
    """The type of a list, if the value may be an element of it."""
    names, elem = list_names(ty), list_elem(ty)
    assert isinstance(ty, Product)
    if is_element(value):
        found = list_of(cx, value)
        if found.names == names and join(elem, list_elem(found)) == elem:
            return ty
    raise ragged_errors.wrong_item(cx.span(node), value.type, ty)


def copied(cx: Context, node: ast.expr, value: Operand) -> Var:
    """A list of the same elements, which may grow."""
    xs = ragged(cx, node, value)
    return collected(cx, node, xs.count, lambda b, k: element(cx, b, xs, k))


def check_lists(cx: Context, node: ast.expr | ast.stmt, xs: Value, ys: Value) -> None:
    """A list of arrays and an array have no sum: NumPy would not join them."""
    for one, other in ((xs, ys), (ys, xs)):
        if isinstance(one.type, Array) and not is_python_list(cx, one):
            raise ragged_errors.ragged_arithmetic(cx.span(node), other.type)


def extended(cx: Context, node: ast.expr, xs: Var) -> Var:
    """A list with all elements of another, or with all rows of an array."""
    given = cx.lazy(node)
    ty = target_type(xs.type, given.type)
    if ty is None:
        raise update_errors.other_elements(cx.span(node), xs.type, given.type)
    other = convert(cx.at(node), force(cx, node, given), ty)
    more, start = ragged(cx, node, other), ragged(cx, node, xs).parts
    if more.items is start[0]:
        more = ragged(cx, node, copied(cx, node, other))
    assert isinstance(xs.type, Product) and isinstance(xs.type.names, ListNames)
    index, states = Var("i", I64), states_of(xs.type)
    with cx.nested() as b:
        value = element(cx, b, more, index)
        ty = list_of_item(cx, node, xs.type, value)
        after = b.block(appended(cx, node, ty, states, value))
    b, body = cx.at(node), Lambda((index, *states), after)
    parts = b.apply(Iterate(), [more.count, *start], [body], list(xs.type.names))
    return make_list(b, xs.type.names, parts)


def shortened(cx: Context, node: ast.expr, xs: Var) -> Var:
    """A list without its last element."""
    whole, b = ragged(cx, node, xs), cx.at(node)
    (outer,) = b.apply(DropLast(), [whole.starts[-1]], [], ["starts"])
    kept: list[Operand] = [outer]
    for own in (*reversed(whole.starts[:-1]), whole.items):
        (end,) = b.apply(Index(), [kept[0], length(b, kept[0])])
        (now,) = b.apply(Dim(0), [own])
        wanted = end if own is whole.items else b.prim("iadd", end, Lit(1))
        kept.insert(0, _dropped(b, own, b.prim("isub", now, wanted)))
    if whole.sizes is not None:
        (now,) = b.apply(Dim(0), [whole.sizes])
        size = b.prim("isub", now, length(b, kept[1]))
        kept.insert(1, _dropped(b, whole.sizes, size))
    return make_list(b, whole.names, kept)


def _dropped(b: Builder, array: Operand, count: Operand) -> Var:
    """An array without so many of its last elements."""
    index, state, inner = Var("j", I64), Var("s", array.type), b.child()
    body = Lambda((index, state), inner.block(inner.apply(DropLast(), [state])))
    return b.apply(Iterate(), [count, array], [body], ["items"])[0]


def appended(
    cx: Context, node: ast.expr, ty: Product, parts: Sequence[Operand], value: Value
) -> list[Operand]:
    """The parts of a list with one more element."""
    assert isinstance(ty.names, ListNames)
    whole = list_of_parts(ty.names, (*parts, Lit(0), Lit(0)))
    if is_list(value):
        assert not isinstance(value, Delayed)
        return _with_list(cx, node, whole, ragged(cx, node, value))
    return _with_array(cx, node, whole, value)


def _with_array(
    cx: Context, node: ast.expr, whole: Ragged, value: Value
) -> list[Operand]:
    """An array behind those in a list, which refers to it in Python."""
    source, elem = delayed(cx, node, value), whole.elem
    b, shape = cx.at(node), source.shape

    def number(inner: Builder, k: Operand) -> Operand:
        item = source.element(inner, unravelled(inner, k, shape))
        return convert(inner, item, elem)

    items = _extended(b, whole.items, number_of(b, shape), number)
    kept = referring(cx, node, items, value)
    (end,) = b.apply(Dim(0), [kept])
    starts = b.apply(Append(), [whole.starts[0], end], [], ["starts_1"])
    if whole.sizes is None:
        return [kept, *starts]
    sizes = b.apply(Append(), [whole.sizes, size_row(b, shape)], [], ["sizes"])
    return [kept, *sizes, *starts]


def size_row(b: Builder, shape: Shape) -> Operand:
    """The sizes of an array, as an array."""

    def size(inner: Builder, indices: Indices) -> Operand:
        found = shape[-1]
        for k in reversed(range(len(shape) - 1)):
            is_this = inner.prim("ieq", indices[0], Lit(k))
            found = inner.prim("iselect", is_this, shape[k], found)
        return found

    return build_nest(b, (Lit(len(shape)),), size)


def _extended(
    b: Builder,
    array: Operand,
    count: Operand,
    item: Callable[[Builder, Operand], Operand],
) -> Var:
    """An array with so many elements more, or rows.

    Those that are read of the array itself are made before it grows.
    """
    index, state, inner = Var("j", I64), Var("s", array.type), b.child()
    new = item(inner, index)
    made = Lambda((index,), inner.block([new]))
    if array in free_vars_of(made):
        (more,) = b.apply(Build(), [count], [made])
        index, inner = Var("j", I64), b.child()
        (new,) = inner.apply(Index(), [more, index])
    longer = inner.apply(Append(), [state, new])
    body = Lambda((index, state), inner.block(longer))
    (items,) = b.apply(Iterate(), [count, array], [body], ["items"])
    read_first(b)
    return items


def _with_list(cx: Context, node: ast.expr, whole: Ragged, xs: Ragged) -> list[Operand]:
    """A list behind those in a list of lists: all its pieces, level by level."""
    b, lo, count = cx.at(node), xs.first, xs.count
    starts: list[Operand] = []
    for own, more in zip(reversed(whole.starts[:-1]), reversed(xs.starts), strict=True):
        (size,) = b.apply(Dim(0), [own])
        (end,) = b.apply(Index(), [own, b.prim("isub", size, Lit(1))])
        (begin,) = b.apply(Index(), [more, lo])
        (stop,) = b.apply(Index(), [more, b.prim("iadd", lo, count)])
        shift = b.prim("isub", end, begin)
        longer = _extended(b, own, count, _shifted(more, lo, shift))
        starts += b.apply(Contains(), [longer, more], [], ["starts"])
        arrays = lo, count
        lo, count = begin, b.prim("isub", stop, begin)

    joined = _extended(b, whole.items, count, _from(xs.items, lo))
    (items,) = b.apply(Contains(), [joined, xs.items])
    sizes = []
    if whole.sizes is not None and xs.sizes is not None:
        first, number = arrays
        sizes = [_extended(b, whole.sizes, number, _from(xs.sizes, first))]
    number = length(b, starts[0])
    (longer,) = b.apply(Append(), [whole.starts[-1], number], [], ["starts"])
    # How long the list is was read here: it must not grow by another name then.
    last = b.apply(Contains(), [longer, xs.starts[-1]], [], ["starts"])
    return [items, *sizes, *reversed(starts), *last]


def _from(array: Operand, first: Operand) -> Callable[[Builder, Operand], Operand]:
    """The elements of an array, or its rows, from one on."""

    def item(b: Builder, j: Operand) -> Operand:
        return b.apply(Index(), [array, b.prim("iadd", first, j)])[0]

    return item


def _shifted(
    starts: Operand, first: Operand, shift: Operand
) -> Callable[[Builder, Operand], Operand]:
    """Where pieces end, the first one's end at first, when they are put elsewhere."""
    read = _from(starts, first)
    return lambda b, j: b.prim("iadd", read(b, b.prim("iadd", j, Lit(1))), shift)


# ---- parts -----------------------------------------------------------------------


def item_of(cx: Context, link: ast.Subscript, value: Operand) -> Value:
    """`xs[i]`, and `xs[lo:hi]`, which is a new list."""
    xs, node = ragged(cx, link, value), link.slice
    if isinstance(node, ast.Slice):
        return _slice(cx, link, xs)
    if is_syntax(node) or isinstance(node, ast.Tuple):
        raise ragged_errors.list_index(cx.span(node))
    index = cx.lazy(node)
    if not is_number_operand(index) or index.type not in (I64, BOOL):
        raise ragged_errors.list_index(cx.span(node))
    b = cx.at(node)
    return element(cx, b, xs, b.prim("bound", to_int(b, index), xs.count))


def _slice(cx: Context, link: ast.Subscript, xs: Ragged) -> Operand:
    """A new list of some of the elements."""
    numbers = Delayed((xs.count,), I64, lambda _, k: k[0], is_plain=True)
    places = part(cx, link, numbers, [link.slice])
    assert isinstance(places, Delayed)

    def chosen(b: Builder, k: Operand) -> Value:
        return element(cx, b, xs, places.element(b, [k]))

    return collected(cx, link, places.shape[0], chosen)
