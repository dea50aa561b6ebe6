"""Measures one workload: our program, the C kernels and the peers on the same numbers.

All of them are compared first. Ours and C are taken in turns, with nothing else between
them; then ours and each peer, see `bench/beside.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from bench.beside import peer_times
from bench.cold import compile_seconds, first_seconds
from bench.count import OperationCounts
from bench.kernels import Case, Kernel, check
from bench.measure import sampled
from bench.peak import peak_memory
from bench.peers import peer
from bench.process import Tell
from bench.reference.load import build, counted
from bench.results import BestTime, Pair, Result, Row, Time
from bench.settings import Settings
from bench.workload import Size, Workload

ROUNDS = 15


def measured(name: str, workload: Workload, settings: Settings, tell: Tell) -> Result:
    """A workload at all its sizes."""
    tell("compiles in new processes")
    repeats = 1 if settings.quick else 3
    seconds = compile_seconds(name, repeats)
    systems = [each for each in settings.peers if name in peer(each).PROGRAMS]
    first = first_seconds(name, systems, repeats) if systems else {}
    libraries = build(settings.build_folder, workload.source)
    counts = OperationCounts(workload)
    rows: list[Row] = []
    for size in workload.measured_sizes(settings):
        tell(" ".join(f"{n}={v:g}" for n, v in workload.named(size).items()))
        rows.append(measured_row(workload, size, libraries, counts, settings))
    # What other systems allocate, and their threads, would disturb what comes after.
    for k, row in enumerate(rows):
        case = workload.case(tuple(row.size.values()))
        before = rows[k - 1] if k else None
        for system in settings.peers:
            tell(f"{row.label}: {system}")
            times = peer_times(system, name, case, row.operations, before)
            row.peers[system] = times
    return Result(name, seconds, tuple(rows), workload.exempt, first)


def measured_row(
    workload: Workload,
    size: Size,
    libraries: list[Path],
    counts: OperationCounts,
    settings: Settings,
) -> Row:
    """A workload at one size."""
    case = workload.case(size)
    kernels = [Kernel(path, case) for path in libraries]
    for kernel in kernels:
        check(case, case.gradient(), kernel, workload.tolerance)
    rounds = settings.rounds(ROUNDS)
    times = sampled(dict(_runs(case, kernels)), settings.budget, rounds)
    return Row(
        size=workload.named(size),
        value=times["value"],
        gradient=times["gradient"],
        c_value=_best("C value ", times),
        c_gradient=_best("C gradient ", times),
        memory=peak_memory(case, counted(settings.build_folder, workload.source)),
        operations=Pair(counts.value(case.arguments), counts.gradient(case.arguments)),
    )


def _runs(
    case: Case, kernels: list[Kernel]
) -> Iterator[tuple[str, Callable[[], object]]]:
    program, gradient = case.program, case.gradient()
    yield "value", lambda: program(*case.arguments)
    yield "gradient", lambda: gradient(*case.arguments)
    for kernel in kernels:
        yield f"C value {kernel.build}", kernel.value
        yield f"C gradient {kernel.build}", kernel.value_and_gradient


def _best(kind: str, times: dict[str, Time]) -> BestTime:
    """The build with the least median."""
    found = {n.removeprefix(kind): t for n, t in times.items() if n.startswith(kind)}
    build, time = min(found.items(), key=lambda item: item[1].median)
    return BestTime(time.median, time.low, time.high, time.rounds, build)
