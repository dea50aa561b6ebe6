"""LLVM IR text → optimised machine code.

Functions of ordinary size get the full pipeline. Some of LLVM's passes and its best
code generator take more than linear time in the size of a basic block, so very large
functions get cheaper ones: compile time must stay linear in the size of the program.
"""

from __future__ import annotations

from dataclasses import dataclass

import llvmlite.binding as llvm

from chadllvm.llvm.target import Target


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard LLVM tries: levels of its passes and of code generation, and extras."""

    passes: int
    codegen: int
    loops: bool = True
    blocks: bool = False
    unroll: bool = False


# The effort for modules of up to so many lines of IR: `loops` vectorises loops,
# `blocks` straight-line code.
EFFORTS = (
    (2_500, Effort(3, 3, blocks=True, unroll=True)),
    (7_000, Effort(2, 2)),
    (16_000, Effort(1, 1)),
    (1 << 62, Effort(1, 0, loops=False)),
)


def effort_for(text: str) -> Effort:
    """The effort that keeps the compile time of this module in proportion."""
    lines = text.count("\n")
    return next(effort for limit, effort in EFFORTS if lines <= limit)


def compile_text(text: str, target: Target, effort: Effort) -> bytes:
    """The object code of a module."""
    machine = target.machine(effort.codegen)
    return bytes(machine.emit_object(optimized(text, target, effort)))


def assembly(text: str, target: Target, effort: Effort) -> str:
    """The assembly of a module."""
    machine = target.machine(effort.codegen)
    return str(machine.emit_assembly(optimized(text, target, effort)))


def optimized(text: str, target: Target, effort: Effort) -> llvm.ModuleRef:
    """The module after LLVM's passes; each module has a context of its own."""
    module = llvm.parse_assembly(text, llvm.create_context())
    module.triple = target.triple
    machine = target.machine(effort.codegen)
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(effort.passes)
    options.loop_vectorization = effort.loops
    options.loop_interleaving = effort.loops
    options.slp_vectorization = effort.blocks
    options.loop_unrolling = effort.unroll
    builder = llvm.create_pass_builder(machine, options)
    # A pass manager can be run only once.
    builder.getModulePassManager().run(module, builder)
    return module
