"""NumPy's array objects in this process, as native code sees them.

The fields of an array object are part of NumPy's binary interface, and an object's `id`
is its address. That both hold here is checked once, by comparing an array's fields with
what NumPy says of it.
"""

from __future__ import annotations

import functools

import cffi
import numpy as np

from chadllvm.backend.convert import DTYPES
from chadllvm.diagnostic import InternalError
from chadllvm.llvm.entry import ArrayLayout

# C-contiguous and aligned, as bits of `ndarray.flags.num`.
PLAIN = 0x0101


@functools.cache
def array_layout() -> ArrayLayout:
    """The layout of array objects."""
    dtypes = {elem: id(dtype) for elem, dtype in DTYPES.items()}
    layout = ArrayLayout(object.__basicsize__, id(np.ndarray), dtypes, PLAIN)
    for elem, dtype in DTYPES.items():
        _check(layout, np.zeros((2, 3), dtype), dtypes[elem])
    return layout


def _check(layout: ArrayLayout, array: np.ndarray, dtype: int) -> None:
    ffi = cffi.FFI()

    def field(offset: int, c_type: str = "int64_t") -> int:
        return int(ffi.cast(f"{c_type} *", id(array) + offset)[0])

    dims = ffi.cast("int64_t *", field(layout.dims))
    found = (
        field(layout.type),
        field(layout.dtype),
        field(layout.data),
        field(layout.rank, "int32_t"),
        field(layout.flags, "int32_t"),
        (dims[0], dims[1]),
    )
    data = int(ffi.cast("intptr_t", ffi.from_buffer(array)))
    if found != (id(np.ndarray), dtype, data, 2, array.flags.num, array.shape):
        raise InternalError("this NumPy or Python keeps its arrays in an unknown way")
