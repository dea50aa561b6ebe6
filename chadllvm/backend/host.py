"""What else compiled code depends on: this machine, this interpreter, these libraries.

Code that was kept by one installation must not be run by another one that compiles
differently, so its key names all that takes part: chadllvm itself and the C runtime
(the contents of their files), llvmlite with LLVM, Python and NumPy, and the processor.

To read all files in each process would take long. What their contents come to is kept
by what the system says of them: names, sizes, and when they, and what is said of them,
were changed. It is of use only to save the reading: keys depend on contents alone. A
process in which files have changed since it began has neither the old ones nor the new,
and nothing is known of what it compiles.

To ask LLVM for the processor takes longer than all else that a cached call needs. What
the system says of it tells processors apart as well, and more finely.
"""

from __future__ import annotations

import functools
import os
import platform
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np

import chadllvm
from chadllvm.backend import cache
from chadllvm.backend.hashing import SIZE, digest_of
from chadllvm.backend.layout import HEAD, PLAIN
from chadllvm.backend.runtime import library_path
from chadllvm.support.levels import NATIVE, highest, lacking
from chadllvm.support.package import FOLDER

# The processor's name, its features, and nothing that changes from moment to moment.
_PROCESSOR = (b"vendor_id", b"cpu family", b"model", b"stepping", b"flags", b"Features")

_OURS = (".py", ".so", ".dylib")


@functools.cache
def software() -> bytes | None:
    """The digest of all programs that take part; None if it cannot be told."""
    try:
        files = [*_own_files(), *_llvm_files()]
        seen = [os.stat(path) for _, path in files]
    except OSError:
        return None
    if any(s.st_ctime_ns > chadllvm.STARTED for s in seen):
        return None
    facts = [
        f"{name} {path} {s.st_size} {s.st_ino} {s.st_mtime_ns} {s.st_ctime_ns}"
        for (name, path), s in zip(files, seen, strict=True)
    ]
    key = digest_of("\0".join(facts).encode())
    contents = cache.load("files", key)
    if contents is None or len(contents) != SIZE:
        contents = _contents(files)
        cache.store("files", key, "the files of the compiler", contents)
    versions = f"{sys.version} {np.__version__} {HEAD} {PLAIN}"
    return digest_of(contents, versions.encode())


def _contents(files: list[tuple[str, str]]) -> bytes:
    parts = []
    for name, path in files:
        with open(path, "rb") as file:
            parts += [name.encode(), digest_of(file.read())]
    return digest_of(*parts)


@functools.cache
def processor(cpu: str = NATIVE) -> bytes | None:
    """The digest of a processor and its system; None if nothing is said of it.

    It is this machine's, or a level of x86-64: then it is the same on all machines that
    have it.
    """
    if cpu != NATIVE:
        return digest_of(_system(), cpu.encode())
    lines = [line for line in _cpuinfo() if line.startswith(_PROCESSOR)]
    return digest_of(_system(), *lines) if lines else None


def flags() -> frozenset[str]:
    """What the processor of this machine has, in Linux's words."""
    for line in _cpuinfo():
        if line.startswith(b"flags"):
            return frozenset(line.decode().partition(":")[2].split())
    from chadllvm.llvm.target import host

    found = {name for name, is_there in host().features if is_there}
    return frozenset(name.replace(".", "_") for name in found) | _implied(found)


def _implied(features: set[str]) -> frozenset[str]:
    """What LLVM has other names of, or none: each 64-bit processor has that."""
    others = {"sse3": "pni", "sahf": "lahf_lm", "lzcnt": "abm", "bmi": "bmi1"}
    renamed = {flag for name, flag in others.items() if name in features}
    return frozenset(renamed | {"fpu", "syscall"})


@functools.cache
def require(cpu: str) -> None:
    """The processor of this machine must run code that is for another one.

    Raises:
        ValueError: if it does not, which would end the process.
    """
    if not is_x86():
        raise ValueError(f"cpu={cpu!r} is no processor of this machine")
    found = flags()
    if missing := lacking(cpu, found):
        raise ValueError(
            f"cpu={cpu!r}: the processor of this machine lacks {', '.join(missing)}; "
            f"the highest level that it has is {highest(found)!r}"
        )


def is_x86() -> bool:
    """Whether it is of the kind that has levels."""
    return platform.machine().lower() in ("x86_64", "amd64")


@functools.cache
def _cpuinfo() -> tuple[bytes, ...]:
    """What Linux says of the first core."""
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            text = file.read(16384)
    except OSError:
        return ()
    first, _, rest = text.partition(b"\n\n")
    return tuple(first.split(b"\n")) if rest else ()


def _system() -> bytes:
    return f"{sys.platform} {os.uname().machine} {_libc()}".encode()


def _libc() -> str:
    """The C library: vector functions that it has may be called."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return " ".join(platform.libc_ver())


def _own_files() -> Iterator[tuple[str, str]]:
    """The files of chadllvm, each as its name in the package and its path."""
    yield from _files(FOLDER, "")
    library = library_path()
    if os.path.dirname(library) != FOLDER:
        yield "installed library", library


def _llvm_files() -> Iterator[tuple[str, str]]:
    """Those of llvmlite, which is not loaded for that.

    LLVM is large. Where an installer has written down the digests of its files, that
    list stands for it, with the size of what is there.
    """
    spec = find_spec("llvmlite")
    if spec is None or not spec.submodule_search_locations:
        return
    (folder, *_) = spec.submodule_search_locations
    above = os.path.dirname(folder)
    names = [n for n in sorted(os.listdir(above)) if _is_record_folder(n)]
    records = [os.path.join(above, name, "RECORD") for name in names]
    records = [path for path in records if os.path.exists(path)]
    for name, path in _files(folder, "llvmlite/"):
        if records and not name.endswith(".py"):
            yield f"{name} {os.stat(path).st_size}", records[0]
        else:
            yield name, path


def _is_record_folder(name: str) -> bool:
    return name.startswith("llvmlite-") and name.endswith(".dist-info")


def _files(folder: str, prefix: str) -> Iterator[tuple[str, str]]:
    """The modules and libraries in a folder, and below."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__":
                yield from _files(entry.path, f"{prefix}{entry.name}/")
        elif entry.name.endswith(_OURS):
            yield prefix + entry.name, entry.path
