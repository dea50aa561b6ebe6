"""Small core programs that were once compiled wrongly, with arguments."""

from __future__ import annotations

import numpy as np

from chadllvm.ir.parse import parse
from tests.strategies import Case

VECTOR = np.array([0.3, 0.5, 0.7])

# The next state of the loop is also a row of what it collects: two buffers want it.
STATE_IS_COLLECTED = """
def main(a: f64[:], n: i64) {
  t = fold[add](n) { o ->
    x = to_float(o)
    d = dim[0](a)
    last, all = iterate(n, a) { i, s: f64[:] ->
      next = build(d) { j ->
        e = index(s, j)
        u = add(e, x)
        v = sin(u)
        yield v
      }
      yield next, next
    }
    total = fold[add](d) { j ->
      e = index(last, j)
      u = exp(e)
      yield u
    }
    yield total
  }
  return t
}
"""

# The caller owns the rows, even if there are none of them.
NO_ROWS = """
def main(a: f64[:], n: i64) {
  rows = build(n) { i ->
    c = ilt(i, 1)
    row = if c {
      yield a
    } else {
      r = build(2) { j ->
        x = to_float(j)
        yield x
      }
      yield r
    }
    yield row
  }
  d = dim[0](a)
  t = fold[add](d) { i ->
    e = index(a, i)
    yield e
  }
  return t, rows
}
"""

# Two cells in a block, of which the first becomes an array.
TWO_CELLS = """
def main(x: f64, a: f64[:]) {
  n = dim[0](a)
  r = build(2) { i ->
    yield x
  }
  rows = build(n) { i ->
    yield a
  }
  s = fold[add](n) { i ->
    row = index(rows, i)
    t = fold[add](n) { j ->
      e = index(row, j)
      u = sin(e)
      yield u
    }
    v = sin(t)
    yield v
  }
  t = fold[add](2) { i ->
    e = index(r, i)
    u = sin(e)
    yield u
  }
  v = mul(s, t)
  return v
}
"""

# The gradient has the shape of the parameter, even if that has no rows.
ROWS = """
def main(m: f64[:, :]) {
  n = dim[0](m)
  t = fold[add](n) { i ->
    row = index(m, i)
    k = dim[0](row)
    s = fold[add](k) { j ->
      e = index(row, j)
      u = sin(e)
      yield u
    }
    yield s
  }
  return t
}
"""

# Rows that a loop without a count collects.
ROWS_OF_WHILE = """
def main(a: f64[:], c: i64) {
  n = dim[0](a)
  go, rows = iterate[while](9, true) { i, on: bool ->
    m = ilt(i, 1)
    k = iselect(m, n, c)
    row = build(k) { j ->
      x = index(a, 0)
      yield x
    }
    more = ilt(i, 2)
    yield more, row
  }
  x = index(rows, 1, 0)
  return x
}
"""

REGRESSIONS = {
    "shape of no rows": Case(parse(ROWS), (np.zeros((0, 3)),)),
    "state is collected": Case(parse(STATE_IS_COLLECTED), (VECTOR, 4)),
    "no rows": Case(parse(NO_ROWS), (VECTOR, 0)),
    "rows differ": Case(parse(NO_ROWS), (VECTOR, 2)),
    "rows of while": Case(parse(ROWS_OF_WHILE), (VECTOR, len(VECTOR))),
    "rows of while differ": Case(parse(ROWS_OF_WHILE), (VECTOR, 2)),
    "two cells": Case(parse(TWO_CELLS), (0.4, VECTOR)),
}
