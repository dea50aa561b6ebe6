"""Statements in the making, for loops in chunks."""

from __future__ import annotations

from chadllvm.ir.loops import Atom, Reg
from chadllvm.ir.term import Lit
from chadllvm.ir.types import I64
from chadllvm.lower import out
from chadllvm.lower.chunks.work import Work


class Out(out.Out):
    """With the numbers of several chunks, and estimates of work."""

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
