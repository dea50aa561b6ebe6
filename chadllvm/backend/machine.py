"""Machine code in this process: what a compiled module is, and how it is linked.

A `Native` is what is left of a module when it is compiled: an object file without any
address of this process, so that it may be kept on disk, sent to others and linked
there. Each is linked by itself: nothing is shared, so code may be made in any thread,
and all of it is given back when it is no longer used.
"""

from __future__ import annotations

import os
from typing import NamedTuple, Protocol

import numpy as np

from chadllvm.backend import elf, symbols
from chadllvm.backend.builtin import python_functions
from chadllvm.backend.layout import numpy_objects
from chadllvm.backend.runtime import runtime


class Site(NamedTuple):
    """What a failed check means: an exception, its words, its place, its values.

    The place is a number in a list of such; of the values these are the types' names.
    """

    kind: str
    message: str
    own: bool
    place: int
    values: tuple[str, ...]


# What an object with lines for debuggers has a section of (`llvm/lines.py`).
DEBUG_SECTION = b".debug_line"


class Native(NamedTuple):
    """A compiled module.

    `symbol` is the function to call; `sites` by the number that a failure reports;
    `data` are arrays to link, by symbol; `math` are the functions of libm and libmvec
    that it calls.
    """

    symbol: str
    code: bytes
    sites: tuple[Site, ...]
    data: tuple[tuple[str, np.ndarray], ...]
    math: tuple[str, ...]


class Linked(Protocol):
    """An object in memory."""

    def __getitem__(self, symbol: str, /) -> int:
        """The address of one of its symbols."""


class Code:
    """Linked machine code; it lives as long as this object."""

    def __init__(self, native: Native) -> None:
        self.native = native
        # Native code refers to these arrays by address.
        self.data: dict[str, np.ndarray] = dict(native.data)
        self._linked = self._link()
        if DEBUG_SECTION in native.code and isinstance(self._linked, elf.Image):
            from chadllvm.backend import debugger

            debugger.describe(self, self._linked.described(native.code))
        self.address: int = self._linked[native.symbol]
        if os.environ.get("CHADLLVM_PERF") == "1":
            from chadllvm.backend import perf

            perf.tell(native.code, native.symbol, self.address)

    def _link(self) -> Linked:
        if elf.is_supported():
            try:
                return elf.Image(self.native.code, self._address)
            except elf.Unsupported:
                pass
        from chadllvm.backend.jit import Library

        own = {name: self._address(name) for name in self.data}
        own |= numpy_objects() | python_functions()
        return Library(self.native, own)

    def _address(self, symbol: str) -> int:
        """What the code needs from outside.

        Raises:
            LookupError: if there is no such symbol.
        """
        if symbol in self.data:
            address: int = self.data[symbol].ctypes.data
            return address
        if symbol.startswith("chad_numpy_"):
            return numpy_objects()[symbol]
        if symbol.startswith("chad_"):
            return runtime().address(symbol)
        found = python_functions().get(symbol) or symbols.address(symbol)
        if found is None:
            raise LookupError(symbol)
        return found
