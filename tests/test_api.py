"""What the public functions promise: parameters, derivatives, results, stages."""

from __future__ import annotations

import functools
import gc
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chadllvm as cl
from chadllvm.driver.shown import STAGES

GOLDEN = Path(__file__).parent / "api"


@cl.jit
def mixed(x: float, k: int, a: cl.f64[:], flag: bool = True) -> float:
    """A little of everything."""
    return x * x * k + sum(v * x for v in a) if flag else x


@cl.jit
def ratio(x: float, y: float) -> float:
    return x / y


@cl.jit
def tiny(x: float, a: cl.f64[:]) -> float:
    return sum(math.sin(x * v) for v in a)


A = np.array([1.0, 2.0, 3.0])


# ---- argnums and has_aux


def test_one_argnum_gives_the_gradient_alone() -> None:
    assert cl.grad(ratio)(3.0, 2.0) == 0.5
    assert cl.grad(ratio, argnums=1)(3.0, 2.0) == -0.75
    assert cl.grad(ratio, -1)(3.0, 2.0) == -0.75
    assert cl.grad(ratio, np.int64(1))(3.0, 2.0) == -0.75
    assert cl.value_and_grad(ratio)(3.0, 2.0) == (1.5, 0.5)


def test_several_argnums_give_a_tuple_in_their_order() -> None:
    assert cl.grad(ratio, (0, 1))(3.0, 2.0) == (0.5, -0.75)
    assert cl.grad(ratio, (1, 0))(3.0, 2.0) == (-0.75, 0.5)
    assert cl.grad(ratio, [-1])(3.0, 2.0) == (-0.75,)
    assert cl.value_and_grad(ratio, (-1, 0))(3.0, 2.0) == (1.5, (-0.75, 0.5))


def test_a_derivative_is_compiled_once() -> None:
    assert cl.grad(ratio) is cl.grad(ratio, argnums="x") is cl.grad(ratio, -2)
    assert cl.grad(ratio) is not cl.value_and_grad(ratio)
    assert cl.grad(ratio) is not cl.grad(ratio, (0,))


@pytest.mark.parametrize("argnums", [2, -3, (0, 2), (0, 0), (0, -2), ()])
def test_argnums_must_be_distinct_parameters(argnums: Any) -> None:
    with pytest.raises(ValueError, match="argnums="):
        cl.grad(ratio, argnums)


@pytest.mark.parametrize("argnums", ["z", ("x", "z")])
def test_argnums_name_parameters(argnums: Any) -> None:
    with pytest.raises(ValueError, match="ratio has no parameter 'z'"):
        cl.grad(ratio, argnums)


@pytest.mark.parametrize("argnums", [0.0, None, (0.5,)])
def test_argnums_must_be_integers(argnums: Any) -> None:
    with pytest.raises(TypeError):
        cl.grad(ratio, argnums)


@pytest.mark.parametrize("argnum", [1, 3])
def test_a_parameter_without_reals_has_no_gradient(argnum: int) -> None:
    with pytest.raises(cl.CompileError, match=f"mixed by parameter {argnum}"):
        cl.grad(mixed, argnum)(1.0, 2, A, True)


def test_aux_is_returned_and_not_differentiated() -> None:
    @cl.jit
    def f(x: float, n: int):
        y = x * x
        return y * n, (y, n, [y for _ in range(n)])

    value, gradient = cl.value_and_grad(f, has_aux=True)(3.0, 2)
    assert value[0] == 18.0 and gradient == 12.0
    assert value[1][:2] == (9.0, 2) and value[1][2].tolist() == [9.0, 9.0]
    gradient, (y, n, ys) = cl.grad(f, has_aux=True)(3.0, 2)
    assert (gradient, y, n) == (12.0, 9.0, 2) and ys.tolist() == [9.0, 9.0]


def test_aux_may_be_a_list_of_tuples_or_nothing() -> None:
    @cl.jit
    def f(x: float, n: int):
        return x * x, [(x * i, i) for i in range(n)]

    @cl.jit
    def empty(x: float, n: int):
        return x * x, ()

    assert cl.grad(f, has_aux=True)(2.0, 2) == (4.0, [(0.0, 0), (2.0, 1)])
    assert cl.value_and_grad(f, (0,), has_aux=True)(2.0, 0) == ((4.0, []), (4.0,))
    assert cl.grad(empty, has_aux=True)(2.0, 2) == (4.0, ())


def test_what_is_not_a_float_has_no_gradient() -> None:
    @cl.jit
    def pair(x: float):
        return x, x

    @cl.jit
    def whole(x: float):
        return 3

    for function in (pair, whole):
        with pytest.raises(cl.CompileError, match="does not return a float"):
            cl.grad(function)(1.0)
    with pytest.raises(cl.CompileError, match="auxiliary"):
        cl.grad(ratio, has_aux=True)(1.0, 2.0)


def test_only_functions_are_compiled() -> None:
    slope = cl.grad(ratio)
    assert cl.jit(ratio) is ratio and cl.jit(slope) is slope
    with pytest.raises(TypeError, match="compiled already"):
        cl.jit(slope, debug=True)
    with pytest.raises(cl.CompileError, match="`sin` is not a function written in"):
        cl.jit(math.sin)
    with pytest.raises(cl.CompileError, match=r"`lambda x: \.\.\.`") as refusal:
        cl.grad(functools.partial(math.hypot, 2.0))
    assert "-->" not in str(refusal.value)


def test_lambdas_are_found_in_their_line() -> None:
    one, two = cl.jit(lambda x: x + 1.0), cl.jit(lambda x: (lambda y: x * y)(x))
    assert one(2.0) == 3.0
    assert two(3.0) == 9.0
    assert cl.grad(lambda x: x * x)(3.0) == 6.0


def test_derivatives_of_derivatives() -> None:
    def f(x: float, a: cl.f64[:], n: int) -> float:
        return float(np.sum(np.exp(a * x) * a)) * n

    a = np.array([0.3, 0.5, -0.2])
    for order in range(1, 4):
        derivative = f
        for _ in range(order):
            derivative = cl.grad(derivative)
        expected = 2.0 * np.sum(a ** (order + 1) * np.exp(a * 1.1))
        assert np.isclose(derivative(1.1, a, 2), expected, rtol=1e-13)
    value, by_a = cl.value_and_grad(cl.grad(f), argnums=1)(1.1, a, 2)
    assert np.isclose(value, cl.grad(f)(1.1, a, 2))
    assert np.allclose(by_a, 2.0 * np.exp(1.1 * a) * (1.1 * a * a + 2.0 * a))


# ---- parameters


def test_keywords_and_defaults() -> None:
    expected = 4.0 * 3 + 12.0
    for _ in range(2):
        assert mixed(2.0, 3, A) == expected
        assert mixed(2.0, 3, A, False) == 2.0
        assert mixed(2.0, a=A, k=3) == expected
        assert mixed(flag=False, x=2.0, a=A, k=3) == 2.0
    gradient = cl.grad(mixed, 2)
    assert gradient(2.0, 3, a=A).tolist() == [2.0, 2.0, 2.0]
    assert gradient(2.0, 3, A, flag=False).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("compiled_before", [False, True])
def test_wrong_arguments_are_named(compiled_before: bool) -> None:
    function = cl.jit(mixed.py_func)
    if compiled_before:
        function(1.0, 2, A)
    with pytest.raises(TypeError, match=r"mixed\(\).*'a'"):
        function(1.0, 2)
    with pytest.raises(TypeError, match=r"mixed\(\).*5"):
        function(1.0, 2, A, True, 5)
    with pytest.raises(TypeError, match=r"mixed\(\).*'x'"):
        function(1.0, 2, A, x=1.0)
    with pytest.raises(TypeError, match=r"mixed\(\).*'other'"):
        function(1.0, 2, A, other=1.0)


def test_tuples_are_parameters_and_results() -> None:
    @cl.jit
    def f(p: tuple[float, tuple[int, cl.f64[:]], bool]):
        x, (n, a), flag = p
        return (x * n + sum(v * v for v in a)) if flag else x

    arg = (2.0, (3, A), True)
    assert f(arg) == 20.0
    x_ct, (n_ct, a_ct), flag_ct = cl.grad(f)(arg)
    assert x_ct == 3.0 and n_ct is None and flag_ct is None
    assert a_ct.tolist() == [2.0, 4.0, 6.0]
    x_ct, (_, a_ct), _ = cl.grad(f)((2.0, (3, A), False))
    assert x_ct == 1.0 and a_ct.tolist() == [0.0, 0.0, 0.0]


def test_parameters_without_annotation_take_the_types_of_each_call() -> None:
    @cl.jit
    def f(x, a):
        return x * len(a) + a.shape[0]

    assert f(2, A) == 9 and type(f(2, A)) is int
    assert type(f(2.0, A)) is float
    assert f(True, A) == 6
    f(np.float64(2), np.arange(4.0))
    f(2, np.arange(5))
    f(2, np.arange(6))
    f(2, np.zeros((2, 3)))
    f(2, np.zeros((4, 5)))
    assert len(f._versions) == 5


def test_a_gradient_has_a_version_for_each_combination_of_types() -> None:
    @cl.jit
    def f(x, y):
        return x * y * 1.0

    gradient = cl.grad(f)
    assert gradient(2.0, 3) == 3.0
    assert gradient(2.0, 4) == 4.0
    assert gradient(2.0, 4.0) == 4.0
    assert len(gradient._versions) == 2
    with pytest.raises(cl.CompileError, match="holds no real numbers"):
        gradient(2, 3.0)


def test_an_open_rank_is_that_of_the_call() -> None:
    @cl.jit
    def rows(a: NDArray[np.float64]) -> int:
        return len(a)

    assert rows(np.zeros(3)) == 3
    assert rows(np.zeros((4, 2))) == 4
    assert rows(np.zeros((5, 2))) == 5
    assert len(rows._versions) == 2
    with pytest.raises(TypeError, match="rows: parameter a is"):
        rows(np.zeros(3, np.float32))
    with pytest.raises(TypeError, match="rows: parameter a is"):
        rows(3.0)


@pytest.mark.parametrize(
    "value", [3, True, np.float64(3), np.float32(3), np.int16(3), np.array(3.0)]
)
def test_any_real_number_is_a_float(value: Any) -> None:
    found = ratio(value, 2.0)
    assert type(found) is float and found == float(value) / 2.0
    assert cl.grad(ratio)(value, np.array(2)) == 0.5


def test_integers_have_64_bits() -> None:
    @cl.jit
    def twice(n: int) -> int:
        return n + n

    @cl.jit
    def any_twice(n):
        return n + n

    assert twice(2**62) == -(2**63)
    for function in (twice, any_twice):
        for wrong in (2**63, -(2**63) - 1, 10**30):
            with pytest.raises(OverflowError, match="parameter n"):
                function(wrong)
    assert ratio(2**70, 2.0) == 2.0**69


def test_results_of_all_types() -> None:
    @cl.jit
    def f(x: float, n: int):
        flags = [i % 2 == 0 for i in range(n)]
        grid = [[i * j for j in range(n)] for i in range(2)]
        return x, n, n > 2, flags, grid, (), ([x for _ in range(n)], (n,))

    x, n, large, flags, grid, empty, (xs, (m,)) = f(1.5, 3)
    assert (x, n, large, empty, m) == (1.5, 3, True, (), 3)
    assert type(n) is int and type(large) is bool
    assert flags.dtype == np.bool_ and flags.tolist() == [True, False, True]
    assert grid.dtype == np.int64 and grid.tolist() == [[0, 0, 0], [0, 1, 2]]
    assert xs.dtype == np.float64 and xs.tolist() == [1.5] * 3


# ---- ownership


@cl.jit
def same(a: cl.f64[:]):
    return a


@cl.jit
def twice_same(a: cl.f64[:], b: cl.f64[:]):
    return a, a, b, [v for v in a]


def test_results_alias_nothing() -> None:
    arg = np.arange(4.0)
    found = [same(arg), *twice_same(arg, arg)]
    for k, array in enumerate(found):
        assert array.flags.writeable and array.flags.c_contiguous
        array += 10.0 * (k + 1)
    for k, array in enumerate(found):
        assert array.tolist() == (np.arange(4.0) + 10.0 * (k + 1)).tolist()
    assert arg.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_gradients_alias_nothing() -> None:
    @cl.jit
    def f(a: cl.f64[:], b: cl.f64[:]) -> float:
        return sum(a) + sum(b)

    first, second = cl.grad(f, (0, 1))(A, A)
    first += 1.0
    assert second.tolist() == [1.0, 1.0, 1.0]
    assert A.tolist() == [1.0, 2.0, 3.0]


def test_the_same_array_twice_has_two_gradients() -> None:
    @cl.jit
    def f(a: cl.f64[:], b: cl.f64[:]) -> float:
        return sum(x * y * y for x, y in zip(a, b, strict=False))

    assert f(A, A) == 36.0
    a_ct, b_ct = cl.grad(f, (0, 1))(A, A)
    assert a_ct.tolist() == [1.0, 4.0, 9.0]
    assert b_ct.tolist() == [2.0, 8.0, 18.0]


def test_a_captured_array_is_copied_out() -> None:
    table = np.arange(3.0)

    @cl.jit
    def f(n: int):
        return table

    found = f(1)
    found += 1.0
    assert f(1).tolist() == [0.0, 1.0, 2.0]
    assert table.tolist() == [0.0, 1.0, 2.0]


def test_results_outlive_the_function() -> None:
    def fresh() -> Any:
        @cl.jit
        def f(x: float, n: int):
            return [x * i for i in range(n)]

        return f

    function = fresh()
    found = [function(float(k), 1000) for k in range(10)]
    del function
    gc.collect()
    for k, array in enumerate(found):
        assert (array == float(k) * np.arange(1000)).all()
        array[:] = 0.0


# ---- stages


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("kind", ["value", "gradient"])
def test_every_stage_is_shown(stage: str, kind: str) -> None:
    function = tiny if kind == "value" else cl.value_and_grad(tiny, (0, 1))
    text = function.show(stage)
    assert isinstance(text, str) and repr(text) == str(text)
    assert "tiny" in text and text.strip()
    assert all(line == line.rstrip() for line in text.splitlines() if stage != "asm")


@pytest.mark.parametrize("stage", ["core", "chad", "simplified"])
@pytest.mark.parametrize("kind", ["value", "gradient"])
def test_stages_of_a_tiny_function(stage: str, kind: str, golden: Any) -> None:
    function = tiny if kind == "value" else cl.value_and_grad(tiny, (0, 1))
    golden(GOLDEN / f"tiny-{kind}.{stage}", f"{function.show(stage)}\n")


def test_a_stage_needs_a_name_and_types() -> None:
    @cl.jit
    def f(x):
        return x * 2

    with pytest.raises(ValueError, match="no stage 'ast'; the stages are source core"):
        f.show("ast")
    with pytest.raises(ValueError, match="call the function first"):
        f.show("core")
    assert "f64" in f.show("core", 1.0)
    assert "i64" in f.show("core", x=1)
    assert f(1.0) == 2.0
    assert f.show("source").startswith("@cl.jit\ndef f(x):")
