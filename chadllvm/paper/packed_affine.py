"""Cotangents of packed values that count how often they are used: see `affine`.

pack consumes what is packed, cast the packed cotangent. Cotangents of closed functions
hold nothing, but they count too.
"""

from __future__ import annotations

from typing import Any

from chadllvm.ir.types import Type
from chadllvm.paper.affine import Counted, Counting
from chadllvm.paper.function_types import Exists
from chadllvm.paper.linear import Linear, Monoid, Pay
from chadllvm.paper.packed import CLOSED, PackedCotangents
from chadllvm.paper.sparse import Sparse


class CountingFunctions(Counting):
    """Cotangents that count, those of closures too."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Sparse(CLOSED)

    def consumed(self, cotangent: Counted) -> Any:
        """The cotangent, for the last time."""
        return self._consume(cotangent)

    def other(self, ty: Type) -> Monoid | None:
        return CountedPacks(self) if isinstance(ty, Exists) else None


class CountedPacks(PackedCotangents):
    """Packed cotangents that count; what is packed is plain."""

    def __init__(self, counting: CountingFunctions) -> None:
        self.counting = counting

    def pack(self, tag: Type, held: Counted) -> Counted:
        return Counted(super().pack(tag, self.counting.consumed(held)))

    def cast(self, linear: Linear, d: Counted, tag: Type, ty: Type, pay: Pay) -> Any:
        whole = self.counting.consumed(d)
        return Counted(super().cast(self.counting.inner, whole, tag, ty, pay))

    def zero(self, linear: Linear, ty: Type, pay: Pay) -> Counted:
        return Counted(None)

    def plus(self, linear: Linear, a: Counted, b: Counted, ty: Type, pay: Pay) -> Any:
        return linear.plus(a, b, ty, pay)
