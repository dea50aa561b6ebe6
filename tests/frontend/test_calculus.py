"""Every function of the tables, by its name in `math`, NumPy or SciPy."""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import chadllvm as cl
from chadllvm.frontend.calculus import CALCULUS, named_function, named_functions
from chadllvm.frontend.scalar import MANY, ScalarFunction

TABLE: list[tuple[Any, ScalarFunction]] = [*CALCULUS, *named_functions()]

# Numbers for functions that are not defined at the others.
NUMBERS = {math.acosh: (1.0, 2.5), np.arccosh: (1.0, 2.5)}
ONE = (0.3, 0.75, -0.6)
TWO = ((0.3, 0.8), (0.75, 1.5), (2.0, 0.1))
WHOLE = (6, 4)


def label(entry: tuple[Any, ScalarFunction]) -> str:
    function = entry[0]
    return f"{getattr(function, '__module__', None)}.{function.__name__}"


def unary(function: Callable[..., Any]) -> Any:
    def applied(x: float):  # type: ignore[no-untyped-def]
        return function(x)

    return cl.jit(applied)


def binary(function: Callable[..., Any]) -> Any:
    def applied(x: float, y: float):  # type: ignore[no-untyped-def]
        return function(x, y)

    return cl.jit(applied)


def of_integers(function: Callable[..., Any], arity: int) -> Any:
    def one(n: int):  # type: ignore[no-untyped-def]
        return function(n)

    def two(n: int, m: int):  # type: ignore[no-untyped-def]
        return function(n, m)

    return cl.jit(one if arity == 1 else two)


def of_order(n: int) -> Any:
    def applied(x: float) -> float:
        return special.polygamma(n, x)

    return cl.jit(applied)


def check(compiled: Any, function: Any, args: tuple[Any, ...]) -> None:
    try:
        with np.errstate(all="ignore"):
            wanted = function(*args)
    except ValueError:  # of `math`, outside of the domain
        wanted = math.nan
    found = compiled(*args)
    if isinstance(wanted, tuple):
        assert found == pytest.approx(wanted, rel=1e-14)
        return
    plain = wanted.item() if isinstance(wanted, np.generic) else wanted
    assert type(found) is type(plain), (args, found, plain)
    assert found == pytest.approx(plain, rel=1e-13, abs=1e-16, nan_ok=True), args


@pytest.mark.parametrize("entry", TABLE, ids=label)
def test_like_the_function_itself(entry: tuple[Any, ScalarFunction]) -> None:
    function, row = entry
    arity = 2 if row.most == MANY else row.arity
    if row.integers:
        check(of_integers(function, arity), function, WHOLE[:arity])
    elif function is special.polygamma:
        check(of_order(2), lambda x: float(special.polygamma(2, x)), (0.7,))
    elif arity == 1:
        compiled = unary(function)
        for x in NUMBERS.get(function, ONE):
            check(compiled, function, (x,))
    else:
        compiled = binary(function)
        for args in TWO:
            check(compiled, function, args)


@pytest.mark.parametrize(
    "function", [np.floor, np.ceil, np.trunc, np.round, np.sign, math.floor, round]
)
def test_integers_stay_integers(function: Callable[..., Any]) -> None:
    assert of_integers(function, 1)(-3) == -3 if function is not np.sign else -1
    assert type(of_integers(function, 1)(-3)) is int


@pytest.mark.parametrize(("n", "m"), [(7, 3), (-7, 3), (7, -3), (-6, 3), (5, 9)])
def test_remainders_of_integers(n: int, m: int) -> None:
    assert of_integers(np.fmod, 2)(n, m) == int(np.fmod(n, m))


def test_many_arguments() -> None:
    @cl.jit
    def many(x: float, n: int) -> float:
        return math.hypot(x, 2.0, n, 4) + math.gcd() + math.lcm() + math.gcd(n, 12, 18)

    assert many(1.0, 9) == pytest.approx(many.py_func(1.0, 9), rel=1e-15)


def test_on_arrays() -> None:
    @cl.jit
    def every(x: cl.f64[:], y: cl.f64[:]):  # type: ignore[no-untyped-def,valid-type]
        return np.logaddexp(x, special.expit(y)) * np.sign(x)

    x, y = np.array([0.3, -1.0, 2.0]), np.array([1.0, 0.5, -30.0])
    np.testing.assert_allclose(every(x, y), every.py_func(x, y), rtol=1e-14)


def test_the_rounding_of_what_is_no_number_fails() -> None:
    compiled = unary(math.floor)
    with pytest.raises(ValueError, match="NaN"):
        compiled(math.nan)
    with pytest.raises(OverflowError):
        compiled(math.inf)


def test_factorials_that_fail() -> None:
    factorial = of_integers(math.factorial, 1)
    assert factorial(20) == math.factorial(20)
    with pytest.raises(ValueError, match="negative"):
        factorial(-1)
    with pytest.raises(OverflowError, match="factorial of 21"):
        factorial(21)


def divisor(x: float) -> float:
    return math.gcd(6, x)  # type: ignore[arg-type]


def factorial(x: float) -> float:
    return math.factorial(x)  # type: ignore[arg-type]


def digits(x: float) -> float:
    return round(x, 2.0)  # type: ignore[call-overload]


def bases(x: float) -> float:
    return math.log(x, 2, 3)  # type: ignore[call-arg]


def bessel(x: float) -> float:
    return special.jv(0, x)


@pytest.mark.parametrize(
    ("function", "label"),
    [
        (divisor, "`math.gcd` takes an integer, found float"),
        (factorial, "`math.factorial` takes an integer, found float"),
        (digits, "`round` takes an integer, found float"),
        (bases, "`math.log` takes 1 to 2 arguments"),
        (bessel, "`special.jv` has no meaning in compiled code"),
    ],
)
def test_refused(function: Callable[..., Any], label: str) -> None:
    with pytest.raises(cl.CompileError) as refusal:
        cl.jit(function)(0.5)
    assert refusal.value.diagnostic.label == label


def test_scipy_is_not_imported() -> None:
    code = "import sys, chadllvm; assert not any('scipy' in m for m in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_own_names_only() -> None:
    assert named_function(special.expit) is not None
    assert named_function(special.erfinv) is None
    assert named_function(statistics.mean) is None
