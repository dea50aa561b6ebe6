"""Products of vectors and matrices: `@`, `np.dot`, `np.outer`, `np.trace` and so on.

    x @ y     →   fold[add](n) { i -> yield x[i] * y[i] }
    a @ x     →   at i: fold[add](m) { j -> yield a[i, j] * x[j] }
    a @ b     →   at i, j: fold[add](m) { k -> yield a[i, k] * c[j, k] }, c = b.T

The inner loops read rows; so the second matrix is transposed first, unless it is the
transpose of one that there is. Products of truth values are truth values, as in NumPy.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from chadllvm.errors import array_errors, call_errors, type_errors
from chadllvm.frontend.arithmetic import arithmetic, is_number, to_int, truth
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import (
    Delayed,
    Indices,
    Value,
    delayed,
    elementwise,
    flat,
    force,
    is_array,
    plain,
    same_size,
    transposed,
)
from chadllvm.frontend.given import Given, LibraryFunction
from chadllvm.frontend.jitted import called
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lambda, Lit, Operand, Var
from chadllvm.ir.types import BOOL, I64, Array, Scalar, Type
from chadllvm.ops.fold import Fold
from chadllvm.support.overloads import overloaded

# Emits the indices of an element of a diagonal.
Place = Callable[[Builder, Operand], list[Operand]]


def matrix_product(cx: Context, node: ast.expr, x: Value, y: Value) -> Value:
    """`x @ y` of vectors and matrices."""
    for ty in (x.type, y.type):
        if not isinstance(ty, Array) or not isinstance(ty.elem, Scalar):
            raise call_errors.wrong_operand(cx.span(node), "@", "arrays of numbers", ty)
    if max(_rank(x), _rank(y)) > 2:
        return _of_stacks(cx, node, operator.matmul, x, y)
    left, right = delayed(cx, node, x), delayed(cx, node, y)
    if left.rank == right.rank == 1:
        return inner_product(cx, node, left, right)
    left = plain(cx, node, left)
    if left.rank == 1:  # Each column is read once.
        right = transposed(plain(cx, node, right))
    elif right.rank == 2:
        right = _columns(cx, node, right)
    else:
        right = plain(cx, node, right)
    _check_equal(cx, node, left.shape[-1], right.shape[-1])
    shape = (*left.shape[:-1], *right.shape[:-1])
    outer = left.rank - 1

    def element(b: Builder, indices: Indices) -> Operand:
        def term(inner: Builder, k: Operand) -> Operand:
            first = left.element(inner, [*indices[:outer], k])
            return _times(inner, first, right.element(inner, [*indices[outer:], k]))

        total = sum_over(b, left.shape[-1], term)
        return truth(b, total) if are_truths else total

    are_truths = left.elem == right.elem == BOOL
    elem = BOOL if are_truths else _product_type(cx, node, left, right)
    return Delayed(shape, elem, element)


def _rank(value: Value) -> int:
    return value.type.rank if isinstance(value.type, Array) else 0


def _of_stacks(
    cx: Context,
    node: ast.expr,
    product: Callable[..., Any],
    x: Value,
    y: Value,
    **axes: Any,
) -> Operand:
    """A product of which a factor is a stack of matrices."""
    try:
        function = overloaded(product).function(x.type, y.type, **axes)
    except ValueError as error:
        raise call_errors.not_chosen(cx.span(node), "@", str(error)) from None
    assert isinstance(function, FunctionType)
    _product_type(cx, node, delayed(cx, node, x), delayed(cx, node, y))
    return called(cx, node, function, [force(cx, node, x), force(cx, node, y)])


def _columns(cx: Context, node: ast.expr, array: Delayed) -> Delayed:
    """The transpose of a matrix, with its rows in a row in memory."""
    if array.is_transposed:
        return transposed(plain(cx, node, array))
    made = force(cx, node, transposed(plain(cx, node, array), is_view=False))
    return delayed(cx, node, made)


def inner_product(cx: Context, node: ast.expr, x: Delayed, y: Delayed) -> Operand:
    """The sum of the products of two vectors' elements."""
    _check_equal(cx, node, x.shape[0], y.shape[0])
    _product_type(cx, node, x, y)

    def term(b: Builder, k: Operand) -> Operand:
        return _times(b, x.element(b, [k]), y.element(b, [k]))

    total = sum_over(cx.at(node), x.shape[0], term)
    return truth(cx.at(node), total) if x.elem == y.elem == BOOL else total


def sum_over(
    b: Builder, size: Operand, term: Callable[[Builder, Operand], Operand]
) -> Operand:
    """The sum of the terms for all indices below a size."""
    index, inner = Var("k", I64), b.child()
    body = Lambda((index,), inner.block([term(inner, index)]))
    return b.apply(Fold("add"), [size], [body])[0]


def _times(b: Builder, x: Operand, y: Operand) -> Operand:
    return arithmetic(b, ast.Mult(), to_int(b, x), to_int(b, y))


def _product_type(cx: Context, node: ast.expr, x: Delayed, y: Delayed) -> Type:
    """The type of products of elements, if there is one."""
    return _times(Builder(cx.span(node)), Var("x", x.elem), Var("y", y.elem)).type


def _check_equal(cx: Context, node: ast.expr, n: Operand, m: Operand) -> None:
    if not same_size(n, m):
        cx.at(node).prim("same", n, m)


def _dot(call: Given) -> Value:
    """`np.dot`: the matrix product, of stacks each with each; with a number, the
    multiple."""
    cx, node = call.cx, call.node
    x, y = call.lazy("a"), call.lazy("b")
    if not (is_array(x) and is_array(y)):
        return _multiple(call, x, y)
    if _rank(y) > 2:
        return _of_stacks(cx, node, np.tensordot, x, y, axes=(-1, -2))
    return matrix_product(cx, node, x, y)


def _multiple(call: Given, x: Value, y: Value) -> Value:
    """The product of a number with an array or a number."""
    for value in (x, y):
        ty = value.type.elem if isinstance(value.type, Array) else value.type
        if not is_number(ty):
            raise type_errors.not_a_number(
                call.cx.span(call.node), call.name, value.type
            )
    return elementwise(call.cx, call.node, _times, (x, y))


def _matmul(call: Given) -> Value:
    return matrix_product(call.cx, call.node, call.lazy("a"), call.lazy("b"))


def _vectors(call: Given) -> Value:
    """`np.vdot`: the inner product of all elements."""
    cx, node = call.cx, call.node
    x, y = (flat(cx, node, call.array(name)) for name in "ab")
    return inner_product(cx, node, x, y)


def _inner(call: Given) -> Value:
    """`np.inner`: sums over the last axes of both; with a number, the multiple."""
    cx, node = call.cx, call.node
    x, y = call.lazy("a"), call.lazy("b")
    if not (is_array(x) and is_array(y)):
        return _multiple(call, x, y)
    if _rank(y) > 2:
        return _of_stacks(cx, node, np.tensordot, x, y, axes=(-1, -1))
    right = plain(cx, node, delayed(cx, node, y))
    return matrix_product(cx, node, x, transposed(right))


def _outer(call: Given) -> Value:
    cx, node = call.cx, call.node
    x, y = (plain(cx, node, flat(cx, node, call.array(name))) for name in "ab")

    def element(b: Builder, indices: Indices) -> Operand:
        product = _times(b, x.element(b, indices[:1]), y.element(b, indices[1:]))
        return truth(b, product) if are_truths else product

    are_truths = x.elem == y.elem == BOOL
    elem = BOOL if are_truths else _product_type(cx, node, x, y)
    return Delayed((x.shape[0], y.shape[0]), elem, element)


def _cross(call: Given) -> Value:
    """`np.cross` of vectors of three, or of arrays of such.

    (x × y)[i] = x[i + 1] y[i + 2] - x[i + 2] y[i + 1], indices modulo 3.
    """
    cx, node, b = call.cx, call.node, call.builder
    turned = []
    for name in "ab":
        array = plain(cx, node, call.array(name))
        b.prim("same", array.shape[-1], Lit(3))
        turned += [_turned(array, 1), _turned(array, 2)]

    def component(inner: Builder, x1: Operand, x2: Operand, *y: Operand) -> Operand:
        first, second = _times(inner, x1, y[1]), _times(inner, x2, y[0])
        return arithmetic(inner, ast.Sub(), first, second)

    return elementwise(cx, node, component, turned)


def _turned(array: Delayed, shift: int) -> Delayed:
    """An array of vectors of three whose components begin further on."""

    def element(b: Builder, indices: Indices) -> Operand:
        *rows, index = indices
        moved = b.prim("iadd", index, Lit(shift))
        back = b.prim("isub", moved, Lit(3))
        is_beyond = b.prim("ile", Lit(3), moved)
        return array.element(b, [*rows, b.prim("iselect", is_beyond, back, moved)])

    return Delayed((*array.shape[:-1], Lit(3)), array.elem, element, is_plain=True)


def _trace(call: Given) -> Value:
    array = call.array("a")
    if array.rank != 2:
        raise array_errors.wrong_rank(
            call.cx.span(call.node), call.name, "a matrix", array.type
        )
    offset = call.offset("offset")
    size, start = diagonal(call.builder, array, offset)

    def term(b: Builder, k: Operand) -> Operand:
        return to_int(b, array.element(b, start(b, k)))

    return sum_over(call.builder, size, term)


def diagonal(b: Builder, array: Delayed, offset: int) -> tuple[Operand, Place]:
    """The number of elements of a diagonal, and the indices of each."""
    rows, columns = array.shape
    down, right = max(-offset, 0), max(offset, 0)
    if down:
        rows = b.prim("imax", b.prim("isub", rows, Lit(down)), Lit(0))
    if right:
        columns = b.prim("imax", b.prim("isub", columns, Lit(right)), Lit(0))

    def place(inner: Builder, k: Operand) -> list[Operand]:
        first = inner.prim("iadd", k, Lit(down)) if down else k
        return [first, inner.prim("iadd", k, Lit(right)) if right else k]

    size = rows if same_size(rows, columns) else b.prim("imin", rows, columns)
    return size, place


PRODUCTS: tuple[LibraryFunction, ...] = (
    LibraryFunction(np.dot, "a b", _dot, "dot"),
    LibraryFunction(np.matmul, "a b", _matmul),
    LibraryFunction(np.inner, "a b", _inner),
    LibraryFunction(np.vdot, "a b", _vectors),
    LibraryFunction(np.outer, "a b", _outer),
    LibraryFunction(np.cross, "a b", _cross),
    LibraryFunction(np.trace, "a offset=0", _trace, "trace"),
)
