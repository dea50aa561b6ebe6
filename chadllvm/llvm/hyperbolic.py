"""tanh, written out in the modules that call it.

It has no branches and calls nobody, so that it takes less than half of the time of
libm's, keeps registers, and is vectorised like the loop that it is in:

    tanh y = e / (e + 2),   e = expm1(2 y),   y = |x|

With 2 y = k ln 2 + r, where k is whole and |r| at most half of ln 2,
e = 2^k p + (2^k - 1), where p = expm1(r) = r + r^2 q(r). The polynomial q is nowhere
further from (expm1(r) - r) / r^2 than 2e-18. The result is within 2.7 ulps of the exact
number; 0 keeps its sign, the least numbers are exact, and NaN remains NaN.
"""

from __future__ import annotations

import re
import struct

TANH = "chad_tanh"
# The same where no product is contracted with a sum.
TANH_APART = "chad_tanh_apart"

# From here on tanh is 1.
_LARGE = 20.0

# Adding this rounds to a whole number, which is then in the lowest bits.
_ROUND = 1.5 * 2.0**52

# ln 2 in two parts. The first has few bits: its whole multiples are exact.
_LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_PER_LN2 = float.fromhex("0x1.71547652b82fep+0")

# q from the lowest power upwards: interpolated at Chebyshev's points of |r| < 0.3475.
_Q = (
    *(0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333325985),
    *(0.0013888888888883642, 0.00019841269875342141, 2.4801587325920163e-05),
    *(2.7557254740405416e-06, 2.7557273171941026e-07, 2.5105490906986696e-08),
    2.091488256348507e-09,
)

_ONE_BITS = 0x3FF0000000000000


def _hex(number: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def _pair(name: str, low: int, power: str = "%r") -> str:
    """q[low] + q[low + 1] r"""
    return (
        f"  %{name}.m = fmul contract double {_hex(_Q[low + 1])}, {power}\n"
        f"  %{name} = fadd contract double %{name}.m, {_hex(_Q[low])}\n"
    )


def _sum(name: str, low: str, high: str, power: str) -> str:
    """low + high power"""
    return (
        f"  %{name}.m = fmul contract double {high}, {power}\n"
        f"  %{name} = fadd contract double %{name}.m, {low}\n"
    )


_POLYNOMIAL = "".join(
    [
        *(_pair(f"q{low}", low) for low in (0, 2, 4, 6, 8)),
        _sum("q03", "%q0", "%q2", "%r2"),
        _sum("q47", "%q4", "%q6", "%r2"),
        _sum("q8a", "%q8", _hex(_Q[10]), "%r2"),
        _sum("q07", "%q03", "%q47", "%r4"),
        _sum("q", "%q07", "%q8a", "%r8"),
    ]
)

# LLVM puts it in the place of its calls; the number of instructions is what that costs.
DEFINITION = f"""\
define internal double @{TANH}(double %x) inlinehint #2 {{
  %size = call double @llvm.fabs.f64(double %x)
  %is_large = fcmp ogt double %size, {_hex(_LARGE)}
  %y = select i1 %is_large, double {_hex(_LARGE)}, double %size
  %twice = fadd double %y, %y
  %parts = fmul contract double %twice, {_hex(_PER_LN2)}
  %rounded = fadd contract double %parts, {_hex(_ROUND)}
  %k = fsub double %rounded, {_hex(_ROUND)}
  %k.bits = bitcast double %rounded to i64
  %k.high = shl i64 %k.bits, 52
  %power.bits = add i64 %k.high, {_ONE_BITS}
  %power = bitcast i64 %power.bits to double
  %high = fmul contract double %k, {_hex(_LN2_HIGH)}
  %high.rest = fsub contract double %twice, %high
  %low = fmul contract double %k, {_hex(_LN2_LOW)}
  %r = fsub contract double %high.rest, %low
  %r2 = fmul double %r, %r
  %r4 = fmul double %r2, %r2
  %r8 = fmul double %r4, %r4
{_POLYNOMIAL}\
  %curved = fmul contract double %q, %r2
  %p = fadd contract double %curved, %r
  %scaled = fmul contract double %p, %power
  %power.rest = fsub double %power, {_hex(1.0)}
  %e = fadd contract double %scaled, %power.rest
  %below = fadd double %e, {_hex(2.0)}
  %ratio = fdiv double %e, %below
  %result = call double @llvm.copysign.f64(double %ratio, double %x)
  ret double %result
}}"""

LENGTH = DEFINITION.count("\n")

DEFINITIONS = {
    TANH: DEFINITION,
    TANH_APART: DEFINITION.replace(f"@{TANH}(", f"@{TANH_APART}(").replace(
        " contract ", " "
    ),
}

_WORDS = (
    (r"\b0x[0-9A-F]{16}\b", r"splat (number \g<0>)"),
    (r", (\d+)$", r", splat (whole \1)"),
    (r"\b(double|i64|i1)\b", r"<lanes x \1>"),
    (r"\.f64\(", ".vlanesf64("),
    (r"\bnumber\b", "double"),
    (r"\bwhole\b", "i64"),
)


def vector_name(symbol: str, lanes: int) -> str:
    """What the function of a vector is called."""
    return f"{symbol}_{lanes}"


def vector_definition(symbol: str, lanes: int) -> str:
    """The same instructions on vectors."""
    name = vector_name(symbol, lanes)
    text = DEFINITIONS[symbol].replace(f"@{symbol}(", f"@{name}(")
    for pattern, new in _WORDS:
        text = re.sub(pattern, new, text, flags=re.MULTILINE)
    return text.replace("lanes", str(lanes))
