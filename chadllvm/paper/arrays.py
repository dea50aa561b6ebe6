"""Arrays in the source language (§7): build, indexing, length; Fig. 8.

Elements are of any type; arrays of arrays may be ragged. For the core's arrays of
higher rank there are `stack`, which makes one of an array of equally long rows, and
`dim`, the length along any axis.

| operation                   | steps, besides those of its arguments             |
|-----------------------------|---------------------------------------------------|
| build n (i. t)              | 1, and for each element 1 and those of t          |
| s ! t, length t, dim t      | 1                                                 |
| stack t                     | 1, and 1 for each row                             |
| zeros d₁ … dᵣ               | 1, and 1 for each element                         |
| sized t d₁ …                | 1                                                 |

`fold`, and what the core has besides, have files of their own. A function (i. t) is a λ
for the machine: 1 step, and 1 for each variable it captures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.types import F64, I64, UNIT, Array, Box, Type
from chadllvm.paper.array_api import (
    ArrayOne,
    Collect,
    Retyped,
    Scatter,
    Unzip,
    ZipWith,
)
from chadllvm.paper.array_effects import Sequenced
from chadllvm.paper.array_types import (
    array,
    is_array,
)
from chadllvm.paper.effects import effects_of
from chadllvm.paper.elements import Elements, element, resized, stacked_rows
from chadllvm.paper.linear import Zero
from chadllvm.paper.rules import backpropagator, let_
from chadllvm.paper.span import each
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
    unit,
)
from chadllvm.paper.types import (
    IllTyped,
    Scope,
    cotangent,
    expect,
    is_function,
    is_product,
    product,
)

if TYPE_CHECKING:
    from chadllvm.paper.machine import Machine
    from chadllvm.paper.rules import Rules


@dataclass(frozen=True)
class Build(Operation):
    """build n (i. t); a negative n counts as 0."""

    def run(self, machine: Machine, *args: Any) -> Any:
        count, body = args
        return Elements(each(machine, lambda i: machine.call(body, i), range(count)))

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        param, result = is_function(self.rule, args[1])
        self.takes([args[0], param], I64, I64)
        return array(result)

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """D[build s (i. t)], as in Fig. 8."""
        count, body = term.args
        assert isinstance(body, Lam)
        inner, ty = scope.and_(body.var), rules.type_of(body.body)
        derived = rules.derived_type(inner, ty)
        primal, bp = halves(derived)
        elements = Lam(rules.target(body.var), rules.derive(inner, body.body))

        def results(n: Term, a: Term) -> Term:
            def backward(d: Term) -> Term:
                done = run_elements(rules, inner, ty, snd(a), dense(ty, n, d))
                effects = effects_of(rules)
                return effects.then(
                    scope, done, array(UNIT), lambda _: rules.nothing(scope)
                )

            return pair(fst(a), backpropagator(array(ty), backward))

        def built(n: Term) -> Term:
            unzipped = product(array(primal), array(bp))
            a = Do(Build(), (n, elements))
            return let_(
                array(derived),
                a,
                lambda a: let_(unzipped, Do(Unzip(), (a,)), lambda u: results(n, u)),
            )

        return rules.with_derived(scope, count, lambda s: let_(I64, fst(s), built))


def dense(ty: Type, count: Term, d: Term) -> Term:
    """scatter (build n (i. 0)) (collect d) : Array D[τ]₂, for d : D[Array τ]₂"""
    zeros = Do(Build(), (count, function("i", I64, lambda _: Do(Zero(ty)))))
    array_type = Array(ty, 1)
    return let_(
        array(product(I64, cotangent(ty))),
        Do(Collect(array_type), (d,)),
        lambda pairs: Do(Scatter(ty), (zeros, pairs)),
    )


def run_elements(
    rules: Rules,
    inner: Scope,
    ty: Type,
    bps: Term,
    cotangents: Term,
    value: Callable[[Term], Term] = lambda d: unit(),
) -> Term:
    """M Γ (Array τ): sequence (zipWith (f d'. scope (f d') >>= …) bps cotangents).

    `inner` is (Γ, x) for the element's variable x; `value` is made of its cotangent.
    """
    outer = inner.outer
    assert outer is not None
    bp = halves(rules.derived_type(inner, ty))[1]
    effects = effects_of(rules)
    one = function(
        "q",
        product(bp, cotangent(ty)),
        lambda q: effects.opened(inner, Call(fst(q), snd(q)), value),
    )
    done = Do(ZipWith(), (one, bps, cotangents))
    return Do(Sequenced(outer, effects.backwards), (done,))


def halves(derived: Type) -> tuple[Type, Type]:
    """The types of the primal and the backpropagator in that of D[t]."""
    return is_product("D", derived)


@dataclass(frozen=True)
class Index(Operation):
    """s ! t; earlier stages guarantee that t is in range."""

    def run(self, machine: Machine, *args: Any) -> Any:
        whole, index = args
        return whole.items[index]

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 2)
        expect(self.rule, I64, args[1])
        return is_array(self.rule, args[0])

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """D[s ! t] = ⟨s₁ ! i, λd. s₂ (BOne ⟨i, d⟩)⟩ for ⟨s₁, s₂⟩ = D[s], i = D[t]₁"""
        whole, index = term.args
        ty = rules.type_of(whole)
        assert isinstance(ty, Array)

        def result(p: Term, i: Term) -> Term:
            def backward(d: Term) -> Term:
                return Call(snd(p), Do(ArrayOne(ty), (pair(i, d),)))

            value = Do(Index(), (fst(p), i))
            return pair(value, backpropagator(element(ty), backward))

        return rules.with_derived(
            scope,
            whole,
            lambda p: rules.with_derived(
                scope, index, lambda q: let_(I64, fst(q), lambda i: result(p, i))
            ),
        )


@dataclass(frozen=True)
class Dim(Operation):
    """The length of an array along an axis; `length t` is that along the first."""

    axis: int = 0

    def run(self, machine: Machine, *args: Any) -> Any:
        return args[0].dims[self.axis]

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        if not isinstance(args[0], Array) or self.axis >= args[0].rank:
            raise IllTyped(f"{self.rule}: {args[0]} has no axis {self.axis}")
        return I64

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """D[length t] = ⟨length (fst D[t]), λd. return ⟨⟩⟩"""
        bp = backpropagator(I64, lambda d: rules.nothing(scope))
        return rules.with_derived(
            scope, term.args[0], lambda s: pair(Do(self, (fst(s),)), bp)
        )


@dataclass(frozen=True)
class ArrayLiteral(Operation):
    """An array that is part of the program."""

    value: Elements
    type: Array

    def __hash__(self) -> int:
        return id(self.value)

    def run(self, machine: Machine, *args: Any) -> Any:
        return self.value

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args)
        return self.type

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        return rules.constant(scope, term)


@dataclass(frozen=True)
class Zeros(Operation):
    """zeros d₁ … dᵣ: real zeros; a negative dimension counts as 0."""

    def run(self, machine: Machine, *args: Any) -> Any:
        dims = tuple([max(n, 0) for n in args])
        found: Any = 0.0
        for axis in reversed(range(len(dims))):
            found = Elements([found] * dims[axis], dims[axis + 1 :])
        size = 1
        for dim in dims:
            size *= dim
        machine.pay(size)
        return found

    def type_of(self, args: Sequence[Type]) -> Type:
        self.takes(args, *[I64] * max(len(args), 1))
        return Array(F64, len(args))

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """Its arguments are integers: nothing depends on them."""
        bp = backpropagator(rules.type_of(term), lambda d: rules.nothing(scope))

        def result(dims: list[Term], rest: Sequence[Term]) -> Term:
            if not rest:
                return pair(Do(self, tuple(dims)), bp)
            return rules.with_derived(
                scope, rest[0], lambda s: result([*dims, fst(s)], rest[1:])
            )

        return result([], term.args)


@dataclass(frozen=True)
class Sized(Operation):
    """sized t d₁ …: the array t, whose rows have these dimensions if there are none."""

    def run(self, machine: Machine, *args: Any) -> Any:
        whole, *sizes = args
        rest = whole.inner[len(sizes) :]
        return resized(whole, (*(max(n, 0) for n in sizes), *rest))

    def type_of(self, args: Sequence[Type]) -> Type:
        is_array(self.rule, args[0])
        assert isinstance(args[0], Array)
        self.takes(args, args[0], *[I64] * max(len(args) - 1, 1))
        if len(args) > args[0].rank:
            raise IllTyped(f"{self.rule}: {args[0]} has fewer dimensions")
        return args[0]

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """D[sized t d₁ …] = ⟨sized (fst D[t]) (fst D[d₁]) …, snd D[t]⟩"""

        def result(found: list[Term], rest: Sequence[Term]) -> Term:
            if not rest:
                whole, *sizes = found
                values = (fst(whole), *map(fst, sizes))
                return pair(Do(self, values), snd(whole))
            return rules.with_derived(
                scope, rest[0], lambda s: result([*found, s], rest[1:])
            )

        return result([], term.args)


@dataclass(frozen=True)
class _Retyping(Operation):
    """An array as a value of another type that has the same cotangents."""

    def derive(self, rules: Rules, scope: Scope, term: Do) -> Term:
        """D[op t] = ⟨op (fst D[t]), snd D[t]⟩"""
        before, after = rules.type_of(term.args[0]), rules.type_of(term)
        return rules.unary(scope, term, lambda d: Do(Retyped(after, before), (d,)))


@dataclass(frozen=True)
class Stack(_Retyping):
    """An array of arrays as one array of higher rank: they must be equally long."""

    def run(self, machine: Machine, *args: Any) -> Any:
        machine.pay(len(args[0].items))
        return stacked_rows(args[0], self.rank)

    rank: int = 1

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        row = is_array(self.rule, args[0])
        if not isinstance(row, Array) or row.rank != self.rank:
            raise IllTyped(f"{self.rule}: rows are {row}")
        return Array(row.elem, row.rank + 1)


@dataclass(frozen=True)
class MakeBox(_Retyping):
    """A reference to an array."""

    def run(self, machine: Machine, *args: Any) -> Any:
        return args[0]

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        is_array(self.rule, args[0])
        assert isinstance(args[0], Array)
        return Box(args[0])


@dataclass(frozen=True)
class Unbox(_Retyping):
    """The array that a reference is to."""

    def run(self, machine: Machine, *args: Any) -> Any:
        return args[0]

    def type_of(self, args: Sequence[Type]) -> Type:
        self.counts(args, 1)
        if not isinstance(args[0], Box):
            raise IllTyped(f"{self.rule}: {args[0]} is not a box")
        return args[0].content
