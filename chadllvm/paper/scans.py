"""Another derivative of fold, by scans; nested folds make it exponential (§10).

For an associative ⋆ without free variables, x₁ ⋆ … ⋆ xₙ = l ⋆ x ⋆ r for each x in it,
with l what stands before it and r what stands after it: exclusive scans from both ends
give all l and r. Then d goes back through l ⋆ x ⋆ r to x. No tree is recorded; in
exchange ⋆ is run again for the scans, and D[⋆] twice for every element. If ⋆ is a fold
itself that is twice at each level, where `Fold` pays once.

The cotangents of variables in ⋆ are no sum of what goes to the elements: it must be
closed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.types import UNIT, Array, Sum, Type
from chadllvm.ir.value import Injected
from chadllvm.paper.array_api import ArrayMany, ZipWith
from chadllvm.paper.array_effects import Sequenced
from chadllvm.paper.array_types import array, is_array
from chadllvm.paper.effects import Effects, effects_of
from chadllvm.paper.elements import Elements
from chadllvm.paper.fold import Fold
from chadllvm.paper.linear import LinearPart
from chadllvm.paper.machine import Machine
from chadllvm.paper.rules import backpropagator, let_
from chadllvm.paper.sparse import Sparse
from chadllvm.paper.terms import (
    Call,
    Do,
    Lam,
    Match,
    Operation,
    Term,
    fst,
    function,
    pair,
    snd,
)
from chadllvm.paper.types import (
    Scope,
    arrow,
    cotangent,
    expect,
    is_function,
    product,
)
from chadllvm.support.diagnostic import InternalError

if TYPE_CHECKING:
    from chadllvm.paper.rules import Rules


def maybe(ty: Type) -> Sum:
    """1 + τ"""
    return Sum((("none", UNIT), ("some", ty)))


@dataclass(frozen=True)
class ExclusiveScan(Operation):
    """scan : (τ × τ → τ) → Array τ → Array (1 + τ): what stands before each."""

    from_right: bool = False

    def run(self, machine: Machine, *args: Any) -> Any:
        function, items = args[0], list(args[1].items)
        if self.from_right:
            items.reverse()
        found, last = [], Injected(0, ())
        for item in items:
            found.append(last)
            last = Injected(1, self._next(machine, function, last, item))
        return Elements(found[::-1] if self.from_right else found)

    def _next(self, machine: Machine, function: Any, last: Injected, item: Any) -> Any:
        machine.pay(1)
        if last.index == 0:
            return item
        both = (item, last.value) if self.from_right else (last.value, item)
        return machine.call(function, both)

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        param, result = is_function(self.rule, args[0])
        expect(self.rule, product(result, result), param)
        expect(self.rule, result, is_array(self.rule, args[1]))
        return array(maybe(result))


@dataclass(frozen=True)
class FoldByScans(Fold):
    """fold (p. t) s with this derivative."""

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """let p = D[s] in ⟨fold ⋆ (fst p), λd. do dxs ← …; snd p (BArray dxs)⟩"""
        body, whole = term.args
        assert isinstance(body, Lam)
        if Machine(Sparse()).free(body):
            raise InternalError(
                "reference: a fold by scans of a function with variables"
            )
        ty = rules.type_of(term)
        whole_type = rules.type_of(whole)
        assert isinstance(whole_type, Array)

        def result(s: Term) -> Term:
            def backward(d: Term) -> Term:
                done = _elements(rules, scope, body, ty, fst(s), d)
                return effects_of(rules).then(
                    scope,
                    done,
                    array(cotangent(ty)),
                    lambda ds: Call(snd(s), Do(ArrayMany(whole_type), (ds,))),
                )

            value = Do(Fold(self.shape), (body, fst(s)))
            return pair(value, backpropagator(ty, backward))

        return rules.with_derived(scope, whole, result)


def _elements(
    rules: Rules, scope: Scope, body: Lam, ty: Type, items: Term, d: Term
) -> Term:
    """M Γ (Array D[τ]₂): sequence (zipWith … (zip ls xs) rs)"""
    effects = effects_of(rules)
    inner = scope.and_(body.var)
    derived = Lam(rules.target(body.var), rules.derive(inner, body.body))
    known = arrow(product(ty, ty), rules.derived_type(inner, ty))
    kinds = product(maybe(ty), ty)

    def done(star: Term) -> Term:
        one = function(
            "q",
            product(kinds, maybe(ty)),
            lambda q: _Element(rules, inner, ty, star, d).term(q),
        )
        before, after = (Do(ExclusiveScan(k), (body, items)) for k in (False, True))
        zipped = Do(ZipWith(), (function("q", kinds, lambda q: q), before, items))
        return Do(
            Sequenced(scope, effects.backwards), (Do(ZipWith(), (one, zipped, after)),)
        )

    return let_(known, derived, done)


@dataclass(frozen=True)
class _Element:
    """What goes back to one element x of l ⋆ x ⋆ r; `star` is D[⋆]."""

    rules: Rules
    inner: Scope
    ty: Type
    star: Term
    d: Term

    @property
    def effects(self) -> Effects:
        return effects_of(self.rules)

    def term(self, q: Term) -> Term:
        """M Γ D[τ]₂ for q = ⟨⟨l, x⟩, r⟩; l and r may be missing."""
        before, x, after = fst(fst(q)), snd(fst(q)), snd(q)
        return Match(
            before,
            function("u", UNIT, lambda _: self._first(x, after)),
            function("l", self.ty, lambda left: self._later(left, x, after)),
        )

    def _first(self, x: Term, after: Term) -> Term:
        return Match(
            after,
            function("u", UNIT, lambda _: self._unchanged()),
            function("r", self.ty, lambda r: self._back(self._star(x, r), self.d, 0)),
        )

    def _later(self, left: Term, x: Term, after: Term) -> Term:
        def last(_: Term) -> Term:
            return self._back(self._star(left, x), self.d, 1)

        def between(right: Term) -> Term:
            kind = self.rules.derived_type(self.inner, self.ty)
            return let_(kind, self._star(left, x), lambda p: self._both(p, right))

        return Match(after, function("u", UNIT, last), function("r", self.ty, between))

    def _both(self, first: Term, right: Term) -> Term:
        """Through (l ⋆ x) ⋆ r to l ⋆ x, and on to x."""
        assert self.inner.outer is not None
        ct = cotangent(self.ty)
        whole = self._back(self._star(fst(first), right), self.d, 0)
        return self.effects.bind(
            self.inner.outer, whole, ct, lambda du: self._back(first, du, 1), ct
        )

    def _star(self, left: Term, right: Term) -> Term:
        return Call(self.star, pair(left, right))

    def _back(self, derived: Term, d: Term, side: int) -> Term:
        """M Γ D[τ]₂: the cotangent of one side of ⋆"""
        part = LinearPart(side, self.ty)
        return self.effects.opened(
            self.inner, Call(snd(derived), d), lambda dp: Do(part, (dp,))
        )

    def _unchanged(self) -> Term:
        """The only element is the result."""
        assert self.inner.outer is not None
        return self.effects.pure(self.inner.outer, self.d)
