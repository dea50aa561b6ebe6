"""`report`: what is copied and why, and what loops store, at the user's lines."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.driver.report import Report


@cl.jit
def clean(x: cl.f64[:]) -> float:
    a = x.copy()
    for i in range(1, len(x)):
        a[i] = math_of(a[i - 1]) * x[i]
        a[i - 1] *= 0.5
    return np.sum(a)


@cl.jit
def math_of(x: float) -> float:
    return x * x + 1.0


@cl.jit
def kept(x: cl.f64[:]) -> float:
    a = x * 2.0
    b = a.copy()
    b[0] = 1.0
    c = [v for v in a]
    total = 0.0
    for i in range(len(x)):
        d = [v for v in c]
        d[i] = 0.0
        total += d[i - 1]
    return total + b[1] + c[0]


@cl.jit
def renewed(x: cl.f64[:], flag: bool) -> float:
    a = x.copy()
    for i in range(len(x)):
        if flag:
            a = a * 2.0
        else:
            a[i] = 0.0
    return np.sum(a)


@cl.jit
def states(x: cl.f64[:]):
    a = x + 1.0
    for _ in range(3):
        a = np.cumsum(a)
    return a, x


@cl.jit
def settled(x: cl.f64[:], steps: int):
    a = x.copy()
    a[0] = 0.0
    for _ in range(steps):
        for i in range(1, len(x)):
            a[i] += 0.5 * a[i - 1]
    return a, np.sum(a)


@cl.jit
def exchanged(x: cl.f64[:]) -> float:
    a, b = 2.0 * x, 3.0 * x
    for i in range(len(x)):
        a, b = b, a
        a[i] += 2.0 * b[i]
    return np.sum(a) - 2.0 * np.sum(b)


@cl.jit
def turned(x: cl.f64[:]) -> float:
    a, b, c = 2.0 * x, 3.0 * x, x * x
    for i in range(len(x)):
        a, b, c = b, c, a
        a[i] += 2.0 * b[i] + c[0]
    return np.sum(a) - 2.0 * np.sum(b) + 3.0 * np.sum(c)


@cl.jit
def rows_read(m: cl.f64[:, :], places: cl.i64[:]) -> float:
    total = 0.0
    for k in places:
        total += m[k, 0] * m[k, 0]
    return total


def line_of(function: Any, text: str) -> int:
    """The line of the file that this text of the function stands in."""
    source, first = inspect.getsourcelines(function.py_func)
    return first + next(k for k, line in enumerate(source) if text in line)


X = np.linspace(0.5, 1.5, 4)


def copies(report: Report) -> list[tuple[str, int, str, int]]:
    return [(c.array, c.span.line, c.reason, c.because.line) for c in report.copies]


def test_nothing_is_copied() -> None:
    assert clean.report(X).copies == ()
    assert cl.grad(clean).report(X).copies == ()


@pytest.mark.parametrize("function", [exchanged, turned])
def test_states_that_change_places_are_not_copied(function: Any) -> None:
    assert function(X) == pytest.approx(function.py_func(X))
    assert function.report(X).copies == ()
    assert cl.grad(function).report(X).copies == ()


def test_the_tape_is_told_by_line_and_size() -> None:
    report = cl.value_and_grad(clean).report(X)
    (loop,) = (note for note in report.loops if any(s.tape for s in note.stored))
    assert loop.span.line == line_of(clean, "for i in")
    assert [(s.bytes, s.span.line) for s in loop.stored] == [
        (8, line_of(clean, "a[i] =")),
    ]
    (reverse,) = (note for note in report.loops if note.reads)
    assert reverse.span == loop.span
    assert not any(note.reads for note in clean.report(X).loops)


@cl.jit
def halved(x: float) -> float:
    while x > 1.0:
        x = 0.5 * x * math.cos(x) ** 2
    return x


def test_the_tape_of_a_loop_that_stops() -> None:
    """The cosine that was computed is kept; the sine is computed in the reverse."""
    report = cl.grad(halved).report(3.0)
    (loop,) = (note for note in report.loops if note.stored)
    assert loop.span.line == line_of(halved, "while")
    assert all(s.tape and s.bytes == 8 for s in loop.stored)
    kept = {line_of(halved, "while"), line_of(halved, "x = 0.5")}
    assert {s.span.line for s in loop.stored} == kept
    assert {s.why for s in loop.stored} == {
        "that takes less time than to compute it again",
        "the step before made it",
    }
    (reverse,) = (note for note in report.loops if note.reads)
    assert len(reverse.reads) == len(loop.stored) == 2


@cl.jit
def repeated(x: float, n: int) -> float:
    if n == 0:
        return 1.0
    y = repeated(math.sin(x), n - 1)
    return x * y * y


def test_the_tape_of_calls() -> None:
    """Calls of a function that calls itself are told as the steps of a loop are."""
    report = cl.grad(repeated).report(2.0, 5)
    (calls,) = (note for note in report.loops if note.stored)
    assert calls.span.line == line_of(repeated, "def repeated")
    assert {s.span.line for s in calls.stored} >= {calls.span.line}
    assert all(s.tape for s in calls.stored)


def test_the_state_that_is_renewed() -> None:
    (copy,) = copies(renewed.report(X, True))
    assert copy[:2] == ("a", line_of(renewed, "for i in"))
    assert "made it anew" in copy[2]


def test_the_results_that_are_copied() -> None:
    reason = "what is returned has to be an array of its own"
    assert ("x", line_of(states, "def states"), reason, 0) in copies(states.report(X))


def test_what_a_loop_leaves_is_returned_as_it_is() -> None:
    assert settled.report(X, 2).copies == ()
    for steps in (0, 3):
        found, total = settled(X, steps)
        expected, _ = settled.py_func(X, steps)
        np.testing.assert_array_equal(found, expected)
        assert total == pytest.approx(np.sum(found))
    assert X[0] == 0.5


def test_what_is_used_later_is_named_with_its_line() -> None:
    """Here b is another name for a: the copy is made where the two part."""
    first, later = line_of(kept, "b[0]"), line_of(kept, "return")
    assert copies(kept.report(X))[0] == ("a", first, "a is used later", later)


def test_what_each_step_changes_is_copied_in_each() -> None:
    """Here c and d are other names too, as long as nobody writes to them."""
    *_, copy = copies(kept.report(X))
    assert copy[:2] == ("a", line_of(kept, "d[i] ="))
    assert "other steps use it" in copy[2]


def test_checked_indices() -> None:
    (loop,) = rows_read.report(np.eye(3), np.array([0, 2])).loops
    assert [span.line for span in loop.checks] == [line_of(rows_read, "m[k, 0]")]


def test_the_text_names_lines() -> None:
    text = str(cl.value_and_grad(clean).report(X))
    line = line_of(clean, "for i in")
    assert f"\n  line {line}:\n    stores a value for the reverse, 8 bytes" in text
    assert f"line {line}, in reverse" in text


@cl.jit(options=cl.CompileOptions(disabled=frozenset({"separate"})))
def seldom_made(a: cl.f64[:], b: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x = b
        for _ in range(1 if i == 3 else 0):
            x = np.sin(x)
        s += x[i]
    return s


def test_cotangents_that_cost_more_than_their_arrays() -> None:
    """A state is an array from outside if its loop has no step, which nothing says."""
    report = cl.grad(seldom_made, argnums=1).report(X, X)
    assert {cell.array.name for cell in report.cells} == {"x"}
    assert "arrays whose cotangents cost more than they do:" in str(report)
    assert ": x\n" in str(report)
    assert cl.grad(clean).report(X).cells == ()


def test_the_permanent_mode_says_so() -> None:
    assert "optimize=0" in str(cl.jit(clean.py_func, optimize=0).report(X))


def test_without_arguments() -> None:
    assert clean.report().copies == ()


@pytest.mark.parametrize("make", [cl.jit, cl.grad])
def test_nothing_to_go_by(make: Callable[..., Any]) -> None:
    def free(x):
        return x * x

    with pytest.raises(ValueError, match="have no type"):
        make(free).report()


@cl.jit
def one_more(x: cl.f64[:]) -> float:
    xs = [v * 2.0 for v in x]
    xs.append(1.0)
    return xs[0] + xs[-1]


def test_a_list_without_room_is_copied() -> None:
    reason = "the list was made with room for its elements only"
    line = line_of(one_more, "xs.append")
    assert copies(one_more.report(X)) == [("xs", line, reason, 0)]
