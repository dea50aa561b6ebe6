"""What is a list in Python is one here, on all ways to an operation, or is refused."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from tests.frontend.lists_and_arrays import Held, disagreement, grid, program

# So many programs of the grid are checked in each part.
_SAMPLE = 150
_PARTS = 4


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("part", range(_PARTS))
def test_programs_agree_with_python(part: int) -> None:
    chosen = random.Random(f"lists {part}").sample(grid(), _SAMPLE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {case: disagreement(program(*case)) for case in chosen}
    assert {case: text for case, text in found.items() if text} == {}


LIST = "[v + 1.0 for v in x]"


@pytest.mark.parametrize(
    "case",
    [
        # A product without lists on one way, and with one on the other.
        ("tuple", "y + y", "x", LIST),
        ("nested tuple", "y * n", "x", LIST),
        ("unpacked", "y += y", LIST, "x * 1.0"),
        ("record", "[1.0] + y", "x", "listed(x)"),
        ("replaced", "y != [1.0, 2.0]", "[1.0, 2.0]", "np.zeros(2)"),
        ("dictionary", "y + 1.0", "x", LIST),
        ("loop of tuples", "y + y", "x", LIST),
        ("tuple from a loop", "doubled(y)", "x", LIST),
        # An array once the loop was left.
        ("while with a break", "y.copy() + y", "[3.0] * 2", "np.zeros(2)"),
        ("while with a break", "y.append(1.0)", "list(x)", "np.zeros(2)"),
        # A list and an array are an array.
        ("itself", "y += x[:2]", LIST, LIST),
        ("for", "y += x[:2]", LIST, LIST),
        ("for", "y[0] += y[1]", "[list(x), list(x)]", "np.ones((2, 2))"),
        # Python does not apply these to lists.
        ("itself", "abs(y)", LIST, LIST),
        ("conditional", "y @ y", LIST, "x"),
    ],
    ids=lambda case: f"{case[0]}: {case[1]}",
)
def test_what_was_added_in_silence(case: tuple[str, str, str, str]) -> None:
    assert disagreement(program(*case)) == ""


def test_a_list_and_an_array_are_an_array() -> None:
    @cl.jit
    def total(x: cl.f64[:], n: int) -> cl.f64[:]:
        y = [v * 2.0 for v in x]
        y += x
        for _ in range(n):
            y += y
        return y + x

    x = np.array([1.0, 2.0])
    for n in (0, 2):
        found = total(x, n)
        assert found.tolist() == total.py_func(x, n).tolist()


HOLDS_LIST = {
    "list": "LIST",
    "either": "LIST if len(x) > 1 else x * 1.0",
    "tuple": "(LIST, 1.0)",
    "dictionary": "{'k': LIST}",
    "record": "Held(LIST, 1.0)",
    "nested": "(1.0, (LIST, 2.0))",
    "either tuple": "(LIST, 1.0) if len(x) > 1 else (x * 1.0, 2.0)",
    "list of lists": "[LIST, LIST]",
    "list of tuples": "[(LIST, 1.0), (LIST, 2.0)]",
}
PART = {
    "list": "p",
    "either": "p",
    "dictionary": "p['k']",
    "record": "p.values",
    "nested": "p[1][0]",
    "list of tuples": "p[0][0]",
}
DERIVATIVES = {
    "grad": "cl.grad(lambda p: BODY)(A)",
    "value_and_grad": "cl.value_and_grad(lambda p: BODY)(A)",
    "by another": "cl.grad(lambda s, p: s * BODY)(2.0, A)",
    "vjp": "cl.vjp(lambda p: BODY, A)[0]",
    "jvp": "cl.jvp(lambda p: BODY, (A,), (A,))[0]",
    "linearize": "cl.linearize(lambda p: BODY, A)[0]",
    "hvp": "cl.hvp(lambda p: BODY)(A, A)",
    "gradient of a gradient": "cl.grad(lambda p: cl.grad(lambda q: q * BODY)(1.0))(A)",
}


@pytest.mark.parametrize("what", HOLDS_LIST)
@pytest.mark.parametrize("derivative", DERIVATIVES)
def test_lists_as_arguments_of_derivatives_are_refused(
    derivative: str, what: str
) -> None:
    part = PART.get(what, "p[0]")
    body = f"(sum(w * w for w in {part} + {part}) * len({part} + {part}))"
    text = DERIVATIVES[derivative].replace("BODY", body)
    text = text.replace("A", f"({HOLDS_LIST[what]})").replace("LIST", LIST)
    function: Any = program("itself", f"({text}, y)[0]", "x", "x")
    with pytest.raises(cl.CompileError, match="list of numbers as the argument"):
        cl.jit(function)(np.array([1.0, 2.0]), 1, True)


def test_what_a_derivative_reads_from_outside_stays_a_list() -> None:
    text = "cl.grad(lambda s: s * (sum(y + y) * len(y + y)))(2.0)"
    function: Any = program("itself", text, LIST, LIST)
    assert cl.jit(function)(np.array([1.0, 2.0]), 1, True) == 40.0


@pytest.mark.parametrize(
    "text",
    [
        "cl.vjp(lambda s: LIST, 1.0)[0]",
        "cl.vjp(lambda s: (LIST, s), 1.0)[0][0]",
        "cl.jvp(lambda s: LIST, (1.0,), (1.0,))[0]",
        "cl.jvp(lambda s: [v * s for v in x], (1.0,), (1.0,))[1]",
        "cl.grad(lambda s: (s * 1.0, LIST), has_aux=True)(2.0)[1]",
        "cl.value_and_grad(lambda s: (s * 1.0, (LIST, s)), has_aux=True)(2.0)[0][1][0]",
        "cl.linearize(lambda s: [v * s for v in x], 1.0)[1](1.0)",
        "cl.jacfwd(lambda s: [v * s for v in x])(1.0)",
        "cl.jacrev(lambda s: [v * s for v in x])(1.0)",
    ],
)
def test_derivatives_give_arrays(text: str) -> None:
    """A compiled function returns arrays, and so does one that is differentiated."""
    made = text.replace("LIST", LIST)
    function: Any = program("itself", "y * 2", made, made)
    x = np.array([1.0, 2.0])
    assert cl.jit(function)(x, 1, True).tolist() == function(x, 1, True).tolist()


def test_records_of_arrays_are_arguments_still() -> None:
    def f(x: cl.f64[:]) -> float:
        return cl.grad(lambda p: sum(p[0] + p[0]) * p[1])((x * 1.0, 2.0))[1]

    x = np.array([1.0, 2.0])
    assert cl.jit(f)(x) == f(x) == 6.0
    assert Held(x, 1.0).values is x


def grown(m: cl.f64[:, :], n: int) -> float:
    r = [a * 1.0 for a in [m[0], m[1, 1:]]]
    for i in range(n):
        if i % 2 == 0:
            r.append(r[i] * r[i])
        else:
            r += [r[0] * 0.5]
    r.extend([r[0] * 3.0])
    r.extend(m)
    r = [m[1]] + r  # noqa: RUF005  # Sums are what is tested.
    r = r + [np.sqrt(r[0]), r[1]]  # noqa: RUF005
    r += [np.concatenate((x, x[:1])) for x in r]
    return sum(np.sum(r[k] * (k + 1)) for k in range(len(r)))


@pytest.mark.parametrize("optimize", [2, 0])
def test_lists_of_arrays_take_regular_lists(optimize: int) -> None:
    compiled = cl.jit(grown, optimize=optimize)
    m = np.arange(1.0, 7.0).reshape(2, 3)
    np.testing.assert_allclose(compiled(m, 3), grown(m, 3))
    cl.check_grads(compiled, (m, 3))


def added(xs: list[cl.f64[:]], m: cl.f64[:, :]) -> float:
    return len(xs + m)


def added_in_front(xs: list[cl.f64[:]], m: cl.f64[:, :]) -> float:
    return len(m + xs)


def added_in_place(xs: list[cl.f64[:]], m: cl.f64[:, :]) -> float:
    r = xs[:]
    r += m
    return len(r)


@pytest.mark.parametrize("function", [added, added_in_front, added_in_place])
def test_an_array_is_not_joined_to_a_list_by_a_sum(function: Any) -> None:
    """NumPy adds them elementwise, if they are of one shape."""
    with pytest.raises(cl.CompileError, match=r"a list\[f64\[:\]\] is neither"):
        cl.jit(function)([np.zeros(2), np.zeros(2)], np.zeros((2, 2)))


def test_nothing_is_popped_from_an_empty_list() -> None:
    def left(n: int) -> int:
        xs = [0.5]
        for i in range(n):
            xs.append(0.5 * i)
        for _ in range(3):
            xs.pop()
        return len(xs)

    compiled = cl.jit(left)
    assert [compiled(n) for n in (2, 5)] == [0, 3]
    with pytest.raises(IndexError, match="empty list"):
        compiled(1)
