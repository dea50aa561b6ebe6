"""Cotangents that count how often they are used: at most once, says §4.3.

The API of the linear types consumes its arguments: lpair, linl and linr put them into a
larger cotangent, the casts and D op^t take them apart, and + adds both, so that `one x
d` consumes d and what x's cell held. lfst and lsnd consume their half of a pair only,
and a half may be consumed once too. Every result is a new cotangent, which nothing has
consumed yet; to name, pass, capture or drop a cotangent is no consumption.

That is why an addition can be paid for by what it consumes: nobody asks for it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from chadllvm.ir.types import Product, Type
from chadllvm.paper.linear import Linear, Pay
from chadllvm.paper.sparse import Sparse


@dataclass(eq=False, slots=True)
class Counted:
    """A sparse cotangent, and how often each of its halves has been consumed.

    What is not a pair has two halves too, which are always consumed together.
    """

    value: Any
    uses: list[int] = field(default_factory=lambda: [0, 0])


class Counting(Linear):
    """Sparse cotangents that count; `most` is how often one was consumed at most."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Sparse()
        self.most = 0

    def counted(self, value: Any) -> Counted:
        """A sparse cotangent as one that counts."""
        return Counted(value)

    def _consume(self, cotangent: Counted, halves: tuple[int, ...] = (0, 1)) -> Any:
        for half in halves:
            cotangent.uses[half] += 1
            self.most = max(self.most, cotangent.uses[half])
        return cotangent.value

    def zero(self, ty: Type, pay: Pay) -> Any:
        return Counted(self.inner.zero(ty, pay))

    def part(self, pair: Any, index: int, ty: Type, pay: Pay) -> Any:
        whole = self._consume(pair, (index,))
        return Counted(self.inner.part(whole, index, ty, pay))

    def plus(self, a: Any, b: Any, ty: Type, pay: Pay) -> Any:
        return Counted(self.inner.plus(self._consume(a), self._consume(b), ty, pay))

    def plus_pair(self, a: Any, b: Any, ty: Product, pay: Pay) -> Any:
        return self.plus(a, b, ty, pay)

    def unit(self) -> Any:
        return Counted(())

    def pair(self, first: Any, second: Any) -> Any:
        return Counted((self._consume(first), self._consume(second)))

    def inject(self, index: int, held: Any) -> Any:
        return Counted(self.inner.inject(index, self._consume(held)))

    def number(self, cotangent: Any) -> float:
        found: float = self._consume(cotangent)
        return found

    def of_number(self, number: float) -> Any:
        return Counted(number)

    def cast(self, cotangent: Any, index: int, ty: Type, pay: Pay) -> Any:
        return Counted(self.inner.cast(self._consume(cotangent), index, ty, pay))
