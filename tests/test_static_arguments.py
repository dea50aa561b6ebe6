"""Keywords, defaults, and static arguments: constants of the compiled program."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import pytest

import chadllvm as cl


class Point(NamedTuple):
    x: float
    y: float = 0.5

    def norm(self) -> float:
        return math.hypot(self.x, self.y)


class Method(Enum):
    EULER = 1
    MIDPOINT = 2


# ---- keywords and defaults


@cl.jit
def keywords(x: float, /, p: Point = Point(2.0), *, scale: float = 3.0, t=(1.0, 2)):
    return x * p.x * scale + t[0] * t[1]


def test_keywords_and_defaults() -> None:
    assert keywords(1.0) == keywords.py_func(1.0) == 8.0
    assert keywords(1.0, Point(1), scale=2) == 4.0
    assert keywords(1.0, scale=1.0, p=Point(1.0), t=(0.0, 1)) == 1.0
    gradient = cl.grad(keywords, argnums=("scale", "p"))
    assert gradient(2.0) == (4.0, Point(6.0, 0.0))
    assert gradient(2.0, Point(1.0), scale=5.0) == (2.0, Point(10.0, 0.0))


@pytest.mark.parametrize(
    ("args", "keys", "message"),
    [
        ((), {}, "keywords() misses argument 'x'"),
        ((1.0, Point(1.0), 2.0), {}, "keywords() takes 2 arguments by position, 3"),
        ((1.0,), {"y": 1.0}, "keywords() has no parameter 'y'"),
        ((1.0, Point(1.0)), {"p": Point(1.0)}, "two values for parameter 'p'"),
    ],
)
def test_wrong_keywords(
    args: tuple[Any, ...], keys: dict[str, Any], message: str
) -> None:
    for run in (keywords, cl.grad(keywords)):
        with pytest.raises(TypeError, match=re.escape(message)):
            run(*args, **keys)


def test_keyword_only_parameters_of_known_types() -> None:
    @cl.jit
    def f(x: float, *, y: float) -> float:
        return x - y

    for _ in range(2):
        assert f(3.0, y=1.0) == 2.0
        with pytest.raises(TypeError, match="takes 1 arguments by position, 2"):
            f(3.0, 1.0)  # type: ignore[misc]


# ---- static arguments


@cl.jit(static_argnames=("method", "steps"))
def solve(x: float, rate: float, steps: int, method: str = "euler") -> float:
    for _ in range(steps):
        if method == "euler":
            x = x - 0.1 * rate * x
        elif method in ("exact", "exp"):
            x = x * math.exp(-0.1 * rate)
        else:
            x = no_such_function(x)  # type: ignore[name-defined]  # noqa: F821
    return x


def test_static_arguments_make_versions() -> None:
    assert solve(1.0, 1.0, 2) == pytest.approx(0.81)
    assert solve(1.0, 1.0, steps=2, method="exact") == pytest.approx(math.exp(-0.2))
    assert solve(1.0, 2.0, 2, "exp") == pytest.approx(math.exp(-0.4))
    assert solve(1.0, 0.5, 2) == pytest.approx(0.95**2)
    assert len(solve._versions) == 3


def test_what_is_not_taken_is_not_translated() -> None:
    with pytest.raises(cl.CompileError, match="no_such_function"):
        solve(1.0, 1.0, 2, "other")
    assert "if" not in str(solve.show("core", 1.0, 1.0, 2, "euler"))


def test_derivatives_of_functions_with_static_arguments() -> None:
    gradient = cl.grad(solve, argnums=("rate", "x"))
    assert gradient(1.0, 1.0, 2) == pytest.approx((-0.18, 0.81))
    assert gradient(1.0, 1.0, 2, method="exact") == pytest.approx(
        (-0.2 * math.exp(-0.2), math.exp(-0.2))
    )
    assert cl.grad(solve, argnums=1)(1.0, 1.0, 2) == pytest.approx(-0.18)
    out = cl.jvp(solve, (1.0, 1.0, 2, "euler"), (1.0, 0.0, None, None))
    assert out == pytest.approx((0.81, 0.81))
    for argnums in ("steps", 2, (0, -1)):
        with pytest.raises(ValueError, match="of solve is static"):
            cl.grad(solve, argnums=argnums)


def test_derivatives_with_static_arguments_pickle() -> None:
    gradient = pickle.loads(pickle.dumps(cl.grad(solve)))
    assert gradient(1.0, 1.0, 2) == pytest.approx(0.81)


@cl.jit
def square(x: float) -> float:
    return x * x


@cl.jit
def cube(x: float) -> float:
    return x * x * x


@cl.jit(static_argnames=["function", "method", "config", "names"])
def flexible(x: float, function, method=Method.EULER, config=None, names=()):
    y = function(x)
    if method is Method.MIDPOINT and x > 0.0:
        y = y + 1.0
    if config is not None:
        y = y * config.x + config.norm()
    return y if not names else y + names[0]


def test_static_values_of_all_kinds() -> None:
    assert flexible(2.0, square) == 4.0
    assert flexible(2.0, cube) == 8.0
    assert flexible(2.0, square, Method.MIDPOINT) == 5.0
    assert flexible(-2.0, square, method=Method.MIDPOINT) == 4.0
    assert flexible(2.0, square, config=Point(3.0, 4.0)) == 17.0
    assert flexible(2.0, square, names=(1.5, "a")) == 5.5
    assert cl.grad(flexible)(2.0, cube, config=Point(3.0, 4.0)) == 36.0


def test_static_values_that_are_equal_but_not_the_same() -> None:
    @cl.jit(static_argnames="n")
    def f(x: float, n):
        return n

    values = [1, 1.0, True, (1, 2), (1.0, 2), 0.0, -0.0]
    for _ in range(2):
        assert [repr(f(2.0, value)) for value in values] == list(map(repr, values))
    assert len(f._versions) == len(values)


def test_static_arguments_are_passed_on() -> None:
    @cl.jit(static_argnames=("steps", "kind"))
    def outer(x: float, steps: int, kind: str) -> float:
        return solve(x, 1.0, steps + 1, kind) + solve(x, 1.0, 1, method="euler")

    expected = math.exp(-0.2) + 0.9
    assert outer(1.0, 1, "exact") == pytest.approx(expected)


def test_static_arguments_are_hashable() -> None:
    with pytest.raises(TypeError, match="static argument 'method' must be hashable"):
        solve(1.0, 1.0, 2, ["euler"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="static argument 'names'"):
        flexible(1.0, square, names=([],))


def test_static_names_are_parameters() -> None:
    def f(x: float) -> float:
        return x

    with pytest.raises(ValueError, match="f has no parameter 'y'"):
        cl.jit(f, static_argnames="y")


FLAG = "fast"


def test_captured_strings_decide_branches() -> None:
    @cl.jit
    def f(x: float) -> float:
        if FLAG == "fast":
            return x
        return no_such_function(x)  # type: ignore[name-defined]  # noqa: F821

    assert f(2.0) == 2.0


TRACED = False


def test_what_a_static_test_does_not_come_to_may_depend_on_anything() -> None:
    @cl.jit
    def guarded(x: float) -> float:
        return x if not (TRACED and x > 2.0) else 2.0 * x

    assert guarded(3.0) == 3.0


def test_functions_of_the_library_are_arguments() -> None:
    """They are what they are in programs; nobody compiles their source."""

    @cl.jit
    def stepped(f: Callable, x: float, derivative: Callable) -> float:
        return x - f(x) / derivative(f)(x)

    def f(x: float) -> float:
        return x * x - 2.0

    for function in (f, cl.jit(f)):
        assert stepped(function, 1.0, cl.grad) == 1.5
    assert stepped.py_func(f, 1.0, cl.grad) == 1.5


def test_what_a_plain_function_has_captured_is_compiled_with_it() -> None:
    def applied(f: Callable, x: float) -> float:
        return cl.grad(lambda t: 3.0 * f(t))(x)

    assert applied(plain_square, 2.0) == 12.0
    assert cl.grad(lambda t: plain_square(t))(2.0) == 4.0


def plain_square(x: float) -> float:
    return x * x


def test_what_a_plain_function_has_captured_is_read_again() -> None:
    """As Python does at each call, in functions inside of each other too."""

    @cl.jit
    def applied(f: Callable, x: float) -> float:
        return f(x)

    scale = 1.0

    def inner(t: float) -> float:
        return scale * t

    def outer(t: float) -> float:
        return inner(t) * t

    for _ in range(3):
        assert applied(outer, 3.0) == outer(3.0) == 9.0 * scale
        assert cl.grad(outer)(3.0) == 6.0 * scale
        assert cl.jvp(outer, (3.0,), (1.0,)) == (9.0 * scale, 6.0 * scale)
        scale *= 2.0
