"""Made arrays that states of a loop refer to are kept in slots: states of their own.

At the end of a step an array that was made in it, and that a state refers to from now
on, is put into a slot that no state refers to any more:

    x: f64[:], w = if c { …; yield y, 1 }       the array made, and which it is
                   else { …; yield e, 2 }
    yield f, w'                           →     t = ieq(w, 1)
                                                g = if t { yield x } else { yield f }
                                                v = if t { yield 3 } else { yield w }
                                                yield g, v

So many states refer to at most so many arrays, so that there is always a free slot. To
put an array there costs no more than it did to make it; to refer to it costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce

from chadllvm.ir.build import Builder
from chadllvm.ir.term import Block, If, Operand, Var
from chadllvm.ir.types import Type
from chadllvm.simplify.codes import Code, Coding, Table


@dataclass
class Slots:
    """The slots for arrays of one type.

    `states`: the positions of the states that may refer to them; `made`: the arrays
    that a step makes for them; `params` and `finals`: the slots in a step, and behind
    the loop.
    """

    type: Type
    made: list[Var] = field(default_factory=list)
    states: list[int] = field(default_factory=list)
    params: list[Var] = field(default_factory=list)
    finals: list[Var] = field(default_factory=list)

    def open(self, table: Table) -> None:
        """As many slots as there are states."""
        for _ in self.states:
            slot, final = Var("kept", self.type), Var("kept", self.type)
            self.params.append(slot)
            self.finals.append(final)
            table.same_number(final, slot)

    def store(
        self, codes: dict[int, Code], table: Table, out: Coding
    ) -> Sequence[Operand]:
        """What is in the slots behind a step with these codes, which change."""
        puts: list[list[tuple[Var, Var]]] = [[] for _ in self.params]
        for made in self.made:
            number = table.number(made)
            uses = {k: out.prim("ieq", codes[k].number, number) for k in self.states}
            place = self._free(codes, table, out)
            is_used = _any(uses.values(), out)
            for k, use in uses.items():
                code = _chosen(use, place, codes[k].number, out)
                codes[k] = codes[k]._replace(number=code)
            for n, slot in enumerate(self.params):
                here = is_used
                if len(self.params) > 1:
                    is_it = out.prim("ieq", place, table.number(slot))
                    here = out.prim("and", is_used, is_it)
                puts[n].append((here, made))
        return [_put(p, s, out) for p, s in zip(puts, self.params, strict=True)]

    def _free(self, codes: dict[int, Code], table: Table, out: Coding) -> Operand:
        """The number of a slot that no code is about, if a code needs one."""
        *others, last = self.params
        place = table.number(last)
        for slot in reversed(others):
            number = table.number(slot)
            uses = [out.prim("ieq", codes[k].number, number) for k in self.states]
            place = _chosen(_any(uses, out), place, number, out)
        return place


def _put(puts: Sequence[tuple[Var, Var]], slot: Var, out: Builder) -> Var:
    """The last array that is put into a slot, or what is there.

    These are nested branches, in each of which its cotangent goes to one place.
    """
    if not puts:
        return slot
    (cond, made), *others = reversed(puts)
    inner = out.child()
    block = inner.block([_put(others[::-1], slot, inner)])
    return out.one(If(cond, Block((), (made,)), block), slot.name)


def _any(conditions: Iterable[Var], out: Coding) -> Var:
    return reduce(lambda a, b: out.prim("or", a, b), conditions)


def _chosen(cond: Operand, then: Operand, orelse: Operand, out: Coding) -> Operand:
    hint = then.name if isinstance(then, Var) else "which"
    return out.one(If(cond, Block((), (then,)), Block((), (orelse,))), hint)
