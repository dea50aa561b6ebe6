"""What every program on several threads shows: the same bits, the right ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import chadllvm as cl


def parts(value: Any) -> list[bytes]:
    """The bits of a value and its derivatives."""
    if isinstance(value, tuple):
        return [part for each in value for part in parts(each)]
    return [np.asarray(value).tobytes()]


def check_same_bits(program: Any, args: tuple[Any, ...], wrt: tuple[int, ...]) -> None:
    """As many times and threads as there are, value and gradient are those in order."""
    both = [cl.value_and_grad(program, argnums=wrt), program]
    alone = cl.jit(program.py_func, parallel=False, cache=False)
    cl.set_num_threads(1)
    expected = [parts(f(*args)) for f in both]
    assert parts(alone(*args)) == expected[1]
    assert parts(cl.value_and_grad(alone, argnums=wrt)(*args)) == expected[0]
    for threads in (2, 3, 8):
        cl.set_num_threads(threads)
        for _ in range(4):
            assert [parts(f(*args)) for f in both] == expected


def check_as_without(
    name: str, program: Any, args: tuple[Any, ...], wrt: tuple[int, ...]
) -> None:
    """Without the pass of that name, value and gradient are the same, rounded."""
    plain = cl.CompileOptions(disabled=frozenset([name]), cache=False)
    other = cl.jit(program.py_func, options=plain)
    cl.set_num_threads(3)
    value, slopes = cl.value_and_grad(program, argnums=wrt)(*args)
    expected, others = cl.value_and_grad(other, argnums=wrt)(*args)
    assert math.isclose(value, expected, rel_tol=1e-11)
    for slope, right in zip(slopes, others, strict=True):
        np.testing.assert_allclose(slope, right, rtol=1e-9, atol=1e-11)
