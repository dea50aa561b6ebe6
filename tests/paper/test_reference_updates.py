"""Updates of arrays in the reference forms: exact, and within the theorem in loops."""

from __future__ import annotations

import pytest

from chadllvm.ir.parse import parse
from chadllvm.paper import bag, maps
from chadllvm.paper.array_cost import ratios
from chadllvm.paper.array_linear import sparse_arrays
from chadllvm.paper.linear import free
from chadllvm.paper.monad import ArrayMonad
from tests.array_reference import Example, agree, derivatives_are_well_typed

# A loop of updates, each of an element that others were put in before.
LOOP = """
def f(a: f64[:], x: f64) {
  n = dim[0](a)
  m = imul(n, 3)
  b = iterate(m, a) { k, s: f64[:] ->
    i = imod(k, n)
    k2 = imul(k, 2)
    j = imod(k2, n)
    u = index(s, i)
    v = index(s, j)
    w = mul(u, x)
    y = add(w, v)
    z = sin(y)
    r = update(s, i, z)
    yield r
  }
  t = fold[add](n) { i -> e = index(b, i)  yield e }
  return t
}
"""

ROWS = """
def f(a: f64[:, :], x: f64) {
  b = update(a, 1, 0, x)
  row = index(a, 0)
  c = update(b, 1, row)
  d = update(c, 0, 1, x)
  y = index(d, 1, 1)
  z = index(d, 0, 1)
  u = index(b, 1, 0)
  v = index(d, 0, 0)
  p = mul(y, z)
  q = mul(u, v)
  r = mul(p, q)
  return r
}
"""

ARGUMENTS = {
    LOOP: ([0.5, -1.0, 2.0], 0.7),
    ROWS: ([[1.5, 2.0], [3.0, 4.0]], 0.7),
}


@pytest.mark.parametrize("text", [LOOP, ROWS], ids=["loop", "rows"])
def test_updates_agree_with_the_compiler(text: str) -> None:
    program, args = parse(text), ARGUMENTS[text]
    agree(program, args)
    derivatives_are_well_typed(Example.of(program, args))


def test_a_loop_of_updates_is_within_the_theorem() -> None:
    """Each step takes an element out of a cotangent as long as the array."""
    found = []
    for n in (20, 200):
        e = Example.of(parse(LOOP), ([0.5] * n, 0.7))
        monad = ArrayMonad(sparse_arrays())
        before = [monad.linear.zero(v.type, free) for v in e.scope]
        found.append(ratios(monad, e.term, e.scope, e.values, 1.0, before))
    assert found[1].plain <= 1.05 * found[0].plain < 20
    assert found[1].amortised <= 1.05 * found[0].amortised < 20


def test_what_is_taken_is_no_longer_there() -> None:
    def add(key: int, new: float, old: float) -> float:
        return old + new

    whole: bag.Bag = bag.BArray([1.0, 2.0, 4.0])
    for index in (2, 0, 2):
        whole = bag.plus(whole, bag.BOne(index, 8.0), free)
    rest, found = bag.taken(whole, 2, add, free)
    assert found == (20.0,)
    assert bag.collect(rest, free) == [(0, 9.0), (1, 2.0)]
    assert bag.taken(rest, 2, add, free)[1] is None


def test_settled_cells_are_not_settled_again() -> None:
    def add(key: int, new: float, old: float) -> float:
        return old + new

    whole: bag.Bag = bag.BArray([1.0] * 1000)
    whole, _ = bag.taken(whole, 0, add, free)
    paid: list[int] = []
    whole, _ = bag.taken(bag.plus(whole, bag.BOne(5, 1.0), free), 1, add, paid.append)
    assert sum(paid) < 10
    assert isinstance(whole, bag.BCells)
    assert maps.size(whole.cells) == 998
