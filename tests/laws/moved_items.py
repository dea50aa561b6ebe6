"""Elements of lists that move to other places: `pop(k)`, `insert`, `remove`."""

from __future__ import annotations

import chadllvm as cl


def moving_window(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    window = []
    s = 0.0
    for k in range(len(a)):
        window.append(a[k] * b[k])
        if len(window) > 4:
            s += window.pop(0) * c[k]
        s += window[-1] * window[0]
    return s


def queue_of_arrays(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    queue = [a, b, c]
    s = 0.0
    for k in range(len(a)):
        first = queue.pop(0)
        s += first[k] * queue[0][-k]
        queue.append(first)
    return s


def front_of_arrays(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    front = [a, b]
    s = 0.0
    for k in range(len(a)):
        if c[k] > 0.5:
            front.insert(0, front.pop())
        s += front[0][k] * front[1][0]
    return s


def all_inserted(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    found = []
    for k in range(len(a)):
        found.insert(len(found) - 2, a[k] * b[k])
    found.remove(found[len(found) // 3])
    s = 0.0
    for k in range(len(found)):
        s += found[k] * c[k]
    return s


def rebuilt_after_clear(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    batch = []
    s = 0.0
    for k in range(len(a)):
        batch.append(a[k] * b[k])
        if len(batch) == 3:
            s += batch[0] * batch[1] * batch[2] + c[k]
            batch.clear()
    return s


PROGRAMS = (
    moving_window,
    queue_of_arrays,
    front_of_arrays,
    all_inserted,
    rebuilt_after_clear,
)
