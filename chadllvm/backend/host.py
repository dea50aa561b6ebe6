"""What else compiled code depends on: this machine, this interpreter, these libraries.

Code that was kept by one installation must not be run by another one that compiles
differently, so its key names all that takes part: chadllvm itself (each of its files),
the C runtime, llvmlite with LLVM, Python and NumPy, and the processor.

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

from chadllvm.backend.hashing import digest_of
from chadllvm.backend.layout import HEAD, PLAIN
from chadllvm.backend.runtime import library_path

# The processor's name, its features, and nothing that changes from moment to moment.
_PROCESSOR = (b"vendor_id", b"cpu family", b"model", b"stepping", b"flags", b"Features")


@functools.cache
def software() -> bytes:
    """The digest of all programs that take part."""
    parts = [
        *_stamps(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
        *_llvm_stamps(),
        str(library_path()),
        sys.version,
        np.__version__,
        f"{HEAD} {PLAIN}",
    ]
    with open(library_path(), "rb") as library:
        return digest_of("\0".join(parts).encode(), library.read())


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


def _stamps(folder: str) -> Iterator[str]:
    """The names, sizes and times of the Python files in a folder, and below."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__":
                yield from _stamps(entry.path)
        elif entry.name.endswith(".py"):
            yield _stamp(entry.path, entry.stat())


def _llvm_stamps() -> Iterator[str]:
    """The same of llvmlite: loading it would take long."""
    spec = find_spec("llvmlite")
    if spec is None or not spec.submodule_search_locations:
        return
    (folder, *_) = spec.submodule_search_locations
    for path in (os.path.join(folder, "_version.py"), *_files(folder, "binding")):
        try:
            yield _stamp(path, os.stat(path))
        except OSError:
            continue


def _files(*folder: str) -> list[str]:
    path = os.path.join(*folder)
    try:
        return [os.path.join(path, name) for name in sorted(os.listdir(path))]
    except OSError:
        return []


def _stamp(path: str, status: os.stat_result) -> str:
    return f"{path} {status.st_size} {status.st_mtime_ns}"
