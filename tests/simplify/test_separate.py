"""Branches that give a new array or an old one give the two apart."""

from __future__ import annotations

import pytest

from chadllvm.chad.names import Branch, names
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.parse import parse
from chadllvm.ir.value import ArrayValue
from chadllvm.simplify.references import separate

NEW = "n = dim[0](x)  y = build(n) { i -> yield 2.0 }  yield y"


def program(then: str, orelse: str) -> str:
    return f"""def f(x: f64[:], z: f64[:], m: f64[:, :], c: bool, d: bool) {{
      b = if c {{ {then} }} else {{ {orelse} }}
      r = index(b, 0)
      return r
    }}"""


ROW = "i = truncate(2.5)  y = index(m, i)  yield y"
INNER = f"t = if d {{ {NEW} }} else {{ yield z }}  yield t"
MIXED = {
    "new or old": (NEW, "yield x"),
    "old or new": ("yield x", NEW),
    "two old ones": ("yield x", INNER),
    "new in both": (NEW, INNER),
    "a row or new": (ROW, INNER),
    "a row or old": ("yield z", ROW),
    "an inner one that is used": (
        "yield x",
        INNER.replace("yield t", "v = index(t, 0)  yield t"),
    ),
    "rows in both": (ROW, f"t = if d {{ {ROW} }} else {{ yield z }}  yield t"),
}
KEPT = {
    "two new ones": (NEW, NEW),
    "two old ones": ("yield x", "yield z"),
    "an update": ("u = update(x, 0, 1.0)  yield u", "yield x"),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXED)
def test_what_is_new_has_a_variable_of_its_own(name: str) -> None:
    old = parse(program(*MIXED[name]))
    new = separate(old)
    check(new, after="separate")
    body = new.entry.body
    (read,) = [b for b in body.bindings if b.vars[0].name == "r"]
    assert isinstance(names(body)[read.expr.args[0]], Branch)
    x, z = ArrayValue((1,), [1.0]), ArrayValue((1,), [3.0])
    m = ArrayValue((3, 1), [4.0, 5.0, 6.0])
    for c in (False, True):
        for d in (False, True):
            expected = Interpreter(old).run(x, z, m, c, d)
            assert Interpreter(new).run(x, z, m, c, d) == expected


@pytest.mark.parametrize("name", KEPT)
def test_what_stays(name: str) -> None:
    old = parse(program(*KEPT[name]))
    assert separate(old) is old
