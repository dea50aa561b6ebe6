"""`f(…, out=…)`: results in arrays of the caller's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend.runtime import runtime


class Line(NamedTuple):
    slopes: cl.f64[:]
    offset: float


@dataclass(frozen=True)
class Layer:
    weights: cl.f64[:, :]
    scale: float


@cl.jit
def loss(x: cl.f64[:], k: float = 2.0) -> float:
    return k * np.sum(x * x)


@cl.jit
def doubled(x: cl.f64[:]) -> cl.f64[:]:
    return 2.0 * x


@cl.jit
def both(x: cl.f64[:, :], k: int) -> tuple[cl.f64[:, :], int, cl.i64[:]]:
    return x + k, 3 * k, np.arange(k)


X = np.array([1.0, 2.0, 4.0])


def test_the_result_is_the_given_array() -> None:
    out = np.full(3, np.nan)
    assert doubled(X, out=out) is out
    assert out.tolist() == [2.0, 4.0, 8.0]
    assert doubled(X, out=None).tolist() == [2.0, 4.0, 8.0]


def test_gradients() -> None:
    out = np.empty(3)
    value, gradient = cl.value_and_grad(loss)(X, out=(None, out))
    assert value == 42.0 and gradient is out
    assert out.tolist() == [4.0, 8.0, 16.0]
    assert cl.grad(loss)(X, k=1.0, out=out) is out
    assert out.tolist() == [2.0, 4.0, 8.0]


def test_tuples_where_some_are_given() -> None:
    x, first = np.ones((2, 2)), np.empty((2, 2))
    found = both(x, 3, out=(first, None, None))
    assert found[0] is first and found[1:2] == (9,)
    assert first.tolist() == [[4.0, 4.0], [4.0, 4.0]]
    assert found[2].tolist() == [0, 1, 2]
    counts = np.empty(3, np.int64)
    found = both(x, 3, out=[None, None, counts])
    assert found[2] is counts and counts.tolist() == [0, 1, 2]


def line_loss(line: Line, x: cl.f64[:]) -> float:
    return np.sum(line.slopes * x) ** 2 + line.offset


def layer_loss(layer: Layer) -> float:
    return layer.scale * np.sum(layer.weights**2)


def test_records() -> None:
    out = Line(np.empty(3), None)  # type: ignore[arg-type]
    gradient = cl.grad(line_loss)(Line(X, 1.0), X, out=out)
    assert type(gradient) is Line and gradient.slopes is out.slopes
    assert gradient.offset == 1.0
    np.testing.assert_array_equal(out.slopes, 42.0 * X)
    table = np.empty((2, 2))
    wanted = Layer(table, None)  # type: ignore[arg-type]
    gradient = cl.grad(layer_loss)(Layer(np.ones((2, 2)), 3.0), out=wanted)
    assert type(gradient) is Layer and gradient.weights is table
    assert (gradient.scale, table[0, 0]) == (4.0, 6.0)


def table_of(x: cl.f64[:]) -> dict[str, Any]:
    return {"twice": 2.0 * x, "sum": np.sum(x)}


def test_dictionaries() -> None:
    out = np.empty(3)
    found = cl.jit(table_of)(X, out={"twice": out})
    assert found["twice"] is out and found["sum"] == 7.0
    assert out.tolist() == [2.0, 4.0, 8.0]
    with pytest.raises(ValueError, match="out is not made like the result, a dict"):
        cl.jit(table_of)(X, out={"thrice": out})


def pieces(x: cl.f64[:], k: int) -> list[cl.f64[:]]:
    return [x[: i + 1] for i in range(k)]


def test_lists_are_copied() -> None:
    outs = [np.empty(1), np.empty(2)]
    found = cl.jit(pieces)(X, 2, out=outs)
    assert found[0] is outs[0] and found[1] is outs[1]
    assert outs[1].tolist() == [1.0, 2.0]


def test_functions_that_update() -> None:
    def smooth(x: cl.f64[:]) -> cl.f64[:]:
        x[0] = 5.0
        return x + 1.0

    x, out = X.copy(), np.empty(3)
    assert cl.jit(smooth, updates="x")(x, out=out) is out
    assert x[0] == 5.0 and out.tolist() == [6.0, 3.0, 5.0]
    x = X.copy()
    with pytest.raises(ValueError, match="shape"):
        cl.jit(smooth, updates="x")(x, out=np.empty(2))
    assert x[0] == 1.0


def test_arguments_without_annotations_and_static_ones() -> None:
    @cl.jit(static_argnames="n")
    def power(x: Any, n: int) -> Any:
        return x**n

    out = np.empty(3)
    assert power(X, 2, out=out) is out
    assert out.tolist() == [1.0, 4.0, 16.0]
    assert cl.jit(lambda x: 3.0 * x)(X, out=out) is out
    assert out[0] == 3.0


def test_a_parameter_of_that_name_is_one() -> None:
    @cl.jit
    def scaled(x: cl.f64[:], out: float) -> cl.f64[:]:
        return out * x

    assert scaled(X, out=3.0).tolist() == [3.0, 6.0, 12.0]


def test_an_argument_may_be_filled() -> None:
    """As everywhere in NumPy, the result is that of the arguments before."""
    x = np.arange(6.0)
    assert doubled(x, out=x) is x
    assert x.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    doubled(x[:5], out=x[1:])
    assert x.tolist() == [0.0, 0.0, 4.0, 8.0, 12.0, 16.0]


def reverse_sums(x: cl.f64[:]) -> cl.f64[:]:
    y = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(i, len(x)):
            y[i] += x[len(x) - 1 - j]
    return y


@pytest.mark.parametrize(
    "given", [lambda x: x, lambda x: x[:], memoryview, lambda x: x.tolist()]
)
def test_what_is_read_late_is_no_memory_for_results(given: Any) -> None:
    x = np.arange(6.0)
    expected = cl.jit(reverse_sums)(x)
    cl.jit(reverse_sums)(given(x), out=x)
    assert x.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.empty((3, 2))[:, 1],
        lambda: np.empty(6)[::-2],
        lambda: np.frombuffer(bytearray(25), np.uint8)[1:].view(np.float64),
        lambda: np.asfortranarray(np.empty((3, 1)))[:, 0],
    ],
)
def test_other_layouts(make: Callable[[], np.ndarray]) -> None:
    out = make()
    assert doubled(X, out=out) is out
    assert out.tolist() == [2.0, 4.0, 8.0]


def test_results_from_branches_and_loops() -> None:
    @cl.jit
    def chosen(x: cl.f64[:], n: int) -> cl.f64[:]:
        found = x + 1.0
        for i in range(n):
            found = found * 2.0 if i % 2 else found + x
        return found

    for n in range(4):
        out = np.empty(3)
        assert chosen(X, n, out=out) is out
        np.testing.assert_array_equal(out, chosen(X, n))


def test_the_same_result_twice() -> None:
    @cl.jit
    def twice(x: cl.f64[:]) -> tuple[cl.f64[:], cl.f64[:]]:
        y = x + 1.0
        return y, y

    outs = np.empty(3), np.empty(3)
    found = twice(X, out=outs)
    assert found[0] is outs[0] and found[1] is outs[1]
    assert outs[0].tolist() == outs[1].tolist() == [2.0, 3.0, 5.0]


def test_results_of_one_size_change_places() -> None:
    """Neither is in the memory of the other."""

    @cl.jit
    def swapped(x: cl.f64[:], y: cl.f64[:], n: int) -> tuple[cl.f64[:], cl.f64[:]]:
        a, b = 2.0 * x, 3.0 * y
        for _ in range(n):
            a, b = b, a
        return a, b

    for n in range(3):
        outs = np.empty(3), np.empty(3)
        found = swapped(X, X, n, out=outs)
        for array, own, wanted in zip(found, outs, swapped(X, X, n), strict=True):
            assert array is own
            np.testing.assert_array_equal(own, wanted)


def test_results_of_other_shapes_and_as_many_elements() -> None:
    """Memory of the right size with the wrong shape does not become the result."""
    flat = cl.jit(lambda x: np.reshape(x, (3, 2)) + 1.0)
    out = np.empty((2, 3))
    with pytest.raises(ValueError, match=r"the shape \(2, 3\), .* has \(3, 2\)"):
        flat(np.ones(6), out=out)
    by = cl.jit(lambda x, k: np.reshape(x, (k, len(x) // k)) + 1.0)
    for k in (2, 3, 6, 1, 2):
        found = by(np.arange(6.0), k)
        assert found.shape == (k, 6 // k)
        np.testing.assert_array_equal(found.ravel(), np.arange(1.0, 7.0))


def test_memory_counts_whoever_has_it() -> None:
    x = np.ones(1 << 20)
    peaks = []
    for out in (np.empty_like(x), None):
        doubled(x, out=out)
        (context, *_) = runtime().pool[-1]
        peaks.append(runtime().lib.chad_memory_peak(context))
        assert runtime().lib.chad_memory_used(context) < x.nbytes
    assert peaks[0] >= x.nbytes and peaks[1] >= x.nbytes


def test_failures() -> None:
    @cl.jit
    def checked(x: cl.f64[:], k: int) -> cl.f64[:]:
        y = 2.0 * x
        if y[k] > 5.0:
            raise ValueError("too large")
        return y

    out = np.empty(3)
    assert checked(X, 0, out=out) is out
    out[:] = 0.0
    with pytest.raises(ValueError, match="too large"):
        checked(X, 2, out=out)
    assert out.tolist() == [2.0, 4.0, 8.0]  # It was computed there.
    with pytest.raises(IndexError):
        checked(X, 3, out=out)
    assert checked(X, 1, out=out).tolist() == [2.0, 4.0, 8.0]


def test_nans_are_looked_for() -> None:
    @cl.jit
    def rooted(x: cl.f64[:]) -> cl.f64[:]:
        return np.sqrt(x)

    out = np.empty(3)
    rooted(X, out=out)
    with cl.debug_nans():
        assert rooted(X, out=out) is out
        with pytest.raises(FloatingPointError):
            rooted(-X, out=out)


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.empty(2), ValueError, r"out has the shape \(2,\), and the result has"),
        (np.empty((3, 1)), ValueError, "out has the shape"),
        (np.empty(3, np.float32), TypeError, "of float64, found ndarray of float32"),
        ([0.0, 0.0, 0.0], TypeError, "array of float64, found list"),
        (np.broadcast_to(np.empty(1), (3,)), ValueError, "out is read-only"),
        ((np.empty(3),), TypeError, "found tuple"),
    ],
)
def test_what_does_not_fit(out: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^doubled: .*{message}"):
        doubled(X, out=out)


def test_a_result_without_arrays_takes_none() -> None:
    for call in (cl.jit(loss.py_func), cl.jit(lambda x: np.sum(x))):
        for _ in range(2):
            with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
                call(X, out=X)


def test_structures_that_do_not_fit() -> None:
    gradient = cl.value_and_grad(loss)
    for out in (np.empty(3), (None,), (None, np.empty(3), None)):
        with pytest.raises(ValueError, match="not made like the result, a tuple of 2"):
            gradient(X, out=out)
    with pytest.raises(ValueError, match=r"out\[0\] is given for a float"):
        gradient(X, out=(np.empty(()), None))
    one = np.empty((2, 2))
    with pytest.raises(ValueError, match=r"out\[0\] and .*out\[1\] share memory"):
        cl.jit(lambda x: (x + 1.0, x * 2.0))(np.ones((2, 2)), out=(one, one.T))
    own = np.lib.stride_tricks.as_strided(np.empty(3), (3,), (0,))
    with pytest.raises(ValueError, match="elements of the array share memory"):
        doubled(X, out=own)


@pytest.mark.parametrize(
    "options",
    [
        {"optimize": 0}, {"sanitize": True}, {"debug": True}, {"strict": True},
        {"parallel": False}, {"cpu": "native"},
    ],
)  # fmt: skip
def test_options(options: dict[str, Any]) -> None:
    gradient = cl.value_and_grad(
        cl.jit(lambda x: np.sum(np.sin(x)), options=cl.CompileOptions(**options))
    )
    out = np.empty(1000)
    x = np.linspace(0.0, 1.0, 1000)
    value, found = gradient(x, out=(None, out))
    assert found is out
    np.testing.assert_allclose(out, np.cos(x), rtol=1e-12)
    assert value == pytest.approx(float(np.sum(np.sin(x))))
