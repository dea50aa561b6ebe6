"""Derivatives of recursive programs: all nestings, closures, arrays, random programs.

The judges are Python and differences, and the modes are each other's.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl
from bench.count import Counted

OPTIONS = {
    "default": cl.CompileOptions(),
    "permanent": cl.CompileOptions(optimize=0),
}


# ---- all nestings of the modes


@cl.jit
def two_calls(x: float, n: int) -> float:
    if n < 2:
        return x * (n + 1)
    return two_calls(x * 1.1, n - 1) * math.sin(x) + two_calls(x, n - 2)


@cl.jit
def call_of_a_call(x: float, n: int) -> float:
    if n == 0:
        return math.sin(x)
    return call_of_a_call(call_of_a_call(x * 0.5, n - 1) + x, n - 1)


@cl.jit
def calls_in_a_loop(x: float, n: int) -> float:
    total = x * x
    for k in range(n):
        total += math.cos(total) * calls_in_a_loop(x * 0.9 + 0.1 * total, k)
    return total


@cl.jit
def calls_of_others(x: float, n: int) -> float:
    return x if n <= 0 else one_of_two(x, 0.5 * x, n - 1)


@cl.jit
def one_of_two(x, y, n):
    return math.exp(-y) * calls_of_others(x + y, n) + one_of_none(n) * y


@cl.jit
def one_of_none(n):
    return 1 if n <= 0 else 2 + one_of_none(n - 1)


@cl.jit
def captured(x: float, n: int) -> float:
    shift = x * x

    def inner(y, k):
        return y * shift if k == 0 else math.sin(inner(y + shift, k - 1)) * x

    return inner(x, n) + inner(shift, 1)


@cl.jit
def through_arrays(x: float, n: int) -> float:
    def longer(a, y):
        return np.concatenate((a * y, np.array([math.sin(a[-1])])))

    def grown(a, k):
        return a if k == 0 else grown(longer(a, x), k - 1)

    found = grown(np.array([x, 0.5]), n)
    return np.sum(found * np.arange(len(found)))


@cl.jit
def sums_of_rows(x: float, n: int) -> float:
    def rows(k):
        if k == 0:
            return np.ones(3) * x
        below = rows(k - 1)
        return below * np.cumsum(below) * 0.5 + rows(k // 2)

    return np.sum(rows(n))


@cl.jit
def power(x: float, n: int) -> float:
    """Nobody asks for what the calls of its gradient return, but for what they keep."""
    return x if n == 0 else power(x, n - 1) * x


@cl.jit
def power_of_rows(x: float, n: int) -> float:
    """The cells that calls of the gradient's gradient are given are their callers'."""

    def row(k):
        return np.ones(2) * x if k == 0 else row(k - 1) * x

    return np.sum(row(n))


NESTED = [
    power,
    power_of_rows,
    two_calls,
    call_of_a_call,
    calls_in_a_loop,
    calls_of_others,
    captured,
    through_arrays,
    sums_of_rows,
]


def forward(f: Any) -> Callable[..., Any]:
    return cl.jit(lambda x, n: cl.jvp(f, (x, n), (1.0, 0))[1])


def reverse(f: Any) -> Callable[..., Any]:
    return cl.grad(f)


MODES = {"f": forward, "r": reverse}


@pytest.mark.sweep
@pytest.mark.parametrize("function", [power, power_of_rows, two_calls, captured])
def test_all_nestings_to_order_three_agree(function: Any) -> None:
    """Of each order with each other, and with differences of the order below."""
    below: Callable[..., Any] = function
    for order in (1, 2, 3):
        expected = slope(below)
        for modes in itertools.product("fr", repeat=order):
            derivative: Any = function
            for mode in modes:
                derivative = MODES[mode](derivative)
            assert derivative(0.7, 3) == pytest.approx(expected, rel=1e-5), modes
        below = derivative


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("function", NESTED, ids=lambda f: f.__name__)
def test_gradients_to_order_three(function: Any, name: str) -> None:
    derivative: Any = cl.jit(function.py_func, options=OPTIONS[name])
    for n in (0, 1, 3):
        assert derivative(0.7, n) == pytest.approx(function.py_func(0.7, n), rel=1e-12)
    for _ in range(3):
        expected = slope(derivative)
        derivative = cl.grad(derivative)
        assert derivative(0.7, 3) == pytest.approx(expected, rel=1e-5)


def slope(function: Callable[..., float]) -> float:
    """By differences."""
    step = 1e-5
    return (function(0.7 + step, 3) - function(0.7 - step, 3)) / (2.0 * step)


# ---- arrays


@cl.jit
def transform(re: cl.f64[:], im: cl.f64[:]) -> tuple[cl.f64[:], cl.f64[:]]:
    """The Fourier transform by halves."""
    n = len(re)
    if n == 1:
        return re.copy(), im.copy()
    a, b = transform(re[::2], im[::2])
    c, d = transform(re[1::2], im[1::2])
    angle = -2.0 * np.pi * np.arange(n // 2) / n
    u, v = np.cos(angle), np.sin(angle)
    p, q = u * c - v * d, u * d + v * c
    return np.concatenate((a + p, a - p)), np.concatenate((b + q, b - q))


@cl.jit
def weighted_spectrum(x: cl.f64[:], w: cl.f64[:]) -> float:
    re, im = transform(x, np.zeros(len(x)))
    return np.sum(w * (re * re + im * im))


@cl.jit
def sorted_quickly(x: cl.f64[:]) -> cl.f64[:]:
    if len(x) < 2:
        return x.copy()
    pivot, rest = x[0], x[1:]
    smaller, larger = rest[rest < pivot], rest[rest >= pivot]
    return np.concatenate(
        (sorted_quickly(smaller), np.array([pivot]), sorted_quickly(larger))
    )


@cl.jit
def weighted_order(x: cl.f64[:], w: cl.f64[:]) -> float:
    return np.sum(sorted_quickly(x) ** 2 * w)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_fourier_transform_by_halves(name: str) -> None:
    x, w = np.random.default_rng(1).normal(size=(2, 32))
    run = cl.jit(weighted_spectrum.py_func, options=OPTIONS[name])
    spectrum = np.fft.fft(x)
    assert run(x, w) == pytest.approx(np.sum(w * abs(spectrum) ** 2), rel=1e-12)
    gradient = 2.0 * np.real(np.conj(np.fft.fft(w * np.conj(spectrum))))
    np.testing.assert_allclose(cl.grad(run)(x, w), gradient, rtol=1e-10)


@pytest.mark.parametrize("name", OPTIONS)
def test_quicksort(name: str) -> None:
    x, w = np.random.default_rng(2).normal(size=(2, 40))
    run = cl.jit(weighted_order.py_func, options=OPTIONS[name])
    ranks = np.argsort(np.argsort(x))
    assert run(x, w) == pytest.approx(np.sum(np.sort(x) ** 2 * w), rel=1e-12)
    np.testing.assert_allclose(cl.grad(run)(x, w), 2.0 * x * w[ranks], rtol=1e-12)
    by_weights = cl.grad(run, argnums=1)(x, w)
    np.testing.assert_allclose(by_weights, np.sort(x) ** 2, rtol=1e-12)


# ---- derivatives inside


@cl.jit
def newton(x: float, n: int) -> float:
    """A root by slopes of a recursive function."""
    if n == 0:
        return x
    value, slope = cl.value_and_grad(two_calls)(x, 3)
    return newton(x - 0.1 * (value - 1.0) / (1.0 + slope * slope), n - 1)


def newton_in_python(x: float, n: int) -> float:
    gradient = cl.grad(two_calls)
    for _ in range(n):
        slope = gradient(x, 3)
        x -= 0.1 * (two_calls.py_func(x, 3) - 1.0) / (1.0 + slope * slope)
    return x


@pytest.mark.parametrize("name", OPTIONS)
def test_slopes_of_a_recursion_inside_a_recursion(name: str) -> None:
    run = cl.jit(newton.py_func, options=OPTIONS[name])
    assert run(0.7, 4) == pytest.approx(newton_in_python(0.7, 4), rel=1e-12)
    step = 1e-5
    ends = [newton_in_python(0.7 + s, 4) for s in (step, -step)]
    slope = (ends[0] - ends[1]) / (2.0 * step)
    assert cl.grad(run)(0.7, 4) == pytest.approx(slope, rel=1e-6)


# ---- cost


@cl.jit
def turns(a: cl.f64[:], w: cl.f64[:], k: int) -> float:
    if k == 0:
        return a[0] * a[1]
    return math.sin(a[k % 3]) * turns(w, a, k - 1) + turns(w, w, 0)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("k", [0, 1])
def test_arrays_of_which_one_alone_is_differentiated(k: int, name: str) -> None:
    """Calls change their places, so that the cotangent of the other is lost."""
    arrays = [np.array([0.3, 0.7, 1.1]), np.array([0.2, 0.5, 0.9])]
    gradient = cl.grad(cl.jit(turns.py_func, options=OPTIONS[name]), argnums=k)
    found = gradient(*arrays, 3)
    for place in range(3):
        ends = []
        for step in (1e-6, -1e-6):
            moved = [x.copy() for x in arrays]
            moved[k][place] += step
            ends.append(turns.py_func(*moved, 3))
        assert found[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("name", OPTIONS)
def test_gradients_cost_a_constant_times_the_value(name: str) -> None:
    """However many calls there are, and where calls read an array of any size."""
    assert_constant_ratio(two_calls, (0,), [(0.7, n) for n in (6, 10, 14)], name)
    sizes = [np.linspace(0.0, 1.0, n) for n in (64, 512, 4096)]
    assert_constant_ratio(halves, (0,), [(x, 0, len(x)) for x in sizes], name)


@cl.jit
def halves(x: cl.f64[:], low: int, high: int) -> float:
    if high - low == 1:
        return x[low] * x[low]
    middle = (low + high) // 2
    return halves(x, low, middle) * math.sin(halves(x, middle, high))


def assert_constant_ratio(
    function: Any, wrt: tuple[int, ...], cases: list[tuple[Any, ...]], name: str
) -> None:
    value = Counted(function.py_func, None, OPTIONS[name])
    both = Counted(function.py_func, wrt, OPTIONS[name])
    ratios = [both(*args)[1] / value(*args)[1] for args in cases]
    assert max(ratios) < (40.0 if name == "permanent" else 8.0)
    assert ratios[-1] < 1.1 * ratios[0]


class Chain(NamedTuple):
    value: float
    rest: Chain | None


@cl.jit
def gradients_beside_nodes(x: float, n: int) -> float:
    def own(t, chain):
        first = Chain(t * t, Chain(t + 1.0, chain))
        rest = first.rest
        return first.value if rest is None else first.value * rest.value

    chain: Chain | None = None
    total = 0.0
    for k in range(n):
        chain = Chain(x * k, chain)
        total += cl.grad(own)(x, chain)
    return total


@pytest.mark.parametrize("name", OPTIONS)
def test_a_gradient_costs_nothing_for_the_nodes_of_others(name: str) -> None:
    for wrt in (None, (0,)):
        run = Counted(gradients_beside_nodes.py_func, wrt, OPTIONS[name])
        assert run(0.7, 400)[1] < 2.05 * run(0.7, 200)[1]
    value, (slope,) = run(0.7, 9)[0]
    assert (value, slope) == pytest.approx((9 * 2.87, 9 * 6.2))


# ---- random programs


class Maker:
    """Makes a group of functions that call each other, as text."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = self.random.choice((1, 1, 2, 3))

    def text(self) -> str:
        parts = ["import math\nimport numpy as np\nimport chadllvm as cl\n"]
        parts += [self._function(k) for k in range(self.count)]
        return "\n".join(parts)

    def _function(self, k: int) -> str:
        """Its first result ends it; what stands before it is used by all behind."""
        body = [
            "    if n <= 0:",
            f"        return {self._number(2, ['x', 'y'], False)}",
        ]
        names = ["x", "y"]
        for number in range(self.random.randint(1, 3)):
            name = f"v{number}"
            body += self._statement(name, names)
            names.append(name)
        body.append(f"    return {self._number(2, names, True)}")
        head = f"@cl.jit\ndef f{k}(x: float, y: float, n: int) -> float:\n"
        return head + "\n".join(body) + "\n"

    def _statement(self, name: str, names: list[str]) -> list[str]:
        number = self._number(2, names, True)
        match self.random.randrange(5):
            case 0:
                return [
                    f"    {name} = {self._number(1, names, False)}",
                    "    for i in range(n):",
                    f"        {name} = 0.5 * {name} + {self._number(1, names, True)}",
                ]
            case 1:
                other = self._number(1, names, True)
                test = self._number(1, names, False)
                return [
                    f"    if {test} > 0.3:",
                    f"        {name} = {number}",
                    "    else:",
                    f"        {name} = {other}",
                ]
            case 2:
                row = self._number(1, [*names, "z"], False)
                return [
                    f"    def g{name}(z):",
                    f"        return {row}",
                    f"    {name} = g{name}({number})",
                ]
            case 3:
                row = self._number(1, [*names, "z"], True)
                return [f"    {name} = sum([{row} for z in np.array([x, 0.5, y])])"]
            case _:
                return [f"    {name} = {number}"]

    def _number(self, depth: int, names: list[str], calls: bool) -> str:
        if depth == 0:
            return self.random.choice([*names, *names, "0.5", "1.25"])
        a, b = (self._number(depth - 1, names, calls) for _ in range(2))
        forms = [f"({a} + {b})", f"({a} * {b})", f"math.sin({a})", f"({a} - 0.5 * {b})"]
        if calls:
            which = self.random.randrange(self.count)
            less = self.random.choice(("n - 1", "n - 2", "n // 2 - 1"))
            forms += [f"math.sin(f{which}({a}, math.cos({b}), {less}))"] * 2
        return self.random.choice(forms)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("seed", range(16))
def test_random_programs(seed: int, tmp_path: Any) -> None:
    path = tmp_path / "program.py"
    text = Maker(seed).text()
    path.write_text(text)
    made: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), made)
    function, args = made["f0"], (0.4, 0.9, 3)
    expected = function.py_func(*args)
    slopes = [differences(function.py_func, args, k) for k in (0, 1)]
    for options in OPTIONS.values():
        run = cl.jit(function.py_func, options=options)
        assert run(*args) == pytest.approx(expected, rel=1e-11)
        gradient = cl.grad(run, argnums=(0, 1))(*args)
        assert gradient == pytest.approx(slopes, rel=1e-5, abs=1e-7)
        moved = cl.jvp(run, args, (1.0, 0.0, 0))[1]
        assert moved == pytest.approx(gradient[0], rel=1e-10, abs=1e-12)


def differences(function: Callable[..., float], args: tuple[Any, ...], k: int) -> float:
    ends = []
    for step in (1e-6, -1e-6):
        shifted = list(args)
        shifted[k] += step
        ends.append(function(*shifted))
    return (ends[0] - ends[1]) / 2e-6
