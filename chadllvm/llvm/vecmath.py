"""Elementary functions: calls of libm that LLVM may replace by vector calls of libmvec.

A call carries the names of the vector versions the target can run; the vectoriser turns
four (or two, or eight) scalar calls into one. Where libmvec is missing the calls stay
scalar. Vector and scalar versions may differ in the last few ulps. What libm lacks, or
has in a form that is not safe in threads, is in the C runtime (`special.c`).
"""

from __future__ import annotations

from collections.abc import Mapping

from chadllvm.ir.loops import INSTRUCTIONS

# The instructions that are calls of libm's function of the same name.
_LIBM = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "pow"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "hypot", "remainder"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc"),
)

# The instructions that are calls of the runtime's function `chad_…`.
_RUNTIME = (
    *("lgamma", "digamma", "polygamma", "sinc", "round_to"),
    *("gcd", "factorial", "comb", "perm", "powmod", "power_fits"),
)

# Every instruction that is a call: the function's symbol.
SYMBOL: dict[str, str] = {
    **{name: name for name in _LIBM},
    "gamma": "tgamma",
    **{name: f"chad_{name}" for name in _RUNTIME},
}

RUNTIME_SYMBOLS = tuple(SYMBOL[name] for name in _RUNTIME)

# What LLVM itself may call in code made from the above or from other instructions.
LIBM_SYMBOLS = (
    *_LIBM,
    *("tgamma", "sincos", "exp10", "ldexp"),
    *("sqrt", "floor", "ceil", "trunc", "rint", "round", "fma", "fmod"),
    *("fmin", "fmax", "fabs", "copysign"),
)

# libmvec's instruction sets: mangled letter and lanes of a double vector, with the
# processor feature that each needs.
VECTOR_SETS = (("b", 2, "sse4.1"), ("d", 4, "avx2"), ("e", 8, "avx512f"))

_TYPES = {"f": "double", "i": "i64"}


def vector_symbols(features: Mapping[str, bool]) -> dict[str, tuple[str, ...]]:
    """The names that libmvec may have for each function on such a processor."""
    sets = [
        (letter, lanes) for letter, lanes, need in VECTOR_SETS if features.get(need)
    ]
    return {
        name: tuple(
            f"_ZGV{letter}N{lanes}{'v' * len(INSTRUCTIONS[name][0])}_{name}"
            for letter, lanes in sets
        )
        for name in _LIBM
    }


def call(name: str, args: list[str]) -> str:
    """The call of the function behind an instruction with these operands."""
    letters, result = INSTRUCTIONS[name]
    typed = [f"{_TYPES[x]} {arg}" for x, arg in zip(letters, args, strict=True)]
    return f"call {_TYPES[result]} @{SYMBOL[name]}({', '.join(typed)})"


def declare(name: str, vector: tuple[str, ...]) -> list[str]:
    """Declarations of a function and its vector versions; `#2` says that it is pure."""
    letters, result = INSTRUCTIONS[name]
    params = ", ".join(_TYPES[letter] for letter in letters)
    lines = [f"declare {_TYPES[result]} @{SYMBOL[name]}({params}) #2"]
    for symbol in vector:
        ty = f"<{lanes(symbol)} x double>"
        lines.append(f"declare {ty} @{symbol}({', '.join([ty] * len(letters))}) #2")
    return lines


def lanes(symbol: str) -> int:
    """The lanes of a vector function, from its mangled name `_ZGVdN4v_exp`."""
    return int(symbol[6])
