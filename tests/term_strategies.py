"""Random well-typed terms of the paper's first-order language, without Hypothesis.

Plain pseudo-random numbers make tens of thousands of them in minutes: nested sums and
products, sharing, parts nobody uses, environments of up to 50 variables. All numbers
are small integers, so that sums of floats are exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, assert_never

from chadllvm.ir.op import PRIMS
from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, I64, UNIT, Product, Sum, Type
from chadllvm.ir.value import Injected
from chadllvm.paper.cost import run_term
from chadllvm.paper.terms import (
    TRUTH,
    Call,
    Do,
    Inject,
    Lam,
    Let,
    Literal,
    Match,
    Primitive,
    Ref,
    Term,
    fst,
    pair,
    pairs,
    snd,
    unit,
)

# What the theorem is about: primitives whose derivatives are as small as they are.
FLOAT_PRIMS = ("add", "sub", "mul", "neg")
INTEGER_PRIMS = ("iadd", "isub", "imul", "ineg")
TESTS = ("flt", "fle", "ilt", "ieq")

MOST_VARIABLES = 50


@dataclass(frozen=True)
class Experiment:
    """A term with its scope, values, a sparse cotangent, and some to add to."""

    scope: tuple[Var, ...]
    term: Term
    type: Type
    values: tuple[Any, ...]
    cotangent: Any
    before: tuple[Any, ...]


def experiment(seed: int, size: int = 200) -> Experiment:
    """The experiment of this number, of at most about `size` nodes."""
    return written(Random(seed), size)


def written(rng: Random, size: int = 200) -> Experiment:
    """The experiment that comes out of these random numbers."""
    writer = TermWriter(rng)
    count = rng.choice((0, 1, 2, 3, 5, 8, 20, MOST_VARIABLES))
    scope = tuple(Var(f"x{k}", writer.type(rng.randint(0, 3))) for k in range(count))
    ty = writer.type(rng.randint(0, 3))
    term = writer.term(list(scope), ty, int(size ** rng.random()))
    return writer.experiment(scope, term, ty)


class Script(Random):
    """Random numbers that are written down: known ones first, then new ones."""

    def __init__(self, seed: int, numbers: Sequence[float] = ()) -> None:
        super().__init__(seed)
        self.numbers = list(numbers)
        self._used = 0

    def random(self) -> float:
        if self._used == len(self.numbers):
            self.numbers.append(super().random())
        self._used += 1
        return self.numbers[self._used - 1]


def climb(
    value: Callable[[Experiment], float], seed: int, steps: int
) -> tuple[float, Experiment]:
    """The best of many experiments, each the best one so far with a few changes."""
    rng = Random(seed)
    best = Script(seed)
    found = written(best)
    height = value(found)
    for step in range(steps):
        numbers = list(best.numbers)
        for _ in range(rng.choice((1, 2, 5))):
            numbers[rng.randrange(len(numbers))] = rng.random()
        changed = Script(seed + step, numbers)
        neighbour = written(changed)
        reached = value(neighbour)
        if reached >= height:
            best, found, height = changed, neighbour, reached
    return height, found


def copied(term: Term, known: dict[Var, Term]) -> Term:
    """The term with new variables, and with terms in place of some free ones."""
    match term:
        case Ref(var):
            return known.get(var, term)
        case Let(var, bound, body):
            bound, new = copied(bound, known), Var(var.name, var.type)
            return Let(new, bound, copied(body, {**known, var: Ref(new)}))
        case Lam(var, body):
            new = Var(var.name, var.type)
            return Lam(new, copied(body, {**known, var: Ref(new)}))
        case Call(function, arg):
            return Call(copied(function, known), copied(arg, known))
        case Match(arg, left, right):
            branches = [copied(b, known) for b in (left, right)]
            return Match(copied(arg, known), *branches)
        case Do(op, args):
            return Do(op, tuple([copied(arg, known) for arg in args]))
        case _:
            assert_never(term)


def occurrences(term: Term, var: Var) -> int:
    """How often a variable occurs."""
    match term:
        case Ref(found):
            return int(found is var)
        case Let(_, bound, body):
            return occurrences(bound, var) + occurrences(body, var)
        case Lam(_, body):
            return occurrences(body, var)
        case Call(function, arg):
            return occurrences(function, var) + occurrences(arg, var)
        case Match(arg, left, right):
            return sum([occurrences(t, var) for t in (arg, left, right)])
        case Do(_, args):
            return sum([occurrences(arg, var) for arg in args])
        case _:
            assert_never(term)


def iterated(seed: int, count: int) -> Experiment | None:
    """A random small step from a type to itself, done `count` times.

    What is worst for a bound in each node is worst many times over. None if the step
    does not use its argument just once.
    """
    writer = TermWriter(Random(seed))
    ty = writer.rng.choice((F64, F64, Product((F64, F64)), writer.type(2)))
    types = (ty, F64, UNIT, Product((F64, F64)), Product((UNIT, UNIT)), TRUTH)
    scope = tuple(Var(f"x{k}", t) for k, t in enumerate(types))
    hole = Var("t", ty)
    step = writer.term([*scope, hole], ty, writer.rng.randint(2, 8))
    if occurrences(step, hole) != 1:
        return None
    term: Term = Ref(scope[0])
    for _ in range(count):
        term = copied(step, {hole: term})
    return writer.experiment(scope, term, ty)


class TermWriter:
    """Writes terms by their types, and values and cotangents of them."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.density = rng.choice((0.0, 0.3, 0.7, 0.95, 1.0))
        self._fresh = 0

    # Types and what is of them.

    def type(self, depth: int) -> Type:
        """A type of at most this depth."""
        kind = self.rng.random()
        if depth == 0 or kind < 0.2:
            return self.rng.choice((F64, F64, F64, I64, UNIT, TRUTH))
        first, second = self.type(depth - 1), self.type(depth - 1)
        if kind < 0.65:
            return Product((first, second))
        return Sum((("left", first), ("right", second)))

    def value(self, ty: Type) -> Any:
        """A value of a type."""
        match ty:
            case Product(()):
                return ()
            case Product(fields):
                return tuple([self.value(field) for field in fields])
            case Sum():
                index = self.rng.randrange(2)
                return Injected(index, self.value(ty.payloads[index]))
            case _:
                number = self.rng.randint(-2, 2)
                return float(number) if ty == F64 else number

    def cotangent(self, value: Any, ty: Type) -> Any:
        """A sparse cotangent of a value; how sparse differs between experiments."""
        match ty:
            case Product((_, _)) if self.rng.random() < self.density:
                pairs = zip(value, ty.fields, strict=True)
                return tuple([self.cotangent(v, t) for v, t in pairs])
            case Sum() if self.rng.random() < self.density:
                held = self.cotangent(value.value, ty.payloads[value.index])
                return Injected(value.index, held)
            case Product((_, _)) | Sum():
                return None
            case _:
                return float(self.rng.randint(-2, 2)) if ty == F64 else ()

    def experiment(self, scope: tuple[Var, ...], term: Term, ty: Type) -> Experiment:
        """A term with random values and cotangents."""
        values = tuple(self.value(v.type) for v in scope)
        result, _ = run_term(term, scope, values)
        pairs = zip(values, scope, strict=True)
        before = tuple(self.cotangent(x, v.type) for x, v in pairs)
        found = self.cotangent(result, ty)
        return Experiment(scope, term, ty, values, found, before)

    # Terms.

    def term(self, scope: list[Var], ty: Type, size: int) -> Term:
        """A term of a type, of about this size at most."""
        if size < 2:
            return self.leaf(scope, ty)
        kind = self.rng.random()
        if kind < 0.3:
            return self.let(scope, ty, size - 1)
        if kind < 0.4:
            return self.match(scope, ty, size - 1)
        if kind < 0.5:
            return self.part(scope, ty, size - 1)
        return self.made(scope, ty, size - 1)

    def leaf(self, scope: Sequence[Var], ty: Type) -> Term:
        """A variable or a part of one if there is one, else the smallest term."""
        found = self.reach(scope, ty)
        if found is not None:
            return found
        match ty:
            case Product(()):
                return unit()
            case Product((first, second)):
                return pair(self.leaf(scope, first), self.leaf(scope, second))
            case Sum():
                index = self.rng.randrange(2)
                held = self.leaf(scope, ty.payloads[index])
                return Do(Inject(index, ty), (held,))
            case _:
                number = self.rng.randint(-2, 2)
                return Do(Literal(float(number) if ty == F64 else number), (unit(),))

    def reach(self, scope: Sequence[Var], ty: Type) -> Term | None:
        """A variable of a type, or such a part of one."""
        for _ in range(4 if scope else 0):
            var = self.rng.choice(scope[-self.rng.choice((1, 3, 8, 99)) :])
            found = self.descend(Ref(var), var.type, ty)
            if found is not None:
                return found
        return None

    def descend(self, term: Term, ty: Type, wanted: Type) -> Term | None:
        if ty == wanted:
            return term
        match ty:
            case Product((first, second)):
                ways = [(fst(term), first), (snd(term), second)]
                self.rng.shuffle(ways)
                for part, part_type in ways:
                    found = self.descend(part, part_type, wanted)
                    if found is not None:
                        return found
        return None

    def let(self, scope: list[Var], ty: Type, size: int) -> Term:
        first, second = self.split(size)
        bound_type = self.type(self.rng.choice((0, 0, 1, 2)))
        bound = self.term(scope, bound_type, first)
        var = self.variable(bound_type)
        return Let(var, bound, self.term([*scope, var], ty, second))

    def match(self, scope: list[Var], ty: Type, size: int) -> Term:
        first, second = self.split(size)
        sums = [v.type for v in scope if isinstance(v.type, Sum)]
        if sums and self.rng.random() < 0.7:
            subject = self.rng.choice(sums)
        else:
            depth = self.rng.choice((0, 1))
            payloads = self.type(depth), self.type(depth)
            subject = Sum((("left", payloads[0]), ("right", payloads[1])))
        arg = self.term(scope, subject, first)
        branches = []
        for payload in subject.payloads:
            var = self.variable(payload)
            branches.append(Lam(var, self.term([*scope, var], ty, second // 2)))
        return Match(arg, *branches)

    def part(self, scope: list[Var], ty: Type, size: int) -> Term:
        """fst or snd, of a pair whose other half is for nobody."""
        other = self.type(self.rng.choice((0, 1, 2)))
        if self.rng.random() < 0.5:
            return fst(self.term(scope, Product((ty, other)), size))
        return snd(self.term(scope, Product((other, ty)), size))

    def made(self, scope: list[Var], ty: Type, size: int) -> Term:
        """What a term of this type is made by."""
        if ty == TRUTH and self.rng.random() < 0.7:
            return self.primitive(scope, self.rng.choice(TESTS), size)
        match ty:
            case Product(()):
                return self.leaf(scope, ty)
            case Product((first, second)):
                left, right = self.split(size)
                return pair(
                    self.term(scope, first, left), self.term(scope, second, right)
                )
            case Sum():
                index = self.rng.randrange(2)
                held = self.term(scope, ty.payloads[index], size)
                return Do(Inject(index, ty), (held,))
            case _:
                names = FLOAT_PRIMS if ty == F64 else INTEGER_PRIMS
                return self.primitive(scope, self.rng.choice(names), size)

    def primitive(self, scope: list[Var], name: str, size: int) -> Term:
        prim = PRIMS[name]
        share = size // len(prim.params)
        args = [self.term(scope, ty, share) for ty in prim.params]
        return Do(Primitive(prim), (pairs(args),))

    def split(self, size: int) -> tuple[int, int]:
        first = self.rng.randint(0, size)
        return first, size - first

    def variable(self, ty: Type) -> Var:
        self._fresh += 1
        return Var(f"y{self._fresh}", ty)
