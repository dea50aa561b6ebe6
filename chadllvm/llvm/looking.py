"""Looking around before a subroutine invokes itself.

A run that invokes nobody needs no more than its own frame, so it looks for nothing: who
looks whether the stack has room, and whether somebody wants to stop, is a run that is
about to invoke. Most runs are of the first kind (half of the nodes of a tree are
leaves), and so they cost what they compute.
"""

from __future__ import annotations

from collections.abc import Iterable

from chadllvm.ir.loops import Branch, Invoke, Stmt
from chadllvm.ir.statements import everywhere
from chadllvm.llvm import control, runtime
from chadllvm.llvm.state import State, Version
from chadllvm.llvm.writer import LIKELY, UNLIKELY

# A run that others may do a part of counts as so many: below it there may be few that
# take long, and to look is what asks for help.
TASK_FUEL = control.FUEL // 16


def first_invocation(body: Iterable[Stmt]) -> Stmt | None:
    """The statement in front of which to look: all invocations are in it or behind."""
    found = [stmt for stmt in body if _invokes(stmt)]
    match found:
        case []:
            return None
        case [Branch(then=then, orelse=orelse)]:
            sides = [side for side in (then, orelse) if any(map(_invokes, side))]
            return first_invocation(sides[0]) if len(sides) == 1 else found[0]
        case _:
            return found[0]


def _invokes(stmt: Stmt) -> bool:
    return any(isinstance(s, Invoke) for s in everywhere((stmt,)))


def look(state: State) -> None:
    """Is there room on the stack, and does somebody want to stop?"""
    out = state.out
    frame = out.alloca("i8", "frame")
    limit = out.let(f"load ptr, ptr {_field(state, runtime.STACK_OFFSET)}, align 8")
    deep, room = out.fresh_label("deep"), out.fresh_label("room")
    out.branch(out.let(f"icmp ugt ptr {frame}, {limit}"), room, deep, LIKELY)
    out.start(deep)
    status = out.let(f"call i32 @chad_deeper(ptr %ctx, ptr {frame})", "status")
    no_room = out.fresh_label("no_room")
    good = out.let(f"icmp eq i32 {status}, {runtime.OK}")
    out.branch(good, room, no_room, LIKELY)
    state.refused.append((status, no_room))
    out.start(room)
    at = _field(state, runtime.FUEL_OFFSET)
    fuel = TASK_FUEL if state.version is Version.TASK else 1
    left = out.let(f"sub i64 {out.let(f'load i64, ptr {at}, align 8')}, {fuel}")
    out.put(f"store i64 {left}, ptr {at}, align 8")
    poll, after = out.fresh_label("poll"), out.fresh_label("entered")
    out.branch(out.let(f"icmp sgt i64 {left}, 0"), after, poll, LIKELY)
    out.start(poll)
    out.put(f"store i64 {control.FUEL}, ptr {at}, align 8")
    answer = out.let("call i32 @chad_poll(ptr %ctx)", "status")
    stop = out.fresh_label("stop")
    asked = out.let(f"icmp ne i32 {answer}, {runtime.OK}")
    out.branch(asked, stop, after, UNLIKELY)
    state.refused.append((answer, stop))
    out.start(after)


def _field(state: State, offset: int) -> str:
    return state.out.let(f"getelementptr inbounds i8, ptr %ctx, i64 {offset}")
