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
import os
import sys
import threading
from typing import Any

import chadllvm
from chadllvm.backend.interface import interface

ABI = 16

# The result words that a pooled context has room for.
POOLED_WORDS = 256

_DECLARATIONS = """
typedef struct {
  int32_t site; int32_t unused; int64_t values[8]; char *stack_limit; int64_t fuel;
  void *forks; void *crew; void *outs;
} chad_context_t;
typedef struct chad_arena chad_arena_t;
int32_t chad_rt_abi(void);
int32_t chad_openmp(void);
chad_context_t *chad_context_new(void);
void chad_context_free(chad_context_t *context);
chad_arena_t *chad_enter(chad_context_t *context, int64_t regions);
void chad_leave(chad_context_t *context, chad_arena_t *arenas);
void *chad_arena_grow(chad_context_t *context, chad_arena_t *arena, int64_t bytes);
void *chad_arena_extend(chad_context_t *context, chad_arena_t *arena, void *old,
                        int64_t old_words, int64_t used_words, int64_t words);
int64_t chad_arena_segment(chad_context_t *context, chad_arena_t *arena,
                           const void *base, int64_t words, int64_t rows);
void chad_arena_reset(chad_arena_t *arena);
void chad_arena_release(chad_arena_t *arena, void *chunk, char *cursor);
void chad_arena_give(chad_context_t *context, chad_arena_t *arena);
int32_t chad_deep(chad_context_t *context, int32_t (*run)(chad_context_t *, void *),
                  void *argument);
int32_t chad_deeper(chad_context_t *context, const char *frame);
typedef int32_t (*chad_run_t)(chad_context_t *, void *, int64_t);
typedef int32_t (*chad_merge_t)(chad_context_t *, void *, int64_t, int64_t);
int32_t chad_parallel(chad_context_t *context, chad_run_t run, chad_merge_t merge,
                      void *environment, int64_t chunks, int64_t lanes, int64_t parts);
int64_t chad_lanes(const chad_context_t *context, int64_t chunks);
int32_t chad_turn(chad_context_t *context, void *target);
int32_t chad_row_turn(chad_context_t *context, int64_t *rows, int64_t place,
                      int64_t step);
void chad_row_done(int64_t *rows, int64_t place, int64_t step);
void chad_log_sort(int64_t *places, void *values, int64_t bytes, int64_t count,
                   int64_t room, int64_t size, int64_t parts, int64_t *starts);
int32_t chad_clear(chad_context_t *context, void *target, int64_t bytes);
int32_t chad_copy(chad_context_t *context, void *target, const void *source,
                  int64_t bytes);
int32_t chad_are_doubles(chad_context_t *context, const double *data, int64_t count);
int32_t chad_are_floats(chad_context_t *context, const float *data, int64_t count);
int32_t chad_divide(chad_context_t *context, chad_arena_t *arenas, chad_run_t run,
                    void *environment, int64_t patience);
void chad_offer(chad_context_t *context);
int32_t chad_join(chad_context_t *context, void *fork, int32_t status);
void chad_keep(chad_context_t *context, chad_arena_t *arenas);
int64_t chad_threads(const chad_context_t *context);
void chad_set_threads(int64_t threads);
void *chad_result_alloc(chad_context_t *context, int64_t bytes);
void chad_lend(chad_context_t *context, void *outs);
void *chad_result_take(chad_context_t *context, int64_t number, int64_t bytes,
                       int32_t are_added_to);
int32_t chad_result_copy(chad_context_t *context, void *result, int64_t rank,
                         int64_t bytes, void *to, const int64_t *dims);
void chad_results_discard(chad_context_t *context);
void chad_results_release(chad_context_t *context);
void chad_free(void *block);
int32_t chad_poll(chad_context_t *context);
void chad_set_poll(chad_context_t *context, int32_t (*callback)(void *), void *user);
typedef struct { const char *kinds, *text; const int64_t *words; int32_t error; }
    chad_line_t;
void chad_set_print(chad_context_t *context, int32_t (*callback)(void *line));
void chad_print_real(chad_context_t *context, double value);
void chad_print_integer(chad_context_t *context, int64_t value);
void chad_print_address(chad_context_t *context, const void *value);
int32_t chad_print(chad_context_t *context, const char *kinds, int64_t error);
int64_t chad_memory_used(const chad_context_t *context);
int64_t chad_memory_peak(const chad_context_t *context);
void chad_memory_reset_peak(chad_context_t *context);
void chad_set_memory_limit(chad_context_t *context, int64_t bytes);
int64_t chad_memory_limit(const chad_context_t *context);
int64_t chad_steps(const chad_context_t *context);
void chad_set_grants(int64_t requests);
void chad_set_guards(void);
int32_t chad_san_violation(char *text, int64_t bytes);
void *chad_code_describe(const void *object, int64_t bytes);
void chad_code_forget(void *described);

// Code that checks itself calls these, see chad_rt.h.
void chad_san_enter(void);
void chad_san_leave(void);
void chad_san_result_alloc(void);
void chad_san_arena_grow(void);
void chad_san_arena_extend(void);
void chad_san_arena_segment(void);
void chad_san_arena_reset(void);
void chad_san_arena_release(void);
void chad_san_arena_give(void);
void chad_san_array_new(void);
void chad_san_array_row(void);
void chad_san_array_with(void);
void chad_san_array_resized(void);
void chad_san_array_of_bag(void);
void chad_san_array_data(void);
void chad_san_cells_close_array(void);
void chad_san_buffer(void);
void chad_san_input(void);
void chad_san_input_free(void);
void chad_san_access(void);
void chad_san_masked(void);
void chad_san_bytes(void);
void chad_san_words(void);
void chad_san_step(void);
void chad_san_overflow(void);
void chad_san_end(void);

double chad_lgamma(double);
double chad_digamma(double);
double chad_polygamma(int64_t, double);
double chad_sinc(int64_t, double);
int64_t chad_gcd(int64_t, int64_t);
int64_t chad_factorial(int64_t);
int64_t chad_comb(int64_t, int64_t);
int64_t chad_perm(int64_t, int64_t);
int64_t chad_power_fits(int64_t, int64_t);
int64_t chad_powmod(int64_t, int64_t, int64_t);
double chad_round_to(double, int64_t);

typedef struct chad_bag chad_bag_t;
typedef struct chad_array {
  double *data;
  const chad_bag_t *bag;
  int64_t size;
  int64_t rank;
  struct chad_array *whole;
  struct chad_change *change;
  int64_t place;
  int64_t turned;
  int64_t dims[];
} chad_array_t;
chad_array_t *chad_array_new(chad_context_t *, chad_arena_t *, int64_t,
                             const int64_t *);
chad_array_t *chad_array_row(chad_context_t *, chad_arena_t *, chad_array_t *, int64_t,
                             int64_t);
chad_array_t *chad_array_with(chad_context_t *, chad_arena_t *, chad_array_t *, int64_t,
                              int64_t, const double *);
chad_array_t *chad_array_resized(chad_context_t *, chad_arena_t *, chad_array_t *,
                                 const int64_t *, int64_t, const double *);
chad_array_t *chad_array_of_bag(chad_context_t *, chad_arena_t *, const chad_bag_t *,
                                int64_t, const int64_t *);
void *chad_array_data(chad_context_t *, chad_arena_t *, chad_array_t *);

const chad_bag_t *chad_bag_one(chad_context_t *, chad_arena_t *, int64_t, double);
int32_t chad_bag_plus(chad_context_t *, chad_arena_t *, const chad_bag_t *,
                      const chad_bag_t *, const chad_bag_t **);
int32_t chad_bag_array(chad_context_t *, chad_arena_t *, int64_t, chad_array_t *,
                       const chad_bag_t **);
int32_t chad_bag_collect(chad_context_t *, const chad_bag_t *, double *, int64_t);
int64_t chad_bag_cost(const chad_bag_t *);

typedef struct chad_ct chad_ct_t;
typedef union {
  double f;
  int64_t i;
  const chad_ct_t *ct;
  chad_array_t *array;
} chad_ct_word_t;
struct chad_ct { int64_t kind; chad_ct_word_t first, second; };
const chad_ct_t *chad_ct_unit(void);
const chad_ct_t *chad_ct_empty(void);
const chad_ct_t *chad_ct_real(chad_context_t *, chad_arena_t *, double);
const chad_ct_t *chad_ct_pair(chad_context_t *, chad_arena_t *, const chad_ct_t *,
                              const chad_ct_t *);
const chad_ct_t *chad_ct_injection(chad_context_t *, chad_arena_t *, int64_t,
                                   const chad_ct_t *);
const chad_ct_t *chad_ct_one(chad_context_t *, chad_arena_t *, int64_t,
                             const chad_ct_t *);
const chad_ct_t *chad_ct_array(chad_context_t *, chad_arena_t *, int64_t,
                               chad_array_t *);
const chad_ct_t *chad_ct_scatter(chad_context_t *, chad_arena_t *, chad_array_t *,
                                 chad_array_t *);
int32_t chad_ct_plus(chad_context_t *, chad_arena_t *, const chad_ct_t *,
                     const chad_ct_t *, const chad_ct_t **);
int32_t chad_ct_collect(chad_context_t *, chad_arena_t *, const chad_ct_t *,
                        const chad_ct_t **, int64_t);

typedef struct chad_cells chad_cells_t;
chad_cells_t *chad_cells_new(chad_context_t *, chad_arena_t *);
int64_t chad_cells_open_real(chad_context_t *, chad_cells_t *);
int64_t chad_cells_open_array(chad_context_t *, chad_cells_t *, int64_t,
                              const int64_t *);
int64_t chad_cells_open_ct(chad_context_t *, chad_cells_t *, const chad_ct_t *);
void chad_cells_add_real(chad_cells_t *, int64_t, double);
int32_t chad_cells_add_element(chad_context_t *, chad_cells_t *, int64_t, int64_t,
                               double);
int32_t chad_cells_add_array(chad_context_t *, chad_cells_t *, int64_t, int64_t,
                             chad_array_t *);
int32_t chad_cells_add_ct(chad_context_t *, chad_cells_t *, int64_t, const chad_ct_t *);
double chad_cells_close_real(chad_cells_t *, int64_t);
chad_array_t *chad_cells_close_array(chad_context_t *, chad_cells_t *, int64_t);
const chad_ct_t *chad_cells_close_ct(chad_context_t *, chad_cells_t *, int64_t);
int64_t chad_cells_length(const chad_cells_t *);
int64_t chad_cells_moves(const chad_cells_t *);
int64_t chad_cells_steps(const chad_cells_t *);

// A word is passed like an integer; cffi cannot call with unions.
typedef int64_t chad_word_t;
typedef struct chad_tree chad_tree_t;
const chad_tree_t *chad_tree_leaf(chad_context_t *, chad_arena_t *, chad_word_t);
const chad_tree_t *chad_tree_node(chad_context_t *, chad_arena_t *, const chad_tree_t *,
                                  chad_word_t, chad_word_t, const chad_tree_t *);
chad_word_t chad_tree_value(const chad_tree_t *);
int64_t chad_tree_size(const chad_tree_t *);
int32_t chad_untree(chad_context_t *, const chad_tree_t *, chad_word_t,
                    int32_t (*)(void *, chad_word_t, chad_word_t, chad_word_t *,
                                chad_word_t *),
                    void *, chad_word_t *);
"""

# A context, room for results seen as floats and as integers, and its address. The first
# word is the address of the context.
CallState = tuple[Any, Any, Any, int]


class Runtime:
    """The loaded library with its pool of contexts."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.ffi = interface(_DECLARATIONS)
        # Never unloaded: results may be freed after everything else when Python ends.
        flags = self.ffi.RTLD_NOW | self.ffi.RTLD_NODELETE
        self.lib: Any = self.ffi.dlopen(os.fspath(path), flags)
        found = self.lib.chad_rt_abi()
        if found != ABI:
            raise ImportError(
                f"{path} speaks version {found} of the interface, chadllvm needs "
                f"version {ABI}: install chadllvm again, to build both together"
            )
        self.pool: list[CallState] = []
        self._interrupts: dict[int, BaseException] = {}
        self._poll = self.ffi.callback(
            "int32_t(void *)", self.ask, error=1, onerror=self.remember
        )
        self._print = self.ffi.callback(
            "int32_t(void *)", self.show, error=1, onerror=self.remember
        )

    def new_state(self) -> CallState:
        """A new context with room for results."""
        ffi, lib = self.ffi, self.lib
        context = lib.chad_context_new()
        if context == ffi.NULL:
            raise MemoryError("chadllvm: no memory for the context of a call")
        context = ffi.gc(context, lib.chad_context_free)
        lib.chad_set_poll(context, self._poll, ffi.NULL)
        lib.chad_set_print(context, self._print)
        return (context, *self.words(context, POOLED_WORDS))

    def words(self, context: Any, count: int) -> tuple[Any, Any, int]:
        """Room for so many result words behind the address of a context."""
        floats = self.ffi.new("double[]", 1 + count)
        ints = self.ffi.cast("int64_t *", floats)
        ints[0] = int(self.ffi.cast("intptr_t", context))
        return floats, ints, int(self.ffi.cast("intptr_t", floats))

    def address(self, symbol: str) -> int:
        """The address of a function.

        Raises:
            LookupError: if there is none of this name.
        """
        try:
            return int(self.ffi.cast("intptr_t", getattr(self.lib, symbol)))
        except AttributeError:
            raise LookupError(symbol) from None

    def symbols(self) -> dict[str, int]:
        """The addresses of all functions that generated code may call."""
        from chadllvm.llvm import sanitize
        from chadllvm.llvm.runtime import SYMBOLS
        from chadllvm.llvm.vecmath import runtime_symbols

        names = (*SYMBOLS, *sanitize.SYMBOLS, *runtime_symbols())
        return {name: self.address(name) for name in names}

    def take_interrupt(self) -> BaseException:
        """The exception that stopped a call in this thread."""
        return self._interrupts.pop(threading.get_ident(), KeyboardInterrupt())

    def violation(self) -> str:
        """What code that checks itself has found first since this was last asked."""
        text = self.ffi.new("char[]", 1024)
        if not self.lib.chad_san_violation(text, len(text)):
            return "another call has told its violation"
        return bytes(self.ffi.string(text)).decode(errors="replace")

    def ask(self, _: Any) -> int:
        """Called by native code: run Python's signal handlers; 1 if one has raised."""
        try:
            ctypes.pythonapi.PyErr_CheckSignals()
        except BaseException as error:
            self.remember(type(error), error, None)
            return 1
        return 0

    def show(self, line: Any) -> int:
        """Called by native code: write a line; 1 if that raises, as a pipe that is
        closed does."""
        try:
            from chadllvm.backend.printing import show

            show(self.ffi, self.ffi.cast("chad_line_t *", line))
        except BaseException as error:
            self.remember(type(error), error, None)
            return 1
        return 0

    def remember(self, _kind: Any, error: BaseException, _traceback: Any) -> None:
        """A handler may raise before `ask` has begun; cffi then calls this."""
        self._interrupts[threading.get_ident()] = error


@functools.cache
def runtime() -> Runtime:
    """The runtime of this process."""
    return Runtime(library_path())


def library_path() -> str:
    """Where the library is.

    Raises:
        ImportError: if it was not built.
    """
    # In an editable install that rebuilds, this renews the library if its source
    # changed.
    importlib.util.find_spec("chadllvm._built")
    suffix = "dylib" if sys.platform == "darwin" else "so"
    name = f"libchad_rt.{suffix}"
    for find in (_imported, _installed):
        for folder in find():
            path = os.path.join(folder, name)
            if os.path.exists(path):
                return path
    raise ImportError(
        f"chadllvm's runtime library {name} is missing: install the package with pip, "
        "which builds it"
    )


def _imported() -> list[str]:
    return [*chadllvm.__path__]


def _installed() -> list[str]:
    """Where the package is installed: in a checkout Python finds the source first."""
    from importlib import metadata  # It takes long to load.

    with contextlib.suppress(metadata.PackageNotFoundError):
        return [str(metadata.distribution("chadllvm").locate_file("chadllvm"))]
    return []
