"""The oldest NumPy that `pyproject.toml` allows has fewer functions."""

from __future__ import annotations

import subprocess
import sys

import pytest

# What NumPy has got since 1.26, of what functions of ours stand for.
SINCE = {
    "numpy": """
        acos acosh asin asinh astype atan atan2 atanh bitwise_count bitwise_invert
        bitwise_left_shift bitwise_right_shift concat cumulative_prod cumulative_sum
        isdtype matrix_transpose matvec permute_dims pow trapezoid unique_all
        unique_counts unique_inverse unique_values unstack vecdot vecmat
    """,
    "numpy.linalg": """
        cross diagonal matmul matrix_norm matrix_transpose outer svdvals tensordot
        trace vecdot vector_norm
    """,
}

PROGRAM = f"""
import importlib, sys
import numpy as np

for module, names in {SINCE!r}.items():
    for name in names.split():
        if hasattr(sys.modules[module], name):
            delattr(sys.modules[module], name)

import chadllvm as cl
from chadllvm.support.overloads import provided

assert provided()

def f(x: cl.f64[:]) -> float:
    middle = np.median(np.convolve(x, x))
    return middle + np.linalg.svd(np.outer(x, x))[1][0] + np.sum(np.polyadd(x, x))

x = np.arange(4.0)
assert np.isclose(cl.jit(f, cache=False)(x), f(x))
print("as it was")
"""


@pytest.mark.timeout(300)
def test_functions_that_numpy_does_not_have_are_not_asked_for(tmp_path: object) -> None:
    file = f"{tmp_path}/program.py"
    with open(file, "w", encoding="utf-8") as out:
        out.write(PROGRAM)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True)
    assert done.stdout == "as it was\n", done.stderr
