"""Inner loops that seldom have a step: then what they hand on is an old array."""

from __future__ import annotations

import numpy as np

import chadllvm as cl


def while_without_steps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x = b
        k = 1 if i == 3 else 0
        while k > 0:
            x = np.sin(x)
            k -= 1
        s += x[i] * a[i]
    return s


def loop_without_steps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x = b
        for _ in range(1 if i == 3 else 0):
            x = np.sin(x)
        s += x[i] * a[i]
    return s


def left_at_once(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x = b
        for _ in range(i % 2 if i < 4 else 0):
            if a[i] > 100.0:
                break
            x = x * 0.5 + c
        s += x[i] * a[i]
    return s


def two_without_steps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x, y = b, c
        for _ in range(1 if i < 4 else 0):
            x, y = y * 0.5, x + a
        s += x[i] * y[-1 - i]
    return s


def made_in_some_steps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x = b
        for k in range(2):
            if i == 5 + k:
                x = np.cos(x)
        s += x[i] * a[i]
    return s


def updated_in_some_steps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x = b
        for k in range(2 if i == 3 else 0):
            x = x * 0.5
            x[k] = 1.0
        s += x[i] * a[i]
    return s


def row_or_made(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    m = np.stack((a, b, c))
    for i in range(len(a)):
        x = m[i % 3]
        for _ in range(1 if i == 3 else 0):
            x = np.sin(x)
        s += x[i] * a[i]
    return s


PROGRAMS = (
    while_without_steps,
    loop_without_steps,
    left_at_once,
    two_without_steps,
    made_in_some_steps,
    updated_in_some_steps,
    row_or_made,
)
