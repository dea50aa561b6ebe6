"""Slots that steps look at on their way: running sums, and the like.

    for i in 0 .. n:          spread chunk: starts[chunk + 1] = sum of x[i] in the chunk
      s += x[i]          →    for k in 1 .. chunks: starts[k] += starts[k - 1]
      y[i] = s                spread chunk: s := starts[chunk]; for i in …: … as before

What a chunk begins with is known when the chunks before it are added up. That is done
first: of each step it takes only what is added, which needs nothing of other steps, so
that it is vector code, while each step of the loop itself waits for the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chadllvm.ir.loops import (
    PTR,
    Accumulate,
    Alloc,
    Atom,
    Branch,
    For,
    Get,
    Let,
    Load,
    Offset,
    Reg,
    Set,
    Slot,
    Spread,
    Stmt,
    Store,
)
from chadllvm.ir.statements import Names, assigned, copied, used
from chadllvm.ir.term import Lit, literal
from chadllvm.ir.types import I64
from chadllvm.lower.chunks.out import Out

# The first and the last step of a chunk, as statements that compute them.
Bounds = Callable[[Out, Reg], tuple[Atom, Atom]]


@dataclass(frozen=True)
class Scan:
    """A slot to which each step adds `value`, which `stmts` of the loop make.

    `op` is what adds; `neutral` changes nothing.
    """

    slot: Slot
    op: str
    neutral: Lit
    value: Atom
    stmts: tuple[Stmt, ...]


def scan_of(
    stmts: Sequence[Stmt],
    loop: For,
    neutral: Mapping[str, float | int | bool],
    is_written: Callable[[int], bool],
    uses: Callable[[Reg], int],
) -> Scan | None:
    """The scan that the uses of a slot are, if what is added needs no other step.

    `neutral`: what changes nothing, for each operation; `is_written`: whether a step
    changes something in a buffer; `uses`: how often it uses a register.
    """
    match stmts:
        case [Get(old) as get, Set(slot, new) as put]:
            made = {reg: stmt for stmt in loop.body for reg in assigned(stmt)}
            let = made.get(new) if isinstance(new, Reg) else None
        case _:
            return None
    if not isinstance(let, Let) or let.op not in neutral or old not in let.args:
        return None
    is_looked_at = uses(old) > 1 or uses(let.reg) > 1
    if not is_looked_at or get not in loop.body or put not in loop.body:
        return None
    value = let.args[1] if let.args[0] is old else let.args[0]
    needed = _slice(loop.body, value, is_written)
    if needed is None or value is old:
        return None
    start = literal(neutral[let.op], slot.type)
    return Scan(slot, let.op, start, value, needed)


def _slice(
    body: Sequence[Stmt], value: Atom, is_written: Callable[[int], bool]
) -> tuple[Stmt, ...] | None:
    """What of a step makes a value; None if that may need other steps, or branches."""
    wanted: set[Atom] = {value}
    needed: list[Stmt] = []
    for stmt in reversed(body):
        if wanted.isdisjoint(assigned(stmt)):
            continue
        if not isinstance(stmt, Let | Load | Offset):
            return None
        if isinstance(stmt, Load) and is_written(stmt.root):
            return None
        needed.append(stmt)
        wanted.update(used(stmt))
    return tuple(needed[::-1])


@dataclass(frozen=True)
class Scanning:
    """The making of one scan: `starts` has what each chunk begins with."""

    scan: Scan
    starts: Alloc

    def begin(
        self, loop: For, chunks: Atom, lanes: Atom, start: Atom, bounds: Bounds
    ) -> Sequence[Stmt]:
        """Computes the starts."""
        out, more = Out(), Out()
        out.emit(self.starts)
        out.emit(Store(self.starts.reg, Lit(0), start, self.starts.root))
        chunk = Reg("chunk", I64)
        rest = more.let("isub", chunks, Lit(1))
        body = self._total(loop, chunk, bounds)
        more.emit(Spread(chunk, rest, lanes, body, (), ()))
        more.emit(self._add_up(chunks))
        several = out.let("ilt", Lit(1), chunks)
        out.emit(Branch(several, tuple(more.stmts)))
        return out.stmts

    def _total(self, loop: For, chunk: Reg, bounds: Bounds) -> tuple[Stmt, ...]:
        """What the values of a chunk are together: the next one begins there."""
        out, slot = Out(), Slot(self.scan.slot.name, self.scan.slot.type)
        out.emit(Set(slot, self.scan.neutral))
        low, high = bounds(out, chunk)
        step = Out([*self.scan.stmts])
        if self.scan.op == "add":
            step.emit(Accumulate(slot, self.scan.value))
        else:
            both = step.let(self.scan.op, step.get(slot), self.scan.value)
            step.emit(Set(slot, both))
        all_of_them = For(loop.index, low, high, tuple(step.stmts), loop.poll)
        out.emit(copied(all_of_them, Names({})))
        total, at = out.get(slot), out.let("iadd", chunk, Lit(1))
        out.emit(Store(self.starts.reg, at, total, self.starts.root))
        return tuple(out.stmts)

    def _add_up(self, chunks: Atom) -> For:
        out, k = Out(), Reg("k", I64)
        before = self.at(out, out.let("iadd", k, Lit(-1)))
        both = out.let(self.scan.op, before, self.at(out, k))
        out.emit(Store(self.starts.reg, k, both, self.starts.root))
        return For(k, Lit(1), chunks, tuple(out.stmts))

    def at(self, out: Out, index: Atom) -> Reg:
        """What a chunk begins with, or has ended with."""
        number = Reg(self.scan.slot.name, self.scan.slot.type)
        out.emit(Load(number, self.starts.reg, index, self.starts.root))
        return number

    def ends(self, out: Out, chunk: Atom, number: Atom) -> None:
        """Keep what a chunk has ended with, in the place of what it began with."""
        out.emit(Store(self.starts.reg, chunk, number, self.starts.root))


def starts_of(scan: Scan, chunks: Atom, region: int, root: int) -> Alloc:
    """The buffer with what the chunks begin with."""
    return Alloc(Reg("starts", PTR), region, chunks, scan.slot.type, root)
