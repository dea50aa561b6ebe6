"""An array without rows keeps its other sizes, in every mode and every derivative."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.value import from_value, to_value
from tests.interpreted import normalised
from tests.leaves import all_leaves

Matrix = cl.f64[:, :]
Cube = cl.f64[:, :, :]

MATRICES = ((0, 3), (3, 0), (0, 0), (2, 3))
CUBES = ((0, 2, 3), (2, 0, 3), (2, 3, 0), (0, 0, 3), (0, 0, 0), (2, 1, 3))


def scaled(m: Matrix) -> Matrix:
    return 2.0 * m + 1.0


@cl.jit
def halved(m: Matrix) -> Matrix:
    return 0.5 * m


def elementwise(m: Matrix) -> Any:
    w = np.arange(1.0, m.shape[1] + 1.0)
    return m + w, np.exp(m) * m, np.where(m > 0.5, m, w), np.clip(m, 0.2, 0.7), m > 0.5


def sliced(m: Matrix) -> Any:
    rows, columns = m[1:], m[:, 1:]
    return rows, columns, m[:, ::-1], m[::-1], m[:, None, :], m[None], m[1:, 1:] * 2.0


def transposed(m: Matrix) -> Any:
    return m.T, m.T.T, m.T * 2.0, np.transpose(m)[1:], m[1:].T


def joined(m: Matrix) -> Any:
    below = np.concatenate((m, 2.0 * m))
    beside = np.concatenate((m, m[:, 1:]), axis=1)
    return below, beside, np.vstack((m, m)), np.hstack((m, m)), np.tile(m, (2, 3))


def stacked(m: Matrix) -> Any:
    return np.stack((m, m)), np.stack((m, m), axis=1), np.stack((m, m), axis=2)


def repeated(m: Matrix) -> Any:
    n, k = m.shape
    turned = m.reshape((k, n)), m.reshape((n * k, 1)), m.flatten()
    return np.repeat(m, 2, axis=0), np.repeat(m, 2, axis=1), turned


def made(m: Matrix) -> Any:
    n, k = m.shape
    plain = np.zeros((n, k)), np.ones((n, k)), np.full((n, k), 2.0), np.eye(n, k)
    like = np.zeros_like(m), np.ones_like(m), m.copy()
    return plain, like, np.broadcast_to(np.arange(1.0 * k), (n, k)) * 1.0


def reduced(m: Matrix) -> Any:
    kept = np.sum(m, axis=0, keepdims=True), np.sum(m, axis=1, keepdims=True)
    products = np.prod(m, axis=0), np.prod(m, axis=1)
    sums = np.sum(m, axis=0), np.sum(m, axis=1), np.any(m > 0.5, axis=0)
    return sums, kept, products


def multiplied(m: Matrix) -> Any:
    n, k = m.shape
    right, left = np.ones((k, 2)), np.ones((2, n))
    return m @ right, left @ m, m.T @ m, m @ m.T, np.ones(n) @ m, m @ np.ones(k)


def outer(m: Matrix) -> Any:
    return np.outer(m.flatten(), np.ones(4)), np.outer(np.ones(4), m.flatten())


def ordered(m: Matrix) -> Any:
    sums = np.cumsum(m, axis=0), np.cumsum(m, axis=1), np.cumprod(m, axis=1)
    return np.sort(m, axis=0), np.sort(m, axis=1), np.argsort(m, axis=1), sums


def moved(m: Matrix) -> Any:
    chosen = m[np.arange(m.shape[0])], m[np.sum(m, axis=1) > 1.0]
    return np.flip(m), np.roll(m, 1, axis=0), np.diff(m, axis=0), np.triu(m), chosen


def called(m: Matrix) -> Any:
    return halved(m), halved(halved(m))[1:], (halved(m.T), m)


def looped(m: Matrix) -> Any:
    """States that a step makes anew; a branch that gives either of two."""
    a = b = m
    for _ in range(3):
        a = 0.5 * a + 1.0
        b = a if b.shape[0] > 1 else b * 2.0
    return a, b, a + b


def updated(m: Matrix) -> Any:
    filled, table, doubled = np.zeros(m.shape), np.ones_like(m), m * 1.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            filled[i, j] = m[i, j] * 2.0
    table[:, 1:] = m[:, 1:]
    doubled += m
    return filled, table, doubled


def cubes(x: Cube) -> Any:
    turned = np.transpose(x, (1, 0, 2)) * 2.0, np.transpose(x, (2, 1, 0)), x[:, ::-1]
    sums = np.sum(x, axis=0), np.sum(x, axis=1), np.sum(x, axis=2)
    return 2.0 * x + 1.0, turned, sums, x[1:], x[:, :, 1:], np.cumsum(x, axis=1)


MATRIX_CASES = (
    *(scaled, elementwise, sliced, transposed, joined, stacked, repeated, made),
    *(reduced, multiplied, outer, ordered, moved, called, looped, updated),
)
CASES = [(f, shape) for f in MATRIX_CASES for shape in MATRICES]
CASES += [(cubes, shape) for shape in CUBES]
every_case = pytest.mark.parametrize(
    ("function", "shape"), CASES, ids=[f"{f.__name__}-{s}" for f, s in CASES]
)

MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "generic": {"optimize": 0},
    "debug": {"debug": True},
    "strict": {"strict": True},
}


def numbers(shape: tuple[int, ...], start: float = 0.1) -> np.ndarray:
    count = int(np.prod(shape))
    return np.linspace(start, start + 0.8, count).reshape(shape)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def same(found: Any, wanted: Any) -> None:
    found, wanted = leaves(found), leaves(wanted)
    assert list(map(np.shape, found)) == list(map(np.shape, wanted))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)


def reals(value: Any) -> list[Any]:
    return [leaf for leaf in leaves(value) if leaf.dtype == np.float64]


def seeds(value: Any) -> Any:
    """A cotangent of ones, None for what holds no reals."""
    if isinstance(value, tuple):
        return tuple(map(seeds, value))
    return np.ones(value.shape) if value.dtype == np.float64 else None


_KNOWN: dict[Any, Any] = {}


def once(make: Callable[..., Any], function: Callable[..., Any], **options: Any) -> Any:
    """What is compiled for a function, for all shapes."""
    key = make, function, *options.items()
    return _KNOWN.setdefault(key, make(function, **options))


@pytest.mark.sweep(share=3)
@every_case
@pytest.mark.parametrize("mode", MODES)
def test_values(mode: str, function: Callable[..., Any], shape: Sequence[int]) -> None:
    m = numbers(tuple(shape))
    same(once(cl.jit, function, **MODES[mode])(m), function(m))


@every_case
def test_the_interpreter(function: Callable[..., Any], shape: Sequence[int]) -> None:
    m = numbers(tuple(shape))
    program, given = normalised(once(cl.jit, function), (m,))
    types = [p.type for p in program.entry.params]
    values = [to_value(a, ty) for a, ty in zip((m,), types, strict=True)]
    assert len(all_leaves(values, types)) == len(given)
    found = Interpreter(program).run(*given)
    pairs = zip(found, program.entry.body.types, strict=True)
    same(tuple(from_value(x, ty) for x, ty in pairs), function(m))


@pytest.mark.sweep(share=3)
@every_case
@pytest.mark.parametrize("mode", ("default", "generic"))
def test_jvp(mode: str, function: Callable[..., Any], shape: Sequence[int]) -> None:
    """Tangents have the shapes of results."""
    m = numbers(tuple(shape))
    move = once(_pushed, function, **MODES[mode])
    value, tangent = move(m, np.ones(m.shape))
    wanted = function(m)
    same(value, wanted)
    pairs = zip(leaves(value), leaves(tangent), strict=True)
    for part, moved in pairs:
        assert moved is None or np.shape(moved) == np.shape(part)
    assert sum(t is not None for t in leaves(tangent)) == len(reals(wanted))


def _pushed(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    compiled = once(cl.jit, function, **options)
    return lambda m, t: cl.jvp(compiled, (m,), (t,))


@pytest.mark.sweep(share=6)
@every_case
def test_vjp(function: Callable[..., Any], shape: Sequence[int]) -> None:
    """The gradient has the shape of the argument, whatever shapes it came by."""
    m = numbers(tuple(shape))
    wanted, found = function(m), []
    for mode in ("default", "generic"):
        value, pull = cl.vjp(once(cl.jit, function, **MODES[mode]), m)
        same(value, wanted)
        (gradient,) = pull(seeds(wanted))
        assert gradient.shape == m.shape
        found.append(gradient)
    np.testing.assert_allclose(*found, rtol=1e-13)


def energy(m: Matrix) -> float:
    return np.sum(np.sin(m) * m @ np.ones((m.shape[1], 2)))


@pytest.mark.parametrize("shape", MATRICES, ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_derivatives_of_scalars(mode: str, shape: tuple[int, int]) -> None:
    function, m = once(cl.jit, energy, **MODES[mode]), numbers(shape)
    slope = 2.0 * (np.sin(m) + m * np.cos(m))
    second = 2.0 * (2.0 * np.cos(m) - m * np.sin(m))
    np.testing.assert_allclose(cl.grad(function)(m), slope, rtol=1e-13)
    np.testing.assert_allclose(cl.hvp(function)(m, m), second * m, rtol=1e-13)
    assert cl.hvp(function)(m, m).shape == cl.grad(function)(m).shape == shape
    assert cl.hessian(function)(m).shape == (*shape, *shape)


@pytest.mark.parametrize("shape", MATRICES, ids=str)
@pytest.mark.parametrize("jacobian", (cl.jacfwd, cl.jacrev))
def test_jacobians(jacobian: Callable[..., Any], shape: tuple[int, int]) -> None:
    found = jacobian(once(cl.jit, transposed))(numbers(shape))
    results = transposed(numbers(shape))
    assert [part.shape for part in found] == [(*r.shape, *shape) for r in results]


PLAIN, SLOPED = cl.jit(scaled), cl.jit(energy)


@cl.jit
def inside(m: Matrix) -> Any:
    """The derivatives that a compiled function takes."""
    jacobians = cl.jacfwd(PLAIN)(m), cl.jacrev(PLAIN)(m), cl.hessian(SLOPED)(m)
    return (
        cl.grad(SLOPED)(m),
        cl.hvp(SLOPED)(m, m),
        cl.jvp(PLAIN, (m,), (m,)),
        jacobians,
    )


@pytest.mark.parametrize("shape", MATRICES, ids=str)
def test_derivatives_inside(shape: tuple[int, int]) -> None:
    first, second, pushed, jacobians = inside(numbers(shape))
    assert first.shape == second.shape == shape
    assert [part.shape for part in pushed] == [shape, shape]
    assert {part.shape for part in jacobians} == {(*shape, *shape)}


@pytest.mark.parametrize("kind", (np.float32, np.int64, np.bool_))
def test_other_elements(kind: type[np.generic]) -> None:
    @cl.jit
    def f(a: Any, b: Any) -> Any:
        return a + b, a[1:], a.T[1:], np.concatenate((a, b)), np.where(a, a, b)

    empty = np.zeros((0, 3), kind)
    found = f(empty, empty)
    assert [part.shape for part in found] == [(0, 3), (0, 3), (2, 0), (0, 3), (0, 3)]


def test_the_rows_behind_the_last() -> None:
    """One row less than one, and what is done with none."""

    @cl.jit
    def f(m: Matrix, w: cl.f64[:]) -> Any:
        rest = m[1:] + w
        return rest, np.sum(rest, axis=0), rest @ np.ones((3, 2)), rest.T @ rest

    rest, sums, product, squares = f(np.ones((1, 3)), np.ones(3))
    assert rest.shape == (0, 3) and product.shape == (0, 2)
    np.testing.assert_array_equal(sums, np.zeros(3))
    np.testing.assert_array_equal(squares, np.zeros((3, 3)))


def test_sizes_that_do_not_fit() -> None:
    """What has no elements has sizes that have to fit."""

    @cl.jit
    def f(m: Matrix, w: cl.f64[:]) -> Matrix:
        return (m * 2.0) @ np.ones((2, 2)) + w

    with pytest.raises(ValueError, match="3"):
        f(np.ones((0, 3)), np.ones(2))
    with pytest.raises(ValueError, match="3"):
        f(np.ones((0, 2)), np.ones(3))
    assert f(np.ones((0, 2)), np.ones(2)).shape == (0, 2)


def test_pickles() -> None:
    kept = pickle.loads(pickle.dumps(PLAIN))
    assert kept(np.zeros((0, 3))).shape == (0, 3)


def test_exports(tmp_path: Path) -> None:
    requests = {"scaled": cl.jit(scaled), "slope": cl.grad(SLOPED)}
    cl.export(requests, tmp_path / "libempty")
    library = cl.load(tmp_path / "libempty")
    for shape in MATRICES:
        m = numbers(shape)
        same(library.scaled(m), scaled(m))
        assert library.slope(m).shape == shape


@cl.jit
def listed(m: Matrix) -> Any:
    """Lists of rows: of none nobody knows the size."""
    rows = []
    for row in m:
        rows.append(2.0 * row)
    made = cl.build((m.shape[0],), lambda i: m[i] * 2.0)
    return [row * 2.0 for row in m], [[2.0 * x for x in row] for row in m], rows, made


@pytest.mark.parametrize("shape", MATRICES, ids=str)
def test_lists_of_rows(shape: tuple[int, int]) -> None:
    m = numbers(shape)
    for found in listed(m):
        np.testing.assert_array_equal(found, 2.0 * m if shape[0] else np.ones((0, 0)))
