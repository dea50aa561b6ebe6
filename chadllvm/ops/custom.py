"""`custom[f](x…)`: a call of a function whose derivatives the user has written.

The core is that of the function itself, so that whoever looks for values finds no more
than a call. CHAD finds the rules (`chad/custom.py`), and takes them in place of what it
would have made; afterwards calls that are left become calls of the function itself.

A rule is a program of its own: it may call the function that it is a rule of, so that
the core of a call cannot hold the rules' text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.op import ArrayOp, TypeRuleError
from chadllvm.ir.term import Apply, Lambda, Program
from chadllvm.ir.types import Fun, Type
from chadllvm.support.diagnostic import InternalError, Span

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward
    from chadllvm.chad.transform import Chad, Rule
    from chadllvm.ir.build import Builder
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering
    from chadllvm.ir.term import Binding


@dataclass(eq=False)
class Rules:
    """The derivatives of a function for arguments of some types; each is a program.

    `primal` is the function itself; `differentiable` says of each argument whether it
    has a cotangent, and without one there are no rules. With residuals r and the reals'
    cotangents or tangents alone:

        forward     (x…) -> (y, r…)         of a vjp
        backward    (r…, y_ct) -> x_ct…     for the arguments not in `silent`
        tangent     (x…, x_t…) -> (y, y_t)  of a jvp

    The programs are filled in after calls of the function have been made, for the rules
    themselves may call it.
    """

    title: str
    span: Span
    differentiable: tuple[bool, ...]
    silent: frozenset[int] = frozenset()
    primal: Program | None = None
    forward: Program | None = None
    backward: Program | None = None
    tangent: Program | None = None

    def programs(self) -> list[Program]:
        """All of them that there are."""
        found = (self.primal, self.forward, self.backward, self.tangent)
        return [program for program in found if program is not None]


@dataclass(frozen=True)
class Custom(ArrayOp):
    """`custom[title](x…)`

    `type` is that of the function; `origin` says of each operand which argument it is,
    or is a leaf of. `flat` is the function behind `flatten`.
    """

    rules: Rules
    type: Fun
    origin: tuple[int, ...]
    flat: Program | None = None

    name = "custom"
    can_fail = True

    @property
    def primal(self) -> Program:
        """The function itself."""
        found = self.flat or self.rules.primal
        if found is None:
            raise InternalError(f"custom: {self.rules.title} is not there yet")
        return found

    @property
    def attributes(self) -> str:
        return self.rules.title

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        if tuple(args) != self.type.params or bodies:
            expected = ", ".join(map(str, self.type.params))
            raise TypeRuleError(f"custom[{self.attributes}] takes ({expected})")
        return self.type.results

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        inner = type(run)(self.primal)
        inner.on_pause = run.on_pause
        try:
            return inner.run(*args)
        finally:
            run.pay(inner.cost)

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        return chad.custom(self, node, binding, asked)

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        forward.custom(self, node, binding, out)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        raise InternalError(f"lower: a call of {self.attributes} with its rules")
