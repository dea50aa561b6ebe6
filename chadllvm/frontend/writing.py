"""Writing to parts of arrays: elements, rows, slices, index arrays, masks.

    a[i] = v          →   a = update(a, bound(i, n), v)
    a[lo:hi] = x + 1  →   a = iterate(hi - lo, a) { k, s ->
                            yield update(s, lo + k, x[k] + 1) }
    a[i, :] *= 2      →   the same, with s[i, k] * 2 put at i, k
    a[mask] = 0.0     →   each element is put where it is, or 0 where the mask is true

The loop's state is updated in place, so this takes a step for each element written. The
value is computed first, as NumPy does, if it reads the array that is written to; else
each element is computed where it is needed. Of several elements put at one place by an
index array the last one stays, and `a[idx] += x` adds to the old elements, as in NumPy.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from chadllvm.errors import call_errors, type_errors, update_errors
from chadllvm.frontend.arithmetic import convert, join_values
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import (
    Delayed,
    Indices,
    Value,
    can_fail,
    delayed,
    force,
    is_array,
    is_number_operand,
    read_first,
    referring,
    same_size,
    succeed,
)
from chadllvm.frontend.element_sizes import check_element
from chadllvm.frontend.marks import (
    Mark,
    check_settled,
    common,
    full,
    is_python_list,
    mark_as,
    mark_of,
    row_mark,
)
from chadllvm.frontend.slicing import Item, Selection, selection
from chadllvm.frontend.subscript import dimension, index_items, index_nodes
from chadllvm.frontend.surface import base
from chadllvm.ir.build import Builder
from chadllvm.ir.rewrite import free_vars_of
from chadllvm.ir.term import Lambda, Lit, Operand, Var
from chadllvm.ir.types import (
    BOOL,
    F32,
    F64,
    I64,
    Array,
    Product,
    Scalar,
    element,
    is_float,
)
from chadllvm.ops.index import Index
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Replace, Update


@dataclass(frozen=True, eq=False)
class Place:
    """What is assigned to: items behind the name of an array; none for all of it."""

    node: ast.expr
    name: str
    array: Var
    items: tuple[Item, ...]
    nodes: tuple[ast.expr, ...]

    @property
    def type(self) -> Array:
        assert isinstance(self.array.type, Array)
        return self.array.type

    @property
    def has_numbers_only(self) -> bool:
        return all(isinstance(i, Var | Lit) and i.type == I64 for i in self.items)

    @property
    def is_element(self) -> bool:
        return self.has_numbers_only and len(self.items) == self.type.rank


def place_of_items(cx: Context, name: ast.Name, index: ast.expr) -> Place:
    """`name[index]`"""
    link = ast.copy_location(ast.Subscript(name, index, ast.Store()), index)
    return place_of(cx, link)


def whole(cx: Context, name: ast.Name) -> Place | None:
    """All of an array, if the name stands for one."""
    value = cx.scope.lookup(name.id)
    if not isinstance(value, Var) or not isinstance(value.type, Array):
        return None
    return Place(name, name.id, value, (), ())


# Gives the element to put at indices of a part; the last argument is the array so far.
_New = Callable[[Builder, Indices, Sequence[Operand], Operand], Operand]


def place_of(cx: Context, target: ast.Subscript) -> Place:
    """What stands between the brackets of `a[i][j:k]`, computed."""
    name = base(target)
    if name is None:
        raise update_errors.element_update(cx.span(target))
    array = cx.value(name)
    if not isinstance(array, Var) or not isinstance(array.type, Array):
        raise update_errors.not_updatable(cx.span(name), array.type)
    chain = [target]
    while isinstance(chain[-1].value, ast.Subscript):
        chain.append(chain[-1].value)
    items: list[Item] = []
    nodes: list[ast.expr] = []
    for link in reversed(chain):
        if not all(isinstance(i, Var | Lit) and i.type == I64 for i in items):
            raise update_errors.part_of_part(cx.span(target))
        own = index_items(cx, link)
        nodes += index_nodes(link, own)
        items += own
    return Place(target, name.id, array, tuple(items), tuple(nodes))


def assign(cx: Context, place: Place, value: Value) -> None:
    """`place = value`; a list refers to the array from then on."""
    _assign(cx, place, value)
    has_rows = place.type.rank > 1 or isinstance(place.type.elem, Product)
    if place.array in cx.lists and has_rows:
        updated = cx.scope.lookup(place.name)
        assert isinstance(updated, Var)
        items = referring(cx, place.node, updated, value)
        assert isinstance(items, Var)
        _bind(cx, place, items)
        cx.marks[items] = _mark_with(cx, place, value)


def _mark_with(cx: Context, place: Place, value: Value) -> Mark:
    """What is a list in a list some of whose rows are these."""
    mark = mark_of(cx, place.array)
    if not full(value.type):
        return mark
    if not isinstance(value, Delayed) and not isinstance(value.type, Array):
        return common([mark, mark_as(cx, value, place.type.elem)])
    new = mark_of(cx, value)
    if isinstance(mark, tuple) or isinstance(new, tuple):
        return common([mark, new])
    outer = place.type.rank - value.type.rank if isinstance(value.type, Array) else 1
    return common([mark, row_mark(new, -outer) or 1])  # Its rows are arrays at least.


def _assign(cx: Context, place: Place, value: Value) -> None:
    if place.is_element or _is_row(cx, place, value):
        _put(cx, place, force(cx, place.node, value))
        return
    _check_list(cx, place, value)
    array = delayed(cx, place.node, place.array)
    if _is_masked(place) and is_number_operand(value):
        mask = place.items[0]
        assert not isinstance(mask, ast.expr)
        _put_where(cx, place, delayed(cx, place.node, mask), value)
        return
    chosen = selection(cx, place.node, array, place.items)
    if is_array(value):
        value = _independent(cx, place, delayed(cx, place.node, value))
    _put_all(cx, place, chosen, _fitted(cx, place, value, chosen.shape))


def assign_operation(
    cx: Context,
    place: Place,
    right: ast.expr,
    operation: Callable[[Value, Value], Value],
    *,
    is_elementwise: bool,
) -> None:
    """`place op= right`; the operation of the old value and the right side is given.

    What is not elementwise, a matrix product, reads all of the old value before it is
    written to, and gives one of the same shape.
    """
    if place.is_element:
        indices = _indices(cx, place)
        old = cx.at(place.node).apply(Index(), [place.array, *indices])[0]
        _put(cx, place, force(cx, place.node, operation(old, cx.lazy(right))), indices)
        return
    check_settled(cx, place.node, place.array)
    if is_python_list(cx, place.array):
        raise update_errors.list_grows(cx.span(place.node))
    array = delayed(cx, place.node, place.array)
    chosen = selection(cx, place.node, array, place.items)
    source = _Source(place.array)
    other = cx.lazy(right)
    if is_array(other):
        other = _independent(cx, place, delayed(cx, right, other))
        if is_elementwise:
            _check_fits(cx, place, delayed(cx, right, other), chosen.shape)

    def old_element(b: Builder, indices: Indices) -> Operand:
        return b.apply(Index(), [source.array, *chosen.place(b, indices)])[0]

    old_part = Delayed(chosen.shape, place.type.elem, old_element, is_plain=True)
    found = operation(old_part, other)
    if not is_array(found) or delayed(cx, place.node, found).rank != len(chosen.shape):
        raise call_errors.wrong_operand(cx.span(right), "@=", "a matrix", other.type)
    if not (chosen.is_regular and is_elementwise):
        found = force(cx, place.node, found)
    value = delayed(cx, place.node, found)
    if not is_elementwise:
        for size, wanted in zip(value.shape, chosen.shape, strict=True):
            if not same_size(size, wanted):
                cx.at(place.node).prim("same", size, wanted)
    _put_all(cx, place, chosen, _fitted(cx, place, value, chosen.shape), source)


def add_at(cx: Context, place: Place, value: Value) -> None:
    """`np.add.at`: every element is added, also where several meet at one place."""
    array = delayed(cx, place.node, place.array)
    chosen = selection(cx, place.node, array, place.items)
    if is_array(value):
        value = _independent(cx, place, delayed(cx, place.node, value))
    fitted = _fitted(cx, place, value, chosen.shape)
    add = "add" if is_float(place.type.elem) else "iadd"

    def new(
        b: Builder, indices: Indices, own: Sequence[Operand], state: Operand
    ) -> Operand:
        (old,) = b.apply(Index(), [state, *own])
        return b.prim(add, old, fitted(b, indices))

    _loop(cx, place, chosen, new)


@dataclass
class _Source:
    """Where the old elements are read: the array, or what it is so far in a loop."""

    array: Operand


# ---- single elements and rows ----------------------------------------------------


def _is_row(cx: Context, place: Place, value: Value) -> bool:
    """Whether this puts an array in the place of a row of its type: one that is made,
    or for which it is made, as a list refers to it.
    """
    if not place.has_numbers_only or not 0 < len(place.items) < place.type.rank:
        return False
    is_made = not isinstance(value, Delayed) or value.made is not None
    is_row = value.type == element(place.type, len(place.items))
    return is_row and (is_made or _is_item(cx, place))


def _is_item(cx: Context, place: Place) -> bool:
    """Whether this is an array that a list refers to, all of it."""
    return place.array in cx.lists and 1 == len(place.items) < place.type.rank


def _put(
    cx: Context, place: Place, value: Operand, indices: Sequence[Operand] | None = None
) -> None:
    """Replace an element or a row."""
    if indices is None:
        indices = _indices(cx, place)
    b, part = cx.at(place.node), element(place.type, len(indices))
    if isinstance(value.type, Array) and isinstance(part, Array):
        for axis in range(part.rank):
            size = dimension(b, place.array, len(indices) + axis)
            b.prim("same", dimension(b, value, axis), size)
        if not isinstance(part.elem, Scalar):
            check_element(b, place.array, indices, value)
    else:
        if join_values(value, Var("part", part)) != part:
            raise update_errors.wrong_element(cx.span(place.node), part, value.type)
        value = convert(b, value, part)
        check_element(b, place.array, indices, value)
    op = Replace() if _is_item(cx, place) else Update()
    args = [place.array, *indices, value]
    _bind(cx, place, b.apply(op, args, [], [place.name])[0])


def _indices(cx: Context, place: Place) -> list[Operand]:
    """The indices, each checked against its dimension."""
    if len(place.items) > place.type.rank:
        raise type_errors.too_many_indices(
            cx.span(place.node), len(place.items), place.type
        )
    found: list[Operand] = []
    for axis, (item, node) in enumerate(zip(place.items, place.nodes, strict=True)):
        assert isinstance(item, Var | Lit)
        size = dimension(cx.at(node), place.array, axis)
        found.append(cx.at(node).prim("bound", item, size))
    return found


def _bind(cx: Context, place: Place, updated: Var) -> None:
    """The name stands for the updated array."""
    succeed(cx, place.name, place.array, updated)


# ---- many elements ---------------------------------------------------------------


def _check_list(cx: Context, place: Place, value: Value) -> None:
    if is_python_list(cx, place.array) and not is_array(value):
        raise update_errors.number_for_slice(cx.span(place.node))


def _independent(cx: Context, place: Place, value: Delayed) -> Delayed:
    """The value, made now if it reads the array that is written to."""
    indices = tuple(Var("i", I64) for _ in value.shape)
    b = Builder()
    body = b.block([value.element(b, indices)])
    read = free_vars_of(Lambda(indices, body))
    whole = {_whole(cx, v) for v in read if isinstance(v.type, Array)}
    if _whole(cx, place.array) in whole:
        made = force(cx, place.node, replace(value, made=None, view_of=None))
        return delayed(cx, place.node, made)
    return value


def _whole(cx: Context, array: Var) -> Var:
    """The array that a row is a part of."""
    while array in cx.views:
        array = cx.views[array]
    return array


def _check_fits(
    cx: Context, place: Place, value: Delayed, shape: Sequence[Operand]
) -> None:
    """The value's sizes are those of the part, or 1; else it fails at run time."""
    if value.rank > len(shape):
        raise update_errors.too_many_dimensions(
            cx.span(place.node), len(shape), value.type
        )
    ahead = len(shape) - value.rank
    name = "same" if is_python_list(cx, place.array) else "fits"
    for size, wanted in zip(value.shape, shape[ahead:], strict=True):
        if not same_size(size, wanted) and size != Lit(1):
            cx.at(place.node).prim(name, size, wanted)


def _fitted(
    cx: Context, place: Place, value: Value, shape: Sequence[Operand]
) -> Callable[[Builder, Indices], Operand]:
    """The element of the value that goes to indices of the part."""
    elem = place.type.elem
    found = value.type.elem if isinstance(value.type, Array) else value.type
    sample = value if is_number_operand(value) else Var("x", found)
    if join_values(sample, Var("part", elem)) != elem:
        raise update_errors.wrong_element(cx.span(place.node), elem, found)
    if not isinstance(value, Delayed):
        number = convert(cx.at(place.node), value, elem)
        return lambda b, indices: number
    _check_fits(cx, place, value, shape)
    ahead = len(shape) - value.rank
    sizes = list(zip(value.shape, shape[ahead:], strict=True))

    def fitted(b: Builder, indices: Indices) -> Operand:
        own: list[Operand] = []
        for index, (size, wanted) in zip(indices[ahead:], sizes, strict=True):
            if same_size(size, wanted):
                own.append(index)
            else:
                own.append(Lit(0) if size == Lit(1) else b.prim("stretch", index, size))
        return convert(b, value.element(b, own), elem)

    return fitted


def _put_all(
    cx: Context,
    place: Place,
    chosen: Selection,
    fitted: Callable[[Builder, Indices], Operand],
    source: _Source | None = None,
) -> None:
    def new(
        b: Builder, indices: Indices, own: Sequence[Operand], state: Operand
    ) -> Operand:
        if source is not None:
            source.array = state
        return fitted(b, indices)

    _loop(cx, place, chosen, new)


def put_elements(
    cx: Context,
    place: Place,
    chosen: Selection,
    value: Value,
    change: Callable[[Value, Value], Value] | None,
) -> Var:
    """The array of a place with the chosen elements replaced by those of a value.

    `change` is the operation of the old ones and the value that gives the new ones.
    """
    if is_array(value):
        whole = delayed(cx, place.node, value)
        copy = replace(whole, made=None, view_of=None, is_item=False)
        value = delayed(cx, place.node, force(cx, place.node, copy))
    source = _Source(place.array)

    def old(b: Builder, indices: Indices) -> Operand:
        return b.apply(Index(), [source.array, *chosen.place(b, indices)])[0]

    if change is not None and not chosen.shape:
        value = change(old(cx.at(place.node), ()), value)
    elif change is not None:
        part = Delayed(chosen.shape, place.type.elem, old, is_plain=True)
        if is_array(value):
            _check_fits(cx, place, delayed(cx, place.node, value), chosen.shape)
        value = change(part, value)
        if not chosen.is_regular:
            value = delayed(cx, place.node, force(cx, place.node, value))
    fitted = _fitted(cx, place, value, chosen.shape)

    def new(
        b: Builder, indices: Indices, own: Sequence[Operand], state: Operand
    ) -> Operand:
        source.array = state
        return fitted(b, indices)

    return _looped(cx, place, chosen, new)


def _loop(cx: Context, place: Place, chosen: Selection, new: _New) -> None:
    """Put an element at each index of the part, in order."""
    _bind(cx, place, _looped(cx, place, chosen, new))


def _looped(cx: Context, place: Place, chosen: Selection, new: _New) -> Var:
    """The array with an element put at each index of the part, in order."""
    indices: list[Operand] = []

    def level(b: Builder, axis: int, state: Operand) -> Operand:
        if axis == len(chosen.shape):
            own = chosen.place(b, indices)
            value = new(b, indices, own, state)
            check_element(b, state, own, value)
            return b.apply(Update(), [state, *own, value])[0]
        index, inner = Var("ijkl"[axis] if axis < 4 else "i", I64), b.child()
        after = Var(place.name, place.type)
        indices.append(index)
        body = Lambda((index, after), inner.block([level(inner, axis + 1, after)]))
        return b.apply(Iterate(), [chosen.shape[axis], state], [body], [place.name])[0]

    updated = level(cx.at(place.node), 0, place.array)
    assert isinstance(updated, Var)
    if chosen.shape:
        read_first(cx.builder)
    return updated


# ---- masks -----------------------------------------------------------------------


def _is_masked(place: Place) -> bool:
    """Whether this is `a[mask]` of numbers, with a mask of the array's first axes."""
    if len(place.items) != 1 or isinstance(place.items[0], ast.expr):
        return False
    mask = place.items[0].type
    return (
        isinstance(mask, Array)
        and mask.elem == BOOL
        and place.type.elem in (F64, F32, I64)
    )


def _put_where(cx: Context, place: Place, mask: Delayed, value: Operand) -> None:
    """Put a number where a mask is true, and each other element where it is."""
    if mask.rank > place.type.rank:
        raise type_errors.too_many_indices(cx.span(place.node), mask.rank, place.type)
    array = delayed(cx, place.node, place.array)
    b = cx.at(place.node)
    for own, size in zip(mask.shape, array.shape, strict=False):
        if not same_size(own, size):
            b.prim("mask_size", own, size)
    mask = _independent(cx, place, mask)
    if can_fail(mask):
        mask = delayed(cx, place.node, force(cx, place.node, mask))
    fitted = _fitted(cx, place, value, array.shape)
    choose = "select" if is_float(place.type.elem) else "iselect"

    def new(
        b: Builder, indices: Indices, own: Sequence[Operand], state: Operand
    ) -> Operand:
        (old,) = b.apply(Index(), [state, *own])
        hit = mask.element(b, indices[: mask.rank])
        return b.prim(choose, hit, fitted(b, indices), old)

    whole = Selection(array.shape, lambda b, indices: list(indices), is_regular=True)
    _loop(cx, place, whole, new)
