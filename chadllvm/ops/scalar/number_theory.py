"""Roots, binomials and powers of integers, as `math` has them: exact, or they fail."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom
from chadllvm.ir.op import ProgramError
from chadllvm.ir.term import Lit
from chadllvm.ops.scalar.row import row, runtime
from chadllvm.support.diagnostic import Span

NEGATIVE_ROOT = "isqrt() argument must be nonnegative"
NEGATIVE_CHOICE = "n and k must be non-negative integers"
CHOICES_TOO_MANY = "the number of choices of {1} from {0} is too large for 64 bits"
ZERO_MODULUS = "pow() 3rd argument cannot be 0"
NEGATIVE_MODULAR_EXPONENT = "pow() with a modulus takes no negative exponent"

# The largest number whose square is an i64.
_MOST_ROOT = math.isqrt((1 << 63) - 1)


def _isqrt(n: int) -> int:
    if n < 0:
        raise ProgramError(ValueError, NEGATIVE_ROOT)
    return math.isqrt(n)


def _choices(n: int, k: int, count: int) -> int:
    if count >= 1 << 63:
        raise ProgramError(OverflowError, CHOICES_TOO_MANY.format(n, k))
    return count


# Numbers of choices of so many, or more, are 0, 1 or too large.
_MANY = 64


def _comb(n: int, k: int) -> int:
    if n < 0 or k < 0:
        raise ProgramError(ValueError, NEGATIVE_CHOICE)
    few = min(k, n - k)
    return 0 if k > n else _choices(n, k, math.comb(n, min(few, _MANY)))


def _perm(n: int, k: int) -> int:
    if n < 0 or k < 0:
        raise ProgramError(ValueError, NEGATIVE_CHOICE)
    return 0 if k > n else _choices(n, k, math.perm(n, min(k, _MANY)))


def _powmod(base: int, exponent: int, modulus: int) -> int:
    if modulus == 0:
        raise ProgramError(ValueError, ZERO_MODULUS)
    if exponent < 0:
        raise ProgramError(ValueError, NEGATIVE_MODULAR_EXPONENT)
    return pow(base, exponent, modulus)


def _isqrt_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    """The root of the nearest float is off by one at most."""
    (n,) = args
    loops.check(loops.let("ile", Lit(0), n), "ValueError", NEGATIVE_ROOT, span)
    near = loops.let("to_int", loops.let("sqrt", loops.let("to_float", n)))
    root = loops.let("imin", near, Lit(_MOST_ROOT))
    above = loops.let("ilt", n, loops.let("imul", root, root))
    root = loops.let("isub", root, loops.let("bool_to_int", above))
    after = loops.let("imin", loops.let("iadd", root, Lit(1)), Lit(_MOST_ROOT))
    fits = loops.let("ile", loops.let("imul", after, after), n)
    return loops.let("select", fits, after, root)


def _comb_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    return _counted(loops, "comb", args, span)


def _perm_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    return _counted(loops, "perm", args, span)


def _counted(loops: LoopBuilder, name: str, args: Sequence[Atom], span: Span) -> Atom:
    """The runtime says -1 for what is too large."""
    least = loops.let("imin", *args)
    loops.check(loops.let("ile", Lit(0), least), "ValueError", NEGATIVE_CHOICE, span)
    count = loops.let(name, *args)
    fits = loops.let("ile", Lit(0), count)
    loops.check(fits, "OverflowError", CHOICES_TOO_MANY, span, *args)
    return count


def _powmod_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    _, exponent, modulus = args
    loops.check(loops.let("ine", modulus, Lit(0)), "ValueError", ZERO_MODULUS, span)
    natural = loops.let("ile", Lit(0), exponent)
    loops.check(natural, "ValueError", NEGATIVE_MODULAR_EXPONENT, span)
    return loops.let("powmod", *args)


# fmt: off
row("isqrt", "i->i", _isqrt, lowering=_isqrt_l, can_fail=True)
# -1 if an i64 does not hold it.
for _name, _meaning, _lowering, _code in (
    ("comb", _comb, _comb_l, runtime(155, 155, most=1 << 11)),
    ("perm", _perm, _perm_l, runtime(17, 16, most=1 << 9)),
):
    row(_name, "ii->i", _meaning, lowering=_lowering, code=_code, can_fail=True)
row("powmod", "iii->i", _powmod, lowering=_powmod_l,
    code=runtime(165, 260, most=1 << 13), can_fail=True)
