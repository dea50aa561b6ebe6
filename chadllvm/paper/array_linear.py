"""The linear types of arrays (§7): bags, and dense arrays in the naive form.

In the sparse form D[Array τ]₂ = Bag (ℤ × D[τ]₂): zero, a contribution to one element,
and the sum of two are made in one step each. In the naive form of §2 it is an array of
D[τ]₂. Its zero cannot know how long it should be, as that of a sum cannot know the
constructor: so it has no elements, and what is missing at the end of an array is zero.
A contribution to one element is an array that goes up to that element; a sum is as long
as the longer one of the two.

Boxes are references to arrays: their cotangents are those of the arrays.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from chadllvm.ir.types import Array, Box, Type
from chadllvm.paper import bag
from chadllvm.paper.elements import element
from chadllvm.paper.linear import Linear, Monoid, Pay, free
from chadllvm.paper.naive import Dense
from chadllvm.paper.sparse import Sparse
from chadllvm.support.diagnostic import InternalError


class ArrayCotangents(Monoid):
    """An implementation of D[Array τ]₂; `ty` is Array τ, or a box of one."""

    @abstractmethod
    def one(self, linear: Linear, index: int, d: Any, ty: Type, pay: Pay) -> Any:
        """A contribution to one element."""

    @abstractmethod
    def many(
        self,
        linear: Linear,
        cotangents: Sequence[Any],
        indices: Sequence[int] | None,
        ty: Type,
        pay: Pay,
    ) -> Any:
        """Contributions to the elements at these indices, or to all in order."""

    @abstractmethod
    def collect(self, d: Any, pay: Pay) -> list[tuple[int, Any]]:
        """All contributions, each with its index."""

    @abstractmethod
    def taken(
        self, linear: Linear, d: Any, index: int, ty: Type, pay: Pay
    ) -> tuple[Any, Any]:
        """The cotangent with zero for an element, and that element's."""

    def numbers(self, linear: Linear, d: Any, ty: Type) -> list[float]:
        """The numbers of all elements up to the last that anything was added to."""
        pairs = self.collect(d, free)
        held = element(content(ty))
        count = max([index for index, _ in pairs], default=-1) + 1
        zeros = [linear.zero(held, free) for _ in range(count)]
        found: list[float] = []
        for cotangent in scattered(linear, zeros, pairs, held, free):
            found += linear.numbers(cotangent, held)
        return found


class Bags(ArrayCotangents):
    """Bag (ℤ × D[τ]₂)"""

    def zero(self, linear: Linear, ty: Type, pay: Pay) -> bag.Bag:
        return bag.EMPTY

    def one(self, linear: Linear, index: int, d: Any, ty: Type, pay: Pay) -> bag.Bag:
        return bag.BOne(index, d)

    def many(
        self,
        linear: Linear,
        cotangents: Sequence[Any],
        indices: Sequence[int] | None,
        ty: Type,
        pay: Pay,
    ) -> bag.Bag:
        return bag.of_array(cotangents, indices, pay)

    def plus(
        self, linear: Linear, a: bag.Bag, b: bag.Bag, ty: Type, pay: Pay
    ) -> bag.Bag:
        return bag.plus(a, b, pay)

    def collect(self, d: bag.Bag, pay: Pay) -> list[tuple[int, Any]]:
        return bag.collect(d, pay)

    def taken(
        self, linear: Linear, d: bag.Bag, index: int, ty: Type, pay: Pay
    ) -> tuple[bag.Bag, Any]:
        held = element(content(ty))

        def combine(key: int, new: Any, old: Any) -> Any:
            return linear.plus(old, new, held, pay)

        rest, found = bag.taken(d, index, combine, pay)
        return rest, linear.zero(held, pay) if found is None else found[0]

    def size(self, linear: Linear, d: bag.Bag, ty: Type) -> int:
        held = element(content(ty))
        return bag.size(d, lambda one: linear.size(one, held))


Cotangents = tuple[Any, ...]


class DenseArrays(ArrayCotangents):
    """Array D[τ]₂, with zeros beyond its end."""

    def zero(self, linear: Linear, ty: Type, pay: Pay) -> Cotangents:
        return ()

    def one(self, linear: Linear, index: int, d: Any, ty: Type, pay: Pay) -> Cotangents:
        pay(index)
        held = element(content(ty))
        return (*[linear.zero(held, pay) for _ in range(index)], d)

    def many(
        self,
        linear: Linear,
        cotangents: Sequence[Any],
        indices: Sequence[int] | None,
        ty: Type,
        pay: Pay,
    ) -> Cotangents:
        pay(len(cotangents))
        if indices is None:
            return tuple(cotangents)
        held = element(content(ty))
        count = max(indices, default=-1) + 1
        base = [linear.zero(held, pay) for _ in range(count)]
        pairs = list(zip(indices, cotangents, strict=True))
        return tuple(scattered(linear, base, pairs, held, pay))

    def plus(
        self, linear: Linear, a: Cotangents, b: Cotangents, ty: Type, pay: Pay
    ) -> Cotangents:
        pay(1 + abs(len(a) - len(b)))
        held, shared = element(content(ty)), min(len(a), len(b))
        both = zip(a[:shared], b[:shared], strict=True)
        sums = [linear.plus(x, y, held, pay) for x, y in both]
        return (*sums, *a[shared:], *b[shared:])

    def collect(self, d: Cotangents, pay: Pay) -> list[tuple[int, Any]]:
        pay(1 + len(d))
        return list(enumerate(d))

    def taken(
        self, linear: Linear, d: Cotangents, index: int, ty: Type, pay: Pay
    ) -> tuple[Cotangents, Any]:
        pay(len(d))
        zero = linear.zero(element(content(ty)), pay)
        if index >= len(d):
            return d, zero
        return (*d[:index], zero, *d[index + 1 :]), d[index]

    def size(self, linear: Linear, d: Cotangents, ty: Type) -> int:
        held = element(content(ty))
        return 1 + sum([linear.size(one, held) for one in d])


def content(ty: Type) -> Array:
    """The array type, of a box its content."""
    match ty:
        case Array():
            return ty
        case Box(inner):
            return inner
        case _:
            raise InternalError(f"reference: {ty} is not an array")


def sparse_arrays() -> Sparse:
    """The sparse linear types, those of arrays too."""
    bags = Bags()
    return Sparse({Array: bags, Box: bags})


def dense_arrays() -> Dense:
    """The naive linear types, those of arrays too."""
    arrays = DenseArrays()
    return Dense({Array: arrays, Box: arrays})


def array_cotangents(linear: Linear, ty: Type) -> ArrayCotangents:
    """How D[ty]₂ looks like for an array type."""
    found = linear.other(ty)
    if not isinstance(found, ArrayCotangents):
        raise InternalError("reference: linear types without those of arrays")
    return found


def scattered(
    linear: Linear,
    base: Sequence[Any],
    pairs: Sequence[tuple[int, Any]],
    ty: Type,
    pay: Pay,
) -> list[Any]:
    """The base with the contributions added: linear in both, and the sums."""
    found = list(base)
    pay(len(found) + len(pairs))
    for index, cotangent in pairs:
        found[index] = linear.plus(found[index], cotangent, ty, pay)
    return found
