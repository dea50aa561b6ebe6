"""What decides the type of an argument, for calls to look up."""

from __future__ import annotations

from typing import Any

import numpy as np

# The classes of arguments that say all of their types.
_SCALARS = (float, int, bool, np.float64, np.float32, np.int64, np.bool_)


def fingerprint(value: Any) -> object:
    """What decides the type of an argument: quick to make, and to look up.

    None if there is nothing so simple; `values.type_of` tells.
    """
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype, value.ndim
    if kind in _SCALARS or value is None:
        return kind
    if kind is tuple:
        parts = tuple(map(fingerprint, value))
        return None if None in parts else parts
    from chadllvm.driver.values import record_fingerprint

    return record_fingerprint(kind, value, fingerprint)
