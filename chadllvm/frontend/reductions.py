"""`np.sum`, `np.max`, `np.mean` and so on: reductions over all axes or some of them.

    np.sum(x * y)            →   fold[add](n) { i -> yield x[i] * y[i] }
    np.max(a, axis=1)        →   at i: fold[max, nan](m) { j -> yield a[i, j] }
    np.sum(a, axis=0)        →   iterate(n, zeros(m)) { i, s -> yield s + a[i] }

The last form adds up rows: it reads the array in the order in which it is stored, and
what it adds to is short, for there is one such sum for each index of the axes in front.
NumPy's `max` of an array with a NaN is NaN, unlike Python's.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from chadllvm.errors import array_errors, call_errors
from chadllvm.frontend.arithmetic import (
    arithmetic,
    choice,
    is_number,
    to_int,
    truth,
)
from chadllvm.frontend.comprehension import list_comprehension
from chadllvm.frontend.delayed import (
    Delayed,
    Indices,
    Shape,
    Value,
    build_nest,
    converted,
    delayed,
    elementwise,
    flat,
    force,
    is_array,
    number_of,
    plain,
    zeros,
)
from chadllvm.frontend.given import Given, LibraryFunction
from chadllvm.frontend.scalar import Meaning, either
from chadllvm.frontend.width import float_of, is_loose, to_float, to_width, weakened
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lambda, Lit, Operand, Var, literal
from chadllvm.ir.types import BOOL, I64, Array, Scalar, Type, is_float
from chadllvm.ir.wording import said
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Index, sized
from chadllvm.ops.iterate import Iterate

# Given a builder, the indices of the kept axes and what emits the element: the result.
Reduction = Callable[[Builder, Shape, Callable[[Builder, Indices], Operand]], Operand]


def _reducible(call: Given, neutral: Operand | None = None) -> Delayed:
    """What is reduced: an array, or a number, which has no axes, as it is to NumPy.

    Where `where` is false, it is `neutral`.
    """
    node = call.nodes["a"]
    value = call.cx.lazy(node)
    if not isinstance(value, Delayed) and is_number(value.type):
        return Delayed((), value.type, lambda b, indices: value, is_plain=True)
    array = call.array_in(node, value)
    if "where" not in call:
        return array
    if neutral is None:
        span, known = call.cx.span(call.nodes["where"]), ["`initial`, which it needs"]
        raise array_errors.unknown_option(span, call.name, "where", known)

    def chosen(b: Builder, x: Operand, holds: Operand) -> Operand:
        return choice(b, holds, x, neutral)

    found = elementwise(call.cx, call.node, chosen, (array, call.lazy("where")))
    return delayed(call.cx, call.node, found)


def _initial(call: Given, elem: Type) -> Operand | None:
    """The initial value, of the type of the elements; NumPy would cut others off."""
    if "initial" not in call:
        return None
    value, b = call.value("initial"), call.builder
    if is_float(elem) and is_number(value.type):
        return to_width(b, value, elem)
    if value.type == BOOL or value.type == elem:
        return value if elem == BOOL else to_int(b, value)
    raise call_errors.wrong_operand(
        call.cx.span(call.nodes["initial"]), call.name, said(elem), value.type
    )


def _combined(call: Given, meaning: Meaning, found: Value, elem: Type) -> Value:
    """A result with the initial value, if there is one."""
    start = _initial(call, elem)
    if start is None:
        return found
    return elementwise(call.cx, call.node, meaning, (found, start))


def reduced(
    call: Given, array: Delayed, reduction: Reduction, rows: bool = False
) -> Value:
    """The array reduced over the axes that the call names; `rows`: it is a sum."""
    axes = call.axes(array.rank)
    if axes is None:
        axes = tuple(range(array.rank))
    return _keep_dims(
        call, array, axes, reduce_axes(call, array, axes, reduction, rows)
    )


def reduce_axes(
    call: Given,
    array: Delayed,
    axes: Sequence[int],
    reduction: Reduction,
    rows: bool = False,
) -> Value:
    """The array reduced over these axes."""
    axes = sorted(axes)
    kept = [k for k in range(array.rank) if k not in axes]
    gone = tuple(array.shape[k] for k in axes)

    def at(b: Builder, outer: Indices) -> Operand:
        def element(inner: Builder, indices: Indices) -> Operand:
            every = dict(zip([*kept, *axes], [*outer, *indices], strict=True))
            return array.element(inner, [every[k] for k in range(array.rank)])

        return reduction(b, gone, element)

    if not kept:
        return at(call.builder, ())
    if rows and kept[-1] == array.rank - 1:
        return _sum_of_rows(call, array, axes, kept)
    sample = Var("x", array.elem)
    elem = reduction(Builder(), (Lit(1),), lambda b, indices: sample).type
    return Delayed(tuple(array.shape[k] for k in kept), elem, at)


def _keep_dims(
    call: Given, array: Delayed, axes: Sequence[int], result: Value
) -> Value:
    """With `keepdims=True`, the axes reduced over stay, of size 1."""
    if not array.rank or not call.flag("keepdims"):
        return result
    kept = [k for k in range(array.rank) if k not in axes]
    shape = tuple(Lit(1) if k in axes else array.shape[k] for k in range(array.rank))
    if not isinstance(result, Delayed) and not is_array(result):
        return Delayed(shape, result.type, lambda b, indices: result, is_plain=True)
    whole = delayed(call.cx, call.node, result)

    def element(b: Builder, indices: Indices) -> Operand:
        return whole.element(b, [indices[k] for k in kept])

    return Delayed(shape, whole.elem, element, whole.is_plain)


def fold_nest(fold: Fold) -> Reduction:
    """Folds in each other, one for each axis."""

    def reduction(b: Builder, shape: Shape, element: Callable[..., Operand]) -> Operand:
        return _nest(b, shape, element, (), fold) if shape else element(b, ())

    return reduction


def _nest(
    b: Builder,
    shape: Shape,
    element: Callable[[Builder, Indices], Operand],
    outer: Indices,
    fold: Fold,
) -> Operand:
    index, inner = Var("ijkl"[len(outer)] if len(outer) < 4 else "i", I64), b.child()
    indices = (*outer, index)
    if len(indices) == len(shape):
        value = element(inner, indices)
    else:
        value = _nest(inner, shape, element, indices, fold)
    body = Lambda((index,), inner.block([value]))
    return b.apply(fold, [shape[len(outer)]], [body])[0]


def _sum_of_rows(
    call: Given, array: Delayed, axes: Sequence[int], kept: Sequence[int]
) -> Operand:
    """The sum over axes before the last one: a state that rows are added to."""
    cx, node = call.cx, call.node
    front = [k for k in kept if axes and k < axes[0]]
    behind = [k for k in kept if k not in front]
    shape = tuple(array.shape[k] for k in behind)
    add = "add" if is_float(array.elem) else "iadd"

    def level(b: Builder, state: Operand, outer: dict[int, Operand]) -> Operand:
        left = [k for k in axes if k not in outer]
        if not left:
            return build_nest(
                b, shape, lambda inner, indices: step(inner, state, outer, indices)
            )
        index, inner = Var("i", I64), b.child()
        before = Var("s", state.type)
        after = level(inner, before, {**outer, left[0]: index})
        body = Lambda((index, before), inner.block([after]))
        return b.apply(Iterate(), [array.shape[left[0]], state], [body])[0]

    def step(
        b: Builder, state: Operand, outer: dict[int, Operand], indices: Indices
    ) -> Operand:
        every = {**outer, **dict(zip(behind, indices, strict=True))}
        (old,) = b.apply(Index(), [state, *indices])
        new = array.element(b, [every[k] for k in range(array.rank)])
        return b.prim(add, old, new)

    def sum_at(b: Builder, outer: Indices) -> Operand:
        start: Operand
        if is_float(array.elem):
            start = zeros(b, shape, array.elem)
        else:
            start = build_nest(b, shape, lambda inner, indices: Lit(0))
        return level(b, start, dict(zip(front, outer, strict=True)))

    b, whole = cx.at(node), tuple(array.shape[k] for k in kept)
    result = build_nest(b, whole[: len(front)], sum_at)
    result = sized(b, result, whole) if front else result
    cx.shapes[result] = whole
    return result


# ---- sums ------------------------------------------------------------------------


def at_least_int(array: Delayed, dtype: Scalar | None = None) -> Delayed:
    """The array with its elements as numbers that can be added."""
    elem = dtype or (I64 if array.elem == BOOL else array.elem)
    return converted(array, elem)


def _sum(call: Given) -> Value:
    array = _reducible(call, Lit(0))
    assert isinstance(array.elem, Scalar)
    default = I64 if array.elem == BOOL else array.elem
    array = at_least_int(array, call.dtype(default))
    return _combined(call, _plus, reduced(call, array, ADD, rows=True), array.elem)


def _plus(b: Builder, x: Operand, y: Operand) -> Operand:
    return arithmetic(b, ast.Add(), x, y)


def _times(b: Builder, x: Operand, y: Operand) -> Operand:
    return arithmetic(b, ast.Mult(), x, y)


ADD = fold_nest(Fold("add"))


def _count_of(call: Given, array: Delayed) -> Operand:
    """The number of elements that go into one result, as a float like them."""
    axes = call.axes(array.rank)
    b = call.builder
    sizes = [array.shape[k] for k in (range(array.rank) if axes is None else axes)]
    return to_width(b, number_of(b, tuple(sizes)), array.elem)


def _divided(call: Given, value: Value, by: Operand) -> Value:
    return elementwise(
        call.cx, call.node, lambda b, x: b.prim("div", to_float(b, x), by), (value,)
    )


def _mean(call: Given) -> Value:
    array = _reducible(call, Lit(0))
    array = converted(array, float_of(array.elem))
    total = reduced(call, array, ADD, rows=True)
    if "where" not in call:
        return _divided(call, total, _count_of(call, array))

    def counted(b: Builder, x: Operand, holds: Operand) -> Operand:
        return choice(b, holds, to_width(b, Lit(1), x.type), Lit(0))

    ones = elementwise(call.cx, call.node, counted, (array, call.lazy("where")))
    count = reduced(call, delayed(call.cx, call.node, ones), ADD, rows=True)
    return elementwise(
        call.cx, call.node, lambda b, x, n: b.prim("div", x, n), (total, count)
    )


def _variance(call: Given) -> Value:
    """The mean squared distance from the mean; `ddof` is taken off the count."""
    cx, node = call.cx, call.node
    array = _reducible(call)
    array = plain(cx, node, converted(array, float_of(array.elem)))
    axes = call.axes(array.rank)
    axes = tuple(range(array.rank)) if axes is None else axes
    count = _count_of(call, array)
    total = reduce_axes(call, array, axes, ADD, rows=True)
    mean = _spread(call, array, axes, _divided(call, total, count))

    def squared(b: Builder, x: Operand, m: Operand) -> Operand:
        d = b.prim("sub", x, m)
        return b.prim("mul", d, d)

    squares = delayed(cx, node, elementwise(cx, node, squared, (array, mean)))
    result = _keep_dims(
        call, array, axes, reduce_axes(call, squares, axes, ADD, rows=True)
    )
    if "ddof" in call:
        off = to_width(call.builder, call.value("ddof"), array.elem)
        count = call.builder.prim("sub", count, off)
        none = to_width(call.builder, Lit(0.0), array.elem)
        count = call.builder.prim("maximum", count, none)
    return _divided(call, result, count)


def _spread(call: Given, array: Delayed, axes: Sequence[int], value: Value) -> Value:
    """A result of a reduction, made, with the axes reduced over kept."""
    if not is_array(value):
        return value
    whole = delayed(call.cx, call.node, force(call.cx, call.node, value))
    kept = [k for k in range(array.rank) if k not in axes]

    def element(b: Builder, indices: Indices) -> Operand:
        return whole.element(b, [indices[k] for k in kept])

    shape = tuple(Lit(1) if k in axes else s for k, s in enumerate(array.shape))
    return Delayed(shape, whole.elem, element, is_plain=True)


def _deviation(call: Given) -> Value:
    return elementwise(
        call.cx, call.node, lambda b, x: b.prim("sqrt", x), (_variance(call),)
    )


# ---- products, extrema, truth ----------------------------------------------------


def product_nest(b: Builder, shape: Shape, element: Callable[..., Operand]) -> Operand:
    """A product is a loop: its reverse multiplies what is before by what follows."""
    sample = element(Builder(), [Var("i", I64) for _ in shape])
    return _in_order(_times, literal(1, sample.type))(b, shape, element)


def _in_order(combine: Meaning, start: Operand) -> Reduction:
    """The elements combined with a first value, one after the other."""

    def reduction(b: Builder, shape: Shape, element: Callable[..., Operand]) -> Operand:
        def level(outer: Builder, state: Operand, indices: Indices) -> Operand:
            if len(indices) == len(shape):
                return combine(outer, state, element(outer, indices))
            index, before, inner = Var("i", I64), Var("p", start.type), outer.child()
            after = level(inner, before, (*indices, index))
            body = Lambda((index, before), inner.block([after]))
            return outer.apply(Iterate(), [shape[len(indices)], state], [body])[0]

        return level(b, start, ())

    return reduction


def _prod(call: Given) -> Value:
    array = at_least_int(_reducible(call, Lit(1)))
    return _combined(call, _times, reduced(call, array, product_nest), array.elem)


def _product_of_items(call: Given) -> Value:
    """`math.prod(items, start=…)`"""
    node = call.nodes["a"]
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        node = call.cx.settled(node, list_comprehension(call.cx, node))
    items = call.cx.lazy(node)
    array = at_least_int(call.array_in(node, items))
    product = reduced(call, array, product_nest)
    if is_loose(items) and isinstance(product, Var):
        product = weakened(call.builder, product)
    if "start" not in call:
        return product
    return elementwise(call.cx, call.node, _times, (call.value("start"), product))


def _extremum(kind: str) -> Callable[[Given], Value]:
    """`np.max` or `np.min`; of booleans it is one."""

    combine = either(f"{kind}imum", f"i{kind}")

    def meaning(call: Given) -> Value:
        node = call.nodes["a"]
        given = call.cx.settled(node, call.cx.lazy(node))
        call = replace(call, nodes={**call.nodes, "a": given})
        ty = call.lazy("a").type
        start = _initial(call, ty.elem if isinstance(ty, Array) else ty)
        array = _reducible(call, start)
        reduction = fold_nest(Fold(kind, nan=True))
        if start is not None:
            reduction = _in_order(combine, to_int(call.builder, start))
        found = reduced(call, at_least_int(array), reduction)
        if array.elem != BOOL:
            return found
        return elementwise(call.cx, call.node, truth, (found,))

    return meaning


def _winner(kind: str) -> Callable[[Given], Value]:
    """`np.argmax` or `np.argmin`: the index of the first one, flat without an axis."""

    def meaning(call: Given) -> Value:
        array = at_least_int(_reducible(call))
        axis = call.axis(array.rank)
        if axis is None:
            array, axis = flat(call.cx, call.node, array), 0
        return reduce_axes(call, array, (axis,), _winner_of(kind))

    return meaning


def _winner_of(kind: str) -> Reduction:
    def reduction(b: Builder, shape: Shape, element: Callable[..., Operand]) -> Operand:
        index, inner = Var("i", I64), b.child()
        body = Lambda((index,), inner.block([element(inner, (index,))]))
        return b.apply(Fold(f"arg{kind}", nan=True), [shape[0]], [body])[1]

    return reduction


def _truths(call: Given, negate: bool) -> Delayed:
    """1 for each element that is true, or for each that is not."""

    def meaning(b: Builder, x: Operand) -> Operand:
        holds = truth(b, x)
        return to_int(b, b.prim("not", holds) if negate else holds)

    array = _reducible(call, Lit(negate))
    found = elementwise(call.cx, call.node, meaning, (array,))
    return delayed(call.cx, call.node, found)


def _any(call: Given) -> Value:
    count = reduced(call, _truths(call, negate=False), ADD, rows=True)
    return elementwise(
        call.cx, call.node, lambda b, n: b.prim("ine", n, Lit(0)), (count,)
    )


def _all(call: Given) -> Value:
    count = reduced(call, _truths(call, negate=True), ADD, rows=True)
    return elementwise(
        call.cx, call.node, lambda b, n: b.prim("ieq", n, Lit(0)), (count,)
    )


def _count_nonzero(call: Given) -> Value:
    return reduced(call, _truths(call, negate=False), ADD, rows=True)


def _range(call: Given) -> Value:
    """`np.ptp`: the largest less the least."""
    array = plain(call.cx, call.node, at_least_int(_reducible(call)))
    ends = [
        reduced(call, array, fold_nest(Fold(kind, nan=True))) for kind in ("max", "min")
    ]
    return elementwise(
        call.cx, call.node, lambda b, x, y: arithmetic(b, ast.Sub(), x, y), ends
    )


_AXIS = "a axis=None * keepdims=False"
_WHERE = f"{_AXIS} where=None"
_INITIAL = f"{_AXIS} initial=None where=None"
_SUM = "a axis=None dtype=None * keepdims=False initial=None where=None"

SUM = LibraryFunction(np.sum, _SUM, _sum, "sum")

REDUCTIONS: tuple[LibraryFunction, ...] = (
    SUM,
    LibraryFunction(np.mean, _WHERE, _mean, "mean"),
    LibraryFunction(np.var, "a axis=None * ddof=0 keepdims=False", _variance, "var"),
    LibraryFunction(np.std, "a axis=None * ddof=0 keepdims=False", _deviation, "std"),
    LibraryFunction(np.prod, _INITIAL, _prod, "prod"),
    LibraryFunction(math.prod, "a * start=1", _product_of_items),
    LibraryFunction(np.max, _INITIAL, _extremum("max"), "max"),
    LibraryFunction(np.min, _INITIAL, _extremum("min"), "min"),
    LibraryFunction(np.amax, _INITIAL, _extremum("max")),
    LibraryFunction(np.amin, _INITIAL, _extremum("min")),
    LibraryFunction(np.argmax, "a axis=None", _winner("max"), "argmax"),
    LibraryFunction(np.argmin, "a axis=None", _winner("min"), "argmin"),
    LibraryFunction(np.any, _WHERE, _any, "any"),
    LibraryFunction(np.all, _WHERE, _all, "all"),
    LibraryFunction(np.count_nonzero, _AXIS, _count_nonzero),
    LibraryFunction(np.ptp, _AXIS, _range),
)
