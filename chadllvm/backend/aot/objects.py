"""Loops → object files of a library, with symbols that no other library has.

Names that begin with `chad_`, of the runtime and of what is generated, begin with the
name of the library instead: so two libraries may be in one program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import llvmlite.binding as llvm
import numpy as np

from chadllvm.ir.defects import stage
from chadllvm.ir.loops import LoopFunction
from chadllvm.llvm import optimize
from chadllvm.llvm.emit import Module, emit, with_linkage
from chadllvm.llvm.runtime import ALIGNMENT
from chadllvm.llvm.target import Target


@dataclass(frozen=True)
class Native:
    """A native function of a library: its symbol, and its loops.

    `sites` are the places where it may fail.
    """

    symbol: str
    loops: LoopFunction


@stage("llvm")
def native_module(native: Native, prefix: str, target: Target) -> Module:
    """The module of a native function."""
    module = emit(
        native.loops, native.symbol, target.vector, target.width, target.convention
    )
    text = module.text
    for symbol, value in module.data:
        text = _with_data(text, symbol, value)
    text = with_linkage(text, native.symbol, "hidden")
    text = re.sub(r"@chad_", f"@{prefix}_chad_", text)
    return Module(native.symbol, text, module.sites, (), module.math)


def _with_data(text: str, symbol: str, value: np.ndarray) -> str:
    """The text with the numbers of an array in it."""
    content = "".join(f"\\{byte:02X}" for byte in value.tobytes())
    made = (
        f"@{symbol} = private unnamed_addr constant [{value.nbytes} x i8] "
        f'c"{content}", align {ALIGNMENT}'
    )
    return text.replace(f"@{symbol} = external constant i8, align 8", made)


# From this level on code generation is about the same.
_ENOUGH = 2


@stage("llvm")
def object_files(texts: Sequence[str], target: Target) -> list[bytes]:
    """The object code of modules: in one file, but for that of very long programs.

    LLVM's passes run over each by itself. Code of very long programs is generated with
    less effort, in files of their own.
    """
    context = llvm.create_context()
    by_effort: dict[int, llvm.ModuleRef] = {}
    for text in texts:
        effort = optimize.effort_for(text)
        level = min(effort.codegen, _ENOUGH)
        # Modules of one context only can be linked.
        optimized = str(optimize.optimized(text, target, effort))
        module = llvm.parse_assembly(optimized, context)
        if level in by_effort:
            by_effort[level].link_in(module)
        else:
            by_effort[level] = module
    return [
        bytes(target.machine(level).emit_object(module))
        for level, module in by_effort.items()
    ]
