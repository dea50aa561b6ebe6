"""How long the stages of a compilation take, recorded where somebody asks.

    with recorded() as laps:
        …                           each `timed(name)` in here is a lap

Elsewhere that costs a look at a variable of the context.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(slots=True)
class Lap:
    """A stage: when it began, in seconds, how long it took, and those inside of it."""

    name: str
    start: float
    seconds: float = 0.0
    inner: list[Lap] = field(default_factory=list)


# The laps of what is being timed.
_laps: ContextVar[list[Lap] | None] = ContextVar("chadllvm_laps", default=None)

_UNTIMED = nullcontext()


@contextmanager
def recorded() -> Iterator[list[Lap]]:
    """The laps of what is done in this context, and in copies of it."""
    laps: list[Lap] = []
    token = _laps.set(laps)
    try:
        yield laps
    finally:
        _laps.reset(token)


def timed(name: str) -> AbstractContextManager[None]:
    """What is done in here is a lap, if it has a name and somebody records."""
    around = _laps.get()
    return _UNTIMED if around is None or not name else _timed(name, around)


@contextmanager
def _timed(name: str, around: list[Lap]) -> Iterator[None]:
    begun = time.perf_counter()
    lap = Lap(name, begun)
    around.append(lap)
    token = _laps.set(lap.inner)
    try:
        yield
    finally:
        _laps.reset(token)
        lap.seconds = time.perf_counter() - begun
