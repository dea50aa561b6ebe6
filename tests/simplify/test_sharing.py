"""Updates that another name of the array would see in Python are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.frontend.translation import specialise
from chadllvm.ir.types import BOOL, F64, I64, Array, Type
from chadllvm.simplify.flatten import flatten
from chadllvm.simplify.inline import inline
from chadllvm.simplify.sharing import sharing
from chadllvm.support.diagnostic import CompileError

VECTOR, MATRIX = Array(F64, 1), Array(F64, 2)

Function = Callable[..., Any]
ALLOWED: list[tuple[Function, tuple[Type, ...]]] = []
REFUSED: list[tuple[Function, tuple[Type, ...], int, str]] = []


def allowed(*types: Type) -> Callable[[Function], Function]:
    def enter(function: Function) -> Function:
        ALLOWED.append((function, types))
        return function

    return enter


def refused(*types: Type, line: int, message: str) -> Callable[[Function], Function]:
    """The update in this line, counted from the `def`, is refused."""

    def enter(function: Function) -> Function:
        REFUSED.append((function, types, line, message))
        return function

    return enter


def check(function: Function, types: tuple[Type, ...]) -> None:
    sharing(inline(flatten(specialise(function, types))))


OTHER_NAME = "another name of this array is read afterwards"


@allowed(I64, BOOL)
def exchanged_on_a_condition(n, c):
    a = np.zeros(n)
    b = np.ones(n)
    if c:
        a, b = b, a
    b[0] = a[0] + 1.0
    return a, b


@allowed(I64, BOOL)
def exchanged_in_each_step(n, c):
    a = np.zeros(n)
    b = np.ones(n)
    d = np.ones(n)
    for i in range(n):
        if c:
            a, b, d = b, d, a
        elif i > 2:
            for _ in range(i):
                b, d = d, b
        b[i] = a[0] + d[i]
        a[i] = b[i]
    return a, b, d


@refused(I64, BOOL, line=6, message=OTHER_NAME)
def exchanged_and_kept(n, c):
    a = np.zeros(n)
    b = np.ones(n)
    old = b
    if c:
        a, b = b, a
    b[0] = 1.0
    return a, b, old


@refused(I64, BOOL, line=7, message=OTHER_NAME)
def exchanged_or_one_of_them_twice(n, c):
    a = np.zeros(n)
    b = np.ones(n)
    if c:
        a, b = b, a
    else:
        a = b
    b[0] = 1.0
    return a, b


@refused(I64, BOOL, line=6, message=OTHER_NAME)
def exchanged_though_one(n, c):
    a = np.zeros(n)
    b = a
    for i in range(n):
        if c:
            a, b = b, a
        b[i] = 1.0
    return a


@allowed(I64)
def fill(n):
    a = [0.0 for _ in range(n)]
    for i in range(n):
        a[i] = 1.0 * i
        if i > 1:
            a[i] += a[i - 1] * a[i - 2]
    return a


@allowed(VECTOR)
def copied(x):
    a = [v for v in x]
    a[0] = 1.0
    return a[0] + x[0]


@allowed(I64)
def renamed(n):
    a = [0.0 for _ in range(n)]
    b = a
    b[0] = 1.0
    return b


@allowed(VECTOR, I64)
def double_buffer(x, steps):
    old = [v for v in x]
    new = [v for v in x]
    for _ in range(steps):
        for i in range(1, len(old)):
            new[i] = old[i - 1] + old[i]
        old, new = new, old
    return old


@allowed(VECTOR, I64)
def fresh_each_step(x, steps):
    u = [v for v in x]
    for _ in range(steps):
        new = [0.0 for _ in u]
        for i in range(1, len(u)):
            new[i] = u[i - 1] + u[i]
        u = new
    return u


@allowed(VECTOR, BOOL, I64)
def fresh_in_a_branch(x, flag, steps):
    u = [v for v in x]
    for _ in range(steps):
        if flag:
            size = 2.0
            new = [0.0 for _ in u]
        else:
            size = 1.0
            new = [1.0 for _ in u]
        for i in range(1, len(u)):
            new[i] = u[i - 1] + size
        u = new
    return u


@allowed(I64)
def read_before(n):
    a = [0.0 for _ in range(n)]
    b = a
    x = b[0]
    a[0] = 2.0
    return a[0] + x


@allowed(I64, BOOL)
def read_in_the_other_branch(n, flag):
    a = [0.0 for _ in range(n)]
    b = a
    if flag:
        a[0] = 1.0
        x = a[0]
    else:
        x = b[0]
    return x


@allowed(I64)
def sizes_do_not_change(n):
    a = [0.0 for _ in range(n)]
    b = a
    a[0] = 1.0
    return a[0] + len(b)


@allowed(I64)
def rows_of_their_own(n):
    m = [[0.0 for _ in range(n)] for _ in range(n)]
    m[0, 1] = 2.0
    m[1][0] = m[0][1]
    m[0] = [1.0 for _ in range(n)]
    return m


@cl.jit
def filled(a: cl.f64[:]):
    b = [v for v in a]
    b[0] = 7.0
    return b


@allowed(VECTOR)
def by_a_function(x):
    y = filled(x)
    y[1] = 3.0
    return y[0] + x[0]


@refused(VECTOR, line=1, message="it is an argument")
def an_argument(x):
    x[0] = 1.0
    return x


@refused(VECTOR, line=2, message="it is an argument")
def a_name_of_an_argument(x):
    y = x
    y[0] = 1.0
    return y


@refused(MATRIX, line=2, message="it is an argument")
def a_row_of_an_argument(m):
    r = m[0]
    r[0] = 1.0
    return r


@allowed(VECTOR, VECTOR)
def arguments_exchanged_in_a_list(x, y):
    items = [x, y]
    items[0], items[1] = items[1], items[0]
    return items[0][0]


@allowed(VECTOR, VECTOR)
def items_taken_before_they_are_replaced(x, y):
    items = [x * 1.0, y]
    first = items[0]
    items[0] = y * 2.0
    items[-1] = first
    return items, first


@refused(VECTOR, VECTOR, line=2, message="an array in it is an argument")
def an_argument_in_a_list(x, y):
    items = [x, y]
    items[0][0] = 1.0
    return items[0][0]


@refused(VECTOR, VECTOR, line=3, message=OTHER_NAME)
def a_replaced_item_of_a_list_with_two_names(x, y):
    items = [x, y]
    others = items
    items[0] = y
    return others[0]


@refused(VECTOR, VECTOR, line=3, message=OTHER_NAME)
def a_replaced_item_of_a_list_that_a_loop_runs_over(x, y):
    items, s = [x, y], 0.0
    for item in items:
        items[1] = x * 2.0
        s += item[0]
    return s


@refused(VECTOR, VECTOR, line=4, message=OTHER_NAME)
def what_an_item_was_replaced_by(x, y):
    z = x * 1.0
    items = [y, y]
    items[0] = z
    z[0] = 1.0
    return items


@refused(VECTOR, VECTOR, line=4, message="made of rows that are used elsewhere")
def an_item_that_changed_its_place(x, y):
    z = x * 1.0
    items = [z, y * 1.0]
    items[0], items[1] = items[1], items[0]
    items[0][0] = 1.0
    return z


@refused(MATRIX, VECTOR, line=3, message=OTHER_NAME)
def a_row_of_a_matrix_is_no_item(m, y):
    made = m * 1.0
    row = made[0]
    made[0] = y
    return row


@refused(VECTOR, I64, line=3, message="it is an argument")
def an_argument_as_a_state(x, n):
    a = x
    for i in range(n):
        a[i] = 1.0
    return a


@refused(VECTOR, I64, line=3, message="it is an argument")
def perhaps_an_argument(x, n):
    a = [0.0 for _ in range(n)] if n > 3 else x
    for i in range(n):
        a[i] = 1.0
    return a


@refused(I64, line=3, message=OTHER_NAME)
def two_names(n):
    a = [0.0 for _ in range(n)]
    b = a
    a[0] = 1.0
    return a[0] + b[0]


@refused(I64, line=3, message=OTHER_NAME)
def a_row_is_read(n):
    m = [[0.0 for _ in range(n)] for _ in range(n)]
    r = m[0]
    m[0, 0] = 1.0
    return m[0, 0] + r[0]


@refused(I64, line=3, message=OTHER_NAME)
def a_row_is_updated(n):
    m = [[0.0 for _ in range(n)] for _ in range(n)]
    r = m[0]
    r[0] = 1.0
    return m[0, 0] + r[0]


@refused(I64, line=3, message=OTHER_NAME)
def in_a_tuple(n):
    a = [0.0 for _ in range(n)]
    p = (a, 1.0)
    a[0] = 1.0
    return a[0] + p[0][0]


@refused(I64, line=4, message=OTHER_NAME)
def in_a_loop(n):
    a = [0.0 for _ in range(n)]
    b = a
    for i in range(n):
        a[i] = b[0] + 1.0
    return a


@refused(I64, line=3, message=OTHER_NAME)
def while_it_is_walked_along(n):
    a = [0.0 for _ in range(n)]
    for x in a:
        a[0] = x + 1.0
    return a


@refused(VECTOR, I64, line=5, message=OTHER_NAME)
def one_buffer_after_a_step(x, steps):
    old = [v for v in x]
    new = [v for v in x]
    for _ in range(steps):
        for i in range(1, len(old)):
            new[i] = old[i - 1] + 1.0
        old = new
    return old


@refused(I64, line=3, message="made of rows that are used elsewhere")
def one_row_many_times(n):
    r = [0.0 for _ in range(n)]
    m = [r for _ in range(n)]
    m[0][0] = 1.0
    return m


@cl.jit
def same(a: cl.f64[:]):
    return a


@refused(I64, line=3, message=OTHER_NAME)
def through_a_function(n):
    a = [0.0 for _ in range(n)]
    b = same(a)
    a[0] = 1.0
    return a[0] + b[0]


# ---- slices and lists ------------------------------------------------------------


@allowed(VECTOR)
def own_parts(x):
    a = x.copy()
    a[1:] = a[:-1]
    a += x
    a[a > 1.0] = 0.0
    return a


@refused(VECTOR, line=1, message="argument")
def slice_of_an_argument(x):
    x[1:] = 0.0
    return x


@refused(VECTOR, line=1, message="argument")
def argument_augmented(x):
    x += 1.0
    return x


@refused(VECTOR, line=3, message=OTHER_NAME)
def slice_is_a_view(x):
    a = x.copy()
    b = a[1:]
    a[1:] = 0.0
    return b


@refused(VECTOR, line=3, message=OTHER_NAME)
def augmented_by_another_name(x):
    a = x.copy()
    b = a
    a *= 2.0
    return b


@allowed(MATRIX)
def rows_of_an_argument(m):
    rows = []
    for i in range(len(m)):
        if m[i, 0] > 0.0:
            rows.append(m[i])
    return rows


@allowed(I64)
def list_handed_on(n):
    a = []
    for i in range(n):
        a.append(1.0 * i)
        if len(a) > 2:
            a.pop()
    b = a
    b.append(2.0)
    return b


@refused(I64, line=3, message=OTHER_NAME)
def list_by_another_name(n):
    a = [1.0 * n]
    b = a
    a.append(2.0)
    return len(b)


@refused(I64, line=4, message=OTHER_NAME)
def list_grows_while_run_over(n):
    a = [1.0 * n]
    for v in a:
        if len(a) < 10:
            a.append(v)
    return a


@refused(VECTOR, line=4, message=OTHER_NAME)
def row_in_a_list(x):
    row = x.copy()
    rows = []
    rows.append(row)
    row[0] = 1.0
    return rows


@refused(VECTOR, line=3, message="argument")
def argument_in_a_list(x):
    rows = []
    rows.append(x)
    rows[0][0] = 1.0
    return rows


@refused(I64, line=4, message=OTHER_NAME)
def one_row_in_each_step(n):
    row = np.zeros(2)
    rows = []
    for i in range(n):
        row[0] = 1.0 * i
        rows.append(row)
    return rows


# ---- what lists refer to ---------------------------------------------------------


SHARED_ROWS = "it is made of rows that are used elsewhere"


@refused(VECTOR, line=3, message=OTHER_NAME)
def an_array_in_a_list_is_updated(x):
    y = x + 1.0
    t = [y, x]
    y[0] = 1.0
    return t


@refused(VECTOR, line=3, message=OTHER_NAME)
def an_array_in_a_list_of_lists_is_updated(x):
    y = x + 1.0
    t = [[x * 2.0, x], [x, y]]
    y[0] = 1.0
    return t


@refused(VECTOR, line=5, message=OTHER_NAME)
def an_array_in_a_sum_of_lists_is_updated(x):
    y = x + 1.0
    t = [x * 2.0]
    u = [y]
    t = t + u
    y[0] = 1.0
    return t


@refused(MATRIX, VECTOR, line=4, message=OTHER_NAME)
def an_array_put_into_a_list_is_updated(m, x):
    y = x + 1.0
    t = [r * 2.0 for r in m]
    t[0] = y
    y[0] = 1.0
    return t


@refused(MATRIX, line=3, message=OTHER_NAME)
def an_array_is_updated_that_a_list_has_rows_of(m):
    y = m + 1.0
    t = [r for r in y]
    y[0, 0] = 1.0
    return t


@refused(VECTOR, line=3, message=SHARED_ROWS)
def one_array_is_twice_in_a_list(x):
    y = x + 1.0
    t = [y, y]
    t[0][0] = 1.0
    return t


@refused(MATRIX, line=3, message=SHARED_ROWS)
def one_row_is_put_in_the_place_of_another(m):
    t = [r * 2.0 for r in m]
    t[0] = t[1]
    t[1][0] = 1.0
    return t


@refused(VECTOR, line=5, message=SHARED_ROWS)
def one_array_is_appended_in_each_step(x):
    y = x + 1.0
    t = [x * 2.0]
    for _ in range(3):
        t.append(y)
    t[0][0] = 1.0
    return t


@refused(VECTOR, I64, line=3, message=OTHER_NAME)
def an_array_is_stretched_without_copying(x, n):
    y = x + 1.0
    z = np.broadcast_to(y, (n, len(x)))
    y[0] = 1.0
    return z


@allowed(VECTOR)
def lists_grow_whatever_they_refer_to(x):
    y = x + 1.0
    t = [x]
    for i in range(3):
        t.append(x * i)
        t.append(x)
    y[0] = 1.0
    return t, y


@allowed(VECTOR)
def new_rows_are_updated(x):
    t = [x * 2.0, x + 1.0]
    for i in range(2):
        t[i] = t[i] + x
        t[i][0] = 1.0
    t.append(t[0] * 2.0)
    t[-1][0] = 1.0
    return t, np.array([x, x])


@allowed(VECTOR, VECTOR, I64)
def two_lists_in_one_loop(x, y, n):
    a: list[cl.f64[:]] = []
    b: list[cl.f64[:]] = []
    for i in range(n):
        a.append(x[:i])
        b.append(y)
    return len(a) + len(b)


@allowed(VECTOR)
def an_item_is_replaced_by_another(x):
    a: list[cl.f64[:]] = []
    a.append(x)
    a[0] = x[:1]
    return np.sum(a[0])


@refused(VECTOR, I64, line=7, message=OTHER_NAME)
def two_lists_that_refer_to_one_array(x, n):
    y = x * 2.0
    a: list[cl.f64[:]] = []
    b: list[cl.f64[:]] = []
    for _ in range(n):
        a.append(y)
        b.append(y)
        a[0][0] = 5.0
    return np.sum(b[0])


@allowed(VECTOR, I64)
def two_lists_of_one_array_grow(x, n):
    y = x * 2.0
    a: list[cl.f64[:]] = []
    b: list[cl.f64[:]] = []
    for _ in range(n):
        a.append(y)
        b.append(y)
    return len(a) + np.sum(b[0])


@refused(VECTOR, I64, line=7, message=SHARED_ROWS)
def two_lists_of_one_array_after_their_loop(x, n):
    y = x * 2.0
    a: list[cl.f64[:]] = []
    b: list[cl.f64[:]] = []
    for _ in range(n):
        a.append(y)
        b.append(y)
    a[0][0] = 1.0
    return np.sum(b[0])


@allowed(VECTOR, I64)
def two_lists_of_one_array_grow_in_two_loops(x, n):
    total, kept = 0.0, [x]
    for _ in range(n):
        inner = [x]
        for _ in range(n):
            inner.append(x * 2.0)
        kept.append(inner[-1])
        total += np.sum(inner[0])
    return total + np.sum(kept[-1])


@refused(VECTOR, I64, line=5, message=OTHER_NAME)
def a_list_of_another_name_grows_in_two_loops(x, n):
    total, kept = 0.0, [x]
    for _ in range(n):
        inner = kept
        for _ in range(n):
            inner.append(x * 2.0)
        total += len(kept) + len(inner)
    return total


@allowed(VECTOR, I64)
def what_a_list_refers_to_stays_when_the_list_grows(x, n):
    total, states = 0.0, [x]
    for _ in range(n):
        last = states[-1]
        states.append(last * 0.9)
        total += last[0] * states[-1][1]
    return total


@allowed(VECTOR)
def what_was_taken_from_a_list_stays(x):
    rows = [x, x[1:]]
    first = rows[0]
    last = rows.pop()
    return first[0] + last[0]


@refused(VECTOR, line=4, message=OTHER_NAME)
def a_row_of_a_list_that_has_grown(x):
    rows = [x * 1.0, x * 2.0]
    last = rows[-1]
    rows.append(x * 3.0)
    rows[1][0] = 7.0
    return last[0]


@refused(VECTOR, line=4, message=OTHER_NAME)
def what_was_taken_from_a_list_that_has_grown(x):
    rows = [x * 1.0, x * 2.0]
    last = rows[-1]
    rows.append(x * 3.0)
    last[0] = 7.0
    return rows[1][0]


@refused(VECTOR, line=3, message=OTHER_NAME)
def a_list_of_another_name_that_grows(x):
    rows = [x * 1.0, x * 2.0]
    others = rows
    rows.append(x * 3.0)
    return len(others) + rows[0][0]


@refused(VECTOR, line=3, message=OTHER_NAME)
def a_list_in_a_list_grows_by_its_name(x):
    rows = [x, x[1:]]
    lists = [rows]
    rows.append(x * 3.0)
    return len(lists[0])


@refused(VECTOR, line=3, message=OTHER_NAME)
def a_list_in_a_list_is_cut_by_its_name(x):
    rows = [x, x[1:]]
    lists = [rows, rows]
    rows.pop()
    return len(lists[1])


@refused(VECTOR, line=2, message=OTHER_NAME)
def parts_are_exchanged(x):
    y = x * 2.0
    y[::2], y[1::2] = y[1::2], y[::2]
    return y


@refused(VECTOR, BOOL, line=4, message=OTHER_NAME)
def a_part_is_put_in_each_step(x, c):
    y = x * 2.0
    part = y[1::2] if c else y[::2]
    for _ in range(3):
        y[::2] = part
    return y


@allowed(VECTOR, VECTOR)
def best_of_two_appended(a, b):
    best = a
    items = []
    for i in range(len(a)):
        if b[i] > best[i]:
            best = b
        items.append(best)
    return items


@allowed(VECTOR, VECTOR)
def element_is_appended_again(a, b):
    items, others = [a], [b]
    last = b
    for i in range(len(a)):
        if a[i] > 0.0:
            last = items[i // 2]
        items.append(last)
        others.append(items[-1])
    return items, others


@refused(VECTOR, VECTOR, line=7, message="cannot be updated")
def best_of_two_appended_and_changed(a, b):
    best = a
    items = []
    for i in range(len(a)):
        if b[i] > best[i]:
            best = b
        items.append(best)
        best[0] = 1.0
    return items


@refused(VECTOR, line=4, message=OTHER_NAME)
def appended_list_is_read_by_another_name(a):
    items = [a, a]
    others = items
    for _ in range(3):
        items.append(a)
    return items, others


@pytest.mark.parametrize(("function", "types"), ALLOWED)
def test_allowed(function: Function, types: tuple[Type, ...]) -> None:
    said = ""
    try:
        check(function, types)
    except CompileError as error:
        said = str(error)
    assert said == ""


@pytest.mark.parametrize(("function", "types", "line", "message"), REFUSED)
def test_refused(
    function: Function, types: tuple[Type, ...], line: int, message: str
) -> None:
    with pytest.raises(CompileError, match=message) as caught:
        check(function, types)
    # The first line is the decorator's.
    first = function.__code__.co_firstlineno + 1
    assert caught.value.diagnostic.span.line == first + line


# ---- what messages call the array ------------------------------------------------


@cl.jit
def in_a_list(xs: list[cl.f64[:]]):
    rows = [x * 1.0 for x in xs]
    rows.append(rows[0])
    rows[0][0] = 1.0
    return rows


@cl.jit
def kept_by_a_list(s: cl.f64[:]):
    y = s * 2.0
    rows = [y, y[1:]]
    rows[1][0] = 1.0
    return rows, y


@cl.jit
def over_lines(x: cl.f64[:]):
    y = x.copy()
    z = y[1:]
    y[0] = 1.0
    return y, z


@pytest.mark.parametrize(
    ("function", "name"),
    [(in_a_list, "rows"), (kept_by_a_list, "rows"), (over_lines, "y")],
)
def test_the_name_is_the_users(function: Any, name: str) -> None:
    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(
        CompileError, match=f"`{name}` (is updated here|cannot be updated)"
    ):
        function([x] if function is in_a_list else x)


# ---- mistakes in several functions -----------------------------------------------


@cl.jit
def updates_its_argument(x):
    x[0] = 1.0
    return x


def updates_and_calls(x):
    y = updates_its_argument(x)
    x[1] = 2.0
    return y


def test_each_function_tells_its_mistake() -> None:
    with pytest.raises(CompileError) as caught:
        sharing(specialise(updates_and_calls, [VECTOR]))
    found = [d.span.function for d in caught.value.diagnostics]
    assert found == ["updates_its_argument", "updates_and_calls"]
