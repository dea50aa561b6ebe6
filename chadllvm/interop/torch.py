"""Compiled functions as functions of PyTorch tensors, with all derivatives.

    energy = torch_function(cl.jit(f))
    loss = energy(x, stiffness)
    loss.backward()

The gradient is a compiled function as well, and differentiable: `create_graph=True`,
`torch.autograd.functional.hessian` and `torch.func.vmap` work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from chadllvm.interop.derived import as_argument, compiled, pullback, results_of


def torch_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors that calls a compiled one, and its derivatives.

    Args:
        function: takes floats and arrays of float64 or float32, and returns one or a
            tuple of them. It is compiled for their types and dimensions.

    Returns:
        A function of as many tensors on the processor, of these types; one without
        dimensions is a float. Its results require gradients if an argument does.

    Raises:
        TypeError: if an argument is no tensor, is on another device, or is of another
            type.
    """
    ours = compiled(function)

    def call(*tensors: torch.Tensor) -> Any:
        for k, tensor in enumerate(tensors):
            _check(tensor, k)
        return _Call.apply(ours, *tensors)

    return call


def _check(tensor: Any, k: int) -> None:
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"argument {k} is no tensor: {type(tensor).__name__}")
    if tensor.device.type != "cpu":
        raise TypeError(
            f"argument {k} is on {tensor.device}: compiled functions run on the "
            "processor; `.cpu()` moves it there"
        )


class _Call(torch.autograd.Function):
    """A call; `vmap` calls it for each element of a batch."""

    @staticmethod
    def forward(function: Callable[..., Any], *tensors: torch.Tensor) -> Any:
        args = [as_argument(t.detach().numpy()) for t in tensors]
        value = function(*args)
        found = tuple(torch.from_numpy(v.copy()) for v in results_of(value))
        return found if isinstance(value, tuple) else found[0]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.function, *tensors = inputs
        ctx.count = len(output) if isinstance(output, tuple) else 0
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> Any:
        tensors = ctx.saved_tensors
        pulled = pullback(ctx.function, len(tensors), ctx.count)
        found = _Call.apply(pulled, *tensors, *cotangents)
        return None, *(found if isinstance(found, tuple) else (found,))

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], function: Any, *tensors: Any
    ) -> Any:
        places = in_dims[1:]
        calls = []
        for k in range(info.batch_size):
            rows = [
                t if place is None else t.select(place, k)
                for t, place in zip(tensors, places, strict=True)
            ]
            calls.append(_Call.apply(function, *rows))
        if not isinstance(calls[0], tuple):
            return torch.stack(calls), 0
        stacked = tuple(torch.stack(each) for each in zip(*calls, strict=True))
        return stacked, tuple(0 for _ in stacked)
