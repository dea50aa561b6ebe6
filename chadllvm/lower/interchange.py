"""Inner loops change places where only the innermost one reads memory with gaps.

    for i in 0 .. l:                      for i in 0 .. l:
      for j in 0 .. n:                      for k in 0 .. m:
        for k in 0 .. m:                      x = a[i * m + k]
          x = a[i * m + k]         →          for j in 0 .. n:
          y = b[k * n + j]                      y = b[k * n + j]
          c[i * n + j] += x * y                 c[i * n + j] += x * y

This is a product of matrices as it is written down, and the reverse of one. The loops
on the right read and write rows in order, so that they become vector code. An element
gets what is added to it in the same order as before, or sums have none. If n is small
the loops stay as they were, which is asked at run time; so the loops are there twice,
with the one around them, if that does nothing else.

    for j in 0 .. n:                      for each strip of the loop:
      s := 0.0                              for j in the strip: q[j - first] = 0.0
      for k in 0 .. m:                      for k in 0 .. m:
        s += a[k] * b[k * n + j]    →         for j in the strip:
      c[j] = s                                  q[j - first] += a[k] * b[k * n + j]
                                            for j in the strip:
                                              s := q[j - first]
                                              c[j] = s

A sum that has a variable of its own is added up in memory, for a strip of steps at
once, whatever is done with it behind. Sums of few numbers are better in registers, as
lanes have them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Atom,
    Branch,
    Check,
    For,
    Get,
    Invoke,
    Leave,
    Let,
    Load,
    LoopFunction,
    Offset,
    Reg,
    Set,
    Slot,
    Spread,
    Stmt,
    Store,
)
from chadllvm.ir.statements import (
    assigned,
    copied,
    everywhere,
    made,
    over_inner,
    over_statements,
    used,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, I64, Scalar
from chadllvm.lower.lanes import SHORT
from chadllvm.lower.linear import Known
from chadllvm.lower.out import Out
from chadllvm.lower.split import needed
from chadllvm.lower.striped import Strips, by_strips

# A loop with fewer steps is not worth to be the innermost one.
_FEW = 8

# The steps whose sums are added up at once: as many as a chunk of a sum of sums has.
_SUMS = 16

# Statements of a loop that may be there twice for the sake of a loop inside.
_LONGEST = 128

# What has buffers of its own.
_ELSEWHERE = Spread | Invoke | Leave

# What may be done with a sum.
_AFTER = Store | AddTo | Get | Set | Accumulate | Check

# How a place moves with an index: not at all, to its neighbour, or further.
_STAYS, _NEXT, _FAR = range(3)


def interchange(function: LoopFunction) -> LoopFunction:
    """Let the innermost loops of nests go through memory in order."""
    return _Changing.of(function)


class _Changing(Strips):
    """Changes nests, the outermost ones first."""

    def changed(self, loop: For, known: Known) -> list[Stmt] | None:
        """None: it stays."""
        nest = self._nest(loop)
        return nest.versions() if nest else self._sums(loop)

    def around(self, loop: For) -> For:
        """It has one buffer, so that it is not run side by side any more."""
        return replace(loop, commutes=False)

    def _nest(self, loop: For) -> _Nest | None:
        """The loops of a nest that is to be changed."""
        second = _inside(loop)
        third = _inside(second) if second else None
        if second is None:
            return None
        nest = _Nest(loop, second, third) if third else _Nest(None, loop, second)
        may_be = self._only_adds(loop, nest.inner) and nest.is_rectangular()
        return nest if may_be and nest.has_gaps() else None

    def _only_adds(self, loop: For, inner: For) -> bool:
        """Whether all that a nest does is to add to what it does not read."""
        if not all(isinstance(s, Let | Load | Offset | AddTo) for s in inner.body):
            return False
        inside = list(everywhere((loop,)))
        reads = {self.roots[s.root] for s in inside if isinstance(s, Load)}
        adds = {self.roots[s.root] for s in inside if isinstance(s, AddTo)}
        return bool(adds) and reads.isdisjoint(adds)

    def _sums(self, loop: For) -> list[Stmt] | None:
        """The loop with the sums in it in another order, and as it was. Lanes may run
        that one: so it is the outermost loop that is there twice, unless it is long."""
        inside = [*everywhere((loop,))]
        if any(isinstance(stmt, _ELSEWHERE) for stmt in inside):
            return None
        found: dict[Stmt, _Sums] = {
            inner: sums
            for inner in inside
            if isinstance(inner, For) and (sums := _Sums.of(inner, self.roots))
        }
        local = {loop.index, *made(loop.body)}
        if not found or not all(sums.is_known(local) for sums in found.values()):
            return None
        if loop not in found and len(inside) > _LONGEST:
            return None
        out = Out()
        conds = [cond for sums in found.values() for cond in sums.is_worth_it(out)]
        many = reduce(lambda x, y: out.let("and", x, y), conds)
        first = tuple(self._changed(loop, found))
        second = tuple(self._changed(copied(loop), {}))
        return [*out.stmts, Branch(many, first, second)]

    def _changed(self, stmt: Stmt, found: Mapping[Stmt, _Sums]) -> list[Stmt]:
        """A statement with these loops and all nests changed."""
        if (sums := found.get(stmt)) is not None:
            return sums.strips(self.buffer)
        if isinstance(stmt, For):
            if (nest := self._nest(stmt)) is not None:
                return nest.versions()
            if not found.keys().isdisjoint(everywhere(stmt.body)):
                stmt = self.around(stmt)
        return [
            over_inner(
                stmt,
                lambda body: over_statements(body, lambda s: self._changed(s, found)),
            )
        ]


@dataclass(frozen=True)
class _Sums:
    """A loop that adds something up in a loop of its own, `inner`, and goes on with it:
    the slots have what they begin with."""

    loop: For
    before: Sequence[Stmt]
    inner: For
    after: Sequence[Stmt]
    begins: Mapping[Slot, Atom]

    @staticmethod
    def of(loop: For, roots: Sequence[int]) -> _Sums | None:
        """The sums of a loop, if they may be added up for a strip of its steps at once,
        and that reads memory in order where it was not."""
        places = [k for k, stmt in enumerate(loop.body) if isinstance(stmt, For)]
        if loop.go is not None or loop.private or len(places) != 1:
            return None
        before, after = loop.body[: places[0]], loop.body[places[0] + 1 :]
        inner = loop.body[places[0]]
        assert isinstance(inner, For)
        slots = [s.slot for s in inner.body if isinstance(s, Accumulate)]
        begins = {
            s.slot: s.value for s in before if isinstance(s, Set) and s.slot in slots
        }
        sums = _Sums(loop, before, inner, after, begins)
        return sums if sums._may_be(roots, slots) and sums._has_gaps() else None

    def _may_be(self, roots: Sequence[int], slots: Sequence[Slot]) -> bool:
        """Whether nothing is added up or read that depends on what is done behind."""
        inner = self.inner
        plain = Let | Load | Offset
        is_plain = (
            inner.go is None
            and not inner.private
            and all(isinstance(s, plain | Set) for s in self.before)
            and all(isinstance(s, plain | Accumulate) for s in inner.body)
            and all(isinstance(s, plain | _AFTER) for s in self.after)
        )
        sets = Counter(s.slot for s in self.before if isinstance(s, Set))
        if not is_plain or not slots or any(sets[slot] != 1 for slot in slots):
            return False
        local = {self.loop.index, *made(self.loop.body)}
        reads = {roots[s.root] for s in self._read if isinstance(s, Load)}
        writes = {roots[s.root] for s in self.after if isinstance(s, Store | AddTo)}
        return local.isdisjoint((inner.low, inner.high)) and reads.isdisjoint(writes)

    @property
    def _read(self) -> tuple[Stmt, ...]:
        """The inner loop's body, behind what it and the beginnings are made of."""
        wanted = {value for value in self.begins.values() if isinstance(value, Reg)}
        wanted.update(reg for stmt in self.inner.body for reg in used(stmt))
        early = list[Stmt]()
        for stmt in reversed(self.before):
            if not wanted.isdisjoint(assigned(stmt)):
                early.append(stmt)
                wanted.update(used(stmt))
        return (*reversed(early), *self.inner.body)

    def _has_gaps(self) -> bool:
        """Whether the inner loop reads memory with gaps, and this one does not."""
        now = _moves(self._read, self.inner.index)
        then = _moves(self._read, self.loop.index)
        return _FAR in now and _FAR not in then and _NEXT in then

    def is_known(self, local: Collection[object]) -> bool:
        """Whether the numbers of steps are not among what is computed in a loop."""
        ends = (self.loop.low, self.loop.high, self.inner.low, self.inner.high)
        return not any(end in local for end in ends)

    def is_worth_it(self, out: Out) -> list[Atom]:
        """Whether there are enough steps: sums of a few numbers are better in lanes."""
        return [
            out.let("ile", Lit(few), out.let("isub", loop.high, loop.low))
            for few, loop in ((_SUMS, self.loop), (SHORT + 1, self.inner))
        ]

    def strips(self, buffer: Callable[[Scalar], tuple[Reg, int]]) -> list[Stmt]:
        """The loop by strips, whose sums are in buffers."""
        out = Out()
        count = out.let("span", self.loop.high, self.loop.low)
        buffers = {slot: buffer(slot.type) for slot in self.begins}
        loops = partial(self._loops, buffers=buffers)
        return [*out.stmts, *by_strips(self.loop, count, loops)]

    def _loops(self, of: For, buffers: Mapping[Slot, tuple[Reg, int]]) -> Iterator[For]:
        """What is done for a strip: the sums begin, are added up, and are used."""
        place = Reg("place", I64)
        at = Let(place, "isub", (of.index, of.low))
        begin, kept = list[Stmt](), list[Stmt]()
        for slot, (ptr, root) in buffers.items():
            store = Store(ptr, place, self.begins[slot], root)
            begin += [*needed((*self.before, store), store)]
            value = Reg("kept", slot.type)
            kept += [Load(value, ptr, place, root), Set(slot, value)]
        yield replace(of, body=(at, *dict.fromkeys(begin)))
        moving: set[Reg] = {of.index}
        around, inside = list[Stmt](), list[Stmt]()
        for stmt in self._read:
            if isinstance(stmt, Accumulate):
                ptr, root = buffers[stmt.slot]
                inside.append(AddTo(ptr, place, stmt.value, root))
            elif moving.isdisjoint(used(stmt)):
                around.append(stmt)
            else:
                moving.update(assigned(stmt))
                inside.append(stmt)
        strip = replace(of, body=(at, *inside))
        yield replace(self.inner, body=(*around, strip))
        before = [
            s for s in self.before if not (isinstance(s, Set) and s.slot in buffers)
        ]
        yield replace(of, body=(at, *before, *kept, *self.after))


def _inside(loop: For) -> For | None:
    """The loop in a loop that does nothing else but to look for it where it is."""
    *before, last = loop.body or (None,)
    plain = all(isinstance(stmt, Let | Load | Offset) for stmt in before)
    is_one = plain and isinstance(last, For) and last.go is None and loop.go is None
    return last if is_one and isinstance(last, For) else None


@dataclass(frozen=True)
class _Nest:
    """Loops that may change places, and the one around them, if there is one."""

    outer: For | None
    middle: For
    inner: For

    def is_rectangular(self) -> bool:
        """Whether the inner loops have the same steps in all steps around them."""
        whole = self.outer or self.middle
        local = {whole.index, *made(whole.body)}
        moving = (self.middle, self.inner) if self.outer else (self.inner,)
        ends = [end for loop in moving for end in (loop.low, loop.high)]
        plain = not (self.middle.private or self.inner.private)
        return plain and local.isdisjoint(ends)

    def has_gaps(self) -> bool:
        """Whether only the innermost loop goes through memory with gaps."""
        body = (*self.middle.body[:-1], *self.inner.body)
        now, then = _moves(body, self.inner.index), _moves(body, self.middle.index)
        return _FAR in now and _FAR not in then and _NEXT in then

    def versions(self) -> list[Stmt]:
        """The nest as it is to be, and as it was."""
        count, many = Reg("t", I64), Reg("many", BOOL)
        return [
            Let(count, "isub", (self.middle.high, self.middle.low)),
            Let(many, "ile", (Lit(_FEW), count)),
            Branch(many, (copied(self._changed()),), (self.outer or self.middle,)),
        ]

    def _changed(self) -> For:
        moving: set[Reg] = {self.middle.index}
        around: list[Stmt] = []
        inside: list[Stmt] = []
        for stmt in (*self.middle.body[:-1], *self.inner.body):
            if isinstance(stmt, AddTo) or not moving.isdisjoint(used(stmt)):
                moving.update(assigned(stmt))
                inside.append(stmt)
            else:
                around.append(stmt)
        poll = self.middle.poll
        last = replace(self.middle, body=tuple(inside), poll=self.inner.poll)
        loop = replace(self.inner, body=(*around, last), poll=poll)
        if self.outer is None:
            return loop
        return replace(self.outer, body=(*self.outer.body[:-1], loop))


def _moves(body: Iterable[Stmt], index: Reg) -> set[int]:
    """How the places that a body looks at move with an index."""
    kinds: dict[Atom, int] = {index: _NEXT}
    found = set()
    for stmt in body:
        match stmt:
            case Let(reg, op, args):
                kinds[reg] = _result(op, [kinds.get(arg, _STAYS) for arg in args])
            case Offset(reg, ptr, at):
                kinds[reg] = _place(kinds.get(ptr, _STAYS), kinds.get(at, _STAYS))
            case Load(reg, ptr, at):
                found.add(place := _place(kinds.get(ptr, 0), kinds.get(at, 0)))
                kinds[reg] = _FAR if place else _STAYS
            case AddTo(ptr, at):
                found.add(_place(kinds.get(ptr, 0), kinds.get(at, 0)))
            case _:
                pass
    return found


def _result(op: str, kinds: Sequence[int]) -> int:
    match op, kinds:
        case "iadd", [one, other]:
            return _place(one, other)
        case "isub", [kind, 0]:
            return kind
        case _:
            return _FAR if any(kinds) else _STAYS


def _place(one: int, other: int) -> int:
    """How a sum moves."""
    return max(one, other) if not one or not other else _FAR
