"""How a row of the table is written, and how its transposed derivative is built.

A transposed derivative gives, for each argument, the cotangent of the result times the
partial derivative. Partials are given as functions, so that what only a literal
argument would need is not emitted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from chadllvm.ir.build import Builder
from chadllvm.ir.op import Prim, PrimLowering, Transpose, register
from chadllvm.ir.term import Lit, Operand, same_width
from chadllvm.ir.types import BOOL, F32, F64, I64

_TYPES = {"f": F64, "s": F32, "i": I64, "b": BOOL}

Partial = Callable[[], Operand]


def row(
    name: str,
    signature: str,
    meaning: Callable[..., Any],
    transpose: Transpose | None = None,
    lowering: PrimLowering | None = None,
    *,
    weight: int = 1,
    can_fail: bool = False,
    selective: bool = False,
    domain: tuple[tuple[float, float], ...] = (),
    sure: Prim | None = None,
) -> Prim:
    """Enter a primitive; its signature is written like `ff->f` (f64, i64, bool).

    An `s` is f32, for conversions; what takes f64 takes f32 as well (`Prim`).

    A float argument without a `domain` is tested between -2 and 2.
    """
    params, result = signature.split("->")
    default = ((-2.0, 2.0),) * sum(params.count(letter) for letter in "fs")
    return register(
        Prim(
            name=name,
            params=tuple(_TYPES[letter] for letter in params),
            result=_TYPES[result],
            meaning=meaning,
            transpose=transpose,
            lowering=lowering,
            weight=weight,
            can_fail=can_fail,
            selective=selective,
            domain=domain or default,
            sure=sure,
        )
    )


def times(b: Builder, ct: Operand, partial: Operand) -> Operand:
    """The cotangent times a partial derivative; zero where the cotangent is zero.

    Only a finite literal is multiplied outright: anything else may be infinite or NaN,
    and a zero cotangent must contribute zero even then.
    """
    _, partial = same_width((ct, partial))
    if not isinstance(partial, Lit) or not math.isfinite(partial.value):
        return b.prim("scale", ct, partial)
    return ct if partial.value == 1.0 else b.prim("mul", ct, partial)


def chain(
    b: Builder, args: Sequence[Operand], ct: Operand, *partials: Partial | None
) -> list[Operand | None]:
    """The cotangents of the arguments; None for literals and if a partial is None."""
    return [
        None if partial is None or isinstance(arg, Lit) else times(b, ct, partial())
        for arg, partial in zip(args, partials, strict=True)
    ]


def float_like(b: Builder, n: Operand, x: Operand) -> Operand:
    """The integer as a float of the width of x."""
    return b.prim("to_single" if x.type == F32 else "to_float", n)


def no_derivative(
    b: Builder, args: Sequence[Operand], result: Operand, ct: Operand
) -> list[Operand | None]:
    """The transposed derivative of a step function: zero wherever it exists."""
    return [None] * len(args)
