"""Arithmetic of f64 and truth values: sums, products, quotients, comparisons, choices.

Everything follows IEEE 754: nothing fails, a zero divisor gives an infinity or NaN.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import replace

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.op import Page
from chadllvm.ir.term import Lit, Operand
from chadllvm.ops.scalar.rounding import REMAINDER
from chadllvm.ops.scalar.row import chain, machine, no_derivative, one, row
from chadllvm.support.diagnostic import Span

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


def _iselect_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    return loops.let("select", *args)


def _stop_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    return args[0]


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


_STEADY = ((2.1, 2.6), (0.9, 1.0))
_BEST = Page(
    "NaN if one is; the first of equals, of zeros too",
    "in a tie, the first",
    "`minimum maximum`",
)

# fmt: off
row("add", "ff->f", operator.add, transpose=_add_t, code=machine(1, 2), is_strict=True)
row("sub", "ff->f", operator.sub, transpose=_sub_t, code=machine(1, 2), is_strict=True)
row("neg", "f->f", operator.neg, transpose=_neg_t, is_strict=True)
row("mul", "ff->f", operator.mul, lambda b, r, x, y: y, lambda b, r, x, y: x,
    code=machine(1, 3), is_strict=True)
row("div", "ff->f", divide, transpose=_div_t, code=machine(4, 14), check="div_defined",
    domain=((-2.0, 2.0), (0.5, 2.0)))
row("abs", "f->f", abs, transpose=_abs_t, is_strict=True,
    page=Page("all", "0 at 0", "`abs fabs`"), domain=((0.1, 2.0),))
# Python's // and %: the quotient is rounded down and the remainder has y's sign.
row("floordiv", "ff->f", _floordiv, transpose=no_derivative, lowering=_floordiv_l,
    check="floordiv_defined", page=REMAINDER, domain=_STEADY)
row("mod", "ff->f", _mod, one,
    lambda b, r, x, y: b.prim("neg", b.prim("floordiv", x, y)), lowering=_mod_l,
    is_strict=True, check="mod_defined", page=REMAINDER, domain=_STEADY)
# NumPy's minimum and maximum: NaN if either argument is NaN.
for _name, _meaning, _transpose in (
    ("minimum", _minimum, _minimum_t),
    ("maximum", _maximum, _maximum_t),
):
    row(_name, "ff->f", _meaning, transpose=_transpose, code=machine(3, 4),
        selective=True, is_strict=True, page=_BEST)
row("select", "bff->f", _select, transpose=_select_t,
    code=replace(machine(), params="bTT", result="T"), selective=True)
row("iselect", "bii->i", lambda c, x, y: x if c else y, lowering=_iselect_l)
# A cotangent d times a partial p: zero where d is zero, whatever p is.
row("scale", "ff->f", _scale, transpose=_scale_t, lowering=_scale_l,
    domain=((0.1, 2.0), (-2.0, 2.0)))
# The number itself, whose derivative is zero by the user's will.
row("stop", "f->f", lambda x: x, lowering=_stop_l, is_strict=True)

# Every comparison with NaN is false, but `fne` is true.
for _name in ("lt", "le", "eq", "ne"):
    row(f"f{_name}", "ff->b", getattr(operator, _name), code=machine(1, 3))
    row(f"i{_name}", "ii->b", getattr(operator, _name))
row("and", "bb->b", lambda x, y: x and y)
row("or", "bb->b", lambda x, y: x or y)
row("not", "b->b", operator.not_)
