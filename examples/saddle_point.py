"""Find a saddle point by gradient descent inside of gradient descent.

A charge between two others on a line is at rest where its potential is least along the
line and greatest across it: the place is a minimum over x of maxima over y. Both are
found by the same descent, with steps whose length follows what they achieve; the outer
one differentiates through the inner one. Each of the two takes its gradients in forward
or in reverse mode, and all four ways agree. How the place moves with the charges is one
derivative more, through both descents. (The nesting of minima over maxima is a classic
test of such systems, due to J. M. Siskind and B. A. Pearlmutter.)

    python examples/saddle_point.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import chadllvm as cl

Vector = NDArray[np.float64]
Objective = Callable[[Vector], float]
Gradients = Callable[[Objective], Callable[[Vector], Vector]]

STEPS = 1000  # After which a descent is given up.


class Place(NamedTuple):
    """The variables of the two descents."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]


# ---- gradients in both modes


@cl.jit
def forward(f: Objective) -> Callable[[Vector], Vector]:
    """The gradient of f by tangents, one for each variable."""

    def gradient(x: cl.f64[:]) -> cl.f64[:]:
        return np.array([cl.jvp(f, (x,), (unit,))[1] for unit in np.eye(len(x))])

    return gradient


@cl.jit
def reverse(f: Objective) -> Callable[[Vector], Vector]:
    """The gradient of f by one cotangent."""
    return cl.grad(f)


# ---- descents


@cl.jit
def minimiser(
    f: Objective, start: cl.f64[:], gradient: Gradients, tolerance: float, most: int
) -> cl.f64[:]:
    """Where f is least, by gradient descent.

    A step that does not make f smaller is taken back and halved; after ten good ones
    the next are doubled.

    Args:
        f: what is minimised, of a vector.
        start: where the descent begins.
        gradient: takes f to its gradient.
        tolerance: the length of the gradient, or of a step, that ends the descent.
        most: no more steps than this.
    """
    x, value, slope = start, f(start), gradient(f)(start)
    length, good = 1e-1, 0
    for _ in range(most):
        if np.linalg.norm(slope) <= tolerance:
            break
        if good == 10:
            length, good = 2.0 * length, 0
        new = x - length * slope
        if np.linalg.norm(new - x) <= 1e-3 * tolerance:
            break
        reached = f(new)
        if reached < value:
            x, value, slope = new, reached, gradient(f)(new)
            good += 1
        else:
            length, good = 0.5 * length, 0
    return x


@cl.jit
def saddle(
    f: Callable[[Vector, Vector], float],
    start: Place,
    outer: Gradients,
    inner: Gradients,
    tolerance: float,
    most: int,
) -> Place:
    """Where the greatest value of f over y is least over x.

    `outer` and `inner` take functions of x and of y to their gradients.
    """

    def highest(x: cl.f64[:]) -> cl.f64[:]:
        """The y at which f is greatest for an x."""
        return minimiser(lambda y: -f(x, y), start.y, inner, tolerance, most)

    def height(x: cl.f64[:]) -> float:
        return f(x, highest(x))

    x = minimiser(height, start.x, outer, tolerance, most)
    return Place(x, highest(x))


# ---- two problems


@cl.jit
def sheet(x: cl.f64[:], y: cl.f64[:]) -> float:
    """A quadratic form whose saddle point is at zero."""
    across = 0.3 * (x[0] * y[1] - x[1] * y[0])
    return float(np.dot(x, x) - np.dot(y, y) + across)


@cl.jit
def potential(charges: cl.f64[:], x: cl.f64[:], y: cl.f64[:]) -> float:
    """Of a charge at (x, y), between charges at (-1, 0) and (1, 0)."""
    left = np.sqrt((x[0] + 1.0) ** 2 + y[0] ** 2)
    right = np.sqrt((x[0] - 1.0) ** 2 + y[0] ** 2)
    return float(charges[0] / left + charges[1] / right)


@cl.jit
def rest(
    charges: cl.f64[:],
    outer: Gradients,
    inner: Gradients,
    tolerance: float = 1e-7,
    most: int = STEPS,
) -> float:
    """Where on the line between two charges a third one is at rest."""
    start = Place(np.array([0.1]), np.array([0.2]))

    def field(x: cl.f64[:], y: cl.f64[:]) -> float:
        return potential(charges, x, y)

    return float(saddle(field, start, outer, inner, tolerance, most).x[0])


def exact_rest(charges: Vector) -> float:
    """Where the two forces are equal: (1 + x)² / (1 - x)² is the charges' ratio."""
    root = np.sqrt(charges[0] / charges[1])
    return float((root - 1.0) / (root + 1.0))


WAYS = [(outer, inner) for outer in (forward, reverse) for inner in (forward, reverse)]


def main() -> None:
    """Find both saddle points in all four ways."""
    start = Place(np.array([1.0, 1.0]), np.array([1.0, 1.0]))
    charges = np.array([2.0, 1.0])
    print(f"exactly: at zero, and at {exact_rest(charges):.7f}")
    for outer, inner in WAYS:
        names = f"{outer.py_func.__name__} over {inner.py_func.__name__}"
        found = saddle(sheet, start, outer, inner, 1e-7, STEPS)
        place = rest(charges, outer, inner)
        by_charges = cl.grad(rest)(charges, outer, inner)
        begun = time.perf_counter()
        rest(charges, outer, inner)
        taken = 1e3 * (time.perf_counter() - begun)
        largest = max(np.abs(np.concatenate(found)))
        print(f"{names}: {largest:.1e} off, and at {place:.7f} ({taken:.1f} ms),")
        print(f"    which moves by {by_charges[0]:.5f} and {by_charges[1]:.5f}")


if __name__ == "__main__":
    main()
