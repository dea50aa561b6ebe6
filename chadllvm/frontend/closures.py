"""Function values: the closure conversion of the source's functions, by lambda sets.

A function value is what it captures. Its type says which function it is: a product of
the captures' types, named by the function. Where several functions may arrive, the type
is the sum of theirs, the *lambda set*, and a call is a case:

    g = f if c else h          g = if c { inject f (captures) } else { inject h (…) }
    g(x)                 →     case g { f: @f(captures, x)  h: @h(captures, x) }

So no function is left in the core, and what follows knows products and sums only. That
closure conversion comes before CHAD is what keeps higher-order programs linear (paper,
§9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TypeGuard

from chadllvm.errors import closure_errors
from chadllvm.ir.build import Builder
from chadllvm.ir.record import ObjectNames
from chadllvm.ir.term import Case, Inject, Lambda, Lit, Operand, Var
from chadllvm.ir.types import (
    Array,
    Product,
    Sum,
    Type,
    has_float,
    has_float_in_nodes,
    is_set,
)
from chadllvm.support.diagnostic import Span

Join = Callable[[Type, Type], Type | None]
Convert = Callable[[Builder, Operand, Type], Operand]


class Code(Protocol):
    """What tells one function from another; compared, and used as a key."""

    @property
    def title(self) -> str:
        """What messages call it."""

    def __hash__(self) -> int: ...


# What a function captures that captures nothing: arrays have elements.
NOTHING: Mapping[str, Operand] = {".": Lit(False)}


class ClosureNames(tuple[str, ...]):
    """The names of a function's captures; they know whose captures they are."""

    code: Code

    def __new__(cls, names: Iterable[str], code: Code) -> ClosureNames:
        self = super().__new__(cls, names)
        self.code = code
        return self

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ClosureNames)
            and self.code == other.code
            and tuple.__eq__(self, other)
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.code, tuple(self)))

    @property
    def title(self) -> str:
        """What messages call the function's type."""
        return f"function {self.code.title} "


def code_of(ty: Type) -> Code | None:
    """The function that values of this type are; None if they are none, or several."""
    match ty:
        case Product(names=ClosureNames() as names):
            return names.code
        case _:
            return None


def is_function(ty: Type) -> bool:
    """Whether values of this type are functions."""
    if isinstance(ty, Sum):
        return all(code_of(payload) is not None for payload in ty.payloads)
    return code_of(ty) is not None


def holds_function(ty: Type) -> bool:
    """Whether values of this type are functions, or have functions in them."""
    if is_function(ty):
        return True
    match ty:
        case Product(fields):
            return any(map(holds_function, fields))
        case Array(elem, _):
            return holds_function(elem)
        case _:
            return False


def is_tuple(ty: Type) -> TypeGuard[Product]:
    """Whether values of this type have components; a function has none to be read."""
    return isinstance(ty, Product) and not is_function(ty) and not is_set(ty)


def holds_reals(ty: Type) -> bool:
    """Whether derivatives are taken by values of this type, never by functions."""
    if isinstance(ty, Product) and isinstance(ty.names, ObjectNames):
        return False  # The fields of an object are held fixed.
    return (has_float(ty) or has_float_in_nodes(ty)) and not holds_function(ty)


def members(ty: Type) -> dict[Code, Product]:
    """The functions of a lambda set, with the types of their captures."""
    found = {}
    for payload in ty.payloads if isinstance(ty, Sum) else (ty,):
        code = code_of(payload)
        assert code is not None and isinstance(payload, Product)
        found[code] = payload
    return found


def lambda_set(found: Mapping[Code, Product]) -> Type:
    """The type of values that are one of these functions."""
    if len(found) == 1:
        (only,) = found.values()
        return only
    names = (f"{code.title}_{k}" for k, code in enumerate(found))
    return Sum(tuple(zip(names, found.values(), strict=True)))


def join_functions(first: Type, second: Type, join: Join) -> Type | None:
    """The lambda set of the functions of two; captures of the same one are joined."""
    found = members(first)
    for code, payload in members(second).items():
        joined = join(found.get(code, payload), payload)
        if not isinstance(joined, Product):
            return None
        found[code] = joined
    return lambda_set(found)


def convert_function(b: Builder, value: Operand, ty: Sum, convert: Convert) -> Operand:
    """A function as one of a lambda set that it is in."""
    if isinstance(value.type, Sum):
        branches = []
        for payload in value.type.payloads:
            param, inner = Var("captures", payload), b.child()
            block = inner.block([convert_function(inner, param, ty, convert)])
            branches.append(Lambda((param,), block))
        return b.one(Case(value, tuple(branches)))
    index = [code_of(payload) for payload in ty.payloads].index(code_of(value.type))
    return b.one(Inject(ty, index, convert(b, value, ty.payloads[index])))


# So often a function that is carried on may capture another one.
_MOST_ROUNDS = 4


def check_growth(
    span: Span, rounds: int, before: Mapping[str, Type], after: Mapping[str, Type]
) -> None:
    """Refuse a function that captures itself in each step: its type would have no end.

    Types that have one go from a variable to the next, at worst one in each round.
    """
    if rounds < _MOST_ROUNDS + len(before):
        return
    for name, ty in after.items():
        if ty != before[name] and holds_function(ty):
            raise closure_errors.grows(span, name)


def check_element_growth(span: Span, name: str, before: Type, after: Type) -> None:
    """The same for functions in a list, which are learned one after the other."""
    times = _times_inside(after, ())
    if times > _MOST_ROUNDS and times > _times_inside(before, ()):
        raise closure_errors.grows(span, name)


def _times_inside(ty: Type, around: tuple[Code, ...]) -> int:
    """How many values of one function stand inside of each other, at most."""
    match ty:
        case Product(parts):
            code = code_of(ty)
            around = around if code is None else (*around, code)
            times = 0 if code is None else around.count(code)
        case Sum(payloads=parts):
            times = 0
        case Array(elem, _):
            return _times_inside(elem, around)
        case _:
            return 0
    return max([times, *(_times_inside(part, around) for part in parts)])
