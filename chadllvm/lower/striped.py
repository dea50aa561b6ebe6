"""Innermost loops are run a strip at a time, by several loops for each strip.

What the first of them computes for the others goes through a small buffer, which is on
the stack of the function, or of a chunk. The frames of a recursion have to stay small:
in a subroutine, the loop itself makes the buffer and gives it back. Which loops are run
by strips, and how, is said by `additions.py`, `stages.py` and `distribute.py`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Self

from chadllvm.ir.loops import (
    PTR,
    Alloc,
    Atom,
    Branch,
    For,
    Let,
    Local,
    LoopFunction,
    Reg,
    Reset,
    Spread,
    Stmt,
    Subroutine,
)
from chadllvm.ir.statements import (
    Body,
    copied,
    over_inner,
    over_statements,
    same_or_new,
    with_body,
)
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64, Scalar
from chadllvm.lower.linear import Known
from chadllvm.lower.out import Out

# The steps of a strip, and how many a loop must make to be worth it.
STRIP = 256
FEW = 32


class Strips:
    """Changes the loops of a function for which `changed` says how."""

    # How many steps a strip has.
    steps = STRIP

    def __init__(self, roots: list[int]) -> None:
        self.roots = roots
        self._buffers: list[Stmt] = []
        # The buffers that there are, and how many of them the loop has got.
        self._pool: dict[Scalar, list[tuple[Reg, int]]] = {}
        self._taken: Counter[Scalar] = Counter()
        # How many buffers loops have got.
        self._given = 0
        # The region of the buffers in a subroutine.
        self._region: int | None = None

    @classmethod
    def of(cls, function: LoopFunction) -> LoopFunction:
        """The function with its loops changed."""
        making = cls.making(function)
        body = making._body(function.body, Known())
        regions, given = function.regions, function.subroutines
        others = list[Subroutine]()
        for subroutine in given:
            others.append(making._subroutine(subroutine, regions))
            regions += 2 * (others[-1].regions is not subroutine.regions)
        subroutines = same_or_new(others, given)
        if body is function.body and subroutines is given:
            return function
        return replace(
            function,
            body=(*making._buffers, *body),
            roots=tuple(making.roots),
            subroutines=subroutines,
            regions=regions,
        )

    @classmethod
    def making(cls, function: LoopFunction) -> Self:
        """What changes the loops of a function."""
        return cls([*function.roots])

    @abstractmethod
    def changed(self, loop: For, known: Known) -> list[Stmt] | None:
        """What stands in the place of a loop, if it is changed."""

    def around(self, loop: For) -> For:
        """What becomes of a loop that is around one that has got a buffer."""
        return loop

    def buffer(self, elem: Scalar) -> tuple[Reg, int]:
        """One more buffer for the elements of a strip: loops have the same ones."""
        pool = self._pool.setdefault(elem, [])
        if len(pool) == self._taken[elem]:
            ptr, root = Reg("strip", PTR), len(self.roots)
            self.roots.append(root)
            self._buffers.append(self._made(ptr, elem, root))
            pool.append((ptr, root))
        self._taken[elem] += 1
        self._given += 1
        return pool[self._taken[elem] - 1]

    def _made(self, ptr: Reg, elem: Scalar, root: int) -> Stmt:
        if self._region is None:
            return Local(ptr, self.steps, elem, root)
        return Alloc(ptr, self._region, Lit(self.steps), elem, root)

    def _loop(self, loop: For, known: Known) -> list[Stmt] | None:
        self._taken.clear()
        changed = self.changed(loop, known)
        if changed is None or self._region is None:
            return changed
        buffers, self._buffers, self._pool = self._buffers, [], {}
        return [*buffers, *changed, Reset(self._region)]

    def _body(self, body: Body, outer: Known) -> Body:
        known = outer.inside()

        def inside(body: Body) -> Body:
            return self._body(body, known)

        def changed(stmt: Stmt) -> Iterable[Stmt]:
            match stmt:
                case Let():
                    known.note(stmt)
                case For(go=None, lanes=1) if (
                    new := self._loop(stmt, known)
                ) is not None:
                    return new
                # Lanes have one buffer for all of them, so that their loops stay.
                case For(lanes=1):
                    before = self._given
                    stmt = over_inner(stmt, inside)
                    assert isinstance(stmt, For)
                    return [self.around(stmt) if self._given > before else stmt]
                case Branch():
                    return [over_inner(stmt, inside)]
                case Spread():
                    return [self._spread(stmt, known)]
                case _:
                    pass
            return [stmt]

        return over_statements(body, changed)

    def _spread(self, spread: Spread, known: Known) -> Spread:
        inner = self._inside()
        body = inner._body(spread.body, known)
        return with_body(spread, (*inner._buffers, *body) if inner._buffers else body)

    def _subroutine(self, subroutine: Subroutine, region: int) -> Subroutine:
        """The subroutine with its loops changed; what is its own, if there are any."""
        inner, before = self._inside(), len(self.roots)
        inner._region = region
        changed = with_body(subroutine, inner._body(subroutine.body, Known()))
        if len(self.roots) == before:
            return changed
        return replace(changed, regions=(*subroutine.regions, region))

    def _inside(self) -> Self:
        return type(self)(self.roots)


def each_strip(
    loop: For,
    count: Atom,
    parts: Callable[[Atom], Sequence[Sequence[Stmt]]],
    steps: int = STRIP,
) -> list[Stmt]:
    """A loop of `count` steps by strips, whose loops have these bodies, `parts(first)`,
    where `first` is the index of a strip's first step."""

    def loops(whole: For) -> Iterator[For]:
        return (replace(whole, body=tuple(part)) for part in parts(whole.low))

    return by_strips(loop, count, loops, steps)


def by_strips(
    loop: For, count: Atom, loops: Callable[[For], Iterable[For]], steps: int = STRIP
) -> list[Stmt]:
    """A loop of `count` steps by strips, each of which has these loops, `loops(of)`, in
    it, where `of` is the one over its steps."""
    out, each = Out(), Out()
    # A count that is rounded up, whatever it is; of no steps there is an empty strip.
    whole_ones = out.let("idiv", out.let("iadd", count, Lit(-1)), Lit(steps))
    number = out.let("iadd", whole_ones, Lit(1))
    strip = Reg("strip", I64)
    first = each.let("iadd", loop.low, each.let("imul", strip, Lit(steps)))
    last = each.let("imin", each.let("iadd", first, Lit(steps)), loop.high)
    for part in loops(replace(loop, low=first, high=last, poll=False)):
        each.emit(copied(part))
    out.emit(For(strip, Lit(0), number, tuple(each.stmts), loop.poll))
    return out.stmts
