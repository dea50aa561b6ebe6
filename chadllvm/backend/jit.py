"""A module of LLVM IR → callable machine code in this process."""

from __future__ import annotations

import functools
import weakref

import llvmlite.binding as llvm
import numpy as np

from chadllvm.backend import symbols
from chadllvm.backend.runtime import runtime
from chadllvm.llvm import optimize, target
from chadllvm.llvm.emit import Module
from chadllvm.llvm.entry import entry_symbol
from chadllvm.llvm.optimize import Effort
from chadllvm.llvm.target import Target


@functools.cache
def host_target() -> Target:
    """The processor we run on, with the vector functions we can link."""
    return target.host(symbols.has_symbol)


class Code:
    """Linked machine code of one module; lives as long as this object.

    Every module has a linker of its own: nothing is shared, so code may be made in any
    thread, and all of it is given back when it is no longer used.
    """

    def __init__(
        self, module: Module, entry: str = "", effort: Effort | None = None
    ) -> None:
        """`entry` is more text for the module, with the function to call from outside.

        It belongs to this process and is not shown.
        """
        self.module = module
        self.symbol = entry_symbol(module.symbol) if entry else module.symbol
        self.target = host_target()
        self.effort = effort or optimize.effort_for(module.text)
        # Native code refers to these arrays by address.
        self.data: dict[str, np.ndarray] = dict(module.data)
        jit, tracker = self._link(module.text + entry)
        self.address: int = tracker[self.symbol]
        weakref.finalize(self, _dispose, jit, tracker)

    def _link(self, text: str) -> tuple[llvm.LLJIT, llvm.ResourceTracker]:
        builder = llvm.JITLibraryBuilder()
        builder.add_object_img(optimize.compile_text(text, self.target, self.effort))
        for name, address in self._imports().items():
            builder.import_symbol(name, address)
        builder.export_symbol(self.symbol)
        jit = llvm.create_lljit_compiler(use_jit_link=True)
        return jit, builder.link(jit, self.symbol)

    def _imports(self) -> dict[str, int]:
        vector = {name: symbols.address(name) for name in self.module.math}
        return {
            **symbols.standard(),
            **runtime().symbols(),
            **{name: place for name, place in vector.items() if place is not None},
            **{name: value.ctypes.data for name, value in self.data.items()},
        }

    @property
    def llvm_ir(self) -> str:
        """The module after LLVM's optimisations."""
        return str(optimize.optimized(self.module.text, self.target, self.effort))

    @property
    def asm(self) -> str:
        """The machine code as assembly."""
        return optimize.assembly(self.module.text, self.target, self.effort)


def _dispose(jit: llvm.LLJIT, tracker: llvm.ResourceTracker) -> None:
    tracker.close()
    jit.close()
