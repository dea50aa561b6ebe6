"""Derivatives inside of programs, differentiated again."""

import math

import numpy as np

import chadllvm as cl
from programs.case import case


@cl.jit
def energy(x: float, a: cl.f64[:]) -> float:
    return np.sum(np.exp(a * x) * a)


@case(1.1, np.array([0.3, 0.5, -0.2]))
@cl.jit
def gradient_inside(x: float, a: cl.f64[:]) -> float:
    value, by_a = cl.value_and_grad(energy, argnums=1)(x, a)
    return value + cl.grad(energy)(x, a) + np.dot(by_a, by_a)


slope = cl.grad(energy)


@case(1.1, np.array([0.3, 0.5, -0.2]))
@cl.jit
def gradient_from_outside(x: float, a: cl.f64[:]) -> float:
    return slope(x, a) * x + slope(2.0 * x, a)


@case(1.1, np.array([0.3, 0.5, -0.2]))
@cl.jit
def direction_inside(x: float, a: cl.f64[:]) -> float:
    out, moved = cl.jvp(energy, (x, a), (1.0, a * a))
    return out * moved


@case(1.1, np.array([0.3, 0.5, -0.2]))
@cl.jit
def hessian_times_vector(x: float, a: cl.f64[:]) -> float:
    gradient = cl.grad(energy, argnums=1)
    found, moved = cl.jvp(gradient, (x, a), (None, a))
    return np.sum(moved * found)


@case(1.5, 2.0)
@cl.jit
def newton(start: float, p: float) -> float:
    def f(x):
        return x**3 - p * x - 1.0

    x = start
    for _ in range(6):
        x = x - f(x) / cl.grad(f)(x)
    return x


@case(0.4, 0.9)
@cl.jit
def second_of_local(x: float, y: float) -> float:
    def f(t):
        return math.sin(t * y) * t

    return cl.grad(cl.grad(f))(x) + cl.grad(f)(y)


@case(0.4, 0.9)
@cl.jit
def nested_variables(x: float, y: float) -> float:
    """Each derivative is by a variable of its own."""

    def outer(a):
        def inner(b):
            return a * b * b * y

        return a * cl.grad(inner)(a)

    return cl.grad(outer)(x)


@case(np.array([0.5, -1.0, 2.0]), 0.1)
@cl.jit
def descent(x: cl.f64[:], rate: float) -> float:
    def loss(v):
        return np.sum(v**4) * 0.25 + np.dot(v, x)

    v = np.zeros(3)
    for _ in range(10):
        v = v - rate * cl.grad(loss)(v)
    return loss(v)


@cl.jit
def scaled(t: float, b: cl.f64[:]):
    return b * t


@case(1.1, np.array([0.3, 0.5, -0.2]))
@cl.jit
def pulled_back(x: float, a: cl.f64[:]) -> float:
    out, back = cl.vjp(scaled, x, a)
    by_x, by_a = back(2.0 * out)
    return by_x + np.sum(by_a) + back(out)[0]


@cl.jit
def with_auxiliary(x: float, n: int):
    y = x**n
    return y * y, (y, n)


@case(1.3, 3)
@cl.jit
def auxiliary_inside(x: float, n: int) -> float:
    (value, (y, k)), by_x = cl.value_and_grad(with_auxiliary, has_aux=True)(x, n)
    return value + y * by_x + k


@case(0.3, 0.7, True)
@case(0.3, 0.7, False)
@cl.jit
def gradient_of_a_choice(x: float, y: float, flag: bool) -> float:
    def first(t):
        return t * t * y

    def second(t):
        return math.exp(t * y)

    f = first if flag else second
    return cl.grad(f)(x)


@cl.jit
def grown(x: cl.f64[:]):
    return np.exp(x) * x[0]


@case(np.array([0.5, -0.2, 1.1]), 3)
@cl.jit
def pulled_back_often(x: cl.f64[:], n: int) -> float:
    """By a loop, and by a function that is handed the pullback."""
    out, back = cl.vjp(grown, x)

    def squares(pull, n):
        total = 0.0
        for k in range(n):
            (moved,) = pull(out * k)
            total += np.sum(moved * moved)
        return total

    total = squares(back, 2)
    for k in range(n):
        (moved,) = back(back(x * k)[0])
        total += np.sum(moved)
    return total


@case(np.array([0.5, -0.2, 1.1]), True)
@cl.jit
def pullbacks_kept(x: cl.f64[:], flag: bool) -> float:
    """In a list, and out of a branch."""
    pulls = [cl.vjp(grown, x * k)[1] for k in range(3)]
    out, back = cl.vjp(grown, x) if flag else cl.vjp(lambda v: v * v, x)
    total = np.sum(back(out)[0] * back(x)[0])
    for pull in pulls:
        total += np.sum(pull(x)[0])
    return total


@case(np.array([0.5, -0.2, 1.1]))
@cl.jit
def pulled_back_and_changed(x: cl.f64[:]) -> float:
    """A pullback is that of the values at the time."""
    out, back = cl.vjp(grown, x)
    ct = out * 2.0
    out[0] = 10.0
    (first,), (second,) = back(ct), back(out)
    return np.sum(first * second) * 1e-3


@case(0.7)
@cl.jit
def pulled_back_twice(x: float) -> float:
    def g(y):
        out, back = cl.vjp(lambda t: math.exp(t) * t * y, y)
        return back(out * y)[0] * back(y)[0]

    value, back = cl.vjp(g, x)
    return back(value)[0] * back(0.5)[0]


@cl.jit
def spring(x: cl.f64[:], k: float):
    return np.sin(x * k) + x[0] * x


@case(np.array([0.5, -0.2, 0.3]), 0.8)
@cl.jit
def jacobians_inside(x: cl.f64[:], k: float) -> float:
    by_x = cl.jacfwd(spring)(x, k)
    by_both = cl.jacrev(spring, argnums=(0, "k"))(x * k, k)
    twisted, scale = cl.jacrev(lambda v: (v * v, k), has_aux=True)(x)
    return np.sum(by_x @ by_both[0]) + by_both[1][1] * scale + twisted[2, 2]


@case(np.array([0.5, -0.2]), 0.8)
@cl.jit
def hessians_inside(x: cl.f64[:], k: float) -> float:
    def well(y, s=k):
        return np.sum(np.exp(y * s)) * x[0]

    full = cl.hessian(well)(x)
    return np.sum(full * full) + np.sum(cl.hvp(well)(x, k, x * k))


@case(np.array([0.5, -0.2, 0.3]), 0.8)
@cl.jit
def linear_maps(x: cl.f64[:], k: float) -> float:
    out, moved = cl.linearize(spring, x, k)
    total = np.sum(out)
    for n in range(2):
        total += np.sum(moved(x * n, 1.0))
    return total + np.sum(moved(moved(out, None), 0.5))
