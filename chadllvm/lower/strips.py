"""Loops that read what they write elsewhere, or add to it, do so a strip at a time.

    for i in 0 .. n:                      for each strip of the loop:
      c = m - i                             for i in the strip:
      x = p[c]                                d = m - i - w
      d = c - w                     →         q[i - first] = p[d]
      y = p[d]                              for i in the strip:
      p[c] = x + y                            c = m - i; x = p[c]; y = q[i - first]
                                              p[c] = x + y

Both inner loops become vector code, which LLVM makes of the loop on the left only for
the case that the two parts of p have nothing in common. What is read a little before
its time must not be written in the same strip until then: so it is if w is not negative
here, or if it is at least the length of a strip. That is asked at run time, and whether
the parts have something in common; else the loop stays as it is. Likewise what is added
to p at a second place is kept until the rest of the strip is done, if nothing of that
reads or writes it after its time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from chadllvm.lower.linear import Forms, Known, Linear
from chadllvm.lower.out import Out
from chadllvm.lower.split import needed
from chadllvm.lower.striped import FEW, STRIP, Strips, each_strip

Access = Load | Store | AddTo


def strips(function: LoopFunction) -> LoopFunction:
    """Make strips of the loops that may read what they have written."""
    return _Moving.of(function)


@dataclass(frozen=True)
class _Plan:
    """The access that is moved, and how many steps later the others are at its place.

    They are there before, if `lead` is negative.
    """

    moved: Load | AddTo
    lead: Linear


class _Moving(Strips):
    """The accesses that are moved."""

    def changed(self, loop: For, known: Known) -> list[Stmt] | None:
        """None: there is none."""
        plan = _plan(loop, self.roots, known)
        return None if plan is None else self._strips(loop, plan)

    def _strips(self, loop: For, plan: _Plan) -> list[Stmt]:
        out = Out()
        count = out.let("isub", loop.high, loop.low)
        lead = _value(plan.lead, out)
        late = isinstance(plan.moved, AddTo)
        never = out.let("ile", lead, Lit(0)) if late else out.let("ile", Lit(0), lead)
        far = (Lit(STRIP), lead) if late else (lead, Lit(-STRIP))
        safe = out.let("or", never, out.let("ile", *far))
        # Loops of places that have nothing in common need no strips.
        back = out.let("isub", Lit(0), lead)
        near = out.let("and", out.let("ilt", lead, count), out.let("ilt", back, count))
        many = out.let("and", near, out.let("ile", Lit(FEW), count))
        cond = out.let("and", safe, many)
        inner = each_strip(
            loop, count, lambda first: self._parts(loop, plan.moved, first)
        )
        return [*out.stmts, Branch(cond, tuple(inner), (loop,))]

    def _parts(self, loop: For, moved: Load | AddTo, first: Atom) -> list[list[Stmt]]:
        """The two loops of a strip: what is moved goes through a buffer."""
        elem = moved.reg.type if isinstance(moved, Load) else moved.value.type
        ptr, root = self.buffer(elem)
        place = Reg("place", I64)
        at = Let(place, "isub", (loop.index, first))
        mark = Let(Reg("mark", I64), "iadd", (moved.index, Lit(0)))
        alone = needed([*loop.body, mark], mark)[:-1]
        if isinstance(moved, Load):
            early: list[Stmt] = [*alone, moved, at]
            early.append(Store(ptr, place, moved.reg, root))
            there: list[Stmt] = [at, Load(moved.reg, ptr, place, root)]
            return [early, _with(loop.body, moved, there)]
        kept = Reg("kept", moved.value.type)
        late: list[Stmt] = [*alone, at, Load(kept, ptr, place, root)]
        late.append(replace(moved, value=kept))
        return [
            _with(loop.body, moved, [at, Store(ptr, place, moved.value, root)]),
            late,
        ]


def _value(form: Linear, out: Out) -> Atom:
    """The value of a sum without the index."""
    total: Atom = Lit(form.constant)
    for atom, count in form.terms.items():
        total = out.let("iadd", total, out.let("imul", atom, Lit(count)))
    return total


def _with(body: Sequence[Stmt], old: Stmt, new: Sequence[Stmt]) -> list[Stmt]:
    return [s for stmt in body for s in (new if stmt is old else (stmt,))]


def _plan(loop: For, roots: Sequence[int], known: Known) -> _Plan | None:
    """The access to be moved, if there is one and all the loop does is simple."""
    accesses: dict[int, list[Access]] = {}
    for stmt in loop.body:
        match stmt:
            case Load(root=root) | Store(root=root) | AddTo(root=root):
                accesses.setdefault(roots[root], []).append(stmt)
            case Let() | Accumulate():
                pass
            case _:
                return None
    forms = Forms(loop, known)
    plans = []
    for found in accesses.values():
        if len({(a.ptr, a.index) for a in found}) == 1:
            continue
        if all(isinstance(a, Load) for a in found):
            continue
        if len({a.ptr for a in found}) == 1 and not forms.is_local(found[0].ptr):
            plans.append(_of_buffer(found, [forms.of(a.index) for a in found]))
        else:
            plans.append(None)
    return plans[0] if len(plans) == 1 else None


def _of_buffer(found: Sequence[Access], forms: Sequence[Linear | None]) -> _Plan | None:
    """A load before all that writes, or an addition behind all else.

    All other accesses are at one place, a different one in each step.
    """
    for moved, place in zip(found, forms, strict=True):
        match moved:
            case Load():
                before = found[: found.index(moved)]
                in_order = all(isinstance(a, Load) for a in before)
            case AddTo():
                in_order = moved is found[-1]
            case Store():
                in_order = False
        others = [f for a, f in zip(found, forms, strict=True) if a is not moved]
        if not in_order or place is None or place.slope not in (1, -1):
            continue
        leads = [place.plus(f, -1) for f in others if f is not None]
        one = leads[0] if len(leads) == len(others) else None
        if one is None or one.slope or not one.terms or any(f != one for f in leads):
            continue
        assert isinstance(moved, Load | AddTo)
        return _Plan(moved, Linear(0, {}, 0).plus(one, place.slope))
    return None
