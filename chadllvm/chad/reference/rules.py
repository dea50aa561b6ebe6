"""D[·] on terms: the rules of Figs. 2 and 6, which differ in four words only.

For Γ ⊢ t : τ, D[t] is a pair of the value of t and a function of the cotangent of t.
The result of that stands for what t contributes to the cotangents of Γ: an environment
(Fig. 2), or a computation that adds to one (Fig. 6).

|                                          | Fig. 2          | Fig. 6                  |
|------------------------------------------|-----------------|-------------------------|
| `nothing`                                | 0               | return ⟨⟩               |
| `both` a and b                           | a + b           | a >> b                  |
| `one` x d                                | one x d         | one x d                 |
| `scoped`: contributions a that use x too | split a, + b dx | scope 0 a >>= λdx. b dx |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import assert_never

from chadllvm.chad.reference.linear import (
    LinearCast,
    LinearInject,
    LinearPair,
    LinearPart,
    LinearUnit,
    Zero,
)
from chadllvm.chad.reference.source import Reader
from chadllvm.chad.reference.terms import (
    Call,
    Do,
    Inject,
    Lam,
    Let,
    Literal,
    MakePair,
    MakeUnit,
    Match,
    Part,
    Primitive,
    Ref,
    Term,
    fst,
    function,
    pair,
    path,
    snd,
    type_of,
)
from chadllvm.diagnostic import InternalError
from chadllvm.ir.build import Builder
from chadllvm.ir.op import Prim
from chadllvm.ir.term import Operand, Var, operands
from chadllvm.ir.types import F64, UNIT, Product, Type

Scope = tuple[Var, ...]

# The variables of the target are not asked for their types.
_ANY = UNIT


class Rules(ABC):
    """The transformation; subclasses say how contributions are put together."""

    @abstractmethod
    def nothing(self, scope: Scope) -> Term:
        """No contribution."""

    @abstractmethod
    def both(self, scope: Scope, first: Term, second: Term) -> Term:
        """Two contributions."""

    @abstractmethod
    def one(self, scope: Scope, var: Var, cotangent: Term) -> Term:
        """A contribution to one variable."""

    @abstractmethod
    def scoped(
        self, scope: Scope, var: Var, inner: Term, rest: Callable[[Term], Term]
    ) -> Term:
        """`inner`, which contributes to `var` too, then `rest` of that cotangent."""

    def derive(self, scope: Scope, term: Term) -> Term:
        """D[t], for a term with these free variables."""
        match term:
            case Ref(var):
                return pair(term, _bp(lambda d: self.one(scope, var, d)))
            case Let(var, bound, body):
                return _let(
                    self.derive(scope, bound),
                    lambda s: Let(var, fst(s), self._inside(scope, var, body, s, None)),
                )
            case Match(arg, left, right):
                return _let(
                    self.derive(scope, arg),
                    lambda s: self._match(scope, s, left, right),
                )
            case Do(op, args):
                return self._do(scope, term, op, args)
            case Lam() | Call():
                raise InternalError("reference: a function in the source")
            case _:
                assert_never(term)

    def _match(self, scope: Scope, subject: Term, left: Lam, right: Lam) -> Term:
        branches = [
            Lam(b.var, self._inside(scope, b.var, b.body, subject, LinearInject(index)))
            for index, b in enumerate((left, right))
        ]
        return Match(fst(subject), *branches)

    def _inside(
        self,
        scope: Scope,
        var: Var,
        body: Term,
        outer: Term,
        inject: LinearInject | None,
    ) -> Term:
        """D of a body under a variable that was bound to (a part of) `outer`."""

        def result(t: Term) -> Term:
            def rest(cotangent: Term) -> Term:
                whole = Do(inject, (cotangent,)) if inject else cotangent
                return Call(snd(outer), whole)

            bp = _bp(lambda d: self.scoped(scope, var, Call(snd(t), d), rest))
            return pair(fst(t), bp)

        return _let(self.derive((*scope, var), body), result)

    def _do(self, scope: Scope, term: Term, op: object, args: tuple[Term, ...]) -> Term:
        match op:
            case MakeUnit() | Literal() | Primitive(Prim(transpose=None)):
                return pair(term, _bp(lambda d: self.nothing(scope)))
            case MakePair():
                return self._pair(scope, *args)
            case Part(index):
                return self._unary(
                    scope, args[0], op, lambda d: _hot(d, index, args[0])
                )
            case Inject(index, ty):
                cast = LinearCast(index, ty.payloads[index])
                return self._unary(scope, args[0], op, lambda d: Do(cast, (d,)))
            case Primitive(prim):
                return self._primitive(scope, op, prim, args[0])
            case _:
                raise InternalError(f"reference: {op} in the source")

    def _pair(self, scope: Scope, first: Term, second: Term) -> Term:
        types = type_of(first), type_of(second)

        def result(s: Term, t: Term) -> Term:
            def contributions(d: Term) -> Term:
                parts = [Do(LinearPart(k, ty), (d,)) for k, ty in enumerate(types)]
                return self.both(scope, Call(snd(s), parts[0]), Call(snd(t), parts[1]))

            return pair(pair(fst(s), fst(t)), _bp(contributions))

        return _let(
            self.derive(scope, first),
            lambda s: _let(self.derive(scope, second), lambda t: result(s, t)),
        )

    def _unary(
        self, scope: Scope, arg: Term, op: Part | Inject, linear: Callable[[Term], Term]
    ) -> Term:
        return _let(
            self.derive(scope, arg),
            lambda s: pair(Do(op, (fst(s),)), _bp(lambda d: Call(snd(s), linear(d)))),
        )

    def _primitive(self, scope: Scope, op: Primitive, prim: Prim, arg: Term) -> Term:
        """The transposed derivative of the primitive, given its argument."""

        def result(s: Term) -> Term:
            value = Do(op, (fst(s),))
            transposed, needs_result = _transposed(prim, Ref(x), Ref(y), Ref(d))
            bp = function("d", _ANY, lambda ct: Call(snd(s), Let(d, ct, transposed)))
            bp = Lam(bp.var, _under(x, fst(s), bp.body))
            if not needs_result:
                return pair(value, bp)
            return Let(y, value, pair(Ref(y), bp))

        x, y, d = Var("x", type_of(arg)), Var("y", F64), Var("dy", F64)
        return _let(self.derive(scope, arg), result)


def _under(var: Var, bound: Term, call: Term) -> Term:
    """The call with a let in its argument."""
    assert isinstance(call, Call)
    return Call(call.function, Let(var, bound, call.arg))


def _bp(body: Callable[[Term], Term]) -> Lam:
    return function("d", _ANY, body)


def _let(bound: Term, body: Callable[[Term], Term]) -> Term:
    """A name for a pair that D[·] returned: what uses it captures one variable."""
    var = Var("p", _ANY)
    return Let(var, bound, body(Ref(var)))


def _hot(cotangent: Term, index: int, whole: Term) -> Term:
    """The cotangent of a pair that is zero but for one component."""
    ty = type_of(whole)
    assert isinstance(ty, Product)
    zero = Do(Zero(ty.fields[1 - index]))
    return Do(LinearPair(), (zero, cotangent) if index else (cotangent, zero))


def _transposed(prim: Prim, arg: Term, result: Term, ct: Term) -> tuple[Term, bool]:
    """The cotangents of the arguments, and whether the result was used for them."""
    assert prim.transpose is not None
    count = len(prim.params)
    args = [Var(f"x{k}", p) for k, p in enumerate(prim.params)]
    y, d = Var("y", prim.result), Var("d", prim.result)
    out = Builder()
    cts = prim.transpose(out, args, y, d)
    known = {v: path(arg, k, count) for k, v in enumerate(args)}
    reader = Reader({**known, y: result, d: ct})
    uses = [o for b in out.bindings for o in operands(b.expr)] + [c for c in cts if c]
    lets: list[tuple[Var, Term]] = []
    for binding in out.bindings:
        (var,) = binding.vars
        term = reader.expr(binding.expr)
        if uses.count(var) == 1:
            reader.known[var] = term
        else:
            lets.append((reader.bind(var), term))
    cotangents = [
        _cotangent(reader, c, p) for c, p in zip(cts, prim.params, strict=True)
    ]
    whole = _linear_pairs(cotangents)
    for bound, term in reversed(lets):
        whole = Let(bound, term, whole)
    return whole, y in uses


def _cotangent(reader: Reader, operand: Operand | None, ty: Type) -> Term:
    if operand is not None:
        return reader.operand(operand)
    return Do(Zero(reader.bind(Var("none", ty)).type))


def _linear_pairs(cotangents: Sequence[Term]) -> Term:
    if not cotangents:
        return Do(LinearUnit())
    first, *rest = cotangents
    for cotangent in rest:
        first = Do(LinearPair(), (first, cotangent))
    return first
