"""Elementary functions: calls of libm that LLVM may replace by vector calls of libmvec.

A call carries the names of the vector versions the target can run; the vectoriser turns
four (or two, or eight) scalar calls into one. Where libmvec is missing the calls stay
scalar. Vector and scalar versions may differ in the last few ulps. What libm lacks, or
has in a form that is not safe in threads, is in the C runtime (`special.c`); what it is
slow at stands in the module itself (`hyperbolic.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chadllvm.ir.loops import INSTRUCTIONS
from chadllvm.ir.types import F32, F64, Scalar
from chadllvm.llvm import hyperbolic
from chadllvm.options import Arithmetic

# The instructions that are calls of libm's function of the same name.
_LIBM = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "pow"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "hypot", "remainder"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc"),
)

# The instructions that are calls of the runtime's function `chad_…`.
RUNTIME = (
    *("lgamma", "digamma", "polygamma", "sinc", "round_to"),
    *("gcd", "factorial", "comb", "perm", "powmod", "power_fits"),
)

# Every instruction that is a call: the function's symbol.
SYMBOL: dict[str, str] = {
    **{name: name for name in _LIBM},
    "gamma": "tgamma",
    **{name: f"chad_{name}" for name in RUNTIME},
}

# The functions of f64 that are written out in the modules that call them, by whether
# products may be contracted in them; they have the vector versions of libm's.
WRITTEN = {("tanh", True): hyperbolic.TANH, ("tanh", False): hyperbolic.TANH_APART}

RUNTIME_SYMBOLS = tuple(SYMBOL[name] for name in RUNTIME)

# What LLVM itself may call in code made from the above or from other instructions, and
# its counterpart for f32.
_DOUBLE_SYMBOLS = (
    *_LIBM,
    *("tgamma", "sincos", "exp10", "ldexp"),
    *("sqrt", "floor", "ceil", "trunc", "rint", "round", "fma", "fmod"),
    *("fmin", "fmax", "fabs", "copysign"),
)
LIBM_SYMBOLS = (*_DOUBLE_SYMBOLS, *(f"{name}f" for name in _DOUBLE_SYMBOLS))

# libmvec's instruction sets: mangled letter and lanes of a double vector, with the
# processor feature that each needs. A float vector has twice as many lanes.
VECTOR_SETS = (("b", 2, "sse4.1"), ("d", 4, "avx2"), ("e", 8, "avx512f"))

_TYPES = {F64: {"f": "double", "i": "i64"}, F32: {"f": "float", "i": "i64"}}

# What each function is: the instruction, and the width of the floats. The runtime's
# functions know f64 alone.
_FUNCTIONS: dict[str, tuple[str, Scalar]] = {
    **{symbol: (op, F64) for op, symbol in SYMBOL.items()},
    **{symbol: (op, F64) for (op, _), symbol in WRITTEN.items()},
    **{f"{symbol}f": (op, F32) for op, symbol in SYMBOL.items() if op not in RUNTIME},
}


def vector_symbols(features: Mapping[str, bool]) -> dict[str, tuple[str, ...]]:
    """The names that libmvec may have for each function on such a processor."""
    sets = [
        (letter, lanes) for letter, lanes, need in VECTOR_SETS if features.get(need)
    ]
    found = {
        name + suffix: tuple(
            f"_ZGV{letter}N{lanes * wider}{'v' * len(INSTRUCTIONS[name][0])}"
            f"_{name}{suffix}"
            for letter, lanes in sets
        )
        for suffix, wider in (("", 1), ("f", 2))
        for name in _LIBM
    }
    return found | {symbol: found[op] for (op, _), symbol in WRITTEN.items()}


def function_of(op: str, types: Sequence[Scalar], arithmetic: Arithmetic) -> str:
    """The symbol of the function behind an instruction on operands of these types."""
    if not arithmetic.own_functions:
        return SYMBOL[op]
    if F32 in types and op not in RUNTIME:
        return SYMBOL[op] + "f"
    return WRITTEN.get((op, arithmetic.contract), SYMBOL[op])


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
    op, width = _FUNCTIONS[symbol]
    letters, result = INSTRUCTIONS[op]
    types = _TYPES[width]
    typed = [f"{types[x]} {arg}" for x, arg in zip(letters, args, strict=True)]
    return f"call {types[result]} @{symbol}({', '.join(typed)})"


def declare(symbol: str, vector: tuple[str, ...]) -> list[str]:
    """Declarations of a function and its vector versions; `#2` says that it is pure.

    A function that is written out is defined.
    """
    op, width = _FUNCTIONS[symbol]
    letters, result = INSTRUCTIONS[op]
    types = _TYPES[width]
    params = ", ".join(types[letter] for letter in letters)
    declaration = f"declare {types[result]} @{symbol}({params}) #2"
    lines = [hyperbolic.DEFINITIONS.get(symbol, declaration)]
    for version in vector:
        ty = f"<{lanes(version)} x {types['f']}>"
        lines.append(f"declare {ty} @{version}({', '.join([ty] * len(letters))}) #2")
    return lines


def lanes(symbol: str) -> int:
    """The lanes of a vector function, from its mangled name such as `_ZGVdN4v_exp`."""
    return int(symbol[6 : symbol.index("v", 6)])
