"""Linear algebra by NumPy's and SciPy's functions."""

from __future__ import annotations

import numpy as np
import scipy.linalg

import chadllvm as cl
from programs.case import case

A = np.array(
    [[0.2, -1.2, 0.4, 1.0], [1.9, 0.7, -0.3, 0.5], [0.2, 1.1, 2.3, -0.7], [1, 2, -1, 3]]
)
S = A @ A.T + np.eye(4)
B = np.array([0.7, -1.3, 0.4, 2.1])
C = np.array([[0.7, -1.3], [0.4, 2.1], [0.3, -0.8], [1.1, 0.6]])


@case(A, B)
@case(np.array([[2.0]]), np.array([3.0]))
@cl.jit
def solution(a: cl.f64[:, :], b: cl.f64[:]) -> float:
    x = np.linalg.solve(a, b)
    return np.sum(x * x)


@case(A, C)
@cl.jit
def several_right_sides(a: cl.f64[:, :], b: cl.f64[:, :]) -> float:
    x = np.linalg.solve(a, b)
    return np.sum(x * x * x) + np.sum(np.linalg.solve(a.T, b) * x)


@case(A)
@cl.jit
def inverted(a: cl.f64[:, :]) -> float:
    x = np.linalg.inv(a)
    return np.sum(x * a.T) + x[0, 1] * x[2, 3]


@case(A)
@case(np.array([[3.0]]))
@case(np.array([[0.0, 1.0], [2.0, 3.0]]))
# Singular ones, for which the gradient is that of the cofactors.
@case(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]))
@case(np.array([[0.0, 2.0, 3.0], [0.0, 4.0, 5.0], [0.0, 0.0, 1.0]]))
@case(np.array([[0.0]]))
@cl.jit
def determinant(a: cl.f64[:, :]) -> float:
    return np.linalg.det(a)


@case(A)
@case(-S[:3, :3])
@cl.jit
def log_determinant(a: cl.f64[:, :]) -> float:
    sign, log = np.linalg.slogdet(a)
    return sign * log


@case(S)
@cl.jit
def cholesky_factor(a: cl.f64[:, :]) -> float:
    c = np.linalg.cholesky(a)
    return np.sum(c * c * c) + c[3, 1]


@case(S, B)
@cl.jit
def normal_log_density(cov: cl.f64[:, :], x: cl.f64[:]) -> float:
    c = np.linalg.cholesky(cov)
    z = scipy.linalg.solve_triangular(c, x, lower=True)
    return -0.5 * np.sum(z * z) - np.sum(np.log(np.diag(c)))


@case(A, B)
@cl.jit
def triangles(a: cl.f64[:, :], b: cl.f64[:]) -> float:
    u = scipy.linalg.solve_triangular(a, b)
    v = scipy.linalg.solve_triangular(a, u, trans="T")
    w = scipy.linalg.solve_triangular(a, v, lower=True, unit_diagonal=True)
    return np.sum(u * v) + np.sum(w * w)


@case(A, C)
@cl.jit
def triangles_of_matrices(a: cl.f64[:, :], b: cl.f64[:, :]) -> float:
    u = scipy.linalg.solve_triangular(a, b, trans=1)
    v = scipy.linalg.solve_triangular(a, u, lower=True, trans=1)
    return np.sum(u * v * v)


@case(S, C)
@cl.jit
def by_cholesky(a: cl.f64[:, :], b: cl.f64[:, :]) -> float:
    lower = scipy.linalg.cholesky(a, lower=True)
    upper = scipy.linalg.cholesky(a)
    x = scipy.linalg.cho_solve((lower, True), b)
    y = scipy.linalg.cho_solve((upper, False), b[:, 0])
    return np.sum(x * x) + np.sum(y * b[:, 1]) + np.sum(upper * lower)


@case(S, C)
@cl.jit
def by_pairs(a: cl.f64[:, :], b: cl.f64[:, :]) -> float:
    pair = scipy.linalg.cho_factor(a)
    x = scipy.linalg.cho_solve(pair, b)
    y = scipy.linalg.cho_solve(scipy.linalg.cho_factor(a, lower=True), b[:, 0])
    return np.sum(x * x) + np.sum(y * b[:, 1])


@case(S, B, True)
@case(S, B, False)
@cl.jit
def either_triangle(a: cl.f64[:, :], b: cl.f64[:], lower: bool) -> float:
    return np.sum(scipy.linalg.cho_solve((a, lower), b) ** 2)


@case(A, B)
@cl.jit
def norms(a: cl.f64[:, :], x: cl.f64[:]) -> float:
    by_row = np.linalg.norm(a, axis=1)
    by_column = np.linalg.norm(a, 1, axis=0)
    whole = np.linalg.norm(a) * np.linalg.norm(x, 1) + np.linalg.norm(a, "fro")
    return whole + np.linalg.norm(x, np.inf) + np.sum(by_row**3) + by_column[1]


@case(np.zeros(0), 2.0)
@case(np.array([0.5, -2.0]), 2.0)
@cl.jit
def largest_of_any(x: cl.f64[:], y: float) -> float:
    return y * np.linalg.norm(x, np.inf) + np.linalg.norm(x, 1) * y * y


@case(np.zeros(3), 2.0)
@cl.jit
def norm_at_the_origin(x: cl.f64[:], y: float) -> float:
    return np.linalg.norm(x) * np.linalg.norm(x) + y * y


@case(A, B)
@cl.jit
def ridge_regression(a: cl.f64[:, :], b: cl.f64[:]) -> float:
    weights = np.linalg.solve(a.T @ a + 0.1 * np.eye(4), a.T @ b)
    rest = a @ weights - b
    return rest @ rest


@case(S, B, 3)
@cl.jit
def newton_steps(a: cl.f64[:, :], b: cl.f64[:], steps: int) -> float:
    """Minimise ½ x·a·x + ¼ Σ x⁴ - b·x."""
    x = np.zeros(len(b))
    for _ in range(steps):
        slope = a @ x + x**3 - b
        x = x - np.linalg.solve(a + np.diag(3.0 * x * x), slope)
    return b @ x


@case(S, B)
@cl.jit
def kalman_update(p: cl.f64[:, :], x: cl.f64[:]) -> float:
    h = np.array([[1.0, 0.0, 0.5, 0.0], [0.0, 1.0, 0.0, -0.5]])
    s = h @ p @ h.T + 0.3 * np.eye(2)
    gain = p @ h.T @ np.linalg.inv(s)
    after = p - gain @ h @ p
    seen = x[:2] - h @ x
    return np.sum(np.linalg.solve(s, seen) * seen) + np.linalg.slogdet(after)[1]


@case(np.array([[2, 1], [1, 3]]), np.array([1.0, 2.0]))
@cl.jit
def integer_matrix(a: cl.i64[:, :], b: cl.f64[:]) -> float:
    x = np.linalg.solve(a, b)
    return x @ x * np.linalg.det(a)
