"""Compiled functions in PyTorch: gradients of all orders, batches, errors."""

from __future__ import annotations

import numpy as np
import pytest

import chadllvm as cl

torch = pytest.importorskip("torch")

from chadllvm.interop.torch import torch_function  # noqa: E402


@cl.jit
def energy(x: cl.f64[:], k: float) -> float:
    return k * np.sum(np.sin(x) * x) + np.sum(x * x * x)


ENERGY = torch_function(energy)
X = torch.tensor([0.3, -1.2, 2.0], dtype=torch.float64, requires_grad=True)
K = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)


def plain(x, k):  # type: ignore[no-untyped-def]
    return k * (torch.sin(x) * x).sum() + (x * x * x).sum()


def test_gradients_of_all_orders() -> None:
    assert torch.allclose(ENERGY(X, K), plain(X, K))
    ours = torch.autograd.grad(ENERGY(X, K), (X, K), create_graph=True)
    right = torch.autograd.grad(plain(X, K), (X, K), create_graph=True)
    assert all(torch.allclose(a, b) for a, b in zip(ours, right, strict=True))
    second = torch.autograd.grad(ours[0].pow(2).sum(), (X, K), create_graph=True)
    expected = torch.autograd.grad(right[0].pow(2).sum(), (X, K), create_graph=True)
    assert all(torch.allclose(a, b) for a, b in zip(second, expected, strict=True))
    (third,) = torch.autograd.grad(second[0].sum(), X)
    assert torch.allclose(third, torch.autograd.grad(expected[0].sum(), X)[0])
    assert torch.autograd.gradcheck(ENERGY, (X, K))
    assert torch.autograd.gradgradcheck(ENERGY, (X, K))


def test_in_a_model() -> None:
    layer = torch.nn.Linear(2, 3, dtype=torch.float64)
    ENERGY(layer(torch.ones(2, dtype=torch.float64)), K).backward()
    found = layer.weight.grad.clone()
    layer.zero_grad()
    plain(layer(torch.ones(2, dtype=torch.float64)), K).backward()
    assert torch.allclose(found, layer.weight.grad)


def test_several_results_single_precision_and_batches() -> None:
    @cl.jit
    def both(x: cl.f64[:], y: cl.f64[:]) -> tuple[cl.f64[:], float]:
        return x * y, np.sum(x)

    x = torch.rand(4, dtype=torch.float64, requires_grad=True)
    y = torch.rand(4, dtype=torch.float64, requires_grad=True)
    product, total = torch_function(both)(x, y)
    ((product**2).sum() + total).backward()
    assert torch.allclose(x.grad, 2.0 * x * y * y + 1.0)

    single = torch_function(lambda x: x * x)
    x32 = torch.rand(3, requires_grad=True)
    single(x32).sum().backward()
    assert x32.grad.dtype == torch.float32 and torch.allclose(x32.grad, 2.0 * x32)

    rows = torch.rand(5, 3, dtype=torch.float64)
    found = torch.func.vmap(ENERGY, (0, None))(rows, K.detach())
    assert torch.allclose(found, torch.stack([plain(r, K) for r in rows]))
    slopes = torch.func.vmap(torch.func.grad(ENERGY), (0, None))(rows, K.detach())
    expected = torch.func.vmap(torch.func.grad(plain), (0, None))(rows, K.detach())
    assert torch.allclose(slopes, expected)


def test_wrong_arguments_are_told() -> None:
    with pytest.raises(TypeError, match="argument 1 is no tensor: float"):
        ENERGY(X, 1.5)
    with pytest.raises(TypeError, match="float64 or float32, not of int64"):
        ENERGY(torch.arange(3), K)
    with pytest.raises(TypeError, match="on meta"):
        ENERGY(torch.zeros(3, dtype=torch.float64, device="meta"), K)
