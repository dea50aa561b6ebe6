"""The most memory that a value with its gradient needs: ours, and the C kernel's.

Ours is what the runtime counts on its heap: tapes, temporaries, and the arrays that it
returns, with what is left over of the pieces that it asks the system for. The C
kernel's is what its build that counts has taken by malloc, and what it was handed for
the gradient. What lies on the stack counts for neither; in both it is a few kilobytes
whatever the size. The arguments are the same arrays for both.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cffi
import numpy as np

from bench.kernels import Case, Kernel
from bench.results import Memory
from chadllvm.backend.runtime import runtime

COUNTING = """
void counted_reset(void);
int64_t counted_peak(void);
"""


def peak_memory(case: Case, counted: Path) -> Memory:
    """The peaks of one call of each; both have been called before."""
    arrays = [a for a in case.arguments if isinstance(a, np.ndarray)]
    arguments = sum(array.nbytes for array in arrays)
    gradient = case.gradient()
    ours = own_peak(lambda: gradient(*case.arguments))
    return Memory(ours, _of_kernel(case, counted), arguments)


def own_peak(call: Callable[[], object]) -> int:
    """The most bytes on the runtime's heap in a call of compiled code."""
    call()
    # The context that was used last is the one that is used next.
    context, lib = runtime().pool[-1][0], runtime().lib
    lib.chad_memory_reset_peak(context)
    before = int(lib.chad_memory_used(context))
    call()
    return int(lib.chad_memory_peak(context)) - before


def _of_kernel(case: Case, counted: Path) -> int:
    ffi = cffi.FFI()
    ffi.cdef(COUNTING)
    counting = ffi.dlopen(str(counted))
    kernel = Kernel(counted, case)
    kernel.value_and_gradient()
    counting.counted_reset()
    kernel.value_and_gradient()
    handed = sum(array.nbytes for array in kernel.gradient)
    return int(counting.counted_peak()) + handed
