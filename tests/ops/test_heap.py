"""Heaps: nodes of recursive data, in the interpreter and both lowerings, with
derivatives of every nesting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from chadllvm.backend.call import NativeFunction
from chadllvm.chad.forward import push_forward
from chadllvm.chad.gradient import value_and_gradient
from chadllvm.closure.convert import convert_closures
from chadllvm.driver.passes import DERIVATIVE, FINAL, PLAIN, PRIMAL, SOURCE
from chadllvm.driver.pipeline import Compilation
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter, evaluate
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.parse import parse
from chadllvm.ir.pretty import alpha_equal, pretty
from chadllvm.ir.term import Block, Function, Program
from chadllvm.ir.types import Product
from chadllvm.ir.value import to_value
from chadllvm.lower.boxed.lower import lower_boxed
from chadllvm.lower.lower import lower_function
from chadllvm.support.options import CompileOptions

# A list of numbers is made by recursion, and folded by recursion; the heap begins with
# nodes of an argument, so that the derivative by these is that by a column.
LISTS = """
def main(x: f64, n: i64, heads: f64[:], tails: i64[:]) {
  load[List, f64, i64](heads, tails)
  first = recurse(x, n) { make: (f64, i64) -> (i64), y: f64, left: i64 ->
    done = ile(left, 0)
    node = if done {
      yield -1
    } else {
      half = mul(y, 0.5)
      fewer = isub(left, 1)
      rest = call make(half, fewer)
      head = sin(y)
      new = new[List, f64, i64](head, rest)
      yield new
    }
    yield node
  }
  given, made = iterate(2, 0.0, 0.0) { i, a: f64, b: f64 ->
    is_first = ieq(i, 0)
    start = if is_first {
      yield first
    } else {
      yield 0
    }
    total = recurse(start) { fold: (i64) -> (f64), at: i64 ->
      empty = ilt(at, 0)
      sum = if empty {
        yield 0.0
      } else {
        h, t = fetch[List, f64, i64](at)
        others = call fold(t)
        square = mul(h, h)
        cube = mul(square, h)
        scaled = mul(others, h)
        both = add(cube, scaled)
        yield both
      }
      yield sum
    }
    yield total, a
  }
  product = mul(given, made)
  result = add(product, made)
  return result
}
"""

HEADS = np.array([0.3, 0.5, 0.9])
TAILS = np.array([1, 2, -1])
ARGS = (0.7, 5, HEADS, TAILS)


def expected(x: float, n: int, heads: Sequence[float], tails: object) -> float:
    def fold(values: list[float]) -> float:
        if not values:
            return 0.0
        return values[0] ** 3 + values[0] * fold(values[1:])

    made = fold([np.sin(x * 0.5**k) for k in range(n)])
    return made * fold(list(heads)) + made


def program() -> Program:
    made = parse(LISTS)
    check(made)
    return made


def gradient(made: Program) -> Program:
    entry = value_and_gradient(made.entry, (0, 2))
    new = Program((entry,))
    check(new, after="chad")
    return new


def second(made: Program) -> Function:
    """The slope by x as a function."""
    entry = made.entry
    body = Block(entry.body.bindings, (entry.body.results[1],))
    return Function("slope", entry.params, body)


Run = Callable[[Program], Callable[..., tuple[Any, ...]]]


def interpreted(made: Program) -> Callable[..., tuple[Any, ...]]:
    return lambda *args: tuple(np.atleast_1d(np.asarray(evaluate(made, *args), object)))


def compiled(loops: Any, made: Program) -> Callable[..., tuple[Any, ...]]:
    check_loops(loops)
    params, types = made.entry.params, made.entry.body.types
    names, result = [f"p{k}" for k in range(len(params))], Product(types)
    return NativeFunction(loops, "main", names, [p.type for p in params], result)


def native(made: Program) -> Callable[..., tuple[Any, ...]]:
    run = Compilation(CompileOptions()).run
    made = run(made, (*DERIVATIVE, *FINAL))
    return compiled(lower_function(made.entry, made.tape), made)


def boxed(made: Program) -> Callable[..., tuple[Any, ...]]:
    return compiled(lower_boxed(made.entry), made)


WAYS = pytest.mark.parametrize("run", [interpreted, native, boxed])


def slope(of: Callable[[float], float], at: float) -> float:
    return (of(at + 1e-6) - of(at - 1e-6)) / 2e-6


def by_heads() -> list[float]:
    def moved(k: int, by: float) -> float:
        heads = HEADS.copy()
        heads[k] += by
        return expected(0.7, 5, heads, TAILS)

    return [slope(lambda h, k=k: moved(k, h), 0.0) for k in range(3)]


def test_text() -> None:
    for made in (program(), convert_closures(gradient(program()))):
        assert alpha_equal(parse(pretty(made)), made)


@WAYS
def test_value(run: Run) -> None:
    (found,) = run(program())(*ARGS)
    assert found == pytest.approx(expected(*ARGS), rel=1e-12)


@WAYS
def test_gradient(run: Run) -> None:
    value, by_x, by_column = run(gradient(program()))(*ARGS)
    assert value == pytest.approx(expected(*ARGS), rel=1e-12)
    wanted = slope(lambda x: expected(x, *ARGS[1:]), 0.7)
    assert by_x == pytest.approx(wanted, rel=1e-7)
    np.testing.assert_allclose(by_column, by_heads(), rtol=1e-7)


@WAYS
def test_tangent(run: Run) -> None:
    moved = Program((push_forward(program().entry, (0, 2)),))
    check(moved, after="forward")
    along = np.array([1.0, -2.0, 0.5])
    _, tangent = run(moved)(*ARGS, 2.0, along)
    wanted = 2.0 * slope(lambda x: expected(x, *ARGS[1:]), 0.7) + along @ by_heads()
    assert tangent == pytest.approx(wanted, rel=1e-7)


@WAYS
def test_tangents_of_tangents(run: Run) -> None:
    once = Program((push_forward(program().entry, (0,)),))
    twice = Program((push_forward(once.entry, (0,)),))
    check(twice, after="forward")
    *_, found = run(twice)(*ARGS, 1.0, 1.0)
    first = interpreted(once)
    wanted = slope(lambda x: first(x, *ARGS[1:], 1.0)[1], 0.7)
    assert found == pytest.approx(wanted, rel=1e-6)


@WAYS
@pytest.mark.parametrize("optimize", [True, False])
def test_second_derivatives(run: Run, optimize: bool) -> None:
    """Reverse over reverse, and forward over reverse, by x and by the column."""
    step = Compilation(CompileOptions()).run
    made = program()
    if optimize:
        made = step(step(made, SOURCE), PRIMAL)
    once = step(gradient(made), DERIVATIVE)
    once = step(once, PLAIN) if optimize else once
    twice = gradient(Program((second(once),)))
    forward = Program((push_forward(second(once), (0,)),))
    check(forward, after="forward")
    _, by_x, by_column = run(twice)(*ARGS)
    _, along_x = run(forward)(*ARGS, 1.0)
    first = interpreted(gradient(program()))
    wanted = slope(lambda x: first(x, *ARGS[1:])[1], 0.7)
    assert by_x == pytest.approx(wanted, rel=1e-6)
    assert along_x == pytest.approx(wanted, rel=1e-6)
    mixed = (first(0.7 + 1e-6, *ARGS[1:])[2] - first(0.7 - 1e-6, *ARGS[1:])[2]) / 2e-6
    np.testing.assert_allclose(by_column, mixed.astype(float), rtol=1e-5)


def test_the_gradient_is_linear_in_what_is_made() -> None:
    """Twice as many nodes cost twice as much, in the value and in the gradient."""

    def cost(made: Program, n: int) -> int:
        interpreter = Interpreter(made)
        values = (0.7, n, HEADS, TAILS)
        types = [p.type for p in made.entry.params]
        pairs = zip(values, types, strict=True)
        interpreter.run(*(to_value(v, ty) for v, ty in pairs))
        return interpreter.cost

    value, both = program(), gradient(program())
    ratios = [cost(both, n) / cost(value, n) for n in (10, 20, 40)]
    assert max(ratios) < 1.05 * min(ratios)
