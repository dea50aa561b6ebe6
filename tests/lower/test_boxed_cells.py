"""The permanent mode's cells: entries of the runtime's accumulation array."""

from __future__ import annotations

import pytest
from boxed_programs import MATRIX, VECTOR, agrees, native, same_results
from hypothesis import HealthCheck, given, settings

from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import ProgramError
from chadllvm.ir.parse import parse
from chadllvm.ir.value import from_value
from chadllvm.support.diagnostic import InternalError
from tests.array_strategies import array_cases
from tests.chad.test_random_programs import prepared
from tests.second_order import gradient_of
from tests.strategies import Case


def test_cells_of_scalars_and_arrays() -> None:
    agrees(
        """
        def main(m: f64[:, :], a: f64[:], i: i64, j: i64) {
          n = dim[0](m)
          k = dim[1](m)
          c = open f64[:, :](n, k)
          s = open f64
          one c m
          one c[i] a
          one c[i, j] 0.5
          row = view c[i]
          one row a
          one row[j] 0.25
          element = view row[j]
          one element 8.0
          one s 3.0
          one s 4.0
          t = close s
          r = close c
          u = index(r, i)
          v = index(r, i, j)
          return r, t, u, v
        }
        """,
        (MATRIX, VECTOR, 1, 2),
        (MATRIX, VECTOR, 0, 0),
    )


CHOSEN_CELL = """
def main(p: bool, q: bool, n: i64, a: f64[:]) {
  c = open f64[:](n)
  d = open f64[:](n)
  s = open f64
  w = if p { yield c } else { yield d }
  one w a
  e = if p { v = view d[1] yield v } else { yield s }
  one e 2.5
  g = if q { yield e } else { yield s }
  one g 4.0
  add_to = fun (y: f64, to: acc f64, all: acc f64[:]) -> {
    one to y
    one all[0] y
    return
  }
  call add_to(1.0, g, w)
  call add_to(1.0, s, d)
  x = close s
  r = close d
  t = close c
  return x, r, t
}
"""


@pytest.mark.parametrize("p", [True, False])
@pytest.mark.parametrize("q", [True, False])
def test_cells_chosen_by_branches_and_passed_to_functions(p: bool, q: bool) -> None:
    agrees(CHOSEN_CELL, (p, q, 3, VECTOR))


def test_what_is_closed_may_be_added_again() -> None:
    """Also several times, while it stands in its bag and after it was looked at."""
    agrees(
        """
        def main(n: i64, a: f64[:]) {
          c = open f64[:](n)
          one c a
          one c[0] 1.0
          r = close c
          d = open f64[:](n)
          one d r
          one d r
          u = index(r, 0)
          one d r
          one d[1] u
          s = close d
          return s, r
        }
        """,
        (3, VECTOR),
    )


def test_cells_are_closed_in_any_order_in_loops() -> None:
    agrees(
        """
        def main(n: i64, m: i64) {
          t = open f64[:](m)
          build(n) { i ->
            c = open f64[:](m)
            s = open f64
            x = to_float(i)
            build(m) { j ->
              one c[j] x
              one s x
            }
            r = close c
            u = close s
            one t r
            one t[0] u
          }
          z = close t
          return z
        }
        """,
        (4, 3),
        (0, 1),
    )


BOX_CELLS = """
def main(n: i64, p: bool) {
  rows = build(n) { i ->
    row = build(i) { j ->
      k = iadd(i, j)
      x = to_float(k)
      yield x
    }
    b = box(row)
    yield b
  }
  table = build(2) { i ->
    yield rows
  }
  c = open box f64[:][:](rows)
  d = open box f64[:][:, :](table)
  one c rows
  last = isub(n, 1)
  r = index(rows, last)
  a = unbox(r)
  one c[last] a
  inside = view c[last]
  one inside[0] 0.5
  one d table
  line = view d[1]
  e = if p { yield line } else { yield c }
  one e rows
  deep = view e[last]
  one deep[1] 8.0
  one d[0, last] a
  u = close d
  v = close c
  total, x, y = iterate(n, 0.0, 0.0, 0.0) { i, t: f64, x: f64, y: f64 ->
    b0 = index(u, 0, i)
    b1 = index(u, 1, i)
    b2 = index(v, i)
    r0 = unbox(b0)
    r1 = unbox(b1)
    r2 = unbox(b2)
    s = fold[add](i) { j ->
      w0 = index(r0, j)
      yield w0
    }
    s1 = fold[add](i) { j ->
      w1 = index(r1, j)
      yield w1
    }
    s2 = fold[add](i) { j ->
      w2 = index(r2, j)
      yield w2
    }
    t1 = add(t, s)
    x1 = add(x, s1)
    y1 = add(y, s2)
    yield t1, x1, y1
  }
  return total, x, y
}
"""


@pytest.mark.parametrize("p", [True, False])
def test_cells_of_arrays_of_boxes(p: bool) -> None:
    agrees(BOX_CELLS, (4, p), (3, p))


def test_cells_of_boxes_in_boxes() -> None:
    agrees(
        """
        def main(n: i64) {
          outer = build(n) { i ->
            inner = build(2) { j ->
              k = iadd(j, 1)
              row = build(k) { l ->
                x = to_float(l)
                yield x
              }
              b = box(row)
              yield b
            }
            b = box(inner)
            yield b
          }
          c = open box box f64[:][:][:](outer)
          one c outer
          first = view c[0]
          extra = const f64[:](2) [2.0, 3.0]
          one first[1] extra
          s = close c
          b = index(s, 0)
          i = unbox(b)
          bb = index(i, 1)
          r = unbox(bb)
          return r
        }
        """,
        (1,),
        (3,),
    )


def test_the_runtime_refuses_a_part_that_is_too_large() -> None:
    """A shape that our own passes got wrong is no wrong number."""
    program = parse(
        """
        def main(a: f64[:]) {
          c = open f64[:](2)
          one c a
          r = close c
          return r
        }
        """
    )
    run = native(program)
    assert run(VECTOR[:2])[0].tolist() == [0.5, -1.5]
    with pytest.raises(InternalError):
        run(VECTOR)


@settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(array_cases())
def test_derivatives_of_derivatives(case: Case) -> None:
    """D of D's output has cells of arrays of boxes, the tapes of the first."""
    flat, _, wrt, values = prepared(case)
    second = gradient_of(flat, wrt).next
    args = [*values, *(values[k] for k in wrt)]
    program, run = second.raw, native(second.raw)
    inputs = [
        from_value(v, p.type) for v, p in zip(args, program.entry.params, strict=True)
    ]
    try:
        expected = Interpreter(program).run(*args)
    except ProgramError as failure:
        with pytest.raises(failure.kind):
            run(*inputs)
        return
    types = program.entry.body.types
    wanted = [from_value(v, ty) for v, ty in zip(expected, types, strict=True)]
    same_results(run(*inputs), wanted)
