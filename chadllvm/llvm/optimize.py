"""LLVM IR text → optimised machine code.

Modules of ordinary size get the full pipeline. Very large ones get less, for compile
time must stay linear in the size of the program: LLVM's loop passes take time quadratic
in the number of loops that follow each other in a function (the dominator tree is as
deep as that, and is updated at each); its code generator, but for the fastest one, in
the size of a basic block.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import llvmlite.binding as llvm

from chadllvm.llvm import hyperbolic, stack
from chadllvm.llvm.target import Target
from chadllvm.view.timing import timed


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard LLVM tries: levels of its passes and of code generation, and extras.

    `loops` vectorises loops, `blocks` straight-line code, `tidy` runs what is left of
    the passes without those of superlinear cost (with `passes` 0, which are none).
    """

    passes: int
    codegen: int
    loops: bool = True
    blocks: bool = False
    unroll: bool = False
    tidy: bool = False


_ALL = 1 << 62

# The effort for modules of up to so many lines of IR, whose functions have up to so
# many lines and branches: a loop makes about four, its derivative twice that. With
# vectors a line takes 0.1 to 0.3 ms, and programs of arrays are two to four times as
# fast; without them it takes a third of that, and with nothing optimised a tenth, for
# programs that are as much slower again. Long functions are cut (`sections.py`), so
# that little but one block of many lines is left to the last ones.
EFFORTS = (
    (2_500, 2_500, 300, Effort(3, 3, blocks=True, unroll=True)),
    (100_000, 14_000, 1_600, Effort(2, 2, blocks=True)),
    (300_000, 32_000, 3_600, Effort(0, 1, tidy=True)),
    (_ALL, _ALL, 8_000, Effort(0, 0, tidy=True)),
    (_ALL, _ALL, _ALL, Effort(0, 0)),
)

_WRITTEN_OUT = re.compile(rf" call .* @({'|'.join(hyperbolic.DEFINITIONS)})(_\d+)?\(")


def effort_for(text: str) -> Effort:
    """The effort that keeps the compile time of this module in proportion."""
    functions = [_Size.of(part) for part in re.split(r"^define ", text, flags=re.M)]
    lines = sum(size.lines for size in functions)
    longest = max(size.lines for size in functions)
    branches = max(size.branches for size in functions)
    return next(
        effort
        for most, most_lines, most_branches, effort in EFFORTS
        if lines <= most and longest <= most_lines and branches <= most_branches
    )


@dataclass(frozen=True, slots=True)
class _Size:
    """That of a function: its lines, with those that calls stand for, and branches."""

    lines: int
    branches: int

    @classmethod
    def of(cls, text: str) -> _Size:
        written_out = hyperbolic.LENGTH * len(_WRITTEN_OUT.findall(text))
        return cls(text.count("\n") + written_out, text.count("\n  br "))


def compile_text(text: str, target: Target, effort: Effort) -> bytes:
    """The object code of a module."""
    machine, module = target.machine(effort.codegen), optimized(text, target, effort)
    with timed("machine code"):
        return bytes(machine.emit_object(module))


def assembly(text: str, target: Target, effort: Effort) -> str:
    """The assembly of a module."""
    machine = target.machine(effort.codegen)
    return str(machine.emit_assembly(optimized(text, target, effort)))


def optimized(text: str, target: Target, effort: Effort) -> llvm.ModuleRef:
    """The module after LLVM's passes; each module has a context of its own."""
    module = llvm.parse_assembly(stack.aligned(text, target), llvm.create_context())
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
    passes = _tidying() if effort.tidy else builder.getModulePassManager()
    with timed("optimise"):
        passes.run(module, builder)
    return module


def _tidying() -> llvm.ModulePassManager:
    """Passes that take linear time: registers for memory, and simplification."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_dead_store_elimination_pass()
    passes.add_dead_code_elimination_pass()
    return passes
