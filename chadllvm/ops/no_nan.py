"""`no_nan["{0} / {1}"](r, x, y)`: fails if r is a NaN and none of the others is.

That is where a NaN is made. The text shows the operation, for the message. What fails
is no matter of derivatives: the result, True, has none. An array alone fails if one of
its elements is a NaN, which the runtime sees (`numbers.c`): all programs that ask for
this in the end have the one loop.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.op import ProgramError, TypeRuleError, register_array_op
from chadllvm.ir.term import Apply, Lambda, Lit
from chadllvm.ir.types import BOOL, I64, Array, Scalar, Type, is_float
from chadllvm.ir.value import ArrayValue
from chadllvm.ops.index import Inactive

if TYPE_CHECKING:
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering
    from chadllvm.ir.term import Binding


@register_array_op
@dataclass(frozen=True)
class NoNan(Inactive):
    """`no_nan[text](result, operands…)`"""

    name = "no_nan"
    can_fail = True
    text: str = "{0}"

    @property
    def attributes(self) -> str:
        return json.dumps(self.text)

    @classmethod
    def parse(cls, attributes: str) -> NoNan:
        return cls(json.loads(attributes))

    @property
    def message(self) -> str:
        return f"{self.text} is nan"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        numbers = all(isinstance(ty, Scalar) for ty in args)
        if not args or not (numbers or _is_of_reals(args)):
            raise TypeRuleError("no_nan: takes numbers, or one array of reals")
        return (BOOL,)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        result, *operands = args
        if isinstance(result, ArrayValue):
            run.pay(len(result.data))
            if any(map(math.isnan, result.data)):
                raise ProgramError(FloatingPointError, self.message)
            return (True,)
        run.pay(1)
        if math.isnan(result) and not any(map(math.isnan, operands)):
            raise ProgramError(FloatingPointError, self.message.format(*operands))
        return (True,)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        loops = lowering.loops
        if isinstance(node.args[0].type, Array):
            found = lowering.nan_in(node.args[0])
            number = loops.let("ieq", found, Lit(0))
            loops.check(number, "FloatingPointError", self.message, binding.span)
            lowering.bind(binding.vars[0], Lit(True))
            return
        result, *operands = map(lowering.atom, node.args)
        number = loops.let("feq", result, result)
        for x in operands:
            if x.type not in (I64, BOOL):
                number = loops.let("or", number, loops.let("fne", x, x))
        loops.check(
            number, "FloatingPointError", self.message, binding.span, *operands[:2]
        )
        lowering.bind(binding.vars[0], Lit(True))


def _is_of_reals(args: Sequence[Type]) -> bool:
    match args:
        case [Array(Scalar() as elem)]:
            return is_float(elem)
        case _:
            return False
