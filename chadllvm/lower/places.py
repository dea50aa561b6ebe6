"""Which places the accesses of an innermost loop are, and which buffers are others.

Arrays that take turns, as the states of a loop do, are in buffers of one class of
roots. Two of them are told apart by where the pointers come from: a slot whose pointer
is said to be to another buffer (`Get.apart`), or buffers that are there at once.

    u = the state; v = its spare buffer, apart from u
    for j in 0 .. n:
      x = u[j]; v[j + 1] += x        u: 1 · j;  v: 1 · j + 1

What is said of two registers holds as long as both do: in a loop that stands behind
both of them, for all of its steps.
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
    Get,
    Load,
    Local,
    LoopFunction,
    Offset,
    Reg,
    Stmt,
    Store,
)
from chadllvm.ir.statements import everywhere
from chadllvm.lower.linear import Forms, Linear

Access = Load | Store | AddTo


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
        params = [p for p in function.params if isinstance(p, ArrayParam)]
        self._inputs: set[Atom] = {p.ptr for p in params}
        for body in (function.body, *(s.body for s in function.subroutines)):
            self.note(body)

    def note(self, body: Iterable[Stmt]) -> None:
        """Note the pointers that are made in a body."""
        for stmt in everywhere(body):
            match stmt:
                case Offset(reg):
                    self._offsets[reg] = stmt
                case Get(reg, _, apart) if apart:
                    self._apart.update(frozenset((reg, other)) for other in apart)
                case Alloc(reg) | Local(reg):
                    self._buffers.add(reg)
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
        return Place(ptr, form)

    def are_independent(self, accesses: Sequence[Access], forms: Forms) -> bool:
        """Whether no step reads or writes what another step writes."""
        found: list[tuple[Access, Place]] = []
        for access in accesses:
            place = self.place(access, forms)
            if place is None:
                return False
            found.append((access, place))
        return all(
            (isinstance(a, Load) and isinstance(b, Load)) or self._never_meet(p, q)
            for (a, p), (b, q) in combinations_with_replacement(found, 2)
        )

    def _never_meet(self, one: Place, two: Place) -> bool:
        """Whether two places, one of them written to, are others in different steps."""
        if one.base is not two.base:
            return self.are_apart(one.base, two.base) or self.are_apart(
                two.base, one.base
            )
        between = one.form.plus(two.form, -1)
        if between.slope or between.terms or not one.form.slope:
            return False
        return not between.constant or between.constant % one.form.slope != 0


def by_class(body: Iterable[Stmt], roots: Sequence[int]) -> Iterator[list[Access]]:
    """The accesses of a body to each class of roots."""
    found: dict[int, list[Access]] = {}
    for stmt in everywhere(body):
        if isinstance(stmt, Access):
            found.setdefault(roots[stmt.root], []).append(stmt)
    yield from found.values()
