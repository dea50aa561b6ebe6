"""How much a loop has to do: an estimate, as statements that compute it.

It counts simple operations; those of a loop that becomes vector code are as many less
as there are lanes. The steps of inner loops are counted by their bounds; where
these differ from step to step they are taken halfway between the ends of the loops
around them, and what is not known before the loop is taken for a few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from chadllvm.ir.loops import (
    Accumulate,
    AddTo,
    Alloc,
    Branch,
    CallRuntime,
    Clear,
    Copy,
    For,
    Get,
    Invoke,
    Let,
    Load,
    Offset,
    Reg,
    Set,
    Stmt,
    Store,
)
from chadllvm.ir.term import Lit
from chadllvm.lower.chunks.forms import ONE, Form, Forms, atoms, divided, plus

# A number of steps that is not known.
_UNKNOWN = 8

# A bound of loops that only end when something is found.
_ENDLESS = 1 << 62

_CALL = 16

# What of a loop that becomes vector code is counted.
_LANE = 1.0 / 8.0

# Work as a sum of products of registers, which may be halves.
Work = dict[tuple[Reg, ...], float]


class Estimate:
    """The work of bodies inside of a loop; `is_outside`: what is known before it.

    `until`: how many steps are supposed of loops that only end when something is found;
    as many as there can be by default.
    """

    def __init__(
        self,
        loop: For,
        is_outside: Callable[[Reg], bool],
        until: int | None = None,
    ) -> None:
        self._loop = loop
        self._is_outside = is_outside
        self._until = until

    def step(self, forms: Forms) -> Work:
        """The work of one step of the loop."""
        return self._step(self._loop, forms, ())

    def _step(self, loop: For, forms: Forms, loops: Sequence[For]) -> Work:
        step = self.of(loop.body, forms, loops)
        return _times({(): _LANE}, step) if is_vector(loop) else step

    def of(self, body: Iterable[Stmt], forms: Forms, loops: Sequence[For]) -> Work:
        """The work of one run of a body, in these loops, outermost first."""
        total: Work = {}
        for stmt in body:
            _add(total, self._statement(stmt, forms, loops), 1.0)
        return total

    def _statement(self, stmt: Stmt, forms: Forms, loops: Sequence[For]) -> Work:
        match stmt:
            case Let():
                return {(): stmt.code.cycles}
            case For():
                step = self._step(stmt, forms.inside(stmt), (*loops, stmt))
                step[()] = step.get((), 0) + 1
                return _times(self._steps(stmt, forms, loops), step)
            case Branch(_, then, orelse):
                a, b = self.of(then, forms, loops), self.of(orelse, forms, loops)
                return {t: max(a.get(t, 0.0), b.get(t, 0.0)) for t in {**a, **b}}
            case Clear(count=count) | Copy(count=count) | Alloc(count=count, zero=True):
                each = For(Reg("each", count.type), Lit(0), count, ())
                return self._steps(each, forms, loops)
            case Alloc() | CallRuntime() | Invoke():
                return {(): _CALL}
            case Offset():
                return {}
            case _:
                return {(): 1}

    def _steps(self, loop: For, forms: Forms, loops: Sequence[For]) -> Work:
        """The number of steps of a loop."""
        is_endless = isinstance(loop.high, Lit) and loop.high.value >= _ENDLESS
        if is_endless and self._until is not None:
            return {(): self._until}
        found = []
        for low in forms.ends(loop.low, "imax"):
            for high in forms.ends(loop.high, "imin"):
                steps = self._halfway(plus(high, low, -1), forms, loops)
                if steps is not None:
                    found.append(steps)
        fewest = min(found, key=_variables, default=None)
        return {(): _UNKNOWN} if fewest is None else fewest

    def _halfway(self, form: Form, forms: Forms, loops: Sequence[For]) -> Work | None:
        """A form in the middle of the loops around it."""
        work: Work = {term: float(count) for term, count in form.items()}
        for loop in (*loops[::-1], self._loop):
            slope, rest = divided(form, loop.index)
            if not slope:
                continue
            low, high = forms.of(loop.low), forms.of(loop.high)
            middle = plus(low, plus(high, ONE, -1))
            twice = plus(plus(rest, rest), forms.times(slope, middle))
            inner = self._halfway(twice, forms, loops[: _position(loops, loop)])
            return None if inner is None else _times({(): 0.5}, inner)
        return work if all(map(self._is_outside, atoms(form))) else None


class Certain(Estimate):
    """The work that is sure to be done: of branches the least, and nothing of loops
    that may end at once."""

    def _statement(self, stmt: Stmt, forms: Forms, loops: Sequence[For]) -> Work:
        match stmt:
            case Branch(_, then, orelse):
                a, b = self.of(then, forms, loops), self.of(orelse, forms, loops)
                return {t: min(a[t], b[t]) for t in a if t in b}
            case For(go=go) if go is not None:
                return {(): 1}
            case _:
                return super()._statement(stmt, forms, loops)


class Least(Certain):
    """The work that is sure to be done, up to a constant for each step: of branches the
    least that depends on sizes."""

    def _statement(self, stmt: Stmt, forms: Forms, loops: Sequence[For]) -> Work:
        match stmt:
            case Branch(_, then, orelse):
                a, b = self.of(then, forms, loops), self.of(orelse, forms, loops)
                least = {t: min(a[t], b[t]) for t in a if t in b}
                return {**least, (): max(a.get((), 0.0), b.get((), 0.0))}
            case _:
                return super()._statement(stmt, forms, loops)


class Additions(Estimate):
    """How often bodies add to something: `counts` says of each addition whether it is
    one of those that count."""

    def __init__(
        self,
        loop: For,
        is_outside: Callable[[Reg], bool],
        counts: Callable[[AddTo], bool],
    ) -> None:
        super().__init__(loop, is_outside)
        self._counts = counts

    def _step(self, loop: For, forms: Forms, loops: Sequence[For]) -> Work:
        return self.of(loop.body, forms, loops)

    def _statement(self, stmt: Stmt, forms: Forms, loops: Sequence[For]) -> Work:
        match stmt:
            case AddTo() if self._counts(stmt):
                return {(): 1}
            case For():
                step = self._step(stmt, forms.inside(stmt), (*loops, stmt))
                return _times(self._steps(stmt, forms, loops), step) if step else {}
            case Branch():
                return super()._statement(stmt, forms, loops)
            case _:
                return {}


def is_vector(loop: For) -> bool:
    """Whether a loop has neither loops nor branches in it, and hands on only sums."""
    changed = {s.slot for s in loop.body if isinstance(s, Set)}
    for stmt in loop.body:
        match stmt:
            case Set(slot):
                changed.discard(slot)
            case Get(slot=slot) if slot in changed:
                return False
            case Get() | Let() | Load() | Store() | AddTo() | Accumulate() | Offset():
                pass
            case _:
                return False
    return loop.go is None


def _position(loops: Sequence[For], loop: For) -> int:
    return loops.index(loop) if loop in loops else 0


def _variables(work: Work) -> int:
    return sum(map(len, work))


def _add(total: Work, more: Work, factor: float) -> None:
    for term, count in more.items():
        total[term] = total.get(term, 0.0) + factor * count


def _times(a: Work, b: Work) -> Work:
    total: Work = {}
    for left, x in a.items():
        for right, y in b.items():
            term = (*left, *right)
            total[term] = total.get(term, 0.0) + x * y
    return total
