"""`require[kind "message"](ok, v…)`: leaves the program with an exception unless ok.

It is what `assert` and `raise` become. It has no result: what it does is to fail, so it
is never removed, and nothing that can fail moves across it. The message is a format
string, in which `{0}`, `{1}`, … stand for the values.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chadllvm.ir.op import ProgramError, TypeRuleError, register_array_op
from chadllvm.ir.term import Apply, Lambda
from chadllvm.ir.types import BOOL, Scalar, Type
from chadllvm.ops.index import Inactive

if TYPE_CHECKING:
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering
    from chadllvm.ir.term import Binding


@register_array_op
@dataclass(frozen=True)
class Require(Inactive):
    """`require[kind "message"](ok, v…)`; `kind` names an exception class."""

    name = "require"
    can_fail = True
    kind: str = "AssertionError"
    message: str = ""

    @property
    def attributes(self) -> str:
        return f"{self.kind} {json.dumps(self.message)}"

    @classmethod
    def parse(cls, attributes: str) -> Require:
        kind, _, message = attributes.partition(" ")
        return cls(kind, json.loads(message or '""'))

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        if not args or args[0] != BOOL or bodies:
            raise TypeRuleError("require: takes a condition first")
        if not all(isinstance(ty, Scalar) for ty in args):
            raise TypeRuleError("require: only scalars can be shown in a message")
        return ()

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        run.pay(1)
        if not args[0]:
            kind = exception_class(self.kind)
            assert kind is not None
            raise ProgramError(kind, self.message.format(*args[1:]))
        return ()

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        ok, *values = map(lowering.atom, node.args)
        lowering.loops.check(
            ok,
            self.kind,
            self.message,
            binding.span,
            *values,
            own=not binding.span.within,
        )


def exception_class(name: str) -> type[Exception] | None:
    """The exception of this name that a program may raise."""
    if name == "LinAlgError":
        return np.linalg.LinAlgError
    found = getattr(builtins, name, None)
    is_kind = isinstance(found, type) and issubclass(found, Exception)
    return found if is_kind else None
