"""`stop(x)`: the number x, whose derivative is zero by the user's will."""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.diagnostic import Span
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ops.row import row


def _same(x: float) -> float:
    return x


def _stop_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    return args[0]


row("stop", "f->f", _same, None, _stop_l)
