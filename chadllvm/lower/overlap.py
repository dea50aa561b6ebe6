"""Lanes add to what another lane has just added to.

A step reads, adds to and writes sixteen elements, say, and the next step begins one
element further: it has to wait until what the one before wrote has arrived. Where steps
move by one, what lanes have in common is kept in registers (`llvm/lane_windows.py`);
where they move by more, they are run by rows:

    for i in 0 .. n:  # 16 lanes          for i in 0 .. n:  # 16 lanes
      for k in 0 .. m:                      if m <= 12:
        x[i + 2 k] += y * h[k]                for k in 0 .. m: …
                                     →      else:
                                              for k in 0 .. m:  # by rows
                                                x[i + 2 k] += y * h[k]

One lane after the other, the steps are next to each other and do not meet. With few of
them it is not worth it to begin sixteen such loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Atom,
    Branch,
    For,
    Get,
    Let,
    Load,
    Offset,
    Reg,
    Set,
    Stmt,
    Store,
)
from chadllvm.ir.statements import copied, made
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, I64, is_float
from chadllvm.lower.varying import NEXT, Varying

# Steps that move by less come back to what another lane has just written.
_NEAR = 16

_PLAIN = Let | Load | Store | AddTo | Offset | Get | Set | Accumulate

# Loops with as many steps stay in lanes.
_SHORT = 12


def by_rows(body: Sequence[Stmt], varying: Varying) -> tuple[Stmt, ...]:
    """The body of a loop in lanes, in which inner loops may go by rows."""
    new: list[Stmt] = []
    for stmt in body:
        match stmt:
            case For() if stmt not in varying.alone | varying.masked:
                if overlaps(stmt, varying):
                    new += _either_way(stmt)
                else:
                    new.append(replace(stmt, body=by_rows(stmt.body, varying)))
            case _:
                new.append(stmt)
    return tuple(new)


def overlaps(loop: For, varying: Varying) -> bool:
    """Whether the steps of an innermost loop, which does nothing but add, meet."""
    if loop.go or varying.kind(loop.low) or varying.kind(loop.high):
        return False
    if not all(isinstance(stmt, Let | Load | AddTo) for stmt in loop.body):
        return False
    if any(_is_shared(stmt, varying) for stmt in loop.body):
        return False
    alone = sliding(loop, varying)
    return any(
        0 < abs(moved(loop, stmt.index)) < _NEAR
        for stmt in _side_by_side(loop, varying)
        if stmt not in alone
    )


def sliding(loop: For, varying: Varying) -> dict[AddTo, int]:
    """What an inner loop adds to places that move by 1 or by -1 at each of its steps,
    where it does nothing else with their memory."""
    if not all(isinstance(stmt, _PLAIN) for stmt in loop.body):
        return {}
    classes, inside = varying.classes, set(made(loop.body))
    # Rows that lanes have put side by side (`packing.py`) are in new buffers.
    others = {
        classes[stmt.root]
        for stmt in loop.body
        if isinstance(stmt, Load | Store) and stmt.root < len(classes)
    }
    return {
        stmt: way
        for stmt in _side_by_side(loop, varying)
        if abs(way := moved(loop, stmt.index)) == 1 and is_float(stmt.value.type)
        if stmt.ptr not in inside and classes[stmt.root] not in others
    }


def _side_by_side(loop: For, varying: Varying) -> Iterator[AddTo]:
    """What adds to places next to each other."""
    for stmt in loop.body:
        match stmt:
            case AddTo(ptr, index, _, root) if not varying.owns(root):
                if varying.place(ptr, index) == NEXT:
                    yield stmt
            case _:
                pass


def _is_shared(stmt: Stmt, varying: Varying) -> bool:
    """Whether a statement adds to a buffer that serves all lanes of an iteration, or
    adds what is in one: one lane after the other, each would need its own."""
    if not isinstance(stmt, AddTo):
        return False
    if stmt in varying.totals.adds:
        return True
    return varying.is_private(stmt.root) and not varying.owns(stmt.root)


def _either_way(loop: For) -> Iterator[Stmt]:
    if isinstance(loop.low, Lit) and isinstance(loop.high, Lit):
        is_short = int(loop.high.value) - int(loop.low.value) <= _SHORT
        yield loop if is_short else replace(loop, rows=True)
        return
    steps, short = Reg("steps", I64), Reg("short", BOOL)
    yield Let(steps, "isub", (loop.high, loop.low))
    yield Let(short, "ile", (steps, Lit(_SHORT)))
    yield Branch(short, (loop,), (replace(copied(loop), rows=True),))


def moved(loop: For, index: Atom) -> int:
    """How far a step of a loop moves an index; 0 if it does not, or is not known."""
    lets = {stmt.reg: stmt for stmt in loop.body if isinstance(stmt, Let)}

    def step(atom: Atom) -> int | None:
        if atom == loop.index:
            return 1
        let = lets.get(atom) if isinstance(atom, Reg) else None
        if let is None:
            return None if atom in unknown else 0
        match let.op, [step(arg) for arg in let.args], let.args:
            case "iadd", (int(first), int(second)), _:
                return first + second
            case "isub", (int(first), int(second)), _:
                return first - second
            case "imul", (int(first), _), (_, Lit(int(factor))):
                return first * factor
            case "imul", (_, int(second)), (Lit(int(factor)), _):
                return factor * second
            case _, steps, _:
                return None if any(s != 0 for s in steps) else 0

    unknown = set(made(loop.body)) - lets.keys()
    return step(index) or 0
