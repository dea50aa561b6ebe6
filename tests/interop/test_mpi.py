"""The recipe of `docs/interop.md` for MPI, run by several processes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py")

# A wheel of MPICH or Open MPI has its launcher beside Python.
BESIDE = str(Path(sys.executable).parent)
LAUNCHER = shutil.which("mpiexec", path=os.pathsep.join([BESIDE, os.environ["PATH"]]))
PAGES = [Path(__file__).parents[n] / "docs" / "interop.md" for n in (2, 1)]

BEFORE = """
import sys
import numpy as np
import chadllvm as cl

ROWS = np.linspace(-1.0, 1.0, 60).reshape(20, 3)


@cl.jit
def loss(w: cl.f64[:], x: cl.f64[:, :]) -> float:
    return np.sum(np.cos(x @ w))


def shard_of(rank):
    return (np.array_split(ROWS, MPI.COMM_WORLD.size)[rank],)

"""

AFTER = """
w = np.array([0.3, -0.2, 0.7])
value, gradient = total(w)
expected = cl.value_and_grad(loss)(w, ROWS)
assert np.isclose(value, expected[0], rtol=1e-13), (value, expected)
assert np.allclose(gradient, expected[1], rtol=1e-12), (gradient, expected)
everyone = run.allgather((value, gradient.tobytes()))
assert everyone == [everyone[0]] * run.size
print(run.size)
"""


def recipe() -> str:
    """The code under the heading of MPI."""
    page = next(page for page in PAGES if page.exists())
    text = page.read_text(encoding="utf-8").partition("\n### MPI\n")[2]
    found = re.search(r"```py\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.skipif(LAUNCHER is None, reason="needs mpiexec")
@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_process_has_the_sum(count: int, tmp_path: Path) -> None:
    script = tmp_path / "total.py"
    script.write_text(BEFORE + recipe() + AFTER, encoding="utf-8")
    command = [str(LAUNCHER), "-n", str(count), sys.executable, str(script)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    found = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False,
        env=environment, cwd=tmp_path,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert found.stdout.count(str(count)) == count
