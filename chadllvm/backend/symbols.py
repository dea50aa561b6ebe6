"""Addresses of what native code calls: libm, libmvec, and a little of libc."""

from __future__ import annotations

import ctypes
import functools
import sys

# What LLVM makes of loops that fill or copy.
LIBC_SYMBOLS = ("memset", "memcpy", "memmove")

if sys.platform == "darwin":
    _LIBRARIES = ("libSystem.dylib",)
else:
    _LIBRARIES = ("libm.so.6", "libc.so.6", "libmvec.so.1")


@functools.cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    """The libraries that this machine has; libmvec is missing on many."""
    found = []
    for name in _LIBRARIES:
        try:
            found.append(ctypes.CDLL(name))
        except OSError:
            continue
    return tuple(found)


def address(symbol: str) -> int | None:
    """The address of a function, or None if no library has it."""
    for library in _libraries():
        try:
            function = getattr(library, symbol)
        except AttributeError:
            continue
        return ctypes.cast(function, ctypes.c_void_p).value
    return None


def has_symbol(symbol: str) -> bool:
    """Whether a library has this function."""
    return address(symbol) is not None


@functools.cache
def standard() -> dict[str, int]:
    """What any native code may call without naming it in its module."""
    from chadllvm.llvm.vecmath import libm_symbols

    found = {symbol: address(symbol) for symbol in (*libm_symbols(), *LIBC_SYMBOLS)}
    return {symbol: place for symbol, place in found.items() if place is not None}
