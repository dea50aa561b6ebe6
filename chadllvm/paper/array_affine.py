"""Cotangents of arrays that count how often they are used: see `affine`.

BOne and BArray consume the cotangents that are put into them, + both bags, `collect`
and `take` the bag. What comes out of a bag is a new cotangent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chadllvm.ir.types import Array, Box, Type
from chadllvm.paper.affine import Counted, Counting
from chadllvm.paper.array_linear import ArrayCotangents, Bags, sparse_arrays
from chadllvm.paper.linear import Linear, Monoid, Pay


class CountingArrays(Counting):
    """Cotangents that count, those of arrays too."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = sparse_arrays()

    def consumed(self, cotangent: Counted) -> Any:
        """The cotangent, for the last time."""
        return self._consume(cotangent)

    def other(self, ty: Type) -> Monoid | None:
        return CountedBags(self) if isinstance(ty, Array | Box) else None


class CountedBags(ArrayCotangents):
    """Bags that count; the cotangents inside are plain."""

    def __init__(self, counting: CountingArrays) -> None:
        self.counting = counting
        self.inner = Bags()

    def zero(self, linear: Linear, ty: Type, pay: Pay) -> Counted:
        return Counted(self.inner.zero(self.counting.inner, ty, pay))

    def plus(self, linear: Linear, a: Counted, b: Counted, ty: Type, pay: Pay) -> Any:
        return linear.plus(a, b, ty, pay)

    def one(self, linear: Linear, index: int, d: Counted, ty: Type, pay: Pay) -> Any:
        held = self.counting.consumed(d)
        return Counted(self.inner.one(self.counting.inner, index, held, ty, pay))

    def many(
        self,
        linear: Linear,
        cotangents: Sequence[Counted],
        indices: Sequence[int] | None,
        ty: Type,
        pay: Pay,
    ) -> Any:
        held = [self.counting.consumed(d) for d in cotangents]
        return Counted(self.inner.many(self.counting.inner, held, indices, ty, pay))

    def collect(self, d: Counted, pay: Pay) -> list[tuple[int, Any]]:
        pairs = self.inner.collect(self.counting.consumed(d), pay)
        return [(index, Counted(one)) for index, one in pairs]

    def taken(
        self, linear: Linear, d: Counted, index: int, ty: Type, pay: Pay
    ) -> tuple[Any, Any]:
        whole = self.counting.consumed(d)
        rest, one = self.inner.taken(self.counting.inner, whole, index, ty, pay)
        return Counted(rest), Counted(one)

    def size(self, linear: Linear, d: Counted, ty: Type) -> int:
        return self.inner.size(self.counting.inner, d.value, ty)
