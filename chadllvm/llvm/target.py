"""The processor that code is made for, and what of it the emitter must know."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import llvmlite.binding as llvm

from chadllvm.llvm import vecmath

# Processors with these run 512-bit vectors at full clock speed.
FAST_512 = ("avx512vl", "avx512vbmi2")


@dataclass(frozen=True, slots=True)
class Target:
    """A processor: LLVM's name of it, its features, and which vector library it has."""

    triple: str
    cpu: str
    features: tuple[tuple[str, bool], ...]
    vector_math: bool

    @property
    def width(self) -> int:
        """The preferred vector width in bits."""
        has = dict(self.features)
        return 512 if all(has.get(feature) for feature in FAST_512) else 256

    @property
    def vector(self) -> dict[str, tuple[str, ...]]:
        """The vector versions of libm's functions that may be called."""
        return vecmath.vector_symbols(dict(self.features)) if self.vector_math else {}

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


def host(vector_math: bool = True) -> Target:
    """The processor we run on; libmvec exists for x86-64 Linux only."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    features = tuple(sorted(llvm.get_host_cpu_features().items()))
    has_library = sys.platform == "linux" and triple.startswith("x86_64")
    return Target(
        triple, llvm.get_host_cpu_name(), features, vector_math and has_library
    )
