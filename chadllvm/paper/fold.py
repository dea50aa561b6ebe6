"""fold (p. t) s: the reduction of an array by an associative function (§7).

Its derivative (Fig. 8) records in a tree which elements were combined in which order,
and goes from the root back to the leaves: see `tree` for that (Fig. 9). It needs no
inverse, no neutral element, and runs t once.

It takes one step, and for each combination one and those of t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from chadllvm.ir.op import ProgramError
from chadllvm.ir.types import Array, Type
from chadllvm.paper.array_api import (
    ArrayMany,
    FromList,
    GetA,
    Listed,
    MakeLeaf,
    MakeNode,
    Map,
)
from chadllvm.paper.array_effects import UnTree
from chadllvm.paper.array_types import (
    difference_list,
    is_array,
    tree,
)
from chadllvm.paper.arrays import halves
from chadllvm.paper.effects import effects_of
from chadllvm.paper.elements import element
from chadllvm.paper.linear import LinearPart
from chadllvm.paper.rules import backpropagator, let_
from chadllvm.paper.span import in_rounds
from chadllvm.paper.terms import (
    Call,
    Do,
    Lam,
    Let,
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
    expect,
    is_function,
    product,
)

if TYPE_CHECKING:
    from chadllvm.paper.machine import Machine
    from chadllvm.paper.rules import Rules

Shape = Literal["balanced", "left", "right"]

EMPTY_FOLD = "fold of an array without elements"


@dataclass(frozen=True)
class Fold(Operation):
    """fold (p. t) s, for an associative t; s has elements.

    The order of the reduction is not specified: in a `balanced` one neighbours are
    combined in rounds, the others go through the array from one end.

    Raises:
        ProgramError: if the array is empty.
    """

    shape: Shape = "balanced"

    def run(self, machine: Machine, *args: Any) -> Any:
        body, items = args[0], list(args[1].items)
        if not items:
            raise ProgramError(ValueError, EMPTY_FOLD)

        def combined(x: Any, y: Any) -> Any:
            return machine.call(body, (x, y))

        if self.shape == "balanced":
            return in_rounds(machine, combined, items)
        if self.shape == "right":
            items.reverse()
        result = items[0]
        for item in items[1:]:
            machine.pay(1)
            both = (result, item) if self.shape == "left" else (item, result)
            result = combined(*both)
        return result

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        param, result = is_function(self.rule, args[0])
        expect(self.rule, product(result, result), param)
        expect(self.rule, result, is_array(self.rule, args[1]))
        return result

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """D[fold (p. t) s], as in Fig. 8; see `tree` for Fig. 9."""
        body, whole = term.args
        assert isinstance(body, Lam)
        ty = rules.type_of(term)
        inner = scope.and_(body.var)
        bp = halves(rules.derived_type(inner, ty))[1]
        kind = tree(rules.primal(ty), bp)

        def results(s: Term, t: Term) -> Term:
            def backward(d: Term) -> Term:
                return self._backward(rules, inner, rules.type_of(whole), s, t, d)

            value = Do(GetA(), (t,))
            return pair(value, backpropagator(ty, backward))

        def recorded(s: Term) -> Term:
            leaf = function("x", rules.primal(ty), lambda x: Do(MakeLeaf(bp), (x,)))
            leaves = Do(Map(), (leaf, fst(s)))
            node = function(
                "p'", product(kind, kind), lambda p: self._node(rules, inner, body, p)
            )
            return Do(self, (node, leaves))

        return rules.with_derived(
            scope, whole, lambda s: let_(kind, recorded(s), lambda t: results(s, t))
        )

    def _node(self, rules: Rules, inner: Scope, body: Lam, both: Term) -> Term:
        """let p = ⟨getA (fst p'), getA (snd p')⟩ in Node (fst p') D[t] (snd p')"""
        values = pair(Do(GetA(), (fst(both),)), Do(GetA(), (snd(both),)))
        node = rules.with_derived(
            inner,
            body.body,
            lambda q: Do(MakeNode(), (fst(both), fst(q), snd(q), snd(both))),
        )
        return Let(rules.target(body.var), values, node)

    def _backward(
        self, rules: Rules, inner: Scope, whole: Type, s: Term, t: Term, d: Term
    ) -> Term:
        """do lf ← unTree (λd'. λf. scope (f d') …) d tree; snd s (fromList (lf []))"""
        assert isinstance(whole, Array) and inner.outer is not None
        effects, ty = effects_of(rules), element(whole)
        bp = halves(rules.derived_type(inner, ty))[1]

        def parts(dp: Term) -> Term:
            return let_(
                cotangent(product(ty, ty)),
                dp,
                lambda dp: pair(*[Do(LinearPart(k, ty), (dp,)) for k in range(2)]),
            )

        g = function(
            "q",
            product(cotangent(ty), bp),
            lambda q: effects.opened(inner, Call(snd(q), fst(q)), parts),
        )

        def rest(lf: Term) -> Term:
            listed = Do(FromList(), (Do(Listed(), (lf,)),))
            return Call(snd(s), Do(ArrayMany(whole), (listed,)))

        un_tree = Do(UnTree(inner.outer, effects.backwards), (g, d, t))
        return effects.then(inner.outer, un_tree, difference_list(cotangent(ty)), rest)
