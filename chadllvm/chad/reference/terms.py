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
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

from chadllvm.diagnostic import InternalError
from chadllvm.ir.op import Prim
from chadllvm.ir.term import Var, node
from chadllvm.ir.types import BOOL, F64, I64, UNIT, Product, Scalar, Sum, Type
from chadllvm.ir.value import Injected

if TYPE_CHECKING:
    from chadllvm.chad.reference.machine import Machine

TRUTH = Sum((("false", UNIT), ("true", UNIT)))


class Operation(ABC):
    """What `Do` does: `run` gives the result, and pays for more than one step."""

    @abstractmethod
    def run(self, machine: Machine, *args: Any) -> Any:
        """The result of the operation on the values of its arguments."""


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


@dataclass(frozen=True)
class MakePair(Operation):
    """⟨s, t⟩"""

    def run(self, machine: Machine, *args: Any) -> Any:
        return args


@dataclass(frozen=True)
class Part(Operation):
    """fst t (index 0) or snd t (index 1)."""

    index: int

    def run(self, machine: Machine, *args: Any) -> Any:
        return args[0][self.index]


@dataclass(frozen=True)
class Inject(Operation):
    """inl t (index 0) or inr t (index 1), of a sum type."""

    index: int
    type: Sum

    def run(self, machine: Machine, *args: Any) -> Any:
        return Injected(self.index, args[0])


@dataclass(frozen=True)
class Literal(Operation):
    """A number, as an operation of unit."""

    value: float | int

    def run(self, machine: Machine, *args: Any) -> Any:
        return self.value


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
        case _:
            raise InternalError(f"reference: {ty} is not in the first-order language")


def type_of(term: Term) -> Type:
    """The type of a term of the source."""
    match term:
        case Ref(var):
            return var.type
        case Let(_, _, body):
            return type_of(body)
        case Match(_, left, _):
            return type_of(left.body)
        case Do(op, args):
            return _type_of_operation(op, args)
        case Lam() | Call():
            raise InternalError("reference: a function in the source")
        case _:
            assert_never(term)


def _type_of_operation(op: Operation, args: tuple[Term, ...]) -> Type:
    match op:
        case MakeUnit():
            return UNIT
        case MakePair():
            return Product(tuple(map(type_of, args)))
        case Part(index):
            whole = type_of(args[0])
            assert isinstance(whole, Product)
            return whole.fields[index]
        case Inject(_, ty):
            return ty
        case Literal(value):
            return F64 if isinstance(value, float) else I64
        case Primitive(prim):
            return binary(prim.result)
        case _:
            raise InternalError(f"reference: {op} in the source")
