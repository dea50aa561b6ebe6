"""The Python functions below compiled ones, as they were when these were first used."""

from __future__ import annotations

from types import FunctionType
from typing import Any

# By this attribute a compiled function gives the twin that it is compiled from
# (`chadllvm/driver/frozen.py`).
FROZEN = "frozen_function"

# Where a twin keeps the function that it was made from.
ORIGINAL = "_chadllvm_original"


def compiled_from(value: Any) -> Any:
    """The function that a compiled one is made from; None if this is none."""
    found = getattr(value, "py_func", None)
    return getattr(value, FROZEN, found) if found is not None else None


def original(function: FunctionType) -> FunctionType:
    """The user's function that one is the twin of, or itself."""
    found = vars(function).get(ORIGINAL, function)
    assert isinstance(found, FunctionType)
    return found
