"""Polynomials with integer coefficients over integer variables.

A `Form` stands for the value of an integer: mathematically, or modulo 2^64, which is
how the machine computes it. Most forms are affine; products of variables occur where a
user computes the position in a flat array, as in `i * n + j`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from chadllvm.ir.term import Var

# A product of variables; the empty one is 1.
Monomial = tuple[Var, ...]

# Larger forms are not worth keeping: the variable itself stands for them.
MAX_TERMS = 8
MAX_DEGREE = 3


@dataclass(frozen=True, eq=False)
class Form:
    """The sum of coefficient times monomial; no coefficient is 0."""

    terms: Mapping[Monomial, int]

    @classmethod
    def of(cls, pairs: Iterable[tuple[Monomial, int]]) -> Form:
        """The sum of these terms."""
        terms: dict[Monomial, int] = {}
        for monomial, coefficient in pairs:
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return cls({m: c for m, c in terms.items() if c})

    @classmethod
    def constant(cls, value: int) -> Form:
        return cls({(): value} if value else {})

    @classmethod
    def variable(cls, var: Var) -> Form:
        return cls({(var,): 1})

    def __add__(self, other: Form) -> Form:
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total = terms.get(monomial, 0) + coefficient
            if total:
                terms[monomial] = total
            else:
                del terms[monomial]
        return Form(terms)

    def __sub__(self, other: Form) -> Form:
        return self + other.times(-1)

    def __mul__(self, other: Form) -> Form:
        return Form.of(
            (_sorted((*a, *b)), c * d)
            for a, c in self.terms.items()
            for b, d in other.terms.items()
        )

    def plus(self, value: int) -> Form:
        return self + Form.constant(value)

    def times(self, factor: int) -> Form:
        return Form({m: c * factor for m, c in self.terms.items()} if factor else {})

    @property
    def is_small(self) -> bool:
        degrees = map(len, self.terms)
        return len(self.terms) <= MAX_TERMS and max(degrees, default=0) <= MAX_DEGREE

    @property
    def number(self) -> int | None:
        """The value, if it is constant."""
        return None if any(self.terms) else self.terms.get((), 0)

    @property
    def key(self) -> frozenset[tuple[Monomial, int]]:
        """Equal for equal forms."""
        return frozenset(self.terms.items())

    def variables(self) -> Iterator[Var]:
        """The variables that occur, each at least once."""
        for monomial in self.terms:
            yield from monomial

    def split(self, var: Var) -> tuple[Form, Form] | None:
        """(s, r) with self = s var + r and no var in either; None if there is none."""
        slope: dict[Monomial, int] = {}
        rest: dict[Monomial, int] = {}
        for monomial, coefficient in self.terms.items():
            if var not in monomial:
                rest[monomial] = coefficient
                continue
            others = tuple([v for v in monomial if v is not var])
            if len(others) != len(monomial) - 1:
                return None
            slope[others] = coefficient
        return Form(slope), Form(rest)


def _sorted(monomial: Monomial) -> Monomial:
    return tuple(sorted(monomial, key=lambda v: (v.name, id(v))))
