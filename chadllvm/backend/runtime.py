"""The C runtime as Python sees it: loading, contexts for calls, interrupts.

Contexts are kept in a pool that all compiled functions share: a call takes one and
gives it back, so that calls may run in many threads and inside each other. A context
keeps the memory of its last call, and the pool hands out the last one used first.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import sys
import threading
from importlib import metadata
from pathlib import Path
from typing import Any

import cffi

import chadllvm
from chadllvm.llvm.runtime import SYMBOLS

ABI = 1

# The result words that a pooled context has room for.
POOLED_WORDS = 256

_DECLARATIONS = """
typedef struct { int32_t site; int32_t unused; int64_t values[2]; } chad_context_t;
typedef struct chad_arena chad_arena_t;
int32_t chad_rt_abi(void);
int32_t chad_openmp(void);
chad_context_t *chad_context_new(void);
void chad_context_free(chad_context_t *context);
chad_arena_t *chad_enter(chad_context_t *context, int64_t regions);
void chad_leave(chad_context_t *context, chad_arena_t *arenas);
void *chad_arena_grow(chad_context_t *context, chad_arena_t *arena, int64_t bytes);
void chad_arena_reset(chad_arena_t *arena);
void *chad_result_alloc(chad_context_t *context, int64_t bytes);
void chad_results_discard(chad_context_t *context);
void chad_results_release(chad_context_t *context);
void chad_free(void *block);
int32_t chad_poll(chad_context_t *context);
void chad_set_poll(chad_context_t *context, int32_t (*callback)(void *), void *user);
int64_t chad_memory_used(const chad_context_t *context);
int64_t chad_memory_peak(const chad_context_t *context);
void chad_memory_reset_peak(chad_context_t *context);
void chad_set_memory_limit(chad_context_t *context, int64_t bytes);
"""

# A context, and room for results seen as floats and as integers.
CallState = tuple[Any, Any, Any]


class Runtime:
    """The loaded library with its pool of contexts."""

    def __init__(self, path: Path) -> None:
        self.ffi = cffi.FFI()
        self.ffi.cdef(_DECLARATIONS)
        self.lib: Any = self.ffi.dlopen(str(path))
        found = self.lib.chad_rt_abi()
        if found != ABI:
            raise ImportError(
                f"{path} speaks version {found} of the interface, chadllvm needs "
                f"version {ABI}: install chadllvm again, to build both together"
            )
        self.pool: list[CallState] = []
        self._interrupts: dict[int, BaseException] = {}
        self._poll = self.ffi.callback(
            "int32_t(void *)", self._ask, error=1, onerror=self._remember
        )

    def new_state(self) -> CallState:
        """A new context with room for results."""
        ffi, lib = self.ffi, self.lib
        context = lib.chad_context_new()
        if context == ffi.NULL:
            raise MemoryError("chadllvm: no memory for the context of a call")
        context = ffi.gc(context, lib.chad_context_free)
        lib.chad_set_poll(context, self._poll, ffi.NULL)
        return (context, *self.words(POOLED_WORDS))

    def words(self, count: int) -> tuple[Any, Any]:
        """Room for so many result words, seen as floats and as integers."""
        floats = self.ffi.new("double[]", count)
        return floats, self.ffi.cast("int64_t *", floats)

    def symbols(self) -> dict[str, int]:
        """The addresses of the functions that generated code calls."""
        cast, lib = self.ffi.cast, self.lib
        return {name: int(cast("intptr_t", getattr(lib, name))) for name in SYMBOLS}

    def take_interrupt(self) -> BaseException:
        """The exception that stopped a call in this thread."""
        return self._interrupts.pop(threading.get_ident(), KeyboardInterrupt())

    def _ask(self, _: Any) -> int:
        """Called by native code: run Python's signal handlers; 1 if one has raised."""
        try:
            ctypes.pythonapi.PyErr_CheckSignals()
        except BaseException as error:
            self._remember(type(error), error, None)
            return 1
        return 0

    def _remember(self, _kind: Any, error: BaseException, _traceback: Any) -> None:
        """A handler may raise before `_ask` has begun; cffi then calls this."""
        self._interrupts[threading.get_ident()] = error


@functools.cache
def runtime() -> Runtime:
    """The runtime of this process."""
    return Runtime(_library_path())


def _library_path() -> Path:
    # In an editable install that rebuilds, this renews the library if its source
    # changed.
    importlib.util.find_spec("chadllvm._built")
    suffix = "dylib" if sys.platform == "darwin" else "so"
    name = f"libchad_rt.{suffix}"
    folders = [Path(folder) for folder in chadllvm.__path__]
    # In a checkout Python finds the source first; the library is the installed one's.
    with contextlib.suppress(metadata.PackageNotFoundError):
        folders.append(
            Path(str(metadata.distribution("chadllvm").locate_file("chadllvm")))
        )
    for folder in folders:
        if (path := folder / name).exists():
            return path
    raise ImportError(
        f"chadllvm's runtime library {name} is missing: install the package with pip, "
        "which builds it"
    )
