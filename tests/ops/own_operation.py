"""Operations that the package does not have, 10 to a power, and what becomes of them.

`report()` is what `test_own_operation.py` looks at, in a process of its own: what the
machine has is asked once, so that rows are entered before anything is compiled. The
second operation is the same, but for its cost, which is none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import chadllvm as cl
from chadllvm.ir.build import Builder, lit
from chadllvm.ir.op import PRIMS, Page
from chadllvm.ir.term import Operand, Var
from chadllvm.ir.types import F64
from chadllvm.ops.scalar.exponential import LN10, or_infinity
from chadllvm.ops.scalar.row import libm, pages, row
from chadllvm.simplify.spread import spread

MEANING = or_infinity(lambda x: math.pow(10.0, x))


def ten_to(x: Any) -> Any:
    """10 to the power of x."""
    return np.power(10.0, x)


def ten_to_for_nothing(x: Any) -> Any:
    """The same."""
    return np.power(10.0, x)


def _slope(b: Builder, r: Operand, x: Operand) -> Operand:
    return b.prim("mul", r, lit(LN10))


def enter() -> None:
    """One row each."""
    for function, cycles in ((ten_to, 60), (ten_to_for_nothing, 1)):
        row(
            function.__name__,
            "f->f",
            MEANING,
            _slope,
            code=libm(cycles, cycles, "exp10"),
            is_strict=True,
            check="no_overflow",
            names=f"{__name__}.{function.__name__}",
            page=Page("all; overflow is inf", "10ˣ log 10"),
        )


def single(x: float) -> float:
    """One call."""
    return ten_to(x)  # type: ignore[no-any-return]


def slope_of(x: float) -> float:
    """The derivative, as a program."""
    return cl.grad(lambda y: ten_to(y))(x)  # type: ignore[no-any-return]


def total(xs: cl.f64[:]) -> float:
    """A loop of calls."""
    result = 0.0
    for i in range(len(xs)):
        result += ten_to(xs[i])
    return result


def steps(xs: cl.f64[:], n: int) -> float:
    """Loops inside of a loop, which is in lanes."""
    result = 0.0
    for i in range(len(xs)):
        y = xs[i]
        for _ in range(n):
            y = 0.5 * math.sin(y) + 0.01 * ten_to(y)
        result += y
    return result


def carried(xs: cl.f64[:], y: float) -> float:
    """A state, whose derivative asks for the results of the calls again."""
    for i in range(len(xs)):
        y = y * ten_to(xs[i]) + 0.5
    return y


def carried_for_nothing(xs: cl.f64[:], y: float) -> float:
    """The same with the other operation."""
    for i in range(len(xs)):
        y = y * ten_to_for_nothing(xs[i]) + 0.5
    return y


def calls(function: Callable[..., Any], *args: Any) -> int:
    """How often the loops of the gradient call the operation."""
    gradient = cl.grad(function, argnums=(0, 1))
    gradient(*args)
    return gradient.show("loops").count(" = ten_to")


def overflow() -> str:
    """What debug mode raises."""
    try:
        cl.jit(single, debug=True)(400.0)
    except OverflowError as error:
        return str(error)
    return "nothing"


def is_spread() -> bool:
    """Whether a NaN is known to be seen in the result."""
    b, x = Builder(), Var("x", F64)
    result = b.prim("ten_to", x)
    return result in spread(b.block([result]), {x})


def report() -> None:
    """Print what becomes of the operations."""
    enter()
    xs = np.linspace(-1.0, 1.0, 37)
    compiled, slope = cl.jit(single), cl.grad(single)
    total_of, lanes_of = cl.jit(total), cl.jit(steps)
    found = {
        "value": compiled(2.5),
        "single": float(cl.jit(single)(np.float32(2.5))),
        "slope": slope(2.5),
        "bend": cl.grad(slope_of)(0.5),
        "total": total_of(xs),
        "steps": lanes_of(xs, 3),
        "loop": total_of.show("llvm"),
        "lanes": lanes_of.show("llvm"),
        "kept": calls(carried, xs, 1.0),
        "again": calls(carried_for_nothing, xs, 1.0),
        "overflow": overflow(),
        "spread": is_spread(),
        "page": pages(list(PRIMS.values())),
    }
    print(json.dumps(found))
