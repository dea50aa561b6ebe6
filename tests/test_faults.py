"""A fixed part of `python -m tests.faults`, and that it finds what it looks for."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from programs.case import Case

from chadllvm.backend.runtime import runtime
from chadllvm.support.forking import Busy
from tests.faults import Fault, allocations, guards, processes
from tests.faults.allocations import MODES, refused, some_programs
from tests.faults.interrupts import interrupted
from tests.faults.processes import SCRIPTS, survives
from tests.sweep import named

SOME = some_programs(5)


@pytest.fixture(autouse=True)
def all_grants() -> Iterator[None]:
    yield
    runtime().lib.chad_set_grants(-1)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", SOME, ids=named(SOME))
def test_each_request_for_memory_may_be_refused(case: Case, mode: str) -> None:
    told = refused(case, mode)
    first, _, second, *_ = told.split()
    # At least a context, and an array of the gradient.
    assert int(first) >= 1 and int(second) >= 2


def test_memory_that_is_left_behind_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A context that says it still uses what it has given back."""
    rt, real = runtime(), runtime().lib

    class Leaking:
        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def chad_memory_used(self, context: Any) -> int:
            return 64

    monkeypatch.setattr(rt, "lib", Leaking())
    with pytest.raises(Fault, match="leaves 64 bytes behind"):
        refused(SOME[0], "default")


def test_a_wrong_call_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter(range(1000))
    monkeypatch.setattr(allocations, "_bits", lambda value: [bytes(next(numbers))])
    with pytest.raises(Fault, match="wrong"):
        refused(SOME[0], "default")


@pytest.mark.skipif(os.name == "nt", reason="there is no mprotect")
@pytest.mark.parametrize("mode", guards.MODES)
def test_programs_between_guards(mode: str) -> None:
    assert guards.behind_guards(3, 60, mode).endswith(" programs")


OUTSIDE = """
import sys, numpy as np
from tests.faults.guards import guarded
from chadllvm.backend.runtime import runtime
a = guarded(np.arange(5.0))
assert a.sum() == 10.0
lib, ffi = runtime().lib, runtime().ffi
lib.chad_set_guards()
context = lib.chad_context_new()
r = ffi.cast("double *", lib.chad_result_alloc(context, 64))
r[0] = 1.0
print("inside", flush=True)
{0}
print("outside")
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no mprotect")
@pytest.mark.parametrize(
    "access",
    [
        "ffi.cast('double *', a.ctypes.data)[5]",
        "r[8]",
        # The runtime reads one number more than there is, in both.
        "lib.chad_are_doubles(context, ffi.cast('double *', a.ctypes.data), 6)",
        "lib.chad_clear(context, r, 72)",
    ],
)
def test_an_access_that_nobody_checks_ends_the_process(access: str) -> None:
    command = [sys.executable, "-c", OUTSIDE.format(access)]
    done = subprocess.run(command, cwd=guards.ROOT, capture_output=True, text=True)
    assert (done.stdout.split(), done.returncode < 0) == (["inside"], True)


def test_a_program_that_ends_behind_guards_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = "import os; print('first second', flush=True); os.abort()"
    monkeypatch.setattr(guards, "WORKER", (sys.executable, "-c", script))
    with pytest.raises(Fault, match="second: exit status -"):
        guards.behind_guards(0, 1, "default")


def test_interrupts_at_random_moments() -> None:
    assert interrupted(24, seed=1).endswith("of 24 calls were stopped")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_process_survives(name: str) -> None:
    assert survives(name, 1, seed=2) in ("survived 1 times", "there is no fork")


def test_a_process_that_does_not_survive_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(SCRIPTS, "dies", "\n    os.abort()\n    print('done')\n")
    with pytest.raises(Fault, match="dies, round 0"):
        survives("dies", 1, seed=0)
    monkeypatch.setattr(processes, "SECONDS", 1)
    monkeypatch.setitem(SCRIPTS, "hangs", "\n    time.sleep(60)\n")
    with pytest.raises(Fault, match="it hangs"):
        survives("hangs", 1, seed=0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_fork_waits_for_who_compiles() -> None:
    """And not for the thread that forks, which may do so within a compilation."""
    entered, leave = threading.Event(), threading.Event()
    order: list[str] = []

    def compiling() -> None:
        with Busy():
            entered.set()
            leave.wait(10.0)
            order.append("compiled")

    thread = threading.Thread(target=compiling)
    thread.start()
    assert entered.wait(10.0)
    threading.Timer(0.2, leave.set).start()
    with Busy():
        child = os.fork()
        if child == 0:
            with Busy():
                os._exit(int(np.size(order) != 1))
        order.append("forked")
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert order == ["compiled", "forked"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_nobody_begins_to_compile_before_a_fork_that_waits() -> None:
    """Else who compiles one function after the other would keep it waiting."""
    leave, order = threading.Event(), list[str]()

    def compiling(name: str, until: threading.Event | None = None) -> None:
        with Busy():
            order.append(name)
            if until is not None:
                until.wait(10.0)

    def later() -> None:
        time.sleep(0.2)  # The fork has begun to wait.
        threads.append(threading.Thread(target=compiling, args=("second",)))
        threads[-1].start()
        time.sleep(0.2)
        order.append("waited")
        leave.set()

    threads = [threading.Thread(target=compiling, args=("first", leave))]
    threads[0].start()
    while not order:
        time.sleep(0.01)
    threads.append(threading.Thread(target=later))
    threads[-1].start()
    child = os.fork()
    if child == 0:
        os._exit(int("second" in order))
    for thread in threads:
        thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert order == ["first", "waited", "second"]
