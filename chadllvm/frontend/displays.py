"""Lists written out, and what `+` and `*` make of lists.

[a, b, c]       →   3 elements, at i: a, b or c
[0.0] * n       →   n elements, at i: 0.0
xs + ys         →   n + m elements, at i: xs[i] if i < n, else ys[i - n]
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from chadllvm.errors import array_errors, update_errors
from chadllvm.frontend.alike import differ
from chadllvm.frontend.annotations import target_type
from chadllvm.frontend.arithmetic import (
    convert,
    is_number,
    join,
    join_all,
    join_values,
    to_int,
)
from chadllvm.frontend.closures import is_tuple
from chadllvm.frontend.context import Context, Settled
from chadllvm.frontend.delayed import (
    Delayed,
    Element,
    Indices,
    Shape,
    Value,
    build_nest,
    converted,
    delayed,
    force,
    referring,
    shape_of,
)
from chadllvm.frontend.fixed_lists import MOST, FixedList
from chadllvm.frontend.marks import (
    Mark,
    common,
    is_python_list,
    listed,
    mark_list,
    mark_of,
)
from chadllvm.frontend.ragged import is_item, is_list
from chadllvm.frontend.ragged_making import (
    appended_to,
    check_lists,
    copied,
    empty_list,
    extended,
    is_element,
    list_of,
)
from chadllvm.frontend.references import opened
from chadllvm.frontend.sizes import times
from chadllvm.frontend.stacking import choose_below, choose_item, displayed
from chadllvm.frontend.tuples import unpacked
from chadllvm.frontend.width import as_weak, component, is_loose, product, weak_list
from chadllvm.ir.build import Builder
from chadllvm.ir.record import Kind, RecordNames
from chadllvm.ir.term import Lit, Operand, Tuple
from chadllvm.ir.types import (
    BOOL,
    I64,
    Array,
    Product,
    Scalar,
    Sum,
    Type,
    holds_array,
    list_elem,
    list_names,
    list_type,
)
from chadllvm.ops.alias import Shares


def display(cx: Context, node: ast.List) -> Operand:
    """`[a, b, c]` of numbers, lists or arrays of equal shape, or tuples."""
    if not node.elts:
        raise update_errors.nested_empty_list(cx.span(node))
    if any(isinstance(part, ast.Starred) for part in node.elts):
        parts = _with_lists(cx, node)
        if len(parts) > 1 or not isinstance(parts[0], ast.List):
            return cx.value(reduce(partial(_sum, node), parts))
        node = parts[0]
    elements = [_element(cx, e) for e in unpacked(cx, node.elts)]
    values = [e.value for e in _settled(elements)]
    if node in cx.wanted or any(is_list(v) or is_item(cx, v) for v in values):
        return _of_arrays(cx, node, elements)
    is_fixed = isinstance(node, FixedList) and any(holds_array(v.type) for v in values)
    is_flat = len(values) == len(elements) and not any(map(_is_several, elements))
    may_differ = not (is_fixed and is_flat) and all(map(_may_differ, values))
    if may_differ and differ(cx, elements):
        return _of_arrays(cx, node, elements)
    if is_fixed:
        components = tuple(cx.value(element) for element in elements)
        return product(cx.at(node), Tuple(components))
    if any(isinstance(value.type, Product | Sum) for value in values):
        return _of_tuples(cx, node, elements)
    made = force(cx, node, displayed(cx, node, elements))
    for value in values:
        made = referring(cx, node, made, value)
    mark_list(cx, made, _common_mark(cx, elements))
    return made


def _with_lists(cx: Context, node: ast.List) -> list[ast.expr]:
    """The lists that a display with stars consists of: tuples are unpacked in place."""
    parts: list[ast.expr] = []
    own: list[ast.expr] = []
    for part in _flat(node.elts):
        if not isinstance(part, ast.Starred):
            own.append(cx.settled(part, cx.lazy(part)))
            continue
        whole, is_list = part.value, False
        if not isinstance(whole, ast.Call | ast.GeneratorExp):
            value = cx.lazy(whole)
            whole = cx.settled(whole, value)
            if is_tuple(value.type) and list_names(value.type) is None:
                own.append(ast.copy_location(ast.Starred(whole, ast.Load()), part))
                continue
            is_list = len(node.elts) > 1 and _is_list(cx, value)
        if own:
            parts.append(ast.copy_location(ast.List(own, ast.Load()), node))
            own = []
        if not is_list:  # What stands behind may change what is read here.
            items = _items_of(part, whole)
            whole = cx.settled(items, cx.value(items))
        parts.append(whole)
    if own or not parts:
        parts.append(ast.copy_location(ast.List(own, ast.Load()), node))
    return parts


def _flat(parts: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """The parts of a display, with those of displays that are unpacked in it."""
    for part in parts:
        match part:
            case ast.Starred(ast.Tuple(inner) | ast.List(inner)):
                yield from _flat(inner)
            case _:
                yield part


def _items_of(part: ast.Starred, whole: ast.expr) -> ast.expr:
    """`[item for item in whole]`"""
    if isinstance(whole, ast.GeneratorExp):
        return ast.copy_location(ast.ListComp(whole.elt, whole.generators), part)
    target, item = ast.Name("item", ast.Store()), ast.Name("item", ast.Load())
    loop = ast.comprehension(target, whole, [], is_async=0)
    made = ast.copy_location(ast.ListComp(item, [loop]), part)
    for name in (target, item):
        ast.copy_location(name, part)
    return made


def _sum(node: ast.List, first: ast.expr, second: ast.expr) -> ast.expr:
    return ast.copy_location(ast.BinOp(first, ast.Add(), second), node)


def listed_arrays(cx: Context, node: ast.List) -> Listed | ast.List:
    """The arrays that are listed, if they are of one type, and few; else the list, with
    its elements computed."""
    elements = [e if _is_several(e) else cx.settled(e, cx.lazy(e)) for e in node.elts]
    values = [e.value for e in elements if isinstance(e, Settled)]
    are_alike = (
        1 < len(values) == len(elements) <= MOST
        and node not in cx.wanted
        and all(isinstance(v.type, Array) and v.type == values[0].type for v in values)
        and not any(is_list(v) or is_item(cx, v) for v in values)
    )
    if not are_alike:
        return ast.copy_location(ast.List(elements, ast.Load()), node)
    made = [cx.make(cx, node, value) for value in values]
    return Listed(made, are_items=differ(cx, elements))


@dataclass(frozen=True)
class Listed:
    """Values of one type, of which one is taken, by asking for each, without a list of
    them; `are_items`: they are arrays of several sizes."""

    values: Sequence[Operand]
    are_items: bool = False

    def one(self, cx: Context, b: Builder, at: Operand) -> Operand:
        """The value at a place, which is in range."""
        found = as_weak(b, choose_item(b, at, self.values), self.values)
        cx.marks[found] = common(mark_of(cx, value) for value in self.values)
        if self.are_items:
            cx.items.add(found)
        return found


def components_of(cx: Context, node: ast.expr, value: Operand) -> Listed | None:
    """The components of a tuple, if there are any of one type, or numbers."""
    b = cx.at(node)
    value = opened(b, value)
    assert isinstance(value.type, Product)
    fields = [component(b, value, k) for k in range(len(value.type.fields))]
    joined = join_values(*fields) if fields else None
    if joined is None:
        return None
    return Listed([convert(b, part, joined) for part in fields])


def _is_several(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Starred)


def _may_differ(value: Value) -> bool:
    """Whether lists of such values, or of lists of them, may be irregular."""
    return isinstance(value.type, Scalar) or is_element(value)


def _element(cx: Context, node: ast.expr) -> ast.expr:
    """An element, computed; of a list its elements."""
    if isinstance(node, ast.List):
        inner = ast.List([_element(cx, e) for e in unpacked(cx, node.elts)], ast.Load())
        return ast.copy_location(inner, node)
    return cx.settled(node, cx.lazy(node))


def _common_mark(cx: Context, elements: Sequence[ast.expr]) -> Mark:
    """What is a list in each of the elements."""
    found: list[Mark] = []
    for element in elements:
        if isinstance(element, ast.List):
            found.append(listed(_common_mark(cx, element.elts)))
        else:
            assert isinstance(element, Settled)
            found.append(mark_of(cx, element.value))
    return common(found)


def _settled(elements: Sequence[ast.expr]) -> Iterator[Settled]:
    for element in elements:
        if isinstance(element, Settled):
            yield element
        elif isinstance(element, ast.List):
            yield from _settled(element.elts)


def _of_arrays(cx: Context, node: ast.List, elements: Sequence[ast.expr]) -> Operand:
    """A list of arrays that may differ in size, or of such lists."""
    values = [_part(cx, e) if isinstance(e, ast.List) else cx.lazy(e) for e in elements]
    if not is_element(values[0]):
        raise array_errors.mixed_elements(cx.span(node))
    ty = _type_of_list(values, list_of(cx, values[0]))
    values = [_as_wide(cx, node, value, list_elem(ty)) for value in values]
    made = empty_list(cx.at(node), ty)
    for part, value in zip(node.elts, values, strict=True):
        made = appended_to(cx, part, made, value)
    return made


def _part(cx: Context, node: ast.List) -> Operand:
    """A list in a list: one of arrays stays one, also if they have one size."""
    if not node.elts:
        raise array_errors.empty_array(cx.span(node))
    if any(isinstance(e, Settled) and is_number(e.value.type) for e in node.elts):
        return display(cx, node)
    return _of_arrays(cx, node, node.elts)


def _type_of_list(values: Sequence[Value], first: Product) -> Product:
    """The type of a list of arrays, whose numbers are joined as in a regular one."""
    arrays = [v.type for v in values if isinstance(v.type, Array) and not is_loose(v)]
    joined = join_all([ty.elem for ty in arrays]) if arrays else None
    names = list_names(first)
    assert names is not None
    return list_type(joined, names) if isinstance(joined, Scalar) else first


def _as_wide(cx: Context, node: ast.List, value: Value, elem: Type) -> Value:
    """A list of Python's own numbers as one of such floats."""
    if not is_loose(value):
        return value
    wide = converted(delayed(cx, node, value), elem)
    cx.lists.add(wide)
    return wide


def _of_tuples(cx: Context, node: ast.List, elements: Sequence[ast.expr]) -> Operand:
    """A list of tuples or records."""
    values = [cx.value(element) for element in elements]
    ty = join_values(*values)
    if ty is None:
        raise array_errors.mixed_elements(cx.span(node))
    items = [convert(cx.at(node), v, ty) for v in values]
    limits = [Lit(k + 1) for k in range(len(items))]

    def choice(b: Builder, indices: Indices) -> Operand:
        options = [lambda _, item=item: item for item in items]
        return choose_below(b, indices[0], limits, options)

    made = build_nest(cx.at(node), (Lit(len(items)),), choice)
    mark_list(cx, made, common(mark_of(cx, item) for item in items))
    return made


def _is_list(cx: Context, value: Value) -> bool:
    """Whether this is a list in Python; what holds records is one, if not of rows."""
    if is_python_list(cx, value) or not isinstance(value.type, Array):
        return value in cx.lists or isinstance(value.type, Array)
    elem = value.type.elem
    names = elem.names if isinstance(elem, Product) else ()
    is_row = isinstance(names, RecordNames) and names.kind is Kind.ROW
    return isinstance(elem, Product | Sum) and not is_row


def list_operation(cx: Context, node: ast.BinOp, x: Value, y: Value) -> Operand | None:
    """`x + y` and `x * n` of lists; None if these are not lists."""
    ragged = [value for value in (x, y) if list_names(value.type) is not None]
    if ragged and isinstance(node.op, ast.Add):
        check_lists(cx, node, x, y)
        return _extended(cx, node, x, y, ragged[0].type)
    are_lists = [_is_list(cx, value) for value in (x, y)]
    if isinstance(node.op, ast.Add) and all(are_lists):
        return _joined(cx, node, x, y)
    if isinstance(node.op, ast.Mult) and any(are_lists):
        items, count = (x, y) if are_lists[0] else (y, x)
        if not isinstance(count, Delayed) and count.type in (I64, BOOL):
            return _repeated(cx, node, items, to_int(cx.at(node), count))
    return None


def _joined(cx: Context, node: ast.BinOp, x: Value, y: Value) -> Operand:
    first, second = delayed(cx, node.left, x), delayed(cx, node.right, y)
    elem = join(first.elem, second.elem)
    if elem is None or first.rank != second.rank:
        raise update_errors.other_elements(cx.span(node), first.type, second.type)
    b = cx.at(node)
    rows: list[Operand] = []
    for n, m in zip(first.shape[1:], second.shape[1:], strict=True):
        rows.append(_if_any(b, first.shape[0], n, m))
        b.prim("same", rows[-1], _if_any(b, second.shape[0], m, rows[-1]))
    size = b.prim("iadd", first.shape[0], second.shape[0])

    def element(inner: Builder, indices: Indices) -> Operand:
        index, *rest = indices

        def left(side: Builder) -> Operand:
            return convert(side, first.element(side, indices), elem)

        def right(side: Builder) -> Operand:
            behind = side.prim("isub", index, first.shape[0])
            return convert(side, second.element(side, [behind, *rest]), elem)

        return choose_below(inner, index, [first.shape[0]], [left, right])

    loose = is_loose(x) and is_loose(y)
    made = _list(cx, node, (size, *rows), element, loose)
    for side in (x, y) if first.rank > 1 else ():
        made = referring(cx, node, made, side, Shares())
    cx.lists.add(made)
    if isinstance(elem, Scalar):
        cx.marks[made] = common([mark_of(cx, x), mark_of(cx, y)])
    return made


def _if_any(b: Builder, number: Operand, size: Operand, other: Operand) -> Operand:
    """A size of so many arrays of a list; the other one if there are none."""
    if isinstance(number, Lit):
        return size if number.value else other
    return b.prim("iselect", b.prim("ieq", number, Lit(0)), other, size)


def _extended(
    cx: Context, node: ast.BinOp, x: Value, y: Value, ty: Type
) -> Operand | None:
    """The sum of two lists of arrays, of which one may be regular."""
    found = target_type(ty, x.type)
    if found is None:
        raise update_errors.other_elements(cx.span(node.left), ty, x.type)
    left = convert(cx.at(node.left), force(cx, node.left, x), found)
    return extended(cx, cx.settled(node.right, y), copied(cx, node.left, left))


def _repeated(cx: Context, node: ast.BinOp, items: Value, count: Operand) -> Operand:
    """A list several times; never if the number is negative."""
    if not isinstance(items.type, Array) or items.type.rank > 1:
        raise update_errors.repeated_rows(cx.span(node))
    b = cx.at(node)
    (size,) = shape_of(cx, node, items)
    source = delayed(cx, node, items)
    total = times(b, b.prim("imax", count, Lit(0)), size)

    def element(inner: Builder, indices: Indices) -> Operand:
        if size == Lit(1):
            return source.element(inner, [Lit(0)])
        return source.element(inner, [inner.prim("column_of", indices[0], size)])

    made = _list(cx, node, (total,), element, is_loose(items))
    cx.marks[made] = mark_of(cx, items)
    return made


def _list(
    cx: Context, node: ast.BinOp, shape: Shape, element: Element, loose: bool
) -> Operand:
    made = weak_list(cx.at(node), build_nest(cx.at(node), shape, element), loose)
    cx.shapes[made] = shape
    cx.lists.add(made)
    return made
