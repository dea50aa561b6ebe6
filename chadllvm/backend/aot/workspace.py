"""A function → how much memory it asks for, without what it computes.

    p = buffer f64[n * m] in region 0        p = buffer f64[n * m] in region 0
    for i in 0 .. n:                   →
      p[i] = exp(x[i])

What is left are the requests for memory, and what decides of them. Run with a memory
that counts, it asks for exactly what the whole function does, in the same order. That
is possible where sizes and numbers among the arguments determine it: where memory
depends on what stands in arrays, or is computed of that, there is no such function.

What is not known in front of a call is *open*: what is loaded, and what is computed of
that or under a condition that is open; so is what a call returns and sets. Nothing that
is open is left, and no call: where a call asks for memory, there is no such function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Alloc,
    Branch,
    CallRuntime,
    Check,
    Clear,
    Copy,
    Data,
    For,
    Get,
    Invoke,
    Let,
    Load,
    Local,
    LoopFunction,
    Offset,
    Reset,
    Return,
    Set,
    Stmt,
    Store,
)
from chadllvm.ir.statements import everywhere
from chadllvm.lower.effects import Calls


class _Undetermined(Exception):
    """Memory depends on what is open."""


def workspace_of(function: LoopFunction) -> LoopFunction | None:
    """The function that only asks for memory; None if something open decides of it."""
    calls, found = Calls(function), set[object]()
    for stmt in everywhere(function.body):
        if isinstance(stmt, Invoke):
            if calls.ask_for_memory(stmt):
                return None
            found.update((*stmt.regs, *calls.set_by(stmt)))
    before = -1
    while len(found) > before:
        before = len(found)
        _find_open(function.body, found, False)
    try:
        body = _requests(function.body, found)
    except _Undetermined:
        return None
    return replace(function, body=(*body, Return(())), results=(), subroutines=())


def _find_open(body: Sequence[Stmt], found: set[object], is_open: bool) -> None:
    """Enter what is open; `is_open`: so it is whether the body is run."""
    for stmt in body:
        match stmt:
            case Load(reg) | Offset(reg) | Data(reg) | Local(reg) | Alloc(reg):
                found.add(reg)
            case Let(reg, _, args):
                if not found.isdisjoint(args):
                    found.add(reg)
            case Get(reg, slot):
                if slot in found:
                    found.add(reg)
            case Set(slot, value) | Accumulate(slot, value):
                if is_open or value in found:
                    found.add(slot)
            case CallRuntime(reg=result):
                found.add(result)
            case For(index, low, high, inner, go=go):
                bounds = not found.isdisjoint((low, high, go))
                if bounds:
                    found.add(index)
                _find_open(inner, found, is_open or bounds)
            case Branch(cond, then, orelse):
                chosen = is_open or cond in found
                _find_open(then, found, chosen)
                _find_open(orelse, found, chosen)
            case _:
                pass


def _requests(body: Sequence[Stmt], is_open: set[object]) -> tuple[Stmt, ...]:
    """What of a body asks for memory, or is known and may decide of that."""
    kept: list[Stmt] = []
    for stmt in body:
        match stmt:
            case Alloc(count=count):
                if count in is_open:
                    raise _Undetermined
                kept.append(replace(stmt, zero=False))
            case Reset():
                kept.append(stmt)
            case Check(cond, failure):
                if cond not in is_open:
                    kept.append(Check(cond, failure))
            case Return():
                kept.append(Return(()))
            case Let(reg) | Get(reg):
                if reg not in is_open:
                    kept.append(stmt)
            case Set(slot) | Accumulate(slot):
                if slot not in is_open:
                    kept.append(stmt)
            case For() | Branch():
                kept += _nested(stmt, is_open)
            case Load() | Store() | AddTo() | Clear() | Copy():
                pass
            case Local() | Data() | Offset() | Invoke():
                pass
            case _:
                raise _Undetermined
    return tuple(kept)


def _nested(stmt: For | Branch, is_open: set[object]) -> tuple[Stmt, ...]:
    """A loop or a branch, if it asks for memory or sets something that is known."""
    if isinstance(stmt, For):
        decides: tuple[object, ...] = (stmt.low, stmt.high, stmt.go)
        made: Stmt = replace(stmt, body=_requests(stmt.body, is_open), lanes=1)
    else:
        decides = (stmt.cond,)
        then, orelse = (_requests(b, is_open) for b in (stmt.then, stmt.orelse))
        made = replace(stmt, then=then, orelse=orelse)
    matters = _matters(made)
    if isinstance(stmt, For) and stmt.lanes > 1 and _asks(made):
        raise _Undetermined  # Lanes may ask for several at a time.
    if is_open.isdisjoint(decides):
        return (made,) if matters else ()
    if matters:
        raise _Undetermined
    return ()


def _asks(stmt: Stmt) -> bool:
    """Whether there is a request for memory in a statement."""
    match stmt:
        case Alloc() | Reset():
            return True
        case For(body=body):
            return any(map(_asks, body))
        case Branch(_, then, orelse):
            return any(map(_asks, (*then, *orelse)))
        case _:
            return False


def _matters(stmt: Stmt) -> bool:
    match stmt:
        case Alloc() | Reset() | Set() | Accumulate():
            return True
        case For(body=body):
            return any(map(_matters, body))
        case Branch(_, then, orelse):
            return any(map(_matters, (*then, *orelse)))
        case _:
            return False
