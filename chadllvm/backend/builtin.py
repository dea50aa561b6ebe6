"""Native code as a built-in function of Python's.

A foreign function interface looks at what each argument is to become, call by call, and
that costs more than a small function does. Code that takes Python's objects as they are
(`llvm/entry.py`), by Python's own convention for built-in functions, is called at once.
All that it uses of Python is in the stable interface.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from chadllvm.llvm.python import PYTHON

# The convention: `self`, the address of the arguments, how many there are.
_FASTCALL = 0x80


class _Definition(ctypes.Structure):
    """A `PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def builtin(name: str, address: int, code: object) -> Callable[..., Any]:
    """The function at an address, which is in this code and keeps it alive."""
    definition = _Definition(name.encode(), address, _FASTCALL, None)
    # Python leaves the definition where it is, so that goes with the function as well.
    made: Callable[..., Any] = _new()(
        ctypes.byref(definition), (code, definition), None
    )
    return made


@functools.cache
def _new() -> Any:
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
    )
    return prototype(("PyCFunction_NewEx", ctypes.pythonapi))


@functools.cache
def python_functions() -> dict[str, int]:
    """The addresses of Python's functions that native code calls, by their names."""
    found = {name: getattr(ctypes.pythonapi, name) for name in PYTHON}
    return {n: ctypes.cast(f, ctypes.c_void_p).value or 0 for n, f in found.items()}
