"""Loops with a state, which the core has and the paper has not.

iterate n (x. t) s is the state after n steps with what the steps gave besides: for
x = ⟨i, state⟩, t is ⟨next state, output⟩. Its derivative is in the style of Fig. 8: the
loop records the steps' backpropagators in a list, and the reverse runs them from the
last to the first, handing on the cotangent of the state. A step is run in a scope of
its own, of which the state's cotangent is the result.

It takes one step, and for each step of the loop one and those of t.

A loop may stop: in front of a step for which a truth value in its state is false. The
reverse knows from the list how many steps there were.

`require` raises an exception unless a condition holds; its result is ⟨⟩.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.op import ProgramError
from chadllvm.ir.types import I64, UNIT, Array, Type
from chadllvm.ops.require import exception_class
from chadllvm.paper.array_api import Nil, Push
from chadllvm.paper.array_effects import UnLoop
from chadllvm.paper.array_types import array, list_of
from chadllvm.paper.arrays import Dim, dense, halves
from chadllvm.paper.effects import effects_of
from chadllvm.paper.elements import Elements
from chadllvm.paper.linear import LinearPair, LinearPart
from chadllvm.paper.rules import backpropagator, let_
from chadllvm.paper.terms import (
    TRUTH,
    Call,
    Do,
    Lam,
    Let,
    Operation,
    Term,
    components,
    fst,
    function,
    pair,
    snd,
)
from chadllvm.paper.types import (
    Scope,
    cotangent,
    is_function,
    is_product,
    product,
)

if TYPE_CHECKING:
    from chadllvm.paper.machine import Machine
    from chadllvm.paper.rules import Rules


@dataclass(frozen=True)
class Iterate(Operation):
    """iterate n (x. t) s : σ × Array ω, for x : ℤ × σ and t : σ × ω

    `go`: how often to take the first part of the state to find the truth value that
    stops the loop, if one does.
    """

    go: int | None = None

    def run(self, machine: Machine, *args: Any) -> Any:
        count, body, state = args
        outputs: list[Any] = []
        for i in range(count):
            if self._stops(state):
                break
            machine.pay(1)
            state, output = machine.call(body, (i, state))
            outputs.append(output)
        return state, Elements(outputs)

    def _stops(self, state: Any) -> bool:
        if self.go is None:
            return False
        for _ in range(self.go):
            state = state[0]
        return not state.index

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 3)
        param, result = is_function(self.rule, args[1])
        state, output = is_product(self.rule, result)
        self.takes([args[0], param, args[2]], I64, product(I64, state), state)
        return product(state, array(output))

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """D[iterate n (x. t) s]: the recording loop with its reverse."""
        count, body, start = term.args
        assert isinstance(body, Lam)
        return rules.with_derived(
            scope,
            count,
            lambda c: rules.with_derived(
                scope,
                start,
                lambda s: let_(I64, fst(c), lambda n: _loop(rules, scope, term, n, s)),
            ),
        )


@dataclass(frozen=True)
class Require(Operation):
    """require ⟨ok, ⟨v, …⟩⟩ : 1"""

    kind: str
    message: str
    count: int

    def run(self, machine: Machine, *args: Any) -> Any:
        ok, values = args
        if not ok.index:
            kind = exception_class(self.kind)
            assert kind is not None
            shown = components(values, self.count) if self.count else []
            raise ProgramError(kind, self.message.format(*shown))
        return ()

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        self.takes(args, TRUTH, args[1])
        return UNIT

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """D[require t] = ⟨require t, λd. nothing⟩"""
        return rules.without_derivative(scope, term)


def _loop(rules: Rules, scope: Scope, term: Do, count: Term, start: Term) -> Term:
    """D of the loop, given the primal of its count and D of its first state."""
    assert isinstance(term.op, Iterate)
    body, go = term.args[1], term.op.go
    assert isinstance(body, Lam)
    inner = scope.and_(body.var)
    result = rules.type_of(body.body)
    primal, bp = halves(rules.derived_type(inner, result))
    state, output = is_product("Iterate", primal)
    recording = product(product(state, list_of(bp)), array(output))
    step = function(
        "y",
        product(I64, product(state, list_of(bp))),
        lambda y: _recorded(rules, inner, body, y),
    )
    loop = Iterate(None if go is None else go + 1)
    run = Do(loop, (count, step, pair(fst(start), Do(Nil(bp)))))

    def results(r: Term) -> Term:
        steps = count if go is None else Do(Dim(0), (snd(r),))

        def backward(d: Term) -> Term:
            return _reverse(rules, inner, result, steps, snd(fst(r)), start, d)

        value = pair(fst(fst(r)), snd(r))
        return pair(value, backpropagator(rules.type_of(term), backward))

    return let_(recording, run, results)


def _recorded(rules: Rules, inner: Scope, body: Lam, y: Term) -> Term:
    """A step: let x = ⟨i, state⟩; q = D[t] in ⟨⟨next state, snd q :: list⟩, output⟩"""
    x = pair(fst(y), fst(snd(y)))
    step = rules.with_derived(
        inner,
        body.body,
        lambda q: pair(
            pair(fst(fst(q)), Do(Push(), (snd(q), snd(snd(y))))), snd(fst(q))
        ),
    )
    return Let(rules.target(body.var), x, step)


def _reverse(
    rules: Rules,
    inner: Scope,
    result: Type,
    count: Term,
    bps: Term,
    start: Term,
    d: Term,
) -> Term:
    """do d' ← unLoop (λ⟨⟨ds, do⟩, f⟩. scope (f ⟨ds, do⟩) …) (lfst d) … ; snd s d'"""
    assert inner.outer is not None
    effects = effects_of(rules)
    state, output = is_product("Iterate", result)
    bp = halves(rules.derived_type(inner, result))[1]
    cts = product(cotangent(state), cotangent(output))

    def one(q: Term) -> Term:
        both = Do(LinearPair(), (fst(fst(q)), snd(fst(q))))
        part = LinearPart(1, state)
        return effects.opened(inner, Call(snd(q), both), lambda x: Do(part, (x,)))

    last = Do(LinearPart(0, state), (d,))
    outputs = Do(LinearPart(1, Array(output, 1)), (d,))
    step = function("q", product(cts, bp), one)
    args = (step, last, dense(output, count, outputs), bps)
    un_loop = Do(UnLoop(inner.outer), args)
    return effects.then(
        inner.outer, un_loop, cotangent(state), lambda ds: Call(snd(start), ds)
    )
