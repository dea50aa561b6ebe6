"""Statements in the making, for loops in chunks."""

from __future__ import annotations

from chadllvm.ir.loops import Atom, Reg
from chadllvm.ir.term import Lit
from chadllvm.lower import out
from chadllvm.lower.chunks.work import Work


class Out(out.Out):
    """With the numbers of several chunks, and estimates of work."""

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
