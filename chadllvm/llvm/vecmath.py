"""Elementary functions: calls of libm that LLVM may replace by vector calls of libmvec.

A call carries the names of the vector versions the target can run; the vectoriser turns
four (or two, or eight) scalar calls into one. Where libmvec is missing the calls stay
scalar. Vector and scalar versions may differ in the last few ulps.
"""

from __future__ import annotations

from collections.abc import Mapping

# The number of arguments of each function of libm that the loop language calls.
ARITY = {"exp": 1, "log": 1, "sin": 1, "cos": 1, "tanh": 1, "pow": 2}

# What LLVM itself may call in code made from the above or from other instructions.
LIBM_SYMBOLS = (
    *ARITY,
    *("sincos", "tan", "exp2", "exp10", "log2", "log10", "expm1", "log1p", "ldexp"),
    *("sqrt", "cbrt", "floor", "ceil", "trunc", "rint", "round", "fma", "fmod"),
    *("fmin", "fmax", "sinh", "cosh", "fabs", "copysign"),
)

# libmvec's instruction sets: mangled letter and lanes of a double vector, with the
# processor feature that each needs.
VECTOR_SETS = (("b", 2, "sse4.1"), ("d", 4, "avx2"), ("e", 8, "avx512f"))


def vector_symbols(features: Mapping[str, bool]) -> dict[str, tuple[str, ...]]:
    """The libmvec symbols of each function for a processor with these features."""
    sets = [
        (letter, lanes) for letter, lanes, need in VECTOR_SETS if features.get(need)
    ]
    return {
        name: tuple(
            f"_ZGV{letter}N{lanes}{'v' * arity}_{name}" for letter, lanes in sets
        )
        for name, arity in ARITY.items()
    }


def declare(name: str, vector: tuple[str, ...]) -> list[str]:
    """Declarations of a function and its vector versions; `#2` says that it is pure."""
    lines = [f"declare double @{name}({_params('double', ARITY[name])}) #2"]
    for symbol in vector:
        ty = f"<{lanes(symbol)} x double>"
        lines.append(f"declare {ty} @{symbol}({_params(ty, ARITY[name])}) #2")
    return lines


def lanes(symbol: str) -> int:
    """The lanes of a vector function, from its mangled name `_ZGVdN4v_exp`."""
    return int(symbol[6])


def _params(ty: str, count: int) -> str:
    return ", ".join([ty] * count)
