"""The permanent mode's lowering: functions and arrays as values.

Programs of the core are run in machine code and by the interpreter, which is the judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boxed_programs import MATRIX, VECTOR, agrees, native
from golden_cases import check_cases

from chadllvm.ir.interp import evaluate
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.loops_pretty import pretty_loops
from chadllvm.ir.op import ProgramError
from chadllvm.ir.parse import parse
from chadllvm.ir.term import Program
from chadllvm.lower.boxed.lower import lower_boxed


def test_golden(golden: Callable[[Path, str], None]) -> None:
    def run(title: str, program: Program) -> str:
        function = lower_boxed(program.entry)
        check_loops(function)
        return pretty_loops(function)

    check_cases(Path(__file__).with_name("boxed.cases"), run, golden)


# ---- functions


def test_a_function_captures_values_of_all_types() -> None:
    agrees(
        """
        def main(x: f64, n: i64, p: bool, a: f64[:]) {
          g = fun (y: f64) -> {
            z = add(x, y)
            return z
          }
          f = fun (y: f64) -> {
            m = dim[0](a)
            k = iadd(n, m)
            q = not(p)
            z = call g(y)
            return z, k, q, p
          }
          u, k, q, r = call f(2.0)
          return u, k, q, r
        }
        """,
        (1.5, 4, True, VECTOR),
        (1.5, -4, False, VECTOR[:0]),
    )


CHOSEN = """
def main(x: f64, k: i64) {
  c = ilt(k, 1)
  h = if c {
    f = fun (y: f64) -> {
      z = mul(x, y)
      return z
    }
    yield f
  } else {
    d = ilt(k, 2)
    g = if d {
      u = exp(x)
      f2 = fun (y: f64) -> {
        z = add(u, y)
        return z
      }
      yield f2
    } else {
      f3 = fun (y: f64) -> { return y }
      yield f3
    }
    yield g
  }
  a = call h(3.0)
  b = call h(a)
  return a, b
}
"""


def test_a_call_looks_at_the_tag() -> None:
    agrees(CHOSEN, *((0.5, k) for k in (0, 1, 2)))


def test_an_array_of_arrays_of_functions() -> None:
    agrees(
        """
        def main(n: i64, x: f64) {
          fs = build(n) { i ->
            row = build(3) { j ->
              k = imul(i, j)
              s = to_float(k)
              odd = ilt(j, 1)
              f = if odd {
                g = fun (y: f64) -> {
                  z = mul(s, y)
                  return z
                }
                yield g
              } else {
                g2 = fun (y: f64) -> {
                  z = sub(y, s)
                  return z
                }
                yield g2
              }
              yield f
            }
            yield row
          }
          t = fold[add](n) { i ->
            row = index(fs, i)
            f = index(row, 0)
            g = index(fs, i, 2)
            u = call f(x)
            v = call g(x)
            w = sub(u, v)
            yield w
          }
          return t
        }
        """,
        (4, 0.5),
        (0, 0.5),
    )


def test_a_function_is_the_state_of_a_loop() -> None:
    agrees(
        """
        def main(n: i64, x: f64) {
          f = fun (y: f64) -> {
            z = mul(y, x)
            return z
          }
          last, t = iterate(n, f, 1.0) { i, h: (f64) -> (f64), t: f64 ->
            u = call h(t)
            k = to_float(i)
            g = fun (y: f64) -> {
              z = add(y, k)
              return z
            }
            yield g, u
          }
          r = call last(t)
          return r
        }
        """,
        (0, 0.5),
        (1, 0.5),
        (5, 0.5),
    )


def test_functions_take_and_give_functions() -> None:
    agrees(
        """
        def main(x: f64) {
          twice = fun (f: (f64) -> (f64)) -> {
            g = fun (y: f64) -> {
              u = call f(y)
              v = call f(u)
              return v
            }
            return g
          }
          add_x = fun (y: f64) -> {
            z = add(x, y)
            return z
          }
          h = call twice(add_x)
          a = call h(1.0)
          b = call h(a)
          return a, b
        }
        """,
        (0.25,),
    )


def test_a_body_does_not_touch_what_the_caller_has() -> None:
    """A lambda may be called where the variables that it captures are still in use."""
    agrees(
        """
        def main(x: f64, p: bool) {
          y = mul(x, x)
          f = fun (z: f64) -> {
            w = add(y, z)
            return w
          }
          a = if p {
            b = call f(1.0)
            yield b
          } else {
            yield y
          }
          c = add(a, y)
          return c, y
        }
        """,
        (3.0, True),
        (3.0, False),
    )


def test_a_function_that_may_call_itself() -> None:
    agrees(
        """
        def main(n: i64, x: f64) {
          f = fun (y: f64) -> { return y }
          last = iterate(n, f) { i, h: (f64) -> (f64) ->
            g = fun (y: f64) -> {
              z = call h(y)
              k = to_float(i)
              w = add(z, k)
              return w
            }
            yield g
          }
          r = call last(x)
          return r
        }
        """,
        *((n, 0.5) for n in (0, 1, 5)),
    )


# ---- arrays


def test_ragged_arrays_in_boxes() -> None:
    agrees(
        """
        def main(n: i64) {
          rows = build(n) { i ->
            row = build(i) { j ->
              x = to_float(j)
              yield x
            }
            b = box(row)
            yield b
          }
          t = fold[add](n) { i ->
            b = index(rows, i)
            row = unbox(b)
            k = dim[0](row)
            s = fold[add](k) { j ->
              x = index(row, j)
              yield x
            }
            yield s
          }
          return t
        }
        """,
        (5,),
        (0,),
    )


def test_arrays_of_truth_values() -> None:
    agrees(
        """
        def main(a: bool[:], m: bool[:, :], k: i64) {
          n = dim[0](a)
          b = build(n) { i ->
            x = index(a, i)
            y = not(x)
            yield y
          }
          row = index(m, k)
          c = index(m, k, 1)
          kk = const bool[:](2) [true, false]
          d = index(kk, k)
          return b, row, c, d, kk
        }
        """,
        (np.array([True, False]), np.array([[True, False], [False, True]]), 1),
        (np.zeros(0, bool), np.array([[True, False], [False, True]]), 0),
    )


@pytest.mark.parametrize("count", [0, 1, 3, -2])
def test_states_and_outputs_of_loops(count: int) -> None:
    agrees(
        """
        def main(n: i64, a: f64[:]) {
          s, k, rows, numbers = iterate(n, a, 0) { i, s: f64[:], k ->
            m = dim[0](s)
            t = build(m) { j ->
              x = index(s, j)
              y = add(x, 1.0)
              yield y
            }
            l = iadd(k, i)
            yield t, l, s, l
          }
          z = zeros(n, 2)
          e = empty[i64[:, :]]()
          least, seen, at = if true {
            x, y, w = fold[argmin](2) { i ->
              v = index(a, i)
              yield v, i
            }
            yield x, y, w
          } else {
            yield 0.0, numbers, 0
          }
          return s, k, rows, numbers, z, e, least, seen, at
        }
        """,
        (count, VECTOR),
    )


@pytest.mark.parametrize(
    ("text", "args", "kind"),
    [
        (
            "def main(n: i64) { r = build(n) { i -> s = zeros(i) yield s } return r }",
            (3,),
            ValueError,
        ),
        (
            "def main(n: i64) { r = fold[max](n) { i -> yield i } return r }",
            (0,),
            ValueError,
        ),
        ("def main(n: i64) { r = bound(n, 3) return r }", (3,), IndexError),
        ("def main(n: i64) { r = imod(3, n) return r }", (0,), ZeroDivisionError),
    ],
)
def test_failures_are_those_of_the_interpreter(
    text: str, args: tuple[Any, ...], kind: type[Exception]
) -> None:
    program = parse(text)
    with pytest.raises(ProgramError) as expected:
        evaluate(program, *args)
    assert expected.value.kind is kind
    with pytest.raises(kind, match=re.escape(str(expected.value))):
        native(program)(*args)


def test_more_memory_than_there_is() -> None:
    run = native(parse("def main(n: i64) { z = zeros(n, n) return z }"))
    for n in (2**40, 2**62):
        with pytest.raises(MemoryError):
            run(n)
    assert run(2)[0].tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_updates_leave_the_array_as_it_is() -> None:
    agrees(
        """
        def main(m: f64[:, :], a: f64[:], p: bool[:]) {
          b = update(a, 1, 9.0)
          l = update(m, 1, 2, 7.5)
          r = update(l, 0, b)
          q = update(p, 0, true)
          return a, b, m, l, r, p, q
        }
        """,
        (MATRIX, VECTOR, np.array([False, False])),
    )
