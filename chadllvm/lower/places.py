"""Which places the accesses of an innermost loop are, and which buffers are others.

Arrays that take turns, as the states of a loop do, are in buffers of one class of
roots. Two of them are told apart by where the pointers come from: a slot whose pointer
is said to be to another buffer (`Get.apart`), or buffers that are there at once.

    u = the state; v = its spare buffer, apart from u
    for j in 0 .. n:
      x = u[j]; v[j + 1] += x        u: 1 · j;  v: 1 · j + 1

What is said of two registers holds as long as both do: in a loop that stands behind
both of them, for all of its steps. Rows of one array are told apart as well: places
that are a multiple of a row's length from each other, in a loop along a row.

    for j in 0 .. m:
      p[j] += x; p[2 · m + j] += y
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from chadllvm.ir.loops import (
    AddTo,
    Alloc,
    ArrayParam,
    Atom,
    For,
    Get,
    Let,
    Load,
    Local,
    LoopFunction,
    Offset,
    Reg,
    Stmt,
    Store,
)
from chadllvm.ir.statements import everywhere, whole
from chadllvm.ir.term import Lit
from chadllvm.lower.linear import Forms, Known, Linear

Access = Load | Store | AddTo

# How far sums of sums are taken apart.
_DEEPEST = 5


@dataclass(frozen=True)
class Place:
    """An element: how far it is from what a pointer outside of the loop points to."""

    base: Atom
    form: Linear


class Pointers:
    """Where the pointers of a function come from."""

    def __init__(self, function: LoopFunction) -> None:
        self._offsets: dict[Reg, Offset] = {}
        self._apart: set[frozenset[Reg]] = set()
        self._buffers: set[Atom] = set()
        self._sums: dict[Reg, Let] = {}
        params = [p for p in function.params if isinstance(p, ArrayParam)]
        self._inputs: set[Atom] = {p.ptr for p in params}
        for stmt in whole(function):
            match stmt:
                case Offset(reg):
                    self._offsets[reg] = stmt
                case Get(reg, _, apart) if apart:
                    self._apart.update(frozenset((reg, other)) for other in apart)
                case Alloc(reg) | Local(reg):
                    self._buffers.add(reg)
                case Let(reg, "iadd" | "isub" | "imul" | "imax"):
                    self._sums[reg] = stmt
                case _:
                    pass

    def base(self, ptr: Atom) -> Atom:
        """The pointer that this one is made of."""
        while isinstance(ptr, Reg) and ptr in self._offsets:
            ptr = self._offsets[ptr].ptr
        return ptr

    def are_apart(self, written: Atom, other: Atom) -> bool:
        """Whether a buffer that is written to is another one than that."""
        if written in self._buffers and other in self._buffers:
            return written is not other
        # What the caller gives is never written to.
        return other in self._inputs or frozenset((written, other)) in self._apart

    def place(self, access: Access, forms: Forms) -> Place | None:
        """The place of an access in a loop; None: nobody knows."""
        form, ptr = forms.of(access.index), access.ptr
        while isinstance(ptr, Reg) and (offset := self._offsets.get(ptr)):
            more = forms.of(offset.index)
            form = form.plus(more, 1) if form is not None and more is not None else None
            ptr = offset.ptr
        if form is None or forms.is_local(ptr):
            return None
        return Place(ptr, self._expanded(form))

    def _expanded(self, form: Linear) -> Linear:
        """The same sum, of registers that are not sums of others."""
        total = Linear(form.slope, {}, form.constant)
        for atom, count in form.terms.items():
            total = total.plus(self._sum(atom, _DEEPEST), count)
        return total

    def _sum(self, atom: Atom, depth: int) -> Linear:
        if isinstance(atom, Lit):
            return Linear(0, {}, int(atom.value))
        let = self._sums.get(atom) if depth else None
        match let:
            case Let(_, "iadd" | "isub" as op, (a, b)):
                factor = 1 if op == "iadd" else -1
                return self._sum(a, depth - 1).plus(self._sum(b, depth - 1), factor)
            case Let(_, "imul", (a, Lit(count)) | (Lit(count), a)):
                return Linear(0, {}, 0).plus(self._sum(a, depth - 1), int(count))
            case _:
                return Linear(0, {atom: 1}, 0)

    def length(self, loop: For) -> Atom | None:
        """Something that is not less than the steps of a loop, if it makes any."""
        high = loop.high
        match self._sums.get(high) if isinstance(high, Reg) else None:
            case Let(_, "imax", (most, Lit(0)) | (Lit(0), most)):
                high = most
            case _:
                pass
        most_steps = self._sum(high, _DEEPEST)
        match loop.low, list(most_steps.terms.items()):
            case Lit(low), [(atom, 1)] if low >= 0 and most_steps.constant <= 0:
                return atom
            case _:
                return None

    def are_independent(
        self, accesses: Sequence[Access], loop: For, known: Known
    ) -> bool:
        """Whether no step reads or writes what another step writes."""
        forms, row = Forms(loop, known), self.length(loop)
        found: list[tuple[Access, Place]] = []
        for access in accesses:
            place = self.place(access, forms)
            if place is None:
                return False
            found.append((access, place))
        return all(
            (isinstance(a, Load) and isinstance(b, Load)) or self._never_meet(p, q, row)
            for (a, p), (b, q) in combinations_with_replacement(found, 2)
        )

    def _never_meet(self, one: Place, two: Place, row: Atom | None) -> bool:
        """Whether two places, one of them written to, are others in different steps."""
        if self._are_others(one, two, row):
            return True
        between = one.form.plus(two.form, -1)
        if one.base is not two.base or between.slope or between.terms:
            return False
        if not one.form.slope:
            return False
        return not between.constant or between.constant % one.form.slope != 0

    def _are_others(self, one: Place, two: Place, row: Atom | None) -> bool:
        """Whether two places are in other buffers, or rows, in whichever steps."""
        if one.base is not two.base:
            return self.are_apart(one.base, two.base) or self.are_apart(
                two.base, one.base
            )
        between = one.form.plus(two.form, -1)
        is_in_rows = abs(one.form.slope) == 1 and not between.slope
        return is_in_rows and not between.constant and [*between.terms] == [row]

    def comes_back(self, accesses: Sequence[Access], loop: For, known: Known) -> bool:
        """Whether a step may read what it has written; additions read, too."""
        forms, row = Forms(loop, known), self.length(loop)
        written: list[Place | None] = []
        for access in accesses:
            place = self.place(access, forms)
            if not isinstance(access, Store) and not all(
                place and other and self._are_others(place, other, row)
                for other in written
            ):
                return True
            if not isinstance(access, Load):
                written.append(place)
        return False


def by_class(body: Iterable[Stmt], roots: Sequence[int]) -> Iterator[list[Access]]:
    """The accesses of a body to each class of roots."""
    found: dict[int, list[Access]] = {}
    for stmt in everywhere(body):
        if isinstance(stmt, Access):
            found.setdefault(roots[stmt.root], []).append(stmt)
    yield from found.values()
