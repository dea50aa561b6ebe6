"""How many threads calls of compiled functions use.

They are OpenMP's (see `runtime_c/src/threads.c`), so what limits those limits ours:
OMP_NUM_THREADS, threadpoolctl, the workers of joblib and Dask.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys

from chadllvm.support import call_rules
from chadllvm.support.package import FOLDER

# More helpers than any machine has cores are a mistake.
MOST = 1024


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
        raise call_rules.wrong_type(
            f"the number of threads is an integer or None, not {count!r}"
        )
    if not 1 <= count <= MOST:
        raise call_rules.wrong_option(
            f"the number of threads is 1 to {MOST}, not {count}"
        )
    runtime().lib.chad_set_threads(count)


def get_num_threads() -> int:
    """How many threads a call in this thread may use, the calling one included."""
    from chadllvm.backend.runtime import runtime

    rt = runtime()
    return int(rt.lib.chad_threads(rt.ffi.NULL))


def load_openmp() -> None:
    """Loads OpenMP, if it is there: who limits threads must find it before a call."""
    suffix = "dylib" if sys.platform == "darwin" else "so"
    path = os.path.join(FOLDER, f"libchad_omp.{suffix}")
    with contextlib.suppress(OSError):
        ctypes.CDLL(path)
