"""Calls that return arrays, on more threads than this machine may have cores for.

No more threads help than there are cores, so a library says that there are eight.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CORES = """
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
int sched_getaffinity(int pid, size_t size, cpu_set_t *set) {
  memset(set, 0, size);
  for (int k = 0; k < 8; ++k) CPU_SET(k, set);
  return 0;
}
"""

# The leaves have as much to do as makes the first thread, which waits deep inside of
# the first of the seven outermost calls, take back the fifth and those behind it, that
# another thread has taken, and has come to: that does the fourth.
PROGRAM = """
import numpy as np
import chadllvm as cl
from chadllvm.lower import tasks

tasks.PATIENCE = 0

@cl.jit(cache=False)
def tree(x: cl.f64[:], work: cl.i64[:], place: int, level: int) -> cl.f64[:]:
    if level == 0:
        s = 0.0
        for i in range(work[place]):
            s += np.sin(s + i)
        return x * 1.5 + s * 0.0
    h = len(x) // 7
    a = tree(x[:h], work, place * 7, level - 1)
    b = tree(x[h : 2 * h], work, place * 7 + 1, level - 1)
    c = tree(x[2 * h : 3 * h], work, place * 7 + 2, level - 1)
    d = tree(x[3 * h : 4 * h], work, place * 7 + 3, level - 1)
    e = tree(x[4 * h : 5 * h], work, place * 7 + 4, level - 1)
    f = tree(x[5 * h : 6 * h], work, place * 7 + 5, level - 1)
    g = tree(x[6 * h :], work, place * 7 + 6, level - 1)
    return np.concatenate((a, b, c, d, e, f, g))

x = np.random.default_rng(0).normal(size=7**3 * 10)
work = np.full(7**3, 2_000)
work[0] = 1_000_000
work[[1, 7]] = 8_000_000
work[3 * 49 : 4 * 49] = 150_000
cl.set_num_threads(4)
for _ in range(3):
    np.testing.assert_array_equal(tree(x, work, 0, 3), x * 1.5)
"""


@pytest.mark.optimised
@pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("cc") is None,
    reason="needs a C compiler for a library that is loaded first",
)
def test_calls_taken_back_while_waiting_keep_what_they_return(tmp_path: Path) -> None:
    source, library = tmp_path / "cores.c", tmp_path / "cores.so"
    source.write_text(CORES)
    build = ["cc", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(build, check=True)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    env = {**os.environ, "LD_PRELOAD": str(library)}
    subprocess.run([sys.executable, str(program)], check=True, env=env)
