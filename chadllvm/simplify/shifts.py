"""What a sum of exponentials is shifted by, lest it overflow, has no derivative.

    m = fold[max](n) { i -> … }           m = fold[max](n) { i -> … }
                                          c = stop(m)
    s = fold[add](n) { i ->               s = fold[add](n) { i ->
      x = index(a, i)                       x = index(a, i)
      d = sub(x, m)                 →       d = sub(x, c)
      e = exp(d)                            e = exp(d)
      yield e }                             yield e }
    l = log(s)                            l = log(s)
    y = add(m, l)                         y = add(c, l)

The result is the same whatever m is, so that the derivative by m is zero: its parts
cancel. To leave them out is as exact, and neither the winner nor the shift's cotangent
is needed. That is proved by the *degrees* of what is computed from m: its derivative by
m is a number w (it adds w), or w times itself (it scales with w).

    exp of what adds w scales with w; log of what scales with w adds w;
    a sum adds v + w, or scales with w if both terms do; a product scales with v + w

Whatever is used otherwise without having cancelled tells that m matters. This is done
for minima, maxima and choices, which shifts are, and for the sake of CHAD alone.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isfinite

from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    If,
    Lit,
    Operand,
    Program,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import is_float
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Index
from chadllvm.simplify.walk import Walk

# The shifts that one variable is followed for: so all is linear in the program.
_MOST = 4


def shifts(program: Program) -> Program:
    """Stop the derivatives by what results do not depend on."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    degrees = _Degrees()
    degrees.block(function.body)
    found = degrees.cancelled - degrees.matter
    if not found:
        return function
    return with_body(function, _Stopping(found).block(function.body))


@dataclass(frozen=True)
class _Weight:
    """A number times powers of variables."""

    number: Fraction
    powers: frozenset[tuple[Operand, int]] = frozenset()

    def plus(self, other: _Weight) -> _Weight | None:
        if not (self.number and other.number):
            return self if self.number else other
        if self.powers != other.powers:
            return None
        return _weight(self.number + other.number, dict(self.powers))

    def times(self, other: _Weight, sign: int = 1) -> _Weight | None:
        """The product, or with the sign -1 the quotient."""
        if sign < 0 and not other.number:
            return None
        powers = dict(self.powers)
        for var, power in other.powers:
            powers[var] = powers.get(var, 0) + sign * power
        return _weight(self.number * other.number**sign, powers)

    def negated(self) -> _Weight:
        return _Weight(-self.number, self.powers)


def _weight(number: Fraction, powers: dict[Operand, int]) -> _Weight:
    if not number:
        return _NONE
    return _Weight(number, frozenset((v, p) for v, p in powers.items() if p))


_NONE = _Weight(Fraction(0))


@dataclass(frozen=True)
class _Degree:
    """The derivative by a shift: the weight, or the weight times the value."""

    weight: _Weight
    scales: bool = False

    @property
    def is_zero(self) -> bool:
        return not self.weight.number


_FREE = _Degree(_NONE)
_Rule = Callable[[Sequence[_Degree]], _Degree | None]


class _Degrees:
    """Finds the degrees of all variables by the shifts that they depend on."""

    def __init__(self) -> None:
        self.matter: set[Var] = set()
        # Those for which something that depends on them turned out not to.
        self.cancelled: set[Var] = set()
        self._degrees: dict[Operand, dict[Var, _Degree]] = {}
        # How many bodies and branches each variable is inside of, and this place is.
        self._inside: dict[Operand, int] = {}
        self._depth = 0

    def block(self, block: Block, params: Sequence[Var] = ()) -> None:
        """Go through a block; what it made may not leave it."""
        self._depth += 1
        self._inside.update(dict.fromkeys(params, self._depth))
        for binding in block.bindings:
            self._inside.update(dict.fromkeys(binding.vars, self._depth))
            self._binding(binding)
        for result in block.results:
            for shift in self._degrees.get(result, ()):
                if self._inside[shift] == self._depth:
                    self.matter.add(shift)
        self._depth -= 1

    def _binding(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Prim() as op, args):
                for var in binding.vars:
                    if is_float(var.type):
                        self._combine(var, args, partial(_of_prim, op, args))
            case Apply(Index(), (array, *_)):
                self._combine(binding.vars[0], (array,), lambda degrees: degrees[0])
            case Apply(Build() | Fold() as op, _, (body,)):
                self.block(body.body, body.params)
                self._loop(binding.vars, op, body.body.results)
            case If(_, then, orelse):
                self.block(then)
                self.block(orelse)
                pairs = zip(then.results, orelse.results, strict=True)
                for var, pair in zip(binding.vars, pairs, strict=True):
                    self._combine(var, pair, _equal)
            case expr:
                for params, inner in nested(expr):
                    self.block(inner, params)
                    self._matters(inner.results)
                self._matters(operands(expr))
        for shift in _shifts(binding):
            self._note(shift, shift, _Degree(_Weight(Fraction(1))))

    def _loop(
        self, variables: Sequence[Var], op: Build | Fold, results: Sequence[Operand]
    ) -> None:
        """Arrays have the degrees of their elements; so do sums, if those scale."""
        for k, (var, result) in enumerate(zip(variables, results, strict=False)):
            is_sum = isinstance(op, Fold) and op.kind == "add" and k == 0
            self._combine(var, (result,), _sum if is_sum else _equal)

    def _combine(self, var: Var, parts: Sequence[Operand], rule: _Rule) -> None:
        """The degrees of what is made of these parts."""
        known = [self._degrees.get(part, {}) for part in parts]
        for shift in dict.fromkeys(shift for degrees in known for shift in degrees):
            found = rule([degrees.get(shift, _FREE) for degrees in known])
            if found is None or not self._is_known(found):
                self.matter.add(shift)
            elif found.is_zero:
                self.cancelled.add(shift)
            else:
                self._note(var, shift, found)

    def _is_known(self, degree: _Degree) -> bool:
        """Whether a weight depends only on what is in scope here."""
        used = (var for var, _ in degree.weight.powers)
        return all(self._inside.get(var, 0) <= self._depth for var in used)

    def _note(self, var: Var, shift: Var, degree: _Degree) -> None:
        degrees = self._degrees.setdefault(var, {})
        if len(degrees) < _MOST:
            degrees[shift] = degree
        else:
            self.matter.add(shift)

    def _matters(self, found: Iterable[Operand]) -> None:
        for operand in found:
            self.matter.update(self._degrees.get(operand, ()))


def _shifts(binding: Binding) -> Sequence[Var]:
    """What a binding makes that sums of exponentials may be shifted by."""
    match binding.expr:
        case Apply(Fold(kind), _) if kind != "add":
            found = binding.vars[:1]
        case Apply(Prim(name="select" | "minimum" | "maximum")) | If():
            found = binding.vars
        case _:
            return ()
    return [var for var in found if is_float(var.type)]


def _of_prim(
    op: Prim, args: Sequence[Operand], degrees: Sequence[_Degree]
) -> _Degree | None:
    a, b = degrees[0], degrees[-1]
    match op.name:
        case "neg":
            return _Degree(a.weight.negated(), a.scales)
        case "exp":
            return None if a.scales else _Degree(a.weight, scales=True)
        case "log":
            return _Degree(a.weight) if a.scales else None
        case "add" | "sub":
            return _added(a, b, op.name == "sub")
        case "mul" | "div":
            return _multiplied(a, b, args, 1 if op.name == "mul" else -1)
        case "select" | "minimum" | "maximum":
            return _equal(degrees[-2:])
        case _:
            return None


def _equal(degrees: Sequence[_Degree]) -> _Degree | None:
    return degrees[0] if all(degree == degrees[0] for degree in degrees) else None


def _sum(degrees: Sequence[_Degree]) -> _Degree | None:
    return degrees[0] if degrees[0].scales else None


def _added(a: _Degree, b: _Degree, negated: bool) -> _Degree | None:
    if a.scales or b.scales:
        return _equal((a, b))
    weight = a.weight.plus(b.weight.negated() if negated else b.weight)
    return None if weight is None else _Degree(weight)


def _multiplied(
    a: _Degree, b: _Degree, args: Sequence[Operand], sign: int
) -> _Degree | None:
    """The product, or with the sign -1 the quotient."""
    weight = None
    if all(degree.scales or degree.is_zero for degree in (a, b)):
        weight = a.weight.plus(b.weight if sign > 0 else b.weight.negated())
        return None if weight is None else _Degree(weight, scales=True)
    for degree, other, factor in ((a, b, args[1]), (b, a, args[0])):
        if not degree.scales and other.is_zero and (sign > 0 or degree is a):
            weight = degree.weight.times(_factor(factor), sign)
    return None if weight is None else _Degree(weight)


def _factor(operand: Operand) -> _Weight:
    if isinstance(operand, Lit) and isfinite(operand.value):
        return _Weight(Fraction(operand.value))
    return _Weight(Fraction(1), frozenset([(operand, 1)]))


class _Stopping(Walk):
    """Has the derivatives by shifts stop."""

    def __init__(self, found: Container[Var]) -> None:
        super().__init__()
        self._found = found

    def visit(self, binding: Binding) -> None:
        self.keep(binding)
        for var in binding.vars:
            if var in self._found:
                stopped = Var(var.name, var.type)
                stop = Apply(PRIMS["stop"], (var,))
                self.keep(Binding((stopped,), stop, binding.span))
                self.replace(var, stopped)
