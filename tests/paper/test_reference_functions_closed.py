"""Closed functions and packed values: their types, their cotangents, what is refused.

The terms here use `unpack` in ways that closure conversion never does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from chadllvm.ir.op import PRIMS
from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, I64, UNIT
from chadllvm.paper import defunctionalise as defunctionalisation
from chadllvm.paper.check import check
from chadllvm.paper.closed import ClosedBasic, ClosedMonadic
from chadllvm.paper.closure import convert
from chadllvm.paper.cost import Outcome, run_basic, run_monadic, run_term
from chadllvm.paper.defunctionalise import deexistentialise, defunctionalise
from chadllvm.paper.function_types import (
    TYPE,
    bound,
    closed,
    exists,
    hidden,
    opened,
    primal,
)
from chadllvm.paper.higher_order import HigherOrder
from chadllvm.paper.linear import free
from chadllvm.paper.machine import Machine
from chadllvm.paper.monad import ArrayMonad, Monadic, TreeMonad
from chadllvm.paper.naive import Basic, Dense, Tuples
from chadllvm.paper.packed import (
    CLOSED,
    ClosedFunction,
    LinearPack,
    LinearUnpack,
    Pack,
    PackedCotangents,
    Unpack,
)
from chadllvm.paper.sparse import Sparse, Trees
from chadllvm.paper.terms import (
    Call,
    Do,
    Lam,
    Let,
    Literal,
    Match,
    Primitive,
    Ref,
    Term,
    fst,
    pair,
    snd,
    unit,
)
from chadllvm.paper.type_passing import pass_types
from chadllvm.paper.types import IllTyped, cotangent, product
from chadllvm.support.diagnostic import InternalError
from tests.function_term_strategies import function, nested

PAIR = product(F64, F64)


def apply(name: str, *args: Term) -> Term:
    arg = args[0] if len(args) == 1 else pair(*args)
    return Do(Primitive(PRIMS[name]), (arg,))


def number(value: float) -> Term:
    return Do(Literal(value), (unit(),))


def everywhere(
    term: Term, scope: Sequence[Var], values: Sequence[Any], d: Any = 1.0
) -> tuple[Any, list[float]]:
    """The value and all cotangents of a term of closed functions, by all forms."""
    found: list[Outcome] = []
    numbers: list[list[float]] = []
    for linear in (Dense(CLOSED), Sparse(CLOSED)):
        zeros = [linear.zero(v.type, free) for v in scope]
        outcomes = [
            run_basic(environments, term, scope, values, d, ClosedBasic())
            for environments in (Tuples(linear), Trees(linear))
        ]
        outcomes += [
            run_monadic(monad, term, scope, values, d, zeros, ClosedMonadic())
            for monad in (TreeMonad(linear), ArrayMonad(linear))
        ]
        found += outcomes
        for outcome in outcomes:
            pairs = zip(outcome.cotangents, scope, strict=True)
            numbers.append([n for x, v in pairs for n in linear.numbers(x, v.type)])
    for form in (ClosedBasic(), ClosedMonadic()):
        check(form.differentiate(scope, term), scope)
    first_order = deexistentialise(scope, term)
    check(first_order, scope)
    linear = Sparse()
    zeros = [linear.zero(v.type, free) for v in scope]
    outcome = run_monadic(ArrayMonad(linear), first_order, scope, values, d, zeros)
    pairs = zip(outcome.cotangents, scope, strict=True)
    numbers.append([n for x, v in pairs for n in linear.numbers(x, v.type)])
    for other in (*found, outcome):
        assert other.value == found[0].value
    for row in numbers:
        assert row == pytest.approx(numbers[0], rel=1e-12)
    return found[0].value, numbers[0]


# Types.


def test_types_of_functions() -> None:
    """D[·]₁, and types that are equal up to the names of their variables."""
    ty = exists(product(bound(), closed(bound(), F64)))
    assert opened(ty, F64) == product(F64, closed(F64, F64))
    assert opened(primal(ty), F64) == primal(opened(ty, F64))
    assert opened(primal(ty), ty) == primal(opened(ty, ty))
    nested_type = exists(product(bound(), exists(product(bound(), bound(1)))))
    inner = exists(product(bound(), F64))
    assert opened(nested_type, F64) == product(F64, inner)
    assert closed(F64, F64) != function(F64, F64)
    assert str(closed(F64, F64)) == "closed (f64) -> (f64)"


def test_conversion_of_types() -> None:
    x, y = Var("x", F64), Var("y", F64)
    term = convert(Lam(x, apply("mul", Ref(x), Ref(y))))
    expected = exists(product(bound(), closed(product(bound(), F64), F64)))
    assert check(term, [y]) == expected


# Hidden types.


def opened_twice() -> tuple[Term, list[Var], list[Any]]:
    """A packed pair or number, and a function of it that is called three times.

    let p = if k < 0 then pack ⟨⟨x, y⟩, λq. q₁ q₂⟩ else pack ⟨x, λr. r r⟩
    unpack p as α, z in f z₁ + f (fst ⟨z₁, z₁⟩) + (let w = z₁ in f w)
    """
    k, x, y = Var("k", I64), Var("x", F64), Var("y", F64)
    ty = exists(product(bound(), closed(bound(), F64)))
    q, r = Var("q", PAIR), Var("r", F64)
    on_pairs = ClosedFunction(Lam(q, apply("mul", fst(Ref(q)), snd(Ref(q)))))
    on_numbers = ClosedFunction(Lam(r, apply("mul", Ref(r), Ref(r))))
    packed_pair = Do(Pack(PAIR, ty), (pair(pair(Ref(x), Ref(y)), Do(on_pairs)),))
    packed_number = Do(Pack(F64, ty), (pair(Ref(x), Do(on_numbers)),))
    is_negative = apply("ilt", Ref(k), Do(Literal(0), (unit(),)))
    no, yes = Var("no", UNIT), Var("yes", UNIT)
    p = Match(is_negative, Lam(no, packed_number), Lam(yes, packed_pair))
    alpha = Var("α", TYPE)
    z = Var("z", opened(ty, hidden(alpha)))
    w, both = Var("w", hidden(alpha)), pair(fst(Ref(z)), fst(Ref(z)))
    calls = [Call(snd(Ref(z)), t) for t in (fst(Ref(z)), fst(both))]
    last = Let(w, fst(Ref(z)), Call(snd(Ref(z)), Ref(w)))
    total = apply("add", apply("add", *calls), last)
    term = Let(z, Do(Unpack(alpha), (p,)), total)
    return term, [k, x, y], [-1, 3.0, 5.0]


def test_cotangents_of_a_hidden_type_are_added_up() -> None:
    term, scope, values = opened_twice()
    assert check(term, scope) == F64
    assert everywhere(term, scope, values) == (45.0, [15.0, 9.0])
    assert everywhere(term, scope, [1, 3.0, 5.0]) == (27.0, [18.0, 0.0])


def test_a_hidden_value_that_is_not_used_has_a_zero() -> None:
    """The zero of α: dense zeros have the shape of what is hidden."""
    x = Var("x", PAIR)
    ty = exists(product(bound(), F64))
    alpha = Var("α", TYPE)
    z = Var("z", opened(ty, hidden(alpha)))
    packed = Do(Pack(PAIR, ty), (pair(Ref(x), fst(Ref(x))),))
    term = Let(z, Do(Unpack(alpha), (packed,)), snd(Ref(z)))
    assert everywhere(term, [x], [(2.0, 3.0)]) == (2.0, [1.0, 0.0])


def test_a_hidden_value_may_be_packed_again() -> None:
    """The new tag mentions the hidden type: ⟨w, x⟩ hides α × ℝ."""
    x = Var("x", PAIR)
    ty = exists(product(bound(), closed(bound(), F64)))
    q = Var("q", PAIR)
    f = Do(ClosedFunction(Lam(q, apply("mul", fst(Ref(q)), snd(Ref(q))))))
    alpha, beta = Var("α", TYPE), Var("β", TYPE)
    z = Var("z", opened(ty, hidden(alpha)))
    plain = exists(product(bound(), F64))
    again_type = product(hidden(alpha), F64)
    value = Call(snd(Ref(z)), fst(Ref(z)))
    again = Do(Pack(again_type, plain), (pair(pair(fst(Ref(z)), number(1.0)), value),))
    y = Var("y", opened(plain, hidden(beta)))
    inner = Let(y, Do(Unpack(beta), (again,)), snd(Ref(y)))
    packed = Do(Pack(PAIR, ty), (pair(Ref(x), f),))
    term = Let(z, Do(Unpack(alpha), (packed,)), inner)
    assert check(term, [x]) == F64
    assert check(pass_types(term), [x]) == F64
    assert run_term(pass_types(term), [x], [(2.0, 3.0)])[0] == 6.0
    assert everywhere(term, [x], [(2.0, 3.0)]) == (6.0, [3.0, 2.0])


def test_an_unpacked_type_stays_inside() -> None:
    ty = exists(product(bound(), F64))
    alpha = Var("α", TYPE)
    z = Var("z", opened(ty, hidden(alpha)))
    packed = Do(Pack(F64, ty), (pair(number(1.0), number(2.0)),))
    with pytest.raises(IllTyped, match="α is known outside"):
        pass_types(Let(z, Do(Unpack(alpha), (packed,)), fst(Ref(z))))
    with pytest.raises(IllTyped, match="not bound by a let"):
        pass_types(snd(Do(Unpack(alpha), (packed,))))


# What is refused.


def test_closed_functions_are_closed() -> None:
    x, y = Var("x", F64), Var("y", F64)
    with pytest.raises(IllTyped, match="ClosedFunction: y not bound in it"):
        ClosedFunction(Lam(x, apply("mul", Ref(x), Ref(y))))
    alpha = Var("α", TYPE)
    with pytest.raises(IllTyped, match="parameter's type is hidden"):
        ClosedFunction(Lam(Var("w", hidden(alpha)), number(1.0)))


def test_ill_typed_terms_of_functions() -> None:
    ty = exists(product(bound(), F64))
    x = Var("x", F64)
    with pytest.raises(IllTyped, match="Pack: expected"):
        check(Do(Pack(PAIR, ty), (pair(Ref(x), Ref(x)),)), [x])
    with pytest.raises(IllTyped, match="Unpack: expected a packed value"):
        check(Do(Unpack(Var("α", TYPE)), (Ref(x),)), [x])
    with pytest.raises(IllTyped, match="LinearPack: expected"):
        check(Do(LinearPack(F64, ty), (Ref(x),)), [x])
    with pytest.raises(IllTyped, match="LinearUnpack: expected"):
        check(Do(LinearUnpack(F64, ty), (Ref(x),)), [x])
    f = Do(ClosedFunction(Lam(Var("y", F64), number(1.0))))
    with pytest.raises(IllTyped, match="Call: expected"):
        check(Call(f, unit()))


def test_tags_that_differ_are_an_internal_error() -> None:
    """A cast to another tag names the program and the operation."""
    ty = exists(product(bound(), F64))
    d = Var("d", cotangent(opened(ty, F64)))
    term = Do(LinearUnpack(UNIT, ty), (Do(LinearPack(F64, ty), (Ref(d),)),))
    machine = Machine(Sparse(CLOSED), name="the program p")
    with (
        pytest.raises(InternalError, match=r"hides f64.*in the program p, at Linear"),
        machine.running(),
    ):
        machine.eval(term, {d: (1.0, 1.0)})


@pytest.mark.parametrize("kind", [Dense, Sparse])
def test_packed_cotangents_are_a_monoid(kind: type[Dense] | type[Sparse]) -> None:
    linear, ty = kind(CLOSED), exists(product(bound(), F64))
    pack = LinearPack(F64, ty)
    machine = Machine(linear)
    a, b = (pack.run(machine, (x, 2.0 * x)) for x in (1.0, 4.0))
    zero = linear.zero(ty, free)
    total = linear.plus(a, b, ty, free)
    assert total == linear.plus(b, a, ty, free) == pack.run(machine, (5.0, 10.0))
    assert linear.plus(a, zero, ty, free) == linear.plus(zero, a, ty, free) == a
    assert linear.numbers(total, ty) == [5.0, 10.0]
    assert linear.numbers(zero, ty) == []
    steps: list[int] = []
    linear.plus(a, b, ty, steps.append)
    sizes = [PackedCotangents().size(linear, x, ty) for x in (a, b, total)]
    assert sum(steps) <= sizes[0] + sizes[1] - sizes[2]
    other = LinearPack(I64, ty).run(machine, ((), 1.0))
    with pytest.raises(InternalError, match="hides i64, not f64"):
        linear.plus(a, other, ty, free)


def test_unknown_functions_are_refused() -> None:
    f, x = Var("f", function(F64, F64)), Var("x", F64)
    with pytest.raises(InternalError, match="the function in f is unknown"):
        defunctionalise([f, x], Call(Ref(f), Ref(x)))
    with pytest.raises(InternalError, match="the function in f is unknown"):
        convert(Call(Ref(f), Ref(x)))
    with pytest.raises(InternalError, match="x is unknown"):
        defunctionalise([], Ref(x))
    with pytest.raises(InternalError, match="in the result"):
        defunctionalise([], Lam(x, Ref(x)))
    with pytest.raises(InternalError, match="not closed"):
        deexistentialise([x], Call(Lam(Var("y", F64), number(1.0)), Ref(x)))


def test_rules_refuse_functions_of_other_routes() -> None:
    x = Var("x", F64)
    term = Call(Lam(Var("y", F64), number(1.0)), Ref(x))
    for rules in (Basic(), Monadic(), ClosedBasic(), ClosedMonadic()):
        with pytest.raises(InternalError, match=r"a (call|function) in the source"):
            rules.differentiate([x], term)
    with pytest.raises(InternalError, match="ClosedFunction in the source"):
        HigherOrder().differentiate([], Do(ClosedFunction(Lam(x, Ref(x)))))
    with pytest.raises(InternalError, match="without cotangents of functions"):
        run_basic(Tuples(Dense()), term, [x], [1.0], 1.0, HigherOrder())


def test_copies_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defunctionalisation, "LARGEST", 10)
    program = nested(20)
    with pytest.raises(InternalError, match="more than 10 copies"):
        defunctionalise(program.scope, program.term)
