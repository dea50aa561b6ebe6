"""Indices as sums of multiples of what is the same in all steps of a loop.

for j in 0 .. n:
  k = r + j          1 · j + r
  l = k + 1          1 · j + r + 1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chadllvm.ir.loops import Atom, For, Let, Reg
from chadllvm.ir.statements import everywhere, made
from chadllvm.ir.term import Lit


@dataclass(frozen=True)
class Linear:
    """slope times the loop's index, and a sum of what is the same in all steps."""

    slope: int
    terms: Mapping[Atom, int]
    constant: int

    def plus(self, other: Linear, factor: int) -> Linear:
        """This, and the other one so many times."""
        terms = dict(self.terms)
        for atom, count in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor * count
        return Linear(
            self.slope + factor * other.slope,
            {atom: count for atom, count in terms.items() if count},
            self.constant + factor * other.constant,
        )


class Known:
    """What has been computed in front of a statement: registers that hold the same
    number have one name."""

    def __init__(self) -> None:
        self._first: dict[tuple[object, ...], Reg] = {}
        self._name: dict[Reg, Reg] = {}

    def inside(self) -> Known:
        """What is known at the beginning of a body that stands here."""
        known = Known()
        known._first, known._name = dict(self._first), dict(self._name)
        return known

    def note(self, let: Let) -> None:
        """What this computes is known from now on."""
        key = let.op, tuple(map(self.name, let.args))
        self._name[let.reg] = self._first.setdefault(key, let.reg)

    def name(self, atom: Atom) -> Atom:
        """The first register that holds this."""
        return self._name.get(atom, atom) if isinstance(atom, Reg) else atom


class Forms:
    """The forms of the atoms of a loop that has no loops inside."""

    def __init__(self, loop: For, known: Known) -> None:
        self._known = known
        self._local = {loop.index, *made(loop.body)}
        self._forms: dict[Atom, Linear] = {loop.index: Linear(1, {}, 0)}
        for stmt in everywhere(loop.body):
            match stmt:
                case Let(reg, "iadd" | "isub" as op, (a, b)):
                    self._note(reg, self.of(a), self.of(b), 1 if op == "iadd" else -1)
                case Let(reg, "imul", (a, Lit(factor)) | (Lit(factor), a)):
                    self._note(reg, Linear(0, {}, 0), self.of(a), int(factor))
                case _:
                    pass

    def _note(
        self, reg: Reg, one: Linear | None, other: Linear | None, factor: int
    ) -> None:
        if one is not None and other is not None:
            self._forms[reg] = one.plus(other, factor)

    def of(self, atom: Atom) -> Linear | None:
        """The form of an atom, if it has one."""
        if isinstance(atom, Lit):
            return Linear(0, {}, int(atom.value))
        if self.is_local(atom):
            return self._forms.get(atom)
        return Linear(0, {self._known.name(atom): 1}, 0)

    def is_local(self, atom: Atom) -> bool:
        """Whether it differs from step to step."""
        return atom in self._local
