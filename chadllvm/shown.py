"""The program at each of its stages, as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chadllvm import call_rules

if TYPE_CHECKING:
    from chadllvm.ready import Specialisation

STAGES = ("source", "core", "chad", "simplified", "loops", "llvm", "asm")


class Text(str):
    """A string that shows itself as it is in a notebook or the REPL."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def text_of(
    stage: str, function: Callable[..., Any], version: Callable[[], Specialisation]
) -> Text:
    """The text of a function at a stage; `version` compiles it if it has to be.

    Raises: ValueError if there is no such stage.
    """
    if stage not in STAGES:
        raise call_rules.wrong_option(
            f"no stage {stage!r}; the stages are {' '.join(STAGES)}"
        )
    if stage == "source":
        from chadllvm.frontend.source import read_source

        return Text(read_source(function).text)
    from chadllvm.ir.loops_pretty import pretty_loops
    from chadllvm.ir.pretty import pretty

    found = version()
    match stage:
        case "loops":
            return Text(pretty_loops(found.compilation.lowered))
        case "llvm":
            return Text(found.native.llvm_ir)
        case "asm":
            return Text(found.native.asm)
        case _:
            return Text(pretty(found.compilation.stages[stage]))
