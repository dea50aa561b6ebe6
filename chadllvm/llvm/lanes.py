"""Loops whose iterations are run side by side: each lane of a vector is one of them.

    for i in 0 .. n:  # 8 lanes          for i = 0, 8, …:
      x = a[i]                             x = load <8 x double> at a[i]
      s := 0.0                             s = <8 x double> 0.0
      for k in 0 .. m:             →       for k in 0 .. m:
        c = b[k]                             c = load double at b[k]
        s := s * x + c                       s = s * x + (c in all lanes)
      total += s                           totals += s
                                         total += the sum of the lanes of totals

What `lower/varying.py` finds to be the same in all lanes is written as if there were no
lanes, by the functions for single statements. So is what it wants to be run for one
lane after the other, in a loop over the lanes that takes their values from memory.

A loop that ends itself, in some lanes earlier than in others, goes on as long as it
does in one of them; in those that are done, slots keep what they have:

    while go:                            while go in any lane:
      x := x / 2                   →       x = x / 2 where go, else x
      go := x > e                          go = x > e where go, else go

What lanes collect there is in buffers that all of them make together. If one would be
too large, the lanes are left, to be run again one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TypeVar

from chadllvm.ir.loops import (
    ROW_TURN,
    Accumulate,
    AddTo,
    Alloc,
    Atom,
    Branch,
    CallRuntime,
    Check,
    Clear,
    Copy,
    For,
    Get,
    Let,
    Load,
    Offset,
    Reg,
    Set,
    Slot,
    Stmt,
    Store,
)
from chadllvm.ir.op import Speculation
from chadllvm.ir.statements import everywhere
from chadllvm.ir.types import BOOL, I64
from chadllvm.llvm import control
from chadllvm.llvm.lane_memory import Written
from chadllvm.llvm.lane_values import Spread, nothing
from chadllvm.llvm.lane_windows import LaneWindows
from chadllvm.llvm.state import INTERRUPTED, Lane
from chadllvm.llvm.types import BYTES, STORED
from chadllvm.llvm.writer import AS_IT_IS, LIKELY
from chadllvm.lower.varying import ANY, MOST, MOST_STEPS, is_simple

T = TypeVar("T")

# Loops of so many times their lanes store to where vectors do not lie in two lines.
_MANY = 4


class Lanes(LaneWindows):
    """The writing of one loop in lanes."""

    # Where to go when it is done, the index of the first lane, and the slot for the
    # index to go on from if they are left.
    _after = _first = ""
    _resume: Slot | None = None

    def run(self, loop: For, polls: bool) -> None:
        """Write the loop."""
        if loop.ends:
            self._with_ends(loop, polls)
            return
        state, out = self.state, self.state.out
        sums = sorted(self.varying.sums, key=lambda slot: slot.name)
        self._after = out.fresh_label("after")
        for slot in sums:
            self.store_slot(slot, self.all(nothing(slot.type), slot.type))
        low, high = state.name(loop.low), state.name(loop.high)
        span = out.let(f"sub nsw i64 {high}, {low}")
        turns = out.let(f"sdiv exact i64 {span}, {self.count}")
        state.lanes, self._resume = self, loop.resume
        self._turns(loop, ("0", turns), low, polls)
        state.lanes = None
        out.jump(self._after)
        out.start(self._after)
        for slot in sums:
            total = Reg(slot.name, slot.type)
            state.names[total] = self.sum(self.load_slot(slot), slot.type)
            self.emit_statement(state, Accumulate(slot, total))

    def _turns(self, loop: For, bounds: tuple[str, str], low: str, fuel: bool) -> None:
        """Write the loop for some times its lanes; `fuel`: count down at each."""
        state, out = self.state, self.state.out
        turn = out.fresh("turn")

        def body() -> None:
            done = out.let(f"mul nsw i64 {turn}, {self.count}")
            self._steps(loop, out.let(f"add nsw i64 {low}, {done}", loop.index.name))
            if fuel:
                control.emit_countdown(out, state.fuel, state.exit(INTERRUPTED))

        control.emit_loop(
            out, turn, bounds, True, body, about=AS_IT_IS if loop.ends else ""
        )

    def _steps(self, loop: For, first: str) -> None:
        """Write the steps of all lanes, of which this is the first."""
        self.values[loop.index], self._first = Spread(first, "1"), first
        for stmt in loop.body:
            self.emit_statement(self.state, stmt)

    def _with_ends(self, loop: For, polls: bool) -> None:
        """Write a loop whose first and last lanes overlap those between.

        Both are computed first and stored last, so that each step sees what it would
        see in order. Those between begin where what is written first is aligned.
        """
        state, out, size = self.state, self.state.out, self.count
        low, high = state.name(loop.low), state.name(loop.high)
        span = out.let(f"sub nsw i64 {high}, {low}")
        enough, few = out.fresh_label("enough"), out.fresh_label("few")
        more, last = out.fresh_label("more"), out.fresh_label("last")
        after = out.fresh_label("after")
        out.branch(out.let(f"icmp sle i64 {size}, {span}"), enough, few)
        out.start(few)
        self.emit_statement(state, replace(loop, lanes=1, ends=False, few=True))
        out.jump(after)
        out.start(enough)
        state.lanes = self
        head = self._kept_back(loop, low)
        out.branch(out.let(f"icmp slt i64 {size}, {span}"), more, last)
        out.start(more)
        tail = self._kept_back(loop, out.let(f"sub nsw i64 {high}, {size}"))
        begin = self._aligned(head[0], span)
        left = out.let(f"sub nsw i64 {out.let(f'sub nsw i64 {span}, {begin}')}, 1")
        turns = out.let(f"udiv i64 {left}, {size}")
        second = out.let(f"add nsw i64 {low}, {begin}")
        if polls:
            work = (control.static_work(loop.body) or 0) * size
            control.emit_strips(
                out,
                ("0", turns),
                control.strip_length(work),
                lambda start, stop: self._turns(loop, (start, stop), second, False),
                state.exit(INTERRUPTED),
            )
        else:
            self._turns(loop, ("0", turns), second, False)
        state.lanes = None
        for written in tail:
            self.stored(*written)
        out.jump(last)
        out.start(last)
        for written in head:
            self.stored(*written)
        out.jump(after)
        out.start(after)

    def _kept_back(self, loop: For, first: str) -> list[Written]:
        """Write the steps of all lanes, but for what they store."""
        self.written = []
        self._steps(loop, first)
        written, self.written = self.written, None
        return written

    def _aligned(self, first: Written, span: str) -> str:
        """How many steps the first lanes take alone: all, if there are not many."""
        address, ty, _, _ = first
        out, size = self.state.out, self.count
        place = out.let(f"ptrtoint ptr {address} to i64")
        number = out.let(f"udiv i64 {place}, {BYTES[ty]}")
        over = out.let(f"and i64 {number}, {size - 1}")
        rest = out.let(f"sub nsw i64 {size}, {over}")
        many = out.let(f"icmp sle i64 {_MANY * size}, {span}")
        return out.let(f"select i1 {many}, i64 {rest}, i64 {size}")

    def emit(self, stmt: Stmt) -> bool:
        """Write a statement that differs between lanes; else leave it."""
        differs = self._emit(stmt)
        self.add_up(stmt)
        return differs

    def _emit(self, stmt: Stmt) -> bool:
        varying = self.varying
        match stmt:
            case _ if stmt in varying.alone:
                self._one_by_one(stmt)
            case AddTo() if stmt in varying.totals.adds:
                self.add_total(stmt)
            case Let() if varying.goes_back(stmt):
                pass
            case Let(args=(_, divisor)) if self.mask and _by_one(stmt):
                if not self.differs(stmt.reg):
                    return False
                self.values[stmt.reg] = self.let(self._divided(stmt, divisor))
            case Let(reg) if self.differs(reg):
                self.values[reg] = self.let(stmt)
            case Get(reg, slot) if self.differs(reg):
                self.values[reg] = self.load_slot(slot)
            case Set(slot, value) if slot in varying.slots:
                self.set(slot, self.vector(value))
            case Accumulate(slot, value) if self._is_kept(slot):
                self.accumulate(slot, value)
            case Load(reg) if self.differs(reg):
                self.values[reg] = self.load(stmt)
            case Offset(reg, ptr) if self.differs(reg) or ptr in varying.pointers:
                self.offset(stmt)
            case Store() if self.is_apart(stmt):
                self.store(stmt)
            case AddTo() if not self.is_common(stmt):
                if not (self.waits(stmt) or self.slides(stmt)):
                    self.add_to(stmt)
            case Clear(root=root) | Copy(target_root=root) if varying.owns(root):
                self.fill(stmt)
            case Alloc(root=root) if varying.owns(root):
                self._make(stmt)
            case For(go=None) if stmt in varying.masked:
                self._as_many_as_any(stmt)
            case For() if stmt in varying.masked:
                self._until_all_are_done(stmt)
            case Branch(cond) if self.differs(cond):
                self._choose(stmt)
            case Check(cond) if stmt in varying.unsure:
                self._check(cond)
            case CallRuntime(_, name, args) if any(map(self.differs, args)):
                self._at_row(stmt, 0 if name == ROW_TURN else self.count - 1)
            case _:
                return False
        return True

    def _at_row(self, stmt: CallRuntime, lane: int) -> None:
        """The first lane waits for its turn, the last one says that all are done."""
        rows, row, step = stmt.args
        mine = Reg("step", I64)
        self.state.names[mine] = self.lane(step, lane)
        self.emit_plain(replace(stmt, args=(rows, row, mine)))

    def _is_kept(self, slot: Slot) -> bool:
        return slot in self.varying.slots or slot in self.varying.sums

    def _choose(self, stmt: Branch) -> None:
        """Both bodies, each for the lanes that take it."""
        out, ty, outer = self.state.out, self.type(BOOL), self.mask
        cond, true = self.vector(stmt.cond), self.all("true", BOOL)
        for taken, body in ((True, stmt.then), (False, stmt.orelse)):
            if not body:
                continue
            mask = cond if taken else out.let(f"xor {ty} {cond}, {true}")
            self.mask = self.both(outer, mask)
            after = "" if is_simple(stmt) else self._unless_none()
            for inner in body:
                self.emit_statement(self.state, inner)
            if after:
                out.jump(after)
                out.start(after)
        self.mask = outer

    def _unless_none(self) -> str:
        """Go on if there is a lane here; else to the label that this gives."""
        out = self.state.out
        some, after = out.fresh_label("some"), out.fresh_label("after")
        out.branch(self.any_here(), some, after)
        out.start(some)
        return after

    def _until_all_are_done(self, loop: For) -> None:
        """A loop that ends itself, for the lanes that are not done.

        One that does not end must not keep another one from failing.
        """
        state, outer, go = self.state, self.mask, loop.go
        assert go is not None

        def goes_on() -> str:
            self.mask = self.both(outer, self.load_slot(go))
            return self.any_here()

        def body() -> None:
            for stmt in loop.body:
                self.emit_statement(state, stmt)
            control.emit_countdown(state.out, state.fuel, state.exit(INTERRUPTED))

        low, high = state.name(loop.low), state.name(loop.high)
        index, natural, out = state.bind(loop.index), low.isdigit(), state.out
        if not self.varying.unsure:
            control.emit_loop(out, index, (low, high), natural, body, goes_on)
        else:
            full = f"@llvm.sadd.sat.i64(i64 {low}, i64 {MOST_STEPS})"
            full = out.let(f"call i64 {full}")
            last = out.let(f"call i64 @llvm.smin.i64(i64 {full}, i64 {high})")
            control.emit_loop(out, index, (low, last), natural, body, goes_on)
            is_all = out.let(f"icmp eq i64 {last}, {high}")
            done = out.let(f"xor i1 {goes_on()}, true")
            self._leave_unless(out.let(f"or i1 {is_all}, {done}"))
        self.mask = outer

    def _as_many_as_any(self, loop: For) -> None:
        """A loop with as many steps as the lane with most of them, for each of the
        lanes that have these steps."""
        state, out, outer = self.state, self.state.out, self.mask
        size, ty = self.count, self.type(I64)
        high = self.vector(loop.high)
        if outer:
            text = f"select {self.type(BOOL)} {outer}, {ty} {high}"
            high = out.let(f"{text}, {ty} zeroinitializer")
        most = out.let(f"call i64 @llvm.vector.reduce.smax.v{size}i64({ty} {high})")
        last = out.let(f"sub i64 {most}, 1")
        index = state.bind(loop.index)
        lets = [stmt for stmt in loop.body if isinstance(stmt, Let)]
        backwards = [let.reg for let in lets if self.varying.goes_back(let) is loop]

        def body() -> None:
            step = index
            for reg in backwards:
                step = state.names[reg] = out.let(f"sub i64 {last}, {index}", reg.name)
            here = out.let(f"icmp slt {ty} {self._splat(step, I64)}, {high}")
            self.mask = self.both(outer, here)
            for stmt in loop.body:
                self.emit_statement(state, stmt)
            control.emit_countdown(out, state.fuel, state.exit(INTERRUPTED))

        control.emit_loop(out, index, ("0", most), True, body)
        self.mask = outer

    def _divided(self, stmt: Let, divisor: Atom) -> Let:
        """The division, by one in lanes that are not here."""
        safe, ones = Reg("divisor", I64), self.all("1", I64)
        self.varying.regs[safe] = ANY
        self.values[safe] = self.chosen(I64, self.vector(divisor), ones)
        return replace(stmt, args=(stmt.args[0], safe))

    def _make(self, stmt: Alloc) -> None:
        """A buffer for all lanes, unless it would be too large."""
        state, count = self.state, Reg("n", I64)
        name = state.name(stmt.count)
        self._leave_unless(state.out.let(f"icmp sle i64 {name}, {MOST // self.count}"))
        state.names[count] = self.scaled_name(name)
        self.emit_plain(replace(stmt, count=count))

    def _check(self, cond: Atom) -> None:
        """If it fails in any lane, leave: the lanes are run again, one by one."""
        out, size, ty = self.state.out, self.count, self.type(BOOL)
        good = self.vector(cond)
        if self.mask:
            true = self.all("true", BOOL)
            good = out.let(f"select {ty} {self.mask}, {ty} {good}, {ty} {true}")
        text = f"call i1 @llvm.vector.reduce.and.v{size}i1({ty} {good})"
        self._leave_unless(out.let(text))

    def _leave_unless(self, good: str) -> None:
        out = self.state.out
        assert self._resume is not None
        passed, failed = out.fresh_label("good"), out.fresh_label("failed")
        out.branch(good, passed, failed, LIKELY)
        out.start(failed)
        out.put(f"store i64 {self._first}, ptr {self.state.slot(self._resume)}")
        out.jump(self._after)
        out.start(passed)

    def _one_by_one(self, stmt: Stmt) -> None:
        """A statement for one lane after the other, as if there were no lanes."""
        state, out = self.state, self.state.out
        used = dict.fromkeys(r for s in everywhere([stmt]) for r in _parts(s, Reg))
        regs = [r for r in used if r in self.values and self.differs(r)]
        held = {reg: self._held(reg) for reg in regs}
        slots = {s for inner in everywhere([stmt]) for s in _parts(inner, Slot)}
        number = out.fresh("lane")

        def body() -> None:
            before = dict(state.slots)
            for slot in filter(self._is_kept, slots):
                text = f"getelementptr inbounds {STORED[slot.type]}"
                place = out.let(f"{text}, ptr {self.slot(slot)}, i64 {number}")
                state.slots[slot] = place
            names = {reg: self._taken(reg, held[reg], number) for reg in regs}
            state.lane = Lane(self.varying, number, self.count)
            with self.named(names):
                self.emit_plain(stmt)
            state.lane = None
            state.slots = {s: p for s, p in state.slots.items() if not self._is_kept(s)}
            state.slots.update(before)

        control.emit_loop(out, number, ("0", str(self.count)), True, body)

    def _held(self, reg: Reg) -> str:
        """The lanes' values in memory, to look one up; empty for those of a rule."""
        value = self.values[reg]
        if isinstance(value, Spread):
            return ""
        ty = f"<{self.count} x {STORED[reg.type]}>"
        place = self.state.out.alloca(ty, reg.name)
        self.stored(place, reg.type, value, "")
        return place

    def _taken(self, reg: Reg, held: str, lane: str) -> str:
        """The value of the lane of this number."""
        value, out, stored = self.values[reg], self.state.out, STORED[reg.type]
        if isinstance(value, Spread):
            return self.at(value, lane)
        place = out.let(f"getelementptr inbounds {stored}, ptr {held}, i64 {lane}")
        name = out.let(f"load {stored}, ptr {place}, align {BYTES[reg.type]}")
        return out.let(f"icmp ne i8 {name}, 0") if stored == "i8" else name


def _parts(stmt: Stmt, kind: type[T]) -> Iterator[T]:
    """The registers or slots in the fields of a statement."""
    for f in fields(stmt):
        value = getattr(stmt, f.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, kind):
                yield part


def _by_one(let: Let) -> bool:
    """Whether a lane that is not here has to divide by one."""
    return let.code.speculation == Speculation.BY_ONE
