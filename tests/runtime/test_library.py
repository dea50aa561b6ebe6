"""The shared library as Python sees it: its names, its numbers, its callbacks.

What the functions do is tested in C, in runtime_c/test/.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cffi
import pytest

HEADER = Path(__file__).resolve().parents[2] / "runtime_c" / "include" / "chad_rt.h"
NAME = "libchad_rt.dylib" if sys.platform == "darwin" else "libchad_rt.so"


def find_library() -> Path:
    """The installed library; the package itself need not be importable for that."""
    spec = importlib.util.find_spec("chadllvm")
    assert spec is not None
    places = [Path(p) / NAME for p in spec.submodule_search_locations or ()]
    return next(place for place in places if place.exists())


LIBRARY = find_library()

ffi = cffi.FFI()
ffi.cdef(
    """
    typedef struct { int32_t site, unused; int64_t values[2]; } chad_context_t;
    typedef struct { char *cursor, *limit; void *hidden[6]; } chad_arena_t;
    int32_t chad_rt_abi(void);
    int32_t chad_openmp(void);
    chad_context_t *chad_context_new(void);
    void chad_context_free(chad_context_t *);
    chad_arena_t *chad_enter(chad_context_t *, int64_t);
    void chad_leave(chad_context_t *, chad_arena_t *);
    void *chad_arena_grow(chad_context_t *, chad_arena_t *, int64_t);
    int32_t chad_poll(chad_context_t *);
    void chad_set_poll(chad_context_t *, int32_t (*)(void *), void *);
    int64_t chad_memory_used(const chad_context_t *);
    """
)


def declared_functions() -> list[str]:
    text = HEADER.read_text(encoding="utf-8")
    return re.findall(r"^CHAD_API .*?(chad_\w+)\(", text, re.MULTILINE)


@pytest.fixture(scope="module")
def library() -> Any:
    return ffi.dlopen(str(LIBRARY))


def test_every_declared_function_is_exported() -> None:
    names = declared_functions()
    marks = HEADER.read_text(encoding="utf-8").count("\nCHAD_API ")
    assert len(names) == len(set(names)) == marks
    every = cffi.FFI()
    every.cdef("".join(f"void {name}(void);" for name in names))
    opened = every.dlopen(str(LIBRARY))
    for name in names:
        assert getattr(opened, name)


def test_abi_is_the_headers(library: Any) -> None:
    match = re.search(r"#define CHAD_RT_ABI (\d+)", HEADER.read_text(encoding="utf-8"))
    assert match is not None
    assert library.chad_rt_abi() == int(match[1])


def test_openmp_is_a_date_or_zero(library: Any) -> None:
    assert library.chad_openmp() == 0 or library.chad_openmp() >= 200505


def test_arena_is_one_line_of_cache() -> None:
    assert ffi.sizeof("chad_arena_t") == 64
    assert ffi.offsetof("chad_context_t", "values") == 8


def allocate_and_leave(library: Any, rounds: int) -> int:
    """Many calls with one context; the bytes still in use after them."""
    context = library.chad_context_new()
    for size in range(rounds):
        arenas = library.chad_enter(context, 2)
        assert library.chad_arena_grow(context, arenas + 1, 1000 * size) != ffi.NULL
        library.chad_leave(context, arenas)
    used = int(library.chad_memory_used(context))
    library.chad_context_free(context)
    return used


def test_threads_with_a_context_each(library: Any) -> None:
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(allocate_and_leave, library, 500) for _ in range(8)]
        assert [job.result() for job in jobs] == [0] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_works_in_a_child(library: Any) -> None:
    assert allocate_and_leave(library, 10) == 0
    child = os.fork()
    if child == 0:
        os._exit(0 if allocate_and_leave(library, 10) == 0 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_poll_asks_python(library: Any) -> None:
    asked = []

    @ffi.callback("int32_t(void *)")
    def stop(user: Any) -> int:
        asked.append(user)
        return 1

    context = library.chad_context_new()
    library.chad_set_poll(context, stop, ffi.NULL)
    answers = [library.chad_poll(context) for _ in range(1000)]
    library.chad_context_free(context)
    assert answers[0] == 5
    assert len(asked) == answers.count(5) <= 3
