"""Large arrays to whose rows all steps add: chunks take turns at each row.

    spread chunk …:                       rows = a number for each row, 0
      for i in …:                         for i in …:
        for k in 0 .. n:        →           for k in 0 .. n:
          … c[k, …] += y …                    wait until rows[k] = i
                                              … c[k, …] += y …
                                              rows[k] = i + 1

Copies of an array for chunks are memory that nobody else needs: where the array is
large beside what the loop reads, they are most of it. If steps add to one row after the
other, they can go through the rows behind each other instead: a step may be at a row as
soon as the step before is at the next one. So chunks are single steps, or those that
are run in lanes together, and add to the array itself, in the order of the steps: the
results are the same bits for any number of threads. What a step does before it comes to
the rows waits for nobody.

Whether there are turns or copies is decided by sizes, at run time. The steps are the
same code in both cases, but for a test at each row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from chadllvm.ir.loops import (
    PTR,
    ROW_DONE,
    ROW_TURN,
    AddTo,
    Alloc,
    ArrayParam,
    Atom,
    Branch,
    CallRuntime,
    Copy,
    For,
    Let,
    Load,
    Reg,
    Stmt,
    Store,
)
from chadllvm.ir.statements import assigned, everywhere
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64
from chadllvm.lower.chunks.known import Known
from chadllvm.lower.chunks.legal import Plan, have_own_places
from chadllvm.lower.chunks.logs import base_of
from chadllvm.lower.chunks.out import Out
from chadllvm.lower.chunks.work import Estimate, Work
from chadllvm.lower.lanes import Deciding

# The least that is done at a row, in simple operations, and the fewest rows: no more
# threads than that are at them at a time.
ROW = 1024.0
FEWEST_ROWS = 32

# No more chunks than this, each of which is a step, or those that lanes run together.
MOST_TURNS = 1 << 11

# The words that each row has for its number: a cache line, if the rows are long enough
# for that to be little beside them, else one.
_LINE = 8
_LITTLE = 4

# A loop has turns if it reads less than so many times what its cells are.
_READS = 2.0


@dataclass(frozen=True)
class Rows:
    """A loop over rows in the steps of `steps`, the loop in chunks or one inside."""

    loop: For
    steps: For
    work: Work


def rows_of(
    plan: Plan, known: Known, deciding: Deciding, until: int
) -> tuple[Rows, ...]:
    """The loops over rows in which all is added that is added to cells; none, if some
    of it is added elsewhere."""
    steps = _steps(plan.loop, known)
    if not plan.cells or plan.reach > 1 or steps is None:
        return ()
    cells = {cell.reg: cell for cell in plan.cells}
    all_adds = _adds((plan.loop,), known)
    forms = plan.forms if steps is plan.loop else plan.forms.inside(steps)
    found: list[Rows] = []
    left = set(cells)
    for loop in steps.body:
        adds = _adds((loop,), known)
        mine = {reg for reg in cells if reg in adds}
        if not isinstance(loop, For) or not mine:
            continue
        whole = all(reg in left and adds[reg] == all_adds[reg] for reg in mine)
        if not whole or not _is_over_rows(loop, plan, known):
            return ()
        if not have_own_places(loop, plan, forms, known, [cells[r] for r in mine]):
            return ()
        left -= mine
        found.append(Rows(loop, steps, _work(loop, steps, plan, until)))
    if left or not all(_stays(rows, plan, deciding) for rows in found):
        return ()
    return tuple(found)


def _steps(loop: For, known: Known) -> For | None:
    """The loop itself, or the one inside that it cuts into pieces, so that the number
    of a step is the larger the later it is run."""
    inner = [s for s in loop.body if isinstance(s, For)]
    if len(inner) != 1:
        return loop
    match _made(inner[0].low, known), _made(inner[0].high, known):
        case (
            Let(low, "imul", (Reg() as index, Lit(int() as size))),
            Let(_, "imin", ends),
        ) if index is loop.index and size > 0:
            if any(_is_behind(end, low, size, known) for end in ends):
                return inner[0]
        case _:
            pass
    return loop


def _is_behind(end: Atom, low: Reg, size: int, known: Known) -> bool:
    let = _made(end, known)
    return let is not None and let.op == "iadd" and let.args == (low, Lit(size))


def _made(atom: Atom, known: Known) -> Let | None:
    return known.made.get(atom) if isinstance(atom, Reg) else None


def _adds(body: Sequence[Stmt], known: Known) -> Counter[Atom]:
    """How many statements add to each buffer."""
    return Counter(base_of(s, known) for s in everywhere(body) if isinstance(s, AddTo))


def _is_over_rows(loop: For, plan: Plan, known: Known) -> bool:
    """Whether a loop has as many steps in each run of it."""
    local = {reg for s in everywhere((plan.loop,)) for reg in assigned(s)}
    return loop.low == Lit(0) and loop.high not in local and loop.go is None


def _stays(rows: Rows, plan: Plan, deciding: Deciding) -> bool:
    """Whether rows are looked at one after the other by all that is run in lanes."""
    if rows.steps is not plan.loop and deciding.decision(plan.loop) is not None:
        return False
    if deciding.decision(rows.steps) is not None:
        return True
    return deciding.decision(rows.loop) is None


def _work(loop: For, steps: For, plan: Plan, until: int) -> Work:
    """What is done at a row."""
    local = {reg for s in everywhere((plan.loop,)) for reg in assigned(s)}
    estimate = Estimate(plan.loop, lambda reg: reg not in local, until)
    inner = plan.forms if steps is plan.loop else plan.forms.inside(steps)
    around = (loop,) if steps is plan.loop else (steps, loop)
    return estimate.of(loop.body, inner.inside(loop), around)


def _read(stmt: Stmt) -> Atom:
    """The pointer through which a statement reads, if it does."""
    match stmt:
        case Load(ptr=ptr) | Copy(source=ptr):
            return ptr
        case _:
            return Lit(0)


def may_pay(found: Sequence[Rows]) -> bool:
    """Whether there may be enough to do at a row, for some sizes."""
    return bool(found) and all(any(r.work) or r.work.get((), 0) >= ROW for r in found)


@dataclass(eq=False)
class Turns:
    """The turns of one loop in chunks.

    `wanted`: whether sizes are such that there are turns; `numbers`: for each of the
    loops over rows a buffer with what comes next at each row, and `words` how many
    each row has there.
    """

    rows: Sequence[Rows]
    plan: Plan
    known: Known
    wanted: Atom = Lit(False)
    words: Atom = Lit(1)
    numbers: list[Alloc] = field(default_factory=list)

    def decide(self, out: Out, step: Atom, grain: float) -> Atom:
        """Decide it; `step` is the work of the steps of a chunk, `grain` the least."""
        cells: Atom = Lit(0.0)
        for cell in self.plan.cells:
            cells = out.let("add", cells, out.let("to_float", cell.count))
        self.words = self._words(out, cells)
        few = out.let("flt", self._reads(out), out.let("mul", cells, Lit(_READS)))
        enough = out.let("fle", Lit(grain), step)
        self.wanted = out.let("and", few, enough)
        for rows in self.rows:
            much = out.let("fle", Lit(ROW), out.work(rows.work))
            many = out.let("ile", Lit(FEWEST_ROWS), rows.loop.high)
            both = out.let("and", much, many)
            self.wanted = out.let("and", self.wanted, both, name="turns")
        return self.wanted

    def _words(self, out: Out, cells: Atom) -> Atom:
        """How many words each row has, of so many elements of cells."""
        lines: Atom = Lit(0.0)
        for rows in self.rows:
            count = out.let("to_float", rows.loop.high)
            lines = out.let("add", lines, out.let("mul", count, Lit(float(_LINE))))
        lines = out.let("mul", lines, Lit(float(_LITTLE)))
        return out.let("select", out.let("fle", lines, cells), Lit(_LINE), Lit(1))

    def _reads(self, out: Out) -> Atom:
        """The elements of all that the loop reads and that is there before it."""
        total: Atom = Lit(0.0)
        for count in self._counts():
            size: Atom = Lit(1.0)
            for factor in count:
                size = out.let("mul", size, out.let("to_float", factor))
            total = out.let("add", total, size)
        return total

    def _counts(self) -> Iterator[Sequence[Atom]]:
        """How large the buffers are that the loop reads, as products."""
        inside = [*everywhere((self.plan.loop,))]
        local = {reg for s in inside for reg in assigned(s)}
        own = {made.reg for made in self.plan.own}
        params = self.known.function.params
        dims = {p.ptr: p.dims for p in params if isinstance(p, ArrayParam)}
        for base in dict.fromkeys(map(self.known.buffer, map(_read, inside))):
            if not isinstance(base, Reg) or base in local or base in own:
                continue
            if base in dims:
                yield dims[base]
            elif base in self.known.buffers:
                yield (self.known.buffers[base].count,)

    def chunks(self, out: Out, units: Atom, otherwise: Atom) -> Atom:
        """How many chunks there are."""
        some = out.let("imin", units, Lit(MOST_TURNS))
        return out.let("select", self.wanted, some, otherwise)

    def allocate(self, out: Out, region: int, root: int) -> None:
        """Numbers for the rows, if there are turns."""
        for rows in self.rows:
            ptr, k = Reg("rows", PTR), Reg("k", I64)
            count = out.let("select", self.wanted, rows.loop.high, Lit(0))
            count = out.let("imul", out.let("imax", count, Lit(0)), self.words)
            self.numbers.append(Alloc(ptr, region, count, I64, root))
            out.emit(self.numbers[-1])
            out.emit(For(k, Lit(0), count, (Store(ptr, k, Lit(0), root),)))

    def steps(self, loop: For) -> For:
        """The loop whose steps take turns at rows."""
        made = {r.loop: n for r, n in zip(self.rows, self.numbers, strict=True)}
        steps = self.rows[0].steps
        body = [
            self._in_turn(stmt, steps.index, made[stmt].reg)
            if isinstance(stmt, For) and stmt in made
            else stmt
            for stmt in steps.body
        ]
        new = replace(steps, body=tuple(body))
        if steps is loop:
            return new
        return replace(loop, body=tuple(new if s is steps else s for s in loop.body))

    def _in_turn(self, loop: For, step: Reg, numbers: Reg) -> For:
        begin, end = (
            Branch(self.wanted, tuple(self._call(name, numbers, loop.index, step)))
            for name in (ROW_TURN, ROW_DONE)
        )
        return replace(loop, body=(begin, *loop.body, end), commutes=False)

    def _call(self, name: str, numbers: Reg, row: Reg, step: Reg) -> Iterator[Stmt]:
        out = Out()
        place = out.let("imul", row, self.words)
        yield from out.stmts
        yield CallRuntime(None, name, (numbers, place, step))
