"""Bits, divisors, digits: programs of integers, and where they meet floats."""

import math

import numpy as np

import chadllvm as cl
from programs.case import case


@case(0x0123456789ABCDEF, 0.5)
@case(-7, 1.5)
@case(-(2**63), 2.5)
@cl.jit
def mixed_bits(n: int, x: float) -> float:
    a = n & 0xFF
    b = (n | 5) ^ (n >> 3)
    c = ~n & 0xFFFF
    d = (n & 0xFFFF) << 5
    return x * a + x * x * (b % 1000) + c * 1e-3 + d * 1e-5 * x


@case(2463534242, 10, 0.25)
@cl.jit
def xorshift(state: int, steps: int, x: float) -> float:
    total = 0.0
    for _ in range(steps):
        state ^= (state << 13) & 0xFFFFFFFF
        state ^= state >> 17
        state ^= (state << 5) & 0xFFFFFFFF
        total += x * (state / 4294967296.0)
    return total


@case(
    np.array([3, -8, 255, 0]), np.array([1, 2, 3, 70]), np.array([1.0, 2.0, 3.0, 4.0])
)
@cl.jit
def bits_of_arrays(a: cl.i64[:], n: cl.i64[:], x: cl.f64[:]) -> float:
    masked = (a & 12) + (a | 1) - (a ^ n) + ~a
    moved = (a >> n) + np.right_shift(a, 1) + np.bitwise_and(a, n)
    return np.sum(x * masked) + np.sum(x * x * moved)


@case(12, 18, 0.5)
@case(-7, 3, 0.5)
@case(7, -3, 0.25)
@cl.jit
def divisors(a: int, b: int, x: float) -> float:
    q, r = divmod(a, b)
    f, s = divmod(x * a, 0.71)
    g = math.gcd(a, b) + math.lcm(a, b) + abs(a).bit_length() + b.bit_count()
    return x * q + r * x * x + f + s + g * x


@case(10, 3, 0.5)
@case(61, 30, 0.5)
@case(5, 9, 0.5)
@cl.jit
def choices(n: int, k: int, x: float) -> float:
    few = math.perm(n, min(k, 5)) + math.isqrt(n * k)
    return (
        math.comb(n, k) * 1e-15 * x
        + few * 1e-6 * x * x
        + pow(n, k, 97)
        + pow(-n, k, -97)
    )


@case(2.671)
@case(-1234.5678)
@case(0.3)
@cl.jit
def digits(x: float) -> float:
    m, e = math.frexp(x)
    return round(x, 2) * x + m * e + math.ldexp(x, -3) + round(x, -1) + round(x, 0)


@case(np.array([1.007, 2.52, -3.14159]))
@cl.jit
def rounded_array(x: cl.f64[:]) -> float:
    return np.sum(np.round(x, 2) * x) + np.sum(x.round(1)) + np.sum(np.ldexp(x, 2))


@case((1.0, 2.0), (4.0, 6.5), np.array([1.0, 2.0, -3.0]))
@cl.jit
def distances(p: tuple[float, float], q: tuple[float, float], x: cl.f64[:]) -> float:
    product = math.prod(x, start=2.0) + math.prod([v * v for v in x])
    return math.dist(p, q) * product + math.fsum(v * v for v in x)


@case(3, 0.5)
@cl.jit
def far_ranges(n: int, x: float) -> float:
    total = 0.0
    for i in range(1, n - 2**63):
        total += i * x
    for i in range(2**63 - 1 - n, 2**63 - 1):
        total += (i & 7) * x
    for i in range(2**62, -(2**63), -(2**62)):
        total += (i >> 61) * x * x
    return total
