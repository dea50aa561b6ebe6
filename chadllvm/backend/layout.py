"""NumPy's array objects in this process, as native code sees them.

The fields of an array object are part of NumPy's binary interface, and an object's `id`
is its address. That both hold here is checked once, by comparing an array's fields with
what NumPy says of it.
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from chadllvm.backend.convert import DTYPES
from chadllvm.support.diagnostic import InternalError

# C-contiguous and aligned, as bits of `ndarray.flags.num`.
PLAIN = 0x0101

# Where the fields of an array object begin.
HEAD = object.__basicsize__


@functools.cache
def numpy_objects() -> dict[str, int]:
    """The addresses of the class of arrays and of the dtypes, by their symbols."""
    for dtype in DTYPES.values():
        _check(np.zeros((2, 3), dtype), id(dtype))
    names = {f"chad_numpy_{elem}": id(dtype) for elem, dtype in DTYPES.items()}
    return {"chad_numpy_array": id(np.ndarray), **names}


def _check(array: np.ndarray, dtype: int) -> None:
    def field(
        offset: int, c_type: type[ctypes.c_int64 | ctypes.c_int32] = ctypes.c_int64
    ) -> int:
        return c_type.from_address(id(array) + offset).value

    dims = field(HEAD + 16)
    shape = (ctypes.c_int64 * 2).from_address(dims)
    found = (
        field(HEAD - 8),
        field(HEAD + 40),
        field(HEAD),
        field(HEAD + 8, ctypes.c_int32),
        field(HEAD + 48, ctypes.c_int32),
        tuple(shape),
    )
    data = array.ctypes.data
    if found != (id(np.ndarray), dtype, data, 2, array.flags.num, array.shape):
        raise InternalError("this NumPy or Python keeps its arrays in an unknown way")
