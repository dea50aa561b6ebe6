"""The levels of x86-64: what code may suppose of a processor besides that of a machine.

They are those of the psABI, which compilers and libraries know by these names.
"""

from __future__ import annotations

# What of each has to do with vector functions, in LLVM's words.
LEVELS: dict[str, tuple[str, ...]] = {
    "x86-64": (),
    "x86-64-v2": ("sse4.1",),
    "x86-64-v3": ("sse4.1", "avx2"),
    "x86-64-v4": ("sse4.1", "avx2", "avx512f"),
}

# The processor of the machine, whatever that is.
NATIVE = "native"

# What each has that the one below has not, in the system's words.
_ADDED = {
    "x86-64": "cmov cx8 fpu fxsr mmx syscall sse sse2",
    "x86-64-v2": "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3",
    "x86-64-v3": "avx avx2 bmi1 bmi2 f16c fma abm movbe xsave",
    "x86-64-v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
}


def lacking(level: str, flags: frozenset[str]) -> list[str]:
    """What a processor lacks of a level, by what the system says that it has."""
    levels = [*LEVELS]
    below = levels[: levels.index(level) + 1]
    return [
        flag for each in below for flag in _ADDED[each].split() if flag not in flags
    ]


def highest(flags: frozenset[str]) -> str:
    """The highest level that a processor has."""
    return [name for name in LEVELS if not lacking(name, flags)][-1]
