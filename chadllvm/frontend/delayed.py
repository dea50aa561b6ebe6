"""Arrays that are not made yet: a shape, and what emits the element at given indices.

    (x - y) ** 2      →   r = broadcast(n, m), and at i: (x[i] - y[i]) ** 2
    x[1:]             →   n - 1, and at i: x[i + 1]
    m.T               →   m1, m0, and at i, j: m[j, i]

Whoever reads each element once in order, a sum say, emits the element inside of its own
loop. So an expression of elementwise operations, slices and transposes is one loop nest
without temporaries. A variable, an argument of a function and whatever else needs an
array gets one made (`force`). What fails independently of elements (a shape, an index)
does so where it stands in the program.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from chadllvm.frontend.arithmetic import convert
from chadllvm.frontend.context import Context
from chadllvm.frontend.marks import mark_of
from chadllvm.frontend.width import weak_list
from chadllvm.ir.build import Builder
from chadllvm.ir.op import ArrayOp
from chadllvm.ir.rewrite import Renaming, free_vars_of
from chadllvm.ir.term import Apply, Block, Lambda, Lit, Operand, Proj, Var, nested
from chadllvm.ir.types import F64, I64, Array, Product, Scalar, Type, is_float
from chadllvm.ops.alias import Alias, Contains, Item, Read, Shares
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index, Zeros, sized
from chadllvm.support.diagnostic import Span

Shape = tuple[Operand, ...]
Indices = Sequence[Operand]
Element = Callable[[Builder, Indices], Operand]


@dataclass(frozen=True, eq=False)
class Delayed:
    """An array by its shape and its elements.

    `is_plain`: an element costs no more than reading one, and does not fail, so it may
    be read at any time and more than once. `made`: the variable that holds this very
    array, if one does; `view_of`: the one whose elements Python's array would share.
    `is_transposed`: going along the last axis is not going along memory. `fill`: the
    value of every element, if they are all the same. `is_weak`: a list written out of
    Python's own numbers alone, which becomes what it is a part of (`width.py`).
    `is_item`: it is one of the arrays of a list, whose numbers are in `view_of`.
    `is_sublist`: it is a list of some of the arrays of a list, which is `view_of`.
    """

    shape: Shape
    elem: Type
    element: Element
    is_plain: bool = False
    made: Operand | None = None
    view_of: Operand | None = None
    is_transposed: bool = False
    fill: Operand | None = None
    is_weak: bool = False
    is_item: bool = False
    is_sublist: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def type(self) -> Array:
        return Array(self.elem, self.rank)


# What an expression gives: an operand, or an array still to be made.
Value = Operand | Delayed


def is_array(value: Value) -> bool:
    return isinstance(value.type, Array)


def is_number_operand(value: Value) -> TypeGuard[Operand]:
    """Whether a value is no array; then it is an operand."""
    return not is_array(value)


def shape_of(cx: Context, node: ast.expr, array: Value) -> Shape:
    """The sizes of an array; what is known of them stays known."""
    if isinstance(array, Delayed):
        return array.shape
    assert isinstance(array, Var) and isinstance(array.type, Array)
    axes = range(array.type.rank)
    if array in cx.lists:
        # Another name may have made it longer since, which `sharing` has to see.
        return tuple(cx.at(node).apply(Dim(axis), [array])[0] for axis in axes)
    known = cx.shapes.get(array) or cx.scope.known_shape(array)
    if known is not None:
        return known
    is_parameter = array in cx.parameters
    b = cx.prelude if is_parameter else cx.at(node)
    known = tuple(b.apply(Dim(axis), [array])[0] for axis in axes)
    (cx if is_parameter else cx.scope).shapes[array] = known
    return known


def delayed(cx: Context, node: ast.expr, array: Value) -> Delayed:
    """An array as a delayed one."""
    if isinstance(array, Delayed):
        return array
    assert isinstance(array.type, Array)

    def element(b: Builder, indices: Indices) -> Operand:
        return b.apply(Index(), [array, *indices])[0]

    shape = shape_of(cx, node, array)
    return Delayed(shape, array.type.elem, element, is_plain=True, made=array)


def succeed(cx: Context, name: str, old: Var, new: Var) -> None:
    """Let a name stand for what its array was updated to: of the same shape."""
    if old in cx.lists:
        cx.lists.add(new)
    cx.marks[new] = mark_of(cx, old)
    known = cx.shapes.get(old) or cx.scope.known_shape(old)
    if known is not None:
        cx.scope.shapes[new] = known
    cx.scope.assign(name, new)


def plain(cx: Context, node: ast.expr, array: Value) -> Delayed:
    """An array that may be read often: made, if its elements have to be computed."""
    known = delayed(cx, node, array)
    return known if known.is_plain else delayed(cx, node, force(cx, node, known))


def force(cx: Context, node: ast.expr, value: Value) -> Operand:
    """The operand that holds a value: an array is made here if it is not yet."""
    if not isinstance(value, Delayed):
        return value
    if value.made is not None:
        return value.made
    b = cx.at(node)
    if isinstance(value.fill, Lit) and repr(value.fill.value) == "0.0":
        array = zeros(b, value.shape, value.fill.type)
    else:
        array = build_nest(b, value.shape, value.element)
    array = weak_list(b, array, value.is_weak)
    if value.view_of is not None:
        alias = Item() if value.is_item else Shares() if value.is_sublist else Alias()
        (array,) = b.apply(alias, [array, value.view_of])
        assert isinstance(value.view_of, Var)
        if not value.is_sublist:
            cx.views[array] = value.view_of
    cx.shapes[array] = value.shape
    if value in cx.lists:
        cx.lists.add(array)
    cx.marks[array] = mark_of(cx, value)
    if value.is_item:
        cx.items.add(array)
    return array


def referring(
    cx: Context,
    node: ast.expr,
    items: Operand,
    value: Value,
    op: ArrayOp | None = None,
) -> Operand:
    """A list, which in Python refers to the arrays in a value that it now holds."""
    b = cx.at(node)
    if isinstance(value.type, Product):
        assert not isinstance(value, Delayed)
        for k in range(len(value.type.fields)):
            items = referring(cx, node, items, b.one(Proj(value, k)))
        return items
    array = (value.made or value.view_of) if isinstance(value, Delayed) else value
    if array is None or not isinstance(array.type, Array):
        return items
    (listed,) = b.apply(op or Contains(), [items, array])
    if items in cx.shapes:
        cx.shapes[listed] = cx.shapes[items]
    return listed


def build_nest(b: Builder, shape: Shape, element: Element) -> Var:
    """The array of this shape (of at least one dimension) with these elements."""
    indices: list[Operand] = []

    def level(outer: Builder, axis: int) -> Operand:
        if axis == len(shape):
            return element(outer, indices)
        index, inner = Var("ijkl"[axis] if axis < 4 else "i", I64), outer.child()
        indices.append(index)
        body = inner.block([level(inner, axis + 1)])
        return outer.apply(Build(), [shape[axis]], [Lambda((index,), body)])[0]

    return sized(b, level(b, 0), shape)


def filled(shape: Shape, value: Operand) -> Delayed:
    """An array with the same element everywhere."""
    assert isinstance(value.type, Scalar)
    return Delayed(
        shape, value.type, lambda b, indices: value, is_plain=True, fill=value
    )


def zeros(b: Builder, shape: Shape, elem: Type = F64) -> Var:
    """An array of zeros, made."""
    return b.apply(Zeros(elem), shape)[0]


def converted(value: Delayed, elem: Type) -> Delayed:
    """The array with its elements converted to a type that they promote to."""
    if value.elem == elem:
        return value

    def element(b: Builder, indices: Indices) -> Operand:
        return convert(b, value.element(b, indices), elem)

    return Delayed(value.shape, elem, element, value.is_plain)


def read_first(b: Builder) -> None:
    """What the loop just bound reads of other arrays, Python reads before its steps.

    They may be views of the array that the loop writes to, which its steps do not see.
    """
    loop = b.bindings.pop()
    assert isinstance(loop.expr, Apply)
    inside = [v for body in loop.expr.bodies for v in free_vars_of(body)]
    arrays = [v for v in inside if isinstance(v.type, Array)]
    renaming = Renaming({v: b.apply(Read(), [v], [], [v.name])[0] for v in arrays})
    b.bindings.append(renaming.binding(loop))


def number_of(b: Builder, shape: Shape) -> Operand:
    """The number of elements of an array of this shape."""
    total: Operand = Lit(1)
    for size in shape:
        total = size if total == Lit(1) else b.prim("imul", total, size)
    return total


def unravelled(b: Builder, number: Operand, shape: Shape) -> list[Operand]:
    """The indices of the element of this number in the order of all elements."""
    found: list[Operand] = []
    for size in reversed(shape[1:]):
        found.append(b.prim("column_of", number, size))
        number = b.prim("row_of", number, size)
    return [number, *reversed(found)]


def ravelled(b: Builder, indices: Indices, shape: Shape) -> Operand:
    """The number of the element at these indices."""
    number = indices[0]
    for index, size in zip(indices[1:], shape[1:], strict=True):
        number = b.prim("iadd", b.prim("imul", number, size), index)
    return number


def flat(cx: Context, node: ast.expr, array: Delayed) -> Delayed:
    """The array as one of rank 1, in the order of its elements."""
    if array.rank == 1:
        return array
    array = plain(cx, node, array)

    def element(b: Builder, indices: Indices) -> Operand:
        return array.element(b, unravelled(b, indices[0], array.shape))

    shape = (number_of(cx.at(node), array.shape),)
    view = array.made or array.view_of
    return Delayed(shape, array.elem, element, is_plain=True, view_of=view)


def permuted(array: Delayed, axes: Sequence[int], is_view: bool = True) -> Delayed:
    """The array with its axes in another order: axis k is axis axes[k] of the old."""

    def element(b: Builder, indices: Indices) -> Operand:
        own = dict(zip(axes, indices, strict=True))
        return array.element(b, [own[k] for k in range(array.rank)])

    shape = tuple(array.shape[k] for k in axes)
    view = (array.made or array.view_of) if is_view else None
    moved = axes[-1] != array.rank - 1
    return Delayed(
        shape,
        array.elem,
        element,
        array.is_plain,
        view_of=view,
        is_transposed=array.is_transposed != moved,
    )


def transposed(array: Delayed, is_view: bool = True) -> Delayed:
    """The array with its axes in the reverse order."""
    if array.rank == 1:
        return array
    return permuted(array, range(array.rank - 1, -1, -1), is_view)


# ---- broadcasting ----------------------------------------------------------------


def same_size(n: Operand, m: Operand) -> bool:
    """Whether two sizes are known to be equal."""
    return n is m or (isinstance(n, Lit) and isinstance(m, Lit) and n == m)


def broadcast_shape(cx: Context, node: ast.expr, shapes: Sequence[Shape]) -> Shape:
    """The shape that these are stretched to; fails at run time if they do not fit."""
    rank = max(map(len, shapes))
    sizes: list[Operand] = [Lit(1)] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, start=rank - len(shape)):
            sizes[axis] = _common(cx, node, sizes[axis], size)
    return tuple(sizes)


def _common(cx: Context, node: ast.expr, n: Operand, m: Operand) -> Operand:
    if same_size(n, m) or m == Lit(1):
        return n
    return m if n == Lit(1) else cx.at(node).prim("broadcast", n, m)


def stretched(
    cx: Context, node: ast.expr, value: Delayed, shape: Shape
) -> Callable[[Builder, Indices], Operand]:
    """The elements of an array by the indices into a shape that it is stretched to.

    What is sure to be read more than once is made first.
    """
    ahead = len(shape) - value.rank
    ones = [
        d == Lit(1) and r != Lit(1)
        for d, r in zip(value.shape, shape[ahead:], strict=True)
    ]
    if ahead or any(ones):
        value = plain(cx, node, value)
    sizes = list(zip(value.shape, shape[ahead:], strict=True))

    def element(b: Builder, indices: Indices) -> Operand:
        own = [
            _own_index(b, index, size, whole)
            for index, (size, whole) in zip(indices[ahead:], sizes, strict=True)
        ]
        return value.element(b, own)

    return element


def _own_index(b: Builder, index: Operand, size: Operand, whole: Operand) -> Operand:
    if same_size(size, whole):
        return index
    return Lit(0) if size == Lit(1) else b.prim("stretch", index, size)


def broadcast_to(cx: Context, node: ast.expr, value: Delayed, shape: Shape) -> Delayed:
    """The array stretched to a shape that `broadcast_shape` has found for it."""
    if len(shape) == value.rank and all(map(same_size, shape, value.shape)):
        return value
    value = plain(cx, node, value)
    element = stretched(cx, node, value, shape)
    view = value.made or value.view_of
    return Delayed(shape, value.elem, element, is_plain=True, view_of=view)


# ---- elementwise operations ------------------------------------------------------


def elementwise(
    cx: Context,
    node: ast.expr,
    meaning: Callable[..., Operand],
    values: Sequence[Value],
) -> Value:
    """`meaning(b, *numbers)` of numbers, or of the elements of arrays that fit."""
    if not any(map(is_array, values)):
        return meaning(cx.at(node), *values)
    arrays = {k: delayed(cx, node, v) for k, v in enumerate(values) if is_array(v)}
    shape = broadcast_shape(cx, node, [a.shape for a in arrays.values()])
    elements = {k: stretched(cx, node, a, shape) for k, a in arrays.items()}

    def element(b: Builder, indices: Indices) -> Operand:
        numbers = [
            elements[k](b, indices) if k in elements else value
            for k, value in enumerate(values)
        ]
        return meaning(b, *numbers)

    return Delayed(shape, element_type(cx.span(node), meaning, values), element)


def element_type(
    span: Span, meaning: Callable[..., Operand], values: Sequence[Value]
) -> Type:
    """The type that an operation at this place gives for numbers of these types."""
    samples = [
        Var("x", v.type.elem) if isinstance(v.type, Array) else v for v in values
    ]
    return meaning(Builder(span), *samples).type


def for_sizes(cx: Context, node: ast.expr, value: Value) -> Delayed:
    """An array of which the sizes alone are asked for: one that may fail is made."""
    if isinstance(value, Delayed) and value.made is None and can_fail(value):
        value = force(cx, node, value)
    return delayed(cx, node, value)


def can_fail(value: Delayed) -> bool:
    """Whether computing an element may raise an error."""
    b = Builder()
    b.block([value.element(b, [Var("i", I64) for _ in value.shape])])
    return any(_fails(Block(tuple(b.bindings), ())))


def _fails(block: Block) -> Iterator[bool]:
    for binding in block.bindings:
        if not isinstance(binding.expr, Apply):
            continue
        yield binding.expr.op.can_fail
        for _, inner in nested(binding.expr):
            yield from _fails(inner)


def is_real(value: Value) -> bool:
    """Whether a number or an array holds floats."""
    ty = value.type
    return is_float(ty.elem if isinstance(ty, Array) else ty)
