"""What calls do: the summaries of subroutines over the call graph."""

from __future__ import annotations

import pytest

from chadllvm.ir.loops import ArrayParam, For, Invoke, Load, LoopFunction, Set, Stmt
from chadllvm.ir.parse import parse
from chadllvm.ir.statements import everywhere, whole
from chadllvm.lower.effects import Calls, Opaque
from chadllvm.lower.lower import lower_function

READS = """
def main(x: f64[:], y: f64[:], n: i64) {
  r = recurse(n) { f: (i64) -> (f64), k: i64 ->
    z = ilt(k, 1)
    e = if z { yield 0.0 } else {
      l = isub(k, 1)
      v = index(x, l)
      g = call f(l)
      h = add(g, v)
      yield h
    }
    yield e
  }
  s = fold[add](n) { i ->
    v = index(y, i)
    yield v
  }
  t = add(r, s)
  return t
}
"""

EACH_OTHER = """
def main(x: f64[:], y: f64[:], n: i64) {
  r = recurse(n) { f: (i64) -> (f64), k: i64 ->
    z = ilt(k, 1)
    e = if z { yield 0.0 } else {
      l = isub(k, 1)
      q = recurse(l) { g: (i64) -> (f64), m: i64 ->
        w = ilt(m, 1)
        a = if w { yield 1.0 } else {
          o = isub(m, 2)
          b = call f(o)
          c = call g(o)
          v = index(y, o)
          d = add(b, c)
          e_1 = add(d, v)
          yield e_1
        }
        yield a
      }
      v_1 = index(x, l)
      h = add(q, v_1)
      yield h
    }
    yield e
  }
  return r
}
"""

MAKES = """
def main(x: f64[:], n: i64) {
  r = recurse(n, x) { f: (i64, f64[:]) -> (f64), k: i64, p: f64[:] ->
    z = ilt(k, 1)
    e = if z { yield 0.0 } else {
      l = isub(k, 1)
      q = build(k) { i ->
        v = index(p, i)
        w = mul(v, 0.5)
        yield w
      }
      g = call f(l, q)
      yield g
    }
    yield e
  }
  return r
}
"""


def lowered(text: str) -> LoopFunction:
    return lower_function(parse(text).entry)


def outermost(function: LoopFunction) -> Invoke:
    """The call that the function itself makes."""
    (found,) = (s for s in everywhere(function.body) if isinstance(s, Invoke))
    return found


def read_by(stmts: list[Stmt], function: LoopFunction) -> set[int]:
    return {function.roots[s.root] for s in stmts if isinstance(s, Load)}


def test_a_call_reads_what_its_body_reads() -> None:
    function = lowered(READS)
    call, calls = outermost(function), Calls(function)
    does = calls.effects((call,))
    inside = [*everywhere(function.subroutine(call.subroutine).body)]
    loop = next(s for s in function.body if isinstance(s, For))
    (given, _, _) = function.params
    assert does.calls and does.can_fail and not does.added
    assert {p for p in does.read if isinstance(p, int)} == read_by(inside, function)
    assert {p for p in does.written if not isinstance(p, int)} == calls.set_by(call)
    assert isinstance(given, ArrayParam) and given.ptr in does.used
    assert does.made == set(call.regs)
    assert not does.needed_by(calls.effects((loop,)))
    assert not calls.ask_for_memory(call)


def test_a_call_does_what_those_do_that_it_reaches() -> None:
    """Each of two that call each other reads all that either of them does."""
    function = lowered(EACH_OTHER)
    calls, whole_text = Calls(function), [*whole(function)]
    invokes = [s for s in whole_text if isinstance(s, Invoke)]
    assert len({s.subroutine for s in invokes}) == 2
    for call in invokes:
        does = calls.effects((call,))
        assert {p for p in does.read if isinstance(p, int)} == read_by(
            whole_text, function
        )
        assert {*calls.run_by((call,))} >= {
            s for s in whole_text if isinstance(s, Load | Set)
        }


def test_a_call_that_makes_buffers() -> None:
    function = lowered(MAKES)
    call, calls = outermost(function), Calls(function)
    assert calls.ask_for_memory(call)
    assert {p for p in calls.effects((call,)).written if isinstance(p, int)}


def test_a_result_is_in_its_place() -> None:
    """A call that fills a result of the function stays where it is."""
    function = lowered(MAKES)
    call = outermost(function)
    moved = Invoke(call.regs, call.subroutine, call.args, (-1,))
    with pytest.raises(Opaque):
        Calls(function).effects((moved,))
