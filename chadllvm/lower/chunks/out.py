"""Statements in the making, for loops in chunks."""

from __future__ import annotations

from dataclasses import dataclass, field

from chadllvm.ir.loops import Atom, Get, Let, Reg, Slot, Stmt, result_of
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64
from chadllvm.lower.chunks.work import Work


@dataclass
class Out:
    """Statements in the making."""

    stmts: list[Stmt] = field(default_factory=list)

    def let(self, op: str, *args: Atom, name: str = "t") -> Atom:
        if op in ("iadd", "isub") and Lit(0) in args[op == "isub" :]:
            return args[0] if args[1] == Lit(0) else args[1]
        reg = Reg(name, result_of(op, [arg.type for arg in args]))
        self.stmts.append(Let(reg, op, args))
        return reg

    def get(self, slot: Slot) -> Reg:
        reg = Reg(slot.name, slot.type)
        self.stmts.append(Get(reg, slot))
        return reg

    def emit(self, stmt: Stmt) -> None:
        self.stmts.append(stmt)

    def both(self, op: str, a: Atom, b: Atom) -> Atom:
        """What two chunks' numbers are together."""
        if op not in ("choose_more", "choose_less"):
            return self.let(op, a, b)
        pair = (a, b) if op == "choose_more" else (b, a)
        wins = self.let("ilt" if a.type == I64 else "flt", *pair)
        return self.let("select", wins, b, a)

    def work(self, work: Work) -> Atom:
        """The number that an estimate is."""
        floats: dict[Reg, Atom] = {}
        total: Atom = Lit(work.get((), 0.0))
        for term, count in work.items():
            part: Atom = Lit(count)
            for reg in term:
                if reg not in floats:
                    floats[reg] = self.let("to_float", reg)
                part = self.let("mul", part, floats[reg])
            total = self.let("add", total, part) if term else total
        return total
