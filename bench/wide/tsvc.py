"""Loops of the Test Suite for Vectorising Compilers (Callahan, Dongarra, Levine 1988).

The names are the suite's. Each returns a sum of what it wrote, as the suite does.
"""

from __future__ import annotations

import numpy as np

import chadllvm as cl
from bench.wide.kernel import Places, family

Vec = cl.f64[:]
Mat = cl.f64[:, :]
Ints = cl.i64[:]

N = 8000
SIDE = 90
tsvc = family("tsvc")


@tsvc((N,), (N,))
def s111(a0: Vec, b: Vec) -> float:
    """Linear dependence with a step of two."""
    a = a0.copy()
    for i in range(1, len(a), 2):
        a[i] = a[i - 1] + b[i]
    return np.sum(a)


@tsvc((N,), (N,))
def s112(a0: Vec, b: Vec) -> float:
    """A dependence that needs the loop in its order, from behind."""
    a = a0.copy()
    for i in range(len(a) - 2, -1, -1):
        a[i + 1] = a[i] + b[i]
    return np.sum(a)


@tsvc((N,), (N,))
def s113(a0: Vec, b: Vec) -> float:
    """A value that all steps read and none writes."""
    a = a0.copy()
    for i in range(1, len(a)):
        a[i] = a[0] + b[i]
    return np.sum(a)


@tsvc((SIDE, SIDE), (SIDE, SIDE))
def s114(aa0: Mat, bb: Mat) -> float:
    """A triangle reads the other one, transposed."""
    aa = aa0.copy()
    for i in range(len(aa)):
        for j in range(i):
            aa[i, j] = aa[j, i] + bb[i, j]
    return np.sum(aa)


@tsvc((SIDE, SIDE), (SIDE,))
def s115(aa: Mat, a0: Vec) -> float:
    """Forward substitution."""
    a = a0.copy()
    for j in range(len(a)):
        for i in range(j + 1, len(a)):
            a[i] -= aa[j, i] * a[j] * 0.01
    return np.sum(a)


@tsvc((SIDE, SIDE), (SIDE, SIDE))
def s119(aa0: Mat, bb: Mat) -> float:
    """A recurrence along diagonals."""
    aa = aa0.copy()
    for i in range(1, len(aa)):
        for j in range(1, len(aa)):
            aa[i, j] = aa[i - 1, j - 1] + bb[i, j]
    return np.sum(aa)


@tsvc((N,), (N,))
def s121(a0: Vec, b: Vec) -> float:
    """A read ahead of the write."""
    a = a0.copy()
    for i in range(len(a) - 1):
        a[i] = a[i + 1] + b[i]
    return np.sum(a)


@tsvc((N,), (N,), (N,), (N,))
def s124(b: Vec, c: Vec, d: Vec, e: Vec) -> float:
    """An index that counts in both branches."""
    a = np.zeros(len(b))
    j = -1
    for i in range(len(b)):
        j += 1
        if b[i] > 0.5:
            a[j] = b[i] + d[i] * e[i]
        else:
            a[j] = c[i] + d[i] * e[i]
    return np.sum(a)


@tsvc((N,), (N,), (N,))
def s151(a0: Vec, b: Vec, c: Vec) -> float:
    """Two statements that loop distribution may part."""
    a, d = a0.copy(), np.zeros(len(a0))
    for i in range(len(a) - 1):
        a[i] = b[i] * c[i]
        d[i] = a[i + 1] * b[i]
    return np.sum(a) + np.sum(d)


@tsvc((N,), (N,), (N,), (N,))
def s221(a0: Vec, b0: Vec, c: Vec, d: Vec) -> float:
    """A vector statement beside a recurrence."""
    a, b = a0.copy(), b0.copy()
    for i in range(1, len(a)):
        a[i] += c[i] * d[i]
        b[i] = 0.5 * b[i - 1] + a[i] + d[i]
    return np.sum(a) + np.sum(b)


@tsvc((N,), (N,), (N,))
def s222(a0: Vec, b: Vec, c: Vec) -> float:
    """A recurrence between two vector statements."""
    a, e = a0.copy(), np.ones(len(a0))
    for i in range(1, len(a)):
        a[i] += b[i] * c[i]
        e[i] = 0.9 * e[i - 1] * e[i - 1]
        a[i] -= b[i] * c[i] * 0.5
    return np.sum(a) + np.sum(e)


@tsvc((SIDE, SIDE), (SIDE, SIDE), (SIDE, SIDE))
def s231(aa0: Mat, bb: Mat, cc: Mat) -> float:
    """Loops in the order that is against the memory."""
    aa = aa0.copy()
    for i in range(len(aa)):
        for j in range(1, len(aa)):
            aa[j, i] = aa[j - 1, i] * cc[j, i] + bb[j, i]
    return np.sum(aa)


@tsvc((N,), (N,), (N,))
def s241(a0: Vec, b0: Vec, c: Vec) -> float:
    """A read ahead, and a product of what was written."""
    a, b = a0.copy(), b0.copy()
    for i in range(len(a) - 1):
        a[i] = b[i] * c[i]
        b[i] = a[i] * a[i + 1]
    return np.sum(a) + np.sum(b)


@tsvc((N,), (N,))
def s251(b: Vec, c: Vec) -> float:
    """A scalar that each step makes anew."""
    a = np.zeros(len(b))
    for i in range(len(b)):
        s = b[i] + c[i] * c[i]
        a[i] = s * s
    return np.sum(a)


@tsvc((N,), (N,))
def s254(a0: Vec, b: Vec) -> float:
    """A scalar carried around: the element before."""
    a = a0.copy()
    x = b[len(b) - 1]
    for i in range(len(b)):
        a[i] = (b[i] + x) * 0.5
        x = b[i]
    return np.sum(a)


@tsvc((N,), (N,), (N,))
def s271(a0: Vec, b: Vec, c: Vec) -> float:
    """A condition on what is read."""
    a = a0.copy()
    for i in range(len(a)):
        if b[i] > 0.5:
            a[i] += b[i] * c[i]
    return np.sum(a)


@tsvc((N,), (N,), (N,))
def s273(a0: Vec, b0: Vec, c: Vec) -> float:
    """A condition on what was written in the same step."""
    a, b = a0.copy(), b0.copy()
    for i in range(len(a)):
        a[i] += c[i] * c[i]
        if a[i] < 0.7:
            b[i] += c[i] * a[i]
        c_i = a[i] * b[i]
        a[i] += c_i
    return np.sum(a) + np.sum(b)


@tsvc((N,), (N,))
def s281(a0: Vec, b: Vec) -> float:
    """A read from the other end, across a crossing in the middle."""
    a = a0.copy()
    for i in range(len(a)):
        x = a[len(a) - i - 1] + b[i]
        a[i] = x - 0.1
    return np.sum(a)


@tsvc((N,))
def s291(b: Vec) -> float:
    """Wrap-around of an index."""
    a = np.zeros(len(b))
    before = len(b) - 1
    for i in range(len(b)):
        a[i] = (b[i] + b[before]) * 0.5
        before = i
    return np.sum(a)


@tsvc((N,))
def s314(a: Vec) -> float:
    """The largest of all."""
    most = a[0]
    for i in range(len(a)):
        if a[i] > most:
            most = a[i]
    return most


@tsvc((N,))
def s315(a: Vec) -> float:
    """The largest of all with its place."""
    most, place = a[0], 0
    for i in range(len(a)):
        if a[i] > most:
            most = a[i]
            place = i
    return most * a[place]


@tsvc((400,))
def s312(a: Vec) -> float:
    """A product of all."""
    p = 1.0
    for i in range(len(a)):
        p *= a[i] + 0.4
    return p


@tsvc((N,), (N,))
def s319(a0: Vec, b: Vec) -> float:
    """Two sums in one loop, each of what is written."""
    total = 0.0
    a = a0.copy()
    for i in range(len(a)):
        a[i] = a[i] + b[i]
        total += a[i]
        total += b[i] * 0.5
    return total


@tsvc((N,))
def s321(a0: Vec) -> float:
    """A linear recurrence of the first order."""
    a = a0.copy()
    for i in range(1, len(a)):
        a[i] += a[i - 1] * 0.5
    return np.sum(a)


@tsvc((N,), (N,))
def s341(b: Vec, c: Vec) -> float:
    """Elements that are packed together."""
    a = np.zeros(len(b))
    j = 0
    for i in range(len(b)):
        if b[i] > 0.5:
            a[j] = b[i] * c[i]
            j += 1
    return np.sum(a * a)


@tsvc((N,), (N,))
def s351(a0: Vec, b: Vec) -> float:
    """A product with a vector that is written out four times."""
    a = a0.copy()
    for i in range(0, len(a) - 3, 4):
        a[i] += 0.3 * b[i]
        a[i + 1] += 0.3 * b[i + 1]
        a[i + 2] += 0.3 * b[i + 2]
        a[i + 3] += 0.3 * b[i + 3]
    return np.sum(a * a)


@tsvc((N,), (N,), Places(N))
def s4112(a0: Vec, b: Vec, places: Ints) -> float:
    """Indices that are read from an array."""
    a = a0.copy()
    for i in range(len(a)):
        a[i] += b[places[i]] * 0.5
    return np.sum(a * a)


@tsvc((N,), (N,), Places(N))
def s4113(a0: Vec, b: Vec, places: Ints) -> float:
    """Writes at indices that are read from an array."""
    a = a0.copy()
    for i in range(len(a)):
        a[places[i]] = b[i] * b[i]
    return np.sum(a * a)


@tsvc((N,), (N,))
def s431(a: Vec, b: Vec) -> float:
    """What the step before read is read again."""
    s = 0.0
    for i in range(1, len(a)):
        s += np.sqrt(a[i] * a[i - 1]) / (b[i] + b[i - 1])
    return s
