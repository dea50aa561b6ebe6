"""Cells that need no memory: those whose contributions all stand in one block.

    c = open f64                      c = open f64[:](n)
    one c x                           one c x                    b = x
    one c y          →  s = x + y     b = close c          →
    s = close c

A scalar's cell becomes the sum of its contributions. An array's cell with one
contribution, a whole array, becomes another name of it; with none it becomes zeros.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from chadllvm.ir.op import PRIMS
from chadllvm.ir.rewrite import Renaming, map_functions, rebuild, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Close,
    One,
    Open,
    Operand,
    Program,
    Var,
    literal,
    nested,
    operands,
)
from chadllvm.ir.types import Acc, Array, Box, is_float
from chadllvm.ops.index import Zeros


def cells(program: Program) -> Program:
    """Remove the cells that need no memory."""
    return map_functions(program, lambda f: with_body(f, _Cells().block(f.body)))


@dataclass
class _Uses:
    """How a cell of this block is used; `whole`: only by `one c x` and `close c`."""

    opened: Open
    added: list[Operand] = field(default_factory=list)
    whole: bool = True

    @property
    def is_removable(self) -> bool:
        count = len(self.added)
        match self.opened.content:
            case Array(Box()):
                # Without contributions it would have to be made in another way.
                return self.whole and count == 1
            case content:
                return self.whole and (is_float(content) or count <= 1)


class _Cells:
    def __init__(self) -> None:
        self._mentioned: dict[Block, dict[Operand, None]] = {}

    def block(self, block: Block) -> Block:
        uses = self._find(block)
        removable = {c for c, use in uses.items() if use.is_removable}
        bindings: list[Binding] = []
        renaming = Renaming()
        changed = False
        sums: dict[Operand, Operand] = {}
        for old in block.bindings:
            expr = rebuild(old.expr, self.block)
            binding = old if expr is old.expr else Binding(old.vars, expr, old.span)
            match expr:
                case Open() if old.vars[0] in removable:
                    changed = True
                    continue
                case One(cell, (), value) if cell in removable:
                    changed = True
                    new = renaming.operand(value)
                    if cell in sums:
                        total = Var(_sum_name(cell), new.type)
                        plus = Apply(PRIMS["add"], (sums[cell], new))
                        bindings.append(Binding((total,), plus, old.span))
                        new = total
                    sums[cell] = new
                    continue
                case Close(cell) if cell in removable:
                    changed = True
                    if cell not in sums:
                        sums[cell] = _zero(uses[cell].opened, old, renaming, bindings)
                    renaming.mapping[old.vars[0]] = sums[cell]
                    continue
            if renaming.mapping:
                binding = renaming.binding(binding)
            changed = changed or binding is not old
            bindings.append(binding)
        if not changed:
            return block
        return Block(tuple(bindings), renaming.operands(block.results))

    def _find(self, block: Block) -> dict[Operand, _Uses]:
        """The cells opened in a block and what is done with them."""
        uses: dict[Operand, _Uses] = {}
        for binding in block.bindings:
            match binding.expr:
                case Open() as opened:
                    uses[binding.vars[0]] = _Uses(opened)
                case One(cell, (), value) if cell in uses:
                    uses[cell].added.append(value)
                case Close(cell) if cell in uses:
                    pass
                case expr:
                    for operand in operands(expr):
                        if operand in uses:
                            uses[operand].whole = False
                    for _, inner in nested(expr):
                        for var in self._used(inner):
                            if var in uses:
                                uses[var].whole = False
        for result in block.results:
            if result in uses:
                uses[result].whole = False
        return uses

    def _used(self, block: Block) -> dict[Operand, None]:
        """The cells that a block mentions; each of the blocks around it asks."""
        if block not in self._mentioned:
            found = {r: None for r in block.results if _is_cell(r)}
            for binding in block.bindings:
                found |= {o: None for o in operands(binding.expr) if _is_cell(o)}
                for _, inner in nested(binding.expr):
                    found |= self._used(inner)
            self._mentioned[block] = found
        return self._mentioned[block]


def _is_cell(operand: Operand) -> bool:
    return isinstance(operand, Var) and isinstance(operand.type, Acc)


def _sum_name(cell: Operand) -> str:
    return cell.name.removesuffix("_c") + "_ct" if isinstance(cell, Var) else "t"


def _zero(
    opened: Open, closing: Binding, renaming: Renaming, bindings: list[Binding]
) -> Operand:
    """The content of a cell that nothing was added to."""
    if not isinstance(opened.content, Array):
        return literal(0, opened.content)
    zeros = Apply(Zeros(opened.content.elem), renaming.operands(opened.dims))
    var = Var(closing.vars[0].name, closing.vars[0].type)
    bindings.append(Binding((var,), zeros, closing.span))
    return var
