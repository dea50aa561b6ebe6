"""What `python -m bench run` writes: one JSON file, and what each number in it means.

    schema      1; another number is another layout
    quick       whether sizes were small and rounds few: not figures to compare with
    started     the time of the run, as ISO 8601
    machine     system, architecture, processor, and for each core the millions of
                dependent multiplications a second that it makes alone
    versions    of Python, of our packages, of the peers, and of the C compilers
    results     for each workload its sizes, see `Row`; the seconds that its value
                with the gradient takes to compile in a new process; and for each system
                those that pass there from its import to the first of them
    figures     what has a form of its own: a name, a value, its unit and target
    failures    what could not be measured, and why

Times are seconds of the processor for one call, memory is in bytes, and operations are
executed statements of the loop IR.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SCHEMA = 1


@dataclass(frozen=True)
class Time:
    """The median of some rounds, and the quartiles around it."""

    median: float
    low: float
    high: float
    rounds: int

    @property
    def spread(self) -> float:
        """Half of what lies between the quartiles, relative to the median."""
        return 0.5 * (self.high - self.low) / self.median if self.median else 0.0


@dataclass(frozen=True)
class BestTime(Time):
    """The time of the best of several builds, and which one it is."""

    build: str


@dataclass(frozen=True)
class Pair:
    """A number of the value, and of the value with its gradient."""

    value: int
    gradient: int


@dataclass(frozen=True)
class Memory:
    """The most bytes in use at once during a value with its gradient.

    `ours` and `c`: all that is allocated for it, the gradient included and the
    arguments not; C, which is handed the memory of the gradient, is charged for that
    too. `arguments`: the arrays that both are handed.
    """

    ours: int
    c: int
    arguments: int = 0


@dataclass(frozen=True)
class PeerTimes:
    """What another system takes, and what we take in turns with it.

    `note`: why there is no time.
    """

    value: Time | None = None
    gradient: Time | None = None
    our_value: Time | None = None
    our_gradient: Time | None = None
    note: str = ""

    @property
    def value_ratio(self) -> float | None:
        """Our time over the peer's."""
        return _ratio(self.our_value, self.value)

    @property
    def gradient_ratio(self) -> float | None:
        """Our time over the peer's, with the gradient."""
        return _ratio(self.our_gradient, self.gradient)


@dataclass(frozen=True)
class Row:
    """One workload at one size."""

    size: dict[str, float]
    value: Time
    gradient: Time
    c_value: BestTime
    c_gradient: BestTime
    memory: Memory
    operations: Pair
    peers: dict[str, PeerTimes] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The size in words."""
        return " ".join(f"{name}={number:g}" for name, number in self.size.items())

    @property
    def value_to_c(self) -> float:
        return self.value.median / self.c_value.median

    @property
    def gradient_to_c(self) -> float:
        return self.gradient.median / self.c_gradient.median

    @property
    def gradient_to_value(self) -> float:
        return self.gradient.median / self.value.median

    @property
    def memory_to_c(self) -> float:
        """Of what has to be there for the call: the arguments as well."""
        memory = self.memory
        return (memory.ours + memory.arguments) / (memory.c + memory.arguments)

    @property
    def allocated_to_c(self) -> float:
        """Of what the call asks for."""
        return self.memory.ours / self.memory.c


@dataclass(frozen=True)
class Result:
    """One workload at all its sizes; `exempt`: its gradient has no limit beside C.

    `first` has the seconds to the first value with its gradient by system, see
    `cold.py`.
    """

    workload: str
    compile_seconds: float
    rows: tuple[Row, ...]
    exempt: bool = False
    first: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """One measured number. `target`: the most it should be, or None if only noted."""

    name: str
    value: float
    unit: str
    target: float | None = None

    @property
    def met(self) -> bool | None:
        return None if self.target is None else self.value <= self.target


@dataclass(frozen=True)
class Failure:
    """A workload that could not be measured."""

    workload: str
    reason: str


@dataclass(frozen=True)
class Results:
    """One run."""

    quick: bool
    started: str
    machine: dict[str, Any]
    versions: dict[str, str]
    results: tuple[Result, ...] = ()
    figures: dict[str, tuple[Figure, ...]] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()

    def rows(self) -> Iterator[tuple[Result, Row]]:
        """All rows, each with its workload."""
        for result in self.results:
            for row in result.rows:
                yield result, row

    @property
    def peers(self) -> list[str]:
        """The names of the peers that were measured."""
        return sorted({name for _, row in self.rows() for name in row.peers})


def save(results: Results, path: Path) -> None:
    """Write a run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"schema": SCHEMA, **asdict(results)}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> Results:
    """Read a run. Raises: ValueError for another schema."""
    content = json.loads(path.read_text(encoding="utf-8"))
    found = content.pop("schema", None)
    if found != SCHEMA:
        raise ValueError(f"{path} has the schema {found}, expected {SCHEMA}")
    content["results"] = tuple(_result(entry) for entry in content["results"])
    content["figures"] = {
        name: tuple(Figure(**figure) for figure in figures)
        for name, figures in content["figures"].items()
    }
    content["failures"] = tuple(Failure(**entry) for entry in content["failures"])
    return Results(**content)


def _result(entry: dict[str, Any]) -> Result:
    return Result(**{**entry, "rows": tuple(_row(row) for row in entry["rows"])})


def _row(entry: dict[str, Any]) -> Row:
    return Row(
        size=entry["size"],
        value=Time(**entry["value"]),
        gradient=Time(**entry["gradient"]),
        c_value=BestTime(**entry["c_value"]),
        c_gradient=BestTime(**entry["c_gradient"]),
        memory=Memory(**entry["memory"]),
        operations=Pair(**entry["operations"]),
        peers={name: _peer(peer) for name, peer in entry["peers"].items()},
    )


def _peer(entry: dict[str, Any]) -> PeerTimes:
    note = entry.pop("note")
    times = {name: Time(**time) if time else None for name, time in entry.items()}
    return PeerTimes(**times, note=note)


def _ratio(ours: Time | None, theirs: Time | None) -> float | None:
    return None if ours is None or theirs is None else ours.median / theirs.median
