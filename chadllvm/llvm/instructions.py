"""The machine instructions of `Let` as LLVM IR.

Float additions and multiplications may be contracted to fused multiply-adds where the
function's `Arithmetic` allows it; nothing else about floats is relaxed. Most
instructions are one line of a table, the others a short sequence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from chadllvm.ir.loops import Atom, Let
from chadllvm.ir.term import Lit
from chadllvm.ir.types import F32, Scalar
from chadllvm.llvm.types import REGISTER, float_literal
from chadllvm.llvm.writer import Writer
from chadllvm.ops import INSTRUCTIONS
from chadllvm.support.options import Arithmetic

ONE = float_literal(1.0)

# Instructions that are one LLVM instruction of the arguments' names.
SIMPLE = {
    "add": "fadd double %s, %s",
    "sub": "fsub double %s, %s",
    "mul": "fmul double %s, %s",
    "div": "fdiv double %s, %s",
    "fmod": "frem double %s, %s",
    "neg": "fneg double %s",
    "abs": "call double @llvm.fabs.f64(double %s)",
    "floor": "call double @llvm.floor.f64(double %s)",
    "ceil": "call double @llvm.ceil.f64(double %s)",
    "trunc": "call double @llvm.trunc.f64(double %s)",
    "rint": "call double @llvm.rint.f64(double %s)",
    "copysign": "call double @llvm.copysign.f64(double %s, double %s)",
    "sqrt": "call double @llvm.sqrt.f64(double %s)",
    # Of two zeros either may win: `ops/fold.py` looks for the first one in the end.
    "least": "call nsz double @llvm.minimum.f64(double %s, double %s)",
    "largest": "call nsz double @llvm.maximum.f64(double %s, double %s)",
    "iadd": "add i64 %s, %s",
    "isub": "sub i64 %s, %s",
    "span": "call i64 @llvm.ssub.sat.i64(i64 %s, i64 %s)",
    "imul": "mul i64 %s, %s",
    "udiv": "udiv i64 %s, %s",
    "ineg": "sub i64 0, %s",
    "iabs": "call i64 @llvm.abs.i64(i64 %s, i1 false)",
    "iand": "and i64 %s, %s",
    "ior": "or i64 %s, %s",
    "ixor": "xor i64 %s, %s",
    "imin": "call i64 @llvm.smin.i64(i64 %s, i64 %s)",
    "imax": "call i64 @llvm.smax.i64(i64 %s, i64 %s)",
    "flt": "fcmp olt double %s, %s",
    "fle": "fcmp ole double %s, %s",
    "feq": "fcmp oeq double %s, %s",
    "fne": "fcmp une double %s, %s",
    "ilt": "icmp slt i64 %s, %s",
    "ile": "icmp sle i64 %s, %s",
    "ieq": "icmp eq i64 %s, %s",
    "same": "icmp eq ptr %s, %s",
    "ine": "icmp ne i64 %s, %s",
    "iult": "icmp ult i64 %s, %s",
    "and": "and i1 %s, %s",
    "or": "or i1 %s, %s",
    "not": "xor i1 %s, true",
    "to_float": "sitofp i64 %s to double",
    "to_single": "sitofp i64 %s to float",
    "narrow": "fptrunc double %s to float",
    "widen": "fpext float %s to double",
    "bits": "bitcast double %s to i64",
    "bool_to_int": "zext i1 %s to i64",
    "to_int": "fptosi double %s to i64",
}

# The same of f32.
SINGLE = {
    op: text.replace("double", "float").replace("f64", "f32")
    for op, text in SIMPLE.items()
    if INSTRUCTIONS[op].params[:1] == "f"
}

# The instructions that LLVM may contract if it is told so.
CONTRACTED = {"add": "fadd", "sub": "fsub", "mul": "fmul"}


def simple(op: str, types: Sequence[Scalar], contract: bool) -> str | None:
    """The text of an instruction of the table; None if it is not there."""
    text = SINGLE.get(op) if F32 in types else None
    text = text or SIMPLE.get(op)
    if text is not None and contract and op in CONTRACTED:
        return text.replace(CONTRACTED[op], f"{CONTRACTED[op]} contract")
    return text


def sum_flags(arithmetic: Arithmetic) -> str:
    """What is allowed for the additions of a sum, with a space behind it or nothing."""
    flags = "reassoc " if arithmetic.reorder else ""
    return flags + ("contract " if arithmetic.contract else "")


# Writes a short sequence and returns the name of its result.
Emitter = Callable[[Writer, Sequence[Atom], Sequence[str]], str]


def nan_or(
    out: Writer, compare: str, types: tuple[str, str], names: Sequence[str]
) -> str:
    """NumPy's minimum or maximum: the second argument if it wins or is NaN, so that of
    two zeros it is the first.

    `types` are those of the arguments and of comparisons.
    """
    (first, second), (ty, cond) = names, types
    wins = out.let(f"fcmp {compare} {ty} {second}, {first}")
    unordered = out.let(f"fcmp uno {ty} {second}, {second}")
    chosen = out.let(f"or {cond} {wins}, {unordered}")
    return out.let(f"select {cond} {chosen}, {ty} {second}, {ty} {first}")


def _nan_or(compare: str) -> Emitter:
    def emit(out: Writer, args: Sequence[Atom], names: Sequence[str]) -> str:
        return nan_or(out, compare, (REGISTER[args[0].type], "i1"), names)

    return emit


def _divide(out: Writer, args: Sequence[Atom], names: Sequence[str]) -> str:
    """Division that wraps around where the processor traps: least i64 over -1."""
    if _safe_divisor(args[1]):
        return out.let(f"sdiv i64 {names[0]}, {names[1]}")
    minus_one, divisor = _nontrapping(out, names[1])
    quotient = out.let(f"sdiv i64 {names[0]}, {divisor}")
    negated = out.let(f"sub i64 0, {names[0]}")
    return out.let(f"select i1 {minus_one}, i64 {negated}, i64 {quotient}")


def _remainder(out: Writer, args: Sequence[Atom], names: Sequence[str]) -> str:
    if _safe_divisor(args[1]):
        return out.let(f"srem i64 {names[0]}, {names[1]}")
    _, divisor = _nontrapping(out, names[1])
    return out.let(f"srem i64 {names[0]}, {divisor}")


def _safe_divisor(divisor: Atom) -> bool:
    return isinstance(divisor, Lit) and divisor.value not in (0, -1)


def _nontrapping(out: Writer, divisor: str) -> tuple[str, str]:
    """Whether the divisor is -1, and a divisor with 1 in its place."""
    minus_one = out.let(f"icmp eq i64 {divisor}, -1")
    return minus_one, out.let(f"select i1 {minus_one}, i64 1, i64 {divisor}")


# The comparisons of the instructions that choose a number, and what never wins.
WORST = {"lesser": ("olt", math.inf), "greater": ("ogt", -math.inf)}

# Literal exponents up to this size are multiplied out in place.
MAX_INLINE_POWER = 64


def _power(out: Writer, args: Sequence[Atom], names: Sequence[str]) -> str:
    exponent, ty = args[1], REGISTER[args[0].type]
    if not isinstance(exponent, Lit) or abs(exponent.value) > MAX_INLINE_POWER:
        function = _POWI[ty]
        return out.let(f"call {ty} @{function}({ty} {names[0]}, i64 {names[1]})")
    power = multiplied_out(out, ty, names[0], abs(int(exponent.value)))
    if exponent.value < 0:
        return out.let(f"fdiv {ty} {ONE}, {power}")
    return power


def multiplied_out(out: Writer, ty: str, base: str, exponent: int) -> str:
    """base ** exponent by repeated squaring, as `chad_powi` does it."""
    result = ""
    while exponent:
        if exponent & 1:
            result = _product(out, ty, result, base) if result else base
        exponent >>= 1
        if exponent:
            base = _product(out, ty, base, base)
    return result or ONE


def _product(out: Writer, ty: str, left: str, right: str) -> str:
    return out.let(f"fmul {ty} {left}, {right}")


def _fits(name: str) -> Emitter:
    """Whether an operation does not leave the range of i64."""

    def emit(out: Writer, _: Sequence[Atom], names: Sequence[str]) -> str:
        both = f"i64 {names[0]}, i64 {names[1]}"
        pair = out.let(f"call {{i64, i1}} @llvm.{name}.with.overflow.i64({both})")
        return out.let(f"xor i1 {out.let(f'extractvalue {{i64, i1}} {pair}, 1')}, true")

    return emit


def _shift_left(out: Writer, args: Sequence[Atom], names: Sequence[str]) -> str:
    """The processor looks at six bits of the count only."""
    if _is_place(args[1]):
        return out.let(f"shl i64 {names[0]}, {names[1]}")
    inside = out.let(f"icmp ult i64 {names[1]}, 64")
    places = out.let(f"and i64 {names[1]}, 63")
    shifted = out.let(f"shl i64 {names[0]}, {places}")
    return out.let(f"select i1 {inside}, i64 {shifted}, i64 0")


def _shift_right(out: Writer, args: Sequence[Atom], names: Sequence[str]) -> str:
    if _is_place(args[1]):
        return out.let(f"ashr i64 {names[0]}, {names[1]}")
    places = out.let(f"call i64 @llvm.umin.i64(i64 {names[1]}, i64 63)")
    return out.let(f"ashr i64 {names[0]}, {places}")


def _is_place(count: Atom) -> bool:
    return isinstance(count, Lit) and 0 <= count.value < 64


def _magnitude(out: Writer, name: str) -> str:
    """The absolute value, unsigned, so that it exists for the least i64 as well."""
    return out.let(f"call i64 @llvm.abs.i64(i64 {name}, i1 false)")


def _bit_length(out: Writer, _: Sequence[Atom], names: Sequence[str]) -> str:
    size = _magnitude(out, names[0])
    unused = out.let(f"call i64 @llvm.ctlz.i64(i64 {size}, i1 false)")
    return out.let(f"sub i64 64, {unused}")


def _ldexp(out: Writer, _: Sequence[Atom], names: Sequence[str]) -> str:
    """C's exponent is an int; beyond the bounds here the result is the same."""
    low = out.let(f"call i64 @llvm.smax.i64(i64 {names[1]}, i64 -4096)")
    exponent = out.let(f"call i64 @llvm.smin.i64(i64 {low}, i64 4096)")
    short = out.let(f"trunc i64 {exponent} to i32")
    return out.let(f"call double @llvm.ldexp.f64.i32(double {names[0]}, i32 {short})")


def _exponent(out: Writer, _: Sequence[Atom], names: Sequence[str]) -> str:
    """From the bits of the float; a subnormal one is made a normal one first."""
    size = out.let(f"call double @llvm.fabs.f64(double {names[0]})")
    tiny = out.let(f"fcmp olt double {size}, {float_literal(2.0**-1022)}")
    larger = out.let(f"fmul double {size}, {float_literal(2.0**54)}")
    normal = out.let(f"select i1 {tiny}, double {larger}, double {size}")
    bits = out.let(f"bitcast double {normal} to i64")
    exponent = out.let(f"lshr i64 {bits}, 52")
    bias = out.let(f"select i1 {tiny}, i64 {1022 + 54}, i64 1022")
    unbiased = out.let(f"sub i64 {exponent}, {bias}")
    proper = out.let(f"fcmp ogt double {size}, {float_literal(0.0)}")
    finite = out.let(f"fcmp olt double {size}, {float_literal(math.inf)}")
    both = out.let(f"and i1 {proper}, {finite}")
    return out.let(f"select i1 {both}, i64 {unbiased}, i64 0")


def _bit_count(out: Writer, _: Sequence[Atom], names: Sequence[str]) -> str:
    return out.let(f"call i64 @llvm.ctpop.i64(i64 {_magnitude(out, names[0])})")


def _select(out: Writer, args: Sequence[Atom], names: Sequence[str]) -> str:
    ty = REGISTER[args[1].type]
    return out.let(f"select i1 {names[0]}, {ty} {names[1]}, {ty} {names[2]}")


SEQUENCES: dict[str, Emitter] = {
    "minimum": _nan_or("olt"),
    "maximum": _nan_or("ogt"),
    "idiv": _divide,
    "irem": _remainder,
    "powi": _power,
    "add_fits": _fits("sadd"),
    "sub_fits": _fits("ssub"),
    "mul_fits": _fits("smul"),
    "ldexp": _ldexp,
    "exponent": _exponent,
    "shl": _shift_left,
    "shr": _shift_right,
    "bit_length": _bit_length,
    "bit_count": _bit_count,
    "select": _select,
}


def emit_instruction(
    out: Writer, let: Let, names: Sequence[str], contract: bool = True
) -> str:
    """Write the instruction of a `Let`, given its arguments' names; returns a name."""
    text = simple(let.op, [arg.type for arg in let.args], contract)
    if text is not None:
        return out.let(text % tuple(names), let.reg.name)
    return SEQUENCES[let.op](out, let.args, names)


# a ** n for every i64 n: by squaring, with the inverse of the power for a negative n.
_POWI = {"double": "chad_powi", "float": "chad_powif"}

POWI = f"""\
define internal double @chad_powi(double %base, i64 %n) #1 {{
entry:
  %magnitude = call i64 @llvm.abs.i64(i64 %n, i1 false)
  br label %loop
loop:
  %rest = phi i64 [ %magnitude, %entry ], [ %rest.next, %loop ]
  %square = phi double [ %base, %entry ], [ %square.next, %loop ]
  %power = phi double [ {ONE}, %entry ], [ %power.next, %loop ]
  %bit = and i64 %rest, 1
  %odd = icmp ne i64 %bit, 0
  %product = fmul double %power, %square
  %power.next = select i1 %odd, double %product, double %power
  %square.next = fmul double %square, %square
  %rest.next = lshr i64 %rest, 1
  %more = icmp ne i64 %rest.next, 0
  br i1 %more, label %loop, label %done
done:
  %negative = icmp slt i64 %n, 0
  %inverse = fdiv double {ONE}, %power.next
  %result = select i1 %negative, double %inverse, double %power.next
  ret double %result
}}
"""

# The same of f32.
POWI_SINGLE = POWI.replace("double", "float").replace("@chad_powi", "@chad_powif")
