"""What the figures of a run come to, beside what they should be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from bench.results import Figure, Result, Results, Row

# A ratio of one row; None where there is none.
Ratio = Callable[[Row], float | None]

# Peers are compared where there is this much work, in seconds.
LEAST_WORK = 1e-6


@dataclass(frozen=True)
class Column:
    """A ratio that every row has, and the most that its mean and its worst should be.

    `exempts`: the workloads that are exempt do not count.
    """

    name: str
    ratio: Ratio
    mean: float | None = None
    worst: float | None = None
    exempts: bool = False

    def counts(self, result: Result) -> bool:
        return not (self.exempts and result.exempt)


VALUE = Column("value to C", lambda row: row.value_to_c, 1.1, 1.4)
GRADIENT = Column("gradient to C", lambda row: row.gradient_to_c, 1.1, 1.6, True)
RATIO = Column("gradient/value", lambda row: row.gradient_to_value, 2.5)
MEMORY = Column("memory to C", lambda row: row.memory_to_c, None, 1.3, True)
COLUMNS = (VALUE, GRADIENT, RATIO, MEMORY)

COMPILE_SECONDS = 1.5
HOPPER_TO_JAX = 1.0 / 50.0

# With `fastmath` Numba adds and multiplies in any order, which we do for sums only:
# nothing is promised beside that.
TO_PEER = {"numba": 1.05, "numba_fast": None}


def mean(results: Results, ratio: Ratio, results_of: Iterable[Result]) -> float:
    """The geometric mean over workloads of that over their sizes; NaN if there is none.

    So a workload with many sizes weighs as much as another.
    """
    logs = []
    for result in results_of:
        found = [math.log(r) for r in map(ratio, result.rows) if r is not None]
        if found:
            logs.append(sum(found) / len(found))
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def worst(ratio: Ratio, results_of: Iterable[Result]) -> tuple[float, str]:
    """The largest ratio, and where it is; NaN if there is none."""
    found = [
        (number, f"{result.workload} {row.label}")
        for result in results_of
        for row in result.rows
        if (number := ratio(row)) is not None
    ]
    return max(found, default=(math.nan, ""))


def verdicts(results: Results) -> Iterator[Figure]:
    """All that is asked of a run; the name of a worst case says where it is."""
    for column in COLUMNS:
        counted = [r for r in results.results if column.counts(r)]
        if column.mean is not None:
            found = mean(results, column.ratio, counted)
            yield Figure(f"{column.name}, geometric mean", found, "x", column.mean)
        if column.worst is not None:
            most, where = worst(column.ratio, counted)
            yield Figure(f"{column.name}, worst: {where}", most, "x", column.worst)
    if results.results:
        slowest = max(results.results, key=lambda result: result.compile_seconds)
        name = f"cold compile time, worst: {slowest.workload}"
        yield Figure(name, slowest.compile_seconds, "s", COMPILE_SECONDS)
    yield from _beside_peers(results)


def _beside_peers(results: Results) -> Iterator[Figure]:
    for peer in results.peers:
        for kind, ratio in (
            ("value", value_to(peer)),
            ("gradient", gradient_to(peer)),
        ):
            most, where = worst(ratio, results.results)
            if where:
                target = TO_PEER.get(peer, 1.0)
                name = f"{kind} to {peer}, worst: {where}"
                yield Figure(name, most, "x", target)
    hopper = [r for r in results.results if r.workload == "hopper"]
    most, where = worst(gradient_to("jax"), hopper)
    if where:
        name = f"gradient to jax, worst of {where}"
        yield Figure(name, most, "x", HOPPER_TO_JAX)


def value_to(peer: str) -> Ratio:
    """Our time over that of a peer, above the least work."""

    def ratio(row: Row) -> float | None:
        found = row.peers.get(peer)
        if found is None or row.value.median < LEAST_WORK:
            return None
        return found.value_ratio

    return ratio


def gradient_to(peer: str) -> Ratio:
    """Our time over that of a peer with the gradient, above the least work."""

    def ratio(row: Row) -> float | None:
        found = row.peers.get(peer)
        if found is None or row.value.median < LEAST_WORK:
            return None
        return found.gradient_ratio

    return ratio
