"""Elementary functions: calls of libm that LLVM may replace by vector calls of libmvec.

A call carries the names of the vector versions the target can run; the vectoriser turns
four (or two, or eight) scalar calls into one. Where libmvec is missing the calls stay
scalar. Vector and scalar versions may differ in the last few ulps. What libm lacks, or
has in a form that is not safe in threads, is in the C runtime (`special.c`); what it is
slow at stands in the module itself (`hyperbolic.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from chadllvm.ir.op import Instruction
from chadllvm.ir.types import F32, F64, Scalar
from chadllvm.llvm import hyperbolic
from chadllvm.ops import INSTRUCTIONS
from chadllvm.support.options import Arithmetic

# The functions of f64 that are written out in the modules that call them, by whether
# products may be contracted in them; they have the vector versions of libm's.
WRITTEN = {("tanh", True): hyperbolic.TANH, ("tanh", False): hyperbolic.TANH_APART}

# What LLVM itself may call in code made from instructions.
_BESIDE = (
    *("sincos", "exp10", "ldexp"),
    *("sqrt", "floor", "ceil", "trunc", "rint", "round", "fma", "fmod"),
    *("fmin", "fmax", "fabs", "copysign"),
)

# libmvec's instruction sets: mangled letter and lanes of a double vector, with the
# processor feature that each needs. A float vector has twice as many lanes.
VECTOR_SETS = (("b", 2, "sse4.1"), ("d", 4, "avx2"), ("e", 8, "avx512f"))

_TYPES = {F64: {"f": "double", "i": "i64"}, F32: {"f": "float", "i": "i64"}}


def runtime_symbols() -> tuple[str, ...]:
    """The functions of the runtime that instructions call."""
    return tuple(i.symbol for i in INSTRUCTIONS.values() if _is_runtime(i))


def libm_symbols() -> tuple[str, ...]:
    """The functions of libm that code may call, and their counterparts for f32."""
    calls = (i.symbol for i in INSTRUCTIONS.values() if i.symbol and not _is_runtime(i))
    names = tuple(dict.fromkeys((*calls, *_BESIDE)))
    return (*names, *(f"{name}f" for name in names))


def _is_runtime(code: Instruction) -> bool:
    return code.symbol.startswith("chad_")


def _function(symbol: str) -> tuple[Instruction, Scalar]:
    """The instruction that a function is, and the width of its floats."""
    return _functions(len(INSTRUCTIONS))[symbol]


@cache
def _functions(count: int) -> dict[str, tuple[Instruction, Scalar]]:
    """Every function that so many instructions are."""
    calls = {op: code for op, code in INSTRUCTIONS.items() if code.symbol}
    return {
        **{code.symbol: (code, F64) for code in calls.values()},
        **{symbol: (calls[op], F64) for (op, _), symbol in WRITTEN.items()},
        **{f"{c.symbol}f": (c, F32) for c in calls.values() if not c.is_double},
    }


def vector_symbols(features: Mapping[str, bool]) -> dict[str, tuple[str, ...]]:
    """The names that libmvec may have for each function on such a processor."""
    sets = [
        (letter, lanes) for letter, lanes, need in VECTOR_SETS if features.get(need)
    ]
    found = {
        code.symbol + suffix: tuple(
            f"_ZGV{letter}N{lanes * wider}{'v' * len(code.params)}"
            f"_{code.symbol}{suffix}"
            for letter, lanes in sets
        )
        for suffix, wider in (("", 1), ("f", 2))
        for code in INSTRUCTIONS.values()
        if code.is_vector_call
    }
    calls = {symbol: INSTRUCTIONS[op].symbol for (op, _), symbol in WRITTEN.items()}
    return found | {symbol: found[call] for symbol, call in calls.items()}


def function_of(op: str, types: Sequence[Scalar], arithmetic: Arithmetic) -> str:
    """The symbol of the function behind an instruction on operands of these types."""
    code = INSTRUCTIONS[op]
    if not arithmetic.own_functions:
        return code.symbol
    if F32 in types and not code.is_double:
        return code.symbol + "f"
    return WRITTEN.get((op, arithmetic.contract), code.symbol)


def written_for(symbol: str, lanes: int) -> tuple[str, str] | None:
    """The function of vectors that stands in the modules that call it, and its text."""
    if symbol not in hyperbolic.DEFINITIONS:
        return None
    return (
        hyperbolic.vector_name(symbol, lanes),
        hyperbolic.vector_definition(symbol, lanes),
    )


def is_linked(symbol: str) -> bool:
    """Whether a function is somewhere else than in the module that calls it."""
    return symbol not in hyperbolic.DEFINITIONS


def call(symbol: str, args: list[str]) -> str:
    """The call of a function with these operands."""
    code, width = _function(symbol)
    types = _TYPES[width]
    typed = [f"{types[x]} {arg}" for x, arg in zip(code.params, args, strict=True)]
    return f"call {types[code.result]} @{symbol}({', '.join(typed)})"


def declare(symbol: str, vector: tuple[str, ...]) -> list[str]:
    """Declarations of a function and its vector versions; `#2` says that it is pure.

    A function that is written out is defined.
    """
    code, width = _function(symbol)
    types = _TYPES[width]
    params = ", ".join(types[letter] for letter in code.params)
    declaration = f"declare {types[code.result]} @{symbol}({params}) #2"
    lines = [hyperbolic.DEFINITIONS.get(symbol, declaration)]
    for version in vector:
        ty = f"<{lanes(version)} x {types['f']}>"
        lines.append(
            f"declare {ty} @{version}({', '.join([ty] * len(code.params))}) #2"
        )
    return lines


def lanes(symbol: str) -> int:
    """The lanes of a vector function, from its mangled name such as `_ZGVdN4v_exp`."""
    return int(symbol[6 : symbol.index("v", 6)])
