"""Every machine instruction computes what its Python counterpart does."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from loop_programs import VECTOR, function, instruction, native, vector

import chadllvm.ops  # noqa: F401  # It fills the table of operations.
from chadllvm.ir.loops import (
    PTR,
    Let,
    Offset,
    Reg,
    Return,
    ScalarParam,
    ScalarResult,
)
from chadllvm.ir.op import INSTRUCTIONS, PRIMS, ProgramError
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F64, I64, Product, to_single

LEAST, MOST = -(1 << 63), (1 << 63) - 1
FLOATS = (0.0, -0.0, 1.0, -1.5, 2.75, 1e300, -3e-310, math.inf, -math.inf, math.nan)
INTS = (0, 1, -1, 2, -7, 10, LEAST, MOST)
BOOLS = (False, True)
SINGLES = tuple(map(to_single, FLOATS))
VALUES = {"f": FLOATS, "d": FLOATS, "s": SINGLES, "i": INTS, "b": BOOLS, "T": FLOATS}


def wrap(value: int) -> int:
    return (value - LEAST) % (1 << 64) + LEAST


def truncated(a: int, b: int) -> int:
    return wrap(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))


def ieee(name: str) -> Callable[..., float]:
    """A NumPy function on floats, without warnings."""

    def compute(*args: float) -> float:
        with np.errstate(all="ignore"):
            return float(getattr(np, name)(*map(np.float64, args)))

    return compute


ELEMENTARY = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh"),
)
INVERSE = ("sin", "cos", "tan", "sinh", "cosh", "tanh")
SPECIAL = (
    *("remainder", "erf", "erfc", "gamma", "lgamma", "digamma", "polygamma", "sinc"),
    *("gcd", "factorial", "comb", "perm", "powmod", "ldexp", "round_to"),
)
BITS = (
    *("iand", "ior", "ixor", "shl", "shr", "bit_length", "bit_count"),
    *("exponent", "span"),
)


def fails(name: str) -> Callable[..., bool]:
    """Whether a primitive fails, and its instruction is not run."""

    def check(*args: Any) -> bool:
        try:
            PRIMS[name].meaning(*args)
        except ProgramError:
            return True
        return False

    return check


MEANING: dict[str, Callable[..., Any]] = {
    "add": ieee("add"),
    "sub": ieee("subtract"),
    "mul": ieee("multiply"),
    "div": ieee("divide"),
    "fmod": ieee("fmod"),
    "pow": ieee("power"),
    "minimum": ieee("minimum"),
    "maximum": ieee("maximum"),
    "least": ieee("minimum"),
    "largest": ieee("maximum"),
    "lesser": ieee("fmin"),
    "greater": ieee("fmax"),
    "neg": lambda a: -a,
    "abs": abs,
    **{name: ieee(name) for name in ("floor", "ceil", "trunc", "rint", "sqrt")},
    **{name: ieee(name) for name in ("copysign", "hypot")},
    "atan2": ieee("arctan2"),
    **{name: ieee(name) for name in ELEMENTARY},
    **{f"a{name}": ieee(f"arc{name}") for name in INVERSE},
    # These have no meaning in NumPy; theirs is compared with more than this elsewhere.
    **{name: PRIMS[name].meaning for name in SPECIAL},
    **{name: PRIMS[name].meaning for name in BITS},
    "add_fits": lambda a, b: wrap(a + b) == a + b,
    "sub_fits": lambda a, b: wrap(a - b) == a - b,
    "mul_fits": lambda a, b: wrap(a * b) == a * b,
    "power_fits": lambda a, n: int(not fails("pow_fits")(a, n)),
    "udiv": lambda a, b: wrap(a % (1 << 64) // (b % (1 << 64))),
    "iadd": lambda a, b: wrap(a + b),
    "isub": lambda a, b: wrap(a - b),
    "stride": lambda a: a,
    "imul": lambda a, b: wrap(a * b),
    "imin": min,
    "imax": max,
    "idiv": truncated,
    "irem": lambda a, b: a - b * truncated(a, b) if b != -1 else 0,
    "ineg": lambda a: wrap(-a),
    "iabs": lambda a: wrap(abs(a)),
    **{"flt": float.__lt__, "fle": float.__le__, "feq": float.__eq__},
    "fne": float.__ne__,
    **{"ilt": int.__lt__, "ile": int.__le__, "ieq": int.__eq__, "ine": int.__ne__},
    "iult": lambda a, b: a % (1 << 64) < b % (1 << 64),
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
    "select": lambda c, a, b: a if c else b,
    "to_float": float,
    **{name: PRIMS[name].meaning for name in ("to_single", "narrow", "widen")},
    "bits": lambda a: int(np.float64(a).view(np.int64)),
    "bool_to_int": int,
    "to_int": int,
    "powi": ieee("power"),
}

# Elementary functions are within a few ulps of libm, powi of repeated multiplication.
TOLERANCE = {
    **dict.fromkeys((*ELEMENTARY, *(f"a{name}" for name in INVERSE)), 1e-15),
    **dict.fromkeys(("pow", "hypot", "atan2"), 1e-15),
    **dict.fromkeys(SPECIAL, 1e-14),
}


# The arguments that an instruction is not made for.
OUTSIDE: dict[str, Callable[..., bool]] = {
    **dict.fromkeys(("lesser", "greater"), lambda a, b: a != a),
    "idiv": lambda a, b: b == 0,
    "irem": lambda a, b: b == 0,
    "udiv": lambda a, b: b == 0,
    "comb": fails("comb"),
    "perm": fails("perm"),
    "powmod": fails("powmod"),
    "round_to": fails("round_to"),
    "factorial": lambda n: not 0 <= n <= 20,
    "to_int": lambda a: not abs(a) < 2.0**63,
    # A power may overflow on the way to its inverse; NumPy rounds the exponent.
    "powi": lambda a, b: 0 < abs(a) < 1e-300 or abs(a) > 1e299 or abs(b) > 1 << 53,
}


def same(found: Any, wanted: Any, tolerance: float) -> bool:
    if isinstance(wanted, float):
        if math.isnan(wanted) or math.isinf(wanted) or wanted == 0:
            return math.isnan(found) if math.isnan(wanted) else found == wanted
        return abs(found - wanted) <= tolerance * abs(wanted)
    return type(found) is type(wanted) and found == wanted


def test_every_instruction_has_a_meaning_here() -> None:
    assert set(MEANING) == set(INSTRUCTIONS) - {"same"}


def test_same() -> None:
    """An array begins where it begins, and nowhere else."""
    a, b, other = vector("a"), vector("b"), Reg("other", PTR)
    one, two = Reg("one", BOOL), Reg("two", BOOL)
    body = [
        Offset(other, a.ptr, Lit(1), F64),
        Let(one, "same", (a.ptr, a.ptr)),
        Let(two, "same", (a.ptr, other)),
        Return((one, two)),
    ]
    results = [ScalarResult(BOOL)] * 2
    made = function("same", [a, b], results, body)
    run = native(made, [VECTOR, VECTOR], Product((BOOL, BOOL)))
    assert run(np.ones(2), np.ones(2)) == (True, False)


@pytest.mark.parametrize("op", MEANING)
def test_meaning(op: str) -> None:
    run = instruction(op)
    for args in itertools.product(*(VALUES[x] for x in INSTRUCTIONS[op].params)):
        if op in OUTSIDE and OUTSIDE[op](*args):
            continue
        found, wanted = run(*args), MEANING[op](*args)
        if isinstance(found, np.float32):
            found = float(found)
        assert same(found, wanted, TOLERANCE.get(op, 1e-14 * (op == "powi"))), args


@pytest.mark.parametrize(("ty", "values"), [(I64, (3, 4)), (BOOL, (True, False))])
def test_select_of_other_types(ty: Any, values: tuple[Any, Any]) -> None:
    run = instruction("select", ty)
    assert run(True, *values) == values[0]
    assert run(False, *values) == values[1]


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7, 16, 64, 65, -1, -3, 1000])
def test_literal_exponents(exponent: int) -> None:
    x, y = Reg("x", F64), Reg("y", F64)
    body = [Let(y, "powi", (x, Lit(exponent))), Return((y,))]
    made = function("power", [ScalarParam(x)], [ScalarResult(F64)], body)
    run = native(made, [F64], F64)
    assert run(1.01) == pytest.approx(1.01**exponent, rel=1e-13)
    assert run(-1.5) == pytest.approx((-1.5) ** exponent, rel=1e-13)


@pytest.mark.parametrize("op", ["idiv", "irem"])
@pytest.mark.parametrize("divisor", [3, -1, -4])
def test_literal_divisors(op: str, divisor: int) -> None:
    x, y = Reg("x", I64), Reg("y", I64)
    body = [Let(y, op, (x, Lit(divisor))), Return((y,))]
    made = function("divide", [ScalarParam(x)], [ScalarResult(I64)], body)
    run = native(made, [I64], I64)
    for value in INTS:
        assert run(value) == MEANING[op](value, divisor)
