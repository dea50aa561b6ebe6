"""Rows that lanes read again and again are put next to each other first.

    for i in 0 .. n:  # 8 lanes           for i in 0 .. n:  # 8 lanes
      for j in 0 .. m:                      for k in 0 .. d:
        for k in 0 .. d:             →        q[k] = a[i * d + k]
          x = a[i * d + k]                  for j in 0 .. m:
          …                                   for k in 0 .. d:
                                                x = q[k]
                                                …

The lanes' elements of a row are far apart, so that each has to be looked up by itself;
in a buffer of the lanes they are one vector. What the first step of the loop around
would have checked before it is checked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from chadllvm.ir.loops import (
    AddTo,
    Atom,
    Branch,
    Check,
    Clear,
    Copy,
    For,
    Let,
    Load,
    Reg,
    Stmt,
    Store,
)
from chadllvm.ir.statements import everywhere, made, over_inner
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, I64, Scalar
from chadllvm.lower.varying import FAR, Varying

# The most elements of a row, and rows of a loop, that are put next to each other.
LONGEST = 128
_MOST = 4


@dataclass(frozen=True)
class Row:
    """What is loaded in an inner loop of a loop, and what is checked before."""

    outer: For
    inner: For
    load: Load
    checks: tuple[Stmt, ...]


@dataclass(frozen=True)
class Packed:
    """The buffer that a row is put into, if it `fits`."""

    row: Row
    ptr: Reg
    root: int
    fits: Reg

    @property
    def elem(self) -> Scalar:
        """The type of its elements."""
        return self.row.load.reg.type


def rows(loop: For, varying: Varying, roots: Sequence[int]) -> list[Row]:
    """What is worth it, and may be read before its time."""
    written = set()
    for stmt in everywhere(loop.body):
        match stmt:
            case Store(root=root) | AddTo(root=root) | Clear(root=root):
                written.add(roots[root])
            case Copy(target_root=root):
                written.add(roots[root])
            case _:
                pass
    outside = _Outside(loop)
    found = [
        row
        for outer in _together(loop.body, varying)
        if outer.go is None and outer not in varying.alone | varying.masked
        for row in _rows(outer, varying, outside)
        if roots[row.load.root] not in written
    ]
    return found[:_MOST]


def _together(body: Sequence[Stmt], varying: Varying) -> Iterator[For]:
    """The loops that all lanes come to at the same time, in no other loop."""
    for stmt in body:
        match stmt:
            case For():
                yield stmt
            case Branch(cond, then, orelse) if not varying.kind(cond):
                yield from _together((*then, *orelse), varying)
            case _:
                pass


class _Outside:
    """What is known in front of a loop."""

    def __init__(self, loop: For) -> None:
        self._inside = set(made((loop,)))

    def __contains__(self, atom: Atom) -> bool:
        return not isinstance(atom, Reg) or atom not in self._inside


def _rows(outer: For, varying: Varying, outside: _Outside) -> Iterator[Row]:
    before = _Outside(outer)
    for inner in outer.body:
        if not isinstance(inner, For) or inner.go is not None:
            continue
        if inner in varying.alone | varying.masked:
            continue
        if not _is_zero(inner.low) or inner.high not in outside:
            continue
        checks = _checks(outer.body[: outer.body.index(inner)], before)
        if checks is None:
            continue
        for place, stmt in enumerate(inner.body):
            if isinstance(stmt, Check | Branch | For):
                break
            if isinstance(stmt, Load) and stmt.ptr in before:
                apart = varying.place(stmt.ptr, stmt.index) >= FAR
                if apart and _walks(stmt.index, inner, place, before):
                    yield Row(outer, inner, stmt, tuple(checks))


def _is_zero(atom: Atom) -> bool:
    return isinstance(atom, Lit) and atom.value == 0


def _walks(index: Atom, inner: For, place: int, before: _Outside) -> bool:
    """Whether an index goes along with the inner loop alone."""
    if index == inner.index:
        return True
    for stmt in inner.body[:place]:
        if isinstance(stmt, Let) and stmt.reg == index and stmt.op == "iadd":
            others = [a for a in stmt.args if a != inner.index]
            return len(others) == 1 and others[0] in before
    return False


def _checks(body: Sequence[Stmt], before: _Outside) -> list[Stmt] | None:
    """What is checked in a body, with registers of its own, if it can be earlier."""
    names: dict[Reg, Reg] = {}
    found: list[Stmt] = []
    for stmt in body:
        match stmt:
            case Let(reg, op, args) if reg.type == BOOL and all(
                a in before for a in args
            ):
                names[reg] = Reg(reg.name, reg.type)
                found.append(Let(names[reg], op, args))
            case Check(cond, failure, values):
                known = (isinstance(cond, Reg) and cond in names) or cond in before
                if not known or not all(v in before for v in values):
                    return None
                new = names.get(cond, cond) if isinstance(cond, Reg) else cond
                found.append(Check(new, failure, values))
            case For() | Branch() if any(
                isinstance(s, Check) for s in everywhere([stmt])
            ):
                return None
            case _:
                pass
    return found if any(isinstance(s, Check) for s in found) else []


def with_rows(body: Sequence[Stmt], packed: Sequence[Packed]) -> tuple[Stmt, ...]:
    """The body of a loop with its rows in buffers."""
    loads: Mapping[Stmt, Packed] = {p.row.load: p for p in packed}
    inside = partial(with_rows, packed=packed)
    new: list[Stmt] = []
    for outer in body:
        mine = [p for p in packed if p.row.outer is outer]
        if not mine or not isinstance(outer, For):
            is_branch = isinstance(outer, Branch)
            new.append(over_inner(outer, inside) if is_branch else outer)
            continue
        some = Reg("some", BOOL)
        new.append(Let(some, "ilt", (outer.low, outer.high)))
        filling = [*mine[0].row.checks, *map(_filling, mine)]
        new.append(Branch(some, tuple(filling)))
        inner = [
            replace(s, body=tuple(_load(t, s, loads) for t in s.body))
            if isinstance(s, For)
            else s
            for s in outer.body
        ]
        new.append(replace(outer, body=tuple(inner)))
    return tuple(new)


def _filling(packed: Packed) -> For:
    inner, load = packed.row.inner, packed.row.load
    index, value = Reg(inner.index.name, I64), Reg(load.reg.name, load.reg.type)
    at: Atom = index
    body: list[Stmt] = []
    for stmt in inner.body:
        if isinstance(stmt, Let) and stmt.reg == load.index:
            at = Reg(stmt.reg.name, I64)
            args = tuple(index if a == inner.index else a for a in stmt.args)
            body.append(Let(at, stmt.op, args))
    body.append(Load(value, load.ptr, at, load.root))
    body.append(Store(packed.ptr, index, value, packed.root))
    return For(index, inner.low, inner.high, tuple(body))


def _load(stmt: Stmt, inner: For, loads: Mapping[Stmt, Packed]) -> Stmt:
    if isinstance(stmt, Load) and stmt in loads:
        packed = loads[stmt]
        return Load(stmt.reg, packed.ptr, inner.index, packed.root)
    return stmt
