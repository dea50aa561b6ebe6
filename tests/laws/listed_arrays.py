"""Lists of arrays that are there anyway: appended, popped, chosen and handed on."""

from __future__ import annotations

import numpy as np

import chadllvm as cl


def chosen_in_a_list(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a if c[i] > 0.0 else b for i in range(len(a))]
    s = 0.0
    for i in range(len(items)):
        s += items[i][i] ** 2
    return s


def appended_by_either(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = []
    for i in range(len(a)):
        if c[i] > 0.0:
            items.append(a)
        else:
            items.append(b)
    s = 0.0
    for i in range(len(items)):
        s += items[i][i] * items[i][0]
    return s


def best_appended(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    best = a
    items = []
    for i in range(len(a)):
        if b[i] > best[i]:
            best = b
        elif c[i] > best[i]:
            best = c
        items.append(best)
    s = 0.0
    for i in range(len(items)):
        s += items[i][i] * items[i][0]
    return s


def rows_appended(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    rows = np.outer(a[:5], b)
    items = []
    for i in range(len(b)):
        items.append(rows[i % 5])
    s = 0.0
    for i in range(len(items)):
        s += np.sum(items[i][:3]) * items[i][i] * c[i]
    return s


def pushed_and_popped(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a]
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.5 and len(items) > 1:
            items.pop()
        else:
            items.append(b)
        s += items[-1][i] * c[i]
    return s


def appended_again(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a, b]
    for i in range(len(a)):
        items.append(items[i] if c[i] > 0.0 else items[i + 1])
    s = 0.0
    for i in range(len(a)):
        s += items[i][i] * c[i]
    return s


def from_list_to_list(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items, others = [a, b], [b]
    for i in range(len(a)):
        if c[i] > 0.0:
            others.append(items[i % 2])
        else:
            items.append(others[-1])
    s = 0.0
    for v in items:
        s += v[1] * c[0]
    for v in others:
        s += v[2] * c[1]
    return s


def state_of_a_growing_list(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a]
    t = b
    for i in range(len(a)):
        if c[i] > 0.0:
            t = items[i // 2]
        items.append(t)
    s = 0.0
    for i in range(len(a)):
        s += items[i][i] * items[-1][0]
    return s


def list_turned(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a, b, c]
    s = 0.0
    for i in range(len(a)):
        items = [items[2], items[0], items[1]]
        s += items[0][i] * items[1][i]
    return s


def shifted_in(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a, b]
    s = 0.0
    for i in range(len(a)):
        items = [items[1], a if c[i] > 0.0 else b]
        s += items[0][i] * items[1][i]
    return s


def list_made_again(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a, b]
    for i in range(len(a)):
        if c[i] > 0.5:
            items = [b, a]
    return items[0][0] * items[1][1]


def pairs_appended(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [(a, b)]
    for i in range(len(a)):
        x, y = items[-1]
        items.append((y, x) if c[i] > 0.0 else (x, y))
    x, y = items[-1]
    return x[0] + y[1] * c[2]


def small_lists(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        items = []
        for j in range(3):
            items.append(a if c[(i + j) % len(a)] > 0.5 else b)
        s += items[i % 3][i]
    return s


def joined_lists(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        first, second = [a], [b]
        items = first + second
        s += items[i % 2][i] * c[i]
    return s


def made_and_listed(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    first, second = np.sin(a), a * b
    items = []
    for i in range(len(a)):
        items.append(first if c[i] > 0.0 else second)
    s = 0.0
    for i in range(len(a)):
        s += items[i][i] ** 2
    return s


def elements_swapped(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a, b, c]
    s = 0.0
    for i in range(len(a)):
        items[0], items[i % 3] = items[i % 3], items[0]
        s += items[0][i] * items[1][i]
    return s


def elements_replaced(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    items = [a, b]
    s = 0.0
    for i in range(len(a)):
        if c[i] > 0.0:
            items[i % 2] = c
        else:
            items[-1] = items[0]
        s += items[1][i] ** 2
    return s


def buffers_swapped(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    buffers = [np.sin(a), b * 2.0]
    s = 0.0
    for i in range(len(a)):
        buffers[0], buffers[1] = buffers[1], buffers[0]
        s += buffers[0][i] * c[i]
    return s


def turned_by_joining(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    buffers = [a, b, c]
    s = 0.0
    for i in range(len(a)):
        s += buffers[0][i] * buffers[1][i]
        buffers = buffers[1:] + buffers[:1]
    return s


def joined_or_cut(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    xs, ys = [a, b, c], [c, a]
    s = 0.0
    for i in range(len(a)):
        xs = xs + ys if len(xs) < 3 else xs[:2]
        s += xs[0][i] * ys[-1][0]
    return s


def popped_to_the_front(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    xs = [a, b, c]
    s = 0.0
    for i in range(len(a)):
        last = xs.pop()
        s += last[i] * xs[0][i]
        xs = [last, *xs]
    return s


def cut_and_appended(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    xs = [a, b, c]
    s = 0.0
    for i in range(len(a)):
        xs = xs[:2]
        xs.append(c if b[i] > 0.0 else a)
        s += xs[0][i] * xs[-1][0]
    return s


def parts_of_parts(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    xs = [a, b, c]
    s = 0.0
    for i in range(len(a)):
        ys = [*xs[1:], c]
        xs = ys[:2] + ys[:1] if c[i] > 0.0 else list(ys)
        s += xs[0][i]
    return s


def written_out_in_steps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a)):
        xs = [a]
        xs.append(b)
        if c[i] > 0.0:
            xs.append(c)
        s += xs[-1][i] * len(xs)
    return s


def of_two_lengths_in_steps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(len(a) - 1):
        xs = [a, b[1:]]
        t = xs[i % 2]
        s += t[i] * xs[0][-1] * c[i]
    return s


def halves_in_steps(a: cl.f64[:], b: cl.f64[:], c: cl.f64[:]) -> float:
    s = 0.0
    for i in range(1, len(a)):
        parts = [a[:i], a[i:]]
        s += parts[i % 2][0] * len(parts[0]) * c[i]
        for part in parts:
            s += part[-1] * b[i]
    return s


PROGRAMS = (
    chosen_in_a_list,
    appended_by_either,
    best_appended,
    rows_appended,
    pushed_and_popped,
    appended_again,
    from_list_to_list,
    state_of_a_growing_list,
    list_turned,
    shifted_in,
    list_made_again,
    pairs_appended,
    small_lists,
    joined_lists,
    made_and_listed,
    elements_swapped,
    elements_replaced,
    buffers_swapped,
    turned_by_joining,
    joined_or_cut,
    popped_to_the_front,
    cut_and_appended,
    parts_of_parts,
    written_out_in_steps,
    of_two_lengths_in_steps,
    halves_in_steps,
)
