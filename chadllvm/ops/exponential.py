"""Exponentials, logarithms and roots of f64.

Nothing fails: outside its domain a function gives NaN, at a pole or on overflow an
infinity, as the C library does. A slope is that of the formula even where a logarithm
is NaN: 1 / x.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from chadllvm.diagnostic import Span
from chadllvm.ir.build import Builder, lit
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.term import Operand
from chadllvm.ops.row import chain, row

Cotangents = Sequence[Operand | None]
Function = Callable[[float], float]

LN2, LN10 = math.log(2.0), math.log(10.0)


def or_infinity(function: Function) -> Function:
    """The function, +inf where it overflows."""

    def meaning(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf

    return meaning


def logarithm(function: Function, pole: float = 0.0) -> Function:
    """The function with IEEE's values at its pole and below."""

    def meaning(x: float) -> float:
        if x > pole:
            return function(x)
        return -math.inf if x == pole else math.nan

    return meaning


def _sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0.0 else math.nan


def _exp_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, lambda: r)


def _exp2_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("mul", r, lit(LN2)))


def _expm1_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """exp x: the result plus 1 would have lost its digits where x is far below 0."""
    return chain(b, args, ct, lambda: b.prim("exp", args[0]))


def _log_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("div", lit(1.0), args[0]))


def _log2_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("div", lit(1.0 / LN2), args[0]))


def _log10_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("div", lit(1.0 / LN10), args[0]))


def _log1p_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    (x,) = args
    return chain(
        b, args, ct, lambda: b.prim("div", lit(1.0), b.prim("add", x, lit(1.0)))
    )


def _sqrt_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    """1 / (2 sqrt x), infinite at 0."""
    return chain(b, args, ct, lambda: b.prim("div", lit(0.5), r))


def _root_cube(x: float) -> float:
    return x * _sqrt(x)


def _root_cube_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """3/2 sqrt x, without a division; 0 at 0."""
    (x,) = args
    return chain(b, args, ct, lambda: b.prim("mul", b.prim("sqrt", x), lit(1.5)))


def _root_cube_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    (x,) = args
    return loops.let("mul", x, loops.let("sqrt", x))


def _cbrt_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    """1 / (3 (cbrt x)^2), infinite at 0."""
    return chain(
        b, args, ct, lambda: b.prim("div", lit(1.0 / 3.0), b.prim("mul", r, r))
    )


_POSITIVE = ((0.5, 2.0),)

row("exp", "f->f", or_infinity(math.exp), _exp_t, weight=12)
row("exp2", "f->f", or_infinity(math.exp2), _exp2_t, weight=12)
row("expm1", "f->f", or_infinity(math.expm1), _expm1_t, weight=12)
row("log", "f->f", logarithm(math.log), _log_t, weight=12, domain=_POSITIVE)
row("log2", "f->f", logarithm(math.log2), _log2_t, weight=12, domain=_POSITIVE)
row("log10", "f->f", logarithm(math.log10), _log10_t, weight=12, domain=_POSITIVE)
row(
    "log1p",
    "f->f",
    logarithm(math.log1p, -1.0),
    _log1p_t,
    weight=12,
    domain=((-0.5, 2.0),),
)
row("sqrt", "f->f", _sqrt, _sqrt_t, weight=5, domain=_POSITIVE)
# A number times its root, to the bit. That has a slope at 0, and none is a quotient.
row(
    "root_cube",
    "f->f",
    _root_cube,
    _root_cube_t,
    _root_cube_l,
    weight=6,
    domain=_POSITIVE,
)
row("cbrt", "f->f", math.cbrt, _cbrt_t, weight=15, domain=_POSITIVE)
