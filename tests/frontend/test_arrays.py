"""What is written with whole arrays means what it means in NumPy.

The core that the frontend makes of an expression is interpreted, and compared with what
the same text gives in Python.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from frontend.generated import define
from frontend.meaning import assert_same, interpret

import chadllvm as cl
from chadllvm.ir.op import ProgramError

HEAD = (
    "import numpy as np\nimport chadllvm as cl\nfrom itertools import accumulate\n\n\n"
)

X = np.array([0.5, -1.25, 2.0, 3.5])
Y = np.array([1.5, 0.25, -2.0, 4.0])
M = np.array([[1.0, 2.0, -3.0], [4.0, -5.0, 6.5]])
T = np.arange(24.0).reshape(2, 3, 4) ** 1.5 - 20.0
N = np.array([3, -1, 4, 1])
B = np.array([True, False, True, True])
VALUES: dict[str, Any] = {"x": X, "y": Y, "m": M, "t": T, "n": N, "b": B, "k": 2}


def compare(text: str, **values: Any) -> None:
    """The expression gives the same in Python and as core, to the shape."""
    arguments = {**VALUES, **values}
    function = define(f"{HEAD}def f({', '.join(arguments)}):\n    return {text}\n")
    with np.errstate(all="ignore"):
        expected = function(*arguments.values())
    found = interpret(function, *arguments.values())
    assert_same(found, expected)
    for part, wanted in _pairs(found, expected):
        assert np.asarray(part).dtype.kind == np.asarray(wanted).dtype.kind


def _pairs(found: Any, expected: Any) -> list[tuple[Any, Any]]:
    if isinstance(expected, tuple):
        both = zip(found, expected, strict=True)
        return [pair for f, e in both for pair in _pairs(f, e)]
    return [(found, expected)]


ELEMENTWISE = """
    x + y; x - 1; 2 * x; 1 / x; x // 0.5; x % 1.5; x ** 2; x ** 0.5; x ** n; 2.0 ** x
    -x; +x; n + 1; n + 0.5; n // 2; n % 3; n * n; n / 2; n ** 2; -n; n + b; b * 2
    b + b; b * b; b / 1; m + x[:3]; m * m[:, :1]; m - m[0]; m + m[:, 1][:, None]
    t * x; t[0] + t; m[None] * m; x < y; n == 3; x != x; (x > 0) & b; b | (n > 2); ~b
    b ^ (x > 1); (0.5 <= x) & (x < 3); np.exp(x) * np.sin(y); np.abs(n); abs(x)
    np.minimum(x, y); np.maximum(n, 2); pow(x, 2); np.where(x > 0, x, y)
    np.where(b, 1, n); np.where(b, x, 0); np.where(m > 0, m, m[0])
    np.clip(x, 0.0, 2.0); x.clip(-1, 1); np.clip(n, None, 2); np.clip(x, y, None)
    np.positive(x); np.add(x, y); np.less(x, y); np.not_equal(n, 3); np.logical_not(b)
    np.logical_or(x, b); np.logical_xor(b, n > 2); np.logical_and(x > 0, b)
    np.square(m); np.float64(n); np.sqrt(n + 1); x.astype(int); n.astype(float)
    x.astype(bool); b.astype(float); (x > 0).astype(int)
"""

PARTS = """
    x[1:]; x[:-1]; x[::2]; x[::-1]; x[-2:]; x[:99]; x[2:1]; x[1:3][::-1]; x[1:][1:][0]
    x[k:]; m[:, 1]; m[1, :]; m[0]; m[:, ::-1]; m[::-1, 1:]; m[:, None]
    m[None, :, None]; m[..., 0]; m[0, ...]; t[..., 1]; t[1, :, 2]; t[:, 1]
    t[0][1:, ::2]; t[..., None].shape; x[None][0]; x[n - 1]; x[n[1:] - 1]
    x[np.array([[0, 1], [2, -1]])]; m[:, np.array([2, 0])]; m[np.array([1, 1])]
    m[np.array([0, 1]), np.array([2, 0])]; m[1, np.array([2, 0])]
    t[:, np.array([0, 2]), 1]; t[np.array([1, 0]), :2]
    m[np.array([[0], [1]]), np.array([2, 1])]; n[n % 4][1]; x[n[2:] - 4]; x[b]
    x[x > 0] * 2; n[n > 1]; x[~b][0]; m[m > 1.5]; m[np.array([False, True])]
    t[t[:, :, 0] > 0]; m[:, np.array([True, False, True])]; x[x > 99]; len(x[b])
    x[b].shape; x[b][x[b] > 1]; m.T; t.T; m.T[2]; m[1:].T; t.T[1, :, 0]; m.shape
    m.T.shape; t.size; x[1:].size; m[1:].ndim
"""

REDUCTIONS = """
    np.sum(x); x.sum(); np.sum(n); np.sum(b); np.sum(m); np.sum(m, axis=0)
    m.sum(axis=1); np.sum(m, 1, keepdims=True); np.sum(t, axis=(0, 2)); t.sum(axis=1)
    t.sum(axis=-1); np.sum(m, axis=()); t.sum(axis=(0, 1, 2))
    np.sum(t, axis=(2, 1), keepdims=True); np.sum(n, dtype=float); np.sum(m > 0)
    (m > 0).sum(axis=0); np.mean(n); np.mean(m); m.mean(axis=0); t.mean(axis=(0, 2))
    m.var(); np.var(m, axis=0); np.var(x, ddof=1); np.std(m, axis=1, keepdims=True)
    n.std(); t.var(axis=1); np.prod(x); np.prod(n); m.prod(axis=1)
    np.prod(t, axis=(0, 1)); np.max(m); m.min(); np.max(n); m.max(axis=0)
    np.min(t, axis=(1, 2)); t.max(axis=1, keepdims=True); np.max(b)
    np.amin(m, axis=1); np.argmax(x); x.argmin(); np.argmax(m); m.argmax(axis=0)
    np.argmin(t, axis=1); np.argmax(b); np.any(b); np.all(b); (m > 2).any(axis=1)
    np.all(m > -9, axis=0); np.any(x); np.all(m, axis=0); np.count_nonzero(m > 0)
    np.count_nonzero(n, axis=0); np.ptp(m, axis=1); np.ptp(x); np.cumsum(x)
    np.cumsum(n); m.cumsum(); np.cumsum(m, axis=0); np.cumsum(t, axis=1)
    np.cumprod(m, axis=1); np.diff(x); np.diff(m); np.diff(m, axis=0); np.diff(x, n=2)
    np.diff(n); sum(x * y); max(x[1:]); any(v > 3 for v in x); all(v > 3 for v in x)
    any(b); all(x > -9); any(v > 9 for v in x[:0]); all(v > 9 for v in x[:0])
    min(abs(v) for v in x[::2]); sum(v for v in reversed(x + 1))
"""

PRODUCTS = """
    x @ y; m @ x[:3]; x[:2] @ m; m @ m.T; m.T @ m; m[:, :2] @ m; np.dot(x, y)
    m.dot(x[:3]); np.dot(x, 2); n @ n; n @ x; np.matmul(m, m.T); np.inner(x, y)
    np.inner(m, m); np.outer(x, n); np.vdot(m, m); np.trace(m); np.trace(m, 1)
    np.trace(m, -1); m.trace(); (m @ m.T).trace(); np.trace(np.outer(n, n))
    (m * 2) @ (m.T + 1); np.outer(x, y) @ np.outer(y, x) @ x; (x + y) @ (x - y)
    t[0] @ t[1].T
"""

MAKING = """
    np.zeros(3); np.zeros((2, k)); np.ones((2, 3)); np.full(k, 7)
    np.full((2, 2), 0.5); np.zeros(m.shape); np.zeros(3, dtype=int); np.ones(2, bool)
    np.zeros_like(m); np.ones_like(n); np.full_like(x, 2); np.arange(5)
    np.arange(k, 9); np.arange(9, 1, -3); np.arange(0.5, 3.0, 0.25); np.arange(3.5)
    np.arange(5, 1); np.arange(k, dtype=float); np.linspace(0.0, 1.0, 5)
    np.linspace(1, 3, k); np.linspace(2.0, 5.0, 1)
    np.linspace(0, 1, 4, endpoint=False); np.linspace(0.0, 1.0).shape; np.eye(3)
    np.eye(2, 4); np.eye(3, k=1); np.eye(3, 4, -1); np.identity(k)
    np.eye(2, dtype=int); np.diag(x); np.diag(x, 1); np.diag(n, -2); np.diag(m)
    np.diag(m, 1); np.diagonal(m); m.diagonal(); np.tril(m); np.triu(m, 1)
    np.tril(np.outer(x, y), -1); np.array([1, 2, k]); np.array([x[0], 2, True])
    np.array([[1.0, k], [3, 4]]); np.array([x, y]); np.array((x[0], 1))
    np.array([b[0], b[1]]); np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, k]); np.array(x)
    np.asarray(n); np.copy(m); m.copy(); np.array([v * 2 for v in x]) + 1
    np.array(n, dtype=float); np.asarray([1, 2], float)
    np.asarray([v for v in x]) * 2; np.broadcast_to(x, (2, 4))
    np.broadcast_to(m[:, :1], m.shape); np.empty(3).shape; np.empty_like(m).shape
    cl.build(3, lambda i: i * i); cl.build((2, k), lambda i, j: x[i] + j)
    cl.build(k, lambda i: x * i); cl.build(0, lambda i: 1.0); list(range(4))
    list(v * 2 for v in x); list(x)
"""

SHAPES = """
    x.reshape(2, 2); x.reshape((2, k)); x.reshape(-1, 2); np.reshape(m, (3, 2))
    m.reshape(6); m.reshape(-1); t.reshape(4, -1); t.reshape(2, 2, 3, 2)
    x.reshape(2, -1).T; m.ravel(); np.ravel(t); m.T.ravel(); m.flatten()
    np.transpose(m); np.transpose(t, (1, 0, 2)); t.transpose(2, 0, 1); t.transpose()
    np.swapaxes(t, 0, 2); m.swapaxes(0, 1); np.moveaxis(t, 0, 2)
    np.moveaxis(t, -1, 0); np.expand_dims(x, 0); np.expand_dims(m, -1)
    x[None].squeeze(axis=0); np.squeeze(m[:, :1], axis=1)
    np.squeeze(m[:1, :1], axis=(0, 1)); np.flip(x); np.flip(m); np.flip(m, axis=1)
    np.flip(t, axis=(0, 2)); np.roll(x, 1); np.roll(x, -k); np.roll(n, 9)
    np.roll(m, 1, axis=1); np.roll(t, 2, axis=0); np.repeat(x, 2)
    np.repeat(m, 2, axis=0); np.repeat(m, k); np.tile(x, 3); np.take(x, n % 4)
    np.take(m, n % 2, axis=0); np.take(m, k); x.repeat(2); x.take(n - 2)
    np.concatenate((x, y)); np.concatenate((x, n, y[:1]))
    np.concatenate((m, m), axis=1); np.concatenate((m[:1], m)); np.stack((x, y))
    np.stack((x, y), axis=1); np.stack((m, m, m), axis=-1); np.vstack((x, y))
    np.vstack((m, m[1:])); np.hstack((x, n)); np.hstack((m, m[:, :1]))
    np.column_stack((x, y)); np.concatenate((b, b)); np.stack((n, b))
    np.concatenate((x[:0], x)); np.concatenate([t, t[:, :1]], axis=1)
"""

ORDER = """
    np.sort(x); np.sort(n); np.sort(m); np.sort(m, axis=0); np.sort(t, axis=1)
    np.argsort(x); n.argsort(); np.argsort(m); np.argsort(t, axis=0); np.sort(x[:0])
    np.sort(m, kind="stable"); np.argsort(n, kind="quicksort", axis=0)
    np.sort(x[:1]); np.sort(np.array([2.0, np.nan, 1.0])); np.sort(b)
    np.sort(np.array([5, 3, 9, 1, 1, 7, 2, 0, 8, 4, 6, 3, 2])); np.nonzero(b)
    np.nonzero(m > 1.5); np.flatnonzero(m > 1.5)
    np.searchsorted(np.array([0.0, 1.0, 1.0, 2.0]), x); np.searchsorted(n[:0], 3)
    np.searchsorted(np.arange(9), n); np.searchsorted(np.sort(x), np.nan)
    np.searchsorted(np.array([0.0, 1.0, np.nan]), np.array([np.nan, np.inf, 0.5]))
    np.interp(np.nan, np.arange(3), x[:3]); np.interp(np.nan, x[:1], y[:1])
    np.interp(x, np.array([-1.0, 0.0, 3.0]), np.array([1.0, 2.0, 0.0]))
    np.interp(9.0, np.arange(3), np.array([0.0, 1.0, np.inf]))
    np.interp(0.5, np.arange(3), n[:3]); np.interp(2.0, x[:1], y[:1])
    x[np.argsort(y)]; cl.fold(lambda a, b: a + b, x); cl.fold(np.maximum, x[:3])
    cl.fold(lambda a, b: a @ b, t[:, :3, :3]); cl.fold(lambda a, b: a - b, x[:1])
    cl.fold(min, n); cl.fold(lambda a, b: a + b * 0.5, n[:2] * 1.0)
    list(accumulate(x)); list(accumulate(n, lambda a, b: a * b))
    list(accumulate(x, initial=1)); list(accumulate(x[:0])); list(accumulate(x, max))
    [v for v in accumulate(x, lambda a, b: a * b)]; sum(accumulate(n))
    list(accumulate(x, pow, initial=2.0))
"""


def expressions() -> list[str]:
    texts = (ELEMENTWISE, PARTS, REDUCTIONS, PRODUCTS, MAKING, SHAPES, ORDER)
    return [
        part.strip()
        for text in texts
        for part in text.replace("\n", ";").split(";")
        if part.strip()
    ]


@pytest.mark.parametrize("text", expressions())
def test_expression_is_numpys(text: str) -> None:
    compare(text)


BOUNDS = ("", "-9", "-2", "0", "1", "3", "9")


@pytest.mark.parametrize("size", [0, 1, 4])
@pytest.mark.parametrize("step", ["", "1", "2", "-1", "-3"])
def test_every_slice(size: int, step: str) -> None:
    pairs = itertools.product(BOUNDS, repeat=2)
    slices = [f"x[{low}:{high}:{step}]" for low, high in pairs]
    compare(f"({', '.join(slices)})", x=np.arange(float(size)))


@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_every_slice_by_variables(step: int) -> None:
    function = define(
        f"def f(x, low, high):\n    return x[low:high:{step}], x[low:], x[:high]\n"
    )
    for size, low, high in itertools.product((0, 1, 4), range(-6, 7), range(-6, 7)):
        x = np.arange(float(size))
        assert_same(interpret(function, x, low, high), function(x, low, high))


SHAPES_OF_TWO = list(itertools.product((0, 1, 3), repeat=2))


@pytest.mark.parametrize("first", SHAPES_OF_TWO)
@pytest.mark.parametrize("second", SHAPES_OF_TWO)
def test_broadcasting(first: tuple[int, int], second: tuple[int, int]) -> None:
    """Shapes that fit and shapes that do not."""
    function = define("def f(a, b):\n    return a - 2.0 * b\n")
    a, b = (np.arange(float(np.prod(s))).reshape(s) for s in (first, second))
    try:
        expected = function(a, b)
    except ValueError:
        with pytest.raises(ProgramError, match="broadcast") as caught:
            interpret(function, a, b)
        assert caught.value.kind is ValueError
        return
    assert_same(interpret(function, a, b), expected)


FAILURES = (
    ("x[:3] + x", ValueError),
    ("m + x", ValueError),
    ("x[n]", IndexError),
    ("x[n + 9]", IndexError),
    ("m[:, 3]", IndexError),
    ("m[2, :]", IndexError),
    ("x[b[1:]]", IndexError),
    ("np.take(x, n)[0]", IndexError),
    ("m @ x", ValueError),
    ("x @ y[1:]", ValueError),
    ("x.reshape(3, 2)", ValueError),
    ("x.reshape(3, -1)", ValueError),
    ("np.zeros(-k)", ValueError),
    ("np.concatenate((m, m[:, 1:]))", ValueError),
    ("np.stack((x, y[1:]))", ValueError),
    ("np.squeeze(m, axis=0)", ValueError),
    ("np.max(x[:0])", ValueError),
    ("np.argmin(x[:0])", ValueError),
    ("np.broadcast_to(x, (2, 3))", ValueError),
    ("cl.fold(np.add, x[:0])", ValueError),
    ("cl.build(-k, lambda i: 1.0)", ValueError),
)


@pytest.mark.parametrize(("text", "kind"), FAILURES)
def test_failures_are_numpys(text: str, kind: type[Exception]) -> None:
    body = f"{HEAD}def f({', '.join(VALUES)}):\n    return {text}\n"
    function = define(body)
    with pytest.raises(kind):
        function(*VALUES.values())
    with pytest.raises(ProgramError) as caught:
        interpret(function, *VALUES.values())
    assert caught.value.kind is kind
    assert caught.value.span.line == body.count("\n")


def test_any_and_all_stop_where_python_stops() -> None:
    """What follows the element that decides may fail."""
    function = define(
        "def f(n, k):\n"
        "    return any(6 // v == k for v in n), all(6 // v != k for v in n)\n"
    )
    n = np.array([3, 2, 0])
    assert interpret(function, n, 3) == function(n, 3) == (True, False)
    with pytest.raises(ProgramError) as caught:
        interpret(function, n, 9)
    assert caught.value.kind is ZeroDivisionError


# ---- derivatives at special places -----------------------------------------------


@cl.jit
def root_or_zero(x: cl.f64[:]) -> float:
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


def test_where_does_not_look_at_the_other_side() -> None:
    x = np.array([4.0, -1.0, 0.0])
    assert np.array_equal(cl.grad(root_or_zero)(x), [0.25, 0.0, 0.0])


@cl.jit
def extremes(x: cl.f64[:]) -> float:
    return 2.0 * np.max(x) + np.min(x)


def test_ties_go_to_the_first() -> None:
    x = np.array([1.0, 3.0, 3.0, 1.0])
    assert np.array_equal(cl.grad(extremes)(x), [1.0, 2.0, 0.0, 0.0])


@pytest.mark.parametrize("at", range(4))
def test_extremes_of_nan_are_nan(at: int) -> None:
    x = np.array([1.0, np.inf, -np.inf, 2.0])
    x[at] = np.nan
    assert np.isnan(extremes(x))
    assert places(x) == (at, at)


@cl.jit
def places(x: cl.f64[:]) -> tuple[int, int]:
    return np.argmax(x), np.argmin(x)


@cl.jit
def bounded(x: cl.f64[:]) -> float:
    return np.sum(np.clip(x, 0.0, 1.0))


def test_clip_at_its_bounds() -> None:
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    assert np.array_equal(cl.grad(bounded)(x), [0.0, 1.0, 1.0, 1.0, 0.0])


@cl.jit
def product(x: cl.f64[:]) -> float:
    return np.prod(x)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
        ([0.0, 2.0, 0.0], [0.0, 0.0, 0.0]),
        ([np.inf, 2.0], [2.0, np.inf]),
        ([5.0], [1.0]),
        ([], []),
    ],
)
def test_product_is_not_divided(x: list[float], expected: list[float]) -> None:
    assert np.array_equal(cl.grad(product)(np.array(x)), expected)


# ---- views -----------------------------------------------------------------------


def base_is_updated(x):
    y = x.copy()
    z = y[1:]
    y[1] = 5.0
    return np.sum(z)


def view_is_updated(x):
    y = x.copy()
    z = y.reshape(2, 2).T
    z[0, 0] = 5.0
    return np.sum(y)


def view_of_an_argument(x):
    y = x[1:]
    y[0] = 2.0
    return y


@pytest.mark.parametrize(
    "function", [base_is_updated, view_is_updated, view_of_an_argument]
)
def test_a_view_that_would_show_an_update_is_refused(function: Any) -> None:
    with pytest.raises(cl.CompileError, match="copy"):
        cl.jit(function)(X)


def copy_of_a_view(x):
    y = x.copy()
    z = y[1:].copy()
    y[1] = 5.0
    return np.sum(z) * y[1]


def gathered_is_no_view(x):
    y = x.copy()
    z = y[np.array([1, 2])] + 0.0
    kept = y[y > 0.0]
    y[1] = 5.0
    return np.sum(z) + np.sum(kept) + y[1]


def only_the_view_is_used(x):
    y = x.copy()
    z = y.reshape(2, 2).T
    z[0, 1] = 5.0
    return z


@pytest.mark.parametrize(
    "function", [copy_of_a_view, gathered_is_no_view, only_the_view_is_used]
)
def test_copies_may_be_updated(function: Any) -> None:
    assert np.array_equal(cl.jit(function)(X), function(X))


# ---- cost ------------------------------------------------------------------------


@cl.jit(
    options=cl.CompileOptions(disabled=frozenset({"finite", "parallel", "strands"}))
)
def expression(x: cl.f64[:], y: cl.f64[:]) -> float:
    return np.sum((x[1:] - y[:-1]) ** 2 * np.exp(-x[:-1]))


def test_an_expression_is_one_loop_without_temporaries() -> None:
    loops = expression.show("loops")
    assert loops.count("for i in") == 1
    assert "buffer" not in loops


def test_the_gradient_stores_the_results_only() -> None:
    loops = cl.value_and_grad(expression, argnums=(0, 1)).show("loops")
    lines = [line for line in loops.splitlines() if "buffer" in line or "zeros" in line]
    arrays = [line for line in lines if "strip" not in line]
    assert len(arrays) == 2
    assert all("in result" in line for line in arrays)


def test_tuples_of_numbers_are_arrays_to_numpy() -> None:
    """Written out, and as variables; of tuples matrices."""

    @cl.jit
    def f(x: float, a: cl.f64[:]) -> float:
        pair = (x, 2)
        rows = np.stack((pair, (1.0, x)))
        ends = np.concatenate((a, pair))
        total = np.sum(pair) + np.prod((x, x)) + math.prod(pair, start=x)
        total += np.interp(x, (0.0, 1.0, 3.0), (x, 2.0, 5.0)) + np.linalg.norm(pair)
        return total + np.sum(np.array(pair) * rows) + np.max(ends) + np.mean(ends)

    a = np.array([0.5, -1.0])
    assert f(1.5, a) == pytest.approx(f.py_func(1.5, a))
    cl.check_grads(f, (1.5, a))
    both = cl.jit(lambda x: np.array(((x, 1.0), (2.0, x))))
    assert both(3.0).tolist() == [[3.0, 1.0], [2.0, 3.0]]
