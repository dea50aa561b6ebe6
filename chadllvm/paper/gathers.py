"""Gathers, and maps over them (§8.1): whole arrays of cotangents go back at once.

Each element's contribution to an array is the value of a computation here, and not the
effect of one: they are one BArray together, where a build that reads the array makes as
many BOne, joined by as many BPlus. A gather passes on a BArray with indices, which
`collect` and one `scatter` add up.

`recognise` makes them of builds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.types import I64, Array, Type
from chadllvm.paper.array_api import (
    ArrayMany,
    ArrayPairs,
    Collect,
    Map,
    Unzip,
)
from chadllvm.paper.array_types import array, is_array
from chadllvm.paper.arrays import (
    Dim,
    Index,
    dense,
    halves,
    run_elements,
)
from chadllvm.paper.effects import effects_of
from chadllvm.paper.elements import Elements, element
from chadllvm.paper.linear import LinearPart
from chadllvm.paper.machine import Machine
from chadllvm.paper.rules import backpropagator, let_
from chadllvm.paper.span import copying, each
from chadllvm.paper.terms import (
    Call,
    Do,
    Lam,
    Operation,
    Term,
    fst,
    function,
    pair,
    snd,
)
from chadllvm.paper.types import (
    Scope,
    cotangent,
    is_function,
    product,
)

if TYPE_CHECKING:
    from chadllvm.paper.rules import Rules


@dataclass(frozen=True)
class Gather(Operation):
    """gather a is = build (length is) (k. a ! (is ! k))"""

    def run(self, machine: Machine, *args: Any) -> Any:
        whole, places = (arg.items for arg in args)
        copying(machine)(len(places))
        return Elements([whole[i] for i in places])

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        self.takes(args, args[0], array(I64))
        return array(is_array(self.rule, args[0]))

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """D[gather a is] = ⟨gather a₁ is₁, λd. a₂ (BArray (at the places in is₁))⟩"""
        whole, places = term.args
        whole_type, ty = rules.type_of(whole), rules.type_of(term)
        assert isinstance(whole_type, Array) and isinstance(ty, Array)
        ct = product(I64, cotangent(element(ty)))

        def result(p: Term, q: Term) -> Term:
            def moved(one: Term) -> Term:
                return pair(Do(Index(), (fst(q), fst(one))), snd(one))

            def backward(d: Term) -> Term:
                pairs = Do(Map(), (function("k", ct, moved), Do(Collect(ty), (d,))))
                return Call(snd(p), Do(ArrayPairs(whole_type), (pairs,)))

            value = Do(self, (fst(p), fst(q)))
            return pair(value, backpropagator(ty, backward))

        return rules.with_derived(
            scope,
            whole,
            lambda p: rules.with_derived(scope, places, lambda q: result(p, q)),
        )


@dataclass(frozen=True)
class Zip(Operation):
    """zip : Array σ → Array τ → Array (σ × τ)"""

    def run(self, machine: Machine, *args: Any) -> Any:
        first, second = (arg.items for arg in args)
        copying(machine)(len(first))
        return Elements(list(zip(first, second, strict=True)))

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        return array(product(*[is_array(self.rule, arg) for arg in args]))

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """The contributions to either part are a BArray each."""
        types = [rules.type_of(arg) for arg in term.args]
        ty = rules.type_of(term)
        assert isinstance(ty, Array)

        def part(pairs: Term, side: int) -> Term:
            to = types[side]
            assert isinstance(to, Array)
            take = LinearPart(side, element(to))
            one = function(
                "k",
                product(I64, cotangent(element(ty))),
                lambda k: pair(fst(k), Do(take, (snd(k),))),
            )
            return Do(ArrayPairs(to), (Do(Map(), (one, pairs)),))

        def result(p: Term, q: Term) -> Term:
            def contributions(pairs: Term) -> Term:
                first, second = part(pairs, 0), part(pairs, 1)
                return rules.both(scope, Call(snd(p), first), Call(snd(q), second))

            def backward(d: Term) -> Term:
                held = array(product(I64, cotangent(element(ty))))
                return let_(held, Do(Collect(ty), (d,)), contributions)

            value = Do(self, (fst(p), fst(q)))
            return pair(value, backpropagator(ty, backward))

        first, second = term.args
        return rules.with_derived(
            scope,
            first,
            lambda p: rules.with_derived(scope, second, lambda q: result(p, q)),
        )


@dataclass(frozen=True)
class MapOver(Operation):
    """map (x. t) a = build (length a) (i. let x = a ! i in t)"""

    def run(self, machine: Machine, *args: Any) -> Any:
        body, items = args[0], args[1].items
        return Elements(each(machine, lambda x: machine.call(body, x), items))

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        param, result = is_function(self.rule, args[0])
        self.takes([param], is_array(self.rule, args[1]))
        return array(result)

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """D[build], but the contributions to the elements of `a` are kept together."""
        body, whole = term.args
        assert isinstance(body, Lam)
        inner, ty = scope.and_(body.var), rules.type_of(body.body)
        derived = rules.derived_type(inner, ty)
        whole_type = rules.type_of(whole)
        assert isinstance(whole_type, Array)
        elements = Lam(rules.target(body.var), rules.derive(inner, body.body))

        def results(s: Term, u: Term) -> Term:
            def backward(d: Term) -> Term:
                return _spread(rules, inner, ty, whole_type, s, u, d)

            return pair(fst(u), backpropagator(array(ty), backward))

        def mapped(s: Term) -> Term:
            done = Do(Unzip(), (Do(self, (elements, fst(s))),))
            unzipped = product(*map(array, halves(derived)))
            return let_(unzipped, done, lambda u: results(s, u))

        return rules.with_derived(scope, whole, mapped)


def _spread(
    rules: Rules, inner: Scope, ty: Type, whole: Array, s: Term, u: Term, d: Term
) -> Term:
    """do ds ← sequence (zipWith … (snd u) d); snd s (BArray ds)"""
    assert inner.outer is not None
    held = element(whole)
    count = Do(Dim(), (fst(u),))
    done = run_elements(rules, inner, ty, snd(u), dense(ty, count, d), lambda x: x)
    return effects_of(rules).then(
        inner.outer,
        done,
        array(cotangent(held)),
        lambda ds: Call(snd(s), Do(ArrayMany(whole), (ds,))),
    )
