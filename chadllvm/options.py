"""Options of a compilation. There is no global mutable state."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CompileOptions:
    """How a function is compiled.

    speculate: move checks out of loops. A call that fails is repeated by a second
        compilation without it, which finds the first error in program order.
    verify: run the checker after every pass.
    disabled: names of passes that are left out (see `pipeline.PASSES`).
    """

    speculate: bool = True
    verify: bool = True
    disabled: frozenset[str] = frozenset()
