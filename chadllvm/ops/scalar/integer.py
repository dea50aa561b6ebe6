"""Arithmetic of i64, and the checks of indices.

Sums, products and powers wrap around. Division rounds down as in Python. The messages
of what can fail are constants, so that compiled code can say the same words; `{0}` and
`{1}` stand for the arguments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom, For
from chadllvm.ir.op import ProgramError
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64
from chadllvm.ops.scalar.row import machine, row, runtime
from chadllvm.support.diagnostic import Span

DIVISION_BY_ZERO = "integer division or modulo by zero"
ZERO_STEP = "range() arg 3 must not be zero"
ZERO_SLICE_STEP = "slice step cannot be zero"
NEGATIVE_EXPONENT = "integers to a negative integer power are not integers"
ZERO_TO_NEGATIVE = "0 cannot be raised to a negative power"
NEGATIVE_FACTORIAL = "factorial() not defined for negative values"
FACTORIAL_TOO_LARGE = "the factorial of {0} is too large for a 64-bit integer"
INDEX_OUT_OF_RANGE = "index {0} is out of range for size {1}"

# The largest number whose factorial is an i64.
MAX_FACTORIAL = 20

# Python takes negative powers of floats, which are even from here on.
_LAST_ODD = 1 << 53

_HALF = 1 << 63
_MASK = (1 << 64) - 1

# A product of sizes above this is taken for the largest i64.
_FITS = 2.0**62


def wrap(n: int) -> int:
    """The i64 that equals n modulo 2^64."""
    return n if -_HALF <= n < _HALF else ((n + _HALF) & _MASK) - _HALF


def _iadd(x: int, y: int) -> int:
    return wrap(x + y)


def _isub(x: int, y: int) -> int:
    return wrap(x - y)


def _imul(x: int, y: int) -> int:
    return wrap(x * y)


def _span(stop: int, start: int) -> int:
    return min(max(stop - start, -_HALF), _HALF - 1)


def _area(n: int, m: int) -> int:
    return wrap(n * m) if float(n) * float(m) <= _FITS else _HALF - 1


def _area_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    """Floats do not wrap around, and what they round is far from 2^63."""
    n, m = (loops.let("to_float", arg) for arg in args)
    fits = loops.let("fle", loops.let("mul", n, m), Lit(_FITS))
    return loops.let("select", fits, loops.let("imul", *args), Lit(_HALF - 1))


def _ineg(x: int) -> int:
    return wrap(-x)


def _iabs(x: int) -> int:
    return wrap(abs(x))


def _ifloordiv(x: int, y: int) -> int:
    if y == 0:
        raise ProgramError(ZeroDivisionError, DIVISION_BY_ZERO)
    return wrap(x // y)


def _imod(x: int, y: int) -> int:
    if y == 0:
        raise ProgramError(ZeroDivisionError, DIVISION_BY_ZERO)
    return x % y


def _steps(start: int, stop: int, step: int) -> int:
    if step == 0:
        raise ProgramError(ValueError, ZERO_STEP)
    # `len` of a range is no more than an i64 holds.
    distance = stop - start if step > 0 else start - stop
    return min(max(-(-distance // abs(step)), 0), _HALF - 1)


def _slice_step(step: int) -> int:
    if step == 0:
        raise ProgramError(ValueError, ZERO_SLICE_STEP)
    return step


def _ipow(x: int, n: int) -> int:
    if n < 0:
        raise ProgramError(ValueError, NEGATIVE_EXPONENT)
    return wrap(pow(x, n, _MASK + 1))


def _exponent(x: int, n: int) -> int:
    if n >= 0:
        return n
    if x == 0:
        raise ProgramError(ZeroDivisionError, ZERO_TO_NEGATIVE)
    if abs(x) != 1:
        raise ProgramError(ValueError, NEGATIVE_EXPONENT)
    return int(n >= -_LAST_ODD and n % 2 == 1)


def _row_of(number: int, size: int) -> int:
    return wrap((number & _MASK) // max(size, 1))


def _column_of(number: int, size: int) -> int:
    return wrap((number & _MASK) % max(size, 1))


def _gcd(x: int, y: int) -> int:
    return wrap(math.gcd(x, y))


def _factorial(n: int) -> int:
    if n < 0:
        raise ProgramError(ValueError, NEGATIVE_FACTORIAL)
    if n > MAX_FACTORIAL:
        raise ProgramError(OverflowError, FACTORIAL_TOO_LARGE.format(n))
    return math.factorial(n)


def _imin(x: int, y: int) -> int:
    return x if x <= y else y


def _imax(x: int, y: int) -> int:
    return x if x >= y else y


def _bound(index: int, size: int) -> int:
    if -size <= index < size:
        return index if index >= 0 else index + size
    raise ProgramError(IndexError, INDEX_OUT_OF_RANGE.format(index, size))


def _from_end(index: int, size: int) -> int:
    return index if index >= 0 else wrap(index + size)


def _within(index: int, size: int) -> int:
    if 0 <= index < size:
        return index
    raise ProgramError(IndexError, INDEX_OUT_OF_RANGE.format(index, size))


def _quotient_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    """The truncated quotient, less one where the remainder has the wrong sign."""
    _check_divisor(loops, args[1], span)
    truncated = loops.let("idiv", *args)
    wrong = _wrong_sign(loops, loops.let("irem", *args), args[1])
    return loops.let("select", wrong, loops.let("isub", truncated, Lit(1)), truncated)


def _remainder_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    """The remainder of the truncated quotient, moved to the divisor's sign."""
    _check_divisor(loops, args[1], span)
    rest = loops.let("irem", *args)
    wrong = _wrong_sign(loops, rest, args[1])
    return loops.let("select", wrong, loops.let("iadd", rest, args[1]), rest)


def _check_divisor(loops: LoopBuilder, divisor: Atom, span: Span) -> None:
    if not isinstance(divisor, Lit) or divisor.value == 0:
        nonzero = loops.let("ine", divisor, Lit(0))
        loops.check(nonzero, "ZeroDivisionError", DIVISION_BY_ZERO, span)


def _slice_step_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    some = loops.let("ine", args[0], Lit(0))
    loops.check(some, "ValueError", ZERO_SLICE_STEP, span)
    return args[0]


def _steps_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    """The distance is unsigned: it is twice as large as an i64 at most."""
    start, stop, step = args
    if not isinstance(step, Lit) or step.value == 0:
        loops.check(loops.let("ine", step, Lit(0)), "ValueError", ZERO_STEP, span)
    up = loops.let("ilt", Lit(0), step)
    first, last = (
        loops.let("select", up, start, stop),
        loops.let("select", up, stop, start),
    )
    # A step further than the last but one is none.
    before = loops.let("isub", loops.let("isub", last, first), Lit(1))
    whole = loops.let("udiv", before, loops.let("iabs", step))
    count = loops.let("iadd", whole, Lit(1))
    too_many = loops.let("ilt", count, Lit(0))
    count = loops.let("select", too_many, Lit(_HALF - 1), count)
    return loops.let("select", loops.let("ilt", first, last), count, Lit(0))


def _wrong_sign(loops: LoopBuilder, rest: Atom, divisor: Atom) -> Atom:
    """Whether the remainder is not zero and its sign differs from the divisor's."""
    negative = loops.let("ilt", rest, Lit(0))
    if isinstance(divisor, Lit) and divisor.value > 0:
        return negative
    positive = loops.let("ilt", Lit(0), rest)
    return loops.let("select", loops.let("ilt", divisor, Lit(0)), positive, negative)


def _ipow_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    """Repeated squaring over the exponent's 63 bits; a literal is multiplied out."""
    x, n = args
    if isinstance(n, Lit) and n.value >= 0:
        return _multiplied_out(loops, x, int(n.value))
    loops.check(loops.let("ile", Lit(0), n), "ValueError", NEGATIVE_EXPONENT, span)
    result, base, rest = loops.slot("r", Lit(1)), loops.slot("x", x), loops.slot("n", n)
    bit = loops.reg("bit", I64)
    loops.open(is_loop=True)
    square, exponent, power = loops.get(base), loops.get(rest), loops.get(result)
    odd = loops.let("ieq", loops.let("irem", exponent, Lit(2)), Lit(1))
    longer = loops.let("imul", power, square)
    loops.set(result, loops.let("select", odd, longer, power))
    loops.set(base, loops.let("imul", square, square))
    loops.set(rest, loops.let("idiv", exponent, Lit(2)))
    loops.emit(For(bit, Lit(0), Lit(63), loops.close()))
    return loops.get(result)


def _exponent_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    """Of a negative one the parity, which is enough for 1 and -1."""
    x, n = args
    positive = loops.let("ile", Lit(0), n)
    is_unit = loops.let("ieq", loops.let("iabs", x), Lit(1))
    for allowed, error, message in (
        (loops.let("ine", x, Lit(0)), "ZeroDivisionError", ZERO_TO_NEGATIVE),
        (is_unit, "ValueError", NEGATIVE_EXPONENT),
    ):
        loops.check(loops.let("or", positive, allowed), error, message, span)
    parity = loops.let("ineg", loops.let("irem", n, Lit(2)))
    exact = loops.let("ile", Lit(-_LAST_ODD), n)
    parity = loops.let("select", exact, parity, Lit(0))
    return loops.let("select", positive, n, parity)


def _multiplied_out(loops: LoopBuilder, square: Atom, n: int) -> Atom:
    result: Atom = Lit(1)
    while n:
        if n & 1:
            result = loops.mul(result, square)
        n >>= 1
        if n:
            square = loops.mul(square, square)
    return result


def _row_of_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    return loops.row_of(*args)


def _column_of_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    return loops.column_of(*args)


def _factorial_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    (n,) = args
    loops.check(loops.let("ile", Lit(0), n), "ValueError", NEGATIVE_FACTORIAL, span)
    small = loops.let("ile", n, Lit(MAX_FACTORIAL))
    loops.check(small, "OverflowError", FACTORIAL_TOO_LARGE, span, n)
    return loops.let("factorial", n)


def _from_end_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    index, size = args
    negative = loops.let("ilt", index, Lit(0))
    return loops.let("select", negative, loops.let("iadd", index, size), index)


def _bound_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    index, size = args
    wrapped = _from_end_l(loops, args, span)
    in_range = loops.let("iult", wrapped, size)
    loops.check(in_range, "IndexError", INDEX_OUT_OF_RANGE, span, index, size)
    return wrapped


def _within_l(loops: LoopBuilder, args: Sequence[Atom], span: Span) -> Atom:
    in_range = loops.let("iult", *args)
    loops.check(in_range, "IndexError", INDEX_OUT_OF_RANGE, span, *args)
    return args[0]


# fmt: off
row("iadd", "ii->i", _iadd, check="add_fits")
row("isub", "ii->i", _isub, check="sub_fits")
# How far it is: the difference, or the largest or least i64 if that is none.
row("span", "ii->i", _span)
row("imul", "ii->i", _imul, code=machine(1, 3), check="mul_fits")
# The product of two sizes, or the largest i64: more than any size may be.
row("area", "ii->i", _area, lowering=_area_l)
row("ineg", "i->i", _ineg, check="neg_fits")
row("iabs", "i->i", _iabs, code=machine(1, 3), check="abs_fits")
row("ifloordiv", "ii->i", _ifloordiv, lowering=_quotient_l, can_fail=True,
    check="floordiv_fits")
row("imod", "ii->i", _imod, lowering=_remainder_l, can_fail=True)
row("ipow", "ii->i", _ipow, lowering=_ipow_l, can_fail=True, check="pow_fits")
# The exponent of a power of Python's integers, with which `ipow` gives the same.
row("ipow_exponent", "ii->i", _exponent, lowering=_exponent_l, can_fail=True)
# Where the element of this number, which is not negative, stands in rows of this size,
# or of 1: an array has no elements if its rows have none.
row("row_of", "ii->i", _row_of, lowering=_row_of_l)
row("column_of", "ii->i", _column_of, lowering=_column_of_l)
# The greatest common divisor, which is not negative.
row("gcd", "ii->i", _gcd, code=runtime(60, 97, most=1 << 9))
row("factorial", "i->i", _factorial, lowering=_factorial_l, code=runtime(12, 9),
    can_fail=True)
row("imin", "ii->i", _imin, code=machine(1, 2))
row("imax", "ii->i", _imax, code=machine(1, 2))
# How many steps a range has, or the largest i64.
row("steps", "iii->i", _steps, lowering=_steps_l, can_fail=True)
row("slice_step", "i->i", _slice_step, lowering=_slice_step_l, can_fail=True)
# The user's index to an index in range: a negative one counts from the end.
FROM_END = row("from_end", "ii->i", _from_end, lowering=_from_end_l)
row("bound", "ii->i", _bound, lowering=_bound_l, can_fail=True, sure=FROM_END)
# The same where a negative index is no index: in checks hoisted from loops, and of what
# is not negative.
row("within", "ii->i", _within, lowering=_within_l, can_fail=True, sure=FROM_END)
