"""NumPy's dtypes as the types of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from chadllvm.ir.types import BOOL, F32, F64, I64, Scalar

SCALAR_OF_DTYPE: dict[np.dtype[Any], Scalar] = {
    np.dtype(np.float64): F64,
    np.dtype(np.float32): F32,
    np.dtype(np.int64): I64,
    np.dtype(np.bool_): BOOL,
}

DTYPE_OF_SCALAR = {scalar: dtype for dtype, scalar in SCALAR_OF_DTYPE.items()}


def scalar_of(dtype: np.dtype[Any]) -> Scalar | None:
    """What elements of a dtype become: integers of any width are widened to i64.

    Nothing else is: a float16 or a complex number is none of ours.
    """
    native = dtype.newbyteorder("=")
    return SCALAR_OF_DTYPE.get(native) or (I64 if native.kind in "iu" else None)
