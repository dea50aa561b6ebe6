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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from chadllvm.ir.loops import (
    PTR,
    Accumulate,
    AddTo,
    Alloc,
    Atom,
    Branch,
    For,
    Let,
    Load,
    LoopFunction,
    Reg,
    Spread,
    Stmt,
    Store,
)
from chadllvm.ir.statements import copied, made
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, I64
from chadllvm.lower.split import needed

# The steps of a strip, and how many a loop must make to be worth it.
STRIP = 256
_FEW = 32

Access = Load | Store | AddTo


def strips(function: LoopFunction) -> LoopFunction:
    """Make strips of the loops that may read what they have written."""
    if function.subroutines:
        return function
    making = _Making(function.regions, [*function.roots])
    body = making.body(function.body)
    if len(making.roots) == len(function.roots):
        return function
    return replace(
        function,
        body=(*making.buffers, *body),
        regions=function.regions + 1,
        roots=tuple(making.roots),
    )


@dataclass(frozen=True)
class _Linear:
    """slope times the loop's index, and a sum of what is the same in all steps."""

    slope: int
    terms: Mapping[Atom, int]
    constant: int

    def plus(self, other: _Linear, factor: int) -> _Linear:
        terms = dict(self.terms)
        for atom, count in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor * count
        return _Linear(
            self.slope + factor * other.slope,
            {atom: count for atom, count in terms.items() if count},
            self.constant + factor * other.constant,
        )


@dataclass(frozen=True)
class _Plan:
    """The access that is moved, and how many steps later the others are at its place.

    They are there before, if `lead` is negative.
    """

    moved: Load | AddTo
    lead: _Linear


class _Making:
    """The buffers are made in front of all, or at the beginning of a chunk."""

    def __init__(self, region: int, roots: list[int]) -> None:
        self.roots = roots
        self.buffers: list[Stmt] = []
        self._region = region

    def body(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        new: list[Stmt] = []
        for stmt in body:
            match stmt:
                case For(go=None) if (plan := _plan(stmt, self.roots)) is not None:
                    new += self._strips(stmt, plan)
                case For():
                    new.append(replace(stmt, body=self.body(stmt.body)))
                case Branch(cond, then, orelse):
                    new.append(Branch(cond, self.body(then), self.body(orelse)))
                case Spread():
                    new.append(self._spread(stmt))
                case _:
                    new.append(stmt)
        return tuple(new)

    def _spread(self, spread: Spread) -> Spread:
        inner = _Making(self._region, self.roots)
        body = inner.body(spread.body)
        if not inner.buffers:
            return replace(spread, body=body)
        regions = (*spread.regions, self._region)
        return replace(spread, body=(*inner.buffers, *body), regions=regions)

    def _buffer(self, like: Load | AddTo) -> tuple[Reg, int]:
        """A buffer for the elements of a strip."""
        ptr, root = Reg("strip", PTR), len(self.roots)
        self.roots.append(root)
        elem = like.reg.type if isinstance(like, Load) else like.value.type
        self.buffers.append(Alloc(ptr, self._region, Lit(STRIP), elem, root))
        return ptr, root

    def _strips(self, loop: For, plan: _Plan) -> list[Stmt]:
        out = _Out()
        count = out.let("isub", loop.high, loop.low)
        lead = out.value(plan.lead)
        late = isinstance(plan.moved, AddTo)
        never = out.test("ile", lead, Lit(0)) if late else out.test("ile", Lit(0), lead)
        far = (Lit(STRIP), lead) if late else (lead, Lit(-STRIP))
        safe = out.test("or", never, out.test("ile", *far))
        # Loops of places that have nothing in common need no strips.
        back = out.let("isub", Lit(0), lead)
        near = out.test(
            "and", out.test("ilt", lead, count), out.test("ilt", back, count)
        )
        many = out.test("and", near, out.test("ile", Lit(_FEW), count))
        cond = out.test("and", safe, many)
        inner = _Out()
        number = inner.let("idiv", inner.let("iadd", count, Lit(STRIP - 1)), Lit(STRIP))
        strip, each = Reg("strip", I64), _Out()
        first = each.let("iadd", loop.low, each.let("imul", strip, Lit(STRIP)))
        last = each.let("imin", each.let("iadd", first, Lit(STRIP)), loop.high)
        whole = replace(loop, low=first, high=last, poll=False, lanes=1, resume=None)
        for part in self._parts(loop, plan.moved, first):
            each.out.append(copied(replace(whole, body=tuple(part))))
        inner.out.append(For(strip, Lit(0), number, tuple(each.out), loop.poll))
        return [*out.out, Branch(cond, tuple(inner.out), (loop,))]

    def _parts(self, loop: For, moved: Load | AddTo, first: Atom) -> list[list[Stmt]]:
        """The two loops of a strip: what is moved goes through a buffer."""
        ptr, root = self._buffer(moved)
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


@dataclass
class _Out:
    """Statements that compute something."""

    out: list[Stmt] = field(default_factory=list)

    def let(self, op: str, *args: Atom) -> Atom:
        reg = Reg("t", I64)
        self.out.append(Let(reg, op, args))
        return reg

    def test(self, op: str, *args: Atom) -> Atom:
        reg = Reg("t", BOOL)
        self.out.append(Let(reg, op, args))
        return reg

    def value(self, form: _Linear) -> Atom:
        """The value of a sum without the index."""
        total: Atom = Lit(form.constant)
        for atom, count in form.terms.items():
            total = self.let("iadd", total, self.let("imul", atom, Lit(count)))
        return total


def _with(body: Sequence[Stmt], old: Stmt, new: Sequence[Stmt]) -> list[Stmt]:
    return [s for stmt in body for s in (new if stmt is old else (stmt,))]


def _plan(loop: For, roots: Sequence[int]) -> _Plan | None:
    """The access to be moved, if there is one and all the loop does is simple."""
    linear: dict[Atom, _Linear] = {loop.index: _Linear(1, {}, 0)}
    local = {loop.index, *made(loop.body)}
    accesses: dict[int, list[Access]] = {}

    def form(atom: Atom) -> _Linear | None:
        if isinstance(atom, Lit):
            return _Linear(0, {}, int(atom.value))
        return linear.get(atom) or (None if atom in local else _Linear(0, {atom: 1}, 0))

    for stmt in loop.body:
        match stmt:
            case Let(reg, "iadd" | "isub" as op, (a, b)):
                left, right = form(a), form(b)
                if left is not None and right is not None:
                    linear[reg] = left.plus(right, 1 if op == "iadd" else -1)
            case Load(root=root) | Store(root=root) | AddTo(root=root):
                accesses.setdefault(roots[root], []).append(stmt)
            case Let() | Accumulate():
                pass
            case _:
                return None
    plans = []
    for found in accesses.values():
        if len({(a.ptr, a.index) for a in found}) == 1:
            continue
        if all(isinstance(a, Load) for a in found):
            continue
        if len({a.ptr for a in found}) == 1 and found[0].ptr not in local:
            plans.append(_of_buffer(found, [form(a.index) for a in found]))
        else:
            plans.append(None)
    return plans[0] if len(plans) == 1 else None


def _of_buffer(
    found: Sequence[Access], forms: Sequence[_Linear | None]
) -> _Plan | None:
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
        return _Plan(moved, _Linear(0, {}, 0).plus(one, place.slope))
    return None
