"""The language of the paper (Fig. 1), with what its derivatives add to it (Fig. 3).

Types are those of the core with binary products and sums only; `bool` is 1 + 1. Six
nodes bind, call and branch. All else is strict and is `Do`, an operation of arguments:
constructors and projections, literals, primitives, the API of the linear types, and
that of environments or their monad.

Unlike a block of the core, a term says which results have a name: the cost model
charges for variables and lets, which the derivative's intermediate results are not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

from chadllvm.ir.op import Prim
from chadllvm.ir.term import Var, node
from chadllvm.ir.types import (
    BOOL,
    F64,
    I64,
    UNIT,
    Acc,
    Array,
    Box,
    Fun,
    Product,
    Scalar,
    Sum,
    Type,
)
from chadllvm.ir.value import Injected
from chadllvm.paper.types import (
    IllTyped,
    Scope,
    arrow,
    expect,
    is_function,
    is_product,
)
from chadllvm.support.diagnostic import InternalError

if TYPE_CHECKING:
    from chadllvm.paper.machine import Machine
    from chadllvm.paper.rules import Rules

TRUTH = Sum((("false", UNIT), ("true", UNIT)))


class Operation(ABC):
    """What `Do` does: its typing rule, its meaning, its derivative.

    `steps`: what it costs besides its arguments and what `run` pays.
    """

    steps = 1

    @property
    def rule(self) -> str:
        """The name of the typing rule."""
        return type(self).__name__

    @abstractmethod
    def run(self, machine: Machine, *args: Any) -> Any:
        """The result of the operation on the values of its arguments.

        An argument that is a function is a closure, which `machine.call` runs.
        """

    @abstractmethod
    def type_of(self, args: Sequence[Type]) -> Type:
        """The type of the result. `IllTyped` if the arguments are not of its rule."""

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """D[t] of an application; those of Fig. 1 are in `rules`."""
        raise InternalError(f"reference: {self.rule} in the source")

    def takes(self, args: Sequence[Type], *expected: Type) -> None:
        """Refuses arguments that are not of these types."""
        if tuple(args) != expected:
            want, found = (", ".join(map(str, t)) for t in (expected, args))
            raise IllTyped(f"{self.rule}: expected ({want}), found ({found})")

    def counts(self, args: Sequence[Type], count: int) -> None:
        """Refuses another number of arguments."""
        expect(f"{self.rule}, arguments", count, len(args))


@node
class Ref:
    """The value of a variable."""

    var: Var


@node
class Let:
    """The value of `body`, where the variable is `bound`."""

    var: Var
    bound: Term
    body: Term


@node
class Lam:
    """A function of one variable."""

    var: Var
    body: Term


@node
class Call:
    """A function applied to an argument."""

    function: Term
    arg: Term


@node
class Match:
    """The branch of a sum's constructor; its variable is what the constructor holds."""

    arg: Term
    left: Lam
    right: Lam


@node
class Do:
    """An operation applied to its arguments, which are evaluated in order."""

    op: Operation
    args: tuple[Term, ...] = ()


Term = Ref | Let | Lam | Call | Match | Do


@dataclass(frozen=True)
class MakeUnit(Operation):
    """⟨⟩"""

    def run(self, machine: Machine, *args: Any) -> Any:
        return ()

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args)
        return UNIT


@dataclass(frozen=True)
class MakePair(Operation):
    """⟨s, t⟩"""

    def run(self, machine: Machine, *args: Any) -> Any:
        return args

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        return Product(tuple(args))


@dataclass(frozen=True)
class Part(Operation):
    """fst t (index 0) or snd t (index 1)."""

    index: int

    def run(self, machine: Machine, *args: Any) -> Any:
        return args[0][self.index]

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        return is_product(self.rule, args[0])[self.index]


@dataclass(frozen=True)
class Inject(Operation):
    """inl t (index 0) or inr t (index 1), of a sum type."""

    index: int
    type: Sum

    def run(self, machine: Machine, *args: Any) -> Any:
        return Injected(self.index, args[0])

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, self.type.payloads[self.index])
        return self.type


@dataclass(frozen=True)
class Literal(Operation):
    """A number, as an operation of unit."""

    value: float | int

    def run(self, machine: Machine, *args: Any) -> Any:
        return self.value

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, UNIT)
        return F64 if isinstance(self.value, float) else I64


@dataclass(frozen=True)
class Primitive(Operation):
    """A primitive of the core; its arguments are one nested pair."""

    prim: Prim

    def run(self, machine: Machine, *args: Any) -> Any:
        values = components(args[0], len(self.prim.params))
        pairs = zip(values, self.prim.params, strict=True)
        result = self.prim.meaning(
            *(bool(v.index) if p == BOOL else v for v, p in pairs)
        )
        return Injected(int(result), ()) if self.prim.result == BOOL else result

    @property
    def rule(self) -> str:
        return self.prim.name

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, binary(Product(self.prim.params)))
        return binary(self.prim.result)


def unit() -> Term:
    return Do(MakeUnit())


def pair(first: Term, second: Term) -> Term:
    return Do(MakePair(), (first, second))


def fst(arg: Term) -> Term:
    return Do(Part(0), (arg,))


def snd(arg: Term) -> Term:
    return Do(Part(1), (arg,))


def function(name: str, ty: Type, body: Callable[[Term], Term]) -> Lam:
    """The function of a fresh variable that `body` makes."""
    var = Var(name, ty)
    return Lam(var, body(Ref(var)))


def pairs(terms: list[Term]) -> Term:
    """⟨t1, …, tn⟩ = ⟨⟨t1, t2⟩, …, tn⟩"""
    if not terms:
        return unit()
    first, *rest = terms
    for term in rest:
        first = pair(first, term)
    return first


def path(whole: Term, index: int, count: int) -> Term:
    """Component `index` of `count` components."""
    for _ in range(count - 1 - max(index, 1)):
        whole = fst(whole)
    if count > 1:
        whole = fst(whole) if index == 0 else snd(whole)
    return whole


def components(value: Any, count: int) -> list[Any]:
    """The components of the value of `pairs`."""
    found: list[Any] = []
    for _ in range(count - 1):
        value, last = value
        found.append(last)
    return [value, *reversed(found)] if count else []


def binary(ty: Type) -> Type:
    """The type with binary products and sums: ((a, b), c) and a + (b + c)."""
    match ty:
        case Scalar():
            return TRUTH if ty == BOOL else ty
        case Product(()):
            return UNIT
        case Product(fields):
            first, *rest = map(binary, fields)
            for field in rest:
                first = Product((first, field))
            return first
        case Sum():
            *others, last = map(binary, ty.payloads)
            for payload in reversed(others):
                last = Sum((("left", payload), ("right", last)))
            return last
        case Array(elem, rank):
            return Array(binary(elem), rank)
        case Box(Array(elem, rank)):
            return Box(Array(binary(elem), rank))
        case Fun(params, results):
            return arrow(binary(Product(params)), binary(Product(results)))
        case Acc():
            raise InternalError(f"reference: {ty} is not in the language")
        case _:
            assert_never(ty)


class Typing:
    """The types of terms that are known to be well typed, each found once."""

    def __init__(self) -> None:
        self._types: dict[Term, Type] = {}

    def of(self, term: Term) -> Type:
        found = self._types.get(term)
        if found is None:
            found = self._types[term] = self._find(term)
        return found

    def _find(self, term: Term) -> Type:
        match term:
            case Ref(var):
                return var.type
            case Let(_, _, body):
                return self.of(body)
            case Match(_, left, _):
                return self.of(left.body)
            case Do(op, args):
                return op.type_of([self.of(arg) for arg in args])
            case Lam(var, body):
                return arrow(var.type, self.of(body))
            case Call(function, _):
                return is_function("Call", self.of(function))[1]
            case _:
                assert_never(term)


def type_of(term: Term) -> Type:
    """The type of a term that is known to be well typed."""
    return Typing().of(term)
