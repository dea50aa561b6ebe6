"""The kernels of the wide suite mean what they do in Python, and have slopes."""

from __future__ import annotations

import numpy as np
import pytest

import chadllvm as cl
from bench.wide.kernel import FAMILIES, Kernel, kernels
from tests.sweep import marks

KERNELS = [
    pytest.param(kernel, id=name, marks=marks(name, 4, "wide"))
    for name, kernel in kernels().items()
]


def test_there_are_enough_of_several_families() -> None:
    families = [kernel.family for kernel in kernels().values()]
    assert len(families) >= 60
    assert all(families.count(family) >= 8 for family in FAMILIES)


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_is_as_in_python(kernel: Kernel) -> None:
    arguments = kernel.arguments()
    gradient = cl.value_and_grad(kernel.program, argnums=kernel.argnums)
    value, slopes = gradient(*arguments)
    assert value == pytest.approx(kernel.program(*arguments), rel=1e-9)
    tangents: list[object] = [None] * len(arguments)
    along = 0.0
    for k, slope in zip(kernel.argnums, slopes, strict=True):
        direction = np.cos(np.arange(slope.size)).reshape(slope.shape)
        tangents[k] = direction
        along += float(np.sum(slope * direction))
    assert along == pytest.approx(cl.jvp(kernel.program, arguments, tangents)[1])
