"""Counts executed operations: loops → the same loops that also return their number.

    for i in 0 .. n:              steps := 0
      v = a[i]                    for i in 0 .. n:
      s += v                →       steps += 2
    return s                        v = a[i]
                                    s += v
                                  steps += 2 …
                                  return s, steps

Every statement counts one; filling and copying memory count one for each element, and
the runtime's structures report their own steps. That is how the cost law is measured on
compiled code: the number is the same on every machine and at every run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from chadllvm.ir.loops import (
    Accumulate,
    Alloc,
    Atom,
    Branch,
    CallRuntime,
    Clear,
    Copy,
    For,
    Get,
    Let,
    LoopFunction,
    Reg,
    Return,
    ScalarResult,
    Set,
    Slot,
    Stmt,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64


def count_operations(function: LoopFunction) -> LoopFunction:
    """The function with the number of executed operations behind its results."""
    steps = Slot("steps", I64)
    start: list[Stmt] = [Set(steps, Lit(0))]
    reports = _uses_runtime(function.body) or any(
        _uses_runtime(s.body) for s in function.subroutines
    )
    if reports:
        before, none = Reg("before", I64), Reg("none", I64)
        start = [
            CallRuntime(before, "chad_steps", ()),
            Let(none, "isub", (Lit(0), before)),
            Set(steps, none),
        ]
    body = (*start, *_counted(function.body, steps, reports))
    results = (*function.results, ScalarResult(I64))
    subroutines = tuple(
        replace(s, body=tuple(_counted(s.body, steps, reports)))
        for s in function.subroutines
    )
    return replace(function, body=body, results=results, subroutines=subroutines)


def _uses_runtime(body: Sequence[Stmt]) -> bool:
    return any(isinstance(stmt, CallRuntime) for stmt in body) or any(
        _uses_runtime(inner) for stmt in body for inner in _bodies(stmt)
    )


def _bodies(stmt: Stmt) -> tuple[Sequence[Stmt], ...]:
    match stmt:
        case For(body=body):
            return (body,)
        case Branch(_, then, orelse):
            return (then, orelse)
        case _:
            return ()


def _counted(body: Sequence[Stmt], steps: Slot, reports: bool) -> Iterator[Stmt]:
    """The statements of a body, which counts them when it is entered."""
    if body:
        yield Accumulate(steps, Lit(len(body)))
    for stmt in body:
        match stmt:
            case For():
                yield replace(stmt, body=tuple(_counted(stmt.body, steps, reports)))
            case Branch(cond, then, orelse):
                both = (tuple(_counted(b, steps, reports)) for b in (then, orelse))
                yield Branch(cond, *both)
            case Return(values):
                yield from _returned(values, steps, reports)
            case Clear(count=count) | Copy(count=count) | Alloc(count=count, zero=True):
                yield Accumulate(steps, count)
                yield stmt
            case _:
                yield stmt


def _returned(values: Sequence[Atom], steps: Slot, reports: bool) -> Iterator[Stmt]:
    """Return the count with the values; `reports`: the runtime's steps belong to it."""
    if reports:
        after = Reg("after", I64)
        yield CallRuntime(after, "chad_steps", ())
        yield Accumulate(steps, after)
    total = Reg("steps", I64)
    yield Get(total, steps)
    yield Return((*values, total))
