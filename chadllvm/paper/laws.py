"""What the paper's proof rests on, as experiments on one term each (§4.3, §5, §6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chadllvm.ir.term import Var
from chadllvm.ir.types import UNIT, Product, Sum, Type
from chadllvm.paper.affine import Counting
from chadllvm.paper.cost import Variables, run_derived, size
from chadllvm.paper.linear import Linear, Pay, free
from chadllvm.paper.machine import Machine
from chadllvm.paper.monad import ArrayMonad, Bind, Monad, Monadic, Run, nested
from chadllvm.paper.rules import Rules
from chadllvm.paper.sparse import Sparse
from chadllvm.paper.terms import Call, Do, Lam, Ref, Term, components
from chadllvm.paper.types import (
    Scope,
    arrow,
    computation,
    cotangent,
    products,
)


def unpaid(a: Any, b: Any, ty: Type) -> int:
    """cost(a + b) - |a| - |b| + |a + b|, which is never positive (c_φ = 1)."""
    steps: list[int] = []
    total = Sparse().plus(a, b, ty, steps.append)
    return sum(steps) - size(a, ty) - size(b, ty) + size(total, ty)


def is_monoid(linear: Linear, a: Any, b: Any, c: Any, ty: Type) -> bool:
    """Whether + is associative and commutative for these three, and 0 its unit."""

    def plus(x: Any, y: Any) -> Any:
        return linear.plus(x, y, ty, free)

    zero = linear.zero(ty, free)
    equal: list[tuple[Any, Any]] = [
        (plus(a, b), plus(b, a)),
        (plus(plus(a, b), c), plus(a, plus(b, c))),
        (plus(a, zero), a),
        (plus(zero, a), a),
    ]
    return all(x == y for x, y in equal)


def densified(cotangent: Any, ty: Type, pay: Pay) -> Any:
    """A sparse cotangent with all its zeros, as `naive.Dense` has it.

    A step for each node of the result: what returning it densely costs, per variable.
    """
    pay(1)
    match ty:
        case Product((first, second)):
            sparse = Sparse()
            parts = [
                sparse.part(cotangent, k, t, free) for k, t in enumerate(ty.fields)
            ]
            return densified(parts[0], first, pay), densified(parts[1], second, pay)
        case Sum() if cotangent is not None:
            held = densified(cotangent.value, ty.payloads[cotangent.index], pay)
            return Sparse().inject(cotangent.index, held)
        case _:
            return cotangent


def consumptions(
    term: Term,
    variables: Variables,
    values: Sequence[Any],
    cotangent: Any,
    before: Sequence[Any],
    rules: Rules | None = None,
) -> int:
    """How often a cotangent is consumed at most when the derivative is run."""
    linear = Counting()
    derived = (rules or Monadic()).differentiate(variables, term)
    cells = [linear.counted(d) for d in before]
    run_derived(
        ArrayMonad(linear),
        derived,
        variables,
        values,
        linear.counted(cotangent),
        cells,
    )
    return linear.most


def bind_excess(
    monad: Monad,
    terms: tuple[Term, Term],
    variables: Variables,
    values: Sequence[Any],
    cotangents: tuple[Any, Any],
    before: Sequence[Any],
) -> int:
    """The O(1) of the bind-cost lemma of §6, for the derivatives of two terms.

        cost(run (a >>= λx. b) e) = O(1) + cost(run a e) + cost(run b e') - |Γ|

    Here a = f d, b = g c for the backpropagators f and g of the terms. In our cost
    model the O(1) is the number of variables that λx. b captures: two, g and c.
    """
    scope, rules = Scope.of(variables), Monadic()
    machine = Machine(monad.linear, monad)
    types = [rules.type_of(term) for term in terms]
    env: dict[Var, Any] = {}
    calls: list[Term] = []
    with machine.running():
        for term, ty, d in zip(terms, types, cotangents, strict=True):
            own = dict(zip(scope, values, strict=True))
            _, bp = machine.eval(rules.differentiate(scope, term), own)
            f = Var("f", arrow(cotangent(ty), computation(scope, UNIT)))
            c = Var("c", cotangent(ty))
            env |= {f: bp, c: d}
            calls.append(Call(Ref(f), Ref(c)))
    first, second = calls
    bind = Do(Bind(), (first, Lam(Var("x", UNIT), second)))
    _, together = _cost_of_run(monad, bind, scope, env, before)
    between, one = _cost_of_run(monad, first, scope, env, before)
    _, other = _cost_of_run(monad, second, scope, env, between)
    return together - (one + other - len(scope))


def _cost_of_run(
    monad: Monad,
    term: Term,
    scope: Scope,
    env: dict[Var, Any],
    before: Sequence[Any],
) -> tuple[Sequence[Any], int]:
    """The cells after running a computation that a term gives, and its cost."""
    cells = Var("e", products([cotangent(ty) for ty in scope.types]))
    machine = Machine(monad.linear, monad)
    with machine.running():
        run = Do(Run(scope), (term, Ref(cells)))
        _, after = machine.eval(run, {**env, cells: nested(before)})
    return components(after, len(scope)), machine.cost
