"""Sparse cotangents and environments (§4.1): zeros are elided.

D[σ × τ]₂ may be a zero (None), and an environment is a persistent balanced tree of the
cotangents that are not zero. The rules are those of §2.
"""

from __future__ import annotations

from typing import Any

from chadllvm.ir.types import Product, Sum, Type
from chadllvm.paper.linear import Linear, Pay, free
from chadllvm.paper.maps import Map, Tree, cut, entries, pop, size, union
from chadllvm.paper.naive import Environments
from chadllvm.paper.types import Scope


class Sparse(Linear):
    """D[σ × τ]₂ = 1 + D[σ]₂ × D[τ]₂: every zero takes one step."""

    def zero(self, ty: Type, pay: Pay) -> Any:
        match ty:
            case Product((_, _)) | Sum():
                return None
            case _:
                return self.zero_of_other(ty, pay)

    def part(self, pair: Any, index: int, ty: Type, pay: Pay) -> Any:
        if pair is None:
            pay(1)
            return self.zero(ty, pay)
        return pair[index]

    def cast(self, cotangent: Any, index: int, ty: Type, pay: Pay) -> Any:
        if cotangent is None:
            pay(1)
        return super().cast(cotangent, index, ty, pay)

    def plus_pair(self, a: Any, b: Any, ty: Product, pay: Pay) -> Any:
        pay(1)
        if a is None or b is None:
            return b if a is None else a
        first, second = ty.fields
        return self.plus(a[0], b[0], first, pay), self.plus(a[1], b[1], second, pay)


class Trees(Environments):
    """Env Γ is a map of the cotangents that are not zero.

    With `finding`, a step is paid for each node of a map that is visited, as App. A
    does; without, cells are found for nothing. With `magical` too, a union costs the
    size of the smaller map only, which no map can do.
    """

    def __init__(
        self, linear: Linear, finding: bool = False, magical: bool = False
    ) -> None:
        super().__init__(linear)
        self.finding = finding
        self.magical = magical

    def zero(self, scope: Scope, pay: Pay) -> Map:
        return None

    def one(self, scope: Scope, index: int, cotangent: Any, pay: Pay) -> Map:
        return Tree(index, cotangent)

    def plus(self, scope: Scope, a: Map, b: Map, pay: Pay) -> Map:
        def combine(key: int, x: Any, y: Any) -> Any:
            return self.linear.plus(x, y, scope.type_at(key), pay)

        if self.finding and self.magical:
            pay(min(size(a), size(b)))
        visit = pay if self.finding and not self.magical else free
        return union(a, b, combine, visit)

    def split(self, scope: Scope, environment: Map, pay: Pay) -> tuple[Map, Any]:
        visit = pay if self.finding else free
        last = len(scope) - 1
        _, entry, _ = cut(environment, last, visit)
        found = entry.value if entry else self._zero(scope, last)
        return pop(environment, last, visit), found

    def cotangents(self, scope: Scope, environment: Map) -> tuple[Any, ...]:
        present = dict(entries(environment))
        return tuple(
            [
                present[k] if k in present else self.linear.zero(var.type, free)
                for k, var in enumerate(scope)
            ]
        )

    def _zero(self, scope: Scope, index: int) -> Any:
        return self.linear.zero(scope.type_at(index), free)
