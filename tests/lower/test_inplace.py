"""What is written in place, and what is copied since somebody still looks at it."""

from __future__ import annotations

import pytest

from chadllvm.ir.check import check
from chadllvm.ir.parse import parse
from chadllvm.ir.term import Apply, Block, One, nested
from chadllvm.lower.inplace import in_place
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
