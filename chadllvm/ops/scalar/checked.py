"""Checks of debug mode: whether an operation gives what plain Python gives.

Each is a row that takes an operation's arguments (and its result, if that tells) and
gives True, or fails with Python's exception. The row of an operation names its check,
which `debug/checks.py` puts before it, or after it if that takes the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.op import ProgramError
from chadllvm.ir.term import Lit
from chadllvm.ops.scalar.row import row
from chadllvm.support.diagnostic import Span

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1

DOMAIN = "math domain error"
RANGE = "math range error"
ZERO_BASE = "0.0 cannot be raised to a negative power"


def _fits(
    name: str, params: str, text: str, exact: Callable[..., int], lowering: Fit
) -> None:
    """A check that an exact result is an i64; `text` shows the operation."""
    message = f"{text} is too large for 64 bits"

    def meaning(*args: int) -> bool:
        if not _LEAST <= exact(*args) <= _MOST:
            raise ProgramError(OverflowError, message.format(*args))
        return True

    def lower(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
        loops.check(lowering(loops, args), "OverflowError", message, span, *args)
        return Lit(True)

    row(name, f"{params}->b", meaning, lowering=lower, can_fail=True)


# Emits whether the result fits.
Fit = Callable[[LoopBuilder, Sequence[Atom]], Atom]


def _instruction(name: str) -> Fit:
    return lambda loops, args: loops.let(name, *args)


def _is_not_least(loops: LoopBuilder, args: Sequence[Atom]) -> Atom:
    return loops.let("ine", args[0], Lit(_LEAST))


def _quotient(x: int, y: int) -> int:
    return x // y if y else 0


def _quotient_fits(loops: LoopBuilder, args: Sequence[Atom]) -> Atom:
    other = loops.let("ine", args[1], Lit(-1))
    return loops.let("or", other, _is_not_least(loops, args))


def _power(x: int, n: int) -> int:
    """Far out, a number on the same side."""
    return x ** min(n, 64 + n % 2) if n >= 0 else 0


def _power_fits(loops: LoopBuilder, args: Sequence[Atom]) -> Atom:
    return loops.let("ine", loops.let("power_fits", *args), Lit(0))


def _shifted(x: int, places: int) -> int:
    return x << min(places, 64) if places >= 0 else 0


def _shift_fits(loops: LoopBuilder, args: Sequence[Atom]) -> Atom:
    """Shifting back gives the number again, or the count is negative."""
    x, places = args
    back = loops.let("shr", loops.let("shl", x, places), places)
    near = loops.let("iult", places, Lit(64))
    same = loops.let("and", near, loops.let("ieq", back, x))
    zero = loops.let("ieq", x, Lit(0))
    none = loops.let("ilt", places, Lit(0))
    return loops.let("or", same, loops.let("or", zero, none))


_fits("add_fits", "ii", "{0} + {1}", lambda x, y: x + y, _instruction("add_fits"))
_fits("sub_fits", "ii", "{0} - {1}", lambda x, y: x - y, _instruction("sub_fits"))
_fits("mul_fits", "ii", "{0} * {1}", lambda x, y: x * y, _instruction("mul_fits"))
_fits("neg_fits", "i", "-({0})", lambda x: -x, _is_not_least)
_fits("abs_fits", "i", "abs({0})", abs, _is_not_least)
_fits("floordiv_fits", "ii", "{0} // {1}", _quotient, _quotient_fits)
_fits("pow_fits", "ii", "{0} ** {1}", _power, _power_fits)
_fits("shl_fits", "ii", "{0} << {1}", _shifted, _shift_fits)


# ---- floats ----------------------------------------------------------------------


def _divisor(name: str, message: str) -> None:
    """A check that the second of two floats is not zero."""

    def meaning(_: float, y: float) -> bool:
        if y == 0.0:
            raise ProgramError(ZeroDivisionError, message)
        return True

    def lower(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
        nonzero = loops.let("fne", args[1], Lit(0.0))
        loops.check(nonzero, "ZeroDivisionError", message, span)
        return Lit(True)

    row(name, "ff->b", meaning, lowering=lower, can_fail=True)


_divisor("div_defined", "float division by zero")
_divisor("floordiv_defined", "float floor division by zero")
_divisor("mod_defined", "float modulo by zero")


def _check_result(result: float, *args: float, kind: type[Exception]) -> None:
    """A NaN that comes of numbers is an error, and so is an infinity."""
    if result != result and all(x == x for x in args):
        raise ProgramError(ValueError, DOMAIN)
    if math.isinf(result) and all(map(math.isfinite, args)):
        raise ProgramError(kind, DOMAIN if kind is ValueError else RANGE)


def _check_result_l(
    loops: LoopBuilder, args: Sequence[Atom], span: Span, kind: str
) -> None:
    *floats, result = args
    number, finite = loops.let("feq", result, result), _is_finite(loops, result)
    for x in floats:
        number = loops.let("or", number, loops.let("fne", x, x))
        finite = loops.let("or", finite, loops.let("not", _is_finite(loops, x)))
    # An infinity is a number, and a NaN is not finite: the checks come in this order.
    loops.check(number, "ValueError", DOMAIN, span)
    message = DOMAIN if kind == "ValueError" else RANGE
    loops.check(
        loops.let("or", finite, loops.let("fne", result, result)), kind, message, span
    )


def _is_finite(loops: LoopBuilder, x: Atom) -> Atom:
    return loops.let("flt", loops.let("abs", x), Lit(math.inf))


def _defined(name: str, params: str, kind: type[Exception]) -> None:
    """A check of a function of floats and its result: an infinity is a pole, or it is
    an overflow."""

    def meaning(*values: float) -> bool:
        *args, result = values
        _check_result(result, *args, kind=kind)
        return True

    def lower(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
        _check_result_l(loops, args, span, kind.__name__)
        return Lit(True)

    row(name, f"{params}->b", meaning, lowering=lower, can_fail=True)


_defined("no_pole", "ff", ValueError)
_defined("no_overflow", "ff", OverflowError)
_defined("remainder_defined", "fff", ValueError)


def _power_defined(x: float, y: float, result: float) -> bool:
    if x == 0.0 and y < 0.0:
        raise ProgramError(ZeroDivisionError, ZERO_BASE)
    _check_result(result, x, float(y), kind=OverflowError)
    return True


def _power_defined_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    x, y, _ = args
    natural = loops.let("not", loops.let("flt", y, Lit(0.0)))
    defined = loops.let("or", natural, loops.let("fne", x, Lit(0.0)))
    loops.check(defined, "ZeroDivisionError", ZERO_BASE, span)
    _check_result_l(loops, args, span, "OverflowError")
    return Lit(True)


def _powi_defined_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    x, n, result = args
    y = loops.let("to_float", n)
    return _power_defined_l(loops, (x, y, result), span)


# fmt: off
# Of a base, an exponent, and the power.
for _name, _params, _lowering in (
    ("pow_defined", "fff", _power_defined_l),
    ("powi_defined", "fif", _powi_defined_l),
):
    row(_name, f"{_params}->b", _power_defined, lowering=_lowering, can_fail=True)
