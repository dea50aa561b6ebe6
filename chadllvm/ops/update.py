"""`update(a, i1, …, ik, v)`: the array a with one element, or one row, replaced.

`a` itself stays what it is. Where nobody looks at it any more the lowering writes to
its buffer (`lower/inplace.py`), so that a loop of updates takes a step each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.build import Builder
from chadllvm.ir.op import ArrayOp, TypeRuleError, register_array_op
from chadllvm.ir.term import Apply, Lambda, One, Operand, Var, literal
from chadllvm.ir.types import I64, Array, Type, element
from chadllvm.ir.value import ArrayValue, locate
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index, Zeros
from chadllvm.support.diagnostic import InternalError

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward
    from chadllvm.chad.transform import Chad, Rule
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering
    from chadllvm.ir.term import Binding


@register_array_op
@dataclass(frozen=True)
class Update(ArrayOp):
    """`update(a, i1, …, ik, v)`; the indices are in range, a row has a row's shape."""

    name = "update"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        array = args[0]
        if not isinstance(array, Array):
            raise TypeRuleError(f"update: {array} is not an array")
        indices, value = args[1:-1], args[-1]
        if any(ty != I64 for ty in indices) or not 1 <= len(indices) <= array.rank:
            found = ", ".join(map(str, indices))
            raise TypeRuleError(f"update: ({found}) are no indices into {array}")
        if value != element(array, len(indices)):
            raise TypeRuleError(f"update: {value} is not in {array}")
        return (array,)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        """Pays for what is written, as if it were done in place."""
        array, *indices, value = args
        offset, rest = locate(array.shape, indices)
        if rest and value.shape != rest:
            raise InternalError(f"a row of {value.shape} put into {array.shape}")
        size = math.prod(rest)
        run.pay(size)
        data = list(array.data)
        data[offset : offset + size] = value.data if rest else [value]
        return (ArrayValue(array.shape, data),)

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """D[a with [i] = v] = (a with [i] = v, fun d. one ca (d with [i] = 0), one cv
        d[i]): the cotangent is handed on with the same buffer.

        That comes first, for v may be a row of a: then one of its cells is a part of
        the other, which is still empty here and takes the buffer over.
        """
        array, *indices, value = node.args
        with chad.backpropagator(binding, asked) as bp:
            (ct,) = bp.cts
            if chad.is_active(value):
                assert isinstance(value, Var)
                part = own_part(bp.body, ct, indices, f"{value.name}_ct")
            if chad.is_active(array):
                assert isinstance(array, Var)
                none = _zero(bp.body, ct, indices)
                rest = bp.body.one(Apply(self, (ct, *indices, none)), ct.name)
                bp.body.emit(One(bp.dual(array), (), rest))
            if chad.is_active(value):
                assert isinstance(value, Var)
                bp.body.emit(One(bp.dual(value), (), part))
        return bp.rule()

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        """The tangent of the part is put into the tangent of the array."""
        out.bindings.append(binding)
        (var,) = binding.vars
        if forward.moves(var):
            array, *indices, value = node.args
            tangents = (forward.tangent(array), *indices, forward.tangent(value))
            forward.again((var,), Apply(self, tangents), out)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        lowering.bind_update(binding, node.args)


@register_array_op
@dataclass(frozen=True)
class Replace(Update):
    """`replace(a, i, v)`: what is written is a list's, which refers to its items.

    In Python no item is changed by it, so it matters only who has the list.
    """

    name = "replace"


def own_part(b: Builder, ct: Var, indices: Sequence[Operand], name: str) -> Var:
    """A part of a cotangent; a row is copied, so that the rest can be handed on."""
    assert isinstance(ct.type, Array)
    if len(indices) == ct.type.rank:
        return b.one(Apply(Index(), (ct, *indices)), name)
    index, inner = Var("k", I64), b.child()
    part = own_part(inner, ct, [*indices, index], name)
    size = b.one(Apply(Dim(len(indices)), (ct,)))
    body = Lambda((index,), inner.block([part]))
    return b.apply(Build(), [size], [body], [name])[0]


def _zero(b: Builder, ct: Var, indices: Sequence[Operand]) -> Operand:
    """Zeros in the shape of a part of a cotangent."""
    assert isinstance(ct.type, Array)
    axes = range(len(indices), ct.type.rank)
    if not axes:
        return literal(0, ct.type.elem)
    dims = [b.one(Apply(Dim(axis), (ct,))) for axis in axes]
    return b.one(Apply(Zeros(ct.type.elem), tuple(dims)))
