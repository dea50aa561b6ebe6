"""`append(a, v)`: the array a with one more element; `drop_last(a)`: with one less.

Each is the other's derivative: the cotangent of what was appended is the last element
of the cotangent, and what is left is the cotangent of the array before. The lowering
leaves room behind a growing array (`lower/growth.py`), so that an append takes a step
where nobody looks at the shorter array any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.build import lit
from chadllvm.ir.op import ArrayOp, TypeRuleError, register_array_op
from chadllvm.ir.term import Apply, Lambda, One, Var, literal
from chadllvm.ir.types import Array, Type, element
from chadllvm.ir.value import ArrayValue
from chadllvm.ops.index import Dim, Zeros
from chadllvm.ops.update import Update, own_part

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward
    from chadllvm.chad.transform import Chad, Rule
    from chadllvm.ir.build import Builder
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering
    from chadllvm.ir.term import Binding, Operand


@register_array_op
@dataclass(frozen=True)
class Append(ArrayOp):
    """`append(a, v)`; a row has the shape of the rows, if there are any."""

    name = "append"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        array, value = args
        if not isinstance(array, Array) or value != element(array, 1):
            raise TypeRuleError(f"append: {value} is no element of {array}")
        return (array,)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        """Pays for what is written, as if it were done in place."""
        array, value = args
        is_row = isinstance(value, ArrayValue) and len(array.shape) > 1
        row = value.data if is_row else [value]
        run.pay(1 + len(row))
        shape = (array.shape[0] + 1, *(value.shape if is_row else ()))
        return (ArrayValue(shape, [*array.data, *row]),)

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """D[append a v] = (append a v, fun d. one ca (drop_last d); one cv d[n])

        What is left of d comes first, as it is moved to a cell that is empty yet: v may
        be a row of a.
        """
        array, value = node.args
        with chad.backpropagator(binding, asked) as bp:
            (ct,) = bp.cts
            part: Operand | None = None
            if chad.is_active(value):
                assert isinstance(value, Var)
                size = bp.body.one(Apply(Dim(0), (ct,)))
                last = bp.body.prim("isub", size, lit(1))
                part = own_part(bp.body, ct, [last], f"{value.name}_ct")
            if chad.is_active(array):
                assert isinstance(array, Var)
                rest = bp.body.one(Apply(DropLast(), (ct,)), ct.name)
                bp.body.emit(One(bp.dual(array), (), rest))
            if part is not None:
                assert isinstance(value, Var)
                bp.body.emit(One(bp.dual(value), (), part))
        return bp.rule()

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        """The tangent of the element is appended to the tangent of the array."""
        out.bindings.append(binding)
        (var,) = binding.vars
        if forward.moves(var):
            tangents = tuple(forward.tangent(arg) for arg in node.args)
            forward.again((var,), Apply(self, tangents), out)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_append(binding, *node.args)


@register_array_op
@dataclass(frozen=True)
class DropLast(ArrayOp):
    """`drop_last(a)` of an array that has elements."""

    name = "drop_last"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        (array,) = args
        if not isinstance(array, Array):
            raise TypeRuleError(f"drop_last: {array} is not an array")
        return (array,)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        (array,) = args
        run.pay(1)
        rows, *rest = array.shape
        kept = len(array.data) // rows * (rows - 1)
        return (ArrayValue((rows - 1, *rest), list(array.data[:kept])),)

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """D[drop_last a] = (drop_last a, fun d. one ca (append d 0))"""
        (array,) = node.args
        with chad.backpropagator(binding, asked) as bp:
            if chad.is_active(array):
                assert isinstance(array, Var)
                (ct,) = bp.cts
                none = _zero_element(bp.body, ct)
                whole = bp.body.one(Apply(Append(), (ct, none)), ct.name)
                bp.body.emit(One(bp.dual(array), (), whole))
        return bp.rule()

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        forward.same(node, binding, out)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_drop_last(binding.vars[0], node.args[0])


def _zero_element(b: Builder, ct: Var) -> Operand:
    """Zero, or a row of zeros in the shape of the rows."""
    assert isinstance(ct.type, Array)
    if ct.type.rank == 1:
        return literal(0, ct.type.elem)
    dims = [b.one(Apply(Dim(axis), (ct,))) for axis in range(1, ct.type.rank)]
    return b.one(Apply(Zeros(ct.type.elem), tuple(dims)))


# What changes its first operand in Python, and may write to its buffer here.
WRITERS = Update, Append, DropLast
