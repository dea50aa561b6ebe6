"""Reading arrays: `index`, `dim`; making them: `zeros`, `empty`; references: `box`.

What loops make has the sizes of the rows that they make, and knows none where there are
no rows; `sized` says which they are then.

`index(a, i1, …, ik)` is the element, or the row if k is less than the rank. Its indices
are in range already (`bound` sees to that), so it never fails, and reading it again in
a backpropagator costs no check. A row is a view: neither its value nor its cell is a
copy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.op import ArrayOp, TypeRuleError, register_array_op
from chadllvm.ir.term import Apply, Lambda, Lit, One, Operand, Var, literal
from chadllvm.ir.types import (
    F32,
    F64,
    I64,
    Array,
    Box,
    Scalar,
    Type,
    element,
    has_pieces,
    is_float,
)
from chadllvm.ir.value import ArrayValue
from chadllvm.support.diagnostic import InternalError

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward
    from chadllvm.chad.transform import Chad, Rule
    from chadllvm.ir.build import Builder
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering
    from chadllvm.ir.term import Binding


def _is_array(ty: Type) -> Array:
    if not isinstance(ty, Array):
        raise TypeRuleError(f"{ty} is not an array")
    return ty


def _are_integers(types: Sequence[Type]) -> None:
    if any(t != I64 for t in types):
        raise TypeRuleError(f"not an integer among ({', '.join(map(str, types))})")


class Inactive(ArrayOp):
    """An operation without a derivative: its result holds no real numbers, or zeros."""

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        return chad.inactive(binding, asked)

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        """Zeros have other zeros for a tangent: either may be updated in place."""
        out.bindings.append(binding)
        if any(map(forward.moves, binding.vars)):
            forward.again(binding.vars, node, out)


class _Reference(ArrayOp):
    """Another name of an array: CHAD gives it the same cell, and needs no rule."""

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        raise InternalError(f"chad: no rule for {self.name}")


@register_array_op
@dataclass(frozen=True)
class Index(ArrayOp):
    """`index(a, i1, …, ik)`: an element or a row of an array."""

    name = "index"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        array = _is_array(args[0])
        _are_integers(args[1:])
        if not 1 <= len(args) - 1 <= array.rank:
            raise TypeRuleError(f"index: {len(args) - 1} indices into {array}")
        return (element(array, len(args) - 1),)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        run.pay(1)
        return (args[0].at(args[1:]),)

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """D[a ! i] = (a ! i, fun d. one ca.[i] d). Rows are views (`Chad.view`)."""
        array, indices = node.args[0], node.args[1:]
        assert isinstance(array, Var)
        with chad.backpropagator(binding, asked) as bp:
            bp.body.emit(One(bp.dual(array), indices, bp.cts[0]))
        return bp.rule()

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        forward.same(node, binding, out)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_index(binding.vars[0], node.args[0], node.args[1:])


@register_array_op
@dataclass(frozen=True)
class Dim(Inactive):
    """`dim[k](a)`: the k-th dimension of an array."""

    name = "dim"
    axis: int = 0

    @property
    def attributes(self) -> str:
        return str(self.axis)

    @classmethod
    def parse(cls, attributes: str) -> Dim:
        return cls(int(attributes))

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        array = _is_array(args[0])
        if not 0 <= self.axis < array.rank:
            raise TypeRuleError(f"dim: {array} has no axis {self.axis}")
        return (I64,)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        run.pay(1)
        return (args[0].shape[self.axis],)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_dim(binding.vars[0], node.args[0], self.axis)


@register_array_op
@dataclass(frozen=True)
class Empty(Inactive):
    """`empty[type]()`: an array of no elements, where a branch has none to give."""

    name = "empty"
    type: Array = Array(F64, 1)

    @property
    def attributes(self) -> str:
        return str(self.type)

    @classmethod
    def parse(cls, attributes: str) -> Empty:
        from chadllvm.ir.parse import parse_type

        return cls(_is_array(parse_type(attributes)))

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        return (self.type,)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        run.pay(1)
        return (ArrayValue((0,) * self.type.rank, []),)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_empty(binding.vars[0], self.type)


@register_array_op
@dataclass(frozen=True)
class Zeros(Inactive):
    """`zeros(d1, …, dr)`: an array of zeros; a negative dimension counts as 0.

    The elements are f64, or with `zeros[f32]` f32.
    """

    name = "zeros"
    elem: Type = F64

    @property
    def attributes(self) -> str:
        return "" if self.elem == F64 else str(self.elem)

    @classmethod
    def parse(cls, attributes: str) -> Zeros:
        return cls(F32 if attributes == str(F32) else F64)

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        _are_integers(args)
        if not is_float(self.elem):
            raise TypeRuleError(f"zeros: {self.elem} is no type of real numbers")
        return (Array(self.elem, len(args)),)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        shape = tuple(max(n, 0) for n in args)
        value = ArrayValue.filled(shape, 0.0)
        run.pay(1 + len(value.data))
        return (value,)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        assert isinstance(self.elem, Scalar)
        lowering.bind_zeros(binding.vars[0], node.args, self.elem)


@register_array_op
@dataclass(frozen=True)
class MakeBox(_Reference):
    """`box(a)`: a reference to an array, so that it can be an element."""

    name = "box"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        return (Box(_is_array(args[0])),)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        run.pay(1)
        return (args[0],)

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        forward.same(node, binding, out)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind(binding.vars[0], lowering.array(node.args[0]))


@register_array_op
@dataclass(frozen=True)
class Unbox(_Reference):
    """`unbox(b)`: the array that a box refers to."""

    name = "unbox"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        if not isinstance(args[0], Box):
            raise TypeRuleError(f"unbox: {args[0]} is not a box")
        return (args[0].content,)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        run.pay(1)
        return (args[0],)

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        forward.same(node, binding, out)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind(binding.vars[0], lowering.array(node.args[0]))


@register_array_op
@dataclass(frozen=True)
class Sized(_Reference):
    """`sized(a, d1, …)`: the array a, whose rows are of the sizes d1, …

    Rows that are there have these sizes; of an array without elements they are these. A
    negative one counts as 0. Further dimensions stay as they are.
    """

    name = "sized"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        array = _is_array(args[0])
        _are_integers(args[1:])
        if not 1 <= len(args) - 1 < array.rank:
            raise TypeRuleError(f"sized: {len(args) - 1} sizes of rows of {array}")
        return (array,)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        run.pay(1)
        array, *sizes = args
        count, *rest = array.shape
        shape = (count, *(max(n, 0) for n in sizes), *rest[len(sizes) :])
        if shape != array.shape and (array.data or math.prod(shape)):
            raise InternalError(f"rows of {array.shape} that are of {sizes}")
        return (ArrayValue(shape, array.data),)

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        forward.same(node, binding, out)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_sized(binding.vars[0], node.args[0], node.args[1:])


def sized(out: Builder, array: Operand, shape: Sequence[Operand]) -> Var:
    """What loops have made as an array of this shape, also where it has no rows.

    Where there are rows all the way, they tell. `shape` may lack the last sizes.
    """
    assert isinstance(array, Var) and isinstance(array.type, Array)
    has_rows = all(isinstance(n, Lit) and n.value > 0 for n in shape[:-1])
    if has_rows or has_pieces(array.type.elem):
        return array
    return out.one(Apply(Sized(), (array, *shape[1:])), array.name)


def nothing(out: Builder, ty: Type) -> Operand:
    """A value of this type that nobody looks at."""
    match ty:
        case Scalar():
            return literal(0, ty)
        case Array():
            return out.one(Apply(Empty(ty), ()))
        case Box(content):
            return out.one(Apply(MakeBox(), (nothing(out, content),)))
        case _:
            raise InternalError(f"no value of type {ty} is at hand")
