"""Where rules are taken, what they are refused for, and what is zero."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chadllvm as cl

LEVELS = pytest.mark.parametrize("optimize", [2, 0])


def doubled(optimize: int = 2) -> Any:
    """The identity with a gradient of 2, to see where the rule is taken."""

    @cl.custom_vjp(optimize=optimize)
    def double(x: float) -> float:
        return x

    def forward(x):
        return x, None

    def backward(_, ct):
        return 2.0 * ct

    double.defvjp(forward, backward)
    return double


# ---- where rules are taken ---------------------------------------------------------


@LEVELS
def test_rules_are_taken_wherever_the_function_is_called(optimize: int) -> None:
    double = doubled(optimize)

    @cl.jit(optimize=optimize)
    def f(x: cl.f64[:], c: bool) -> float:
        def local(t: float) -> float:
            return double(t) * 3.0

        g = double if c else local
        s = sum([double(v) for v in x])
        k = 0
        while k < len(x):
            s = s + double(x[k])
            k += 1
        return s + g(x[0]) + np.sum(cl.build(2, lambda i: double(x[i])))

    x = np.array([1.0, 2.0, 3.0])
    assert cl.grad(double)(5.0) == 2.0
    assert f(x, True) == f.py_func(x, True)
    np.testing.assert_array_equal(cl.grad(f)(x, True), [8.0, 6.0, 4.0])
    np.testing.assert_array_equal(cl.grad(f)(x, False), [12.0, 6.0, 4.0])
    along = np.array([1.0, 0.0, 0.0])
    assert cl.jvp(f, (x, False), (along, None))[1] == 12.0


def test_the_undecorated_function_is_plain_python() -> None:
    double = doubled()
    assert double.py_func(3.0) == 3.0
    assert double.__name__ == "double"


def test_rules_belong_to_what_was_decorated() -> None:
    def f(x: float) -> float:
        return x

    first, second = cl.custom_vjp(f), cl.custom_jvp(f)
    first.defvjp(lambda x: (x, None), lambda _, ct: 2.0 * ct)
    second.defjvp(lambda primals, tangents: (primals[0], 3.0 * tangents[0]))
    assert [cl.grad(g)(1.0) for g in (first, second, f)] == [2.0, 3.0, 1.0]


@LEVELS
def test_derivatives_inside_of_programs(optimize: int) -> None:
    double = doubled(optimize)

    @cl.jit(optimize=optimize)
    def f(x: float) -> float:
        _, pullback = cl.vjp(double, x)
        _, moved = cl.jvp(double, (x,), (x,))
        return cl.grad(double)(x) * pullback(x)[0] + moved

    assert f(3.0) == 2.0 * 6.0 + 6.0
    assert cl.grad(f)(3.0) == 6.0


def test_one_rule_for_each_mode() -> None:
    double = doubled()
    double.defjvp(lambda primals, tangents: (primals[0], 5.0 * tangents[0]))
    assert cl.grad(double)(1.0) == 2.0
    assert cl.jvp(double, (1.0,), (1.0,)) == (1.0, 5.0)


def test_rules_that_call_other_rules() -> None:
    """The second derivative is that of what the rule does, by its rules."""
    double = doubled()

    @cl.custom_jvp
    def square(x: float) -> float:
        return x * x

    @square.defjvp
    def rule(primals, tangents):
        (x,), (x_t,) = primals, tangents
        return square(x), 2.0 * double(x) * x_t

    assert cl.grad(square)(3.0) == 6.0
    assert cl.grad(cl.grad(square))(3.0) == 4.0
    assert cl.jvp(cl.grad(square), (3.0,), (1.0,)) == (6.0, 4.0)
    assert cl.grad(cl.grad(cl.grad(square)))(3.0) == 0.0


@LEVELS
def test_static_arguments(optimize: int) -> None:
    @cl.custom_vjp(static_argnames="kind", optimize=optimize)
    def activation(x: float, kind: str = "leaky") -> float:
        return max(x, 0.0) if kind == "leaky" else math.tanh(x)

    def forward(x, name):
        return activation(x, name), x

    def backward(x, ct, kind):
        if kind == "leaky":
            return ct * (1.0 if x > 0.0 else 0.1)
        return ct / math.cosh(x) ** 2

    activation.defvjp(forward, backward)
    assert cl.grad(activation)(-1.0) == 0.1
    assert cl.grad(activation)(-1.0, kind="tanh") == pytest.approx(
        1.0 / math.cosh(1.0) ** 2
    )

    @cl.jit(optimize=optimize)
    def f(x: cl.f64[:]) -> float:
        return sum(activation(v, "leaky") + activation(v, kind="tanh") for v in x)

    x = np.array([-1.0, 1.0])
    np.testing.assert_allclose(
        cl.grad(f)(x), np.array([0.1, 1.0]) + 1.0 / np.cosh(x) ** 2
    )


def test_functions_as_arguments_from_python() -> None:
    @cl.custom_vjp
    def apply(function: Callable[[float], float], x: float) -> float:
        return function(x)

    apply.defvjp(
        lambda function, x: (function(x), x), lambda x, ct: 10.0 * ct + 0.0 * x
    )
    assert apply(math.sin, 1.0) == math.sin(1.0)
    assert cl.grad(apply, argnums=1)(lambda x: x * x, 1.0) == 10.0


def test_functions_that_call_themselves() -> None:
    """Their rules may do so as well, and they may call functions with rules."""

    @cl.custom_vjp
    def power(x: float, n: int) -> float:
        return 1.0 if n == 0 else x * power(x, n - 1)

    def backward(kept, ct):
        x, n = kept
        return ct * n * power(x, n - 1) if n > 0 else 0.0

    power.defvjp(lambda x, n: (power(x, n), (x, n)), backward)
    assert cl.grad(power)(2.0, 3) == 12.0
    assert cl.grad(cl.grad(power))(2.0, 3) == 12.0
    assert cl.jvp(cl.grad(power), (2.0, 3), (1.0, None)) == (12.0, 12.0)

    @cl.jit
    def tree(x: float, n: int) -> float:
        if n == 0:
            return power(x, 2)
        return tree(0.5 * x, n - 1) + power(tree(x, n - 1), 1)

    assert tree(2.0, 3) == 7.8125
    assert cl.grad(tree)(2.0, 3) == 7.8125
    assert cl.grad(cl.grad(tree))(2.0, 3) == 3.90625


@cl.jit
def power_and_slope(x: float, x_t: float, n: int) -> tuple[float, float]:
    if n == 0:
        return 1.0, 0.0
    y, y_t = power_and_slope(x, x_t, n - 1)
    return x * y, x_t * y + x * y_t


@cl.jit
def power_of(x: float, x_t: float, n: int) -> float:
    return x_t if n == 0 else x_t * power_of(x, x_t, n - 1)


@cl.jit
def as_often_as(x: float, x_t: float) -> float:
    return x_t if x_t < 1.0 else x * as_often_as(x, x_t - 1.0)


def test_linear_rules_that_call_themselves() -> None:
    @cl.custom_jvp
    def power(x: float, n: int) -> float:
        return x**n

    power.defjvp(lambda p, t: power_and_slope(p[0], t[0], p[1]))
    assert cl.jvp(power, (2.0, 3), (1.0, None)) == (8.0, 12.0)
    assert cl.grad(power)(2.0, 3) == 12.0
    assert cl.grad(cl.grad(power))(2.0, 3) == 12.0
    for rule in (
        lambda p, t: (p[0] ** p[1], power_of(p[0], t[0], p[1])),
        lambda p, t: (p[0] ** p[1], as_often_as(p[0], t[0])),
    ):
        other = cl.custom_jvp(power.py_func)
        other.defjvp(rule)
        with pytest.raises(cl.CompileError, match="CL1512"):
            cl.grad(other)(2.0, 3)


def test_single_precision() -> None:
    @cl.custom_vjp
    def square(x: cl.f32) -> cl.f32:
        return x * x

    square.defvjp(lambda x: (x * x, x), lambda x, ct: 2.0 * x * ct)
    found = cl.grad(square)(np.float32(3.0))
    assert found == 6.0
    _, tangent = cl.jvp(square, (np.float32(3.0),), (np.float32(1.0),))
    assert tangent == 6.0


def test_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(identity)) is identity


@cl.custom_vjp
def identity(x: float) -> float:
    return x


# ---- what is refused ---------------------------------------------------------------


def test_a_clipped_cotangent_has_no_tangent() -> None:
    @cl.custom_vjp
    def clipped(x: float) -> float:
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, ct: max(-1.0, min(ct, 1.0)))
    f = cl.jit(lambda x: clipped(x) ** 2)
    assert cl.grad(f)(0.25) == 0.5
    assert cl.grad(f)(7.0) == 1.0
    with pytest.raises(cl.CompileError, match="CL1511"):
        cl.jvp(f, (0.25,), (1.0,))
    clipped_too = cl.custom_vjp(clipped.py_func)
    clipped_too.defvjp(lambda x: (x, None), lambda _, ct: max(-1.0, min(ct, 1.0)))
    clipped_too.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    assert cl.jvp(clipped_too, (0.25,), (3.0,)) == (0.25, 3.0)


@pytest.mark.parametrize(
    "rule",
    [
        lambda p, t: (p[0], t[0] * t[0]),
        lambda p, t: (p[0], t[0] + 1.0),
        lambda p, t: (p[0], 1.0),
        lambda p, t: (p[0] + t[0], t[0]),
        lambda p, t: (p[0], abs(t[0])),
        lambda p, t: (p[0], t[0] if t[0] > 0.0 else 0.0),
        lambda p, t: (p[0], cl.stop_gradient(t[0])),
        lambda p, t: (p[0], np.round(t[0])),
        lambda p, t: (p[0], 2.0 ** t[0]),
        lambda p, t: (p[0], p[0] / t[0]),
        lambda p, t: (p[0], np.zeros(3)[int(t[0])]),
        lambda p, t: (p[0], sum(t[0] for _ in range(int(t[0])))),
    ],
)
def test_a_rule_that_is_not_linear_is_not_transposed(rule: Any) -> None:
    f = cl.custom_jvp(lambda x: 1.0 * x)
    f.defjvp(rule)
    with pytest.raises(cl.CompileError, match="CL1512"):
        cl.grad(f)(1.0)


def test_what_a_function_captured_has_no_cotangent() -> None:
    @cl.custom_vjp
    def apply(function, x: float) -> float:
        return function(x)

    apply.defvjp(lambda g, x: (g(x), (g, x)), lambda kept, ct: ct * kept[1])

    @cl.jit
    def f(a: float, x: float) -> float:
        return apply(lambda t: a * t, x)

    assert f(2.0, 3.0) == 6.0
    assert cl.grad(f, argnums="x")(2.0, 3.0) == 3.0
    for argnums in ("a", ("a", "x")):
        with pytest.raises(cl.CompileError, match="CL1513"):
            cl.grad(f, argnums=argnums)(2.0, 3.0)
    with pytest.raises(cl.CompileError, match="CL1513"):
        cl.jvp(f, (2.0, 3.0), (1.0, None))

    @cl.jit
    def held(a: float, x: float) -> float:
        b = cl.stop_gradient(a)
        return apply(lambda t: b * t, x) * a

    assert cl.grad(held, argnums=(0, 1))(2.0, 3.0) == (6.0, 6.0)


def test_sizes_are_checked_when_the_program_runs() -> None:
    @cl.custom_vjp
    def total(x: cl.f64[:]) -> float:
        return np.sum(x)

    total.defvjp(lambda x: (np.sum(x), len(x)), lambda n, ct: np.full(n + 1, ct))
    assert total(np.ones(3)) == 3.0
    with pytest.raises(ValueError, match="sizes 4 and 3 do not match"):
        cl.grad(total)(np.ones(3))

    @cl.custom_jvp
    def tail(x: cl.f64[:]) -> cl.f64[:]:
        return 2.0 * x

    tail.defjvp(lambda primals, tangents: (2.0 * primals[0], 2.0 * tangents[0][1:]))
    for run in (
        lambda: cl.jvp(tail, (np.ones(3),), (np.ones(3),)),
        lambda: cl.vjp(tail, np.ones(3))[1](np.ones(3)),
    ):
        with pytest.raises(ValueError, match="sizes 2 and 3 do not match"):
            run()


def test_rules_are_given_before_the_function_is_used() -> None:
    double = doubled()
    double(1.0)
    with pytest.raises(RuntimeError, match="compiled already"):
        double.defvjp(lambda x: (x, None), lambda _, ct: ct)
    with pytest.raises(RuntimeError, match="compiled already"):
        double.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    with pytest.raises(cl.CompileError, match="CL1501"):
        cl.custom_vjp(lambda x: x)(1.0)


def test_only_python_functions() -> None:
    with pytest.raises(TypeError, match="a Python function, not a int"):
        cl.custom_vjp(3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="a rule is a Python function, not a int"):
        cl.custom_vjp(lambda x: x).defvjp(3, 4)  # type: ignore[arg-type]


def test_updates_of_results_mean_what_they_mean_in_python() -> None:
    @cl.custom_vjp
    def same(x: cl.f64[:]) -> cl.f64[:]:
        return x

    same.defvjp(lambda x: (x, None), lambda _, ct: ct)

    @cl.jit
    def of_argument(x: cl.f64[:]) -> float:
        y = same(x)
        y[0] = 3.0
        return np.sum(y * x)

    with pytest.raises(cl.CompileError, match="CL0803"):
        of_argument(np.ones(3))

    @cl.jit
    def of_own(x: cl.f64[:]) -> float:
        y = same(2.0 * x)
        y[0] = x[1]
        return np.sum(y * x)

    x = np.array([1.0, 2.0, 3.0])
    assert of_own(x) == of_own.py_func(x)
    np.testing.assert_array_equal(cl.grad(of_own)(x), [2.0, 9.0, 12.0])

    @cl.jit
    def read_later(x: cl.f64[:]) -> float:
        z = 2.0 * x
        y = same(z)
        y[0] = 0.0
        return np.sum(z) + np.sum(y)

    with pytest.raises(cl.CompileError, match="CL08"):
        read_later(x)


# ---- what is zero ------------------------------------------------------------------


def root(rules: str, optimize: int) -> Any:
    """The square root, whose slope at 0 is infinite."""
    made = cl.custom_vjp(lambda x: math.sqrt(x), optimize=optimize)
    if rules == "vjp":

        def forward(x):
            return math.sqrt(x), x

        def backward(x, ct):
            return ct * (0.5 / math.sqrt(x))

        made.defvjp(forward, backward)
    else:

        def tangent(primals, tangents):
            (x,), (x_t,) = primals, tangents
            return math.sqrt(x), (0.5 / math.sqrt(x)) * x_t

        made.defjvp(tangent)
    return made


@LEVELS
@pytest.mark.parametrize("rules", ["vjp", "jvp"])
def test_what_is_not_asked_for_is_zero(rules: str, optimize: int) -> None:
    """A zero cotangent or tangent contributes zero, where the rule would say NaN."""
    sqrt = root(rules, optimize)

    @cl.jit(optimize=optimize)
    def branch(x: float, y: float, c: bool) -> float:
        z = sqrt(x)
        return z + y if c else y * y

    assert cl.grad(branch, argnums=(0, 1))(0.0, 2.0, False) == (0.0, 4.0)
    assert cl.grad(branch, argnums=(0, 1))(0.0, 2.0, True) == (math.inf, 1.0)
    assert cl.jvp(branch, (0.0, 2.0, True), (0.0, 1.0, None)) == (2.0, 1.0)

    @cl.jit(optimize=optimize)
    def element(x: cl.f64[:]) -> float:
        return [sqrt(v) for v in x][1]

    x = np.array([0.0, 4.0, 0.0])
    np.testing.assert_array_equal(cl.grad(element)(x), [0.0, 0.25, 0.0])
    assert cl.jvp(element, (x,), (np.array([0.0, 1.0, 0.0]),)) == (2.0, 0.25)


def test_a_cotangent_that_is_none_is_zero() -> None:
    @cl.custom_vjp
    def f(x: float, y: cl.f64[:]) -> float:
        return x * np.sum(y)

    f.defvjp(lambda x, y: (x * np.sum(y), np.sum(y)), lambda s, ct: (ct * s, None))
    by_x, by_y = cl.grad(f, argnums=(0, 1))(2.0, np.ones(3))
    assert by_x == 3.0
    np.testing.assert_array_equal(by_y, np.zeros(3))
    assert cl.jvp(f, (2.0, np.ones(3)), (1.0, np.ones(3)))[1] == 3.0


def test_integers_in_lists_of_tuples() -> None:
    """What stands in their place in a cotangent is not looked at."""

    @cl.custom_vjp
    def total(rows: list[tuple[float, int]], scale: float) -> float:
        return scale * sum(x * n for x, n in rows)

    def backward(kept, ct):
        rows, scale = kept
        by_scale = ct * sum(x * n for x, n in rows)
        return [(ct * scale * n, n) for _, n in rows], by_scale

    total.defvjp(lambda rows, scale: (total(rows, scale), (rows, scale)), backward)
    rows = [(1.0, 2), (3.0, 4)]
    found = cl.grad(total, argnums=(0, 1))(rows, 2.0)
    assert found == ([(4.0, None), (8.0, None)], 14.0)
    cl.check_grads(total, (rows, 2.0), order=2)


# ---- debugging ---------------------------------------------------------------------


def test_debugging_sees_what_rules_do() -> None:
    @cl.custom_vjp(options=cl.CompileOptions(debug=True))
    def inverse(x: float) -> float:
        return 1.0 / x

    inverse.defvjp(lambda x: (1.0 / x, x), lambda x, ct: -ct / (x * (x - 1.0)))
    assert cl.grad(inverse)(2.0) == -0.5
    with pytest.raises(ZeroDivisionError):
        inverse(0.0)
    with pytest.raises(ZeroDivisionError):
        cl.grad(inverse)(1.0)


def test_stages_are_shown() -> None:
    double = doubled()
    assert "custom[double](x)" in double.show("core", 1.0)
    assert "custom" not in double.show("simplified", 1.0)
    assert "custom" not in cl.grad(double).show("chad", 1.0)
