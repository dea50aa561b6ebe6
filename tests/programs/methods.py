"""Numerical methods whose loops stop by themselves."""

from __future__ import annotations

import math

import numpy as np

import chadllvm as cl
from programs.case import case

M = np.array([[2.6, -0.2, 0.4], [-0.2, 1.7, -0.3], [0.4, -0.3, 3.3]])


@case(0.5, 1.5)
@cl.jit
def adaptive_steps(rate: float, end: float) -> float:
    """Heun's method; a step is rejected if its error is too large."""
    t, y, h = 0.0, 1.0, 0.7
    steps = 0
    while t < end:
        steps += 1
        if steps > 1000:
            raise RuntimeError("too many steps")
        h = min(h, end - t)
        slope = -rate * y + math.sin(t)
        ahead = y + h * slope
        other = -rate * ahead + math.sin(t + h)
        error = abs(0.5 * h * (other - slope))
        if error > 1e-2:
            h = 0.5 * h
            continue
        t += h
        y += 0.5 * h * (slope + other)
        if error < 1e-3:
            h = 2.0 * h
    return y


@case(0.7, 2.2)
@cl.jit
def lentz_fraction(a: float, x: float) -> float:
    """A continued fraction of the incomplete gamma function, by Lentz' method."""
    tiny = 1e-300
    b = x + 1.0 - a
    c = 1.0 / tiny
    d = 1.0 / b
    h = d
    i = 1
    while True:
        an = -i * (i - a)
        b += 2.0
        d = an * d + b
        if abs(d) < tiny:
            d = tiny
        c = b + an / c
        if abs(c) < tiny:
            c = tiny
        d = 1.0 / d
        delta = d * c
        h *= delta
        if abs(delta - 1.0) < 1e-13:
            break
        i += 1
        assert i < 500, "the fraction does not converge"
    return math.exp(-x + a * math.log(x)) * h


@case(M)
@cl.jit
def power_iteration(m: cl.f64[:, :]) -> float:
    v = np.ones(len(m))
    value = 0.0
    while True:
        w = m @ v
        size = math.sqrt(np.sum(w * w))
        v = w / size
        if abs(size - value) < 1e-11:
            return size
        value = size


@case(1.3)
@cl.jit
def golden_section(a: float) -> float:
    ratio = 0.6180339887498949
    low, high = 0.0, 4.0
    c = high - ratio * (high - low)
    d = low + ratio * (high - low)
    while high - low > 0.01:
        if (c - a) ** 2 < (d - a) ** 2:
            high = d
        else:
            low = c
        c = high - ratio * (high - low)
        d = low + ratio * (high - low)
    return (low + high) * a


@case(np.array([1.5, -0.5]))
@cl.jit
def backtracking(start: cl.f64[:]) -> float:
    """Descent with steps that are halved until they help."""
    x = start.copy()
    value = np.sum(x**4) + x[0] * x[1]
    for _ in range(6):
        slope = 4.0 * x**3 + x[::-1]
        step = 1.0
        while True:
            y = x - step * slope
            new = np.sum(y**4) + y[0] * y[1]
            if new < value - 0.3 * step * np.sum(slope * slope):
                break
            step *= 0.5
            if step < 1e-8:
                return value
        x, value = y, new
    return value


@case(np.array([0.3, 0.5, 0.1, 0.9, 0.6, 0.2, 0.7, 0.3]), 1.4)
@cl.jit
def rejection(u: cl.f64[:], scale: float) -> float:
    """Numbers are drawn from a list until enough are accepted."""
    total = 0.0
    accepted = 0
    k = 0
    while accepted < 3:
        if k + 1 >= len(u):
            raise IndexError("out of random numbers")
        x, y = u[k] * scale, u[k + 1]
        k += 2
        if y > math.exp(-x):
            continue
        accepted += 1
        total += x * x
    return total / accepted


@case(np.array([0.2, 0.5, 0.9, 1.6]), 0.8)
@cl.jit
def events(times: cl.f64[:], rate: float) -> float:
    """A tank that leaks, and is filled at given times."""
    t, level, k = 0.0, 1.0, 0
    while t < 2.0:
        ahead = 2.0
        if k < len(times):
            ahead = times[k]
        level *= math.exp(-rate * (ahead - t))
        t = ahead
        if k < len(times):
            level += 0.5 * rate
            k += 1
    return level


@case(0.7)
@cl.jit
def series(x: float) -> float:
    """exp(x) until a term adds nothing."""
    total, term, k = 1.0, 1.0, 1
    while True:
        term = term * x / k
        before = total
        total = total + term
        if total == before:
            return total
        k += 1


@case(0.9, 0.3)
@cl.jit
def kepler(m: float, e: float) -> float:
    x = m
    for _ in range(100):
        step = (x - e * math.sin(x) - m) / (1.0 - e * math.cos(x))
        x -= step
        if abs(step) < 1e-14:
            break
    else:
        raise ArithmeticError("no convergence")
    return x
