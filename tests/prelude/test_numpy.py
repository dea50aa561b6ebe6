"""NumPy's functions that the prelude defines: as NumPy, with slopes as differences."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg

import chadllvm as cl
from tests.sweep import marks

RNG = np.random.default_rng(5)


def normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


V, W, M, R = normal(7), normal(3), normal(3, 4), normal(2, 3, 4)
P = np.abs(normal(7)) + 0.1
UP = np.sort(normal(7))
STACK = normal(3, 4, 4)
GAPS = M.copy()
GAPS[0, 1] = np.nan
GAPS[2] = np.nan
INTS = np.array([1, 3, 1, 0, 5])
MIXED = np.array([3.0, 1.0, 3.0, 2.0, np.nan, 1.0, np.nan])
ODD = np.array([-1.0, 0.0, 0.5, 2.0, np.nan])
INF, INF_AT = np.array([1.0, np.inf, 2.0, np.nan]), np.arange(4.0)
EDGES = np.array([-1.0, 0.0, 1.0])
NEAR = np.array([-1250, -150, -25, -16, -15, -5, 0, 4, 5, 15, 50, 149, 150, 250])

Row = tuple[Callable[..., Any], tuple[Any, ...]]

# Smooth where they are taken: slopes are compared as well.
SMOOTH: list[Row] = [
    (lambda a, b: np.einsum("ij,jk->ik", a, b), (M, normal(4, 2))),
    (lambda a, b: np.einsum("ij,jk", a, b), (M, normal(4, 2))),
    (lambda a, b: np.einsum("ij, jk -> ki", a, b), (M, normal(4, 2))),
    (lambda a: np.einsum("ij->ji", a), (M,)),
    (lambda a: np.einsum("ij->", a), (M,)),
    (lambda a: np.einsum("ij->j", a), (M,)),
    (lambda a: np.einsum("ii->i", a), (normal(3, 3),)),
    (lambda a: np.einsum("ii", a), (normal(3, 3),)),
    (lambda a, b: np.einsum("i,i", a, b), (W, normal(3))),
    (lambda a, b: np.einsum("i,j->ij", a, b), (W, V)),
    (lambda a, b: np.einsum("ij,ij->i", a, b), (M, normal(3, 4))),
    (lambda a, b: np.einsum("bij,bjk->bik", a, b), (R, normal(2, 4, 2))),
    (lambda a, b: np.einsum("bhqd,bhkd->bhqk", a, b), (R[None], R[None])),
    (lambda a, b, c: np.einsum("ij,jk,kl->il", a, b, c), (M, M.T, M)),
    (lambda a, b, c: np.einsum("i,ij,j->", a, b, c), (W, M, normal(4))),
    (lambda a, b: np.einsum("ijk,jil->kl", a, b), (R, normal(3, 2, 2))),
    (lambda a, b: np.tensordot(a, b), (R, normal(3, 4, 2))),
    (lambda a, b: np.tensordot(a, b, axes=1), (M, normal(4, 2))),
    (lambda a, b: np.tensordot(a, b, axes=0), (W, normal(2))),
    (lambda a, b: np.tensordot(a, b, axes=((0, 1), (1, 0))), (R, normal(3, 2, 2))),
    (lambda a, b: np.tensordot(a, b, axes=(0, -1)), (R, normal(3, 2))),
    (lambda a, b: np.kron(a, b), (W, V)),
    (lambda a, b: np.kron(a, b), (normal(2, 2), M)),
    (lambda a, b: np.kron(a, b), (W, M)),
    (lambda a, b: np.add.outer(a, b), (W, V)),
    (lambda a, b: np.subtract.outer(a, b), (M, W)),
    (lambda a, b: np.multiply.outer(a, b), (W, M)),
    (lambda a, b: np.divide.outer(a, b), (W, P)),
    (lambda a, b: np.power.outer(a, b), (P, W)),
    (lambda a, b: np.minimum.outer(a, b), (W, V)),
    (lambda a, b: np.maximum.outer(a, b), (W, V)),
    (lambda a: np.add.reduce(a), (M,)),
    (lambda a: np.multiply.reduce(a, axis=1), (M,)),
    (lambda a: np.maximum.reduce(a, keepdims=True), (M,)),
    (lambda a: np.minimum.reduce(a), (V,)),
    (lambda a: np.add.accumulate(a), (M,)),
    (lambda a: np.multiply.accumulate(a, axis=1), (M,)),
    (lambda a: np.maximum.accumulate(a), (V,)),
    (lambda a: np.minimum.accumulate(a, axis=1), (M,)),
    (lambda a: np.median(a), (M,)),
    (lambda a: np.median(a, axis=0), (V,)),
    (lambda a: np.median(a, axis=1, keepdims=True), (R,)),
    (lambda a: np.median(a, keepdims=True), (M,)),
    (lambda a, q: np.quantile(a, q), (V, 0.3)),
    (lambda a, q: np.quantile(a, q, axis=1), (M, np.array([0.1, 0.25, 0.9]))),
    (lambda a, q: np.percentile(a, q, axis=0), (M, 70.0)),
    (lambda a: np.average(a), (M,)),
    (lambda a, w: np.average(a, weights=w), (V, P)),
    (lambda a, w: np.average(a, axis=0, weights=w), (M, P[:3])),
    (lambda a, w: np.average(a, axis=1, weights=w, keepdims=True), (M, P[:4])),
    (lambda a: np.atleast_2d(a), (V,)),
    (lambda a: np.atleast_3d(a), (V,)),
    (lambda a: np.atleast_3d(a), (M,)),
    (lambda a: np.cov(a), (M,)),
    (lambda a: np.cov(a, rowvar=False), (M,)),
    (lambda a: np.cov(a), (V,)),
    (lambda a: np.cov(a, bias=True), (M,)),
    (lambda a: np.cov(a, ddof=0), (M,)),
    (lambda a, b: np.cov(a, b), (V, P)),
    (lambda a, b: np.cov(a, b), (M, normal(2, 4))),
    (lambda a, b: np.corrcoef(a, b)[0, 1], (V, P)),
    (lambda a: np.corrcoef(a)[:2, 2], (M,)),
    (lambda a, w: np.bincount(a, weights=w), (INTS, V[:5])),
    (lambda a, w: np.histogram(a, 3, weights=w)[0], (np.arange(7), P)),
    (lambda a: np.unique(a), (M,)),
    (lambda a: np.nansum(a, axis=1), (M,)),
    (lambda a: np.nanprod(a), (M,)),
    (lambda a: np.nanmean(a, axis=0, keepdims=True), (M,)),
    (lambda a: np.nanvar(a, axis=1), (M,)),
    (lambda a: np.nanstd(a, ddof=1), (M,)),
    (lambda a: np.nanmax(a, axis=0), (M,)),
    (lambda a: np.nanmin(a), (M,)),
    (lambda a: np.nanmedian(a, axis=1), (M,)),
    (lambda a: np.nancumsum(a), (M,)),
    (lambda a: np.nancumprod(a, axis=0), (M,)),
    (lambda a: np.nanquantile(a, 0.3), (M,)),
    (lambda a: np.nanpercentile(a, 30, axis=1), (M,)),
    (lambda a, v: np.convolve(a, v), (V, W)),
    (lambda a, v: np.convolve(a, v, "same"), (W, V)),
    (lambda a, v: np.convolve(a, v, mode="valid"), (V, W)),
    (lambda a, v: np.correlate(a, v), (V, W)),
    (lambda a, v: np.correlate(a, v, mode="same"), (normal(4), normal(6))),
    (lambda a, v: np.correlate(a, v, "full"), (V, W)),
    (lambda a: np.gradient(a), (V,)),
    (lambda a, x: np.gradient(a, x), (V, UP)),
    (lambda a, x: np.gradient(a, x, edge_order=2), (V, UP)),
    (lambda a, h: np.gradient(a, h, edge_order=2), (V, 0.3)),
    (lambda a: np.gradient(a), (M,)),
    (lambda a: np.gradient(a, 0.5, 2.0), (M,)),
    (lambda a: np.gradient(a, axis=1), (R,)),
    (lambda a: np.gradient(a, axis=(2, 0)), (R,)),
    (lambda a: np.trapezoid(a), (V,)),
    (lambda a, x: np.trapezoid(a, x), (V, UP)),
    (lambda a: np.trapezoid(a, dx=0.1, axis=0), (M,)),
    (lambda a, x: np.trapezoid(a, x, axis=0), (M, normal(3))),
    (lambda a, x: np.trapezoid(a, x), (M, normal(3, 4))),
    (lambda x, a, b: np.interp(x, a, b), (V, UP, W[[0, 1, 2, 0, 1, 2, 0]])),
    (lambda x, y: np.meshgrid(x, y), (V, W)),
    (lambda x, y: np.meshgrid(x, y, indexing="ij"), (V, W)),
    (lambda x, y, z: np.meshgrid(x, y, z), (V, W, normal(2))),
    (lambda x, y, z: np.meshgrid(x, y, z, indexing="ij"), (V, W, normal(2))),
    (lambda a, b: np.logspace(a, b, 5, base=2.0), (0.3, 0.8)),
    (lambda a, b: np.geomspace(a, b, 5), (-1.0, -8.0)),
    (lambda x: np.vander(x), (W,)),
    (lambda x: np.vander(x, N=4, increasing=True), (W,)),
    (lambda p, x: np.polyval(p, x), (W, 0.3)),
    (lambda x, y: np.polyfit(x, y, 2), (UP, V)),
    (lambda p: np.polyder(p), (V,)),
    (lambda p: np.polyder(p), (V[:1],)),
    (lambda x, a: np.atleast_1d(x)[0] * np.atleast_1d(a), (0.3, M)),
    (lambda a, x: np.append(a, x), (V, 0.3)),
    (lambda a, b: np.append(a, b), (V, M)),
    (lambda a: np.append(a, a * a, axis=1), (M,)),
    (lambda a, x: np.insert(a, 2, x) * np.insert(a, -1, x), (V, 0.3)),
    (lambda a, b: np.insert(a, 7, b), (V, W)),
    (lambda a: np.delete(a, 0) * np.delete(a, -3), (V,)),
    (lambda a: (np.delete(a, 5), np.delete(a, 1, axis=0)), (M,)),
    (lambda a: (np.delete(a, -2, axis=1), np.delete(a, 0, -1)), (R,)),
    (lambda a, x: (np.insert(a, 5, x), np.insert(a, 1, x, axis=0)), (M, 0.3)),
    (lambda a: np.insert(a, 2, a[:, 0], axis=1), (M,)),
    (lambda a, b: (np.dot(a, b), a.dot(b[0])), (STACK, R.swapaxes(1, 2))),
    (lambda a, b: (np.dot(a[0], b), np.dot(a[0, 0], b)), (STACK, R.swapaxes(1, 2))),
    (lambda a, b: (np.inner(a, b), np.inner(a[0], b)), (STACK, R)),
    (lambda a, b: (np.inner(a, b[0]), np.inner(a[0, 0], b)), (STACK, R)),
    (lambda a: np.reciprocal(a), (P,)),
    (lambda a: np.nan_to_num(a, nan=3.0) ** 2, (V,)),
    (lambda x, a: np.sum(x * a) * np.sum(x) + np.mean(x) * np.max(x), (0.3, V)),
    (lambda x: np.prod(x) + np.min(x) + np.var(x) + np.ptp(x), (0.3,)),
    (lambda p, x: np.polyval(p, x), (W, M)),
    (lambda a: np.pad(a, 2), (V,)),
    (lambda a: np.pad(a, (2, 9), mode="wrap"), (V,)),
    (lambda a: np.pad(a, ((1, 0), (2, 5)), mode="reflect"), (M,)),
    (lambda a: np.pad(a, ((1, 0), (2, 5)), mode="symmetric"), (M,)),
    (lambda a: np.pad(a, ((1, 0), (2, 1), (0, 1)), mode="edge"), (R,)),
    (lambda a: np.pad(a, 3, "reflect"), (normal(1),)),
    (lambda a, b: np.linalg.solve(a, b), (STACK, normal(3, 4, 2))),
    (lambda a, b: np.linalg.solve(a, b), (STACK, normal(4))),
    (lambda a, b: np.linalg.solve(a, b), (STACK[None], normal(1, 3, 4, 2))),
    (lambda a: np.linalg.inv(a), (STACK,)),
    (lambda a: np.linalg.det(a), (STACK,)),
    (lambda a: np.linalg.slogdet(a)[1], (STACK[0],)),
    (lambda a: np.linalg.cholesky(a @ a.T + np.eye(4)), (STACK[0],)),
    (lambda a: np.linalg.norm(a, 1), (STACK[0],)),
    (lambda a: np.linalg.norm(a, np.inf), (STACK[0],)),
    (lambda a: np.linalg.norm(a, axis=1, keepdims=True), (STACK,)),
    (lambda a: np.linalg.norm(a, -np.inf, axis=0), (STACK[0],)),
    (lambda a, b: linalg.solve_triangular(a, b, trans="T"), (STACK[0], normal(4))),
    (lambda a, b: linalg.cho_solve((a, True), b), (STACK[0], normal(4, 2))),
    (lambda a, b: a @ b, (STACK, normal(3, 4, 2))),
    (lambda a, b: a @ b, (STACK, normal(4, 2))),
    (lambda a, b: np.matmul(a, b), (STACK, normal(4))),
    (lambda a, b: a @ b, (normal(2, 4), STACK)),
    (lambda a, b: a @ b, (normal(4), STACK)),
    (lambda a, b: a @ b, (normal(2, 3, 4, 5), normal(2, 3, 5, 2))),
    (lambda a: np.linalg.qr(a), (normal(5, 3),)),
    (lambda a: np.linalg.qr(a), (normal(3, 5),)),
    (lambda a: np.linalg.qr(a, mode="r"), (normal(3, 3),)),
    (lambda a: np.linalg.eigvalsh(a), (normal(4, 4),)),
    (lambda a: np.abs(np.linalg.eigh(a, UPLO="U")[1]), (normal(4, 4),)),
    (lambda a: np.linalg.svd(a, compute_uv=False), (normal(3, 5),)),
    (lambda a: np.abs(np.linalg.svd(a, full_matrices=False)[0]), (normal(5, 3),)),
    (lambda a: np.abs(np.linalg.svd(a, full_matrices=False)[2]), (normal(3, 5),)),
    (lambda a: np.abs(np.linalg.svd(a)[2]), (normal(3, 3),)),
    (lambda a: np.linalg.svdvals(a), (normal(4, 3),)),
    (lambda a: np.linalg.cond(a), (normal(3, 3),)),
    (lambda a: np.linalg.pinv(a), (normal(5, 3),)),
    (lambda a, b: np.linalg.lstsq(a, b)[0], (normal(5, 3), normal(5))),
    (lambda a, b: np.linalg.lstsq(a, b)[1], (normal(5, 3), normal(5, 2))),
    (lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], (normal(3, 5), normal(3))),
    (lambda a: np.linalg.matrix_power(a, 5), (normal(3, 3),)),
    (lambda a: np.linalg.matrix_power(a, -3), (normal(3, 3),)),
    (lambda a: linalg.expm(a), (normal(3, 3),)),
    (lambda a: linalg.expm(a), (5.0 * normal(3, 3),)),
]

# Integers, edges, and what is not smooth.
EXACT: list[Row] = [
    # Truth values stay what they are.
    (lambda a: a[np.where(a > 0.0, a > 1.0, a < -0.5)], (V,)),
    (lambda a: (np.where(a > 0.0, a > 1.0, True), np.where(a > 0.0, a > 1.0, 2)), (V,)),
    (lambda a: (np.maximum(a > 0.0, a > 1.0), np.minimum(a > 0.0, a < 1.0)), (V,)),
    (lambda a: (np.fmax(a > 0.0, a > 1.0), np.fmin(a > 0.0, a < 1.0)), (V,)),
    (lambda a: (np.add(a > 0.0, a < 1.0), np.multiply(a > 0.0, a < 1.0)), (V,)),
    (lambda a: (np.abs(a > 0.0), np.diff(a > 0.0), np.maximum(a > 0.0, 2)), (V,)),
    (lambda a: (np.outer(a > 0.0, a > 1.0), (a > 0.0) @ (a > 0.0)), (V,)),
    (
        lambda a: (
            (a > 0.0) @ (a.T > 0.0),
            (a > 0.0) @ (a[0] > 9.0),
            np.dot(a, a.T > 0.0),
        ),
        (M,),
    ),
    (lambda a, x: np.size(a) * np.shape(a)[1] + np.size(x), (M, 0.3)),
    (lambda x: (np.any(x), np.all(x > 1.0), np.argmax(x), np.count_nonzero(x)), (0.3,)),
    (lambda a: (np.isclose(a, a + 1e-9), np.isclose(a, 0.5, 0.0, 0.6)), (V,)),
    (lambda a, b: np.isclose(a[:3], b[:3]), (INF, INF_AT)),
    (lambda a: (np.isclose(a, a), np.isclose(a, a, equal_nan=True)), (INF,)),
    (lambda a, b: (np.allclose(a, a, 1e-3), np.allclose(a[:3], b)), (V, W)),
    (lambda a, b: (np.array_equal(a, a), np.array_equal(a, a[1:])), (V, W)),
    (lambda a, b: (np.array_equal(a, b), np.array_equal(a[:3], b)), (V, M)),
    (lambda x: np.sum(x > 0.0) + np.sum(x, keepdims=True), (0.3,)),
    (lambda a: np.median(a), (np.arange(5),)),
    (lambda a: np.median(a), (np.zeros(0),)),
    (lambda a: np.median(a), (MIXED,)),
    (lambda a: np.quantile(a, 1.5), (V,)),
    (lambda a: np.percentile(a, [25, 50, 75]), (V,)),
    (lambda a, w: np.average(a, weights=w), (V, 0.0 * P)),
    (lambda a: np.corrcoef(a), (M,)),
    (lambda a: np.bincount(a), (INTS,)),
    (lambda a: np.bincount(a, minlength=9), (INTS,)),
    (lambda a: np.bincount(a), (-INTS,)),
    (lambda a: np.bincount(a), (np.zeros(0, int),)),
    (lambda a, b: np.digitize(a, b), (ODD, EDGES)),
    (lambda a, b: np.digitize(a, b, right=True), (ODD, EDGES)),
    (lambda a, b: np.digitize(a, b), (ODD, -EDGES)),
    (lambda a, b: np.digitize(a, b, right=True), (ODD, -EDGES)),
    (lambda a, b: np.digitize(a, b), (0.3, EDGES)),
    (lambda a, b: np.digitize(a, b), (M, EDGES)),
    (lambda a, b: np.digitize(a, b), (V, np.array([0.0, 2.0, 1.0]))),
    (lambda a: np.histogram(a), (V,)),
    (lambda a: np.histogram(a, bins=5, range=(-1.0, 1.0)), (V,)),
    (lambda a, b: np.histogram(a, bins=b, density=True), (V, EDGES)),
    (lambda a, w: np.histogram(a, 3, weights=w, density=True), (V, P)),
    (lambda a: np.histogram(a, 4, density=True), (V,)),
    (lambda a: np.histogram(a), (np.zeros(0),)),
    (lambda a: np.histogram(a), (np.ones(4),)),
    (lambda a, b: np.histogram(a, bins=b), (V, np.array([1.0, 0.0, 2.0]))),
    (lambda a: np.histogram_bin_edges(a, 3), (V,)),
    (lambda a: np.unique(a), (MIXED,)),
    (lambda a: np.unique(a), (np.zeros(0),)),
    (lambda a: np.unique(a), (INTS,)),
    (lambda a: np.unique(a, return_counts=True), (MIXED,)),
    (
        lambda a: np.unique(
            a, return_index=True, return_inverse=True, return_counts=True
        ),
        (MIXED,),
    ),
    (lambda a: np.nansum(a, axis=1), (GAPS,)),
    (lambda a: np.nansum(a), (np.arange(3),)),
    (lambda a: np.nanprod(a), (GAPS,)),
    (lambda a: np.nanmean(a, axis=1), (GAPS,)),
    (lambda a: np.nanvar(a, ddof=1), (GAPS,)),
    (lambda a: np.nanvar(a, axis=0, keepdims=True), (GAPS,)),
    (lambda a: np.nanstd(a, axis=1), (GAPS,)),
    (lambda a: np.nanmax(a, axis=1), (GAPS,)),
    (lambda a: np.nanmin(a, axis=0), (GAPS,)),
    (lambda a: np.nanargmax(a), (GAPS,)),
    (lambda a: np.nanargmin(a, axis=1), (GAPS[:2],)),
    (lambda a: np.nanargmin(a, axis=1), (GAPS,)),
    (lambda a: np.nanmedian(a, axis=1), (GAPS,)),
    (lambda a: np.nancumsum(a, axis=1), (GAPS,)),
    (lambda a: np.nancumprod(a, axis=0), (GAPS,)),
    (lambda a: np.nanquantile(a, 0.3), (GAPS,)),
    (lambda a: (np.nanmax(a), np.nanmin(a, axis=0)), (np.arange(6).reshape(2, 3),)),
    (lambda a: (np.nan_to_num(a), np.nan_to_num(a, nan=1.0, posinf=9.0)), (INF,)),
    (lambda a: (np.nan_to_num(-a), np.nan_to_num(a > 1.5)), (INF,)),
    (lambda a: np.nan_to_num(a), (INF.astype(np.float32),)),
    (lambda a: (np.nan_to_num(a), np.reciprocal(a)), (INTS[:3] - 2,)),
    (lambda a: np.reciprocal(a), (INTS + 1,)),
    (lambda a: (np.fix(a), np.signbit(a), np.signbit(-0.0 * a)), (ODD,)),
    (lambda a, b: (np.isin(a, b), np.isin(a, a), np.isin(0.5, a)), (ODD, V)),
    (lambda a: (np.isin(a, a[0]), np.isin(a, a[0, :0]), np.isin(a, [2, 9])), (GAPS,)),
    (lambda a: (np.isin(a, [1, 5]), np.isin(3, a)), (INTS,)),
    (lambda a: (math.isclose(a[0], 1.0 + 1e-10), math.isclose(a[0], 1.1)), (INF,)),
    (lambda a: (math.isclose(a[1], a[1]), math.isclose(a[1], -a[1])), (INF,)),
    (lambda a: (math.isclose(a[1], a[0]), math.isclose(a[3], a[3])), (INF,)),
    (lambda x: math.isclose(x, 0.0, abs_tol=0.1), (0.05,)),
    (lambda m: math.dist(m[0], m[1]) * math.dist([m[0, 0], 1.0], m[1, :2]), (M,)),
    (lambda x: math.isclose(x, 1.0, rel_tol=-0.1), (0.05,)),
    (lambda a: (np.kron(a[:0], a), np.kron(a, a[:, :0])), (M,)),
    (lambda a: (np.kron(a[:0], a), np.kron(a, a[:0])), (np.ones((2, 2), int),)),
    (lambda a: np.vander(a), (INTS,)),
    (lambda a: (np.round(a, -1), a.round(-2), np.around(a, 1)), (NEAR,)),
    (lambda a, v: np.convolve(a, v), (np.arange(3), np.arange(4))),
    (lambda a, v: np.convolve(a, v), (np.zeros(0), V)),
    (lambda a: np.gradient(a), (np.arange(5),)),
    (lambda a: np.gradient(a), (np.ones(1),)),
    (lambda a, b: np.meshgrid(a, b), (np.arange(3), V)),
    (lambda a: np.median((a, 1.0, 2.0)), (0.5,)),
    (lambda a: np.quantile((a, 1.0, 2.0), (0.25, 0.5)), (0.5,)),
    (lambda a: np.average([a, 1.0, 2.0], weights=(1.0, 2.0, 3.0)), (0.5,)),
    (lambda a: np.linalg.eigvalsh(((a, 1.0), (1.0, 2.0))), (0.5,)),
    (lambda a: np.histogram((a, 2.0, 3.0), 2, range=(0.0, a)), (2.5,)),
    (lambda a: np.pad((a, 1.0), (1, 2)), (0.5,)),
    (lambda a, v: np.searchsorted(a, v, side="right"), (UP, np.append(V, UP))),
    (lambda a, v: a.searchsorted(v, side="right"), (MIXED[[1, 0, 4]], ODD)),
    (lambda a, v: np.searchsorted(a, v), (np.array([0, 1, 1, 2]), 1)),
    (lambda a, v: np.searchsorted(a, v), (np.zeros(0), M)),
    (lambda x, a, b: np.interp(x, a, b, left=-1.0, right=2.0), (3.0 * V, UP, V)),
    (lambda x, a, b: np.interp(x, a, b, -1.0), (ODD, UP[:1], V[:1])),
    (lambda x, a, b: np.interp(x, fp=b, xp=a, right=2.0), (3.0 * V, UP, V)),
    (lambda a: np.pad(array=a, constant_values=3.0, pad_width=2), (V,)),
    (lambda a, b: np.tensordot(a, b=b, axes=1), (M, M.T)),
    (lambda x, a, b: np.interp(x, a, b), (np.linspace(-1, 3, 41), INF_AT, INF)),
    (lambda x, a, b: np.interp(x, a, b), (np.linspace(-1, 3, 41), INF_AT, -INF[::-1])),
    (lambda a: np.var(a, ddof=3), (np.arange(2.0),)),
    (lambda a: np.std(a, axis=1, ddof=1), (normal(3, 1),)),
    (lambda a: np.cov(a, ddof=9), (M,)),
    (lambda n: np.mgrid[0:n], (3,)),
    (lambda n: np.mgrid[:n, 1:3], (3,)),
    (lambda n: np.mgrid[0:n:2, 0:1:5j, 2.0:3.0], (3,)),
    (lambda: np.logspace(0, 2, 5, endpoint=False), ()),
    (lambda a, b: np.geomspace(a, b, 5), (0.0, 8.0)),
    (lambda a: np.pad(a, 2), (np.arange(3),)),
    (lambda a: np.pad(a, 2, constant_values=3.0), (V,)),
    (lambda a: np.pad(a, -2), (V,)),
    (lambda a, n: np.pad(a, n), (V, 3)),
    (lambda a, b: np.linalg.solve(a, b), (np.ones((3, 3)), W)),
    (lambda a, b: np.linalg.solve(a, b), (M, W)),
    (lambda a, b: np.linalg.solve(a, b), (np.array([[2, 1], [1, 3]]), INTS[:2])),
    (lambda a: np.linalg.inv(a), (np.zeros((2, 2)),)),
    (lambda a: np.linalg.det(a), (np.zeros((0, 0)),)),
    (lambda a: np.linalg.slogdet(a), (np.zeros((2, 2)),)),
    (lambda a: np.linalg.cholesky(a @ a.swapaxes(1, 2) + np.eye(4)), (STACK,)),
    (lambda a: np.linalg.cholesky(a), (-np.eye(3),)),
    (lambda a: np.linalg.norm(a), (np.zeros(0),)),
    (lambda a, b: a @ b, (STACK, normal(3, 3, 2))),
    (lambda a, b: a @ b, (STACK, normal(2, 4, 2))),
    (lambda a, b: a @ b, (np.arange(8).reshape(2, 2, 2), np.ones((2, 2, 1), int))),
    (lambda a: np.linalg.eigvalsh(a), (np.eye(3),)),
    (lambda a: np.linalg.eigvalsh(a), (np.zeros((3, 3)),)),
    (lambda a: np.linalg.eigvalsh(a), (np.ones((6, 6)),)),
    (lambda a: np.linalg.eigvalsh(a), (np.diag(np.arange(5.0)[::-1]),)),
    (lambda a: np.linalg.eigvalsh(a), (M,)),
    (lambda a: np.linalg.svd(a, compute_uv=False), (np.ones((3, 3)),)),
    (lambda a: np.linalg.svd(a, compute_uv=False), (np.zeros((3, 2)),)),
    (lambda a: np.linalg.matrix_rank(a), (np.ones((3, 3)),)),
    (lambda a: np.linalg.matrix_rank(a), (M,)),
    (lambda a: np.linalg.pinv(a), (np.ones((3, 2)),)),
    (lambda a, b: np.linalg.lstsq(a, b), (np.ones((4, 2)), normal(4))),
    (lambda a, b: np.linalg.lstsq(a, b), (normal(5, 3), normal(4))),
    (lambda a: np.linalg.matrix_power(a, 0), (normal(3, 3),)),
    (lambda a: linalg.expm(a), (np.zeros((3, 3)),)),
    (lambda a: linalg.expm(a), (30.0 * normal(3, 3),)),
]


def result(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What a call gives, or the type of what it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except (ValueError, ZeroDivisionError) as error:  # A LinAlgError is one.
            return type(error)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def assert_alike(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    found = leaves(result(cl.jit(function), args))
    expected = leaves(result(function, args))
    assert len(found) == len(expected)
    for ours, numpys in zip(found, expected, strict=True):
        if isinstance(numpys, type):
            assert ours is numpys
            continue
        assert np.shape(ours) == np.shape(numpys)
        assert np.asarray(ours).dtype.kind == np.asarray(numpys).dtype.kind
        np.testing.assert_allclose(ours, numpys, rtol=1e-9, atol=1e-11)


@pytest.mark.sweep(share=12)
@pytest.mark.parametrize(
    "row",
    [pytest.param(k, marks=marks(str(k), 2, "smooth")) for k in range(len(SMOOTH))],
)
def test_smooth(row: int) -> None:
    function, args = SMOOTH[row]
    assert_alike(function, args)
    cl.check_grads(function, args, atol=1e-5, rtol=1e-5)


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize(
    "row", [pytest.param(k, marks=marks(str(k), 2, "exact")) for k in range(len(EXACT))]
)
def test_edges(row: int) -> None:
    assert_alike(*EXACT[row])


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda a, b: np.einsum("ij,jk->ik", a, b), (M, normal(4, 2))),
        (lambda a, v: np.convolve(a, v), (V, W)),
        (lambda a: np.linalg.eigh(a)[0] ** 2, (normal(3, 3),)),
        pytest.param(
            lambda a: np.linalg.qr(a)[1], (normal(4, 3),), marks=pytest.mark.whole
        ),
        pytest.param(
            lambda a: np.linalg.svd(a, compute_uv=False),
            (normal(4, 3),),
            marks=pytest.mark.whole,
        ),
        pytest.param(
            lambda a: np.linalg.pinv(a), (normal(4, 3),), marks=pytest.mark.whole
        ),
        (lambda a: np.cov(a), (M,)),
    ],
)
def test_second_derivatives(function: Any, args: tuple[Any, ...]) -> None:
    assert_alike(function, args)
    cl.check_grads(function, args, order=2, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("function", "where"),
    [
        (lambda a: np.convolve(a, a[0]), "`np.convolve` takes a vector for `a`"),
        (lambda a: np.correlate(v=a, a=a[0]), "`np.correlate` takes a vector for `v`"),
        (lambda a: np.meshgrid(a[0], a[1], a), "a vector for `z`"),
        (lambda a: np.vander(a), "a vector for `x`"),
        (lambda a: np.polyfit(a[0], a.T, 1), "a vector for `y`"),
        (lambda a: np.gradient(a, a[0]), "one step for all axes, or"),
    ],
)
def test_arrays_of_other_axes(function: Any, where: str) -> None:
    with pytest.raises(cl.CompileError, match=re.escape(where)):
        cl.jit(function)(M)


def test_places_out_of_range() -> None:
    for function in (lambda a: np.delete(a, 7), lambda a: np.insert(a, -8, 1.0)):
        for each in (function, cl.jit(function)):
            with pytest.raises(
                IndexError, match="out of bounds for axis 0 with size 7"
            ):
                each(V)


@pytest.mark.sweep
def test_factors_make_the_matrix_again() -> None:
    for m, n in ((1, 1), (2, 2), (9, 4), (4, 9), (30, 30)):
        a = normal(m, n)
        u, s, vt = cl.jit(lambda a: np.linalg.svd(a, full_matrices=False))(a)
        q, r = cl.jit(lambda a: np.linalg.qr(a))(a)
        w, v = cl.jit(lambda a: np.linalg.eigh(a @ a.T))(a)
        k = min(m, n)
        for basis in (u, vt.T, q, v):
            unit = np.eye(basis.shape[1])
            np.testing.assert_allclose(basis.T @ basis, unit, atol=1e-13)
        assert u.shape == (m, k) and np.all(np.diff(s) <= 0.0)
        np.testing.assert_allclose(u * s @ vt, a, atol=1e-12)
        np.testing.assert_allclose(q @ r, a, atol=1e-12)
        np.testing.assert_allclose(v * w @ v.T, a @ a.T, atol=1e-11)


@pytest.mark.sweep
def test_vectors_of_zero_singular_values_are_a_basis() -> None:
    for a in (np.zeros((4, 3)), np.ones((5, 3)), np.outer(np.arange(4.0), np.ones(4))):
        u, s, vt = cl.jit(lambda a: np.linalg.svd(a, full_matrices=False))(a)
        np.testing.assert_allclose(u.T @ u, np.eye(u.shape[1]), atol=1e-13)
        np.testing.assert_allclose(u * s @ vt, a, atol=1e-12)


def test_slopes_where_eigenvalues_are_equal() -> None:
    """A function of the matrix alone: the trace of its exponential."""
    f = cl.jit(lambda a: np.sum(np.exp(np.linalg.eigvalsh(a))))
    by_a = cl.grad(f)(np.eye(3))
    np.testing.assert_allclose(by_a, np.e * np.eye(3), atol=1e-12)


def test_singles_stay_so() -> None:
    single = M.astype(np.float32)
    for function in (
        lambda a: np.median(a, axis=0),
        lambda a: np.nanmean(a, axis=1),
        lambda a: np.einsum("ij,kj->ik", a, a),
        lambda a: np.pad(a, 1),
    ):
        found = cl.jit(function)(single)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, function(single), rtol=1e-5)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda a: np.einsum("ijk->", a), "`ijk` is for 3 dimensions, not 2"),
        (lambda a: np.einsum("ij,jk", a), "2 operands are named, 1 given"),
        (lambda a: np.einsum("...j->j", a), "subscripts are letters"),
        (lambda a: np.einsum("ij->k", a), "an index twice, or one of no operand"),
        (lambda a: np.pad(a, (1, 2, 3)), "a width, two, or two for each axis"),
        (lambda a: np.pad(a, 1, mode="mean"), "mode is one of constant"),
        (lambda a: np.kron(a, 2.0), "vectors and matrices"),
        (lambda a: np.gradient(a, edge_order=3), "`edge_order` is 1 or 2"),
        (lambda a: np.gradient(a, 1.0, 2.0, 3.0), "one for each axis"),
        (lambda a: np.linalg.qr(a, mode="complete"), "mode is 'reduced' or 'r'"),
        (lambda a: np.linalg.qr(a[0]), "a matrix is expected"),
        (lambda a: np.tensordot(a, a, axes=((0, 1), (0,))), "as many axes"),
        (lambda a: np.kron(a), "missing a required argument"),
    ],
)
def test_what_is_refused(function: Any, reason: str) -> None:
    with pytest.raises(cl.CompileError, match="CL0618") as raised:
        cl.jit(function)(M)
    assert reason in str(raised.value)


def test_sizes_of_an_index_are_equal() -> None:
    with pytest.raises(ValueError, match="index 'j' do not match") as raised:
        cl.jit(lambda a: np.einsum("ij,jk->ik", a, a))(M)
    line = test_sizes_of_an_index_are_equal.__code__.co_firstlineno + 2
    assert f"test_numpy.py:{line}, in lambda" in str(raised.value)


def test_a_matrix_that_is_not_square_asks_for_thin_factors() -> None:
    with pytest.raises(ValueError, match="full_matrices=False"):
        cl.jit(lambda a: np.linalg.svd(a))(M)


@pytest.mark.sweep
def test_nan_has_no_eigenvalues() -> None:
    a = np.full((2, 2), np.nan)
    for function in (
        lambda a: np.linalg.eigvalsh(a),
        lambda a: np.linalg.svdvals(a),
    ):
        with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
            cl.jit(function)(a)


def test_matrices_without_elements() -> None:
    condition = cl.jit(lambda a: np.linalg.cond(a))
    with pytest.raises(np.linalg.LinAlgError, match="is not defined on empty arrays"):
        condition(np.ones((0, 0)))
    rank = cl.jit(lambda a: np.linalg.matrix_rank(a))
    assert [rank(np.ones(sizes)) for sizes in ((0, 0), (0, 3), (2, 0))] == [0, 0, 0]
    average = cl.jit(lambda a, w: np.average(a, axis=1, weights=w))
    assert average(np.ones((0, 2)), np.ones(2)).tolist() == []
    with pytest.raises(ZeroDivisionError, match="Weights sum to zero"):
        average(np.ones((0, 0)), np.ones(0))


def test_reciprocals_of_integers() -> None:
    reciprocal = cl.jit(lambda a: np.reciprocal(a))
    with pytest.raises(ZeroDivisionError):
        reciprocal(INTS)
