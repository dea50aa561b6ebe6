"""Processors that code can be made for: by their names, and by triples of systems."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import llvmlite.binding as llvm

from chadllvm.backend.jit import host_target, vector_library
from chadllvm.llvm.target import Target
from chadllvm.support.levels import LEVELS

# What other processors have that run a whole system.
_BASELINES: dict[str, tuple[str, tuple[str, ...]]] = {
    "riscv64": ("generic-rv64", ("m", "a", "f", "d", "c")),
    "wasm32": ("generic", ()),
    "aarch64": ("generic", ()),
    "arm64": ("", ()),
    "x86_64": ("x86-64", ()),
}


class NoTarget(ValueError):
    """There is no such target, or it has no such processor."""


def host_triple() -> str:
    """The system we run on."""
    return host_target().triple


def target_for(triple: str | None, cpu: str | None) -> Target:
    """A target: by default the machine's system, and the least processor of its kind.

    Raises:
        NoTarget: if LLVM does not know the triple, or the processor.
    """
    own = host_target()
    where = triple or own.triple
    if cpu == "native":
        if arch_of(where) != arch_of(own.triple):
            raise NoTarget(f"cpu='native' is no processor of {where}")
        return replace(own, triple=where)
    name, features = _processor(where, cpu)
    library: frozenset[str] = frozenset()
    if where == own.triple:
        library = vector_library(features)
    pairs = tuple((feature, True) for feature in features)
    made = Target(where, name, pairs, library)
    _check(made, is_known=cpu is None or cpu in LEVELS)
    return made


def _processor(triple: str, cpu: str | None) -> tuple[str, tuple[str, ...]]:
    """The name of a processor, and its features that matter here."""
    arch = arch_of(triple)
    name, features = _BASELINES.get(arch, ("", ()))
    if cpu is None:
        return name, features
    if (cpu in LEVELS) != (arch == "x86_64") and cpu in LEVELS:
        raise NoTarget(f"cpu={cpu!r} is no processor of {triple}")
    return cpu, LEVELS.get(cpu, features)


def arch_of(triple: str) -> str:
    """The kind of processor in a triple."""
    arch = triple.partition("-")[0]
    return "x86_64" if arch in ("amd64", "x64") else arch


def usual_levels(triple: str | None) -> list[str | None]:
    """The processors that a library is made for if nobody says: any, and better ones.

    With 256 bits and fused operations, as most machines have, loops take half the time.
    """
    where = triple or host_triple()
    if arch_of(where) != "x86_64" or "msvc" in where:
        return [None]
    return ["x86-64", "x86-64-v3"]


def level_of(target: Target) -> int:
    """The level of x86-64 that a target is, from 1 on."""
    return [*LEVELS].index(target.cpu) + 1 if target.cpu in LEVELS else 1


# LLVM ends the process at a processor that it does not know, so another one asks.
_ASK = """
import sys
import llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
target = llvm.Target.from_triple(sys.argv[1])
machine = target.create_target_machine(cpu=sys.argv[2], features=sys.argv[3], opt=0)
machine.emit_object(llvm.parse_assembly("define void @f() { ret void }"))
"""


def _check(target: Target, is_known: bool) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        llvm.Target.from_triple(target.triple)
    except RuntimeError as error:
        raise NoTarget(f"target={target.triple!r}: {error}") from None
    if is_known:
        return
    features = ",".join("+" + name for name, _ in target.features)
    command = [sys.executable, "-c", _ASK, target.triple, target.cpu, features]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    if asked.returncode or "not a recognized processor" in asked.stderr:
        raise NoTarget(f"LLVM knows no processor {target.cpu!r} of {target.triple}")
