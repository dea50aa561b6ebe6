"""What differs between the iterations of a loop that are run side by side, its *lanes*.

    for i in 0 .. n:  # 8 lanes
      x = a[i]                 differs: it is eight elements next to each other
      for k in 0 .. m:
        c = b[k]               is the same in all lanes
        y = x * c              differs

All that is the same is computed once for all lanes. A loop that ends itself, in some
lanes earlier than in others, is run until it has ended in all of them: it is in
`masked`. What lanes that are done compute there is thrown away, so that this is for
loops that do nothing but compute, look up and add, and collect what they have computed:

    while go:                        while go in any lane:
      give x room for k + 1            give x room for k + 1
      x[k] = …                →        x[k] = …                   in all lanes
      steps := k + 1                   steps := k + 1             where go
    for j in 0 .. steps:             for k in most steps .. 0:
      … x[steps - 1 - j]               … x[k]                     where k < steps

A lane that is done may write behind what it has collected, as nobody reads that; and
where all have grown as far as the longest of them, each still has what it collected.
A loop over as many steps is masked, too. If it goes backwards, the lanes are at the
same element at a time: those that have collected less begin later (`backwards`).

A statement that cannot be run for all lanes at once (another loop whose bounds differ,
a branch that does more than choose) is run for one lane after the other: it is in
`alone`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chadllvm.ir.loops import (
    PTR,
    Accumulate,
    AddTo,
    Alloc,
    Atom,
    Branch,
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
    bodies_of,
)
from chadllvm.ir.op import Speculation
from chadllvm.ir.statements import everywhere, used
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64
from chadllvm.lower.totals import Totals, totals

# How a number, or a place in memory, differs: each lane is one further than the lane
# before, or by some number that is the same for all lanes; or there is no such number.
NEXT, FAR, ANY = 1, 2, 3

# Buffers of the lanes are not larger than this, in elements. They are walked through in
# order, so that it does little harm if only the last level of caches holds them.
MOST = 1 << 17

# So many steps may lanes wait for the one with most, if others fail behind the loop.
MOST_STEPS = 1 << 22

# A branch with more instructions than this is not run for lanes that do not take it.
_FEW = 16

# Which lanes run a statement: all of them, those that a mask says, or one at a time.
_ALL, _SOME, _ONE = range(3)


class Varying:
    """What differs between the lanes of a loop.

    `regs` says how; `classes` are those of the roots, `buffers` the ones of which each
    lane has buffers of its own, among `private`, but for those that hold `totals`. Sums
    of all lanes (slots that are only added to) are not in `slots`.
    """

    def __init__(
        self,
        loop: For,
        roots: Sequence[int],
        private: Iterable[int],
    ) -> None:
        self.classes = roots
        self._private = frozenset(private)
        self.sums = _sums(loop.body)
        self.regs: dict[Reg, int] = {}
        self.slots: set[Slot] = set()
        self.buffers: set[int] = set()
        self.masked: set[Stmt] = set()
        self._left_early: set[Stmt] = set()
        # Checks that may fail in some lanes only.
        self.unsure: set[Stmt] = set()
        self.alone: set[Stmt] = set()
        self._lets = {s.reg: s for s in everywhere(loop.body) if isinstance(s, Let)}
        self._gets = {s.reg: s for s in everywhere(loop.body) if isinstance(s, Get)}
        self._backwards = _backwards(loop.body, self._lets)
        self._offsets = {s.reg for s in everywhere(loop.body) if isinstance(s, Offset)}
        self._writers = _writers(loop.body, roots)
        # What is written behind all that a lane has, so that one that is done may write
        # it as well.
        self.collected = {
            stmt
            for inner in loop.body
            if isinstance(inner, For)
            for stmt in inner.body
            if self._collects(stmt, inner)
        }
        # Pointers into such buffers.
        self.pointers: set[Reg] = set()
        self.totals = Totals()
        self._find(loop)
        if self.buffers and (found := totals(loop, roots, self)).classes:
            self.totals = found
            self._find(loop)

    def _find(self, loop: For) -> None:
        """Note all, for loops that lanes leave early as such from the beginning: what
        is run for one lane at a time elsewhere is not, in them."""
        self._note_all(loop)
        while not self.masked <= self._left_early:
            self._left_early |= self.masked
            self._note_all(loop)

    def _note_all(self, loop: For) -> None:
        """Note more and more until all is noted."""
        for found in (self.regs, self.slots, self.buffers, self.pointers):
            found.clear()
        for noted in (self.masked, self.alone, self.unsure):
            noted.clear()
        self.regs[loop.index] = NEXT
        before = None
        while before != (before := self._size()):
            self._body(loop.body, _ALL)

    def _size(self) -> tuple[int, ...]:
        written = len(self.slots), len(self.buffers), len(self.pointers)
        noted = len(self.masked), len(self.alone), len(self.unsure)
        return sum(self.regs.values()), *written, *noted

    def kind(self, atom: Atom) -> int:
        """How an atom differs; 0 if it does not."""
        return self.regs.get(atom, 0) if isinstance(atom, Reg) else 0

    def place(self, ptr: Atom, index: Atom) -> int:
        """How a place in memory differs, where lanes share the buffer."""
        first, second = sorted((self.kind(ptr), self.kind(index)))
        return second if not first or second == ANY else FAR

    def owns(self, root: int) -> bool:
        """Whether each lane has a buffer of its own."""
        return self.classes[root] in self.buffers

    def is_private(self, root: int) -> bool:
        """Whether an iteration has the buffer for itself, be it alike in all lanes."""
        return self.classes[root] in self._private

    def _note(self, reg: Reg, kind: int) -> None:
        if kind > self.regs.get(reg, 0):
            self.regs[reg] = kind

    def _body(self, body: Sequence[Stmt], who: int) -> None:
        for stmt in body:
            self._statement(stmt, who)

    def _statement(self, stmt: Stmt, who: int) -> None:
        divergent = who != _ALL
        match stmt:
            case Let(reg):
                if not self.goes_back(stmt):
                    self._note(reg, self._result(stmt))
            case Get(reg, slot):
                self._note(reg, ANY if slot in self.slots else 0)
            case Set(slot, value) | Accumulate(slot, value):
                if slot not in self.sums and (divergent or self.kind(value)):
                    self.slots.add(slot)
            case Load(reg, ptr, index, root):
                self._reached(ptr, root)
                same = not self.place(ptr, index) and not self.owns(root)
                self._note(reg, 0 if same else ANY)
            case Offset(reg, ptr, index):
                self._offset(stmt)
            case Store(ptr, index, value, root) | AddTo(ptr, index, value, root):
                differs = self.place(ptr, index) or self.kind(value)
                self._written(root, divergent or differs)
                self._reached(ptr, root)
            case Check(cond, _, values):
                if divergent or any(map(self.kind, (cond, *values))):
                    self.unsure.add(stmt)
            case Clear(ptr, count, _, root):
                self._reached(ptr, root)
                differs = self.kind(ptr) or self.kind(count)
                self._run_alone(stmt, bool(differs) and not divergent)
            case Copy(target, source, count, _, root, other):
                differs = any(map(self.kind, (target, source, count)))
                self._written(root, divergent or differs or self.owns(other))
                self._reached(target, root)
                self._reached(source, other)
                self._run_alone(stmt, differs and not divergent)
            case For(body=body):
                inside = self._who_steps(stmt, who)
                self._run_alone(stmt, inside == _ONE and not divergent)
                if inside == _SOME and (stmt.go is not None or self._counts(stmt)):
                    self.masked.add(stmt)
                else:
                    self.masked.discard(stmt)
                self._note(stmt.index, ANY if inside == _ONE else 0)
                self._body(body, inside)
            case Branch(cond, then, orelse):
                differs = self.kind(cond) > 0
                alone = differs and not divergent
                alone = alone and not (is_simple(stmt) or self._asks(stmt))
                self._run_alone(stmt, alone)
                inside = _ONE if alone else max(who, _SOME) if differs else who
                if stmt.grows and inside == _SOME and not differs:
                    inside = _ALL
                self._body(then, inside)
                self._body(orelse, inside)
            case _:
                pass

    def _offset(self, stmt: Offset) -> None:
        """Part of a buffer; a lane's own elements are not next to each other."""
        if stmt.reg in self.pointers and isinstance(stmt.ptr, Reg):
            self.pointers.add(stmt.ptr)
        if stmt.ptr in self.pointers:
            self.pointers.add(stmt.reg)
        kind = self.place(stmt.ptr, stmt.index)
        self._note(stmt.reg, ANY if kind and stmt.reg in self.pointers else kind)

    def _reached(self, ptr: Atom, root: int) -> None:
        if self.owns(root) and isinstance(ptr, Reg):
            self.pointers.add(ptr)

    def _run_alone(self, stmt: Stmt, alone: bool) -> None:
        if alone:
            self.alone.add(stmt)
        else:
            # It may be part of something that was found to be run for some lanes only.
            self.alone.discard(stmt)

    def _written(self, root: int, differs: bool | int) -> None:
        of = self.classes[root]
        if differs and of in self._private and of not in self.totals.classes:
            self.buffers.add(of)

    def _result(self, let: Let) -> int:
        kinds = [self.kind(arg) for arg in let.args]
        if not any(kinds):
            return 0
        if let.reg.type == I64 and ANY not in kinds:
            match let.op, kinds:
                case "iadd", (0, kind) | (kind, 0):
                    return kind
                case "isub", (kind, 0):
                    return kind
                case (("iadd" | "isub"), _):
                    return FAR
                case "imul", (0, _) | (_, 0):
                    return FAR
        return ANY

    def _who_steps(self, loop: For, who: int) -> int:
        """Which lanes run the body of an inner loop at a time."""
        counts = self._counts(loop)
        if who == _ONE or not (counts or self._is_uniform(loop)):
            return _ONE
        early = loop.go in self.slots or loop in self._left_early
        if not counts and (loop.go is None or (who == _ALL and not early)):
            return who
        return _SOME if self._only_computes(loop) else _ONE

    def _counts(self, loop: For) -> bool:
        """Whether a loop makes as many steps as one that has ended itself."""
        if loop.go is not None or loop.rows or loop.low != Lit(0):
            return False
        match self._lets.get(loop.high) if isinstance(loop.high, Reg) else None:
            case Let(_, "imax", (high, Lit(value=0))):
                pass
            case _:
                high = loop.high
        get = self._gets.get(high) if isinstance(high, Reg) else None
        return get is not None and get.slot in self.slots and self._is_left_by(get.slot)

    def _is_left_by(self, slot: Slot) -> bool:
        """Whether a slot is set in a loop that ends itself."""
        return any(
            isinstance(stmt, Set) and stmt.slot is slot
            for loop in self.masked
            for stmt in everywhere([loop])
        )

    def goes_back(self, stmt: Let) -> For | None:
        """The masked loop whose steps this numbers, from the last to the first."""
        loop = self._backwards.get(stmt)
        return loop if loop in self.masked else None

    def _only_computes(self, loop: For) -> bool:
        """Whether lanes that are done do no harm in a loop.

        What is the same in all lanes is computed where one of them needs it.
        """
        return all(
            self._is_harmless(inner)
            for stmt in loop.body
            if not self._only_grows(stmt)
            for inner in everywhere([stmt])
        )

    def _asks(self, branch: Branch) -> bool:
        """Whether a branch checks something, and may be run for all lanes at once."""
        inside = list(everywhere((*branch.then, *branch.orelse)))
        return any(isinstance(stmt, Check) for stmt in inside) and all(
            map(self._is_harmless, inside)
        )

    def _only_grows(self, stmt: Stmt) -> bool:
        return isinstance(stmt, Branch) and stmt.grows and not self.kind(stmt.cond)

    def _collects(self, stmt: Stmt, loop: For) -> bool:
        """Whether it writes the next element of a buffer that nothing else writes to,
        in a loop that an iteration runs once."""
        if not isinstance(stmt, Store) or not self.is_private(stmt.root):
            return False
        return all(
            isinstance(writer, Store)
            and writer in loop.body
            and writer.index is loop.index
            and writer.ptr not in self._offsets
            for writer in self._writers[self.classes[stmt.root]]
        )

    def _is_harmless(self, stmt: Stmt) -> bool:
        match stmt:
            case Let(reg):
                return not self.kind(reg) or stmt.code.speculation > Speculation.NEVER
            case For():
                return self._is_uniform(stmt) or self._counts(stmt)
            case Store(ptr, index, _, root):
                return self.is_private(root) or self.place(ptr, index) > 0
            case Load() | AddTo() | Offset():
                return True
            case Get() | Set() | Accumulate() | Branch() | Check():
                return True
            case _:
                return False

    def _is_uniform(self, loop: For) -> bool:
        """Whether the lanes go through an inner loop in step, as long as they do."""
        if self.kind(loop.low) or self.kind(loop.high) or loop.rows:
            return False
        if any(isinstance(stmt, For | Branch) for stmt in loop.body):
            return True
        # What is added to places without order is better added row by row.
        return not any(
            isinstance(stmt, AddTo)
            and not self.is_private(stmt.root)
            and self.place(stmt.ptr, stmt.index) == ANY
            for stmt in loop.body
        )


def _backwards(body: Sequence[Stmt], lets: Mapping[Reg, Let]) -> dict[Let, For]:
    """What says which step is next in loops from the last to the first, and which:

        for j in 0 .. n:  # n = max(steps, 0)
          k = (steps - 1) - j

    where nothing else looks at `j`.
    """
    found: dict[Let, For] = {}
    for loop in everywhere(body):
        if not isinstance(loop, For) or loop.go or not isinstance(loop.high, Reg):
            continue
        users = [s for s in everywhere(loop.body) if loop.index in used(s)]
        match users, lets.get(loop.high):
            case [Let(_, "isub", (Reg() as last, _)) as let], high if let in loop.body:
                pass
            case _:
                continue
        match high, lets.get(last):
            case _, Let(_, "iadd", (steps, Lit(value=-1))) if steps is loop.high:
                found[let] = loop
            case (
                Let(_, "imax", (most, Lit(value=0))),
                Let(_, "iadd", (steps, Lit(value=-1))),
            ) if steps is most:
                found[let] = loop
            case _:
                pass
    return found


def _writers(body: Sequence[Stmt], roots: Sequence[int]) -> dict[int, list[Stmt]]:
    """What writes to buffers, by the classes of their roots, but where they grow."""
    found: dict[int, list[Stmt]] = {}
    for stmt in body:
        match stmt:
            case Store(root=root) | AddTo(root=root) | Clear(root=root):
                found.setdefault(roots[root], []).append(stmt)
            case Copy(target_root=root) | Alloc(root=root, zero=True):
                found.setdefault(roots[root], []).append(stmt)
            case Branch(grows=True):
                pass
            case _:
                for inner in bodies_of(stmt):
                    for of, writers in _writers(inner, roots).items():
                        found.setdefault(of, []).extend(writers)
    return found


def _sums(body: Sequence[Stmt]) -> frozenset[Slot]:
    """The slots of floats that all iterations add to, and do nothing else with."""
    added: set[Slot] = set()
    used: set[Slot] = set()
    for stmt in everywhere(body):
        match stmt:
            case Accumulate(slot):
                added.add(slot)
            case Get(_, slot) | Set(slot):
                used.add(slot)
            case For(go=Slot() as slot):
                used.add(slot)
            case _:
                pass
    return frozenset(added - used)


def is_simple(branch: Branch) -> bool:
    """Whether a branch does nothing but compute a little, and choose."""
    count = 0
    for stmt in everywhere([branch]):
        match stmt:
            case Let(reg) if stmt.code.is_cheap and reg.type != PTR:
                count += 1
            case Get(reg) if reg.type != PTR:
                count += 1
            case Set() | Accumulate() | Branch():
                count += 1
            case _:
                return False
    return count <= _FEW
