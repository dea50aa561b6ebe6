"""The functions of calculus: what `math`, NumPy and SciPy's `special` have of them.

`docs/language.md` lists them with their domains and their derivatives at the edges.
Most are one operation each, whose row in `ops/scalar` has their names; what is made of
several here has the derivative of its formula. SciPy is not imported: its functions are
known by their names in `scipy.special`, if the user has that.
"""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Callable
from functools import cache, reduce
from typing import Any

import numpy as np

from chadllvm.frontend.arithmetic import promoted, rounded_integer, to_int
from chadllvm.frontend.scalar import MANY, Meaning, ScalarFunction, of_truths, on_floats
from chadllvm.frontend.width import as_weak, floats, to_float
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lit, Operand, Tuple
from chadllvm.ir.types import is_float
from chadllvm.ops import PRIMS
from chadllvm.support.twins import ORIGINAL


def _times(factor: float) -> Meaning:
    return lambda b, x: as_weak(b, b.prim("mul", to_float(b, x), Lit(factor)), (x,))


def _logarithm(b: Builder, x: Operand, *base: Operand) -> Operand:
    """`math.log(x)`, `math.log(x, base)`: as in Python a quotient of logarithms."""
    numbers = [b.prim("log", number) for number in floats(b, x, *base)]
    result = b.prim("div", *numbers) if base else numbers[0]
    return as_weak(b, result, (x, *base))


def hypotenuse(b: Builder, *xs: Operand) -> Operand:
    """`math.hypot` of any number of coordinates, two at a time."""
    numbers = floats(b, *xs)
    if len(numbers) < 2:
        return b.prim("abs", numbers[0]) if numbers else Lit(0.0)
    return as_weak(b, reduce(lambda x, y: b.prim("hypot", x, y), numbers), xs)


def _to_integer(prim: str) -> Meaning:
    """Python's rounding to an `int`; an integer stays what it is."""

    def meaning(b: Builder, x: Operand) -> Operand:
        if not is_float(x.type):
            return to_int(b, x)
        return b.prim("truncate", b.prim(prim, x))

    return meaning


def _round(b: Builder, x: Operand, *digits: Operand) -> Operand:
    """`round(x)`, an integer, or `round(x, digits)`, of the type of x."""
    if not digits:
        return _to_integer("rint")(b, x)
    places = to_int(b, *digits)
    if is_float(x.type):
        return b.prim("round_to", x, places)
    return rounded_integer(b, to_int(b, x), places)


def _mantissa(b: Builder, x: Operand) -> Operand:
    """`math.frexp`: x is m 2^e, the exponent is constant on a piece."""
    x = to_float(b, x)
    exponent = b.prim("exponent", x)
    return b.one(Tuple((_scaled(b, x, b.prim("ineg", exponent)), exponent)))


def _scaled(b: Builder, x: Operand, exponent: Operand) -> Operand:
    """`math.ldexp`"""
    return b.prim("ldexp", to_float(b, x), to_int(b, exponent))


def _rounded(prim: str) -> Meaning:
    """NumPy's rounding of a float to a float; an integer stays what it is."""
    return lambda b, x: b.prim(prim, x) if is_float(x.type) else to_int(b, x)


def _sign(b: Builder, x: Operand) -> Operand:
    if is_float(x.type):
        return b.prim("sign", x)
    return b.prim("imin", b.prim("imax", to_int(b, x), Lit(-1)), Lit(1))


def _has_minus(b: Builder, x: Operand) -> Operand:
    """`np.signbit`: true of -0.0, too."""
    signed = b.prim("copysign", Lit(1.0), to_float(b, x))
    return b.prim("flt", signed, Lit(0.0))


def _reciprocal(b: Builder, x: Operand) -> Operand:
    """1 / x; of an integer what is left of it without the fraction."""
    if is_float(x.type):
        return as_weak(b, b.prim("div", Lit(1.0), to_float(b, x)), (x,))
    x = to_int(b, x)
    return b.prim("imul", b.prim("ifloordiv", Lit(1), b.prim("iabs", x)), _sign(b, x))


def _remainder(b: Builder, x: Operand, y: Operand) -> Operand:
    """`np.fmod`: the remainder with the sign of x, of integers an integer."""
    x, y = promoted(b, x, y)
    if is_float(x.type):
        return b.prim("fmod", x, y)
    size = b.prim("iabs", y)
    rest = b.prim("imod", x, size)
    moved = b.prim("and", b.prim("ilt", x, Lit(0)), b.prim("ine", rest, Lit(0)))
    return b.prim("iselect", moved, b.prim("isub", rest, size), rest)


def _parts(b: Builder, x: Operand) -> Operand:
    """`math.modf`: the fraction, which has the slope of x, and the integer below it."""
    x = to_float(b, x)
    infinite = b.prim("feq", b.prim("abs", x), Lit(math.inf))
    zero, rest = b.prim("copysign", Lit(0.0), x), b.prim("fmod", x, Lit(1.0))
    fraction = b.prim("select", infinite, zero, rest)
    return b.one(Tuple((fraction, b.prim("trunc", x))))


def _logaddexp2(b: Builder, x: Operand, y: Operand) -> Operand:
    """log2(2^x + 2^y)"""
    x, y = (b.prim("mul", z, Lit(math.log(2.0))) for z in floats(b, x, y))
    return b.prim("mul", b.prim("logaddexp", x, y), Lit(1.0 / math.log(2.0)))


def _heaviside(b: Builder, x: Operand, middle: Operand) -> Operand:
    """0 below, `middle` at, 1 above 0, and NaN of NaN: a step of slope 0."""
    x, value = floats(b, x, middle)
    value = b.prim("select", b.prim("fne", x, x), Lit(math.nan), value)
    value = b.prim("select", b.prim("flt", x, Lit(0.0)), Lit(0.0), value)
    return b.prim("select", b.prim("flt", Lit(0.0), x), Lit(1.0), value)


def _better(comparison: Callable[[Builder, Operand, Operand], Operand]) -> Meaning:
    """`np.fmin` or `np.fmax`: of a number and NaN the number, in a tie the first."""

    def meaning(b: Builder, x: Operand, y: Operand) -> Operand:
        x, y = promoted(b, x, y)
        if not is_float(x.type):
            return b.prim("iselect", comparison(b, x, y), x, y)
        first = b.prim("or", comparison(b, x, y), b.prim("fne", y, y))
        return b.prim("select", first, x, y)

    return meaning


def _at_most(b: Builder, x: Operand, y: Operand) -> Operand:
    return b.prim("fle" if is_float(x.type) else "ile", x, y)


def _at_least(b: Builder, x: Operand, y: Operand) -> Operand:
    return _at_most(b, y, x)


def _is_nan(b: Builder, x: Operand) -> Operand:
    x = to_float(b, x)
    return b.prim("fne", x, x)


def _is_infinite(b: Builder, x: Operand) -> Operand:
    return b.prim("feq", b.prim("abs", to_float(b, x)), Lit(math.inf))


def _is_finite(b: Builder, x: Operand) -> Operand:
    return b.prim("flt", b.prim("abs", to_float(b, x)), Lit(math.inf))


def _sinc(b: Builder, x: Operand) -> Operand:
    """sin(pi x) / (pi x), 1 at 0."""
    return b.prim("sinc", Lit(0), b.prim("mul", to_float(b, x), Lit(math.pi)))


def _polygamma(b: Builder, order: Operand, x: Operand) -> Operand:
    return b.prim("polygamma", to_int(b, order), to_float(b, x))


def _exp10(b: Builder, x: Operand) -> Operand:
    return b.prim("pow", Lit(10.0), to_float(b, x))


def _normal(b: Builder, x: Operand) -> Operand:
    """`ndtr`, the normal distribution: erfc(-x / sqrt 2) / 2."""
    scaled = b.prim("mul", to_float(b, x), Lit(-math.sqrt(0.5)))
    return b.prim("mul", Lit(0.5), b.prim("erfc", scaled))


_SCIPY = "scipy.special"
_DEGREES, _RADIANS = _times(180.0 / math.pi), _times(math.pi / 180.0)

# The object that a name stands for: what it means.
CALCULUS: tuple[tuple[Any, ScalarFunction], ...] = (
    (math.log, ScalarFunction(1, _logarithm, most=2)),
    (math.hypot, ScalarFunction(0, hypotenuse, most=MANY)),
    (math.floor, ScalarFunction(1, _to_integer("floor"))),
    (math.ceil, ScalarFunction(1, _to_integer("ceil"))),
    (builtins.round, ScalarFunction(1, _round, most=2, integers=(1,))),
    (np.floor, ScalarFunction(1, _rounded("floor"))),
    (np.ceil, ScalarFunction(1, _rounded("ceil"))),
    (np.trunc, ScalarFunction(1, _rounded("trunc"))),
    (np.fix, ScalarFunction(1, _rounded("trunc"))),
    (math.modf, ScalarFunction(1, _parts)),
    (math.frexp, ScalarFunction(1, _mantissa)),
    (math.ldexp, ScalarFunction(2, _scaled, integers=(1,))),
    (np.ldexp, ScalarFunction(2, _scaled, integers=(1,))),
    (np.fmod, ScalarFunction(2, _remainder)),
    (np.sign, ScalarFunction(1, _sign)),
    (np.signbit, ScalarFunction(1, _has_minus)),
    (np.reciprocal, ScalarFunction(1, _reciprocal)),
    (np.heaviside, ScalarFunction(2, _heaviside)),
    (np.fmin, ScalarFunction(2, of_truths("and", _better(_at_most)))),
    (np.fmax, ScalarFunction(2, of_truths("or", _better(_at_least)))),
    (np.logaddexp2, ScalarFunction(2, _logaddexp2)),
    (np.sinc, ScalarFunction(1, _sinc)),
    *((f, ScalarFunction(1, _DEGREES)) for f in (math.degrees, np.degrees, np.rad2deg)),
    *((f, ScalarFunction(1, _RADIANS)) for f in (math.radians, np.radians, np.deg2rad)),
    *((f, ScalarFunction(1, _is_nan)) for f in (math.isnan, np.isnan)),
    *((f, ScalarFunction(1, _is_infinite)) for f in (math.isinf, np.isinf)),
    *((f, ScalarFunction(1, _is_finite)) for f in (math.isfinite, np.isfinite)),
)

SCIPY: dict[str, ScalarFunction] = {
    "polygamma": ScalarFunction(2, _polygamma),
    "exp10": ScalarFunction(1, _exp10),
    "ndtr": ScalarFunction(1, _normal),
}


def named_function(value: Any) -> ScalarFunction | None:
    """What this object is by its name: an operation, or a function of SciPy."""
    value = getattr(value, ORIGINAL, value)
    found = (function for known, function in named_functions() if value is known)
    return next(found, None)


def named_functions() -> tuple[tuple[Any, ScalarFunction], ...]:
    """The objects that have names in rows, and those of SciPy if that is there."""
    return _named(len(PRIMS), _SCIPY in sys.modules)


@cache
def _named(count: int, has_scipy: bool) -> tuple[tuple[Any, ScalarFunction], ...]:
    names = {f"{_SCIPY}.{name}": function for name, function in SCIPY.items()}
    for prim in PRIMS.values():
        function = ScalarFunction(len(prim.params), on_floats(prim.name))
        names |= dict.fromkeys(prim.names, function)
    objects = ((_object(name), function) for name, function in names.items())
    return tuple(pair for pair in objects if pair[0] is not None)


def _object(name: str) -> Any:
    """What a name such as `math.exp` stands for, if its module is there."""
    module, _, attribute = name.rpartition(".")
    return getattr(sys.modules.get(module), attribute, None)
