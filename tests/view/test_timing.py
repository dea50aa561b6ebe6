"""Stages are timed where somebody asks, and nowhere else."""

from __future__ import annotations

import contextvars
import time

import pytest

from chadllvm.ir.defects import stage
from chadllvm.view.timing import Lap, recorded, timed


def test_laps_are_nested() -> None:
    with recorded() as laps:
        with stage("outer"):
            with timed("first"):
                time.sleep(0.002)
            with timed("second"), timed(""):
                pass
        with timed("last"):
            pass
    assert [lap.name for lap in laps] == ["outer", "last"]
    outer, last = laps
    assert [lap.name for lap in outer.inner] == ["first", "second"]
    assert outer.seconds >= sum(lap.seconds for lap in outer.inner) >= 0.002
    assert outer.start + outer.seconds <= last.start


def test_a_failure_ends_a_lap() -> None:
    with recorded() as laps:
        with pytest.raises(MemoryError), timed("fails"):
            raise MemoryError
        with timed("next"):
            pass
    assert [lap.name for lap in laps] == ["fails", "next"]


def test_a_copy_of_the_context_belongs_to_it() -> None:
    def run() -> None:
        with timed("inside"):
            pass

    with recorded() as laps:
        contextvars.copy_context().run(run)
        contextvars.Context().run(run)
    run()
    assert [lap.name for lap in laps] == ["inside"]
    assert isinstance(laps[0], Lap)
