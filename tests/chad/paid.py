"""The cells of a program's gradient that nobody pays for."""

from __future__ import annotations

from collections.abc import Callable

import chadllvm as cl
from chadllvm.chad.payers import Unpaid, unpaid
from chadllvm.frontend import signature, specialise
from chadllvm.plan import Plan
from chadllvm.request import Request
from tests.laws.cost_sweep import WRT


def found(program: Callable[..., float], *disabled: str) -> list[Unpaid]:
    """The cells of a program's gradient that nobody pays for."""
    types = [p.annotation for p in signature(program)]
    plan = Plan(specialise(program, tuple(types)), types, Request(WRT))
    options = cl.CompileOptions(disabled=frozenset(disabled))
    return unpaid(plan.compile(options).stages["chad"])
