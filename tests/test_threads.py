"""How many threads there are, who limits them, and many callers at once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threaded_programs import are_same, cases, outcome, region

import chadllvm as cl
from chadllvm.backend.runtime import Runtime, library_path, runtime

HERE = Path(__file__).parent
SCENARIOS = (
    "fork", "spawn", "forkserver", "grandchildren", "loky", "multiprocessing",
    "dask-threads", "dask-processes", "blas",
)  # fmt: skip


@pytest.fixture(autouse=True)
def usual_threads() -> Iterator[None]:
    yield
    cl.set_num_threads(None)


def python(*args: str, **environment: str) -> str:
    """What another Python process prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *args],
        cwd=HERE,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_openmp_is_there() -> None:
    """Without it nothing of what follows would be seen."""
    assert runtime().lib.chad_openmp() >= 201107


def test_set_and_reset() -> None:
    usual = cl.get_num_threads()
    for count in (1, 2, 7, 1024):
        cl.set_num_threads(count)
        assert cl.get_num_threads() == count
    cl.set_num_threads(None)
    assert cl.get_num_threads() == usual


def test_the_number_is_that_of_all_threads() -> None:
    cl.set_num_threads(5)
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.append(cl.get_num_threads()))
    thread.start()
    thread.join()
    assert seen == [5]


@pytest.mark.parametrize("count", [0, -1, 1025, 1 << 70])
def test_not_so_many_threads(count: int) -> None:
    with pytest.raises(ValueError, match="number of threads is 1 to 1024"):
        cl.set_num_threads(count)


@pytest.mark.parametrize("count", [2.0, "2", True])
def test_no_number_of_threads(count: Any) -> None:
    with pytest.raises(TypeError, match="number of threads is an integer"):
        cl.set_num_threads(count)


def test_regions_have_that_many() -> None:
    for count in (1, 2, 5):
        cl.set_num_threads(count)
        assert len(region(12, together=count)) == count


def test_threadpoolctl_limits_us() -> None:
    """Where OpenMP has more than one thread, which it need not on this machine."""
    show = """
import chadllvm as cl, threadpoolctl
from threaded_programs import region
cl.set_num_threads(6)
with threadpoolctl.threadpool_limits(1):
    print(cl.get_num_threads(), len(region(12)), end=" ")
print(cl.get_num_threads(), end=" ")
with threadpoolctl.threadpool_limits(1, user_api="blas"):
    print(cl.get_num_threads())
"""
    assert python("-c", show, OMP_NUM_THREADS="4").split() == ["1", "1", "6", "6"]


def test_the_package_loads_openmp() -> None:
    """Else a limit that is set before the first call would not hold in it."""
    show = """
import chadllvm as cl, threadpoolctl
assert "openmp" in [each["user_api"] for each in threadpoolctl.threadpool_info()]
with threadpoolctl.threadpool_limits(1):
    print(cl.get_num_threads(), end=" ")
    cl.set_num_threads(8)
    print(cl.get_num_threads(), end=" ")
print(cl.get_num_threads())
"""
    assert python("-c", show, OMP_NUM_THREADS="3") == "1 1 8\n"


def test_without_openmp(tmp_path: Path) -> None:
    """Alone, as on a machine that has no OpenMP, the library runs serially."""
    alone = Runtime(Path(shutil.copy(library_path(), tmp_path)))
    alone.lib.chad_set_threads(4)
    null = alone.ffi.NULL
    assert alone.lib.chad_openmp() == 0
    assert alone.lib.chad_threads(null) == 1
    order: list[int] = []

    @alone.ffi.callback("int32_t(chad_context_t *, void *, int64_t)")
    def run(_context: Any, _environment: Any, chunk: int) -> int:
        order.append(chunk)
        return 0

    context = alone.new_state()[0]
    assert alone.lib.chad_parallel(context, run, null, null, 9, 9, 1) == 0
    assert order == list(range(9))


def test_many_callers() -> None:
    """8 threads, 1000 calls each of functions in turn, some of which fail."""
    programs = cases()
    cl.set_num_threads(1)
    expected = [outcome(case) for case in programs]
    assert [isinstance(each, str) for each in expected] == [c.fails for c in programs]
    cl.set_num_threads(3)
    wrong: list[str] = []

    def call(start: int) -> None:
        for turn in range(start, start + 1000):
            index = turn % len(programs)
            if not are_same(outcome(programs[index]), expected[index]):
                wrong.append(f"{programs[index].function}, call {turn}")

    threads = [threading.Thread(target=call, args=(start,)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@cl.jit
def patient(x: cl.f64[:], steps: int) -> float:
    total = 0.0
    for i in range(len(x)):
        y = x[i]
        for _ in range(steps):
            y = 0.5 * y + 1.0
        total += y
    return total


def test_ctrl_c_stops_all_threads() -> None:
    x = np.ones(20_000)
    cl.set_num_threads(3)
    before = patient(x, 100)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        patient(x, 1 << 40)
    assert time.perf_counter() - start < 1.2
    timer.join()
    assert patient(x, 100) == before
    assert len(region(12, together=3)) == 3


@pytest.mark.sweep(share=2)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_shared_machine(scenario: str) -> None:
    """`shared_machine.py` says what each of them does."""
    python("shared_machine.py", scenario)
