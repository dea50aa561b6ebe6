"""Functions that call themselves, by way of the core that is made of them."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest
from frontend.meaning import assert_same, interpret
from jitted import Jitted

import chadllvm as cl
from chadllvm.frontend import body, specialise
from chadllvm.frontend.statements import translate_function
from chadllvm.ir.check import check
from chadllvm.ir.parse import parse
from chadllvm.ir.pretty import alpha_equal, pretty
from chadllvm.ir.types import BOOL, F32, F64, I64, Type


@Jitted
def annotated(n: int) -> int:
    return 1 if n < 2 else n * annotated(n - 1)


@Jitted
def widened(n):
    if n == 0:
        return 1
    return 0.5 * widened(n - 1)


@Jitted
def by_statements(n, x):
    if n > 0:
        y = by_statements(n - 1, x)
        return y * x
    return 1.0


@Jitted
def in_a_loop(n):
    total = 0
    for k in range(n):
        total += 1 + in_a_loop(k)
    return total


@Jitted
def behind_a_loop(n, x):
    while n > 0:
        if n == 7:
            return behind_a_loop(n - 2, x) + x
        n -= 1
    return x


@Jitted
def in_a_comprehension(n):
    if n == 0:
        return 1
    return sum(in_a_comprehension(k) for k in range(n))


@Jitted
def even(n):
    return n == 0 or odd(n - 1)


@Jitted
def odd(n):
    return n != 0 and even(n - 1)


@Jitted
def first_of_three(n):
    return second_of_three(n - 1) + 1 if n > 0 else third_of_three(-n)


@Jitted
def second_of_three(n):
    return third_of_three(n)


@Jitted
def third_of_three(n):
    if n > 3:
        return first_of_three(n - 2) * 2
    return 0.5 if n < 0 else n


@Jitted
def to_the_left(n, x):
    if n == 0:
        return x
    return to_the_right(n - 1, (x[1], x[0] + 1.0))


@Jitted
def to_the_right(n, x):
    return to_the_left(n, x) if n % 3 != 0 or n < 1 else to_the_right(n - 1, x)


@Jitted
def grown(n, x):
    return x if n == 0 else grown(n - 1, x * 0.5)


@Jitted
def list_of(n):
    if n == 0:
        return [0.0, 0.0]
    before = list_of(n - 1)
    xs = []
    for value in before:
        xs.append(value + n)
    return xs


@Jitted
def chosen(n, x):
    if n == 0:
        return lambda t: t + x
    if n == 1:
        return lambda t: t * x
    return chosen(n - 2, x)


@Jitted
def through_a_function(n, x):
    return chosen(n, x)(3.0)


@Jitted
def passed_on(f, n, x):
    return x if n == 0 else passed_on(f, n - 1, f(x))


@Jitted
def passed(n, x):
    return passed_on(lambda t: 0.5 * t + 1.0, n, x)


@Jitted
def made_anew(f, n, x):
    return f(x) if n == 0 else made_anew(lambda t: t * n, n - 1, x)


@Jitted
def ever_new(n, x):
    return made_anew(lambda t: -t, n, x)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (annotated, (6,)),
        (widened, (0,)),
        (widened, (3,)),
        (by_statements, (4, 1.5)),
        (in_a_loop, (5,)),
        (behind_a_loop, (9, 1.25)),
        (in_a_comprehension, (5,)),
        (even, (5,)),
        (odd, (5,)),
        (first_of_three, (12,)),
        (second_of_three, (9,)),
        (third_of_three, (8,)),
        (to_the_left, (7, (1.0, 2.0))),
        (grown, (3, 2)),
        (list_of, (3,)),
        (through_a_function, (4, 2.0)),
        (through_a_function, (5, 2.0)),
        (passed, (5, 1.0)),
        (ever_new, (0, 1.5)),
        (ever_new, (3, 1.5)),
    ],
)
def test_values_are_pythons(function: Jitted[Any], args: tuple[Any, ...]) -> None:
    assert_same(interpret(function.py_func, *args), function(*args))


@pytest.mark.parametrize(
    ("function", "types"),
    [(even, [I64]), (first_of_three, [I64]), (by_statements, [I64, F64])],
)
def test_the_text_is_read_back(function: Jitted[Any], types: list[Type]) -> None:
    """Functions that are called before they have ended say what they return."""
    program = specialise(function.py_func, types)
    again = parse(pretty(program))
    check(again)
    assert alpha_equal(program, again)
    assert " -> (" in pretty(program)


def test_the_entry_of_a_group_is_the_last() -> None:
    program = specialise(third_of_three.py_func, [I64])
    assert program.entry.name == "third_of_three"
    assert {f.name for f in program.functions} == {
        "first_of_three", "second_of_three", "third_of_three",
    }  # fmt: skip


def test_a_result_is_what_the_other_paths_give() -> None:
    assert specialise(odd.py_func, [I64]).entry.body.types == (BOOL,)
    assert specialise(widened.py_func, [I64]).entry.body.types == (F64,)
    assert specialise(in_a_loop.py_func, [I64]).entry.body.types == (I64,)


@Jitted
def single(x, n):
    return 1.0 if n == 0 else x * single(x, n - 1)


def test_pythons_numbers_become_as_wide_as_what_they_meet() -> None:
    assert specialise(single.py_func, [F32, I64]).entry.body.types == (F32,)
    assert specialise(single.py_func, [F64, I64]).entry.body.types == (F64,)


@cl.jit(static_argnames="n")
def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


@cl.jit(static_argnames="n")
def long_power(x, n) -> float:
    return 1.0 if n == 0 else x * long_power(x, n - 1)


def test_static_arguments_end_the_recursion() -> None:
    """With its annotation a function need not be translated for its caller."""

    def use(x: float) -> float:
        return power(x, 12) + long_power(x, 200)

    assert_same(interpret(use, 1.01), 1.01**12 + 1.01**200)


def test_without_end_the_stack_ends() -> None:
    @Jitted
    def down(x: float) -> float:
        return down(x - 1.0)

    with pytest.raises(RecursionError):
        interpret(down.py_func, 1.0)


_LINK = """
@Jitted
def g{k}(n):
    if n < {k}:
        return g{j}(n)
    return 0.5 * g{k}(n - 1) + g{j}(n - 1) + g{back}(n - 2)
"""


def test_a_chain_of_recursive_functions_is_translated_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was found out is kept: not twice as often for each of them."""
    links, count = 12, 0
    text = "from jitted import Jitted\n\n\n@Jitted\ndef g0(n):\n    return n\n"
    for k in range(1, links + 1):
        text += _LINK.format(k=k, j=k - 1, back=min(k + 1, links))
    name = "chain_of_recursions.py"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)

    def counted(*args: Any) -> Any:
        nonlocal count
        count += 1
        return translate_function(*args)

    monkeypatch.setattr(body, "translate_function", counted)
    program = specialise(namespace[f"g{links}"].py_func, [I64])
    assert len(program.functions) == links + 1
    assert count < links**2


def test_an_array_is_passed_unchanged() -> None:
    @Jitted
    def total(x, low, high):
        if high - low == 1:
            return x[low]
        middle = (low + high) // 2
        return total(x, low, middle) + total(x, middle, high)

    def use(x):
        return total(x, 0, len(x))

    x = np.array([1.0, 2.5, -3.0, 4.0, 0.25])
    assert_same(interpret(use, x), use(x))


# ---- local functions -----------------------------------------------------------------


def local_power(x, n):
    def power(k):
        return 1.0 if k == 0 else x * power(k - 1)

    return power(n)


def local_lambda(n):
    count = lambda k: 0 if k == 0 else 1 + count(k // 2)  # noqa: E731
    return count(n)


def local_with_default(x, n):
    scale = 0.5 * x

    def damped(k, by=scale):
        return x if k == 0 else by * damped(k - 1)

    return damped(n) + damped(n, 2.0)


def local_even(n, step):
    def is_even(k):
        return True if k == 0 else is_odd(k - 1)

    def is_odd(k):
        return False if k == 0 else is_even(k - step)

    return is_even(n)


def local_three(n, a, b):
    c = a * b

    def first(k, by=a + 1.0):
        return by if k <= 0 else second(k - 1) + a

    def helper(t):
        return t * b

    def second(k, by=2.0 * b):
        return by + third(k - 1, third)

    def third(k, f):
        a = 3.0
        return helper(first(k - 1)) + a if k > 1 else c * k

    return first(n) + second(n) + third(n, third) + helper(a)


def local_in_a_loop(n):
    total = 0
    for k in range(n):

        def down(j):
            return k if j == 0 else 1 + down(j - 1)  # noqa: B023

        total += down(k)
    return total


def local_on_a_branch(n, x):
    if n > 2:

        def power(k):
            return 1.0 if k == 0 else x * power(k - 1)

    else:

        def power(k):
            return x if k == 0 else power(k - 1) + 1.0

    return power(n)


def local_of_local(n, x):
    def outer(k):
        def inner(j):
            return x if j <= 0 else inner(j - 1) + outer(j - 2)

        return 1.0 if k <= 0 else inner(k - 1)

    return outer(n)


def local_passed(n, x):
    def twice(f, t):
        return f(f(t))

    def grow(k, t):
        return t if k == 0 else twice(lambda s: grow(k - 1, s) + x, t)

    return grow(n, 1.0)


def by_itself(n):
    def fact(self, k):
        return 1 if k == 0 else k * self(self, k - 1)

    return fact(fact, n)


def by_a_combinator(n):
    def fix(f, k):
        return f(lambda j: fix(f, j), k)

    return fix(lambda self, k: 1 if k < 2 else self(k - 1) + self(k - 2), n)


def local_shadowed(n, x):
    def first(k):
        return x if k == 0 else second(k - 1, 1.0)

    def second(k, x):
        return first(k) * x if k > 0 else x

    return first(n)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (local_power, (1.5, 4)),
        (local_lambda, (100,)),
        (local_with_default, (1.5, 3)),
        (local_even, (7, 1)),
        (local_even, (8, 1)),
        (local_three, (7, 1.5, 0.25)),
        (local_three, (8, 1.5, 0.25)),
        (local_in_a_loop, (5,)),
        (local_on_a_branch, (4, 1.5)),
        (local_on_a_branch, (1, 1.5)),
        (local_of_local, (5, 0.5)),
        (local_passed, (3, 0.5)),
        (by_itself, (5,)),
        (by_a_combinator, (7,)),
        (local_shadowed, (4, 2.5)),
    ],
)
def test_local_functions_are_pythons(function: Any, args: tuple[Any, ...]) -> None:
    assert_same(interpret(function, *args), function(*args))
