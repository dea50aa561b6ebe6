"""The monad over the C accumulation array: what `ArrayMonad` does, at the same cost."""

from __future__ import annotations

import contextlib
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from chadllvm.backend.runtime import runtime
from chadllvm.ir.op import ProgramError
from chadllvm.ir.parse import parse
from chadllvm.ir.rewrite import with_body
from chadllvm.ir.term import Block, Program
from chadllvm.ir.types import F64, UNIT, Product, Sum, Type
from chadllvm.ir.value import Injected
from chadllvm.paper.accumulation import RuntimeMonad, accumulation
from chadllvm.paper.array_linear import dense_arrays, sparse_arrays
from chadllvm.paper.bag import EMPTY, BArray, BOne, BPlus
from chadllvm.paper.cost import Outcome, run_gradient, run_monadic, run_term
from chadllvm.paper.deep import deep
from chadllvm.paper.linear import free
from chadllvm.paper.monad import ArrayMonad, Monad
from chadllvm.paper.naive import Dense
from chadllvm.paper.sparse import Sparse
from chadllvm.support.diagnostic import InternalError
from tests.array_reference import Example, monadic
from tests.array_strategies import array_cases
from tests.strategies import Case, cases
from tests.sum_strategies import sum_cases
from tests.sweep import part
from tests.term_strategies import Experiment, TermWriter, experiment

EXPERIMENTS = 150

EXAMPLES = settings(
    max_examples=part(40, 4),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)

REAL_OR_REAL = Sum((("left", F64), ("right", F64)))


def in_use() -> int:
    """Bytes that the contexts of the pool have in use."""
    rt = runtime()
    return sum(rt.lib.chad_memory_used(context) for context, *_ in rt.pool)


def outcomes(monad: Monad, found: Experiment) -> list[Outcome]:
    """A run that adds to cotangents that are there, and one from zeros."""
    program = found.term, found.scope, found.values, found.cotangent
    return [
        run_monadic(monad, *program, found.before),
        run_gradient(monad, *program),
    ]


def test_random_terms() -> None:
    for seed in range(EXPERIMENTS):
        found = experiment(seed)
        expected = outcomes(ArrayMonad(Sparse()), found)
        assert outcomes(RuntimeMonad(Sparse()), found) == expected
    assert in_use() == 0


def test_random_terms_with_dense_cotangents() -> None:
    for seed in range(EXPERIMENTS):
        found = experiment(seed, 50)
        value, _ = run_term(found.term, found.scope, found.values)
        writer = TermWriter(Random(seed))
        writer.density = 1.0
        ct = writer.cotangent(value, found.type)
        zeros = [Dense().zero(v.type, free) for v in found.scope]
        program = found.term, found.scope, found.values, ct, zeros
        expected = run_monadic(ArrayMonad(Dense()), *program)
        assert run_monadic(RuntimeMonad(Dense()), *program) == expected


def agree(program: Program, args: tuple[Any, ...]) -> None:
    """Both monads give the same numbers, to the last bit, and take the same steps."""
    example = Example.of(program, args)
    sparse = sparse_arrays()
    found = []
    for monad in (ArrayMonad(sparse), RuntimeMonad(sparse)):
        outcome = monadic(monad)(example, 1.0)
        numbers = example.numbers(sparse, outcome.cotangents)
        found.append((outcome.value, [n.hex() for n in numbers], outcome.cost))
    assert found[0] == found[1]


@EXAMPLES
@given(cases(size=8) | sum_cases())
def test_random_programs(case: Case) -> None:
    agree(case.program, case.args)


@EXAMPLES
@given(array_cases())
def test_random_programs_over_arrays(case: Case) -> None:
    body = case.program.entry.body
    entry = with_body(case.program.entry, Block(body.bindings, body.results[:1]))
    with contextlib.suppress(ProgramError):
        agree(Program((*case.program.functions[:-1], entry)), case.args)
    assert in_use() == 0


# Cotangents go to C and back as they are.

CONVERTED: list[Any] = [
    None,
    (),
    -0.0,
    float("inf"),
    (None, ()),
    (1.5, (None, Injected(1, ((), 2.0)))),
    Injected(0, None),
]


@pytest.mark.parametrize("cotangent", CONVERTED, ids=repr)
def test_conversion(cotangent: Any) -> None:
    with accumulation() as cells:
        assert cells.open(cotangent) == 0
        assert repr(cells.close(0)) == repr(cotangent)


def test_conversion_of_bags() -> None:
    bag = BPlus(
        BPlus(BOne(3, (1.0, None)), BArray([1.0, 2.0])),
        BPlus(BArray([(), None], [7, 0]), BOne(0, EMPTY)),
    )
    with accumulation() as cells:
        assert cells.open(bag) == 0
        assert repr(cells.close(0)) == repr(bag)
        assert cells.open(EMPTY) == 0
        assert cells.add(0, bag) == 2
        assert repr(cells.close(0)) == repr(bag)


def test_what_is_no_cotangent_is_refused() -> None:
    for wrong in ("text", (1.0, 2.0, 3.0), 1, [1.0]):
        with (
            pytest.raises(InternalError, match="a cotangent that is a"),
            accumulation() as cells,
        ):
            cells.open(wrong)
    assert in_use() == 0


def test_arrays_in_the_naive_form_are_refused() -> None:
    with pytest.raises(InternalError, match="only bags"):
        RuntimeMonad(dense_arrays())


# What goes wrong leaves nothing behind.


def run_one(ty: Type, before: Any, added: Any) -> Any:
    monad = RuntimeMonad(Sparse())
    _, after = monad.run(monad.one(0, ty, added, free), [before])
    return after[0]


def test_constructors_do_not_mix() -> None:
    with pytest.raises(InternalError, match="other constructor"):
        run_one(REAL_OR_REAL, Injected(0, 1.0), Injected(1, 1.0))
    assert in_use() == 0
    assert run_one(REAL_OR_REAL, None, Injected(1, 1.0)) == Injected(1, 1.0)


def test_a_scope_that_is_not_the_next_is_refused() -> None:
    monad = RuntimeMonad(Sparse())
    inner = monad.pure((), free)
    with pytest.raises(InternalError, match="cell 0 for 1"):
        monad.run(monad.scope(1, UNIT, (), inner, free), [])


def test_no_memory() -> None:
    rt = runtime()
    if not rt.pool:
        rt.pool.append(rt.new_state())
    context = rt.pool[-1][0]
    rt.lib.chad_set_memory_limit(context, 100_000)
    pairs: Any = None
    for _ in range(100_000):
        pairs = (pairs, 1.0)
    try:
        with pytest.raises(MemoryError, match="accumulation array"):
            run_one(Product((UNIT, F64)), None, pairs)
        assert rt.lib.chad_memory_used(context) == 0
        assert run_one(F64, 1.0, 2.0) == 3.0
    finally:
        rt.lib.chad_set_memory_limit(context, -1)


def test_depth() -> None:
    pairs: Any = None
    for _ in range(100_000):
        pairs = (pairs, 1.0)
    total = run_one(Product((UNIT, F64)), pairs, pairs)
    for _ in range(100_000):
        total, last = total
        assert last == 2.0
    assert total is None


def test_many_scopes() -> None:
    """Scopes in each other, each of which adds to itself and all outside of it."""
    monad = RuntimeMonad(Sparse())
    depth = 300

    def scopes(index: int) -> Any:
        if index == depth:
            return monad.pure("done", free)
        inner = scopes(index + 1)
        for outer in range(index + 1):
            added = monad.one(outer, F64, 1.0, free)
            inner = monad.bind(added, lambda _, rest=inner: rest, free)
        return monad.scope(index, F64, 0.0, inner, free)

    with deep():
        value, after = monad.run(scopes(0), [])
    assert after == ()
    for k in range(depth):
        cotangent, value = value
        assert cotangent == depth - k
    assert value == "done"


def test_a_program() -> None:
    text = "def f(x: f64, y: f64) { z = mul(x, y)  w = add(z, x)  return w }"
    example = Example.of(parse(text), (3.0, 5.0))
    outcome = monadic(RuntimeMonad(sparse_arrays()))(example, 1.0)
    assert outcome.value == 18.0
    assert outcome.cotangents == (6.0, 3.0)
