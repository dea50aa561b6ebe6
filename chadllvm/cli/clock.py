"""How long calls take, and how much memory they use."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from chadllvm.backend.runtime import runtime

# A sample is so long that the clock's own time does not matter.
SAMPLE = 2e-3


@dataclass
class Timing:
    """The seconds of single calls, each the mean of a few in a row.

    `first` are those of the call that compiled.
    """

    run: Callable[[], object]
    first: float
    calls: int = 0
    samples: list[float] = field(default_factory=list)
    # The most bytes of the runtime that a call has held.
    memory: int = 0

    def start(self) -> None:
        """Measure the memory of a call, and how many of them make a sample."""
        self.memory = _peak(self.run)
        once = _seconds(self.run, 1)
        self._each = max(1, round(SAMPLE / max(once, 1e-9)))

    def sample(self) -> None:
        """Time a few calls."""
        self.samples.append(_seconds(self.run, self._each) / self._each)
        self.calls += self._each

    @property
    def median(self) -> float:
        """The median of the samples."""
        return statistics.median(self.samples)


def measure(timings: Sequence[Timing], seconds: float) -> None:
    """Sample in turn, so that drift is shared, for so many seconds or three rounds."""
    for timing in timings:
        timing.start()
    end, rounds = time.perf_counter() + seconds, 0
    while rounds < 3 or time.perf_counter() < end:
        for timing in timings:
            timing.sample()
        rounds += 1


def _seconds(run: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return time.perf_counter() - start


def _peak(run: Callable[[], object]) -> int:
    """The most bytes that the runtime holds during a call, which uses one context."""
    context, lib = runtime().pool[-1][0], runtime().lib
    lib.chad_memory_reset_peak(context)
    run()
    return int(lib.chad_memory_peak(context))
