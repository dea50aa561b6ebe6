"""A fixed part of `python -m tests.faults`, and that it finds what it looks for."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from programs.case import Case
from sweep import named

from chadllvm.backend.runtime import runtime
from chadllvm.forking import Busy
from tests.faults import Fault, allocations, processes
from tests.faults.allocations import MODES, refused, some_programs
from tests.faults.interrupts import interrupted
from tests.faults.processes import SCRIPTS, survives

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
