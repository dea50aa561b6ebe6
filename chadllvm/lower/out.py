"""Statements in the making."""

from __future__ import annotations

from dataclasses import dataclass, field

from chadllvm.ir.loops import Atom, Get, Let, Reg, Slot, Stmt, result_of
from chadllvm.ir.term import Lit


@dataclass
class Out:
    """A list of statements that grows; who asks for a number gets what holds it."""

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
