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
def processor() -> bytes | None:
    """The digest of what the system says of the processor; None if it says nothing."""
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            text = file.read(16384)
    except OSError:
        return None
    first, _, rest = text.partition(b"\n\n")
    if not rest:
        return None
    lines = [line for line in first.split(b"\n") if line.startswith(_PROCESSOR)]
    system = f"{sys.platform} {os.uname().machine} {_libc()}".encode()
    return digest_of(system, *lines)


def _libc() -> str:
    """The C library: vector functions that it has may be called."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return " ".join(platform.libc_ver())


def _own_files() -> Iterator[tuple[str, str]]:
    """The files of chadllvm, each as its name in the package and its path."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield from _files(folder, "")
    library = library_path()
    if os.path.dirname(library) != folder:
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
