"""Code in memory that debuggers know the lines of, by GDB's interface for JITs."""

from __future__ import annotations

import weakref

from chadllvm.backend.runtime import runtime


def describe(owner: object, code: bytes) -> None:
    """Tell debuggers of an object file, as long as its owner lives.

    Its sections have the addresses that they were put at.
    """
    library = runtime().lib
    described = library.chad_code_describe(code, len(code))
    if described:
        weakref.finalize(owner, library.chad_code_forget, described).atexit = False
