"""The textual form: it reads well, round-trips, and refuses bad text with its line."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.check import check
from chadllvm.ir.parse import ParseError, parse, parse_type
from chadllvm.ir.pretty import alpha_equal, pretty
from chadllvm.ir.term import Block, Const, Function, Lit, Program, Var
from chadllvm.ir.types import F64
from chadllvm.support.diagnostic import Span
from tests.strategies import Case, cases
from tests.sum_strategies import sum_cases

EXAMPLE = """\
def twice(x: f64) {
  y = mul(x, 2.0)
  return y
}

def main(x: f64, a: f64[:], k: (f64, {u: i64, v: bool}), c: bool) {
  n = dim[0](a)
  t = k.0
  q = {u: n, v: true}
  e = empty[f64[:]]()
  z_1 = zeros(n)
  z_2 = zeros[f32](n, 2)
  s, bp = if c {
    h = fun (d: f64, cx: acc f64) -> {
      z = scale(d, t)
      one cx z
      return
    }
    yield x, h
  } else {
    h_1 = fun (d_1: f64, cx_1: acc f64) -> {
      one cx_1 d_1
      return
    }
    yield t, h_1
  }
  r = build(n) { i ->
    y = index(a, i)
    w = @twice(y)
    yield w
  }
  total, all = iterate(n, -1e-05) { j, sum: f64 ->
    b = index(r, j)
    sum_1 = add(sum, b)
    yield sum_1, j
  }
  c0 = open f64
  call bp(-inf, c0)
  ca = open f64[:](n)
  build(n) { i_1 ->
    u = index(r, i_1)
    one ca[i_1] u
    cv = view ca[i_1]
    one cv nan
  }
  o = close ca
  p = close c0
  cc = const f64[:](3) [1.0, nan, -0.0]
  single = (p,)
  left = <left: f64, right: (f64)>.left(p)
  v_1, w_1 = case left left(a_1: f64) {
    yield a_1, left
  } right(b_1: (f64)) {
    k_1 = b_1.0
    yield k_1, left
  }
  unit = ()
  return s, o, single, unit
}"""


def test_example_round_trips() -> None:
    program = parse(EXAMPLE)
    check(program)
    assert pretty(program) == EXAMPLE
    assert alpha_equal(parse(pretty(program)), program)


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)
@given(cases(single=False) | sum_cases(single=False))
def test_random_programs_round_trip(case: Case) -> None:
    check(case.program)
    text = pretty(case.program)
    again = parse(text)
    check(again)
    assert pretty(again) == text
    assert alpha_equal(again, case.program)


@pytest.mark.parametrize(
    "text",
    [
        "f64",
        "f64[:]",
        "i64[:, :]",
        "box f64[:]",
        "box f64[:][:]",
        "box box f64[:][:]",
        "acc f64[:, :]",
        "()",
        "(f64)",
        "(f64, i64)[:]",
        "{x: f64, y: box bool[:]}",
        "<none: (), some: <left: f64, right: (i64, bool)>[:]>",
        "(f64, acc f64[:]) -> ()",
        "(f64) -> (f64, (f64) -> ())[:]",
    ],
)
def test_types_round_trip(text: str) -> None:
    assert str(parse_type(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no function"),
        ("def f() {\n  return x\n}", "line 2: x is not bound here"),
        ("def f() {\n  return\n", "line 3: expected an operand, found end of text"),
        ("def f() {\n  y = foo(1)\n}", "line 2: no operation named foo"),
        ("def f(x: f16) { return }", "line 1: expected a type, found f16"),
        ("def f(x: f64, x: f64) { return }", "line 1: x is bound twice"),
        ("def f(one: f64) { return }", "line 1: one is a keyword"),
        ("def f(x: f64) {\n\n y = sin(1)\n}", "line 3: sin takes (f64), found (i64)"),
        ("def f(x: f64) {\n  y, z = sin(x)\n}", "line 2: 1 results bound to 2 names"),
        ("def f() {\n  y = @g()\n}", "line 2: no function named g above"),
        ("def f() {\n  $\n}", "line 2: stray '$'"),
        ("def f() {\n y = empty[f64[:]\n}", "line 2: a bracket is not closed"),
        ("def f(c: bool) {\n if c { }\n}", "line 3: expected else, found }"),
        ("def f() {\n call 1.0()\n}", "line 2: a literal is not a function"),
        ("def f() {\n r = build(3)\n}", "line 2: wrong number of arguments or bodies"),
        ("def f(a: f64[:]) { r = dim[x](a) }", "line 1: dim has no attribute 'x'"),
        ("def f() { r = const f64[:](2) [1.0] }", "line 1: const: 1 elements for the"),
        ("def f() { x = <a: f64>.b(1.0) }", "line 1: <a: f64> has no constructor b"),
        (
            "def f() { x = <a: f64>.a(1) }",
            "line 1: injection: a holds a f64, not a i64",
        ),
        ("def f(x: f64) { y = case x }", "line 1: case: a f64 is not a sum"),
        ("def f(x: <a: i64>) { case x b(i: i64) { } }", "line 1: expected a, found b"),
        (
            "def f(c: bool) {\n if c {\n y = sin(1.0)\n } else { }\n return y\n}",
            "line 5: y is not bound here",
        ),
    ],
)
def test_bad_text(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=f"^{re.escape(message)}"):
        parse(text)


def test_every_beginning_of_a_program_is_refused_or_read() -> None:
    for end in range(0, len(EXAMPLE), 7):
        try:
            parse(EXAMPLE[:end])
        except ParseError:
            continue
        assert EXAMPLE[:end].rstrip().endswith("}")


def test_names_are_made_unique_and_are_no_keywords() -> None:
    b = Builder()
    x = Var("x", F64)
    for name in ("x", "if", "x_1", "a b", "1"):
        b.prim("sin", x, hint=name)
    names = re.findall(r"(\S+) = ", pretty(Function("f", (x,), b.block([x]))))
    assert names == ["x_1", "if_", "x_2", "a_b", "_1"]


def test_spans_are_comments() -> None:
    b = Builder(Span("user.py", 3, 4, 3, 9))
    x = Var("x", F64)
    program = Program((Function("f", (x,), b.block([b.prim("sin", x)])),))
    text = pretty(program, spans=True)
    assert "  t = sin(x)  # user.py:3:5\n" in text
    assert alpha_equal(parse(text), program)


def test_alpha_equality_sees_what_differs() -> None:
    base = "def f(x: f64, y: f64) {\n a = sub(x, y)\n return a\n}"
    assert alpha_equal(parse(base), parse(base.replace("x", "z")))
    assert not alpha_equal(parse(base), parse(base.replace("sub(x, y)", "sub(y, x)")))
    assert not alpha_equal(parse(base), parse(base.replace("return a", "return x")))
    assert not alpha_equal(Block((), (Lit(0.0),)), Block((), (Lit(-0.0),)))
    assert not alpha_equal(Block((), (Lit(1),)), Block((), (Lit(True),)))
    first, second = Var("x", F64), Var("x", F64)
    assert alpha_equal(Block((), (first,)), Block((), (first,)))
    assert not alpha_equal(Block((), (first,)), Block((), (second,)))


def test_constants_keep_dtype_and_shape() -> None:
    for value in (
        np.arange(6).reshape(2, 3),
        np.zeros((0, 2)),
        np.array([True, False]),
        np.array([1e300, np.nan, -np.inf, -0.0]),
    ):
        b = Builder()
        program = Program((Function("f", (), b.block([b.one(Const(value))])),))
        const = parse(pretty(program)).entry.body.bindings[0].expr
        assert isinstance(const, Const)
        assert const.value.dtype == value.dtype
        np.testing.assert_array_equal(const.value, value)


def test_long_blocks() -> None:
    b = Builder()
    x = Var("x", F64)
    y = x
    for _ in range(10_000):
        y = b.prim("add", y, lit(1.0))
    program = Program((Function("f", (x,), b.block([y])),))
    check(program)
    assert alpha_equal(parse(pretty(program)), program)
