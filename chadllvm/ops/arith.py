"""Arithmetic of f64: sums, products, quotients, and the choices between two numbers.

Everything follows IEEE 754: nothing fails, a zero divisor gives an infinity or NaN.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

from chadllvm.diagnostic import Span
from chadllvm.ir.build import Builder, lit
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.term import Lit, Operand
from chadllvm.ops.row import chain, no_derivative, row

Cotangents = Sequence[Operand | None]


def divide(x: float, y: float) -> float:
    """x / y as IEEE 754 defines it."""
    if y != 0.0:
        return x / y
    if x == 0.0 or x != x:
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _floordiv(x: float, y: float) -> float:
    return x // y if y != 0.0 else divide(x, y)


def _mod(x: float, y: float) -> float:
    return x % y if y != 0.0 else math.nan


def _minimum(x: float, y: float) -> float:
    return x if x <= y or x != x else y


def _maximum(x: float, y: float) -> float:
    return x if x >= y or x != x else y


def _select(c: bool, x: float, y: float) -> float:
    return x if c else y


def _scale(d: float, p: float) -> float:
    return 0.0 if d == 0.0 else d * p


def _add_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return (ct, ct)


def _sub_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    _, y = args
    return (ct, None if isinstance(y, Lit) else b.prim("neg", ct))


def _neg_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return (b.prim("neg", ct),)


def _mul_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    x, y = args
    return chain(b, args, ct, lambda: y, lambda: x)


def _div_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    """(x / y)' = x' / y - y' (x / y) / y"""
    _, y = args
    if isinstance(y, Lit):
        reciprocal: Operand = lit(divide(1.0, y.value))
    else:
        reciprocal = b.prim("div", lit(1.0), y)
    return chain(
        b,
        args,
        ct,
        lambda: reciprocal,
        lambda: b.prim("neg", b.prim("mul", r, reciprocal)),
    )


def _abs_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    """The derivative at 0 is 0, as in NumPy's `sign` and in JAX."""
    (x,) = args
    negative = b.prim("flt", x, lit(0.0))
    signed = b.prim("select", negative, b.prim("neg", ct), ct)
    return (b.prim("select", b.prim("feq", x, lit(0.0)), lit(0.0), signed),)


def _mod_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    """x mod y = x - y * floor(x / y), and the floor is a step function."""
    return chain(
        b,
        args,
        ct,
        lambda: lit(1.0),
        lambda: b.prim("neg", b.prim("floordiv", *args)),
    )


def _either(b: Builder, first: Operand, ct: Operand) -> Cotangents:
    """The cotangent to the first argument if `first` holds, else to the second."""
    zero = lit(0.0)
    return (b.prim("select", first, ct, zero), b.prim("select", first, zero, ct))


def _minimum_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """A tie goes to the first argument."""
    x, y = args
    return _either(b, b.prim("fle", x, y), ct)


def _maximum_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """A tie goes to the first argument."""
    x, y = args
    return _either(b, b.prim("fle", y, x), ct)


def _select_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    return (None, *_either(b, args[0], ct))


def _scale_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """Where d is zero the product is zero for every p, even if p is infinite."""
    d, p = args
    by_d, by_p = chain(b, args, ct, lambda: p, lambda: d)
    if by_p is not None:
        by_p = b.prim("select", b.prim("feq", d, lit(0.0)), lit(0.0), by_p)
    return by_d, by_p


def _scale_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    d, p = args
    is_zero = loops.let("feq", d, Lit(0.0))
    return loops.let("select", is_zero, Lit(0.0), loops.let("mul", d, p))


def _remainder(loops: LoopBuilder, x: Atom, y: Atom) -> tuple[Atom, Atom]:
    """The remainder of the truncated quotient, and whether its sign is not y's."""
    rest = loops.let("fmod", x, y)
    positive, negative = (
        loops.let("flt", Lit(0.0), rest),
        loops.let("flt", rest, Lit(0.0)),
    )
    wrong = loops.let("select", loops.let("flt", y, Lit(0.0)), positive, negative)
    return rest, wrong


def _zero_like(loops: LoopBuilder, x: Atom, sign: Atom) -> Atom:
    """x, or if it is a zero that with this sign."""
    zero = loops.let("copysign", Lit(0.0), sign)
    return loops.let("select", loops.let("feq", x, Lit(0.0)), zero, x)


def _mod_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    rest, wrong = _remainder(loops, *args)
    rest = loops.let("select", wrong, loops.let("add", rest, args[1]), rest)
    return _zero_like(loops, rest, args[1])


def _floordiv_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    """As CPython does it, since x / y itself may be rounded up to the next integer.

    x less its remainder is a multiple of y, so its quotient is within rounding of an
    integer, the floor.
    """
    x, y = args
    rest, wrong = _remainder(loops, x, y)
    near = loops.let("div", loops.let("sub", x, rest), y)
    near = loops.let("select", wrong, loops.let("sub", near, Lit(1.0)), near)
    low = loops.let("floor", near)
    is_below = loops.let("flt", Lit(0.5), loops.let("sub", near, low))
    floor = loops.let("select", is_below, loops.let("add", low, Lit(1.0)), low)
    quotient, pole = loops.let("div", x, y), loops.let("feq", y, Lit(0.0))
    return loops.let("select", pole, quotient, _zero_like(loops, floor, quotient))


row("add", "ff->f", operator.add, _add_t)
row("sub", "ff->f", operator.sub, _sub_t)
row("neg", "f->f", operator.neg, _neg_t)
row("mul", "ff->f", operator.mul, _mul_t)
row("div", "ff->f", divide, _div_t, weight=4, domain=((-2.0, 2.0), (0.5, 2.0)))
row("abs", "f->f", abs, _abs_t, domain=((0.1, 2.0),))
# Python's // and %: the quotient is rounded down and the remainder has y's sign.
_STEADY = ((2.1, 2.6), (0.9, 1.0))
row(
    "floordiv", "ff->f", _floordiv, no_derivative, _floordiv_l, weight=8, domain=_STEADY
)
row("mod", "ff->f", _mod, _mod_t, _mod_l, weight=8, domain=_STEADY)
# NumPy's minimum and maximum: NaN if either argument is NaN.
row("minimum", "ff->f", _minimum, _minimum_t, selective=True)
row("maximum", "ff->f", _maximum, _maximum_t, selective=True)
row("select", "bff->f", _select, _select_t, selective=True)
# A cotangent d times a partial p: zero where d is zero, whatever p is.
row(
    "scale",
    "ff->f",
    _scale,
    _scale_t,
    _scale_l,
    weight=2,
    domain=((0.1, 2.0), (-2.0, 2.0)),
)
