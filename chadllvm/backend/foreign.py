"""Arrays of other libraries, as NumPy has them: in the same memory if that can be.

They are read through `__array__`, or through DLPack's protocol, `__dlpack__`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chadllvm.support import call_rules


def as_numpy(value: Any, where: str) -> np.ndarray:
    """The array of NumPy's; `where` names the parameter.

    Raises:
        TypeError: if NumPy cannot read it, as on a graphics card or where its library
            records what is computed.
    """
    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            return np.from_dlpack(value)
        return np.asarray(value)
    except (BufferError, RuntimeError, TypeError) as error:
        said = str(error).strip().partition("\n")[0].rstrip(".") or "no reason given"
        raise call_rules.wrong_type(
            f"{where} is a {type(value).__name__}, which NumPy cannot read: {said}"
            f"{_help(value)}"
        ) from None


def _help(value: Any) -> str:
    if getattr(value, "requires_grad", False):
        return "; chadllvm.interop.torch makes functions that PyTorch differentiates"
    return ""
