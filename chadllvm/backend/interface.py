"""C declarations as cffi reads them, kept so that they are read once.

To read them anew in each process would take as long as all else together that a cached
call needs. cffi can write down what it has read, as a text in Python that builds the
same again; the cache keeps that text.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import _cffi_backend

from chadllvm.backend import cache
from chadllvm.backend.hashing import digest_of

_TITLE = "the interface of the C runtime"


def interface(declarations: str) -> Any:
    """What calls functions that are declared like this: cffi's `ffi`."""
    versions = f"{_cffi_backend.__version__} {sys.version}"
    key = digest_of(declarations.encode(), versions.encode())
    found = cache.load("interface", key)
    text = found or _read(declarations).encode()
    if found is None:
        cache.store("interface", key, _TITLE, text)
    space: dict[str, Any] = {}
    exec(compile(text, f"<{_TITLE}>", "exec"), space)
    return space["ffi"]


def _read(declarations: str) -> str:
    import tempfile

    import cffi
    from cffi.recompiler import make_py_source

    ffi = cffi.FFI()
    ffi.cdef(declarations)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "interface.py")
        make_py_source(ffi, "chadllvm_interface", path)
        with open(path, encoding="utf-8") as file:
            return file.read()
