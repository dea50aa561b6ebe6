"""Which variables only name (part of) other arrays, so that they need no cell.

    row = index(a, i)                         the cell of row is a view of the cell of a
    b = box(a);  a = unbox(b)                 both have the same cell
    b = sized(a, m)                           so have these
    x = if c { yield a } else { yield b }     the cell of x is that of a or of b
    x = if c {                                … or a view of it
      row = index(a, i)
      yield row
    } else { yield b }

The arrays between which a branch chooses come from outside of it, and so do indices; a
branch in it is one more such choice.
What the block hands on or updates is none of this: the cotangent of all of it comes at
once, and is moved to the cell of what the branch gave.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chadllvm.ir.term import Apply, Binding, Block, If, Operand, Var
from chadllvm.ir.types import Array, Box
from chadllvm.ops.index import Index, MakeBox, Sized, Unbox
from chadllvm.ops.update import Update


@dataclass(frozen=True)
class Row:
    """A part of an array; through a box if the part is one."""

    array: Var
    indices: tuple[Operand, ...]


@dataclass(frozen=True)
class Same:
    """An array in a box, or out of it, or with the sizes of its rows."""

    array: Var


@dataclass(frozen=True)
class Branch:
    """One of two arrays from outside of the branches, or a part of one."""

    cond: Operand
    then: Part
    orelse: Part


Part = Var | Row | Branch


Name = Row | Same | Branch

# Where the variables of the branches around a place are bound.
Inside = Mapping[Operand, Binding]


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
        case Apply(MakeBox() | Unbox() | Sized(), (Var() as array, *_)):
            return Same(array)
        case If() as node:
            return _branch(node, position)
        case _:
            return None


def _branch(node: If, position: int, inside: Inside | None = None) -> Branch | None:
    """A branch, `inside` of others that bind these."""
    around = inside or {}
    if node.cond in around:
        return None
    then, orelse = (
        _part(b.results[position], {**around, **bound_in(b)})
        for b in (node.then, node.orelse)
    )
    if then is None or orelse is None:
        return None
    return Branch(node.cond, then, orelse)


def _part(result: Operand, inside: Inside) -> Part | None:
    """What a branch gives, if that or what it is part of is from outside."""
    if not isinstance(result, Var):
        return None
    binding = inside.get(result)
    match binding and binding.expr:
        case None:
            return result
        case Apply(Index(), (Var() as array, *at)):
            is_outside = inside.keys().isdisjoint((array, *at))
            return Row(array, tuple(at)) if is_outside else None
        case Apply(Unbox() | MakeBox() | Sized(), (array, *_)):
            return _part(array, inside)
        case If() as node:
            assert binding is not None
            return _branch(node, binding.vars.index(result), inside)
        case _:
            return None


def chosen_arrays(part: Part) -> Iterator[Var]:
    """The arrays of which a choice gives one, or a part of one."""
    match part:
        case Var():
            yield part
        case Row(array):
            yield array
        case Branch(_, then, orelse):
            yield from chosen_arrays(then)
            yield from chosen_arrays(orelse)


def bound_in(block: Block) -> Inside:
    """What a branch binds."""
    return {v: b for b in block.bindings for v in b.vars}
