"""Trigonometric functions of f64 and their inverses; angles are in radians.

Nothing fails: outside its domain a function gives NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.term import Operand
from chadllvm.ops.row import chain, row

Cotangents = Sequence[Operand | None]


def _or_nan(function: Callable[[float], float]) -> Callable[[float], float]:
    def meaning(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return math.nan

    return meaning


def _sin_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("cos", args[0]))


def _cos_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("neg", b.prim("sin", args[0])))


def _tan_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    """1 + (tan x)^2"""
    return chain(b, args, ct, lambda: b.prim("add", lit(1.0), b.prim("mul", r, r)))


def _arc(b: Builder, x: Operand) -> Operand:
    """1 / sqrt(1 - x^2), infinite at 1 and -1; written so that no digits cancel."""
    below, above = b.prim("sub", lit(1.0), x), b.prim("add", lit(1.0), x)
    return b.prim("div", lit(1.0), b.prim("sqrt", b.prim("mul", below, above)))


def _asin_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, lambda: _arc(b, args[0]))


def _acos_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    return chain(b, args, ct, lambda: b.prim("neg", _arc(b, args[0])))


def _atan_t(b: Builder, args: Sequence[Operand], r: Operand, ct: Operand) -> Cotangents:
    """1 / (1 + x^2)"""
    (x,) = args
    square = b.prim("mul", x, x)
    return chain(
        b, args, ct, lambda: b.prim("div", lit(1.0), b.prim("add", lit(1.0), square))
    )


def _atan2_t(
    b: Builder, args: Sequence[Operand], r: Operand, ct: Operand
) -> Cotangents:
    """x / (x^2 + y^2) and -y / (x^2 + y^2), NaN at the origin, where no limit exists.

    The sum of squares, which may overflow or vanish, is not formed.
    """
    y, x = args
    size = b.prim("hypot", x, y)
    return chain(
        b,
        args,
        ct,
        lambda: b.prim("div", b.prim("div", x, size), size),
        lambda: b.prim("neg", b.prim("div", b.prim("div", y, size), size)),
    )


_INSIDE = ((-0.9, 0.9),)

row("sin", "f->f", _or_nan(math.sin), _sin_t, weight=12)
row("cos", "f->f", _or_nan(math.cos), _cos_t, weight=12)
row("tan", "f->f", _or_nan(math.tan), _tan_t, weight=15, domain=((-1.2, 1.2),))
row("asin", "f->f", _or_nan(math.asin), _asin_t, weight=15, domain=_INSIDE)
row("acos", "f->f", _or_nan(math.acos), _acos_t, weight=15, domain=_INSIDE)
row("atan", "f->f", math.atan, _atan_t, weight=15)
row("atan2", "ff->f", math.atan2, _atan2_t, weight=20, domain=((0.5, 2.0), (-2.0, 2.0)))
