"""What the compiler and its programs find on a machine, and what is wrong with it.

Each finding is fine, a note (something would be better), or broken: compiled functions
do not run, or not rightly.
"""

from __future__ import annotations

import math
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from importlib import metadata

from chadllvm._version import __version__
from chadllvm.cli.output import size


class Health(Enum):
    """How good a finding is."""

    FINE = "ok"
    NOTE = "note"
    BROKEN = "broken"


@dataclass(frozen=True)
class Finding:
    """One thing of the machine; `remedy` says what to do if it is not fine."""

    name: str
    text: str
    health: Health = Health.FINE
    remedy: str = ""


def examine() -> Iterator[Finding]:
    """All findings; what fails altogether is broken."""
    for name, look in LOOKS.items():
        try:
            text, health, remedy = look()
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            health, remedy = Health.BROKEN, _REINSTALL
        yield Finding(name, text, health, remedy)


_REINSTALL = "install chadllvm again: pip install --force-reinstall chadllvm"

# A text, how good it is, and the remedy.
Look = tuple[str, Health, str]


def _fine(text: str) -> Look:
    return text, Health.FINE, ""


def _python() -> Look:
    versions = [f"{p} {metadata.version(p)}" for p in ("numpy", "cffi", "llvmlite")]
    text = f"{platform.python_version()} with {', '.join(versions)}"
    installed = metadata.version("chadllvm")
    if installed == __version__:
        return _fine(f"{text}, chadllvm {__version__}")
    text = f"{text}; chadllvm {__version__} runs, {installed} is installed"
    return text, Health.NOTE, "run it outside of its source, or install it again"


def _llvm() -> Look:
    from chadllvm.llvm.target import host, llvm_version

    return _fine(f"{llvm_version()} for {host().triple}")


def _processor() -> Look:
    from chadllvm.backend.host import flags, is_x86
    from chadllvm.llvm.target import host
    from chadllvm.support.levels import highest

    target = host()
    features = dict(target.features)
    found = [f for f in ("sse4.2", "avx2", "fma", "avx512f") if features.get(f)]
    found += [highest(flags())] if is_x86() else []
    sets = f" ({', '.join(found)})" if found else ""
    return _fine(f"{target.cpu}{sets}, {_cores()}")


def _cores() -> str:
    every = os.cpu_count() or 1
    usable = every
    if hasattr(os, "sched_getaffinity"):
        usable = len(os.sched_getaffinity(0))
    return f"{usable} of {every} cores" if usable < every else f"{every} cores"


def _runtime() -> Look:
    from chadllvm.backend.runtime import library_path, runtime

    runtime().new_state()
    return _fine(library_path())


def _memory() -> Look:
    from chadllvm.backend.runtime import runtime

    state = runtime().new_state()
    limit = int(runtime().lib.chad_memory_limit(state[0]))
    text = f"a call may use {size(limit)}"
    if limit >= _LITTLE:
        return _fine(text)
    remedy = "tapes of long loops may not fit: raise the limit of the control group"
    return text, Health.NOTE, f"{remedy} or ulimit -v"


# Less memory than this is not what a machine has today.
_LITTLE = 1 << 30


def _openmp() -> Look:
    from chadllvm.api.threads import get_num_threads
    from chadllvm.backend.runtime import runtime

    version, threads = int(runtime().lib.chad_openmp()), get_num_threads()
    if version:
        plural = "" if threads == 1 else "s"
        return _fine(f"version {version}, {threads} thread{plural} a call")
    remedy = (
        "install the OpenMP runtime (Debian: libgomp1; macOS: libomp); if chadllvm was "
        "built without it, build it again"
    )
    return "none: programs run on one core", Health.NOTE, remedy


def _vector_math() -> Look:
    from chadllvm.backend.jit import host_target

    found = [name for name, versions in host_target().vector.items() if versions]
    if found:
        return _fine(f"libmvec with {len(found)} functions")
    remedy = "glibc 2.35 or newer has it on x86-64, in libmvec.so.1"
    return "none: exp, sin and others are called one by one", Health.NOTE, remedy


def _gradient() -> Look:
    """Compile a gradient, past every cache, and look at what it gives."""
    from chadllvm.api.compiled import Function
    from chadllvm.api.transforms import value_and_grad
    from chadllvm.support.options import CompileOptions

    probe = Function(_probe, CompileOptions(cache=False))
    value, slope = value_and_grad(probe)(0.5)
    expected = math.sin(0.25), math.cos(0.25)
    if math.isclose(value, expected[0]) and math.isclose(slope, expected[1]):
        return _fine("compiled, and right")
    text = f"is ({value}, {slope}), and should be {expected}"
    return text, Health.BROKEN, "please report this"


def _probe(x: float) -> float:
    return math.sin(x * x)


def _cache() -> Look:
    from chadllvm.backend import cache

    folder = cache.directory()
    if not cache.is_on():
        return _fine("off, as CHADLLVM_CACHE says")
    if folder is None:
        remedy = "name a folder in CHADLLVM_CACHE_DIR, so that nothing compiles twice"
        return "none: there is no home for it", Health.NOTE, remedy
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        remedy = "name another folder in CHADLLVM_CACHE_DIR"
        return f"{there} cannot be written to", Health.NOTE, remedy
    if (problem := cache.distrusted()) is not None:
        return f"none: {problem}", Health.NOTE, problem.remedy
    entries = cache.entries()
    text = f"{len(entries)} files, {size(sum(e.size for e in entries))}, in {folder}"
    wrong = sum(bool(entry.problem) for entry in entries)
    if not wrong:
        return _fine(text)
    remedy = "`chadllvm cache verify` shows them, `chadllvm cache prune` removes them"
    return f"{text}; something is wrong with {wrong} of them", Health.NOTE, remedy


def _compiler() -> Look:
    return _tool("a C compiler", os.environ.get("CC", ""), "cc", "gcc", "clang")


def _cmake() -> Look:
    return _tool("CMake", "cmake")


def _tool(what: str, *commands: str) -> Look:
    """The first line of what a program says of its version."""
    for command in commands:
        if command and (path := shutil.which(command.split()[0])):
            asked = [path, "--version"]
            done = subprocess.run(asked, capture_output=True, text=True, timeout=20)
            first = (done.stdout or done.stderr).strip().partition("\n")[0]
            if done.returncode == 0:
                return _fine(first)
            remedy = "repair it; compiled functions do not need it"
            return f"{path} fails: {first}", Health.NOTE, remedy
    remedy = f"{what} is needed for exported libraries and for builds from source only"
    return "none", Health.NOTE, remedy


LOOKS: dict[str, Callable[[], Look]] = {
    "Python": _python,
    "LLVM": _llvm,
    "processor": _processor,
    "runtime": _runtime,
    "memory": _memory,
    "OpenMP": _openmp,
    "vector math": _vector_math,
    "gradient": _gradient,
    "cache": _cache,
    "compiler": _compiler,
    "CMake": _cmake,
}
