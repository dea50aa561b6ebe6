"""What indices are, as sums of products of registers, and what is known of their sizes.

    i = chunk * 16 + k, k < 16, n = max(m - 2, 0), t = i * n + j, j < n

Inside of a loop its bound is positive, and `max(m - 2, 0)` is `m - 2` there. A sum is
not negative if its terms show it: dimensions, indices and counts are not, and where a
loop runs its bound is at least one. Nothing here wraps around: an index that did would
be none of a buffer's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product

from chadllvm.ir.loops import Atom, For, Let, Reg
from chadllvm.ir.term import Lit

# The registers of each product, in the order they were met in; () is the constant.
Form = Mapping[tuple[Reg, ...], int]

# Longer sums are not looked at.
_MOST_TERMS = 12

# No index is farther from zero: a minimum or maximum with such a number is the other.
_FAR = 1 << 62

# Choices of bounds that are tried for one place.
_MOST_CHOICES = 8

ONE: Form = {(): 1}


def plus(a: Form, b: Form, factor: int = 1) -> Form:
    """a + factor * b"""
    total = dict(a)
    for term, count in b.items():
        total[term] = total.get(term, 0) + factor * count
    return {term: count for term, count in total.items() if count}


def constant(form: Form) -> int | None:
    """The number that this is, if it is one."""
    return form.get((), 0) if all(not term for term in form) else None


def atoms(form: Form) -> Iterator[Reg]:
    """The registers of a form."""
    return (reg for term in form for reg in term)


class Forms:
    """The forms of registers, where some are known to be positive.

    `made`: the instructions of all registers; `counts` are never negative; `loops` by
    their indices.
    """

    def __init__(
        self,
        made: Mapping[Reg, Let],
        counts: Iterable[Reg],
        loops: Mapping[Reg, For],
        positive: frozenset[Reg] = frozenset(),
        order: dict[Reg, int] | None = None,
    ) -> None:
        self._made = made
        self._counts = frozenset(counts)
        self._loops = loops
        self._positive = positive
        self._order: dict[Reg, int] = {} if order is None else order
        self._known: dict[Reg, Form] = {}
        self._sums: list[Form] | None = None
        self._uses_sums = False

    def inside(self, *loops: For) -> Forms:
        """The same where steps of these loops are made."""
        positive = set(self._positive)
        for loop in loops:
            self._is_positive(loop, positive)
        if positive == self._positive:
            return self
        known = frozenset(positive)
        return Forms(self._made, self._counts, self._loops, known, self._order)

    def with_facts(self, other: Forms, varying: Collection[Reg]) -> Forms:
        """What is known here or there, which is another step.

        What was known there of registers that are `varying` is not known here.
        """
        positive = self._positive | {r for r in other._positive if r not in varying}
        if positive == self._positive:
            return self
        return Forms(self._made, self._counts, self._loops, positive, self._order)

    def _is_positive(self, loop: For, positive: set[Reg]) -> None:
        if not self.is_count(self.of(loop.low)):
            return
        waiting: list[Atom] = [loop.high]
        for bound in self.ends(loop.high, "imin"):
            waiting += [reg for reg in atoms(bound) if bound == {(reg,): 1}]
        while waiting:
            atom = waiting.pop()
            if not isinstance(atom, Reg) or atom in positive:
                continue
            positive.add(atom)
            let = self._made.get(atom)
            match let.op if let else "", let.args if let else ():
                case "imin", args:
                    waiting += args
                case ("imax", (x, Lit(int() as least))) if least <= 0:
                    waiting.append(x)
                case ("iadd", (x, Lit(int() as more))) if more <= 0:
                    waiting.append(x)
                case ("span", (x, Lit(int() as less))) if less >= 0:
                    waiting.append(x)
                case "stride", (x,):
                    waiting.append(x)
                case "select", (cond, x, Lit(0)):
                    waiting += [x, *self._compared(cond)]
                case _:
                    pass

    def _compared(self, cond: Atom) -> Sequence[Atom]:
        """What is positive if a condition holds."""
        let = self._made.get(cond) if isinstance(cond, Reg) else None
        match let.op if let else "", let.args if let else ():
            case "ilt", (Lit(0), x):
                return (x,)
            case _:
                return ()

    def of(self, atom: Atom) -> Form:
        """The form of an integer."""
        if isinstance(atom, Lit):
            return {(): int(atom.value)} if atom.value else {}
        form = self._known.get(atom)
        if form is None:
            form = self._known[atom] = self._form(atom)
        return form

    def _form(self, reg: Reg) -> Form:
        let = self._made.get(reg)
        found: Form | None = None
        match let.op if let else "", let.args if let else ():
            case ("iadd" | "isub") as op, (a, b):
                found = plus(self.of(a), self.of(b), 1 if op == "iadd" else -1)
            case "span", (a, b) if reg in self._positive:
                found = plus(self.of(a), self.of(b), -1)
            case "imul", (a, b):
                found = self.times(self.of(a), self.of(b))
            case "stride", (a,):
                found = self.of(a)
            case ("imin" | "imax") as op, (Lit(int() as a), Lit(int() as b)):
                found = self.of(Lit(min(a, b) if op == "imin" else max(a, b)))
            case (("imin" | "imax"), (a, Lit(int() as end))) if abs(end) >= _FAR:
                found = self.of(a)
            case ("imax", (a, Lit(int() as least))) if least <= 0:
                inner = self.of(a)
                is_same = reg in self._positive or self.is_count(inner)
                found = inner if is_same else None
            case "select", (cond, a, Lit(0)):
                holds = [x in self._positive for x in self._compared(cond)]
                found = self.of(a) if reg in self._positive or any(holds) else None
            case _:
                pass
        if found is None or len(found) > _MOST_TERMS:
            self._order.setdefault(reg, len(self._order))
            return {(reg,): 1}
        return found

    def times(self, a: Form, b: Form) -> Form:
        total: dict[tuple[Reg, ...], int] = {}
        for (left, x), (right, y) in product(a.items(), b.items()):
            term = tuple(sorted((*left, *right), key=self._order.__getitem__))
            total[term] = total.get(term, 0) + x * y
        return {term: count for term, count in total.items() if count}

    # Signs.

    def is_count(self, form: Form) -> bool:
        """Whether a form is certainly not negative."""
        if self._is_plainly(form):
            return True
        # What is asked of their terms meanwhile is not asked of these sums again.
        if len(form) == 1 or self._uses_sums:
            return False
        self._uses_sums = True
        found = self._is_plainly_above(form)
        self._uses_sums = False
        return found

    def _is_plainly_above(self, form: Form) -> bool:
        """Whether a form is not below another that is not negative."""
        if self._sums is None:
            # What the forms of these ask for meanwhile is found without them.
            self._sums = []
            known = (self.of(reg) for reg in self._positive)
            self._sums = [plus(sum_, ONE, -1) for sum_ in known if len(sum_) > 1]
        return any(self._is_plainly(plus(form, least, -1)) for least in self._sums)

    def _is_plainly(self, form: Form) -> bool:
        """Whether its terms show that a form is not negative."""
        least = 0
        for term, count in form.items():
            if not term:
                least += count
            elif count < 0 or not all(map(self._is_count, term)):
                return False
            elif all(reg in self._positive for reg in term):
                least += count
        return least >= 0

    def _is_count(self, reg: Reg) -> bool:
        if reg in self._counts or reg in self._positive:
            return True
        if reg in self._loops:
            return self.is_count(self.of(self._loops[reg].low))
        let = self._made.get(reg)
        match let.op if let else "", let.args if let else ():
            case "imax", args:
                return any(self.is_count(self.of(x)) for x in args)
            case "imin", args:
                return all(self.is_count(self.of(x)) for x in args)
            case "select", (_, a, b):
                return self.is_count(self.of(a)) and self.is_count(self.of(b))
            case (("idiv" | "udiv"), (a, Lit(int() as n))) if n > 0:
                return self.is_count(self.of(a))
            case _:
                return False

    # Bounds.

    def ends(self, atom: Atom, op: str) -> list[Form]:
        """Forms that an integer is not above (`op` imin), or not below (imax)."""
        let = self._made.get(atom) if isinstance(atom, Reg) else None
        found: list[Form] = []
        match let.op if let else "", let.args if let else ():
            case (("imin" | "imax"), (x, Lit(int() as end))) if abs(end) >= _FAR:
                found = self.ends(x, op)
            case other, args if other == op:
                found = [form for arg in args for form in self.ends(arg, op)]
            case (("imin" | "imax"), args):
                found = self._common_ends(args, op)
            case "iadd", (x, Lit(int() as more)):
                found = [plus(end, ONE, more) for end in self.ends(x, op)]
            case _:
                pass
        return found or [self.of(atom)]

    def _common_ends(self, args: Sequence[Atom], op: str) -> list[Form]:
        """What both arguments are not above, or not below."""
        sides = [self.ends(arg, op) for arg in args]
        found: list[Form] = []
        for end in (*sides[0], *sides[1], *([{}] if op == "imax" else [])):
            is_end = all(self._is_end(end, side, op) for side in sides)
            if is_end and end not in found:
                found.append(end)
        return found

    def _is_end(self, end: Form, others: Iterable[Form], op: str) -> bool:
        """Whether one of these is not above an end, or not below."""
        sign = 1 if op == "imin" else -1
        return any(self.is_count(plus({}, plus(end, x, -1), sign)) for x in others)

    def between(self, form: Form, loops: Sequence[For]) -> Iterator[tuple[Form, Form]]:
        """The least and the largest value of a form in these loops, outermost first.

        There may be several bounds, all of them right.
        """
        choices = [
            [*product(self.ends(x.low, "imax"), self.ends(x.high, "imin"))]
            for x in loops
        ]
        for k, chosen in enumerate(product(*choices)):
            if k == _MOST_CHOICES:
                return
            least: Form | None = form
            most: Form | None = form
            for loop, (low, high) in zip(loops[::-1], chosen[::-1], strict=True):
                last = plus(high, ONE, -1)
                least = self._at_end(least, loop.index, low, last)
                most = self._at_end(most, loop.index, last, low)
            if least is not None and most is not None:
                yield least, most

    def _at_end(
        self, form: Form | None, index: Reg, rising: Form, falling: Form
    ) -> Form | None:
        """A form where an index is at that end at which it is the least, or largest."""
        if form is None:
            return None
        slope, rest = divided(form, index)
        if not slope:
            return rest
        if index in atoms(slope):
            return None
        if self.is_count(slope):
            return plus(rest, self.times(slope, rising))
        if self.is_count(plus({}, slope, -1)):
            return plus(rest, self.times(slope, falling))
        return None


def divided(form: Form, reg: Reg) -> tuple[Form, Form]:
    """What a register is multiplied by, and what is added to that."""
    slope: dict[tuple[Reg, ...], int] = {}
    rest: dict[tuple[Reg, ...], int] = {}
    for term, count in form.items():
        if reg in term:
            at = term.index(reg)
            slope[term[:at] + term[at + 1 :]] = count
        else:
            rest[term] = count
    return slope, rest
