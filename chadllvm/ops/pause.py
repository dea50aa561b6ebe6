"""`pause["label" "d ad1"](v…)`: where the interpreter stops, and shows these values.

Like `show` it is never removed, and nothing that can fail or is seen moves across it.
Only the interpreter runs it: `debug.interpret` is told the label and the values, as
they are there. `driver/specialising.py` refuses programs that pause before they are
lowered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.op import register_array_op
from chadllvm.ir.term import Apply, Function, Lambda, nested
from chadllvm.ir.types import Type
from chadllvm.ops.show import Show
from chadllvm.support.diagnostic import InternalError, Span

if TYPE_CHECKING:
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering
    from chadllvm.ir.term import Binding


@register_array_op
@dataclass(frozen=True)
class Pause(Show):
    """`pause[text kinds](v…)`; the text says what the values are (`pausing.py`)."""

    name = "pause"

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        self.check_kinds(args)
        return ()

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        if run.on_pause is not None:
            run.on_pause(self.text, self.shown(args))
        return ()

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        raise InternalError("pause: only the interpreter stops")


def pauses(function: Function) -> Iterator[Span]:
    """Where a function says `breakpoint()`, as a `pause` of nothing."""
    waiting = [function.body]
    while waiting:
        for binding in waiting.pop().bindings:
            match binding.expr:
                case Apply(Pause(text="")):
                    yield binding.span
            waiting += [inner for _, inner in nested(binding.expr)]
