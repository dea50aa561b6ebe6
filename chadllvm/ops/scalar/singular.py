"""What linear algebra asks of matrices; otherwise there is a `LinAlgError`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from chadllvm.diagnostic import Span
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.op import PrimLowering, ProgramError
from chadllvm.ops.scalar.row import row

NOT_SQUARE = "Last 2 dimensions of the array must be square"
SINGULAR = "Singular matrix"
NOT_DEFINITE = "Matrix is not positive definite"
_KIND = "LinAlgError"


def _square(n: int, m: int) -> int:
    if n != m:
        raise ProgramError(np.linalg.LinAlgError, NOT_SQUARE)
    return n


def _square_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    loops.check(loops.let("ieq", *args), _KIND, NOT_SQUARE, span)
    return args[0]


def _holds(message: str) -> Callable[[bool], bool]:
    def meaning(ok: bool) -> bool:
        if not ok:
            raise ProgramError(np.linalg.LinAlgError, message)
        return ok

    return meaning


def _holds_l(message: str) -> PrimLowering:
    def lowering(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
        loops.check(args[0], _KIND, message, span)
        return args[0]

    return lowering


# The two sizes of a matrix that has to be square.
row("square", "ii->i", _square, lowering=_square_l, can_fail=True)
# Whether elimination found a pivot in each step, and whether the pivots of a symmetric
# matrix are positive.
for _name, _message in (("regular", SINGULAR), ("definite", NOT_DEFINITE)):
    row(_name, "b->b", _holds(_message), lowering=_holds_l(_message), can_fail=True)
