"""An array that a loop updates: what is read and written, where, and what lasts.

    a' = iterate(n, a) { i, s ->
      k = iadd(i, 1)
      x = index(s, i)             read at (i)
      y = mul(x, x)
      t = update(s, k, y)         written at (i + 1)
      yield t }

An element *lasts* from when it is read, or written, if no later write of the loop is to
the same place: then it is found in the loop's result. A write of a later step of a loop
is elsewhere if, along some axis,

- one of the two positions is fixed while that loop runs, and they are proved to differ;
- or the writes move on with the loop's index, and the place is not in front of where
  they are when it is read: the position is at most s i + r, with s > 0, where that of a
  write is at least s j + r in step j (or the same with both signs turned).

In the last case the part of a write's position that varies within a step, as with the
index of an inner loop, only adds to s j + r.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chadllvm.ir.op import ArrayOp
from chadllvm.ir.term import Apply, Binding, Block, If, Lambda, Operand, Var
from chadllvm.ops.index import Index
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update
from chadllvm.simplify.affine import Form
from chadllvm.simplify.facts import Facts


@dataclass(frozen=True, eq=False)
class Access:
    """A read or a write in program order: `loops` are the indices of the loops around
    it from the one that is looked at inwards, `var` is the number that is there, or
    None if it may not be there, or not be known there.
    """

    order: int
    loops: tuple[Var, ...]
    place: tuple[Operand, ...]
    var: Operand | None


class Versions:
    """What the steps of a loop do to the array in one of its states.

    `is_known`: whether the loop's result is that state after all writes found here.
    """

    def __init__(self, node: Apply, position: int) -> None:
        (body,) = node.bodies
        self.reads: list[Access] = []
        self.writes: list[Access] = []
        self._loops: tuple[Var, ...] = (body.params[0],)
        self._order = 0
        self.is_known = True
        self._step(body, position)

    def _step(self, body: Lambda, position: int) -> bool:
        """Follow the array through a step; whether that writes to it."""
        version = body.params[1 + position]
        last = self._block(body.body, version)
        self.is_known &= body.body.results[position] is last
        return last is not version

    def _block(self, block: Block, version: Var) -> Var:
        """Follow the array through a block; returns its last version."""
        for binding in block.bindings:
            version = self._binding(binding, version)
        return version

    def _binding(self, binding: Binding, version: Var) -> Var:
        self._order += 1
        match binding.expr:
            case Apply(Index(), (array, *place)) if array is version:
                self.reads.append(self._access(place, binding.vars[0]))
            case Apply(Update(), (array, *place, value)) if array is version:
                self.writes.append(self._access(place, value))
                return binding.vars[0]
            case Apply(ArrayOp(), _, (_,)) as node:
                return self._loop(binding, node, version)
            case If() as node:
                return self._if(binding, node, version)
            case _:
                pass
        return version

    def _access(self, place: Sequence[Operand], var: Operand) -> Access:
        return Access(self._order, self._loops, tuple(place), var)

    def _loop(self, binding: Binding, node: Apply, version: Var) -> Var:
        """A loop inside: it makes a new version, or reads this one.

        What another loop does with a copy of its own is not followed.
        """
        (body,) = node.bodies
        inits = node.args[1:] if isinstance(node.op, Iterate) else ()
        at = next((k for k, init in enumerate(inits) if init is version), None)
        outer, self._loops = self._loops, (*self._loops, body.params[0])
        known = len(self.reads), len(self.writes)
        if at is not None:
            version = binding.vars[at] if self._step(body, at) else version
        elif self._block(body.body, version) is not version:
            self._forget(*known)
        self._loops = outer
        return version

    def _if(self, binding: Binding, node: If, version: Var) -> Var:
        """A version of either branch: what is read there is not followed."""
        known = len(self.reads), len(self.writes)
        lasts = [self._block(b, version) for b in (node.then, node.orelse)]
        self._forget(*known)
        if all(last is version for last in lasts):
            return version
        for var, *ends in zip(
            binding.vars, node.then.results, node.orelse.results, strict=True
        ):
            if all(end is last for end, last in zip(ends, lasts, strict=True)):
                return var
        return version

    def _forget(self, reads: int, writes: int) -> None:
        """Of what came since there were so many, only where it may write is known."""
        del self.reads[reads:]
        self.writes[writes:] = [replace(w, var=None) for w in self.writes[writes:]]


class Lasting:
    """Proves that elements last, with the facts about a loop that was walked."""

    def __init__(self, facts: Facts, writes: Sequence[Access]) -> None:
        self._facts = facts
        self._writes = writes

    def __call__(self, access: Access) -> bool:
        """Whether no later write is to the place of a read or a write."""
        return all(self._is_spared(access, write) for write in self._writes)

    def _is_spared(self, access: Access, write: Access) -> bool:
        shared = _shared(access.loops, write.loops)
        if write.order > access.order and not self._differ(access, write):
            return False
        return all(self._moves_on(access, write, index) for index in shared)

    def _pairs(self, access: Access, write: Access) -> Iterator[tuple[Form, Form]]:
        """Along each axis the two positions; a row is written along all others."""
        for mine, theirs in zip(access.place, write.place, strict=False):
            yield self._facts.value(mine), self._facts.value(theirs)

    def _differ(self, access: Access, write: Access) -> bool:
        """Whether they are in different places in the same step of all shared loops."""
        return any(self._are_apart(*pair) for pair in self._pairs(access, write))

    def _are_apart(self, mine: Form, theirs: Form) -> bool:
        proved = self._facts.is_not_negative
        return proved((theirs - mine).plus(-1)) or proved((mine - theirs).plus(-1))

    def _moves_on(self, access: Access, write: Access, index: Var) -> bool:
        """Whether the writes of later steps of a loop are elsewhere."""
        return any(
            self._is_passed(mine, theirs, index, sign)
            for mine, theirs in self._pairs(access, write)
            for sign in (1, -1)
        )

    def _is_passed(self, mine: Form, theirs: Form, index: Var, sign: int) -> bool:
        """Whether `theirs` is larger in all later steps; smaller if the sign is -1."""
        mine, theirs = mine.times(sign), theirs.times(sign)
        fixed = not (self._varies(mine, index) and self._varies(theirs, index))
        if fixed and self._facts.is_not_negative((theirs - mine).plus(-1)):
            return True
        least = self._least(theirs, index)
        split = None if least is None else least.split(index)
        slope = split[0].number if split else None
        if least is None or slope is None or slope < 0:
            return False
        return self._facts.is_not_negative((least - mine).plus(0 if slope else -1))

    def _varies(self, form: Form, index: Var) -> bool:
        """Whether a form has variables that the loop with this index binds."""
        return any(self._is_inside(var, index) for var in form.variables())

    def _is_inside(self, var: Var, index: Var) -> bool:
        return self._facts.depth_of[var] >= self._facts.depth_of[index]

    def _least(self, form: Form, index: Var) -> Form | None:
        """What a form is not less than in any step: linear in the loop's index and
        without what else the loop binds; None if that is not known.
        """
        terms = []
        for monomial, factor in form.terms.items():
            inner = [v for v in monomial if self._is_inside(v, index)]
            if not inner or monomial == (index,):
                terms.append((monomial, factor))
            elif self._facts.range(Form({monomial: factor}))[0] < 0:
                return None
        return Form.of(terms)


def _shared(a: tuple[Var, ...], b: tuple[Var, ...]) -> list[Var]:
    """The loops around both."""
    return [x for x, y in zip(a, b, strict=False) if x is y]
