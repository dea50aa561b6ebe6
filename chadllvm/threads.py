"""How many threads calls of compiled functions use.

They are OpenMP's (see `runtime_c/src/threads.c`), so what limits those limits ours:
OMP_NUM_THREADS, threadpoolctl, the workers of joblib and Dask.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from pathlib import Path

# More helpers than any machine has cores are a mistake.
MOST = 1024

# What says how OpenMP's idle threads wait: the standard's variable, GNU's, LLVM's.
_WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")


def set_num_threads(count: int | None) -> None:
    """From now on a call, in any thread of this process, uses so many threads.

    It may be more than there are cores, which is of no use but for tests: results are
    the same bits for every number of threads.

    Args:
        count: 1 to 1024; None for the default, which is OMP_NUM_THREADS, or else the
            cores that this process may use.

    Where OpenMP is missing, and in forked children, there is one thread, whatever was
    set. Who limits OpenMP for the calling thread, as `threadpoolctl` does, gets no more
    than that either.

    Raises:
        TypeError, ValueError: if `count` is no such number.
    """
    from chadllvm.backend.runtime import runtime

    if count is None:
        runtime().lib.chad_set_threads(0)
        return
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeError(f"the number of threads is an integer or None, not {count!r}")
    if not 1 <= count <= MOST:
        raise ValueError(f"the number of threads is 1 to {MOST}, not {count}")
    runtime().lib.chad_set_threads(count)


def get_num_threads() -> int:
    """How many threads a call in this thread may use, the calling one included."""
    from chadllvm.backend.runtime import runtime

    rt = runtime()
    return int(rt.lib.chad_threads(rt.ffi.NULL))


def load_openmp() -> None:
    """Loads OpenMP, if it is there: who limits threads must find it before a call.

    It reads its variables then. By default GNU's idle threads wait busily, for some
    milliseconds, in which nobody else gets their cores: that pays only if nobody else
    wants them. So unless the user has said how, ours are to sleep.
    """
    suffix = "dylib" if sys.platform == "darwin" else "so"
    path = Path(__file__).with_name(f"libchad_omp.{suffix}")
    with contextlib.suppress(OSError), _waiting("passive"):
        ctypes.CDLL(str(path)).chad_omp_threads()


@contextlib.contextmanager
def _waiting(policy: str) -> Iterator[None]:
    """Sets what OpenMP reads, unless it is set."""
    if any(name in os.environ for name in _WAITING):
        yield
        return
    os.environ[_WAITING[0]] = policy
    try:
        yield
    finally:
        del os.environ[_WAITING[0]]
