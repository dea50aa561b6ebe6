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


def exchanged_in_few_steps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x, y = a, b
        for _ in range(i % 3 if i < 6 else 0):
            x, y = y, np.sin(x)
        s += x[i] * y[-1 - i]
    return s


def rotated_in_few_steps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x, y, z = a, b, c
        k = 2 if i == 4 else 0
        while k > 0:
            x, y, z = y, z, x * y
            k -= 1
        s += x[i] * y[0] + z[i]
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


def in_three_loops(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x = b
        for j in range(2):
            for _ in range(2):
                k = 1 if i == 3 + j else 0
                while k > 0:
                    x = np.sin(x) + c
                    k -= 1
        s += x[i] * a[i]
    return s


def slice_in_two_loops(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x = b[i:]
        for j in range(2):
            for _ in range(1 if i == 3 + j else 0):
                x = np.sin(x)
        s += x[0] * a[i]
    return s


def sliced_in_a_step(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x = b
        for k in range(1 if i == 3 else 0):
            x = np.cos(x[k:])
        s += x[i - 1 if i > 0 else 0] * a[i]
    return s


def sliced_behind(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    x = b
    for i in range(len(a)):
        for _ in range(1 if i == 3 else 0):
            x = np.sin(x)
        s += x[0] * a[i]
        x = x[1:]
    return s


def two_states_sliced(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x, y = b[i:], c
        for _ in range(1 if i < 4 else 0):
            x, y = y, np.sin(x)
        s += x[0] * y[0] * a[i]
    return s


def reversed_part(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x = b[::-1]
        for _ in range(1 if i == 3 else 0):
            x = x * 0.5
        s += x[i] * a[i]
    return s


def column_part(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    m = np.stack((a, b, c), axis=1)
    s = 0.0
    for i in range(len(a)):
        x = m[:, i % 3]
        k = 0
        while k < 2 and i == 5:
            x = np.exp(-x * x)
            k += 1
        s += x[i] * a[i]
    return s


def slice_left_at_once(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        x = b[i // 2 :]
        for _ in range(3):
            if i != 7:
                break
            x = x + 1.0
        s += x[0] * c[i]
    return s


def kept_for_later(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    x = b
    for i in range(len(a)):
        y = x
        for j in range(2):
            for _ in range(1 if i == 4 + j else 0):
                y = y * c
        if i == 6:
            x = y
        s += y[i] * x[-1]
    return s


def updated_in_each_step(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    x = b.copy()
    for i in range(len(a)):
        for j in range(2):
            for _ in range(1 if i == 4 + j else 0):
                x = np.sin(x)
            x[i] = a[i] * x[0]
        s += x[i] * c[i]
    return s


def taken_over(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a) - 2):
        x, y = a[i : i + 2], b
        for _ in range(i % 2):
            x, y = y, np.sin(x)
        s += x[0] * y[1]
    return s


def taken_over_twice(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a) - 2):
        x, y, z = a[i : i + 2], b[:2], c
        for _ in range(i % 3):
            x, y, z = y, z, np.sin(x)
        s += x[0] * z[1]
    return s


def taken_over_in_a_while(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a) - 2):
        x, y = a[i : i + 2], b
        t = 0.5 if i % 2 else 2.0
        while t < 1.0:
            x, y = y, np.sin(x)
            t += 1.0
        s += x[0]
    return s


def never_run_in_a_branch(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s, k = 0.0, 1 if c[0] < 100.0 else 4
    for i in range(len(a)):
        x = b
        if k > 0:
            for _ in range(k - 1):
                x = np.sin(x)
        s += x[i]
    return s


def never_run_while(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s, most = 0.0, 0.0 if c[0] < 100.0 else 4.0
    for i in range(len(a)):
        x, t = b, 0.0
        while t < most:
            x = np.sin(x)
            t += 1.0
        s += x[i]
    return s


PROGRAMS = (
    while_without_steps,
    loop_without_steps,
    left_at_once,
    two_without_steps,
    exchanged_in_few_steps,
    rotated_in_few_steps,
    made_in_some_steps,
    updated_in_some_steps,
    row_or_made,
    in_three_loops,
    slice_in_two_loops,
    sliced_in_a_step,
    sliced_behind,
    two_states_sliced,
    reversed_part,
    column_part,
    slice_left_at_once,
    kept_for_later,
    updated_in_each_step,
    taken_over,
    taken_over_twice,
    taken_over_in_a_while,
    never_run_in_a_branch,
    never_run_while,
)
