"""`vectorize`, `overload`, `compile_package`: functions called from elsewhere."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.support.overloads import Namespace


@cl.vectorize
def huber(x, delta=1.0):  # type: ignore[no-untyped-def]
    return 0.5 * x * x if abs(x) < delta else delta * (abs(x) - 0.5 * delta)


def reference(x: Any, delta: Any = 1.0) -> Any:
    size = np.abs(x)
    return np.where(size < delta, 0.5 * size**2, delta * (size - 0.5 * delta))


X = np.array([-3.0, 0.25, 0.5, 2.0])


def test_numbers_and_arrays_of_all_shapes() -> None:
    assert huber(0.5) == 0.125 and huber(3.0, delta=2.0) == 4.0
    np.testing.assert_array_equal(huber(X), reference(X))
    wide = np.arange(1.0, 4.0)
    np.testing.assert_array_equal(huber(X[:, None], wide), reference(X[:, None], wide))
    assert huber(np.zeros((2, 0))).shape == (2, 0)
    assert huber(2) == 1.5 and huber(np.array([0, 2])).tolist() == [0.0, 1.5]


def test_in_programs() -> None:
    @cl.jit
    def f(x: cl.f64[:], d: float) -> float:
        alone = sum([huber(v, d) for v in x]) + sum(huber(v) for v in x)
        return np.sum(huber(x[:, None] * x, delta=d)) + alone + huber(d)

    table = reference(X[:, None] * X, 1.5).sum()
    expected = table + reference(X, 1.5).sum() + reference(X).sum() + reference(1.5)
    assert f(X, 1.5) == pytest.approx(float(expected))
    cl.check_grads(f, (X, 1.5), order=1)
    assert f(X, 1.5) == pytest.approx(f.py_func(X, 1.5))


def test_derivatives_go_by_the_branch_of_each_element() -> None:
    slopes = cl.grad(lambda x: np.sum(huber(x)))(X)
    np.testing.assert_array_equal(slopes, np.clip(X, -1.0, 1.0))


def test_it_loops_and_stops() -> None:
    @cl.vectorize
    def digits(n):  # type: ignore[no-untyped-def]
        count = 0
        while n > 0:
            n //= 10
            count += 1
        return count

    assert digits(np.array([0, 7, 1234])).tolist() == [0, 1, 4]


def test_wrong_arguments_are_told() -> None:
    for call, message in (
        (lambda x: huber("a"), "number"),
        (lambda x: huber(x, x, x), "2 arguments"),
        (lambda x: huber(x, sigma=1.0), "sigma"),
        (lambda x: huber(), "missing"),
    ):
        with pytest.raises((cl.CompileError, TypeError), match=message):
            cl.jit(call)(1.0)
    with pytest.raises(ValueError, match="sizes"):
        huber(np.zeros(2), np.zeros(3))
    with pytest.raises(TypeError, match="Python function"):
        cl.vectorize(math.sin)  # type: ignore[arg-type]


def test_pickles_are_references() -> None:
    assert pickle.loads(pickle.dumps(huber)) is huber


# ---- overloads -------------------------------------------------------------------


def foreign(x: Any) -> Any:
    """What the compiler cannot read, as it stands."""
    return eval("x ** 3")


class tools(Namespace):  # noqa: N801
    @staticmethod
    def cube(x: Any) -> Any:
        return eval("x ** 3")

    huber = huber


@cl.overload(foreign)
def compiled_foreign(x):  # type: ignore[no-untyped-def]
    return x * x * x


@cl.overload("statistics.fmean")
@cl.jit
def mean(xs):  # type: ignore[no-untyped-def]
    return np.mean(xs)


def test_functions_of_others_are_replaced() -> None:
    import statistics

    @cl.jit
    def f(x: cl.f64[:]) -> float:
        return foreign(x[0]) + statistics.fmean(x) + np.sum(tools.huber(x))

    assert f(X) == pytest.approx(f.py_func(X))
    cl.check_grads(f, (X,))


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="its name"):
        cl.overload(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a function"):
        cl.overload("statistics.mode")(3)  # type: ignore[type-var]


def test_a_lambda() -> None:
    square = cl.vectorize(lambda x: x * x)
    np.testing.assert_array_equal(square(X), X * X)
    assert cl.grad(lambda x: np.sum(square(x)))(X).tolist() == (2.0 * X).tolist()


@pytest.mark.sweep
def test_a_users_overload_comes_before_ours(tmp_path: Path) -> None:
    """Also where ours was compiled before, and kept."""
    module = tmp_path / "models.py"
    module.write_text(
        textwrap.dedent("""
        import sys
        import numpy as np
        import scipy.stats
        import chadllvm as cl

        @cl.jit
        def f(x: cl.f64[:]) -> float:
            return np.sum(scipy.stats.norm.logpdf(x))

        if sys.argv[1:]:
            @cl.overload("scipy.stats.norm.logpdf")
            def logpdf(x):
                return 2.0 * x

        print(f(np.ones(3)), "chadllvm.frontend.translation" in sys.modules)
        """)
    )

    def printed(*arguments: str) -> list[str]:
        run = subprocess.run(
            [sys.executable, str(module), *arguments],
            env={"CHADLLVM_CACHE_DIR": str(tmp_path / "cache"), "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        )
        return run.stdout.split()

    ours = f"{-3.0 * (0.5 + 0.5 * math.log(2.0 * math.pi)):.6f}"
    for is_kept in ("True", "False"):
        value, loaded = printed()
        assert f"{float(value):.6f}" == ours and loaded == is_kept
        assert printed("other") == ["6.0", is_kept]


# ---- plain functions -------------------------------------------------------------


def helper(x, scale=2.0):  # type: ignore[no-untyped-def]
    return scale * x


def test_plain_functions_of_the_module_are_compiled() -> None:
    @cl.jit
    def f(x: cl.f64[:]) -> float:
        return sum(helper(v) for v in x) + np.sum(helper(x, scale=3.0))

    assert f(X) == pytest.approx(f.py_func(X))
    assert cl.grad(f)(X).tolist() == [5.0] * 4


def test_those_of_other_modules_once_their_package_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "priors"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "flat.py").write_text(
        "def density(x):\n    return scaled(x) + 1.0\n\n\n"
        "def scaled(x):\n    return 2 * x\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    flat = __import__("priors.flat").flat
    with pytest.raises(cl.CompileError, match="another module"):
        cl.jit(lambda x: flat.density(x))(1.0)
    cl.compile_package("priors")
    assert cl.jit(lambda x: flat.density(x))(1.0) == 3.0
