"""Loops, and how a loop looks for interrupts without slowing down.

A loop whose iterations have bounded work runs in strips: the inner loop stays a plain
counted loop that LLVM can vectorise, and between strips the runtime is asked. A loop
with unbounded iterations (it contains other loops) counts its iterations down instead.
Both ask every few ten microseconds; the runtime looks at the clock and returns. Inner
loops may do without if little is done for each element of an array they walk along:
then the size of memory bounds their time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chadllvm.ir.loops import (
    UNBOUNDED,
    AddTo,
    Alloc,
    Atom,
    Branch,
    CallRuntime,
    Clear,
    Copy,
    For,
    Get,
    Invoke,
    Let,
    Load,
    Offset,
    Set,
    Slot,
    Spread,
    Stmt,
    Store,
)
from chadllvm.ir.statements import everywhere
from chadllvm.ir.term import Lit
from chadllvm.llvm.writer import LIKELY, UNLIKELY, Writer

# The work of a strip, in simple instructions.
STRIP_WORK = 1 << 16

# Longer strips are multiples of this: unrolled vector loops leave no rest.
WHOLE_VECTORS = 64

# Iterations with so much work are worth a look, whatever bounds their number.
HEAVY_WORK = 256

# The same where each iteration needs the one before. Other loops with as little work
# are vectorised if they are not cut into strips, and bounded by the memory they walk
# along.
HEAVY_STEP = 12

# Innermost loops of no more steps are written out, if that is no more work than this.
# LLVM would make a vector of their steps, with a mask where there are fewer than lanes;
# what such a vector has stored is not there yet when the next one reads some of it.
# More than that takes LLVM long, and is worth little.
FEW_STEPS = 4
LITTLE_WORK = 24

# Iterations of loops with unbounded bodies between two looks.
FUEL = 1024

# The work of bumping an arena.
CALL_WORK = 16


def emit_loop(
    out: Writer,
    index: str,
    bounds: tuple[str, str],
    natural: bool,
    body: Callable[[], None],
    goes_on: Callable[[], str] | None = None,
    about: str = "",
) -> None:
    """A counted loop: the body runs for index = low, …, high - 1.

    `natural`: the low bound is not negative; `goes_on`: another condition for a step;
    `about`: metadata of the loop.
    """
    low, high = bounds
    before, next_index = out.label, out.fresh("next")
    head, inside = out.fresh_label("head"), out.fresh_label("body")
    latch, after = out.fresh_label("latch"), out.fresh_label("after")
    out.jump(head)
    out.start(head)
    out.put(f"{index} = phi i64 [ {low}, %{before} ], [ {next_index}, %{latch} ]")
    if goes_on is None or high != str(UNBOUNDED.value):
        following = inside if goes_on is None else out.fresh_label("in_range")
        out.branch(out.let(f"icmp slt i64 {index}, {high}"), following, after)
        if goes_on is not None:
            out.start(following)
    if goes_on is not None:
        out.branch(goes_on(), inside, after)
    out.start(inside)
    body()
    out.jump(latch)
    out.start(latch)
    # The index stays below `high`; if it also starts at 0 or later, no bit is lost.
    wrap = "nuw nsw" if natural else "nsw"
    out.put(f"{next_index} = add {wrap} i64 {index}, 1")
    out.jump(head, about)
    out.start(after)


def emit_strips(
    out: Writer,
    bounds: tuple[str, str],
    strip: int,
    run: Callable[[str, str], None],
    interrupted: str,
) -> None:
    """Run low, …, high - 1 in strips, with a look for interrupts between them."""
    low, high = bounds
    before, stop = out.label, out.fresh("stop")
    start = out.fresh("start")
    head, poll = out.fresh_label("strip"), out.fresh_label("poll")
    after = out.fresh_label("after")
    out.jump(head)
    out.start(head)
    out.put(f"{start} = phi i64 [ {low}, %{before} ], [ {stop}, %{poll} ]")
    full = out.let(f"call i64 @llvm.sadd.sat.i64(i64 {start}, i64 {strip})")
    out.put(f"{stop} = call i64 @llvm.smin.i64(i64 {full}, i64 {high})")
    run(start, stop)
    more = out.let(f"icmp slt i64 {stop}, {high}")
    out.branch(more, poll, after)
    out.start(poll)
    out.branch(_asked(out), interrupted, head, UNLIKELY)
    out.start(after)


def emit_countdown(out: Writer, fuel: str, interrupted: str) -> None:
    """At the end of an iteration: count down, and look for interrupts at zero."""
    left = out.let(f"sub i64 {out.let(f'load i64, ptr {fuel}')}, 1")
    out.put(f"store i64 {left}, ptr {fuel}")
    poll, after = out.fresh_label("poll"), out.fresh_label("after")
    out.branch(out.let(f"icmp ne i64 {left}, 0"), after, poll, LIKELY)
    out.start(poll)
    out.put(f"store i64 {FUEL}, ptr {fuel}")
    out.branch(_asked(out), interrupted, after, UNLIKELY)
    out.start(after)


def _asked(out: Writer) -> str:
    """Whether the runtime wants the function to stop."""
    answer = out.let("call i32 @chad_poll(ptr %ctx)")
    return out.let(f"icmp ne i32 {answer}, 0")


def strip_length(work: int) -> int:
    """Iterations of a strip, given the work of one; long ones fill whole vectors."""
    length = max(1, STRIP_WORK // (work + 1))
    return length if length < WHOLE_VECTORS else length - length % WHOLE_VECTORS


def static_work(body: Iterable[Stmt]) -> int | None:
    """About the most cycles that a body takes; None if it depends on data."""
    total = 0
    for stmt in body:
        work = _statement_work(stmt)
        if work is None:
            return None
        total += work
    return total


def _statement_work(stmt: Stmt) -> int | None:
    match stmt:
        case Let():
            return stmt.code.most or stmt.code.cycles
        case For(body=body):
            trips, inner = trip_count(stmt), static_work(body)
            return None if trips is None or inner is None else trips * (inner + 1)
        case Branch(then=then, orelse=orelse):
            works = static_work(then), static_work(orelse)
            return None if None in works else 1 + max(w for w in works if w is not None)
        case Clear(count=count) | Copy(count=count):
            return CALL_WORK + int(count.value) if isinstance(count, Lit) else None
        case Alloc(count=count, zero=True):
            return CALL_WORK + int(count.value) if isinstance(count, Lit) else None
        case Alloc():
            return CALL_WORK
        case CallRuntime() | Invoke() | Spread():
            return None
        case _:
            return 1


def may_last(loop: For, work: int | None) -> bool:
    """Whether a loop with this work for each iteration may run for long."""
    if loop.high == UNBOUNDED:
        return True
    if work is None or work >= HEAVY_WORK or not _walks(loop):
        return True
    return work >= HEAVY_STEP and _needs_the_one_before(loop.body)


def _needs_the_one_before(body: Iterable[Stmt]) -> bool:
    """Whether a step may read what the one before has put into a slot."""
    here: set[Slot] = set()
    read: set[Slot] = set()
    changed: set[Slot] = set()
    for stmt in body:
        inner = [*everywhere([stmt])]
        read |= {s.slot for s in inner if isinstance(s, Get)} - here
        changed |= {s.slot for s in inner if isinstance(s, Set)}
        if isinstance(stmt, Set):
            here.add(stmt.slot)
        elif isinstance(stmt, Branch):
            here |= _set_by(stmt.then) & _set_by(stmt.orelse)
    return not read.isdisjoint(changed)


def _set_by(body: Iterable[Stmt]) -> set[Slot]:
    return {stmt.slot for stmt in body if isinstance(stmt, Set)}


def _walks(loop: For) -> bool:
    """Whether there is an array with a place for each iteration."""
    derived: set[Atom] = {loop.index}
    for stmt in loop.body:
        match stmt:
            case Let(reg, "iadd" | "isub" | "imul", args):
                if not derived.isdisjoint(args):
                    derived.add(reg)
            case Load(index=index) | Store(index=index) | AddTo(index=index):
                if index in derived:
                    return True
            case Offset(index=index):
                if index in derived:
                    return True
            case _:
                pass
    return False


def is_written_out(loop: For) -> bool:
    """Whether the few steps of a loop are to follow each other without one."""
    trips = trip_count(loop)
    if trips is None or trips > FEW_STEPS:
        return False
    work = static_work(loop.body)
    simple = not any(isinstance(stmt, For) for stmt in loop.body)
    return simple and work is not None and trips * work <= LITTLE_WORK


def trip_count(loop: For) -> int | None:
    """The number of iterations, if it is known."""
    if loop.go is not None:
        return None
    if isinstance(loop.low, Lit) and isinstance(loop.high, Lit):
        return max(0, int(loop.high.value) - int(loop.low.value))
    return None
