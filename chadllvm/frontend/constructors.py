"""Arrays from sizes and numbers: `np.zeros`, `np.arange`, `np.eye`, `np.diag`, ….

They stay delayed: `x + np.arange(n)` makes no array of the numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np

from chadllvm.errors import array_errors, call_errors, flow_errors, type_errors
from chadllvm.frontend.arithmetic import (
    convert,
    is_number,
    promoted,
    truncated,
    truth,
)
from chadllvm.frontend.delayed import (
    Delayed,
    Element,
    Indices,
    Value,
    broadcast_shape,
    broadcast_to,
    converted,
    delayed,
    filled,
    for_sizes,
    is_array,
    is_number_operand,
    plain,
)
from chadllvm.frontend.given import Given, LibraryFunction, as_size
from chadllvm.frontend.products import diagonal
from chadllvm.frontend.ragged import ragged, regular
from chadllvm.frontend.sizes import checked, size_of
from chadllvm.frontend.stacking import displayed, of_tuple
from chadllvm.frontend.width import floats, to_width
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Block, If, Lit, Operand, literal
from chadllvm.ir.types import BOOL, F64, I64, Scalar, is_float, list_names


def _constant(value: int) -> Callable[[Given], Value]:
    return lambda call: filled(call.shape("shape"), literal(value, call.dtype(F64)))


def _sized(call: Given) -> Delayed:
    return for_sizes(call.cx, call.nodes["a"], call.array("a"))


def _constant_like(value: int) -> Callable[[Given], Value]:
    def meaning(call: Given) -> Value:
        array = _sized(call)
        assert isinstance(array.elem, Scalar)
        return filled(array.shape, literal(value, call.dtype(array.elem)))

    return meaning


def _number(call: Given, name: str) -> Operand:
    value = call.value(name)
    if not is_number(value.type):
        span = call.cx.span(call.nodes[name])
        raise type_errors.not_a_number(span, f"`{call.name}`", value.type)
    return value


def _as_type(call: Given, value: Operand, ty: Scalar) -> Operand:
    """A number as one of this type, as NumPy converts it."""
    return as_scalar(call.builder, value, ty)


def as_scalar(b: Builder, value: Operand, ty: Scalar) -> Operand:
    """The same in a block: floats become integers by dropping the fraction."""
    if ty == BOOL:
        return truth(b, value)
    return truncated(b, value) if ty == I64 else to_width(b, value, ty)


def _full(call: Given) -> Value:
    shape = call.shape("shape")
    value = _number(call, "fill_value")
    assert isinstance(value.type, Scalar)
    return filled(shape, _as_type(call, value, call.dtype(value.type)))


def _full_like(call: Given) -> Value:
    array, value = _sized(call), _number(call, "fill_value")
    assert isinstance(array.elem, Scalar)
    return filled(array.shape, _as_type(call, value, call.dtype(array.elem)))


# ---- sequences of numbers --------------------------------------------------------


def _arange(call: Given) -> Value:
    """`np.arange(stop)` or `np.arange(start, stop, step)`, of integers or floats."""
    b = call.builder
    first = _number(call, "start")
    start, stop = (first, _number(call, "stop")) if "stop" in call else (Lit(0), first)
    step = _number(call, "step") if "step" in call else Lit(1)
    start, stop, step = promoted(b, start, stop, step)
    if isinstance(step, Lit) and step.value == 0:
        raise flow_errors.zero_step(call.cx.span(call.nodes["step"]))
    count = _count(call, start, stop, step)
    one, multiply, add = Lit(1), "imul", "iadd"
    if is_float(start.type):
        multiply, add = "mul", "add"

    def element(inner: Builder, indices: Indices) -> Operand:
        index = convert(inner, indices[0], step.type)
        if step not in (one, Lit(1.0)):
            index = inner.prim(multiply, index, step)
        return index if start == Lit(0) else inner.prim(add, start, index)

    array = Delayed((count,), start.type, element, is_plain=True)
    assert isinstance(start.type, Scalar)
    return converted(array, call.dtype(start.type))


def _count(call: Given, start: Operand, stop: Operand, step: Operand) -> Operand:
    """How many numbers there are from start to stop."""
    b = call.builder
    if start.type == I64:
        return size_of(b, b.prim("imax", _integers(b, start, stop, step), Lit(0)))
    steps = b.prim("div", b.prim("sub", start, stop), step)
    down = b.prim("minimum", b.prim("floordiv", steps, Lit(1.0)), Lit(0.0))
    return size_of(b, b.prim("span", Lit(0), b.prim("truncate", down)))


def _integers(b: Builder, start: Operand, stop: Operand, step: Operand) -> Operand:
    """The same of integers, or a negative number if there are none."""
    if step == Lit(1):
        return stop if start == Lit(0) else b.prim("span", stop, start)
    if not isinstance(step, Lit):
        b.prim("ifloordiv", start, step)  # By zero it fails, as NumPy does.
    return b.prim("steps", start, stop, step)


def _linspace(call: Given) -> Value:
    """The last number is `stop` itself, as far as rounding is concerned too."""
    b = call.builder
    start, stop = floats(b, *(_number(call, name) for name in ("start", "stop")))
    assert isinstance(start.type, Scalar)
    elem = call.dtype(start.type)
    count: Operand = Lit(50)
    if "num" in call:
        count = as_size(call.cx, call.nodes["num"], call.integer("num"))
    ends = "endpoint" not in call.nodes or call.flag("endpoint")
    parts = b.prim("isub", count, Lit(1)) if ends else count
    parts = b.prim("imax", parts, Lit(1))
    step = b.prim("div", b.prim("sub", stop, start), to_width(b, parts, start.type))

    def element(inner: Builder, indices: Indices) -> Operand:
        (index,) = indices
        moved = inner.prim("mul", to_width(inner, index, step.type), step)
        value = inner.prim("add", start, moved)
        is_last = inner.prim("ieq", index, parts)
        return inner.prim("select", is_last, stop, value) if ends else value

    array = Delayed((count,), start.type, element, is_plain=True)
    return converted(array, elem)


# ---- matrices --------------------------------------------------------------------


def _where_equal(ty: Scalar, offset: int) -> Element:
    """1 on a diagonal, else 0."""

    def element(b: Builder, indices: Indices) -> Operand:
        row, column = indices
        place = b.prim("iadd", row, Lit(offset)) if offset else row
        return convert(b, b.prim("ieq", place, column), ty)

    return element


def _eye(call: Given) -> Value:
    rows = as_size(call.cx, call.nodes["N"], call.integer("N"))
    columns = rows
    if "M" in call:
        columns = as_size(call.cx, call.nodes["M"], call.integer("M"))
    ty = call.dtype(F64)
    offset = call.offset()
    shape = checked(call.builder, (rows, columns))
    return Delayed(shape, ty, _where_equal(ty, offset), is_plain=True)


def _diag(call: Given) -> Value:
    """A matrix with this diagonal, or the diagonal of a matrix."""
    array = call.array("v")
    offset = call.offset()
    if array.rank == 2:
        return _diagonal(call)
    if array.rank != 1:
        raise array_errors.wrong_rank(
            call.cx.span(call.node), call.name, "a vector or a matrix", array.type
        )
    return _diagonal_matrix(call, plain(call.cx, call.node, array), offset)


def _diagonal(call: Given) -> Value:
    """The diagonal of a matrix."""
    array = plain(call.cx, call.node, call.array("v"))
    if array.rank != 2:
        raise array_errors.wrong_rank(
            call.cx.span(call.node), call.name, "a matrix", array.type
        )
    offset = call.offset()
    size, place = diagonal(call.builder, array, offset)

    def element(b: Builder, indices: Indices) -> Operand:
        return array.element(b, place(b, indices[0]))

    view = array.made or array.view_of
    return Delayed((size,), array.elem, element, is_plain=True, view_of=view)


def _diagonal_matrix(call: Given, vector: Delayed, offset: int) -> Delayed:
    (size,), elem = vector.shape, vector.elem
    assert isinstance(elem, Scalar)
    if offset:
        size = call.builder.prim("iadd", size, Lit(abs(offset)))
    down, right = max(-offset, 0), max(offset, 0)

    def element(b: Builder, indices: Indices) -> Operand:
        row, column = indices
        place = b.prim("isub", row, Lit(down)) if down else row
        other = b.prim("isub", column, Lit(right)) if right else column
        hit = b.prim("ieq", place, other)
        return chosen(
            b, hit, lambda inner: vector.element(inner, [place]), literal(0, elem)
        )

    return Delayed(checked(call.builder, (size, size)), elem, element)


def chosen(
    b: Builder, test: Operand, value: Callable[[Builder], Operand], other: Operand
) -> Operand:
    """The value where the test holds, which is not computed elsewhere."""
    inner = b.child()
    then = inner.block([value(inner)])
    return b.one(If(test, then, Block((), (other,))))


def _triangle(keeps_lower: bool) -> Callable[[Given], Value]:
    """`np.tril` and `np.triu`: the rest is zero."""

    def meaning(call: Given) -> Value:
        array = call.array("m")
        if array.rank != 2:
            raise array_errors.wrong_rank(
                call.cx.span(call.node), call.name, "a matrix", array.type
            )
        offset = call.offset()
        assert isinstance(array.elem, Scalar)
        zero = literal(0, array.elem)

        def element(b: Builder, indices: Indices) -> Operand:
            row, column = indices
            limit = b.prim("iadd", row, Lit(offset)) if offset else row
            pair = (column, limit) if keeps_lower else (limit, column)
            kept = b.prim("ile", *pair)
            return chosen(b, kept, lambda inner: array.element(inner, indices), zero)

        return Delayed(array.shape, array.elem, element)

    return meaning


# ---- conversions and copies ------------------------------------------------------


def _array(call: Given) -> Value:
    """`np.array`: of a list or tuple written out, or a copy of an array."""
    return _copied(call, _asarray(call))


def _asarray(call: Given) -> Delayed:
    node = call.nodes["a"]
    stars = isinstance(node, ast.List) and any(
        isinstance(part, ast.Starred) for part in node.elts
    )
    if isinstance(node, ast.List | ast.Tuple) and not stars:
        return _with_type(call, displayed(call.cx, node, node.elts))
    return _with_type(call, _as_array(call, call.lazy("a")))


def _as_array(call: Given, value: Value) -> Delayed:
    if not isinstance(value, Delayed) and list_names(value.type) is not None:
        xs = ragged(call.cx, call.node, value)
        if xs.names.depth == 1:
            return regular(call.cx, call.node, xs)
    found = of_tuple(call.cx, call.node, value)
    if found is not None:
        return found
    if not is_array(value):
        raise call_errors.wrong_operand(
            call.cx.span(call.nodes["a"]), call.name, "an array or a list", value.type
        )
    array = delayed(call.cx, call.node, value)
    return _copied(call, array) if value in call.cx.lists else array


def _with_type(call: Given, array: Delayed) -> Delayed:
    """The array with the elements' type that is asked for."""
    if "dtype" not in call:
        return array
    return as_type(array, call.dtype(F64))


def as_type(array: Delayed, ty: Scalar) -> Delayed:
    """The array converted: floats to integers by dropping the fraction."""
    if array.elem == ty:
        return array

    def element(b: Builder, indices: Indices) -> Operand:
        return as_scalar(b, array.element(b, indices), ty)

    return Delayed(array.shape, ty, element)


def _copied(call: Given, array: Delayed) -> Delayed:
    """A new array of the same elements, whatever becomes of the other."""
    return Delayed(array.shape, array.elem, array.element, array.is_plain)


def _copy(call: Given) -> Value:
    return _copied(call, call.array("a"))


def _astype(call: Given) -> Value:
    array = as_type(call.array("a"), call.dtype(F64))
    return _copied(call, array)


def _broadcast_to(call: Given) -> Value:
    value, shape = call.lazy("a"), call.shape("shape")
    if is_number_operand(value) and is_number(value.type):
        return filled(shape, value)
    array = call.array_in(call.nodes["a"], value)
    if array.rank > len(shape):
        raise array_errors.wrong_rank(
            call.cx.span(call.node), call.name, "at most as many as sizes", array.type
        )
    ahead = len(shape) - array.rank
    for size, wanted in zip(array.shape, shape[ahead:], strict=True):
        if size != Lit(1) and size is not wanted:
            broadcast_shape(call.cx, call.node, [(size,), (wanted,)])
    return broadcast_to(call.cx, call.node, array, shape)


CONSTRUCTORS: tuple[LibraryFunction, ...] = (
    LibraryFunction(np.zeros, "shape dtype=float", _constant(0)),
    LibraryFunction(np.ones, "shape dtype=float", _constant(1)),
    LibraryFunction(np.empty, "shape dtype=float", _constant(0)),
    LibraryFunction(np.ndarray, "shape dtype=float", _constant(0)),
    LibraryFunction(np.full, "shape fill_value dtype=None", _full),
    LibraryFunction(np.zeros_like, "a dtype=None", _constant_like(0)),
    LibraryFunction(np.ones_like, "a dtype=None", _constant_like(1)),
    LibraryFunction(np.empty_like, "a dtype=None", _constant_like(0)),
    LibraryFunction(np.full_like, "a fill_value dtype=None", _full_like),
    LibraryFunction(np.arange, "start stop=None step=1 * dtype=None", _arange),
    LibraryFunction(
        np.linspace, "start stop num=50 endpoint=True * dtype=None", _linspace
    ),
    LibraryFunction(np.eye, "N M=None k=0 dtype=float", _eye),
    LibraryFunction(np.identity, "N dtype=float", _eye),
    LibraryFunction(np.diag, "v k=0", _diag),
    LibraryFunction(np.diagonal, "v k=0", _diagonal, "diagonal"),
    LibraryFunction(np.tril, "m k=0", _triangle(keeps_lower=True)),
    LibraryFunction(np.triu, "m k=0", _triangle(keeps_lower=False)),
    LibraryFunction(np.array, "a dtype=None", _array),
    LibraryFunction(np.asarray, "a dtype=None", _asarray),
    LibraryFunction(np.asanyarray, "a dtype=None", _asarray),
    LibraryFunction(np.ascontiguousarray, "a dtype=None", _asarray),
    LibraryFunction(np.copy, "a", _copy, "copy"),
    LibraryFunction(np.broadcast_to, "a shape", _broadcast_to),
)

# What there is as a method only.
CONVERSIONS: tuple[LibraryFunction, ...] = (
    LibraryFunction(None, "a dtype", _astype, "astype"),
)
