"""Which subroutines are put into themselves, and what of them."""

from __future__ import annotations

import numpy as np

import chadllvm as cl
from chadllvm.ir import loops as l
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F64, I64
from chadllvm.llvm.copies import LARGEST, copies_of

CHOICE = l.Reg("choice", BOOL)
SLOT = l.Slot("s", F64)


def invoke(name: str = "walk") -> l.Invoke:
    return l.Invoke((l.Reg("r", F64),), name, (CHOICE,))


def branch(then: tuple[l.Stmt, ...], orelse: tuple[l.Stmt, ...]) -> l.Branch:
    return l.Branch(CHOICE, then, orelse)


def leave() -> l.Leave:
    return l.Leave((Lit(0.0),))


def subroutine(*body: l.Stmt, regions: tuple[int, ...] = ()) -> l.Subroutine:
    turn = l.Reg("turn", I64)
    return l.Subroutine("walk", turn, (CHOICE,), (F64,), (), body, regions)


def head(*body: l.Stmt) -> tuple[l.Stmt, ...]:
    found = copies_of(subroutine(*body)).head
    assert found is not None
    return found.body


def test_small_subroutines_that_invoke_only_themselves_are_unfolded() -> None:
    assert copies_of(subroutine(branch((leave(),), (invoke(), invoke())))).unfolds
    assert not copies_of(subroutine(leave())).unfolds
    assert not copies_of(subroutine(invoke(), invoke("other"))).unfolds
    many = [leave() for _ in range(LARGEST)]
    assert not copies_of(subroutine(*many, invoke())).unfolds


def test_a_head_invokes_the_whole_where_a_run_invokes() -> None:
    leaf, behind = (l.Set(SLOT, Lit(1.0)),), leave()
    asked, end = head(branch(leaf, (invoke(), invoke())), behind)
    assert isinstance(asked, l.Branch)
    assert asked.then == leaf and end is behind
    whole, left = asked.orelse
    assert isinstance(whole, l.Invoke) and whole.args == (CHOICE,)
    assert isinstance(left, l.Leave) and left.values == whole.regs


def test_a_head_asks_all_questions_in_front_of_invocations() -> None:
    inner = branch((invoke(),), (l.Set(SLOT, Lit(1.0)),))
    asked, _ = head(branch((invoke(),), (inner,)), leave())
    assert isinstance(asked, l.Branch)
    assert isinstance(asked.then[0], l.Invoke)
    assert isinstance(asked.orelse[0], l.Branch)
    # Nothing is left to ask for on a side that always invokes.
    asked, _ = head(branch((branch((invoke(),), (invoke(),)),), ()), leave())
    assert isinstance(asked, l.Branch)
    assert isinstance(asked.then[0], l.Invoke)


def test_only_what_may_be_twice_is_in_front_of_the_question() -> None:
    asked = branch((), (invoke(),))
    read, written = l.Get(l.Reg("g", F64), SLOT), l.Set(SLOT, Lit(1.0))
    assert copies_of(subroutine(written, read, asked, leave())).head
    assert not copies_of(subroutine(read, written, asked, leave())).head
    stored = l.Store(l.Reg("p", l.PTR), Lit(0), Lit(1.0), 0)
    assert not copies_of(subroutine(stored, asked, leave())).head
    added = l.Accumulate(SLOT, Lit(1.0))
    assert not copies_of(subroutine(added, asked, leave())).head


def test_who_has_no_head() -> None:
    assert not copies_of(subroutine(invoke(), leave())).head
    assert not copies_of(subroutine(branch((invoke(),), (invoke(),)), leave())).head
    asked = branch((), (invoke(),))
    assert not copies_of(subroutine(asked, leave(), regions=(1,))).head
    loop = l.For(l.Reg("i", I64), Lit(0), Lit(3), (asked,))
    assert not copies_of(subroutine(loop, leave())).head


@cl.jit
def collatz(n: int, x: float) -> float:
    """Every run but the last invokes another, on one side or on the other."""
    if n == 1:
        return x
    if n % 2 == 0:
        return 0.5 * collatz(n // 2, x)
    return x + collatz(3 * n + 1, x * x)


def test_runs_that_invoke_on_several_sides() -> None:
    for n in (1, 2, 7, 27):
        value, slope = cl.value_and_grad(collatz, argnums=1)(n, 0.9)
        assert value == np.float64(collatz.py_func(n, 0.9))
        ahead, behind = (collatz.py_func(n, 0.9 + h) for h in (1e-6, -1e-6))
        np.testing.assert_allclose(slope, (ahead - behind) / 2e-6, rtol=1e-6)


@cl.jit
def weighed(x: cl.f64[:], low: int, high: int) -> cl.f64[:]:
    """Arrays that are handed from run to run, in two regions by turns."""
    if high - low == 1:
        return x[low:high]
    middle = (low + high) // 2
    left, right = weighed(x, low, middle), weighed(x, middle, high)
    made = np.zeros(high - low)
    for k in range(high - low):
        made[k] = 2.0 * (left[k] if k < len(left) else right[k - len(left)])
    return made


@cl.jit
def weight(x: cl.f64[:]) -> float:
    return np.sum(weighed(x, 0, len(x)) ** 2)


def test_arrays_between_runs_in_copies_of_each_other() -> None:
    x = np.linspace(0.5, 2.0, 13)
    value, gradient = cl.value_and_grad(weight)(x)
    np.testing.assert_allclose(value, weight.py_func(x), rtol=1e-14)
    depth = gradient / (2.0 * x)
    np.testing.assert_allclose(np.sqrt(depth), depths(x), rtol=1e-14)


def depths(x: np.ndarray) -> list[float]:
    """By what each number is multiplied on its way."""
    found = [0.0] * len(x)

    def walk(low: int, high: int, times: float) -> None:
        if high - low == 1:
            found[low] = times
            return
        middle = (low + high) // 2
        walk(low, middle, 2.0 * times)
        walk(middle, high, 2.0 * times)

    walk(0, len(x), 1.0)
    return found
