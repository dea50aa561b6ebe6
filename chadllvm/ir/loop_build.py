"""Builds statements of the loop language: nested frames, and names for registers.

A frame is the statement list of one loop body, branch or function body. The builder
knows in which frame a register was assigned, so that what does not depend on a loop (a
buffer whose size is known before it) can be placed in front of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from chadllvm.ir import loops
from chadllvm.ir.loops import PTR, Atom, Failure, Reg, Slot, Stmt, result_of
from chadllvm.ir.op import Prim
from chadllvm.ir.term import Lit, literal
from chadllvm.ir.types import F32, F64, Scalar
from chadllvm.support.diagnostic import NO_SPAN, Span


@dataclass(eq=False)
class Frame:
    """A statement list in the making; `is_loop`: the body of a loop.

    `owner` is whatever the lowering wants to know about the loop; `private` are the
    roots of the buffers that stand in front of it and belong to one iteration.
    """

    is_loop: bool
    owner: object = None
    private: list[int] = field(default_factory=list)
    stmts: list[Stmt] = field(default_factory=list)


class LoopBuilder:
    """Emits statements into the innermost frame."""

    def __init__(self) -> None:
        self.frames: list[Frame] = [Frame(is_loop=False)]
        self.depth: dict[Reg, int] = {}
        self._counts: dict[Reg, Atom] = {}
        self._strides: dict[Reg, Reg] = {}
        # The rows of elements by their number and the size of a row, and columns.
        self._rows: dict[tuple[Atom, Atom], Reg] = {}
        self._columns: dict[Reg, tuple[Atom, Atom]] = {}
        self._leasts: dict[Reg, Reg] = {}
        # What was computed for these: where a number does for both nothing uses it.
        self.divided: set[Atom] = set()
        # Numbers that are chosen, as a size of rows is, which is 0 if there are none.
        self._choices: dict[Atom, loops.Let] = {}
        # Where registers come from, if that is kept.
        self.span = NO_SPAN

    def emit(self, stmt: Stmt) -> None:
        self.frames[-1].stmts.append(stmt)

    def reg(self, name: str, ty: Scalar) -> Reg:
        """A new register, assigned in the innermost frame."""
        reg = Reg(name, ty, self.span)
        self.depth[reg] = len(self.frames) - 1
        return reg

    def let(self, op: str, *args: Atom, name: str = "t") -> Reg:
        """A machine instruction; float literals are as wide as what is beside them."""
        if any(arg.type == F32 for arg in args):
            args = tuple(map(_as_single, args))
        reg = self.reg(name, result_of(op, [arg.type for arg in args]))
        made = loops.Let(reg, op, args)
        self.emit(made)
        if op in ("select", "ilt"):
            self._choices[reg] = made
        return reg

    def get(self, slot: Slot, apart: tuple[Reg, ...] = ()) -> Reg:
        reg = self.reg(slot.name, slot.type)
        self.emit(loops.Get(reg, slot, apart))
        return reg

    def set(self, slot: Slot, value: Atom) -> None:
        self.emit(loops.Set(slot, value))

    def slot(self, name: str, value: Atom) -> Slot:
        """A new slot that holds `value`."""
        slot = Slot(name, value.type)
        self.set(slot, value)
        return slot

    def offset(
        self, ptr: Atom, index: Atom, elem: Scalar, extent: Atom | None = None
    ) -> Atom:
        if isinstance(index, Lit) and index.value == 0:
            return ptr
        reg = self.reg("p", PTR)
        self.emit(loops.Offset(reg, ptr, index, elem, extent))
        return reg

    def load(self, ptr: Atom, index: Atom, ty: Scalar, root: int, name: str) -> Reg:
        reg = self.reg(name, ty)
        self.emit(loops.Load(reg, ptr, index, root))
        return reg

    def check(
        self,
        cond: Atom,
        kind: str,
        message: str,
        span: Span,
        *values: Atom,
        own: bool = False,
    ) -> None:
        """Leave with this failure unless `cond` holds; `own`: in the user's words."""
        self.emit(loops.Check(cond, Failure(kind, message, span, own), values))

    def open(self, *, is_loop: bool, owner: object = None) -> None:
        """Begin a nested body; what is emitted goes there until `close`."""
        self.frames.append(Frame(is_loop, owner))

    @contextmanager
    def at(self, level: int) -> Iterator[None]:
        """Emit into the frame at this level, in front of the loop being made."""
        inner = self.frames[level + 1 :]
        del self.frames[level + 1 :]
        try:
            yield
        finally:
            self.frames += inner

    def close(self) -> tuple[Stmt, ...]:
        """End the innermost body."""
        return tuple(self.frames.pop().stmts)

    def depth_of(self, atom: Atom) -> int:
        """The outermost frame in which this atom may be used."""
        return self.depth[atom] if isinstance(atom, Reg) else 0

    # Arithmetic of sizes and offsets: it emits nothing that is known, and stands where
    # its operands do, in front of the loops that it does not depend on.

    def mul(self, a: Atom, b: Atom) -> Atom:
        if isinstance(a, Lit) and isinstance(b, Lit):
            return Lit(int(a.value) * int(b.value))
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Lit) and x.value == 1:
                return y
            if isinstance(x, Lit) and x.value == 0:
                return Lit(0)
        return self._early("imul", a, b)

    def add(self, a: Atom, b: Atom) -> Atom:
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Lit) and x.value == 0:
                return y
        return self._early("iadd", a, b)

    def product(self, factors: Sequence[Atom]) -> Atom:
        total: Atom = Lit(1)
        for factor in factors:
            total = self.mul(total, factor)
        return total

    def at_most(self, n: Atom, most: int) -> Atom:
        """The number, or a literal that it is above."""
        return self._early("imin", n, Lit(most))

    def count(self, n: Atom) -> Atom:
        """The number of iterations of a loop over n: n, or none if n is negative."""
        if isinstance(n, Lit):
            return Lit(max(int(n.value), 0))
        if n not in self._counts:
            self.is_count(self._early("imax", n, Lit(0)), n)
        return self._counts[n]

    def stride(self, n: Atom) -> Atom:
        """The size of a row, to find elements by: LLVM must not see a variable in it.

        A loop with a variable for its stride is vectorised for a stride of 1 only, as
        LLVM makes a version for that case and the other one stays as it is.
        """
        if isinstance(n, Lit):
            return n
        if n not in self._strides:
            self._strides[n] = self._early("stride", n)
        return self._strides[n]

    def row_of(self, number: Atom, size: Atom) -> Atom:
        """The row of the element of this number, if rows have this size, or 1."""
        if (number, size) not in self._rows:
            row = self._early("udiv", number, self._at_least_one(size))
            self.divided.add(row)
            self._rows[number, size] = row
        return self._rows[number, size]

    def column_of(self, number: Atom, size: Atom) -> Atom:
        """Its place in the row."""
        row = self.row_of(number, size)
        before = self._early("imul", row, self._at_least_one(size))
        column = self._early("isub", number, before)
        self.divided |= {before, column}
        self._columns[column] = number, size
        return column

    def _at_least_one(self, size: Atom) -> Atom:
        if isinstance(size, Lit):
            return Lit(max(int(size.value), 1))
        if size not in self._leasts:
            self._leasts[size] = self._early("imax", size, Lit(1))
            self.divided.add(self._leasts[size])
        return self._leasts[size]

    def number_of(self, row: Atom, column: Atom, size: Atom) -> Atom | None:
        """The number of an element, if its row and column were found by that."""
        place = self._columns.get(column) if isinstance(column, Reg) else None
        if place is None or self._rows[place] != row:
            return None
        number, divisor = place
        while self._said(size) != self._said(divisor):
            chosen = self._choices.get(size)
            if chosen is None or chosen.args[-1] != Lit(0):
                return None
            size = chosen.args[1]
        return number

    def _said(self, atom: Atom) -> object:
        """The same for numbers that are chosen from the same by the same."""
        made = self._choices.get(atom)
        return atom if made is None else (made.op, *map(self._said, made.args))

    def is_count(self, count: Atom, n: Atom | None = None) -> None:
        """Note that `count`, which is not negative, is the count of n (of itself)."""
        for atom in (count, n):
            if isinstance(atom, Reg):
                self._counts[atom] = count

    def some(self, count: Atom, size: Atom) -> Atom:
        """The size, or 0 if the count is: rows of an array of no rows."""
        if isinstance(count, Lit):
            return size if count.value else Lit(0)
        chosen = self._early("select", self._early("ilt", Lit(0), count), size, Lit(0))
        self.is_count(chosen)
        return chosen

    def _early(self, op: str, *args: Atom) -> Reg:
        with self.at(max(map(self.depth_of, args))):
            return self.let(op, *args, name="n" if op == "imax" else "t")


def _as_single(atom: Atom) -> Atom:
    """An f64 literal as an f32."""
    if isinstance(atom, Lit) and atom.type == F64:
        return literal(atom.value, F32)
    return atom


def cycles_of(prim: Prim) -> int:
    """The throughput of what a primitive of variables is lowered to, without checks."""
    made = LoopBuilder()
    args = [made.reg(f"x{k}", ty) for k, ty in enumerate(prim.params)]
    if prim.lowering is None:
        made.let(prim.name, *args)
    else:
        prim.lowering(made, args, NO_SPAN)
    return _cycles(made.frames[-1].stmts)


def _cycles(body: Sequence[Stmt]) -> int:
    total = 0
    for stmt in body:
        match stmt:
            case loops.Let():
                total += stmt.code.cycles
            case loops.For(high=Lit(steps), body=inner):
                total += int(steps) * _cycles(inner)
    return total
