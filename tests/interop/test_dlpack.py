"""Arrays of other libraries as arguments and results, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chadllvm as cl


class Exporter:
    """An array of a library that speaks DLPack and nothing else."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.asked = 0

    def __dlpack__(self, **options: Any) -> Any:
        self.asked += 1
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class OnAnotherDevice(Exporter):
    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("the array is on device 3.\nMove it.")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


@cl.jit
def energy(x: cl.f64[:]) -> float:
    return np.sum(x * x)


@cl.jit
def scaled(x: Any, k: float) -> Any:
    return k * x


@cl.jit
def doubled_in_place(x: cl.f64[:]) -> None:
    x *= 2.0


X = np.array([1.0, -2.0, 4.0])


@pytest.mark.parametrize("options", [{}, {"optimize": 0}, {"debug": True}])
def test_an_exporter_is_an_argument(options: dict[str, Any]) -> None:
    function = cl.jit(energy.py_func, options=cl.CompileOptions(**options))
    given = Exporter(X)
    assert function(given) == 21.0
    assert cl.grad(function)(given).tolist() == [2.0, -4.0, 8.0]
    assert given.asked >= 2
    assert scaled(Exporter(X), 3.0).tolist() == [3.0, -6.0, 12.0]
    assert scaled(Exporter(np.arange(3)), 2.0).tolist() == [0.0, 2.0, 4.0]


def test_what_is_not_contiguous_or_read_only() -> None:
    assert energy(Exporter(np.repeat(X, 2)[::2])) == 21.0
    assert energy(Exporter(X.reshape(3, 1)[:, 0])) == 21.0


def test_what_does_not_fit() -> None:
    with pytest.raises(TypeError, match=r"energy: parameter x must .*found Exporter"):
        energy(Exporter(X.astype(np.float32)))
    with pytest.raises(ValueError, match="energy: parameter x"):
        energy(Exporter(np.ones((2, 2))))
    message = (
        "^(energy|scaled): parameter x is a OnAnotherDevice, which NumPy cannot read: "
        "the array is on device 3"
    )
    with pytest.raises(TypeError, match=message):
        energy(OnAnotherDevice(X))
    with pytest.raises(TypeError, match=message):
        scaled(OnAnotherDevice(X), 1.0)
    with pytest.raises(TypeError, match="updated"):
        doubled_in_place(Exporter(X.copy()))


def test_an_array_for_results_shares_no_memory_with_an_exporter() -> None:
    x = X.copy()
    assert scaled(Exporter(x), 2.0, out=x) is x
    assert x.tolist() == [2.0, -4.0, 8.0]


def test_pytorch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor([1.0, -2.0, 4.0], dtype=torch.float64)
    assert energy(x) == 21.0
    assert cl.grad(energy)(x).tolist() == [2.0, -4.0, 8.0]
    result = scaled(x, 2.0)
    tensor = torch.from_dlpack(result)
    result[0] = 7.0
    assert tensor.tolist() == [7.0, -4.0, 8.0]
    with pytest.raises(TypeError, match=r"Tensor of torch\.float32"):
        energy(x.float())
    with pytest.raises(TypeError, match=r"requires grad.*chadllvm\.interop\.torch"):
        energy(x.requires_grad_())
    with pytest.raises(TypeError, match=r"\.cpu\(\)"):
        energy(torch.zeros(3, dtype=torch.float64, device="meta"))


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        x = jax.numpy.array([1.0, -2.0, 4.0])
        assert energy(x) == 21.0
        assert scaled(x, 2.0).tolist() == [2.0, -4.0, 8.0]
    finally:
        jax.config.update("jax_enable_x64", before)
