"""Random higher-order terms of the paper's language, with first-order inputs.

Written for the type that is wanted, from a seeded generator. Function values are
passed, returned, put into pairs and sums, chosen by branches and called many times.
Numbers stay small, branches depend on integers and tags alone, and no function calls
itself, so that every program has a value and is smooth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

from chadllvm.ir.op import PRIMS
from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, I64, UNIT, Fun, Product, Sum, Type
from chadllvm.ir.value import Injected
from chadllvm.paper.free import free_variables
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
    snd,
    unit,
)

PAIR = Product((F64, F64))
CHOICE = Sum((("left", F64), ("right", PAIR)))

# The inputs of every program.
PARAMS = (("x", F64), ("y", F64), ("k", I64), ("p", PAIR), ("s", CHOICE))


@dataclass(frozen=True)
class Program:
    """A term with the variables that are free in it, and values for these."""

    scope: tuple[Var, ...]
    term: Term
    values: tuple[Any, ...]


def programs(count: int, seed: int = 0, fuel: int = 12) -> list[Program]:
    """Random programs: some lets, mostly of functions, and what is made of them.

    `fuel` bounds the size of each.
    """
    return [program(Random(f"{seed} {k}"), fuel) for k in range(count)]


def program(random: Random, fuel: int) -> Program:
    """A random program of a number or a pair."""
    scope = tuple(Var(name, ty) for name, ty in PARAMS)
    result = random.choice((F64, F64, PAIR, CHOICE))
    term = Writer(random).lets(result, scope, random.randint(0, 6), fuel)
    return Program(scope, term, _values(random))


def _values(random: Random) -> tuple[Any, ...]:
    x, y, a, b, c = (random.uniform(-1, 1) for _ in range(5))
    held = Injected(0, c) if random.random() < 0.5 else Injected(1, (c, -c))
    return x, y, random.randint(-2, 2), (a, b), held


def function(param: Type, result: Type) -> Type:
    return Fun((param,), (result,))


class Writer:
    """Writes terms of a given type; `fuel` bounds what is nested."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._names = 0

    def lets(self, ty: Type, scope: tuple[Var, ...], count: int, fuel: int) -> Term:
        """let x₁ = … in let x₂ = … in a term of this type"""
        if count == 0:
            return self.term(ty, scope, 2 * fuel)
        var = self.variable(self.type(2))
        bound = self.term(var.type, scope, fuel)
        return Let(var, bound, self.lets(ty, (*scope, var), count - 1, fuel))

    def term(self, ty: Type, scope: tuple[Var, ...], fuel: int) -> Term:
        """A term of this type over these variables."""
        if fuel <= 0:
            return self.small(ty, scope)
        ways: list[Callable[[], Term]] = [
            lambda: self.made(ty, scope, fuel),
            lambda: self.made(ty, scope, fuel),
            lambda: self.let(ty, scope, fuel),
            lambda: self.let(ty, scope, fuel),
            lambda: self.call(ty, scope, fuel),
            lambda: self.part(ty, scope, fuel),
            lambda: self.match(ty, scope, fuel),
        ]
        for giver in _givers(ty, scope):
            ways.append(partial(self.applied, ty, giver, scope, fuel))
        return self.random.choice(ways)()

    def small(self, ty: Type, scope: tuple[Var, ...]) -> Term:
        """A variable, or the least that has the type."""
        found = [v for v in scope if v.type == ty]
        if found and self.random.random() < 0.8:
            return Ref(self.random.choice(found))
        return self.made(ty, scope, 0)

    def made(self, ty: Type, scope: tuple[Var, ...], fuel: int) -> Term:
        """What the type's own constructor, or an operation, makes."""
        match ty:
            case Fun((param,), (result,)):
                var = self.variable(param)
                return Lam(var, self.term(result, (*scope, var), fuel - 1))
            case Product((first, second)):
                share = self.random.randint(0, fuel)
                one = self.term(first, scope, share - 1)
                return pair(one, self.term(second, scope, fuel - share - 1))
            case Product():
                return unit()
            case Sum():
                index = self.random.randrange(2)
                held = self.term(ty.payloads[index], scope, fuel - 1)
                return Do(Inject(index, ty), (held,))
            case _:
                return self.number(ty, scope, fuel)

    def number(self, ty: Type, scope: tuple[Var, ...], fuel: int) -> Term:
        if ty == I64:
            return Do(Literal(self.random.randint(-2, 2)), (unit(),))
        if fuel <= 0:
            return Do(Literal(self.random.choice((0.5, -1.0, 1.5))), (unit(),))
        share = self.random.randint(0, fuel)
        a = self.term(F64, scope, share - 1)
        name = self.random.choice(("sin", "cos", "tanh", "add", "mul", "mul"))
        if name in ("sin", "cos", "tanh"):
            return _apply(name, a)
        both = pair(a, self.term(F64, scope, fuel - share - 1))
        return _apply("sin", _apply(name, both))

    def let(self, ty: Type, scope: tuple[Var, ...], fuel: int) -> Term:
        share = self.random.randint(0, fuel)
        var = self.variable(self.type(2))
        bound = self.term(var.type, scope, share - 1)
        return Let(var, bound, self.term(ty, (*scope, var), fuel - share - 1))

    def call(self, ty: Type, scope: tuple[Var, ...], fuel: int) -> Term:
        """A call of a function that is made for it."""
        share = self.random.randint(0, fuel)
        param = self.type(1)
        called = self.term(function(param, ty), scope, share - 1)
        return Call(called, self.term(param, scope, fuel - share - 1))

    def applied(self, ty: Type, giver: Term, scope: tuple[Var, ...], fuel: int) -> Term:
        """What a variable gives if it is called until it gives this type."""
        found = _type_of_path(giver)
        while found != ty:
            assert isinstance(found, Fun)
            arg = self.term(found.params[0], scope, self.random.randint(0, fuel // 2))
            giver, found = Call(giver, arg), found.results[0]
        return giver

    def part(self, ty: Type, scope: tuple[Var, ...], fuel: int) -> Term:
        other = self.type(1)
        if self.random.random() < 0.5:
            return fst(self.term(Product((ty, other)), scope, fuel - 1))
        return snd(self.term(Product((other, ty)), scope, fuel - 1))

    def match(self, ty: Type, scope: tuple[Var, ...], fuel: int) -> Term:
        share = fuel // 3
        arg, payloads = self.subject(scope, share)
        branches = []
        for payload in payloads:
            var = self.variable(payload)
            branches.append(Lam(var, self.term(ty, (*scope, var), share - 1)))
        return Match(arg, *branches)

    def subject(
        self, scope: tuple[Var, ...], fuel: int
    ) -> tuple[Term, tuple[Type, ...]]:
        """What to branch on: the comparison of two integers, or a sum."""
        if self.random.random() < 0.5:
            numbers = (self.small(I64, scope) for _ in range(2))
            return _apply("ilt", pair(*numbers)), TRUTH.payloads
        sums = [v for v in scope if isinstance(v.type, Sum)]
        if sums and self.random.random() < 0.5:
            var = self.random.choice(sums)
            assert isinstance(var.type, Sum)
            return Ref(var), var.type.payloads
        ty = Sum((("left", self.type(1)), ("right", self.type(1))))
        return self.term(ty, scope, fuel - 1), ty.payloads

    def variable(self, ty: Type) -> Var:
        self._names += 1
        return Var(f"v{self._names}", ty)

    def type(self, depth: int) -> Type:
        """A random type: functions of functions at most `depth` deep."""
        simple = (F64, F64, F64, I64, PAIR, CHOICE, UNIT)
        if depth == 0 or self.random.random() < 0.3:
            return self.random.choice(simple)
        one, other = self.type(depth - 1), self.type(depth - 1)
        return self.random.choice(
            (
                function(one, other),
                function(one, F64),
                function(F64, other),
                Product((one, other)),
                Sum((("left", one), ("right", other))),
            )
        )


def _apply(name: str, arg: Term) -> Term:
    return Do(Primitive(PRIMS[name]), (arg,))


def _givers(ty: Type, scope: tuple[Var, ...]) -> list[Term]:
    """Variables and their parts that give this type when they are called."""
    found: list[Term] = []
    for var in scope:
        match var.type:
            case Product((_, _)):
                found += [
                    t
                    for t in (fst(Ref(var)), snd(Ref(var)))
                    if _gives(_type_of_path(t), ty)
                ]
            case _:
                if _gives(var.type, ty):
                    found.append(Ref(var))
    return found


def _gives(source: Type, ty: Type) -> bool:
    """Whether calls of a function lead to this type."""
    while isinstance(source, Fun):
        (source,) = source.results
        if source == ty:
            return True
    return False


def _type_of_path(term: Term) -> Type:
    match term:
        case Ref(var):
            return var.type
        case Do(op, (Ref(Var(type=Product(fields))),)):
            return fields[getattr(op, "index")]  # noqa: B009
        case _:
            raise AssertionError(term)


# What is needed of programs: cotangents of their values, and what is in them.


def parts(ty: Type, value: Any) -> Iterator[tuple[Type, Any]]:
    """The components of a value, or what its constructor holds."""
    match ty:
        case Product((first, second)):
            yield from ((first, value[0]), (second, value[1]))
        case Sum():
            yield ty.payloads[value.index], value.value


def cotangent(random: Random, ty: Type, value: Any) -> Any:
    """A random cotangent of a value, without zeros of pairs or sums."""
    held = [cotangent(random, *part) for part in parts(ty, value)]
    match ty:
        case Product((_, _)):
            return tuple(held)
        case Sum():
            return Injected(value.index, held[0])
        case _:
            return random.uniform(-1, 1) if ty == F64 else ()


def subterms(term: Term, kind: type[Term]) -> list[Term]:
    """All subterms of one kind, in which a branch is no function."""
    found: list[Term] = []
    pending = [term]
    while pending:
        here = pending.pop()
        if isinstance(here, kind):
            found.append(here)
        match here:
            case Let(_, bound, body):
                pending += (bound, body)
            case Lam(_, body):
                pending.append(body)
            case Match(arg, left, right):
                pending += (arg, left.body, right.body)
            case Call(function, arg):
                pending += (function, arg)
            case Do(_, args):
                pending += args
            case Ref():
                pass
    return found


def most_captured(term: Term) -> int:
    """The largest number of variables that a function captures, or 1."""
    return max([1, *[len(free_variables(f)) for f in subterms(term, Lam)]])


# Families of programs, of one number.


def nested(n: int) -> Program:
    """tₙ of §9: n - 1 identities, each applied in the body of the next."""
    variables = [Var(f"x{k}", F64) for k in range(n)]
    term: Term = Ref(variables[0])
    for var, outer in pairwise(variables):
        term = Call(Lam(var, term), Ref(outer))
    return Program((variables[-1],), term, (2.0,))


def named(n: int) -> Program:
    """The same, with a let for each function before it is called."""
    variables = [Var(f"x{k}", F64) for k in range(n)]
    term: Term = Ref(variables[0])
    for var, outer in pairwise(variables):
        f = Var("f", function(F64, F64))
        term = Let(f, Lam(var, term), Call(Ref(f), Ref(outer)))
    return Program((variables[-1],), term, (2.0,))


def chain(n: int) -> Program:
    """let f₁ = λx. sin x in let f₂ = λx. f₁ x in … fₙ x: each captures the last."""
    scope = (Var("x", F64),)
    functions = [Var(f"f{k}", function(F64, F64)) for k in range(n)]
    term: Term = Call(Ref(functions[-1]), Ref(scope[0]))
    for k in reversed(range(n)):
        x = Var("x", F64)
        body = Call(Ref(functions[k - 1]), Ref(x)) if k else _apply("sin", Ref(x))
        term = Let(functions[k], Lam(x, body), term)
    return Program(scope, term, (2.0,))


def wide(n: int) -> Program:
    """n calls of a function that captures n variables, and uses one of them."""
    scope = tuple(Var(f"x{k}", F64) for k in range(n))
    ty = Sum((("left", F64), ("right", F64)))
    f, choice = Var("f", function(ty, F64)), Var("c", ty)
    one, all_of_them = Var("y", F64), Var("y", F64)
    total: Term = Ref(all_of_them)
    for var in scope:
        total = _apply("add", pair(total, Ref(var)))
    first = Lam(one, _apply("mul", pair(Ref(one), Ref(scope[0]))))
    body = Match(Ref(choice), first, Lam(all_of_them, total))
    term: Term = Ref(scope[-1])
    for _ in range(n):
        term = Call(Ref(f), Do(Inject(0, ty), (term,)))
    return Program(scope, Let(f, Lam(choice, body), term), (0.9,) * n)
