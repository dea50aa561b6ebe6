"""Loops that add to places near each other add to one of them after the other.

    for j in 0 .. n:                      for each strip of the loop:
      …                                     for j in the strip:
      p[j + 1] += a                           …
      p[j] += b                     →         q[j - first] = b
                                              p[j + 1] += a
                                            for j in the strip:
                                              p[j] += q[j - first]

A step adds to what the one before has just added to: so the loop on the left cannot
become vector code, and those on the right do. An element gets what is added to it in
the same order as before: where the index rises, it is reached first by what adds
furthest ahead, and this comes first in each strip, too. Places of which nobody knows
how far they are apart stay in one loop, which LLVM makes vector code of for the case
that they have nothing in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Atom,
    Branch,
    For,
    Let,
    Load,
    LoopFunction,
    Reg,
    Stmt,
    Store,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64
from chadllvm.lower.linear import Forms, Known
from chadllvm.lower.out import Out
from chadllvm.lower.places import Access, Pointers, by_class
from chadllvm.lower.split import needed
from chadllvm.lower.striped import FEW, Strips, each_strip


def additions(function: LoopFunction) -> LoopFunction:
    """Make loops for each of the places that a loop adds to."""
    return _Parting.of(function)


class _Parting(Strips):
    """The additions that come later."""

    def __init__(self, roots: list[int], pointers: Pointers) -> None:
        super().__init__(roots)
        self._pointers = pointers

    @classmethod
    def making(cls, function: LoopFunction) -> Self:
        return cls([*function.roots], Pointers(function))

    def _inside(self) -> Self:
        return type(self)(self.roots, self._pointers)

    def changed(self, loop: For, known: Known) -> list[Stmt] | None:
        """None: there are none."""
        later = _later(loop, self.roots, Forms(loop, known), self._pointers)
        if not later:
            return None
        out = Out()
        count = out.let("isub", loop.high, loop.low)
        many = out.let("ile", Lit(FEW), count)
        inner = each_strip(loop, count, lambda first: self._parts(loop, later, first))
        return [*out.stmts, Branch(many, tuple(inner), (loop,))]

    def _parts(
        self, loop: For, later: Sequence[Sequence[AddTo]], first: Atom
    ) -> list[list[Stmt]]:
        """The loops of a strip: what is added later goes through buffers, which hold
        what is added to several places once."""
        place = Reg("place", I64)
        at = Let(place, "isub", (loop.index, first))
        kept: dict[Atom, tuple[Reg, int]] = {}
        instead: dict[Stmt, list[Stmt]] = {}
        loops: list[list[Stmt]] = []
        for group in later:
            indices: list[Stmt] = []
            added: list[Stmt] = []
            for add in group:
                indices += _index(loop, add)
                instead[add] = []
                if add.value not in kept:
                    ptr, root = kept[add.value] = self.buffer(add.value.type)
                    instead[add] = [Store(ptr, place, add.value, root)]
                added += _again(add, *kept[add.value], place)
            loops.append([at, *dict.fromkeys(indices), *added])
        early = [s for stmt in loop.body for s in instead.get(stmt, [stmt])]
        return [[at, *early], *loops]


def _again(add: AddTo, ptr: Reg, root: int, place: Reg) -> list[Stmt]:
    """Add what is kept there."""
    value = Reg("kept", add.value.type)
    return [Load(value, ptr, place, root), replace(add, value=value)]


def _later(
    loop: For, roots: Sequence[int], forms: Forms, pointers: Pointers
) -> list[list[AddTo]]:
    """What is added in the second loop, the third, and so on; empty if one will do."""
    simple = Let | Load | Store | AddTo | Accumulate
    if not all(isinstance(stmt, simple) for stmt in loop.body):
        return []
    later: list[list[AddTo]] = []
    for accesses in by_class(loop.body, roots):
        families = _families([a for a in accesses if isinstance(a, AddTo)], forms)
        if families is None:
            return []
        for groups in families if _are_cells(accesses, pointers) else ():
            later += [[] for _ in range(len(groups) - 1 - len(later))]
            for group, rest in zip(later, groups[1:], strict=False):
                group += rest
    return later


def _are_cells(accesses: Sequence[Access], pointers: Pointers) -> bool:
    """Whether what is added to is neither read nor stored to in the loop."""
    kinds: dict[bool, set[Atom]] = {True: set(), False: set()}
    for access in accesses:
        kinds[isinstance(access, AddTo)].add(pointers.base(access.ptr))
    return all(pointers.are_apart(a, b) for a in kinds[True] for b in kinds[False])


def _families(added: Sequence[AddTo], forms: Forms) -> list[list[list[AddTo]]] | None:
    """The additions to places whose distance is known, by place: the place that is
    reached first is in front. None: there are others, and no vector code."""
    families: dict[object, dict[int, list[AddTo]]] = {}
    for add in added:
        form = forms.of(add.index)
        if form is None or abs(form.slope) != 1 or forms.is_local(add.ptr):
            return None
        key = add.ptr, form.slope, frozenset(form.terms.items())
        ahead = form.constant * form.slope
        families.setdefault(key, {}).setdefault(ahead, []).append(add)
    return [
        [family[ahead] for ahead in sorted(family, reverse=True)]
        for family in families.values()
    ]


def _index(loop: For, add: AddTo) -> list[Stmt]:
    """What computes where something is added."""
    mark = Let(Reg("mark", I64), "iadd", (add.index, Lit(0)))
    return needed([*loop.body, mark], mark)[:-1]
