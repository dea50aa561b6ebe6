"""Bessel functions, elliptic and exponential integrals, zeta: against mpmath."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sc

import chadllvm as cl
from tests.prelude.test_special import assert_as_mpmath

Function = Callable[..., Any]

SMALL = [1e-12, 0.1, 0.5, 1.0, 1.5, 3.0, 10.0]
FAR = [*SMALL, 30.0, 39.9, 40.1, 100.0, 300.0]
BELOW_1 = [-100.0, -1.0, -0.11, -0.09, -1e-9, 0.01, 0.09, 0.11, 0.5, 0.9, 0.999999]
SCALE = lambda x: mp.exp(-abs(x))  # noqa: E731


def first_kind(m: Any) -> Any:
    return mp.ellipk(m)


def second_kind(m: Any) -> Any:
    return mp.ellipe(m)


OF_ONE: list[tuple[str, Function, Function, list[float]]] = [
    ("i0", lambda x: sc.i0(x), lambda x: mp.besseli(0, x), [-3.0, *FAR]),
    ("i1", lambda x: sc.i1(x), lambda x: mp.besseli(1, x), [-3.0, *FAR]),
    ("i0e", lambda x: sc.i0e(x), lambda x: mp.besseli(0, x) * SCALE(x), [-3.0, *FAR]),
    ("i1e", lambda x: sc.i1e(x), lambda x: mp.besseli(1, x) * SCALE(x), [-3.0, *FAR]),
    ("ellipk", lambda m: sc.ellipk(m), first_kind, BELOW_1),
    ("ellipe", lambda m: sc.ellipe(m), second_kind, BELOW_1),
    ("ellipkm1", lambda p: sc.ellipkm1(p), lambda p: first_kind(1 - p), SMALL[:5]),
    (
        "expi",
        lambda x: sc.expi(x),
        mp.ei,
        [-50.0, -1.1, -0.9, -0.1, *SMALL, 39.0, 41.0],
    ),
    ("exp1", lambda x: sc.exp1(x), mp.e1, [*SMALL, 50.0, 300.0]),
    ("zeta", lambda x: sc.zeta(x), mp.zeta, [1.0001, 1.1, 1.5, 2.0, 7.3, 20.0]),
]


@pytest.mark.parametrize(("name", "ours", "exact", "places"), OF_ONE)
def test_of_one_number(
    name: str, ours: Function, exact: Function, places: list[float]
) -> None:
    assert_as_mpmath(cl.jit(ours), exact, [(x,) for x in places], 5e-15, 5e-13)


@pytest.mark.parametrize(("name", "ours", "exact", "places"), OF_ONE)
def test_second_derivatives(
    name: str, ours: Function, exact: Function, places: list[float]
) -> None:
    second = cl.grad(cl.grad(ours))
    with mp.workdps(60):
        for x in places:
            right = mp.diff(exact, mp.mpf(x), 2)
            size = max(abs(right), abs(exact(mp.mpf(x))), abs(mp.diff(exact, x)))
            assert abs(second(x) - right) <= 1e-11 * size, x


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("order", [0, 1])
def test_bessel_j(order: int) -> None:
    ours = (lambda x: sc.j0(x)) if order == 0 else (lambda x: sc.j1(x))
    places = [-3.0, 1e-12, 0.1, 1.99, 2.01, 10.0, 24.9, 25.1, 100.0, 1000.0]
    slope, second = cl.grad(ours), cl.grad(cl.grad(ours))
    exact = lambda x: mp.besselj(order, x)  # noqa: E731
    with mp.workdps(40):
        for x in places:
            assert abs(cl.jit(ours)(x) - exact(mp.mpf(x))) < 1e-15
            assert abs(slope(x) - mp.diff(exact, mp.mpf(x))) < 2e-15
            assert abs(second(x) - mp.diff(exact, mp.mpf(x), 2)) < 1e-14


def test_modified_of_any_order() -> None:
    orders = (0.5, 1.0, 2.7, 15.0)
    places = [(v, x) for v in orders for x in (0.1, 3.0, 39.0, 41.0, 100.0)]
    assert_as_mpmath(cl.jit(lambda v, x: sc.iv(v, x)), mp.besseli, places, 5e-14, 2e-12)
    scaled = lambda v, x: mp.besseli(v, x) * SCALE(x)  # noqa: E731
    assert_as_mpmath(
        cl.jit(lambda v, x: sc.ive(v, x)), scaled, places[:8], 5e-14, 2e-12
    )


def test_zeta_of_hurwitz() -> None:
    places = [(x, q) for x in (1.01, 2.5, 7.3) for q in (0.01, 1.0, 3.3, 200.0)]
    assert_as_mpmath(cl.jit(lambda x, q: sc.zeta(x, q)), mp.zeta, places, 5e-15, 5e-14)


OF_BESSEL = ["i0", "i1", "i0e", "i1e", "j0", "j1"]
NAMES = [*OF_BESSEL, "ellipk", "ellipe", "ellipkm1", "expi", "exp1"]
EDGES = [0.0, 1.0, 2.0, -1.0, 800.0, np.nan, np.inf]


def every(x: float) -> Any:
    return (
        (sc.i0(x), sc.i1(x), sc.i0e(x), sc.i1e(x), sc.j0(x), sc.j1(x)),
        (sc.ellipk(x), sc.ellipe(x), sc.ellipkm1(x), sc.expi(x), sc.exp1(x)),
    )


@pytest.mark.parametrize("x", EDGES)
def test_edges_are_those_of_scipy(x: float) -> None:
    first, second = cl.jit(every)(x)
    found = dict(zip(NAMES, (*first, *second), strict=True))
    if x == np.inf:
        assert found.pop("j0") == found.pop("j1") == 0.0  # NaN in some releases.
    for name, value in found.items():
        right = getattr(sc, name)(x)
        np.testing.assert_allclose(value, right, rtol=1e-13, atol=1e-15, err_msg=name)


def test_slopes_at_zero() -> None:
    by_x = [
        cl.grad(lambda x: sc.i0(x))(0.0),
        cl.grad(lambda x: sc.i1(x))(0.0),
        cl.grad(lambda x: sc.j0(x))(0.0),
        cl.grad(lambda x: sc.j1(x))(0.0),
    ]
    assert by_x == [0.0, 0.5, 0.0, 0.5]
