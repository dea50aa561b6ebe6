"""Cotangents of arrays whose elements hold arrays of sizes of their own.

    with_reals[type](ct, xs)    the array with the reals of `ct`, all else from xs
    reals(rows, xs)             the reals of such an array, each where that of xs is

CHAD's cotangent of such an array xs has an array for each leaf that is real (see
`simplify/pieces.py`). As rows it is an array of the same sums, which hold cotangents,
that a program may take apart. Both are gone once sums are (`simplify/flatten.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.op import ArrayOp, TypeRuleError, register_array_op
from chadllvm.ir.term import Apply, Lambda
from chadllvm.ir.types import F64, Array, Type, cotangent_type
from chadllvm.support.diagnostic import InternalError

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward
    from chadllvm.chad.transform import Chad, Rule
    from chadllvm.ir.build import Builder
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering
    from chadllvm.ir.term import Binding


class _Flattened(ArrayOp):
    """What is there as long as there are sums."""

    def _early(self) -> InternalError:
        return InternalError(f"{self.name}: sums are not flattened yet")

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        raise self._early()

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        raise self._early()

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        raise self._early()

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        raise self._early()


@register_array_op
@dataclass(frozen=True)
class WithReals(_Flattened):
    """`with_reals[type](ct, xs)`"""

    name = "with_reals"
    type: Array = Array(F64, 1)

    @property
    def attributes(self) -> str:
        return str(self.type)

    @classmethod
    def parse(cls, attributes: str) -> WithReals:
        from chadllvm.ir.parse import parse_type

        ty = parse_type(attributes)
        if not isinstance(ty, Array):
            raise ValueError(attributes)
        return cls(ty)

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        ct, whole = args
        if cotangent_type(whole) != ct:
            raise TypeRuleError(f"with_reals: {ct} is no cotangent of {whole}")
        return (self.type,)


@register_array_op
@dataclass(frozen=True)
class Reals(_Flattened):
    """`reals(rows, xs)`: a row for each element of xs, with arrays of its sizes."""

    name = "reals"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        if not all(isinstance(ty, Array) for ty in args):
            raise TypeRuleError(f"reals: ({', '.join(map(str, args))}) are no arrays")
        return (cotangent_type(args[1]),)
