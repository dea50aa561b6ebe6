"""Loops along a row have an element that they look at again and again in a register.

    for j in 0 .. n:                      start := 0
      p[r + j] += p[f] * p[q + j]         for each part of the loop, begin .. stop:
                                            x = p[f]
                                    →       for j in begin .. stop:
                                              p[r + j] += x * p[q + j]
                                            for j in stop .. stop + 1: …
                                            start := stop + 1

This is how elimination, substitution and shortest paths go through their tables, and
with them what their reverses add to one element. That may be an element of the row: so
the loop on the left has to look each time, and cannot become vector code. At one step
at most the row comes to the element: there the loop is cut in two, and the step between
the parts is as it was. Where the row stays clear of the element there is one part. If
there are few steps they stay as they were; so does what is read in one place and added
to in another if these are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Atom,
    Branch,
    For,
    Get,
    Let,
    Load,
    LoopFunction,
    Reg,
    Set,
    Slot,
    Stmt,
    Store,
)
from chadllvm.ir.statements import (
    Body,
    copied,
    over_bodies,
    over_inner,
    over_statements,
)
from chadllvm.ir.term import Lit, literal
from chadllvm.ir.types import I64
from chadllvm.lower.linear import Forms, Known, Linear
from chadllvm.lower.out import Out

# Loops with fewer steps stay as they are.
_FEW = 8

# In more parts no loop is cut.
_MOST = 4

Access = Load | Store | AddTo


def apart(function: LoopFunction) -> LoopFunction:
    """Cut loops where they come to what is to be in a register."""
    changing = _Changing(function.roots)
    return over_bodies(function, lambda body: changing.body(body, Known()))


class _Changing:
    def __init__(self, roots: Sequence[int]) -> None:
        self._roots = roots

    def body(self, body: Body, outer: Known) -> Body:
        """The statements of a body with its innermost loops changed."""
        known = outer.inside()
        return over_statements(body, lambda stmt: self._statement(stmt, known))

    def _statement(self, stmt: Stmt, known: Known) -> Iterable[Stmt]:
        match stmt:
            case Let():
                known.note(stmt)
                return [stmt]
            case For(go=None, lanes=1) if found := _found(stmt, known, self._roots):
                return _parts(stmt, found)
            # Lanes go through a loop in step: its parts would differ.
            case For() if stmt.lanes != 1:
                return [stmt]
            case _:
                return [over_inner(stmt, lambda body: self.body(body, known))]


@dataclass
class _Found:
    """What is looked at again and again, `fixed`.

    `meetings`: places of it that a row may come to, with the row; `pairs`: places that
    must not be the same; `rows`: those that must be the same or have nothing in common,
    so that the steps are `independent`, if they can be. A place or row of a key is a
    sum, of which a row's place moves from step to step.
    """

    fixed: list[Load | AddTo] = field(default_factory=list)
    meetings: dict[object, tuple[Linear, Linear]] = field(default_factory=dict)
    pairs: dict[object, tuple[Linear, Linear]] = field(default_factory=dict)
    rows: dict[object, tuple[Linear, Linear]] = field(default_factory=dict)
    independent: bool = True

    @property
    def helps(self) -> bool:
        """Whether something is gained, in a few parts."""
        some = self.meetings or (self.rows and self.independent)
        return bool(some) and len(self.meetings) < _MOST


def _found(loop: For, known: Known, roots: Sequence[int]) -> _Found | None:
    """What a loop looks at again and again; None: nothing that is worth it."""
    used: dict[int, list[Access]] = {}
    for stmt in loop.body:
        match stmt:
            case Load(root=root) | Store(root=root) | AddTo(root=root):
                used.setdefault(roots[root], []).append(stmt)
            case Let() | Accumulate():
                pass
            case _:
                return None
    forms, found = Forms(loop, known), _Found()
    for accesses in used.values():
        is_written = not all(isinstance(access, Load) for access in accesses)
        if is_written and not _note(accesses, forms, found):
            return None
    return found if found.helps else None


def _note(accesses: Sequence[Access], forms: Forms, found: _Found) -> bool:
    """Note what there is to a buffer that is written to; False: nobody knows."""
    fixed: list[tuple[Load | AddTo, Linear]] = []
    moving: list[tuple[Access, Linear]] = []
    plain = not forms.is_local(accesses[0].ptr)
    for access in accesses:
        form = forms.of(access.index)
        if form is None or abs(form.slope) > 1 or access.ptr is not accesses[0].ptr:
            plain = False
        elif form.slope:
            moving.append((access, form))
        elif isinstance(access, Store) or forms.is_local(access.index):
            plain = False
        else:
            fixed.append((access, form))
    if plain and _note_rows(moving, found):
        return _note_meetings(fixed, moving, found)
    found.independent = False
    return not fixed


def _note_rows(moving: Sequence[tuple[Access, Linear]], found: _Found) -> bool:
    """Note which rows must have nothing in common, if they are not the same; False: a
    step may need what another one has written."""
    for access, form in moving:
        for _, second in moving:
            if isinstance(access, Load) or (first := _key(form)) == _key(second):
                continue
            between = form.plus(second, -1)
            if form.slope != second.slope or not between.terms:
                return False
            found.rows[frozenset((first, _key(second)))] = form, second
    return True


def _note_meetings(
    fixed: Sequence[tuple[Load | AddTo, Linear]],
    moving: Sequence[tuple[Access, Linear]],
    found: _Found,
) -> bool:
    """Note what must not meet; False: it always does."""
    for access, place in fixed:
        found.fixed.append(access)
        for other, form in moving:
            if _minds(access, other):
                found.meetings[_key(place), _key(form)] = place, form
        for other, second in fixed:
            if isinstance(access, Load) and isinstance(other, AddTo):
                if _key(place) == _key(second):
                    return False
                found.pairs[_key(place), _key(second)] = place, second
    return True


def _minds(access: Load | AddTo, other: Access) -> bool:
    """Whether it matters that two places are the same: sums have no order."""
    if isinstance(access, Load):
        return not isinstance(other, Load)
    return not isinstance(other, AddTo)


def _key(form: Linear) -> object:
    return form.slope, frozenset(form.terms.items()), form.constant


def _parts(loop: For, found: _Found) -> Iterator[Stmt]:
    """The loop in parts, and the steps between them."""
    out = Out()
    count = out.let("imax", out.let("isub", loop.high, loop.low), Lit(0))
    wanted = out.let("ile", Lit(_FEW), count)
    for place, other in found.pairs.values():
        differs = out.let("ine", _sum(place, out), _sum(other, out))
        wanted = out.let("and", wanted, differs)
    if found.independent:
        for row, other in found.rows.values():
            clear = _are_clear(_sum(row, out), _sum(other, out), count, out)
            wanted = out.let("and", wanted, clear)
    number: Atom = Lit(1)
    meetings: list[Atom] = []
    for place, form in found.meetings.values():
        at, base = _sum(place, out), _sum(form, out)
        step = out.let("isub", *((at, base) if form.slope > 0 else (base, at)))
        is_step = out.let("iult", out.let("isub", step, loop.low), count)
        inside = out.let("and", wanted, is_step)
        meetings.append(out.let("select", inside, step, loop.high))
        number = out.let("iadd", number, out.let("select", inside, Lit(1), Lit(0)))
    yield from out.stmts
    if not meetings:
        yield from _part(loop, found, loop.high, wanted)
        return
    start, begin = Slot("start", I64), Reg("begin", I64)
    each = Out([Get(begin, start)])
    stop = loop.high
    for step in meetings:
        later = each.let("ile", begin, step)
        stop = each.let("select", later, each.let("imin", stop, step), stop)
    each.stmts += _part(replace(loop, low=begin), found, stop, wanted)
    each.emit(Set(start, each.let("iadd", stop, Lit(1))))
    yield Set(start, loop.low)
    yield For(Reg("part", I64), Lit(0), number, tuple(each.stmts))


def _part(loop: For, found: _Found, stop: Atom, wanted: Atom) -> Iterator[Stmt]:
    """The steps in front of one that comes to what is fixed, and that one."""
    out = Out()
    middle = out.let("select", wanted, stop, loop.low)
    some = out.let("ilt", loop.low, middle)
    end = out.let("imin", out.let("iadd", stop, Lit(1)), loop.high)
    yield from out.stmts
    quick = copied(replace(loop, high=middle))
    fixed = {
        s for s, old in zip(quick.body, loop.body, strict=True) if old in found.fixed
    }
    quick = replace(quick, commutes=quick.commutes or found.independent)
    yield Branch(some, tuple(_in_registers(quick, fixed, found.independent)))
    yield copied(replace(loop, low=middle, high=end))


def _in_registers(loop: For, fixed: set[Stmt], independent: bool) -> Iterator[Stmt]:
    """The loop with what is fixed in front of it and behind; what is added elsewhere
    belongs to one step if they are independent."""
    before: list[Stmt] = []
    inside: list[Stmt] = []
    behind: list[Stmt] = []
    for stmt in loop.body:
        match stmt:
            case AddTo(value=value) if stmt in fixed:
                slot, total = Slot("total", value.type), Reg("total", value.type)
                before.append(Set(slot, literal(0.0, value.type)))
                inside.append(Accumulate(slot, value))
                behind += [Get(total, slot), replace(stmt, value=total)]
            case Load() if stmt in fixed:
                before.append(stmt)
            case AddTo() if independent:
                inside += _stored(stmt)
            case _:
                inside.append(stmt)
    yield from (*before, replace(loop, body=tuple(inside)), *behind)


def _stored(add: AddTo) -> Iterator[Stmt]:
    """An addition to what nobody else adds to at the same time."""
    old, new = Reg("old", add.value.type), Reg("new", add.value.type)
    yield Load(old, add.ptr, add.index, add.root)
    yield Let(new, "add", (old, add.value))
    yield Store(add.ptr, add.index, new, add.root)


def _are_clear(first: Atom, second: Atom, count: Atom, out: Out) -> Atom:
    """Whether two rows of so many elements are one, or have nothing in common."""
    far = out.let("isub", first, second)
    back = out.let("isub", second, first)
    ahead = out.let("ile", count, out.let("imax", far, back))
    return out.let("or", out.let("ieq", far, Lit(0)), ahead)


def _sum(form: Linear, out: Out) -> Atom:
    """A place, or where a row is in front of its first step."""
    total: Atom = Lit(form.constant)
    for atom, count in form.terms.items():
        part = atom if count == 1 else out.let("imul", atom, Lit(count))
        total = part if total == Lit(0) else out.let("iadd", total, part)
    return total
