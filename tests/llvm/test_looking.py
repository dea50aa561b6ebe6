"""Where a subroutine looks around, and which subroutines are put into themselves."""

from __future__ import annotations

import numpy as np

import chadllvm as cl
from chadllvm.ir import loops as l
from chadllvm.ir.term import Lit
from chadllvm.ir.types import BOOL, F64, I64
from chadllvm.llvm.looking import LARGEST, first_invocation, unfolds

CHOICE = l.Reg("choice", BOOL)


def invoke(name: str = "walk") -> l.Invoke:
    return l.Invoke((l.Reg("r", F64),), name, (Lit(1.0),))


def branch(then: tuple[l.Stmt, ...], orelse: tuple[l.Stmt, ...]) -> l.Branch:
    return l.Branch(CHOICE, then, orelse)


def leave() -> l.Leave:
    return l.Leave((Lit(0.0),))


def subroutine(*body: l.Stmt) -> l.Subroutine:
    return l.Subroutine("walk", l.Reg("turn", I64), (), (F64,), 0, body, ())


def test_the_look_is_on_the_side_that_invokes() -> None:
    first, second = invoke(), invoke()
    assert first_invocation([leave(), branch((leave(),), (first, second))]) is first
    assert first_invocation([branch((second,), (leave(),))]) is second


def test_the_look_is_in_front_of_all_invocations() -> None:
    both = branch((invoke(),), (invoke(),))
    assert first_invocation([leave(), both]) is both
    one = branch((invoke(),), ())
    assert first_invocation([one, invoke()]) is one
    loop = l.For(l.Reg("i", I64), Lit(0), Lit(3), (invoke(),))
    assert first_invocation([leave(), loop]) is loop


def test_who_does_not_invoke_does_not_look() -> None:
    assert first_invocation([leave(), branch((), ())]) is None


def test_small_subroutines_that_invoke_only_themselves_are_unfolded() -> None:
    assert unfolds(subroutine(branch((leave(),), (invoke(), invoke()))))
    assert not unfolds(subroutine(leave()))
    assert not unfolds(subroutine(invoke(), invoke("other")))
    assert not unfolds(subroutine(*(leave() for _ in range(LARGEST)), invoke()))


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
