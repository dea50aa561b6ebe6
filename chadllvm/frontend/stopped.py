"""`cl.stop_gradient(x)`: the reals in x go through `stop`, one by one.

    cl.stop_gradient(a)        →   build(n) { i -> yield stop(a[i]) }
    cl.stop_gradient((x, n))   →   (stop(x), n)

The array is a new one, so that its zero derivative costs no more than it does; so are
the nodes of recursive data.
"""

from __future__ import annotations

from chadllvm.errors import reference_errors
from chadllvm.frontend.delayed import Value, build_nest, elementwise
from chadllvm.frontend.given import Given, LibraryFunction
from chadllvm.frontend.marks import mark_joined, mark_of
from chadllvm.frontend.packed import is_packable, packed, unpacked
from chadllvm.frontend.width import as_weak, component, product
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Apply, Case, Inject, Lambda, Operand, Tuple, Var
from chadllvm.ir.types import (
    Array,
    Box,
    Product,
    Scalar,
    Sum,
    has_float,
    holds_reference,
    is_float,
)
from chadllvm.ops.index import Dim, Index, MakeBox, Unbox
from chadllvm.support import library


def _stop_gradient(call: Given) -> Value:
    value = call.lazy("x")
    if isinstance(value.type, Array) and isinstance(value.type.elem, Scalar):
        array = elementwise(call.cx, call.node, stopped, [value])
        mark_joined(call.cx, array, [value], mark_of(call.cx, value))
        return array
    made = call.cx.make(call.cx, call.node, value)
    if not holds_reference(value.type):
        result = stopped(call.builder, made)
        mark_joined(call.cx, result, [made], mark_of(call.cx, made))
        return result
    if not is_packable(value.type):
        raise reference_errors.mixed(call.cx.span(call.node), value.type)
    first, *nodes = (stopped(call.builder, p) for p in packed(call.builder, made))
    return unpacked(call.builder, first, nodes)


def stopped(b: Builder, value: Operand) -> Operand:
    """The same value; its reals have no derivatives."""
    if not has_float(value.type):
        return value
    match value.type:
        case Product(fields, names):
            parts = [stopped(b, component(b, value, k)) for k in range(len(fields))]
            return product(b, Tuple(tuple(parts), names))
        case Sum():
            return b.one(Case(value, _branches(b, value.type)))
        case Array(_, rank):
            sizes = tuple(b.one(Apply(Dim(axis), (value,))) for axis in range(rank))
            return build_nest(
                b, sizes, lambda b, i: stopped(b, b.one(Apply(Index(), (value, *i))))
            )
        case Box():
            content = stopped(b, b.one(Apply(Unbox(), (value,))))
            return b.one(Apply(MakeBox(), (content,)))
        case _:
            assert is_float(value.type)
            return as_weak(b, b.prim("stop", value), (value,))


def _branches(b: Builder, ty: Sum) -> tuple[Lambda, ...]:
    """For each constructor the same one, of what it holds stopped."""
    found = []
    for index, payload in enumerate(ty.payloads):
        param, inner = Var("held", payload), b.child()
        again = inner.one(Inject(ty, index, stopped(inner, param)))
        found.append(Lambda((param,), inner.block([again])))
    return tuple(found)


STOPPED: tuple[LibraryFunction, ...] = (
    LibraryFunction(library.stop_gradient, "x", _stop_gradient),
)
