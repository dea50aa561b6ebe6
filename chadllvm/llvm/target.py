"""The processor that code is made for, and what of it the emitter must know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import llvmlite.binding as llvm

from chadllvm.llvm import vecmath

# Processors with these run 512-bit vectors at full clock speed.
FAST_512 = ("avx512vl", "avx512vbmi2")

# To how many bytes callers align the stack by convention.
STACK = 16

# What the names of targets with Windows' conventions contain.
_WINDOWS = ("windows", "win32", "mingw", "cygwin")


@dataclass(frozen=True, slots=True)
class Target:
    """A processor: LLVM's name of it, its features, and its vector library."""

    triple: str
    cpu: str
    features: tuple[tuple[str, bool], ...]
    # The symbols of libmvec that may be called.
    library: frozenset[str] = frozenset()

    @property
    def width(self) -> int:
        """The preferred vector width in bits."""
        has = dict(self.features)
        return 512 if all(has.get(feature) for feature in FAST_512) else 256

    @property
    def convention(self) -> str:
        """How subroutines are called, as LLVM writes it.

        Subroutines return a status in front of their results. That of Swift has a
        register more for these than that of C, which returns all in memory if it lacks
        one. Elsewhere that of C has enough, or LLVM knows no other one.
        """
        return "swiftcc " if self._is_unix_x86 else ""

    @property
    def stack(self) -> int:
        """To how many bytes vectors are aligned on the stack."""
        if self._is_unix_x86 and dict(self.features).get("avx"):
            return self.width // 8
        return STACK

    @property
    def _is_unix_x86(self) -> bool:
        is_windows = any(name in self.triple for name in _WINDOWS)
        return self.triple.startswith("x86_64") and not is_windows

    @property
    def vector(self) -> dict[str, tuple[str, ...]]:
        """The vector versions of libm's functions that may be called."""
        every = vecmath.vector_symbols(dict(self.features))
        return {
            name: tuple(symbol for symbol in symbols if symbol in self.library)
            for name, symbols in every.items()
        }

    def machine(self, level: int) -> llvm.TargetMachine:
        """A code generator at an optimisation level from 0 to 3."""
        flags = (("+" if on else "-") + name for name, on in self.features)
        return llvm.Target.from_triple(self.triple).create_target_machine(
            cpu=self.cpu,
            features=",".join(flags),
            opt=level,
            reloc="pic",
            codemodel="small",
        )


def llvm_version() -> str:
    """The version of LLVM."""
    return ".".join(map(str, llvm.llvm_version_info))


def host(has_symbol: Callable[[str], bool] = lambda _: False) -> Target:
    """The processor we run on; `has_symbol` tells which functions libmvec has."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    library: frozenset[str] = frozenset()
    triple = llvm.get_process_triple()
    if triple.startswith("x86_64"):
        every = vecmath.vector_symbols(features).values()
        library = frozenset(s for symbols in every for s in symbols if has_symbol(s))
    return Target(
        triple, llvm.get_host_cpu_name(), tuple(sorted(features.items())), library
    )
