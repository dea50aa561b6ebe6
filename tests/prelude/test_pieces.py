"""Functions that turn, cut, select, window, number: as NumPy, slopes as differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

RNG = np.random.default_rng(11)
V, M, S = RNG.normal(size=7), RNG.normal(size=(3, 4)), RNG.normal(size=(2, 3, 4))
Q, P = RNG.normal(size=(4, 4)), RNG.normal(size=3)
K, J = np.array([3, 1, 2, 3, 0]), np.array([1, 5, 3])
ZEROS = np.array([0.0, 0.0, 1.5, 0.0, 2.0, 0.0])
ODD = np.array([-np.inf, -1.0, 0.0, 2.0, np.inf, np.nan])

Case = tuple[Callable[..., Any], tuple[Any, ...]]

CASES: list[Case] = [
    (lambda m: np.fliplr(m), (M,)),
    (lambda m: np.fliplr(m), (S,)),
    (lambda m: np.flipud(m), (M,)),
    (lambda m: np.flipud(m), (V,)),
    *((lambda m, k: np.rot90(m, k), (M @ M.T, k)) for k in range(-1, 5)),
    (lambda m: np.rot90(m), (M,)),
    (lambda m: np.rot90(m), (S,)),
    (lambda m: np.matrix_transpose(m), (S,)),
    (lambda m: np.linalg.matrix_transpose(m), (M,)),
    (lambda n: np.tri(n), (3,)),
    (lambda n: np.tri(n, 4, 1), (3,)),
    (lambda n: np.tri(n, 4, -1), (3,)),
    (lambda m: np.diagflat(m), (M,)),
    (lambda v: np.diagflat(v, 1), (V,)),
    (lambda v: np.split(v, 7)[6], (V,)),
    (lambda v: np.split(v, (2, 5)), (V,)),
    (lambda m: np.split(m, 2, axis=1), (M,)),
    (lambda m: np.split(m, 2, -1), (S,)),
    (lambda v: np.array_split(v, 3), (V,)),
    (lambda v: np.array_split(v, 9), (V,)),
    (lambda m: np.vsplit(m, 3), (M,)),
    (lambda m: np.hsplit(m, (1, 1, 9)), (M,)),
    (lambda v: np.hsplit(v, 1), (V,)),
    (lambda v: np.trim_zeros(v), (ZEROS,)),
    (lambda v: np.trim_zeros(v, "f"), (ZEROS,)),
    (lambda v: np.trim_zeros(v, trim="b"), (ZEROS,)),
    (lambda v: np.trim_zeros(v), (np.zeros(3),)),
    (lambda m: np.ediff1d(m), (M,)),
    (lambda a, b: np.dstack((a, b)), (V, V * 2.0)),
    (lambda a, b: np.dstack((a, b)), (M, M * 2.0)),
    (lambda a, b: np.dstack((a, b)), (S, S[:, :, :1])),
    (lambda m: m[np.ix_([0, 2], [1, 3, 0])], (M,)),
    (lambda s: s[np.ix_(np.arange(1), [2, 0], (1, 1))], (S,)),
    (lambda v: np.resize(v, (2, 5)), (V,)),
    (lambda m: np.resize(m, 5), (M,)),
    (lambda a, b: np.broadcast_arrays(a, b), (M, V[:4])),
    (lambda a: sum(v * (i - 2 * j) for (i, j), v in np.ndenumerate(a)), (M,)),
    (lambda a: sum(v * a[k] * k[2] for k, v in np.ndenumerate(a)), (S,)),
    (lambda a: sum(v * k[0] for k, v in np.ndenumerate(a)), (V,)),
    (lambda a: sum(a[k] for k in np.ndindex(2, 3)), (M,)),
    (lambda a: sum(a[k] ** 2 for k in np.ndindex(a.shape)), (S,)),
    (lambda a: sum(a[k] * k[0] for k in np.ndindex(3)), (V,)),
    (lambda a: np.apply_along_axis(lambda r: r.max() - r[0], 1, a), (M,)),
    (lambda a: np.apply_along_axis(np.sum, 0, a), (S,)),
    (lambda a: np.apply_along_axis(lambda r: r[::-1] * 2, 0, a), (M,)),
    (lambda a: np.apply_along_axis(lambda r: r[:2], 1, a), (S,)),
    (lambda a: np.apply_along_axis(lambda r: r.sum(), -1, a), (V,)),
    (lambda a: np.apply_along_axis(lambda r: r**2, 0, a), (V,)),
    (lambda a: np.fromiter((v * v for v in a), dtype=float), (V,)),
    (lambda n: np.fromiter((k for k in range(n)), int, count=3), (5,)),
    (lambda a, b: np.broadcast_arrays(a[:, None], b, 2.0), (P, V)),
    (lambda m: np.block([[m, m[:, :2]], [m[:1], 2.0 * m[:1, :2]]]), (M,)),
    (lambda v: np.block([v, v[:2]]), (V,)),
    (lambda v, m: np.block([[v], [m]]), (V[:4], M)),
    (lambda m: np.roll(m, 5), (M,)),
    (lambda s: np.roll(s, -7), (S,)),
    (lambda v: v[np.where(v > 0.0)], (V,)),
    (lambda m: np.where(m > 0.0)[1], (M,)),
    (lambda v: np.sum(v, where=v > 0.0), (V,)),
    (lambda v: np.sum(v, initial=2.0) + np.sum(v[:0], initial=v[0]), (V,)),
    (lambda m: np.sum(m, axis=0, where=m > 0.0, initial=1.5, keepdims=True), (M,)),
    (lambda k: np.sum(k, initial=2, where=k > 1), (K,)),
    (lambda m: np.mean(m, axis=1, where=m > -9.0), (M,)),
    (lambda v: v.mean(where=v < 0.5), (V,)),
    (lambda m: np.prod(m, axis=1, where=m > 0.0, initial=2.0), (M,)),
    (lambda m: np.max(m, axis=0, initial=0.3), (M,)),
    (lambda v: v.min(initial=0.0, where=v > 0.0), (V,)),
    (lambda v: np.max(v[:0], initial=v[1]), (V,)),
    (lambda k: np.max(k, initial=2), (K,)),
    (lambda v: np.max(v > 1.0, initial=True), (V,)),
    (lambda k: np.min(k, initial=-7), (K,)),
    (lambda m: np.any(m > 1.0, axis=0, where=m > 0.0), (M,)),
    (lambda m: np.all(m > 0.0, axis=1, where=m > 0.0), (M,)),
    (lambda v: v[:1].item() * v.sum().item(), (V,)),
    (lambda m: sum([sum(row) for row in m.tolist()]), (M,)),
    (lambda v: np.select([v > 0.5, v > 0.0], [v, v * v], 3.0), (V,)),
    (lambda v: np.select((v > 0.5, v > 0.0), (v, 2.0)), (V,)),
    (lambda m, v: np.select((m > 0.5,), (m * v,), m), (M, V[:4])),
    (lambda i: np.select([i > 2, i > 0], [i, 2 * i]), (K,)),
    (lambda i, v: np.choose(i % 3, (v, v * v, 1.0)), (K, V[:5])),
    (lambda i, v: np.choose(i % 2, [v, v * v]), (K, V[:5])),
    (lambda i, v: np.choose(i * 0, (v,)), (K, V[:5])),
    (lambda i: np.choose(i, (2.0, 3.0, 4.0, 5.0)), (K,)),
    (lambda m: np.extract(m > 0.0, m), (M,)),
    (lambda m: np.extract(m[0] > 0.0, m), (M,)),
    (lambda v: np.compress(v > 0.0, v), (V,)),
    (lambda m: np.compress(m[0] > 0.0, m, 1), (M,)),
    (lambda m: np.compress(m[:2, 0] < 9.0, m, axis=0), (M,)),
    (lambda v: np.compress(np.arange(20) < 3, v), (V,)),
    (lambda m: np.argwhere(m > 0.0), (M,)),
    (lambda v: np.argwhere(v > 0.0), (V,)),
    (lambda v: np.take_along_axis(v, np.argsort(v)[:2], 0), (V,)),
    (lambda m: np.take_along_axis(m, np.argsort(m, axis=1), 1), (M,)),
    (lambda m: np.take_along_axis(m, np.argsort(m, axis=0), axis=0), (M,)),
    (lambda m: np.take_along_axis(m, np.argsort(m, axis=1), axis=1), (S,)),
    (lambda v: np.partition(v, 3)[3], (V,)),
    (lambda m: np.partition(m, 1, axis=0)[1], (M,)),
    (lambda v: v[np.argpartition(v, 3)[3]], (V,)),
    (lambda v, i: np.lexsort((v, i)), (V[:5], K)),
    (lambda i: np.lexsort((i, i % 2)), (K,)),
    (lambda i, j: np.union1d(i, j), (K, J)),
    (lambda i, j: np.intersect1d(i, j), (K, J)),
    (lambda i, j: np.setdiff1d(i, j), (K, J)),
    (lambda i, j: np.setxor1d(i, j), (K, J)),
    (lambda v: np.divmod(v, 0.3), (V,)),
    (lambda x: np.divmod(x, -2), (7,)),
    (lambda x: np.isposinf(x), (ODD,)),
    (lambda x: np.isneginf(x), (ODD,)),
    (lambda x: np.conj(x), (V,)),
    (lambda x: np.real(x), (V,)),
    (lambda x: np.imag(x), (ODD,)),
    (lambda x: np.angle(x), (ODD,)),
    (lambda x: np.angle(x, deg=True), (V,)),
    (lambda a, b: np.matvec(a, b), (Q, V[:4])),
    (lambda a, b: np.matvec(a, b), (S, V[:4])),
    (lambda a, b: np.vecmat(a, b), (P, S)),
    (lambda a, b: np.vecdot(a, b), (M, M * 2.0)),
    (lambda a, b: np.linalg.vecdot(a, b, axis=0), (M, M * 2.0)),
    (lambda a, b: np.linalg.matmul(a, b), (M, Q)),
    (lambda a, b: np.linalg.outer(a, b), (V, P)),
    (lambda a, b: np.linalg.cross(a, b), (P, P * P)),
    (lambda a: np.linalg.trace(a, offset=1), (Q,)),
    (lambda a: np.linalg.diagonal(a, offset=-1), (Q,)),
    (lambda a: np.linalg.vector_norm(a), (S,)),
    (lambda a: np.linalg.vector_norm(a, ord=1), (M,)),
    (lambda a: np.linalg.vector_norm(a, axis=1, keepdims=True), (M,)),
    (lambda a: np.linalg.matrix_norm(a), (M,)),
    (lambda a: np.linalg.matrix_norm(a, ord=1), (M,)),
    (lambda v: np.unwrap(v * 4.0), (V,)),
    (lambda m: np.unwrap(m * 9.0, axis=0), (M,)),
    (lambda v: np.unwrap(v * 9.0, discont=4.0, period=3.0), (V,)),
    (lambda v: np.unwrap(v), (np.array([0.0, np.pi, 0.0, -np.pi]),)),
    (lambda v: np.cumulative_sum(v), (V,)),
    (lambda m: np.cumulative_sum(m, axis=0, include_initial=True), (M,)),
    (lambda m: np.cumulative_prod(m, axis=1, include_initial=True), (M,)),
    *((lambda n: np.hanning(n), (n,)) for n in (0, 1, 2, 5)),
    *((lambda n: np.hamming(n), (n,)) for n in (0, 1, 2, 5)),
    *((lambda n: np.bartlett(n), (n,)) for n in (0, 1, 2, 6)),
    *((lambda n: np.blackman(n), (n,)) for n in (0, 1, 2, 6)),
    *((lambda n: np.kaiser(n, 8.6), (n,)) for n in (0, 1, 2, 5)),
    (lambda v: np.i0(v), (V,)),
    (lambda n: np.tril_indices(n, -1, 3), (4,)),
    (lambda n: np.triu_indices(n), (3,)),
    (lambda n: np.diag_indices(n), (3,)),
    (lambda m: m[np.triu_indices(3, 1)], (M,)),
    (lambda m: m[np.nonzero(m > 0.0)], (M,)),
    (lambda i: np.unravel_index(i, (3, 4)), (np.array([0, 7, 11]),)),
    (lambda i: np.unravel_index(i, (2, 3, 4)), (23,)),
    (lambda i, j: np.ravel_multi_index((i, j), (4, 6)), (J % 4, J)),
    (lambda n: np.indices((n,)), (3,)),
    (lambda n: np.indices((n, 2, 4)), (3,)),
    (lambda p: np.polyint(p, k=2.0), (V,)),
    (lambda p, q: np.polyadd(p, q), (V, P)),
    (lambda p, q: np.polysub(p, q), (P, V)),
    (lambda p, q: np.polymul(p, q), (V, ZEROS)),
]


def parts(value: Any) -> list[Any]:
    """The arrays of a result: NumPy gives some in a list, where ours are in a tuple."""
    return [*value] if isinstance(value, list | tuple) else [value]


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize("case", CASES)
def test_as_numpy(case: Case) -> None:
    function, args = case
    found, right = parts(cl.jit(function)(*args)), parts(function(*args))
    assert len(found) == len(right)
    for ours, theirs in zip(found, right, strict=True):
        assert np.shape(ours) == np.shape(theirs)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
        assert np.asarray(ours).dtype.kind == np.asarray(theirs).dtype.kind


def test_a_generator_may_be_too_short() -> None:
    with pytest.raises(ValueError, match="too short"):
        cl.jit(lambda a: np.fromiter((v for v in a), float, count=9))(V)


def test_weights_of_another_shape() -> None:
    with pytest.raises(TypeError, match="Axis"):
        cl.jit(lambda a, w: np.average(a, weights=w))(V, P)
    with pytest.raises(ValueError, match="weights"):
        cl.jit(lambda a, w: np.average(a, axis=0, weights=w))(V, P)


@cl.jit
def smooth(m: cl.f64[:, :], v: cl.f64[:]) -> float:
    first, second = np.split(np.rot90(m), 2)
    s = np.sum(first * np.fliplr(second) ** 2) + np.sum(np.diagflat(v) @ np.tri(4))
    s += np.sum(np.take_along_axis(m, np.argsort(m, axis=1), 1)[:, 1:] * v[:3])
    s += np.sum(np.select((v > 0.5, v > 0.0), (v, v * v), 3.0) * np.hanning(len(v)))
    s += np.sum(np.unwrap(m * 9.0) ** 2) + np.linalg.vector_norm(m) + np.sum(np.i0(v))
    s += np.sum(m[np.triu_indices(4, 1)] ** 2) + np.sum(np.vecmat(v, m) * v)
    s += np.sum(np.compress(v > 0.0, m, 1) ** 2) + np.polymul(v, v)[3]
    return s + np.sum(np.cumulative_prod(v) * np.matvec(m, v)) + np.partition(v, 2)[2]


def test_slopes_are_differences() -> None:
    cl.check_grads(smooth, (Q, V[:4]))
    assert np.isclose(smooth(Q, V[:4]), smooth.py_func(Q, V[:4]))


@pytest.mark.sweep
def test_second_slopes_are_differences() -> None:
    assert cl.check_grads(smooth, (Q, V[:4]), order=2) is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize(
    ("function", "args", "error"),
    [
        (lambda v: np.split(v, 2)[0], (V,), ValueError),
        (lambda i, v: np.choose(i, (v, v)), (K, V[:5]), ValueError),
        (lambda v: np.partition(v, 7), (V,), ValueError),
        (lambda m: np.argpartition(m, -4, axis=0), (M,), ValueError),
        (lambda i: np.unravel_index(i, (2, 3)), (6,), ValueError),
        (lambda i: np.unravel_index(i, (2, 3)), (np.array([0, -1]),), ValueError),
        (lambda i: np.ravel_multi_index((i, i), (3, 3)), (K,), ValueError),
        (lambda v: v[(9,)], (V,), IndexError),
        (lambda v: np.compress(np.arange(20) > 8, v), (V,), IndexError),
    ],
)
def test_errors_are_numpys(
    function: Callable[..., Any], args: tuple[Any, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        function(*args)
    with pytest.raises(error):
        cl.jit(function)(*args)


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (lambda v: np.split(v, 0), (V,), "there are 1 to 64 pieces"),
        (lambda v: np.split(v, 1, axis=1), (V,), "axis 1 is out of bounds"),
        (lambda m: np.cumulative_sum(m), (M,), "one must be chosen"),
        (lambda s: np.linalg.matrix_norm(s), (S,), "a matrix is expected"),
        (lambda m: np.linalg.vector_norm(m, ord=7), (M,), "no norm of the order 7"),
        (lambda n: np.indices(n), (3,), "a tuple of sizes is expected"),
    ],
)
def test_what_is_refused(
    function: Callable[..., Any], args: tuple[Any, ...], message: str
) -> None:
    with pytest.raises((cl.CompileError, ValueError), match=message):
        cl.jit(function)(*args)
