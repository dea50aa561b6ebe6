"""The interpreter: what programs mean, where they fail, and what they cost."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.interp import Interpreter, evaluate
from chadllvm.ir.op import ProgramError
from chadllvm.ir.parse import parse
from chadllvm.ir.term import Function, Lambda, Operand, Program, Var
from chadllvm.ir.types import F64, I64, Array, Box, Product, Type
from chadllvm.ir.value import ArrayValue, Cell, Injected, from_value, stack, to_value
from chadllvm.ops.build import Build
from chadllvm.support.diagnostic import InternalError, Span

PROGRAMS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("def f(x: f64) { y = mul(x, x)  return y }", (3.0,), 9.0),
    ("def f() { }", (), ()),
    ("def f(x: f64, b: bool) { return b, x, 1 }", (2.0, True), (True, 2.0, 1)),
    (
        "def f(p: (f64, {u: i64, v: bool})) { q = p.1  n = q.0  r = {w: n}  return r }",
        ((1.0, (2, True)),),
        (2,),
    ),
    (
        """def f(s: <no: (), yes: f64>, t: <no: (), yes: f64>) {
             y, r = case s no(u: ()) { yield 1.0, t }
                    yes(x: f64) { z = neg(x)  yield z, s }
             return y, r
           }""",
        (Injected(1, 2.0), Injected(0, ())),
        (-2.0, Injected(1, 2.0)),
    ),
    (
        "def f(n: i64) { r = build(n) { i -> "
        "s = <a: i64, b: ()>.a(i)  yield s } return r }",
        (2,),
        [Injected(0, 0), Injected(0, 1)],
    ),
    (
        """def f(b: bool, x: f64) {
             y, z = if b { u = neg(x)  yield u, 1 } else { yield x, 2 }
             return y, z
           }""",
        (True, 4.0),
        (-4.0, 1),
    ),
    (
        """def double(x: f64) { y = add(x, x)  return y }
           def f(x: f64) { y = @double(x)  z = @double(y)  return z }""",
        (1.5,),
        6.0,
    ),
    (
        "def f(a: f64[:, :]) { r = index(a, 1)  e = index(r, 2)  return e }",
        ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],),
        6.0,
    ),
    (
        "def f(n: i64) { r = build(n) { i -> s = build(2) { j -> "
        "k = iadd(i, j)  yield k } yield s } return r }",
        (3,),
        np.array([[0, 1], [1, 2], [2, 3]]),
    ),
    ("def f() { r = build(-1) { i -> yield i } return r }", (), np.zeros(0, int)),
    (
        "def f(a: f64[:]) { n = dim[0](a)  s = fold[add](n) { i -> "
        "e = index(a, i)  yield e } return s }",
        ([1.0, 2.0, 4.0],),
        7.0,
    ),
    (
        """def f(n: i64, x: f64) {
             y, all = iterate(n, x) { i, s: f64 ->
               t = mul(s, 2.0)
               yield t, s
             }
             return y, all
           }""",
        (3, 1.0),
        (8.0, np.array([1.0, 2.0, 4.0])),
    ),
    (
        """def f(n: i64) {
             fs = build(n) { i ->
               g = fun (x: i64) -> { y = imul(x, i)  return y }
               yield g
             }
             r = build(n) { i ->
               g = index(fs, i)
               y = call g(10)
               yield y
             }
             return r
           }""",
        (3,),
        np.array([0, 10, 20]),
    ),
    (
        """def f(x: f64, r: f64[:]) {
             c = open f64[:, :](2, 2)
             one c[0, 1] x
             row = view c[1]
             build(2) { i -> one row[i] 1.0  one c[i] r }
             s = close c
             return s
           }""",
        (3.0, [0.5, 0.0]),
        np.array([[0.5, 3.0], [1.5, 1.0]]),
    ),
    (
        """def f(b: bool, x: f64) {
             c = open f64
             d = open f64
             e = if b { yield c } else { yield d }
             one e x
             one e x
             s = close c
             t = close d
             return s, t
           }""",
        (True, 3.0),
        (6.0, 0.0),
    ),
    (
        """def f(x: f64) {
             bp = fun (d: f64, cx: acc f64) -> { e = mul(d, x)  one cx e  return }
             c = open f64
             call bp(2.0, c)
             s = close c
             return s
           }""",
        (3.0,),
        6.0,
    ),
    (
        """def f(x: f64, n: i64) {
             a = build(n) { i ->
               r = build(i) { j -> y = to_float(j)  yield y }
               b = box(r)
               yield b
             }
             c = open box f64[:][:](a)
             one c a
             one c a
             v = view c[2]
             one v[0] x
             w = view c[1]
             one w[0] x
             s = close c
             b = index(s, 2)
             r = unbox(b)
             return r
           }""",
        (3.0, 3),
        np.array([3.0, 2.0]),
    ),
    (
        """def f(n: i64, m: i64) {
             a = build(n) { i -> r = build(m) { j -> yield j } yield r }
             b = sized(a, m)
             return b
           }""",
        (0, 3),
        np.zeros((0, 3), np.int64),
    ),
]


def test_rows_have_the_sizes_that_are_said() -> None:
    text = "def f(a: f64[:, :], m: i64) { b = sized(a, m)  return b }"
    assert evaluate(parse(text), np.ones((2, 3)), 3).shape == (2, 3)
    assert evaluate(parse(text), np.ones((2, 0)), -1).shape == (2, 0)
    with pytest.raises(InternalError, match="rows of"):
        evaluate(parse(text), np.ones((2, 3)), 4)
    with pytest.raises(InternalError, match="rows of"):
        evaluate(parse(text), np.ones((2, 0)), 4)


def same(result: Any, expected: Any) -> bool:
    if isinstance(expected, tuple):
        return len(result) == len(expected) and all(map(same, result, expected))
    if isinstance(expected, np.ndarray):
        is_equal = np.array_equal(result, expected)
        return is_equal and result.dtype == expected.dtype
    return type(result) is type(expected) and bool(result == expected)


@pytest.mark.parametrize(("text", "args", "expected"), PROGRAMS)
def test_meaning(text: str, args: tuple[Any, ...], expected: Any) -> None:
    assert same(evaluate(parse(text), *args), expected)


def test_a_failure_has_its_kind_and_place() -> None:
    inner, outer = Span("u.py", 2, 0, 2, 5), Span("u.py", 1, 0, 2, 5)
    n, i = Var("n", I64), Var("i", I64)
    step, b = Builder(inner), Builder(outer)
    step.prim("imod", lit(1), i)
    b.apply(Build(), (n,), [Lambda((i,), step.block(()))])
    program = Program((Function("f", (n,), b.block(())),))
    with pytest.raises(ProgramError, match="division") as failure:
        Interpreter(program).run(2)
    assert failure.value.kind is ZeroDivisionError
    assert failure.value.span == inner


def test_rows_of_different_lengths_fail() -> None:
    program = parse(
        "def f(n: i64) { r = build(n) { i -> s = build(i) { j -> yield j } yield s }"
        " return r }"
    )
    with pytest.raises(ProgramError, match="rows") as failure:
        Interpreter(program).run(2)
    assert failure.value.kind is ValueError
    assert evaluate(program, 0).shape == (0, 0)


def test_an_index_out_of_range_is_our_defect() -> None:
    program = parse("def f(a: f64[:]) { e = index(a, 3)  return e }")
    with pytest.raises(InternalError):
        evaluate(program, [1.0])


def cost(text: str, *args: Any) -> int:
    run = Interpreter(parse(text))
    run.run(*map(to_value, args))
    return run.cost


def test_cost_counts_nodes_captures_and_scalars() -> None:
    assert cost("def f(x: f64) { y = sin(x)  z = sin(y)  return z }", 1.0) == 2
    lambda_text = "def f(x: f64) { g = fun () -> { y = mul(x, x)  return y } return }"
    assert cost(lambda_text, 1.0) == 1 + 1
    called = lambda_text.replace("} return }", "} y = call g()  return y }")
    assert cost(called, 1.0) == 1 + 1 + 1 + 1
    cell = "def f(a: f64[:]) { c = open f64[:](3)  one c a  s = close c  return s }"
    assert cost(cell, np.zeros(3)) == 3 + 3 + 3
    boxes = """def f(a: f64[:]) {
      b = box(a)
      r = build(2) { i -> yield b }
      c = open box f64[:][:](r)
      one c r
      s = close c
      return
    }"""
    # The cell and the sum in it hold two arrays of three numbers each.
    assert cost(boxes, np.zeros(3)) == 5 + (1 + 1 + 2) + (2 + 6) + (2 + 6)
    assert cost("def f(n: i64) { a = zeros[f64](n)  return a }", 3) == 1 + 1 + 3
    opened = "def f(a: f64[:]) { b = box(a)  c = unbox(b)  return c }"
    assert cost(opened, np.zeros(3)) == (1 + 1) + (1 + 1)
    only_one = "def f(b: bool) { if b { x = sin(1.0) } else { } return }"
    assert (cost(only_one, True), cost(only_one, False)) == (2, 1)


def test_cost_of_a_loop_is_linear() -> None:
    text = "def f(n: i64) { r = build(n) { i -> y = imul(i, i)  yield y } return r }"
    costs = [cost(text, n) for n in (100, 200, 300)]
    assert costs[2] - costs[1] == costs[1] - costs[0] > 0


def test_long_blocks_and_loops_run() -> None:
    b = Builder()
    x = Var("x", F64)
    y: Operand = x
    for _ in range(10_000):
        y = b.prim("add", y, lit(1.0))
    program = Program((Function("f", (x,), b.block([y])),))
    start = time.perf_counter()
    assert evaluate(program, 0.5) == 10_000.5
    loop = (
        "def f(n: i64) {"
        " r = iterate(n, 0) { i, s -> t = iadd(s, i)  yield t } return r }"
    )
    assert evaluate(parse(loop), 100_000) == 100_000 * 99_999 // 2
    assert time.perf_counter() - start < 5.0


@pytest.mark.parametrize(
    ("obj", "ty"),
    [
        (1.5, F64),
        (3, I64),
        (np.arange(6.0).reshape(2, 3), Array(F64, 2)),
        (np.zeros((0, 3)), Array(F64, 2)),
        ((1.0, (2, np.ones(2))), Product((F64, Product((I64, Array(F64, 1)))))),
    ],
)
def test_values_come_back(obj: Any, ty: Type) -> None:
    assert same(from_value(to_value(obj), ty), obj)
    assert same(from_value(to_value(obj, ty), ty), obj)


def test_arrays_of_pairs_and_boxes_are_lists() -> None:
    pairs = Array(Product((F64, I64)), 1)
    assert to_value([(1, 2), (3, 4)], pairs).data == [(1.0, 2), (3.0, 4)]
    assert from_value(ArrayValue((2,), [(1.0, 2), (3.0, 4)]), pairs) == [
        (1.0, 2),
        (3.0, 4),
    ]
    ragged = from_value(
        to_value([[1.0], [2.0, 3.0]], Array(Box(Array(F64, 1)), 1)),
        Array(Box(Array(F64, 1)), 1),
    )
    assert [list(row) for row in ragged] == [[1.0], [2.0, 3.0]]


def test_stack_and_cells() -> None:
    rows = [ArrayValue((2,), [1.0, 2.0]), ArrayValue((2,), [3.0, 4.0])]
    matrix = stack(rows, Array(F64, 1))
    assert matrix == ArrayValue((2, 2), [1.0, 2.0, 3.0, 4.0])
    assert matrix.at((1,)) == rows[1]
    assert matrix.at((1, 0)) == 3.0
    cell = Cell.opened(Array(F64, 2), (2, 2))
    assert cell.add(matrix) == 4
    assert cell.view((1,)).view((0,)).add(1.0) == 1
    assert cell.total().data == [1.0, 2.0, 4.0, 4.0]
    assert matrix.data == [1.0, 2.0, 3.0, 4.0]
