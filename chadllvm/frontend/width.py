"""Which floats numbers become where they meet: f64 or f32.

    x: f32, a: f64, n: i64      x * n, x * 2.0, x + math.pi    →   f32
                                a * n, n / 2, a * 2.0          →   f64
                                x * a                          →   refused

A Python number has no width of its own. It is *weak*, and so is what is computed from
such numbers alone: beside an f32 it is an f32, else an f64. What the user calls f64, an
argument say, is one; that and an f32 meet only by a conversion that is written down.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from chadllvm.errors import type_errors
from chadllvm.frontend.references import opened
from chadllvm.ir.build import Builder
from chadllvm.ir.term import (
    UNNAMED,
    Binding,
    Case,
    Lambda,
    Lit,
    Operand,
    Proj,
    Tuple,
    Var,
    literal,
)
from chadllvm.ir.types import BOOL, F32, F64, Array, Type, holds, is_float
from chadllvm.ir.union import is_varied
from chadllvm.ops.index import Index

if TYPE_CHECKING:
    from chadllvm.frontend.delayed import Value


class WeakNumber(Var):
    """An f64 that only Python's own numbers have gone into."""

    __slots__ = ()


class WeakProduct(Var):
    """A tuple or dictionary whose components at the positions in `weak` are weak."""

    __slots__ = ("weak",)

    def __init__(self, name: str, type: Type, weak: frozenset[int]) -> None:
        super().__init__(name, type)
        self.weak = weak


class WeakList(Var):
    """A list of f64 that only Python's own numbers have gone into."""

    __slots__ = ()


def is_weak(value: Value) -> bool:
    """Whether this is a float without a width of its own."""
    if isinstance(value, Lit):
        return value.type == F64
    return isinstance(value, WeakNumber)


def may_be_weak(value: object) -> bool:
    """Whether what begins so, or becomes so, is weak if it is a float."""
    return isinstance(value, Lit | WeakNumber)


def new_state(name: str, ty: Type, weak: bool) -> Var:
    """A variable of this type, weak if it may be."""
    return WeakNumber(name, ty) if weak and ty == F64 else Var(name, ty)


def weakened(b: Builder, result: Var) -> Var:
    """A weak variable in the place of one that the last binding has bound."""
    last = b.bindings[-1]
    kind = WeakList if isinstance(result.type, Array) else WeakNumber
    weak = kind(result.name, result.type)
    variables = tuple(weak if var is result else var for var in last.vars)
    b.bindings[-1] = Binding(variables, last.expr, last.span)
    return weak


def as_weak(b: Builder, result: Operand, sources: Iterable[Value]) -> Operand:
    """A result, weak if it is a float and all floats that it comes from are.

    `sources` are what it is computed from, or chosen of.
    """
    floats = [source for source in sources if is_float(source.type)]
    if not floats or not all(map(is_weak, floats)):
        return result
    is_last = bool(b.bindings) and result in b.bindings[-1].vars
    if type(result) is Var and result.type == F64 and is_last:
        return weakened(b, result)
    return result


def weak_list(b: Builder, made: Var, is_loose: bool) -> Var:
    """The list just made, which is `is_loose` if all that was put into it is weak."""
    is_real = isinstance(made.type, Array) and made.type.elem == F64
    is_last = bool(b.bindings) and made in b.bindings[-1].vars
    return weakened(b, made) if is_loose and is_real and is_last else made


def is_loose(value: Value) -> bool:
    """Whether this is a weak number, or a list of such."""
    return is_weak(value) or isinstance(value, WeakList)


def item(b: Builder, array: Operand, *indices: Operand) -> Var:
    """An element of an array, or a row."""
    part = held(b, b.apply(Index(), [array, *indices])[0])
    assert isinstance(part, Var)
    return weakened(b, part) if isinstance(array, WeakList) else part


def held(b: Builder, value: Operand) -> Operand:
    """An element of a list, which may be of a union of one: what that holds."""
    if not is_varied(value.type):
        return value
    inside = Var("held", value.type.payloads[0])
    return b.one(Case(value, (Lambda((inside,), b.child().block([inside])),)))


def product(b: Builder, expr: Tuple, name: str = UNNAMED) -> Var:
    """A product, which remembers which of its components are weak."""
    var = b.one(expr, name)
    weak = frozenset(k for k, part in enumerate(expr.args) if is_weak(part))
    if not weak:
        return var
    last = b.bindings[-1]
    loose = WeakProduct(name, var.type, weak)
    b.bindings[-1] = Binding((loose,), last.expr, last.span)
    return loose


def component(b: Builder, value: Operand, index: int) -> Var:
    """A component of a product, or a field of the node that one refers to."""
    part = b.one(Proj(opened(b, value), index))
    is_loose = isinstance(value, WeakProduct) and index in value.weak
    return weakened(b, part) if is_loose else part


def common_float(b: Builder, values: Iterable[Value]) -> Type:
    """The float that these numbers become together.

    Raises:
        CompileError: if there are f32 and f64 among them.
    """
    strong = {v.type for v in values if is_float(v.type) and not is_weak(v)}
    if len(strong) > 1:
        raise type_errors.mixed_widths(b.span)
    return strong.pop() if strong else F64


def float_of(ty: Type) -> Type:
    """The float that a number of this type is, or becomes."""
    return F32 if ty == F32 else F64


def floats(b: Builder, *values: Operand) -> list[Operand]:
    """The numbers as floats, all of one width."""
    ty = common_float(b, values)
    return [to_width(b, value, ty) for value in values]


def to_float(b: Builder, value: Operand) -> Operand:
    """A number as a float: an f64, unless it is an f32."""
    return value if value.type == F32 else to_width(b, value, F64)


def to_width(b: Builder, value: Operand, ty: Type) -> Operand:
    """A number as a float of this type."""
    if value.type == ty:
        return value
    if isinstance(value, Lit):
        return literal(value.value, ty)
    if is_float(value.type):
        return b.prim("narrow" if ty == F32 else "widen", value)
    if value.type == BOOL:
        value = b.prim("bool_to_int", value)
    return b.prim("to_single" if ty == F32 else "to_float", value)


def to_double(b: Builder, value: Operand) -> Operand:
    """`np.float64(x)`: an f64 for good, even of a literal."""
    value = to_width(b, value, F64)
    # Variables are made strong by a name of their own: --x is x, to the last bit.
    return b.prim("neg", b.prim("neg", value)) if is_weak(value) else value


def to_python_float(b: Builder, value: Operand) -> Operand:
    """`float(x)`: Python's, which has the digits of an f64 and no width of its own."""
    made = to_width(b, value, F64)
    return weakened(b, made) if isinstance(made, Var) and made is not value else made


def to_single(b: Builder, value: Operand) -> Operand:
    """`np.float32(x)`"""
    return to_width(b, value, F32)


def weak_positions(
    operands: Sequence[Operand], around: Iterable[Var] = ()
) -> frozenset[int]:
    """The weak ones among arguments, where it matters: beside an f32.

    That is another argument, or one of those `around`, of the function that calls.
    """
    if not any(holds(operand.type, F32) for operand in (*operands, *around)):
        return frozenset()
    return frozenset(k for k, operand in enumerate(operands) if is_weak(operand))
