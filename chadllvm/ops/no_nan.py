"""`no_nan["{0} / {1}"](r, x, y)`: fails if r is a NaN and none of the others is.

That is where a NaN is made. The text shows the operation, for the message. What fails
is no matter of derivatives: the result, True, has none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.op import ProgramError, TypeRuleError, register_array_op
from chadllvm.ir.term import Apply, Lambda, Lit
from chadllvm.ir.types import BOOL, I64, Scalar, Type
from chadllvm.ops.index import Inactive

if TYPE_CHECKING:
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.term import Binding
    from chadllvm.lower.interface import Lowering


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
        if not args or not all(isinstance(ty, Scalar) for ty in args):
            raise TypeRuleError("no_nan: takes numbers")
        return (BOOL,)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        run.pay(1)
        result, *operands = args
        if math.isnan(result) and not any(map(math.isnan, operands)):
            raise ProgramError(FloatingPointError, self.message.format(*operands))
        return (True,)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        loops = lowering.loops
        result, *operands = map(lowering.atom, node.args)
        number = loops.let("feq", result, result)
        for x in operands:
            if x.type not in (I64, BOOL):
                number = loops.let("or", number, loops.let("fne", x, x))
        loops.check(
            number, "FloatingPointError", self.message, binding.span, *operands[:2]
        )
        lowering.bind(binding.vars[0], Lit(True))
