"""What is written in place, and what is copied since somebody still looks at it."""

from __future__ import annotations

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.call import NativeFunction
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.parse import parse
from chadllvm.ir.term import Apply, Block, One, nested
from chadllvm.ir.types import Product
from chadllvm.ir.value import from_value, to_value
from chadllvm.llvm.optimize import Effort
from chadllvm.lower.inplace import in_place
from chadllvm.lower.lower import lower_function
from chadllvm.ops.update import Update

# The program, how many of its updates and first contributions take a buffer over, how
# many states are in place, and how many of these need no copy of their initial value.
CASES = {
    "an argument is copied": (
        """def f(a: f64[:]) { b = update(a, 0, 1.0)  return b }""",
        (0, 0, 0),
    ),
    "what was made here is not": (
        """def f(n: i64) { a = zeros(n)  b = update(a, 0, 1.0)
             c = update(b, 1, 2.0)  return c }""",
        (2, 0, 0),
    ),
    "the old array is used later": (
        """def f(n: i64) { a = zeros(n)  b = update(a, 0, 1.0)  x = index(a, 0)
             return b, x }""",
        (0, 0, 0),
    ),
    "its size is asked for later": (
        """def f(n: i64) { a = zeros(n)
             b = iterate(n, a) { i, s: f64[:] ->
               d = dim[0](a)  x = to_float(d)  t = update(s, i, x)  yield t }
             d = dim[0](a)  c = update(b, 0, 1.0)  return c, d }""",
        (2, 1, 1),
    ),
    "the old array was used before": (
        """def f(n: i64) { a = zeros(n)  x = index(a, 0)  b = update(a, 0, 1.0)
             return b, x }""",
        (1, 0, 0),
    ),
    "a row is used later": (
        """def f(n: i64) { a = zeros(n, n)  r = index(a, 0)  b = update(a, 0, 0, 1.0)
             x = index(r, 0)  return b, x }""",
        (0, 0, 0),
    ),
    "a box refers to it": (
        """def f(n: i64) { a = zeros(n)  x = box(a)  b = update(a, 0, 1.0)
             y = unbox(x)  return b, y }""",
        (0, 0, 0),
    ),
    "a loop hands it on": (
        """def f(n: i64) { a = zeros(n)
             b = iterate(n, a) { i, s: f64[:] -> t = update(s, i, 1.0)  yield t }
             return b }""",
        (1, 1, 1),
    ),
    "the initial state is an argument": (
        """def f(a: f64[:], n: i64) {
             b = iterate(n, a) { i, s: f64[:] -> t = update(s, i, 1.0)  yield t }
             return b }""",
        (1, 1, 0),
    ),
    "the initial state is used later": (
        """def f(n: i64) { a = zeros(n)
             b = iterate(n, a) { i, s: f64[:] -> t = update(s, i, 1.0)  yield t }
             x = index(a, 0)  return b, x }""",
        (1, 1, 0),
    ),
    "a branch hands it on": (
        """def f(n: i64) { a = zeros(n)
             b = iterate(n, a) { i, s: f64[:] ->
               c = ilt(i, 3)
               t = if c { u = update(s, i, 1.0)  yield u } else { yield s }
               yield t }
             return b }""",
        (1, 1, 1),
    ),
    "an inner loop hands it on": (
        """def f(n: i64) { a = zeros(n)
             b = iterate(n, a) { i, s: f64[:] ->
               t = iterate(n, s) { j, u: f64[:] -> v = update(u, j, 1.0)  yield v }
               w = update(t, i, 2.0)
               yield w }
             return b }""",
        (2, 2, 2),
    ),
    "states change places": (
        """def f(n: i64) { a = zeros(n)  b = zeros(n)
             c, d = iterate(n, a, b) { i, s: f64[:], t: f64[:] ->
               u = update(s, i, 1.0)  yield t, u }
             return c, d }""",
        (1, 2, 2),
    ),
    "a state takes the place of another, which is lost": (
        """def f(n: i64) { a = zeros(n)  b = zeros(n)
             c, d = iterate(n, a, b) { i, s: f64[:], t: f64[:] ->
               u = update(s, i, 1.0)  yield u, u }
             return c, d }""",
        (0, 0, 0),
    ),
    "two states begin as one": (
        """def f(n: i64) { a = zeros(n)
             c, d = iterate(n, a, a) { i, s: f64[:], t: f64[:] ->
               u = update(s, i, 1.0)  v = update(t, i, 2.0)  yield u, v }
             return c, d }""",
        (2, 2, 0),
    ),
    "the old state is kept": (
        """def f(n: i64) { a = zeros(n)
             c, d = iterate(n, a) { i, s: f64[:] ->
               b = box(s)  t = update(s, i, 1.0)  yield t, b }
             return c }""",
        (0, 0, 0),
    ),
    "an array from outside of the loop": (
        """def f(n: i64) { a = zeros(n)
             b = build(n) { i -> t = update(a, i, 1.0)  x = index(t, i)  yield x }
             return b }""",
        (0, 0, 0),
    ),
    "the first contribution to a cell": (
        """def f(n: i64, x: f64) { a = zeros(n)  c = open f64[:](n)  one c a
             one c[0] x  s = close c  t = update(s, 1, x)  return t }""",
        (2, 0, 0),
    ),
    "the second contribution to a cell": (
        """def f(n: i64, x: f64) { a = zeros(n)  c = open f64[:](n)  one c[0] x
             one c a  s = close c  return s }""",
        (0, 0, 0),
    ),
    "a contribution that is used later": (
        """def f(n: i64, x: f64) { a = zeros(n)  c = open f64[:](n)  one c a
             y = index(a, 0)  s = close c  return s, y }""",
        (0, 0, 0),
    ),
    "a state through a cell that both branches fill": (
        """def f(n: i64, x: f64) { a = zeros(n)
             b = iterate(n, a) { i, s: f64[:] ->
               p = ilt(i, 3)  c = open f64[:](n)
               if p { t = update(s, i, x)  one c t  one c[0] x } else { one c s }
               u = close c
               yield u }
             return b }""",
        (3, 1, 1),
    ),
    "a branch makes it anew": (
        """def f(n: i64) { a = zeros(n)
             b = iterate(n, a) { i, s: f64[:] ->
               c = ilt(i, 3)
               t = if c { u = update(s, i, 1.0)  yield u }
                   else { v = zeros(n)  yield v }
               yield t }
             return b }""",
        (1, 1, 1),
    ),
    "a branch takes another array": (
        """def f(n: i64, d: f64[:]) { a = zeros(n)
             b = iterate(n, a) { i, s: f64[:] ->
               c = ilt(i, 3)
               t = if c { u = update(s, i, 1.0)  yield u } else { yield d }
               yield t }
             return b }""",
        (1, 1, 1),
    ),
    "a branch takes another state": (
        """def f(n: i64) { a = zeros(n)  b = zeros(n)
             c, d = iterate(n, a, b) { i, s: f64[:], t: f64[:] ->
               p = ilt(i, 3)
               q = if p { u = update(s, i, 1.0)  yield u } else { yield t }
               v = update(t, i, 2.0)
               yield q, v }
             return c, d }""",
        (0, 0, 0),
    ),
    "a first contribution in a branch": (
        """def f(n: i64, x: f64) { a = zeros(n)  p = flt(x, 0.0)  c = open f64[:](n)
             if p { b = update(a, 0, x)  one c b } else { one c a }
             s = close c  t = update(s, 1, x)  return t }""",
        (4, 0, 0),
    ),
}


def writes(block: Block) -> int:
    """The number of updates and contributions of whole arrays."""
    total = 0
    for binding in block.bindings:
        match binding.expr:
            case Apply(Update()) | One(_, ()):
                total += 1
        total += sum(writes(inner) for _, inner in nested(binding.expr))
    return total


@pytest.mark.parametrize("name", CASES)
def test_in_place(name: str) -> None:
    text, expected = CASES[name]
    program = parse(text)
    check(program, after="parse")
    found = in_place(program.entry)
    assert (len(found.taken), len(found.states), len(found.moved)) == expected
    assert len(found.taken) <= writes(program.entry.body)


# Loops of m steps over arrays of n numbers, and which states they lend to their steps.
# a, b are arrays of the program's own, x is an argument.
LENT = {
    "the next one is made from what is written": (
        """c = iterate(m, a) { i, s: f64[:] ->
             k = to_float(i)  u = update(s, 0, k)
             t = build(n) { j -> p = index(u, j)  q = add(p, 1.0)  yield q }
             yield t }
           return c }""",
        "s",
    ),
    "the initial value is an argument": (
        """c = iterate(m, x) { i, s: f64[:] ->
             k = to_float(i)  u = update(s, 0, k)
             t = build(n) { j -> p = index(u, j)  q = add(p, 1.0)  yield q }
             yield t }
           return c }""",
        "",
    ),
    "the initial value is used later": (
        """c = iterate(m, a) { i, s: f64[:] ->
             k = to_float(i)  u = update(s, 0, k)
             t = build(n) { j -> p = index(u, j)  q = add(p, 1.0)  yield q }
             yield t }
           return c, a }""",
        "",
    ),
    "a cell takes over what a step is lent": (
        """c = iterate(m, a) { i, s: f64[:] ->
             e = open f64[:](n)  one e s
             build(n) { j -> p = index(x, j)  one e[j] p }
             u = close e  g = open f64[:](n)
             build(n) { h -> q = index(u, h)  r = mul(q, 0.5)  one g[h] r }
             t = close g
             yield t }
           return c }""",
        "s",
    ),
    "what is written is used twice, and so is the state": (
        """c = iterate(m, a) { i, s: f64[:] ->
             k = to_float(i)  u = update(s, 0, k)  v = update(s, 1, k)
             t = build(n) { j -> p = index(u, j)  q = index(v, j)
                                 r = add(p, q)  yield r }
             yield t }
           return c }""",
        "s",
    ),
    "states are made from each other": (
        """c, d = iterate(m, a, b) { i, s: f64[:], t: f64[:] ->
             k = to_float(i)  u = update(s, 0, k)  v = update(t, 1, k)
             y, z = build(n) { j -> p = index(u, j)  q = index(v, j)
                                    r = add(p, q)  o = sub(p, q)  yield r, o }
             yield z, y }
           return c, d }""",
        "st",
    ),
    "what is written is another's next value": (
        """c, d = iterate(m, a, b) { i, s: f64[:], t: f64[:] ->
             k = to_float(i)  u = update(s, 0, k)
             v = build(n) { j -> p = index(u, j)  q = index(t, j)
                                 r = add(p, q)  yield r }
             yield v, u }
           return c, d }""",
        "",
    ),
    "the next value is another state": (
        """c, d, e = iterate(m, a, b, 0.0) { i, s: f64[:], t: f64[:], o: f64 ->
             k = to_float(i)  u = update(s, 0, k)  p = index(u, 1)  q = add(o, p)
             yield t, t, q }
           return c, d, e }""",
        "",
    ),
    "what is written is collected": (
        """c, d = iterate(m, a) { i, s: f64[:] ->
             k = to_float(i)  u = update(s, 0, k)
             t = build(n) { j -> p = index(u, j)  q = add(p, 1.0)  yield q }
             yield t, u }
           return c, d }""",
        "",
    ),
    "what is written is kept": (
        """c, d = iterate(m, a) { i, s: f64[:] ->
             k = to_float(i)  u = update(s, 0, k)  y = box(u)
             t = build(n) { j -> p = index(u, j)  q = add(p, 1.0)  yield q }
             yield t, y }
           e = build(m) { h -> v = index(d, h)  w = unbox(v)  z = index(w, 1)  yield z }
           return c, e }""",
        "",
    ),
    "a cell in the state's buffer is collected": (
        """c, d = iterate(m, a) { i, s: f64[:] ->
             e = open f64[:](n)  one e s
             build(n) { j -> p = index(x, j)  one e[j] p }
             u = close e
             yield u, u }
           return c, d }""",
        "",
    ),
    "a cell in the state's buffer is another's next value": (
        """c, d = iterate(m, a, b) { i, s: f64[:], t: f64[:] ->
             q = index(t, 0)  e = open f64[:](n)  one e s
             build(n) { j -> p = index(x, j)  r = add(p, q)  one e[j] r }
             u = close e
             yield u, u }
           return c, d }""",
        "",
    ),
    "cells in buffers that change places are collected": (
        """c, d, h, o = iterate(m, a, b) { i, s: f64[:], t: f64[:] ->
             e = open f64[:](n)  one e s
             build(n) { j -> p = index(x, j)  one e[j] p }
             u = close e  g = open f64[:](n)  one g t
             k = to_float(i)  one g[1] k
             v = close g
             yield v, u, u, v }
           return c, d, h, o }""",
        "",
    ),
    "a branch chooses the cell in the state's buffer, which is collected": (
        """c, d = iterate(m, a) { i, s: f64[:] ->
             e = open f64[:](n)  one e s
             k = to_float(i)  one e[1] k
             u = close e  p = ilt(i, 1)
             v = if p { yield u } else { w = update(u, 0, 5.0)  yield w }
             yield v, u }
           return c, d }""",
        "",
    ),
    "an inner loop is lent what the outer one is": (
        """c = iterate(m, a) { i, s: f64[:] ->
             d = iterate(l, s) { h, o: f64[:] ->
               u = update(o, h, 7.0)
               t = build(n) { j -> p = index(u, j)  q = add(p, 1.0)  yield q }
               yield t }
             v = build(n) { k -> w = index(d, k)  z = add(w, 1.0)  yield z }
             yield v }
           return c }""",
        "os",
    ),
    "an inner loop's final value is the next one of another": (
        """c, d = iterate(m, a, b) { i, s: f64[:], r: f64[:] ->
             e = iterate(l, s) { h, o: f64[:] ->
               u = update(o, h, 7.0)
               t = build(n) { j -> p = index(u, j)  q = add(p, 1.0)  yield q }
               yield t }
             v = build(n) { k -> w = index(e, k)  y = index(r, k)
                                 z = add(w, y)  yield z }
             yield v, e }
           return c, d }""",
        "",
    ),
    "without a step the initial value is written later": (
        """c = iterate(m, a) { i, s: f64[:] ->
             t = build(n) { j -> p = index(s, j)  q = add(p, 1.0)  yield q }
             yield t }
           d = update(a, 0, 5.0)
           return c, d }""",
        "",
    ),
    "what steps hand on is written later": (
        """c = iterate(m, a) { i, s: f64[:] -> yield b }
           d = update(b, 0, 5.0)
           return c, d }""",
        "",
    ),
    "what a state was at first, or another, is written later": (
        """c, d = iterate(m, a, b) { i, s: f64[:], t: f64[:] -> yield t, t }
           e = update(b, 0, 5.0)
           return c, e }""",
        "",
    ),
    "what states hand on to each other is written later": (
        """o = build(n) { h -> p = index(x, h)  q = mul(p, 3.0)  yield q }
           c, d = iterate(m, a, b) { i, s: f64[:], t: f64[:] -> yield t, o }
           e = update(o, 0, 5.0)
           return c, d, e }""",
        "",
    ),
}

ARGUMENTS = """def f(x: f64[:], m: i64, l: i64) {
  n = dim[0](x)
  a, b = build(n) { at -> value = index(x, at)  twice = add(value, value)
                          yield twice, value }
"""


@pytest.mark.parametrize("name", LENT)
def test_lent(name: str) -> None:
    """What is lent; and whatever the loops do, the numbers are those of the values."""
    text, expected = LENT[name]
    program = parse(ARGUMENTS + text)
    check(program, after="parse")
    entry = program.entry
    assert sorted(v.name for v in in_place(entry).lent) == sorted(expected)
    loops, types = lower_function(entry), [p.type for p in entry.params]
    check_loops(loops)
    results = entry.body.types
    effort = Effort(1, 0, loops=False)
    native = NativeFunction(
        loops, "main", ["x", "m", "l"], types, Product(results), effort
    )
    for steps in [(0, 1), (1, 0), (1, 1), (2, 1), (2, 2), (3, 3), (4, 2)]:
        x = np.arange(1.0, 5.0)
        given = [to_value(v, ty) for v, ty in zip((x, *steps), types, strict=True)]
        wanted = Interpreter(program).run(*given)
        for ours, theirs, ty in zip(native(x, *steps), wanted, results, strict=True):
            np.testing.assert_array_equal(ours, from_value(theirs, ty))
        np.testing.assert_array_equal(x, np.arange(1.0, 5.0))


def handed_on(a: cl.f64[:], steps: int) -> float:
    """The last copy of y takes over its buffer, unless x may be in it."""
    y = a * 3.0
    x = a * 2.0
    total = 0.0
    for i in range(steps):
        total += x[i % len(a)]
        x = y
    w = y.copy()
    w[0] = 7.0 * a[1]
    return np.sum(x * x) + np.sum(w * w * w) + total


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_what_a_loop_hands_on_is_copied_before_it_is_written(steps: int) -> None:
    a = np.array([0.5, 1.0, 1.5])
    value, slope = cl.value_and_grad(cl.jit(handed_on))(a, steps)
    right = cl.value_and_grad(cl.jit(handed_on, optimize=0))(a, steps)
    assert value == pytest.approx(handed_on(a, steps), rel=1e-14)
    np.testing.assert_allclose(slope, right[1], rtol=1e-14)


def test_the_reason_is_the_same_each_time() -> None:
    """Of several buffers that must not be written to, the first one says why."""
    source = """def f(c: bool, n: i64, a: f64[:]) {
         z = zeros(n)
         b = if c { yield z } else { yield a }
         d = update(b, 0, 1.0)
         return d, z }"""
    reasons = set()
    for _ in range(20):
        function = parse(source).entry
        reasons.update(r.text for r in in_place(function).refused.values())
    assert reasons == {"it is an argument"}
