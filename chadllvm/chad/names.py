"""Which variables only name (part of) other arrays, so that they need no cell.

    row = index(a, i)                         the cell of row is a view of the cell of a
    b = box(a);  a = unbox(b)                 both have the same cell
    x = if c { yield a } else { yield b }     the cell of x is that of a or of b
    x = if c {                                … or a view of it
      row = index(a, i)
      yield row
    } else { yield b }

The arrays between which a branch chooses come from outside of it, and so do indices.
What the block hands on or updates is none of this: the cotangent of all of it comes at
once, and is moved to the cell of what the branch gave.
"""

from __future__ import annotations

from dataclasses import dataclass

from chadllvm.ir.term import Apply, Binding, Block, If, Operand, Var
from chadllvm.ir.types import Array, Box
from chadllvm.ops.index import Index, MakeBox, Unbox
from chadllvm.ops.update import Update


@dataclass(frozen=True)
class Row:
    """A part of an array; through a box if the part is one."""

    array: Var
    indices: tuple[Operand, ...]


@dataclass(frozen=True)
class Same:
    """An array in a box, or out of it."""

    array: Var


@dataclass(frozen=True)
class Branch:
    """One of two arrays from outside of the branches, or a part of one."""

    cond: Operand
    then: Var | Row
    orelse: Var | Row


Name = Row | Same | Branch


def names(block: Block) -> dict[Var, Name]:
    """The variables bound in the block that only name something."""
    found: dict[Var, Name] = {}
    moved = _moved(block)
    for binding in block.bindings:
        for position, var in enumerate(binding.vars):
            if isinstance(var.type, Array | Box):
                name = _name(binding, position)
                is_moved = isinstance(name, Branch) and var in moved
                if name is not None and not is_moved:
                    found[var] = name
    return found


def _moved(block: Block) -> set[Operand]:
    """What is handed on or updated, and what branches hand on to that."""
    found: set[Operand] = {*block.results}
    for binding in reversed(block.bindings):
        match binding.expr:
            case Apply(Update(), (old, *_)):
                found.add(old)
            case If(_, then, orelse):
                for k, var in enumerate(binding.vars):
                    if var in found:
                        found |= {then.results[k], orelse.results[k]}
    return found


def _name(binding: Binding, position: int) -> Name | None:
    match binding.expr:
        case Apply(Index(), (Var() as array, *indices)):
            return Row(array, tuple(indices))
        case Apply(MakeBox() | Unbox(), (Var() as array,)):
            return Same(array)
        case If() as node:
            return _branch(node, position)
        case _:
            return None


def _branch(node: If, position: int) -> Name | None:
    bound = _bound(node)
    parts = [_part(b, b.results[position], bound) for b in (node.then, node.orelse)]
    then, orelse = parts
    if then is None or orelse is None:
        return None
    return Branch(node.cond, then, orelse)


def _part(block: Block, result: Operand, bound: set[Var]) -> Var | Row | None:
    """What a branch gives, if that or what it is part of is from outside."""
    if not isinstance(result, Var):
        return None
    if result not in bound:
        return result
    for binding in block.bindings:
        match binding.expr:
            case Apply(Index(), (Var() as array, *at)) if binding.vars == (result,):
                is_outside = bound.isdisjoint((array, *at))
                return Row(array, tuple(at)) if is_outside else None
    return None


def _bound(node: If) -> set[Var]:
    """The variables that the branches bind."""
    blocks = (node.then, node.orelse)
    return {v for block in blocks for b in block.bindings for v in b.vars}
