"""The permanent mode: functions that call themselves, and return functions that do.

Programs of the core are run in machine code and by the interpreter, which is the judge.
"""

from __future__ import annotations

import numpy as np
import pytest
from boxed_programs import MATRIX, VECTOR, agrees

from chadllvm.ir.parse import parse
from chadllvm.lower.boxed.lower import lower_boxed


def test_a_recursion_sees_what_is_around_it() -> None:
    agrees(
        """
        def main(x: f64, a: f64[:]) {
          n = dim[0](a)
          s, m = recurse(0, x) { f: (i64, f64) -> (f64, i64), k: i64, y: f64 ->
            more = ilt(k, n)
            r, d = if more {
              k1 = iadd(k, 1)
              e = index(a, k)
              z = mul(y, x)
              u, d1 = call f(k1, z)
              w = add(u, e)
              d2 = iadd(d1, 1)
              yield w, d2
            } else {
              yield y, 0
            }
            yield r, d
          }
          return s, m
        }
        """,
        (1.5, VECTOR),
        (1.5, VECTOR[:0]),
    )


# Calls return functions, which call those of other calls: in a branch, in a loop over
# an array of them, or not at all.
RETURNED = """
def main(n: i64, x: f64) {
  v, f = recurse(n) {
    g: (i64) -> (f64, (f64, acc f64) -> (f64)), k: i64 ->
    stop = ilt(k, 1)
    y, h = if stop {
      h0 = fun (d: f64, c: acc f64) -> {
        one c d
        return d
      }
      yield x, h0
    } else {
      k1 = isub(k, 1)
      k2 = isub(k, 2)
      a, ah = call g(k1)
      b, bh = call g(k2)
      y1 = mul(a, b)
      h1 = fun (d: f64, c: acc f64) -> {
        da = mul(d, b)
        db = mul(d, a)
        s = call ah(da, c)
        t = call bh(db, c)
        u = add(s, t)
        return u
      }
      yield y1, h1
    }
    h2 = fun (d: f64, c: acc f64) -> {
      r = call h(d, c)
      return r
    }
    yield y, h2
  }
  c = open f64
  r = call f(1.0, c)
  t = call f(2.0, c)
  s = close c
  return v, r, s, t
}
"""


def test_functions_that_calls_return() -> None:
    agrees(RETURNED, *((n, 1.1) for n in (-1, 0, 1, 2, 7)))


def test_one_lambda_of_a_circle_is_a_subroutine() -> None:
    """It is made again for each place where it is called from outside."""
    function = lower_boxed(parse(RETURNED).entry)
    names = sorted(s.name for s in function.subroutines)
    assert names == ["back", "back_2", "g"]


LOOPS = """
def main(n: i64, a: f64[:]) {
  v, f = recurse(n) {
    g: (i64) -> (i64, (f64, acc f64[:]) -> (f64)), k: i64 ->
    m = dim[0](a)
    stop = ilt(k, 1)
    count = if stop { yield 0 } else { yield m }
    k1 = isub(k, 1)
    hs = build(count) { i ->
      y, h = call g(k1)
      yield h
    }
    f0 = fun (d: f64, c: acc f64[:]) -> {
      e = mul(d, 0.5)
      one c[0] d
      s = fold[add](count) { i ->
        h = index(hs, i)
        q = call h(e, c)
        yield q
      }
      t = add(s, d)
      return t
    }
    yield count, f0
  }
  m = dim[0](a)
  c = open f64[:](m)
  s = call f(1.0, c)
  total = close c
  return v, s, total
}
"""


def test_functions_that_calls_collect() -> None:
    agrees(LOOPS, *((n, VECTOR) for n in (0, 1, 4)))


def test_calls_collect_numbers_and_arrays() -> None:
    agrees(
        """
        def main(n: i64, m: f64[:, :]) {
          r, last, ks, rows = recurse[2](n) { f: (i64) -> (f64, i64), k: i64 ->
            stop = ilt(k, 1)
            s = if stop {
              yield 1.0
            } else {
              k1 = isub(k, 1)
              u, i = call f(k1)
              k2 = isub(k, 2)
              v, j = call f(k2)
              e = isub(i, j)
              z = to_float(e)
              w = add(u, v)
              y = add(w, z)
              yield y
            }
            odd = iand(k, 1)
            row = index(m, odd)
            yield s, k, row
          }
          return r, last, ks, rows
        }
        """,
        *((n, MATRIX) for n in (0, 1, 6)),
    )


def test_cells_and_arrays_are_passed() -> None:
    """Of numbers, of arrays, and of parts of these, which differ from call to call."""
    agrees(
        """
        def main(n: i64, a: f64[:]) {
          size = dim[0](a)
          c = open f64
          ca = open f64[:](size)
          part = view ca[1]
          r = recurse(n, a, c, ca) {
            f: (i64, f64[:], acc f64, acc f64[:]) -> (f64[:]),
            k: i64, b: f64[:], d: acc f64, e: acc f64[:] ->
            x = index(b, 0)
            one d x
            one e b
            first = view e[0]
            more = ilt(0, k)
            s = if more {
              k1 = isub(k, 1)
              z = build(size) { i ->
                y = index(b, i)
                w = mul(y, 0.5)
                yield w
              }
              even = ilt(1, k)
              t = if even {
                t1 = call f(k1, z, d, e)
                yield t1
              } else {
                t2 = call f(k1, z, first, e)
                yield t2
              }
              yield t
            } else {
              yield b
            }
            yield s
          }
          q = recurse(n, part) { g: (i64, acc f64) -> (i64), k: i64, d: acc f64 ->
            one d 0.25
            more = ilt(0, k)
            u = if more {
              k1 = isub(k, 1)
              v = call g(k1, d)
              yield v
            } else {
              yield k
            }
            yield u
          }
          total = close ca
          single = close c
          return r, q, single, total
        }
        """,
        *((n, VECTOR) for n in (0, 1, 5)),
    )


def test_a_recursion_inside_another_calls_both() -> None:
    agrees(
        """
        def main(n: i64, x: f64) {
          r = recurse(n, x) { f: (i64, f64) -> (f64), k: i64, y: f64 ->
            stop = ilt(k, 1)
            s = if stop {
              yield y
            } else {
              t = recurse(k, y) { g: (i64, f64) -> (f64), j: i64, z: f64 ->
                last = ilt(j, 1)
                u = if last {
                  j1 = isub(k, 2)
                  w = mul(z, y)
                  v = call f(j1, w)
                  yield v
                } else {
                  j1 = isub(j, 2)
                  w = add(z, x)
                  v = call g(j1, w)
                  yield v
                }
                yield u
              }
              k1 = isub(k, 3)
              p = call f(k1, t)
              q = add(p, t)
              yield q
            }
            yield s
          }
          return r
        }
        """,
        *((n, 1.25) for n in (0, 1, 5, 8)),
    )


@pytest.mark.parametrize("dtype", ["f32", "bool", "i64"])
def test_values_of_all_types_are_passed(dtype: str) -> None:
    values = {"f32": np.float32(1.5), "bool": True, "i64": 3}
    agrees(
        f"""
        def main(n: i64, x: {dtype}, p: bool) {{
          r, q = recurse(n, x, p) {{
            f: (i64, {dtype}, bool) -> ({dtype}, bool), k: i64, y: {dtype}, b: bool ->
            stop = ilt(k, 1)
            s, t = if stop {{
              yield y, b
            }} else {{
              k1 = isub(k, 1)
              c = not(b)
              u, v = call f(k1, y, c)
              yield u, v
            }}
            yield s, t
          }}
          return r, q
        }}
        """,
        *((n, values[dtype], True) for n in (0, 3)),
    )
