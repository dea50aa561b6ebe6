"""Gathers (§8.1), the derivative of fold by scans (§10), and the span (§8)."""

from __future__ import annotations

from itertools import pairwise
from math import log2
from typing import Any

import pytest

from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, I64, Product
from chadllvm.paper import bag
from chadllvm.paper.array_linear import sparse_arrays
from chadllvm.paper.arrays import Build, Index
from chadllvm.paper.cost import Outcome, run_basic, run_monadic, run_term
from chadllvm.paper.elements import Elements
from chadllvm.paper.fold import Fold
from chadllvm.paper.gathers import Gather, MapOver, Zip
from chadllvm.paper.linear import free
from chadllvm.paper.monad import ArrayMonad
from chadllvm.paper.recognise import gathered
from chadllvm.paper.scans import FoldByScans
from chadllvm.paper.sparse import Trees
from chadllvm.paper.spread import spread
from chadllvm.paper.terms import (
    Call,
    Do,
    Lam,
    Let,
    Match,
    Operation,
    Ref,
    Term,
    function,
    pair,
    type_of,
)
from chadllvm.paper.work import work_and_span
from chadllvm.support.diagnostic import InternalError
from tests.array_term_strategies import array_experiment
from tests.array_terms import (
    PAIR,
    A,
    X,
    added,
    build,
    fold,
    full,
    index,
    length,
    nested_fold,
    number,
    pointwise,
    prim,
)
from tests.sweep import part


def operations(term: Term) -> list[Operation]:
    """All operations of a term."""
    match term:
        case Ref():
            return []
        case Lam(_, body):
            return operations(body)
        case Let(_, bound, body):
            return operations(bound) + operations(body)
        case Call(first, second):
            return operations(first) + operations(second)
        case Match(arg, left, right):
            return operations(arg) + operations(left) + operations(right)
        case Do(op, args):
            return [op, *(found for arg in args for found in operations(arg))]


def counted(term: Term, *kinds: type) -> list[int]:
    found = operations(term)
    return [sum(isinstance(op, kind) for op in found) for kind in kinds]


def run(term: Term, values: list[Any], d: Any) -> Outcome:
    sparse = sparse_arrays()
    zeros = [sparse.zero(v.type, free) for v in (X, A)]
    return run_monadic(ArrayMonad(sparse), term, (X, A), values, d, zeros)


def gradient(term: Term, values: list[Any], d: Any) -> tuple[Any, Any]:
    """The value, and the cotangents laid out."""
    sparse = sparse_arrays()
    found = run(term, values, d)
    triples = zip(found.cotangents, values, (X, A), strict=True)
    return found.value, [spread(sparse, c, v, x.type) for c, v, x in triples]


def test_a_pointwise_build_is_a_map() -> None:
    """let a = build … in build (length a) (i. (a ! i) · 2)"""
    rewritten = gathered(pointwise())
    assert counted(rewritten, MapOver, Gather, Index, Zip) == [2, 0, 0, 0]


def test_other_indices_are_a_gather() -> None:
    def body(i: Term) -> Term:
        after = prim("imod", pair(prim("iadd", pair(i, number(1))), length()))
        return prim("mul", pair(index(i), index(after)))

    term = build(length(), body)
    rewritten = gathered(term)
    assert counted(rewritten, MapOver, Gather, Zip) == [1, 1, 1]
    values = [2.0, Elements([1.0, 2.0, 3.0, 5.0])]
    d = bag.of_array([1.0, 10.0, 100.0, 1000.0], None, free)
    assert gradient(rewritten, values, d) == gradient(term, values, d)


@pytest.mark.parametrize(
    "body",
    [
        lambda i: Match(
            prim("flt", pair(Ref(X), number(0.0))),
            Lam(Var("u", Product(())), number(1.0)),
            Lam(Var("u", Product(())), index(i)),
        ),
        lambda i: fold(F64, added, build(number(3), lambda j: index(j))),
    ],
)
def test_what_is_not_surely_read_is_no_gather(body: Any) -> None:
    """A branch may not be taken, an inner index is not the build's."""
    rewritten = gathered(build(length(), body))
    assert isinstance(rewritten, Do)
    assert isinstance(rewritten.op, Build)


def test_large_indices_are_not_computed_again() -> None:
    """Each is twice the one before: written out, the last would be exponential."""

    def body(i: Term) -> Term:
        names = [Var(f"j{k}", I64) for k in range(30)]
        term = index(prim("imod", pair(Ref(names[-1]), length())))
        for k in reversed(range(30)):
            before = Ref(names[k - 1]) if k else i
            term = Let(names[k], prim("iadd", pair(before, before)), term)
        return term

    rewritten = gathered(build(length(), body))
    assert isinstance(rewritten, Do)
    assert isinstance(rewritten.op, Build)


PROGRAMS = part(400, 5)


def test_gathers_mean_the_same() -> None:
    met = 0
    for seed in range(PROGRAMS):
        e = array_experiment(seed)
        rewritten = gathered(e.term)
        if counted(rewritten, MapOver) == [0]:
            continue
        met += 1
        value, _ = run_term(e.term, e.scope, e.values)
        assert run_term(rewritten, e.scope, e.values)[0] == value
        sparse = sparse_arrays()
        found, costs = [], []
        for term in (e.term, rewritten):
            outcome = run_basic(Trees(sparse), term, e.scope, e.values, e.cotangent)
            triples = zip(outcome.cotangents, e.values, e.scope, strict=True)
            laid_out = [spread(sparse, d, v, x.type) for d, v, x in triples]
            found.append(laid_out)
            costs.append(outcome.cost)
        assert same(*found), seed
        # Zips and indices made once more: a constant factor, of small programs too.
        assert costs[1] <= 4 * costs[0]
    assert met > 0.07 * PROGRAMS


def same(a: Any, b: Any) -> bool:
    """Equal, where sums that overflow in another order count as such."""
    return repr(a) == repr(b) or a == b


def test_a_gather_makes_one_array_of_contributions() -> None:
    """Nothing but BArray comes out for `a`, where the build makes BOne and BPlus."""
    values = [2.0, Elements([1.0] * 50)]
    term = pointwise()
    d = full(run_term(term, (X, A), values)[0], type_of(term))
    rewritten, plain = (run(t, values, d) for t in (gathered(term), term))
    assert isinstance(rewritten.cotangents[1], bag.BArray)
    assert bag.depth(plain.cotangents[1]) == 49
    assert rewritten.cost < plain.cost


# Scans.


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9])
def test_scans_give_the_same_derivative(n: int) -> None:
    values = [2.0, Elements([1.0 + k / 4 for k in range(n)])]
    star = function("p", PAIR, lambda p: prim("mul", p))
    found = [
        gradient(Do(op, (star, Ref(A))), values, 2.0) for op in (Fold(), FoldByScans())
    ]
    assert found[0] == found[1]


def test_scans_refuse_a_function_with_variables() -> None:
    star = function("p", PAIR, lambda p: prim("mul", pair(added(p), Ref(X))))
    term = Do(FoldByScans(), (star, Ref(A)))
    with pytest.raises(InternalError, match="with variables"):
        run(term, [1.0, Elements([1.0, 2.0])], 1.0)


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_nested_folds_by_scans_give_the_same(depth: int) -> None:
    values = [2.0, Elements([1.5, 2.0, 4.0])]
    found = [
        gradient(nested_fold(op, depth), values, 1.0) for op in (Fold(), FoldByScans())
    ]
    assert found[0] == found[1]


def test_scans_blow_up_under_nested_folds_and_trees_do_not() -> None:
    values = [2.0, Elements([1.0, 1.0])]
    trees, scans = (
        [run(nested_fold(op, depth), values, 1.0).cost for depth in range(2, 8)]
        for op in (Fold(), FoldByScans())
    )
    assert all(b > 1.6 * a for a, b in pairwise(scans))
    assert len({b - a for a, b in pairwise(trees)}) == 1


# Span.


def spans(term: Term, n: int) -> tuple[int, int]:
    """The span of a term, and that of its gradient."""
    values = [2.0, Elements([1.0] * n)]
    value, _ = run_term(term, (X, A), values)
    found = work_and_span(term, (X, A), values, full(value, type_of(term)))
    return found.primal_span, found.span


def test_replication_has_a_constant_span_its_derivative_a_logarithmic_one() -> None:
    sizes = [2**k for k in range(1, 9)]
    found = [spans(build(number(n), lambda i: Ref(X)), n) for n in sizes]
    assert len({primal for primal, _ in found}) == 1
    spans_of_gradients = [span for _, span in found]
    steps = [b - a for a, b in pairwise(spans_of_gradients)]
    assert len(set(steps)) == 1 and steps[0] >= 1
    assert all(
        span >= log2(n) for n, span in zip(sizes, spans_of_gradients, strict=True)
    )


@pytest.mark.parametrize(
    "term",
    [
        build(length(), lambda i: index(i)),
        build(length(), lambda i: index(number(0))),
        fold(F64, added, Ref(A)),
    ],
)
def test_the_span_of_a_gradient_is_within_a_logarithm(term: Term) -> None:
    small, large = spans(term, 16)[1], spans(term, 256)[1]
    assert large <= 2 * small


def test_work_is_what_the_machine_counts() -> None:
    values = [2.0, Elements([1.0] * 20)]
    term = pointwise()
    d = full(run_term(term, (X, A), values)[0], type_of(term))
    found = work_and_span(term, (X, A), values, d)
    assert found.work == run(term, values, d).cost
    assert found.span < found.work / 5
    expected = gradient(term, values, d)[1]
    sparse = sparse_arrays()
    triples = zip(found.cotangents, values, (X, A), strict=True)
    assert [spread(sparse, c, v, x.type) for c, v, x in triples] == expected
