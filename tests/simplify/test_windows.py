"""Which arrays may be which others, by what branches, loops and calls hand on."""

from __future__ import annotations

import pytest

from chadllvm.ir.parse import parse
from chadllvm.ir.rewrite import everywhere
from chadllvm.ir.term import Var
from chadllvm.simplify.windows import exchanged

PROGRAM = parse("""
def main(a: f64[:], b: f64[:], c: f64[:], d: f64[:], n: i64) {
  t = ilt(n, 3)
  x = if t {
    yield a
  } else {
    yield b
  }
  y = iterate(n, c) { i, s: f64[:] ->
    yield s
  }
  z = mul(1.0, 2.0)
  return x, y, d
}""")


def variables() -> dict[str, Var]:
    body = PROGRAM.entry.body
    found = {v.name: v for binding in everywhere(body) for v in binding.vars}
    return found | {v.name: v for v in PROGRAM.entry.params}


@pytest.mark.parametrize(
    ("of", "others"),
    [("a", "abx"), ("b", "abx"), ("x", "abx"), ("c", "cy"), ("d", "d")],
)
def test_both_ways(of: str, others: str) -> None:
    """Of what a choice was made, and what was chosen."""
    known = variables()
    found = {v.name for v in exchanged(PROGRAM.entry.body, [known[of]])}
    assert found - {"s"} == set(others)
