"""Copies are other names, where their size is that of the array."""

from __future__ import annotations

import pytest

from chadllvm.ir.check import check
from chadllvm.ir.parse import parse
from chadllvm.ir.pretty import pretty
from chadllvm.simplify.copies import copies

WHOLE = """def f(n: i64) {
  z = zeros(n)
  a = update(z, 0, 1.0)
  d = dim[0](a)
  b = build(d) { i -> x = index(a, i)  yield x }
  c = update(b, 0, 1.0)
  return c
}"""

# What is collected is not the array, or not all of it.
KEPT = {
    "another size": WHOLE.replace("dim[0](a)", "iadd(n, 1)"),
    "another index": WHOLE.replace("index(a, i)", "index(a, 0)"),
    "something else": WHOLE.replace("yield x", "y = mul(x, x)  yield y"),
    "not the last": WHOLE.replace("return c", "return c, a"),
    "an argument": WHOLE.replace("n: i64", "n: i64, a: f64[:]").replace(
        "a = update(z, 0, 1.0)", ""
    ),
    "the index of it": WHOLE.replace("yield x", "y = to_float(i)  yield y"),
}


def test_a_copy_is_another_name() -> None:
    program = parse(WHOLE)
    new = copies(program)
    check(new, after="copies")
    assert "build" not in pretty(new)
    assert "c = update(a, 0, 1.0)" in pretty(new)


def test_the_final_state_of_a_loop() -> None:
    new = copies(
        parse("""def f(a: f64[:], m: i64) {
          n = dim[0](a)
          z = zeros(n)
          b = iterate(m, z) { i, s: f64[:] -> t = update(s, 0, 1.0)  yield t }
          c = build(n) { i -> x = index(b, i)  yield x }
          return c
        }""")
    )
    check(new, after="copies")
    assert "build" not in pretty(new)


@pytest.mark.parametrize("name", KEPT)
def test_what_is_no_copy(name: str) -> None:
    program = parse(KEPT[name])
    assert copies(program) is program
