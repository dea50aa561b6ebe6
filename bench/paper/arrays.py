"""Arrays (§7, §8, §8.1): the theorem, bags, gathers, and the span of a gradient."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from math import log2
from random import Random
from typing import Any

import chadllvm as cl
from bench.paper.claim import Claim, Curve, Report, Series
from chadllvm.ir.types import F64
from chadllvm.paper import bag
from chadllvm.paper.array_affine import CountingArrays
from chadllvm.paper.array_cost import Ratios, ratios
from chadllvm.paper.array_linear import sparse_arrays
from chadllvm.paper.cost import FACTOR, run_monadic, run_term
from chadllvm.paper.elements import Elements
from chadllvm.paper.linear import free
from chadllvm.paper.monad import ArrayMonad, Monadic
from chadllvm.paper.recognise import gathered
from chadllvm.paper.spread import spread
from chadllvm.paper.terms import Ref, Term, type_of
from chadllvm.paper.work import work_and_span
from tests.array_term_strategies import array_experiment
from tests.array_terms import (
    A,
    X,
    added,
    build,
    cheap_terms,
    experiment,
    fold,
    full,
    index,
    length,
    number,
    pointwise,
)
from tests.dual import EXACT, largest
from tests.term_strategies import Experiment

PROGRAMS = 2_000


def report(quick: bool) -> Report:
    """The claims about arrays, with the curve of the span."""
    sizes = [2**k for k in range(1, 7 if quick else 11)]
    curve = _spans(sizes)
    claims = [
        *_theorem(300 if quick else PROGRAMS, 100 if quick else 1000),
        _collecting(100 if quick else 2000),
        _inflated(),
        *_gathers(100 if quick else 1000),
        _span_claim(curve),
        _orders(100 if quick else 1000),
        _affine(100 if quick else 1000),
        _compiled(),
    ]
    return Report(claims, [curve])


def _measured(e: Experiment) -> Ratios:
    monad = ArrayMonad(sparse_arrays())
    return ratios(monad, e.term, e.scope, e.values, e.cotangent, e.before)


def _theorem(programs: int, n: int) -> list[Claim]:
    """Random terms, and those that are the worst that are known."""
    found = [_measured(array_experiment(seed)) for seed in range(programs)]
    worst: dict[str, Ratios] = {}
    for name, term in cheap_terms(n).items():
        value, _ = run_term(term, (X, A), (2.0, Elements([1.0] * n)))
        worst[name] = _measured(experiment(term, n, value))
    name = max(worst, key=lambda k: worst[k].amortised)
    return [
        _bound(f"{programs} random programs with arrays", found),
        _bound(f"{len(worst)} cheap ones, the worst is “{name}”", list(worst.values())),
    ]


def _bound(of: str, found: list[Ratios]) -> Claim:
    plain = max(r.plain for r in found)
    amortised = max(r.amortised for r in found)
    return Claim(
        says="cost ≤ 5 + 34 · cost(t) + 4 · |Γ| + size(d) with arrays and loops",
        place="§7: “the complexity proof should extend analogously”",
        measured=f"{of}: at most {plain:.1f}, with potential {amortised:.1f}",
        holds=max(plain, amortised) <= FACTOR,
    )


def _collecting(bags: int) -> Claim:
    """Random bags, each constructor paying for itself."""
    most = 0.0
    for seed in range(bags):
        rng, paid, collected = Random(seed), [0], [0]
        found = _bag(rng, rng.randrange(80), paid)
        bag.collect(found, collected.append)
        most = max(most, sum(collected) / sum(paid))
    return Claim(
        says="collecting a bag costs at most what building it did",
        place="§7",
        measured=f"{bags} random bags: at most {most:.3f} of it",
        holds=most <= 1,
    )


def _bag(rng: Random, size: int, paid: list[int]) -> bag.Bag:
    if size < 2:
        paid.append(1)
        return bag.BOne(0, 1.0) if size else bag.EMPTY
    if rng.random() < 0.2:
        paid.append(1)
        return bag.of_array([1.0] * size, None, paid.append)
    first = rng.randrange(size + 1)
    left, right = _bag(rng, first, paid), _bag(rng, size - first, paid)
    return bag.plus(left, right, paid.append)


def _inflated() -> Claim:
    paid: list[int] = []
    collected: list[int] = []
    made = bag.of_array([1.0] * 1000, None, paid.append)
    bag.collect(made, collected.append)
    return Claim(
        says="BArray’s cost, inflated to the array’s size, pays for its collect",
        place="§8.1",
        measured=f"of 1000 elements: {1 + sum(paid)} steps, collected in "
        f"{sum(collected)}",
        holds=sum(collected) <= 1 + sum(paid),
    )


def _gathers(n: int) -> list[Claim]:
    """The program of §8.1 as it stands, and rewritten."""
    values = [2.0, Elements([1.0] * n)]
    term = pointwise()
    rewritten = gathered(term)
    d = full(run_term(term, (X, A), values)[0], type_of(term))
    linear = sparse_arrays()
    before = [0.0, bag.EMPTY]
    plain, gather = (
        run_monadic(ArrayMonad(linear), t, (X, A), values, d, before)
        for t in (term, rewritten)
    )
    contributions = plain.cotangents[1], gather.cotangents[1]
    nodes = [_nodes(c) for c in contributions]
    spans = [work_and_span(t, (X, A), values, d).span for t in (term, rewritten)]
    return [
        Claim(
            says="a pointwise build, recognised, makes one BArray instead of a tree of "
            "BOne and BPlus",
            place="§8.1",
            measured=f"n = {n}: {nodes[0]} nodes before, {nodes[1]} after; "
            f"{plain.cost} steps before, {gather.cost} after; span {spans[0]} before, "
            f"{spans[1]} after",
            holds=nodes[1] == 1 and gather.cost < plain.cost and spans[1] <= spans[0],
        )
    ]


def _nodes(whole: bag.Bag) -> int:
    found, pending = 0, [whole]
    while pending:
        node = pending.pop()
        found += 1
        if isinstance(node, bag.BPlus):
            pending += (node.left, node.right)
    return found


def _spans(sizes: list[int]) -> Curve:
    """The span of gradients over the number of elements."""
    terms = {
        "replicate: build n (i. x)": lambda n: build(number(n), lambda i: Ref(X)),
        "copy: build n (i. a ! i)": lambda n: build(length(), index),
        "sum: fold (+) a": lambda n: fold(F64, added, Ref(A)),
        "pointwise, two builds": lambda n: pointwise(),
    }
    lines = [
        Series(name, tuple((float(n), float(_span(make(n), n))) for n in sizes))
        for name, make in terms.items()
    ]
    lines.append(Series("log2 n", tuple((float(n), log2(n)) for n in sizes)))
    return Curve(
        name="span",
        title="The span of gradients of parallel array programs",
        place="§8",
        x="elements",
        y="steps of the longest chain",
        series=tuple(lines),
        is_log=False,
    )


def _span(term: Term, n: int) -> int:
    values = [2.0, Elements([1.0] * n)]
    value, _ = run_term(term, (X, A), values)
    return work_and_span(term, (X, A), values, full(value, type_of(term))).span


def _primal_span(n: int) -> int:
    """That of build n (i. x) itself."""
    term = build(number(n), lambda i: Ref(X))
    values = [2.0, Elements([1.0])]
    return work_and_span(term, (X, A), values, bag.EMPTY).primal_span


def _span_claim(curve: Curve) -> Claim:
    points = curve.series[0].points
    first, last = points[0], points[-1]
    levels = log2(last[0]) - log2(first[0])
    each = (last[1] - first[1]) / levels
    spans = " and ".join(str(_primal_span(int(n))) for n, _ in (first, last))
    return Claim(
        says="the span of D[build n (i. x)] is at least log n, build’s is constant",
        place="§8",
        measured=f"build: {spans} steps; its gradient: {first[1]:.0f} for "
        f"n = {first[0]:.0f}, {last[1]:.0f} for n = {last[0]:.0f}, that is {each:.1f} "
        "more for each doubling",
        holds=_primal_span(int(first[0])) == _primal_span(int(last[0]))
        and each >= 1
        and all(span >= log2(n) for n, span in points),
    )


def _orders(programs: int) -> Claim:
    """Small integers, so that sums of floats are exact whatever their order."""
    sparse = sparse_arrays()
    same = met = 0
    for seed in range(programs):
        e = array_experiment(seed)
        value, _ = run_term(e.term, e.scope, e.values)
        if largest(value, e.type) > EXACT:
            continue
        met += 1
        found = [
            run_monadic(
                ArrayMonad(sparse),
                e.term,
                e.scope,
                e.values,
                e.cotangent,
                [sparse.zero(v.type, free) for v in e.scope],
                Monadic(swapped),
            ).cotangents
            for swapped in (False, True)
        ]
        same += _laid_out(e, found[0]) == _laid_out(e, found[1])
    return Claim(
        says="the order of >>, sequence and unTree’s two calls does not matter",
        place="§8",
        measured=f"{same} of {met} random programs give exactly the same both ways",
        holds=same == met,
    )


def _laid_out(e: Experiment, cotangents: Sequence[Any]) -> list[Any]:
    sparse = sparse_arrays()
    triples = zip(cotangents, e.values, e.scope, strict=True)
    return [spread(sparse, d, value, v.type) for d, value, v in triples]


def _affine(programs: int) -> Claim:
    most = 0
    for seed in range(programs):
        e = array_experiment(seed)
        counting = CountingArrays()
        d = counting.counted(e.cotangent)
        before = [counting.counted(one) for one in e.before]
        run_monadic(ArrayMonad(counting), e.term, e.scope, e.values, d, before)
        most = max(most, counting.most)
    return Claim(
        says="cotangents are used at most once, those of arrays too",
        place="§4.3, §7",
        measured=f"{programs} random programs: at most {most} times",
        holds=most <= 1,
    )


# Asked for NaN and cut into chunks for threads, a pass is more than one loop.
@cl.jit(options=cl.CompileOptions(disabled=frozenset({"finite", "parallel"})))
def doubled(x: cl.f64[:], w: cl.f64[:]) -> float:
    """The program of §8.1, with a sum to have a gradient of."""
    a = [math.sin(v) for v in x]
    b = [a[i] * 2.0 for i in range(len(a))]
    return sum(b[i] * w[i] for i in range(len(b)))


def _compiled() -> Claim:
    """What the compiler makes of it by default."""
    loops = str(cl.grad(doubled).show("loops"))
    passes = len(re.findall(r"^ *for ", loops, re.MULTILINE))
    buffers = loops.count("buffer ")
    additions = loops.count("+=")
    return Claim(
        says="the gradient of a pointwise program is one pointwise pass",
        place="§8.1",
        measured=f"compiled: {passes} loop, {buffers} buffer (the result), "
        f"{additions} additions to cells",
        holds=(passes, buffers, additions) == (1, 1, 0),
    )
