"""Measures other systems, each in turns with ours, after a comparison of results."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from bench.kernels import Case
from bench.measure import sampled
from bench.peers import Prepared, peer
from bench.results import Pair, PeerTimes, Row, Time

ROUNDS = 9
BUDGET = 1.0

# Seconds of one call that are not waited for.
LONGEST = 5.0

# The part of the machine's memory that a system may take.
MOST_MEMORY = 0.75

# Of results relative to the largest number: other systems add in another order, and
# some take a formula that cancels.
TOLERANCE = 1e-6


def peer_times(
    name: str, workload: str, case: Case, operations: Pair, before: Row | None
) -> PeerTimes:
    """What a peer takes for a workload; `before`: the row of a smaller size.

    Operations tell how much longer than before it will take. That the peer fails is
    said where its time would be.
    """
    module = peer(name)
    if workload not in module.PROGRAMS:
        return PeerTimes(note=module.REFUSED.get(workload, "not written"))
    expected = _expected(name, operations, before)
    if expected > LONGEST:
        return PeerTimes(note=f"about {expected:.0f} s")
    with _in_memory():
        try:
            prepared = module.prepare(workload, case)
            compare(case, prepared)
        except Exception as error:
            return PeerTimes(note=_said(error))
        return _timed(case, prepared)


def _said(error: Exception) -> str:
    if isinstance(error, MemoryError) or "bad_alloc" in str(error):
        return "more memory than there is"
    return f"{type(error).__name__}: {str(error)[:60]}".strip()


@contextmanager
def _in_memory() -> Iterator[None]:
    """What takes more memory than there is fails; else this process would be ended."""
    if sys.platform == "win32":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_DATA, (int(MOST_MEMORY * there), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def compare(case: Case, prepared: Prepared) -> None:
    """The peer's value and gradient are ours. Raises: AssertionError."""
    value, gradient = case.gradient()(*case.arguments)
    np.testing.assert_allclose(float(prepared.value()), value, rtol=1e-8)
    if prepared.gradient is None:
        return
    theirs, parts = prepared.numbers(prepared.gradient())
    np.testing.assert_allclose(float(theirs), value, rtol=1e-8)
    for ours, part in zip(gradient, parts, strict=True):
        most = TOLERANCE * max(1.0, float(np.max(np.abs(ours))))
        np.testing.assert_allclose(np.asarray(part), ours, rtol=TOLERANCE, atol=most)


def _timed(case: Case, prepared: Prepared) -> PeerTimes:
    program, gradient = case.program, case.gradient()
    runs: dict[str, Callable[[], Any]] = {
        "our_value": lambda: program(*case.arguments),
        "value": prepared.value,
    }
    if prepared.gradient is not None:
        runs["our_gradient"] = lambda: gradient(*case.arguments)
        runs["gradient"] = prepared.gradient
    times: Mapping[str, Time] = sampled(runs, BUDGET, ROUNDS)
    return PeerTimes(**times, note=prepared.why)


def _expected(name: str, operations: Pair, before: Row | None) -> float:
    """Seconds that a gradient takes by what it took before; 0 if nothing is known."""
    found = before.peers.get(name) if before else None
    if before is None or found is None:
        return 0.0
    if found.note.startswith("about"):
        return float(found.note.split()[1]) * _growth(operations, before)
    time = found.gradient or found.value
    return time.median * _growth(operations, before) if time else 0.0


def _growth(operations: Pair, before: Row) -> float:
    return operations.gradient / before.operations.gradient
