"""Work and span of a call, counted, and what many cores would make of it.

The *work* is the number of operations that a call executes, the *span* how many of them
have to follow each other: the longest chunk of each loop that is spread, and all that
is not in such a loop. No number of cores makes a call faster than work / span. On P
cores chunks take as long as the longest of them, or as equal ones do in rounds of P;
those that take turns at rows wait for each other. That they wait for the memory is not
counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from chadllvm.backend.call import NativeFunction
from chadllvm.backend.results import Group
from chadllvm.driver.plan import Plan
from chadllvm.driver.values import is_object
from chadllvm.ir.loops import LoopFunction
from chadllvm.ir.types import F64, I64, has_float
from chadllvm.llvm.optimize import Effort
from chadllvm.lower.count import UNLIMITED, count_operations
from chadllvm.support.request import Request

# For how many cores the speed is predicted.
CORES = 64

# What LLVM does is no matter: our own statements are counted.
_LITTLE = Effort(0, 0, loops=False, tidy=True)


@dataclass(frozen=True)
class Scaling:
    """What a call of a function, or of its gradient, executes.

    `work` is the number of operations, `span` that of those which follow each other,
    `time` that on `CORES` cores.
    """

    what: str
    work: int
    span: int
    time: int

    @property
    def most(self) -> float:
        """How many times faster it can be on any number of cores."""
        return self.work / max(self.span, 1)

    @property
    def speedup(self) -> float:
        """How many times faster it is predicted to be on `CORES` cores."""
        return self.work / max(self.time, 1)

    def __str__(self) -> str:
        return (
            f"{self.what}: {self.work} operations, {self.span} of them in a row; "
            f"{self.speedup:.1f} times faster on {CORES} cores, "
            f"at most {self.most:.1f} times"
        )


def scalings(
    plan: Plan,
    loops: Callable[[Plan], LoopFunction],
    args: Sequence[Any],
) -> tuple[Scaling, ...]:
    """The work and span of a planned call, and of its value with the gradient.

    `loops` compiles a plan. The program is run with these arguments.

    Raises:
        ValueError: where trees are passed: native code is handed their nodes.
    """
    if plan.boundary is not None:
        raise ValueError("work and span are not counted where trees are passed")
    plans = {_what(plan.request): plan}
    if plan.request.argnums is None and plan.value == F64:
        reals = tuple(
            k for k, ty in enumerate(plan.types) if has_float(ty) and not is_object(ty)
        )
        if reals:
            request = Request(reals, value=True)
            whole = Plan(plan.program, tuple(plan.types), request)
            plans[_what(request)] = whole
    return tuple(_counted(what, p, loops(p), args) for what, p in plans.items())


def _what(request: Request) -> str:
    if request.argnums is None:
        return "value"
    return "value and gradient" if request.value else "gradient"


def _counted(
    what: str, plan: Plan, loops: LoopFunction, args: Sequence[Any]
) -> Scaling:
    native = NativeFunction(
        count_operations(loops, (UNLIMITED, CORES)),
        "counted",
        plan.names,
        plan.types,
        Group((plan.result, I64, I64, I64)),
        effort=_LITTLE,
    )
    _, work, unlimited, saved = native(*args)
    return Scaling(what, work, work - unlimited, work - saved)
