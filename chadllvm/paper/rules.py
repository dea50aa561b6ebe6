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
from collections.abc import Callable, Collection, Sequence
from typing import assert_never

from chadllvm.ir.build import Builder
from chadllvm.ir.op import Prim
from chadllvm.ir.term import Operand, Var, operands
from chadllvm.ir.types import F64, Sum, Type
from chadllvm.paper.deep import deep
from chadllvm.paper.linear import (
    AsCotangent,
    AsNumber,
    LinearCast,
    LinearInject,
    LinearPair,
    LinearPart,
    LinearUnit,
    Zero,
)
from chadllvm.paper.reader import Reader
from chadllvm.paper.terms import (
    Call,
    Do,
    Inject,
    Lam,
    Let,
    Literal,
    MakePair,
    MakeUnit,
    Match,
    Operation,
    Part,
    Primitive,
    Ref,
    Term,
    Typing,
    binary,
    fst,
    function,
    pair,
    path,
    snd,
)
from chadllvm.paper.types import (
    Scope,
    arrow,
    cotangent,
    is_product,
    product,
)
from chadllvm.support.diagnostic import InternalError


class Rules(ABC):
    """The transformation; subclasses say how contributions are put together."""

    def __init__(self) -> None:
        self.type_of = Typing().of

    @abstractmethod
    def contribution(self, scope: Scope) -> Type:
        """The type of what is contributed to the cotangents of a scope."""

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
    def scoped(self, inner: Scope, term: Term, rest: Callable[[Term], Term]) -> Term:
        """`term`, which contributes to the last variable of the scope `inner` too.

        Then `rest` of the cotangent of that variable.
        """

    # Types. D[τ]₁ = τ for the types of Fig. 1.

    def primal(self, ty: Type) -> Type:
        """D[τ]₁"""
        return ty

    def target(self, var: Var) -> Var:
        """The variable of type D[τ]₁ in place of one of type τ."""
        return var

    def derived_type(self, scope: Scope, ty: Type) -> Type:
        """The type of D[t], for a t of this type."""
        bp = arrow(cotangent(ty), self.contribution(scope))
        return product(self.primal(ty), bp)

    # Terms.

    def differentiate(self, variables: Collection[Var], term: Term) -> Term:
        """D[t], for a term with these free variables, of any depth."""
        with deep():
            return self.derive(Scope.of(variables), term)

    def derive(self, scope: Scope, term: Term) -> Term:
        """D[t], for a term in this scope."""
        match term:
            case Ref(var):
                return self.ref(scope, var)
            case Let(var, bound, body):
                return self.with_derived(
                    scope,
                    bound,
                    lambda s: Let(
                        self.target(var),
                        fst(s),
                        self.inside(scope.and_(var), body, s, None),
                    ),
                )
            case Match(arg, left, right):
                return self.with_derived(
                    scope, arg, lambda s: self._match(scope, arg, s, left, right)
                )
            case Do(op, args):
                return self._do(scope, term, op, args)
            case Lam():
                return self.lam(scope, term)
            case Call():
                return self.call(scope, term)
            case _:
                assert_never(term)

    def ref(self, scope: Scope, var: Var) -> Term:
        """D[x]"""
        bp = backpropagator(var.type, lambda d: self.one(scope, var, d))
        return pair(Ref(self.target(var)), bp)

    def lam(self, scope: Scope, term: Lam) -> Term:
        """D[λx. t], which is not of the first-order language."""
        raise InternalError("reference: a function in the source")

    def call(self, scope: Scope, term: Call) -> Term:
        """D[s t], which is not of the first-order language."""
        raise InternalError("reference: a call in the source")

    def with_derived(
        self, scope: Scope, term: Term, body: Callable[[Term], Term]
    ) -> Term:
        """let p = D[t] in `body` of p: what uses the pair captures one variable."""
        ty = self.derived_type(scope, self.type_of(term))
        return let_(ty, self.derive(scope, term), body)

    def _match(
        self, scope: Scope, arg: Term, subject: Term, left: Lam, right: Lam
    ) -> Term:
        ty = self.type_of(arg)
        assert isinstance(ty, Sum)
        branches: list[Lam] = []
        for index, branch in enumerate((left, right)):
            inject = LinearInject(index, ty)
            inner = scope.and_(branch.var)
            body = self.inside(inner, branch.body, subject, inject)
            branches.append(Lam(self.target(branch.var), body))
        return Match(fst(subject), *branches)

    def inside(
        self, inner: Scope, body: Term, outer: Term, inject: Operation | None
    ) -> Term:
        """D of a body under a variable that was bound to (a part of) `outer`."""

        def rest(cotangent: Term) -> Term:
            whole = Do(inject, (cotangent,)) if inject else cotangent
            return Call(snd(outer), whole)

        def result(t: Term) -> Term:
            bp = backpropagator(
                self.type_of(body),
                lambda d: self.scoped(inner, Call(snd(t), d), rest),
            )
            return pair(fst(t), bp)

        return self.with_derived(inner, body, result)

    def _do(self, scope: Scope, term: Do, op: object, args: tuple[Term, ...]) -> Term:
        match op:
            case MakeUnit() | Literal():
                return self.constant(scope, term)
            case MakePair():
                return self._pair(scope, *args)
            case Part(index):
                ty = self.type_of(args[0])
                return self.unary(scope, term, lambda d: hot(d, index, ty))
            case Inject(index, ty):
                cast = LinearCast(index, ty)
                return self.unary(scope, term, lambda d: Do(cast, (d,)))
            case Primitive(prim) if prim.transpose is None:
                return self.without_derivative(scope, term)
            case Primitive(prim):
                return self._primitive(scope, term, prim)
            case _:
                return term.op.derive(self, scope, term)

    def constant(self, scope: Scope, term: Term) -> Term:
        """D of what no variable occurs in."""
        bp = backpropagator(self.type_of(term), lambda d: self.nothing(scope))
        return pair(term, bp)

    def without_derivative(self, scope: Scope, term: Do) -> Term:
        """D of a primitive without a derivative: nothing is contributed.

        The term itself gives its value: types are their own D[·]₁ here.
        """
        return self.constant(scope, term)

    def _pair(self, scope: Scope, first: Term, second: Term) -> Term:
        types = self.type_of(first), self.type_of(second)

        def result(s: Term, t: Term) -> Term:
            def contributions(d: Term) -> Term:
                parts = [Do(LinearPart(k, ty), (d,)) for k, ty in enumerate(types)]
                return self.both(scope, Call(snd(s), parts[0]), Call(snd(t), parts[1]))

            bp = backpropagator(product(*types), contributions)
            return pair(pair(fst(s), fst(t)), bp)

        return self.with_derived(
            scope,
            first,
            lambda s: self.with_derived(scope, second, lambda t: result(s, t)),
        )

    def unary(self, scope: Scope, term: Do, linear: Callable[[Term], Term]) -> Term:
        """D of an operation of one argument, whose transpose is `linear`."""

        def result(s: Term) -> Term:
            bp = backpropagator(self.type_of(term), lambda d: Call(snd(s), linear(d)))
            return pair(Do(term.op, (fst(s),)), bp)

        return self.with_derived(scope, term.args[0], result)

    def _primitive(self, scope: Scope, term: Do, prim: Prim) -> Term:
        """The transposed derivative of the primitive, given its argument."""

        def result(s: Term) -> Term:
            value = Do(term.op, (fst(s),))
            transposed, needs_result = _transposed(prim, Ref(x), Ref(y), Ref(d))

            def backward(ct: Term) -> Term:
                let_d = Let(d, Do(AsNumber(), (ct,)), transposed)
                return Call(snd(s), Let(x, fst(s), let_d))

            bp = backpropagator(F64, backward)
            if not needs_result:
                return pair(value, bp)
            return Let(y, value, pair(Ref(y), bp))

        arg = term.args[0]
        x, y, d = Var("x", self.type_of(arg)), Var("y", F64), Var("dy", F64)
        return self.with_derived(scope, arg, result)


def backpropagator(ty: Type, body: Callable[[Term], Term]) -> Lam:
    """A function of a cotangent of a value of this type."""
    return function("d", cotangent(ty), body)


def let_(ty: Type, bound: Term, body: Callable[[Term], Term]) -> Term:
    """let p = `bound` in `body` of p"""
    var = Var("p", ty)
    return Let(var, bound, body(Ref(var)))


def hot(d: Term, index: int, whole: Type) -> Term:
    """The cotangent of a pair of this type that is zero but for one component."""
    zero = Do(Zero(is_product("hot", whole)[1 - index]))
    return Do(LinearPair(), (zero, d) if index else (d, zero))


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
    if operand is None:
        return Do(Zero(binary(ty)))
    return Do(AsCotangent(), (reader.operand(operand),))


def _linear_pairs(cotangents: Sequence[Term]) -> Term:
    if not cotangents:
        return Do(LinearUnit())
    first, *rest = cotangents
    for other in rest:
        first = Do(LinearPair(), (first, other))
    return first
