"""What is linear in some parameters: what is said to be is, and most of what is."""

from __future__ import annotations

import pytest

from chadllvm.chad.linear import Level, Linearity
from chadllvm.ir.parse import parse

# Each body gives its level in t; x is fixed, and so are n, c, a.
PARAMS = "t: f64, ts: f64[:], x: f64, a: f64[:], n: i64, c: bool"

LINEAR = {
    "itself": "return t",
    "sum": "y = add(t, t) z = sub(y, t) return z",
    "product": "y = mul(x, t) z = mul(y, x) return z",
    "scaled": "y = scale(t, x) z = neg(y) return z",
    "quotient": "y = div(t, x) return y",
    "digits": "y = ldexp(t, n) return y",
    "choice": "y = select(c, t, 0.0) return y",
    "branch": "y = if c { z = mul(t, x) yield z } else { yield 0.0 } return y",
    "element": "y = index(ts, n) return y",
    "elements": """
        y = build(n) { i -> e = index(ts, i) b = index(a, i) z = mul(e, b) yield z }
        z = index(y, 0) return z""",
    "total": """
        y = fold[add](n) { i -> e = index(ts, i) yield e } return y""",
    "loop": """
        y = iterate(n, 0.0) { i, s: f64 -> e = index(ts, i) z = add(s, e) yield z }
        return y""",
    "carried": """
        y = iterate(n, t) { i, s: f64 -> z = mul(s, x) yield z } return y""",
    "searched": """
        g, y = iterate[while](n, c, t) { i, g: bool, s: f64 ->
          k = ilt(i, n) z = mul(s, x) yield k, z }
        return y""",
    "updated": """
        z = zeros(n) y = update(z, 0, t) u = update(y, 1, 0.0) e = index(u, n)
        return e""",
    "cell": """
        k = open f64[:](n) one k[0] t v = view k[1] one v t s = close k
        y = index(s, 0) return y""",
    "cell in a loop": """
        k = open f64
        r = build(n) { i -> e = index(ts, i) one k e yield i }
        s = close k return s""",
    "narrowed": "s = narrow(t) y = widen(s) return y",
    "recursion": """
        y = recurse(n, t) { f: (i64, f64) -> (f64), k: i64, s: f64 ->
          j = isub(k, 1) b = ilt(j, 0) z = mul(s, x)
          r = if b { yield z } else { u = call f(j, z) yield u }
          yield r }
        return y""",
}

OTHER = {
    "square": "y = mul(t, t) return y",
    "shifted": "y = add(t, 1.0) return y",
    "shifted by a fixed one": "y = sub(x, t) return y",
    "reciprocal": "y = div(x, t) return y",
    "root": "y = sqrt(t) return y",
    "stopped": "y = stop(t) return y",
    "step": "y = floor(t) return y",
    "choice by it": "b = flt(t, 0.0) y = select(b, t, 0.0) return y",
    "branch by it": """
        b = flt(t, 0.0) y = if b { yield x } else { yield 0.0 } return y""",
    "choice with a fixed one": "y = select(c, t, x) return y",
    "branch with a fixed one": "y = if c { yield t } else { yield x } return y",
    "element at it": "k = truncate(t) y = index(a, k) return y",
    "least": "y = fold[min](n) { i -> e = index(ts, i) yield e } return y",
    "loop of its length": """
        k = truncate(t)
        y = iterate(k, 0.0) { i, s: f64 -> z = add(s, 1.0) yield z } return y""",
    "elements as many as it says": """
        k = truncate(t) y = build(k) { i -> yield x } z = index(y, 0) return z""",
    "total of as many": """
        k = truncate(t) y = fold[add](k) { i -> yield x } return y""",
    "loop until it": """
        g, y = iterate[while](n, c, t) { i, g: bool, s: f64 ->
          k = flt(s, x) z = mul(s, x) yield k, z }
        return y""",
    "loop from a fixed one": """
        y = iterate(n, x) { i, s: f64 -> z = add(s, t) yield z } return y""",
    "product by steps": """
        y = iterate(n, 1.0) { i, s: f64 -> z = mul(s, t) yield z } return y""",
    "grown in the second step": """
        u, y = iterate(n, t, 0.0) { i, s: f64, r: f64 ->
          z = add(s, r) yield z, 1.0 }
        return u""",
    "updated in a fixed array": """
        y = update(a, 0, t) e = index(y, n) return e""",
    "cell with a fixed one": """
        k = open f64 one k t one k x s = close k return s""",
    "added under a branch by it": """
        b = flt(t, 0.0) k = open f64
        u = if b { one k x yield 1 } else { yield 2 }
        s = close k return s""",
    "updated where it leads": """
        k = truncate(t) z = zeros(n) y = update(z, k, t) e = index(y, n) return e""",
    "recursion with a fixed one": """
        y = recurse(n, t) { f: (i64, f64) -> (f64), k: i64, s: f64 ->
          j = isub(k, 1) b = ilt(j, 0) z = add(s, x)
          r = if b { yield z } else { u = call f(j, z) yield u }
          yield r }
        return y""",
    "recursion that gives others on": """
        y = recurse(n, t, x) { f: (i64, f64, f64) -> (f64), k: i64, s: f64, v: f64 ->
          j = isub(k, 1) b = ilt(j, 0)
          r = if b { z = mul(s, v) yield z } else { u = call f(j, s, s) yield u }
          yield r }
        return y""",
    "size of what it leads to": """
        k = truncate(t) z = zeros(k) m = dim[0](z) y = to_float(m) return y""",
}


def level(body: str) -> tuple[Level, bool]:
    entry = parse(f"def main({PARAMS}) {{ {body} }}").entry
    found = Linearity(entry.body, entry.params[:2])
    return found.level(entry.body.results[0]), found.is_pure


@pytest.mark.parametrize("name", LINEAR)
def test_linear(name: str) -> None:
    assert level(LINEAR[name]) == (Level.LINEAR, True)


@pytest.mark.parametrize("name", OTHER)
def test_other(name: str) -> None:
    found, _ = level(OTHER[name])
    assert found is Level.OTHER


def test_zeros_and_what_is_fixed() -> None:
    assert level("y = mul(t, 0.0) return y") == (Level.ZERO, True)
    assert level("z = zeros(n) y = index(z, 0) return y") == (Level.ZERO, True)
    assert level("y = mul(x, x) return y") == (Level.FIXED, True)
    assert level("m = dim[0](ts) y = to_float(m) return y") == (Level.FIXED, True)


def test_what_may_fail() -> None:
    body = "b = flt(t, 0.0) require[ValueError](b) return t"
    assert level(body) == (Level.LINEAR, False)
