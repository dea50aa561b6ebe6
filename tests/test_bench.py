"""The benchmarks' files, tables and comparisons, on figures that are made up."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import chadllvm as cl
from bench import threads, turns
from bench.ablation import TOGETHER, Factors, factors, idle
from bench.ablation import put_into as put_factors_into
from bench.ablation import table as ablation_table
from bench.beside import peer_times
from bench.kernels import Case
from bench.loops import Loop, innermost, loop_table, summary_table
from bench.measure import sampled, summary
from bench.page import fill
from bench.peers import Prepared
from bench.regressions import THRESHOLD, changes
from bench.regressions import run as compare
from bench.report import put_into
from bench.report import run as report
from bench.results import (
    BestTime,
    Failure,
    Figure,
    Memory,
    Pair,
    PeerTimes,
    Result,
    Results,
    Row,
    Time,
    load,
    save,
)
from bench.table import duration, known_table, main_table, peer_table
from bench.targets import verdicts
from bench.workload import workloads

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"


def time(median: float, spread: float = 0.01) -> Time:
    return Time(median, median * (1 - spread), median * (1 + spread), 9)


def row(n: int, alone: float, both: float, **changed: Any) -> Row:
    """C takes one second for the value and two with the gradient."""
    c = [BestTime(s, s, s, 9, build="gcc") for s in (1.0, 2.0)]
    numbers = Memory(260, 200), Pair(10 * n, 30 * n)
    made = Row({"n": n}, time(alone), time(both), *c, *numbers)
    return replace(made, **changed)


def run_of(*results: Result, **more: Any) -> Results:
    machine = {"processor": "none", "system": "none", "cores": 2}
    speeds = {"solo_speed": {"0": 900.0, "1": 912.0}}
    at = "2026-01-02T03:04:05+00:00"
    return Results(False, at, machine | speeds, {"python": "3.11"}, results, **more)


FIRST = {"chadllvm": 1.0, "chadllvm, cached": 0.1, "jax": 2.5}

PEERS = {
    "jax": PeerTimes(time(4.0), time(9.0), time(1.0), time(3.0)),
    "numba": PeerTimes(value=time(0.5), our_value=time(1.0)),
    "torch": PeerTimes(note="no loops"),
}

RUN = run_of(
    Result("first", 0.5, (row(10, 1.0, 2.0), row(20, 4.0, 2.0))),
    Result("second", 0.8, (row(5, 2.0, 6.0, peers=PEERS),), exempt=True, first=FIRST),
    figures={"calls": (Figure("one scalar", 0.7, "us", 1.0),)},
    failures=(Failure("third", "no C compiler"),),
)


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    save(RUN, tmp_path / "run.json")
    assert load(tmp_path / "run.json") == RUN


def test_another_schema_is_refused(tmp_path: Path) -> None:
    save(RUN, tmp_path / "run.json")
    content = json.loads((tmp_path / "run.json").read_text()) | {"schema": 99}
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="has the schema 99"):
        load(tmp_path / "run.json")


def test_targets_are_of_means_over_workloads_and_of_the_worst() -> None:
    found = {figure.name: figure for figure in verdicts(RUN)}
    # The first workload's mean is that of 1 and 4; it weighs as much as the second.
    assert found["value to C, geometric mean"].value == pytest.approx(2.0)
    assert found["value to C, worst: first n=20"].value == pytest.approx(4.0)
    # The second is exempt from what its gradient takes beside C.
    assert found["gradient to C, geometric mean"].met
    assert found["gradient to C, worst: first n=20"].value == pytest.approx(1.0)
    assert found["memory to C, worst: first n=20"].met
    assert found["cold compile time, worst: second"].met
    assert found["gradient to jax, worst: second n=5"].value == pytest.approx(1 / 3)
    assert not found["value to numba, worst: second n=5"].met


def test_tables_show_each_row_and_peer() -> None:
    rows = main_table(RUN).rows
    assert rows[0][:4] == ("first", "n=10", "1 s", "2 s")
    assert len({len(cells) for cells in rows}) == 1
    assert [cells[0] for cells in rows[-2:]] == ["geometric mean", "worst"]
    cells = peer_table(RUN).rows[-1]
    assert cells == ("second", "n=5", "4.00 and 3.00", "0.50 and –", "(no loops)")
    assert "| first | n=10 | 1 s |" in main_table(RUN).markdown()
    assert [duration(t) for t in (2e-3, 3e-6, 4e-9)] == ["2 ms", "3 µs", "4 ns"]


def test_the_page_takes_what_a_run_measured(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    put_into(RUN, page)
    first = page.read_text(encoding="utf-8")
    assert "| second | n=5 | 4.00 and 3.00 |" in first
    assert "core 1 912" in first and "| one scalar | 0.7 us |" in first
    picture = page.with_suffix(".svg").read_bytes()
    put_into(RUN, page)
    assert page.read_text(encoding="utf-8") == first
    assert page.with_suffix(".svg").read_bytes() == picture
    with pytest.raises(ValueError, match="no place for 'weather'"):
        fill(page, "weather", "rain")


def compared(folder: Path, before: Results, after: Results) -> int:
    """The exit status of `compare`."""
    paths = folder / "before.json", folder / "after.json"
    for path, results in zip(paths, (before, after), strict=True):
        save(results, path)
    return compare(Namespace(before=paths[0], after=paths[1], threshold=THRESHOLD))


def test_a_run_is_no_regression_of_itself(tmp_path: Path) -> None:
    assert compared(tmp_path, RUN, RUN) == 0


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"gradient": time(2.6)}, "gradient to C"),
        ({"value": time(1.2)}, "value to C"),
        ({"memory": Memory(300, 200)}, "memory"),
        ({"operations": Pair(100, 320)}, "operations"),
    ],
)
def test_what_became_slower_is_a_regression(
    tmp_path: Path, changed: dict[str, Any], what: str
) -> None:
    before = run_of(Result("first", 0.5, (row(10, 1.0, 2.0),)))
    after = run_of(Result("first", 0.5, (row(10, 1.0, 2.0, **changed),)))
    worse = [c.what for c in changes(before, after, THRESHOLD) if c.is_regression]
    assert worse == [what]
    assert compared(tmp_path, before, after) == 1
    assert compared(tmp_path, after, before) == 0


def test_a_slower_machine_and_noise_are_no_regressions() -> None:
    before = run_of(Result("first", 0.5, (row(10, 1.0, 2.0),)))
    c = [BestTime(2 * s, 2 * s, 2 * s, 9, build="gcc") for s in (1.0, 2.0)]
    slower = row(10, 2.0, 4.0, c_value=c[0], c_gradient=c[1])
    noisy = row(10, 1.2, 2.4, value=time(1.2, 0.3), gradient=time(2.4, 0.3))
    for after in (slower, noisy):
        found = changes(before, run_of(Result("first", 0.5, (after,))), THRESHOLD)
        assert not [change for change in found if change.is_regression]


def test_a_workload_that_fails_now_is_a_regression(tmp_path: Path) -> None:
    failed = run_of(RUN.results[0], failures=(Failure("second", "wrong"),))
    assert compared(tmp_path, RUN, failed) == 1


def test_samples_are_taken_in_turns_and_what_is_slow_once() -> None:
    calls: list[str] = []
    sink: list[int] = []

    def slow() -> None:
        calls.append("slow")
        sink.append(sum(range(3_000_000)))

    times = sampled({"quick": lambda: calls.append("quick"), "slow": slow}, 1e-3, 7)
    assert times["slow"].rounds == 1 and times["quick"].rounds >= 5
    assert calls.count("slow") == 1
    assert summary([3.0, 1.0, 2.0]) == Time(2.0, 1.5, 2.5, 3)


def square(x: float) -> float:
    return x * x


CASE = Case(cl.jit(square), (3.0,), (0,), ())


def peer_that(monkeypatch: pytest.MonkeyPatch, prepared: Prepared) -> None:
    """The other system is one that gives this for the workload `square`."""
    module = ModuleType("peer")
    vars(module).update(
        PROGRAMS={"square": None},
        REFUSED={"trees": "no recursion"},
        prepare=lambda name, case: prepared,
    )
    monkeypatch.setattr("bench.beside.peer", lambda name: module)


def test_a_peer_is_timed_in_turns_with_us(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = lambda: (9.0, (6.0,))  # noqa: E731
    peer_that(monkeypatch, Prepared(lambda: 9.0, gradient))
    found = peer_times("any", "square", CASE, Pair(1, 2), None)
    assert found.value_ratio and found.gradient_ratio and not found.note
    peer_that(monkeypatch, Prepared(lambda: 9.0, why="no derivatives"))
    found = peer_times("any", "square", CASE, Pair(1, 2), None)
    assert found.gradient is None and found.value and found.note == "no derivatives"


def test_why_a_peer_has_no_time_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    peer_that(monkeypatch, Prepared(lambda: 9.0, lambda: (9.0, (5.0,))))
    assert peer_times("any", "trees", CASE, Pair(1, 2), None).note == "no recursion"
    wrong = peer_times("any", "square", CASE, Pair(1, 2), None)
    assert wrong.value is None and wrong.note.startswith("AssertionError")
    # A tenth of the work took two seconds.
    before = row(1, 1.0, 2.0, peers={"any": PeerTimes(gradient=time(2.0))})
    slow = peer_times("any", "square", CASE, Pair(100, 300), before)
    assert slow.note == "about 20 s"
    again = row(1, 1.0, 2.0, peers={"any": slow})
    assert peer_times("any", "square", CASE, Pair(1, 60), again).note == "about 40 s"


def test_the_factors_of_passes_take_their_place(tmp_path: Path) -> None:
    found = {
        "heat": {"fuse": Factors(4.0), "cse": Factors()},
        "s111": {"fuse": Factors(1.0, 9.0), "cse": Factors(None, 1.0, 16.0)},
    }
    assert ablation_table(found).rows == (
        ("cse", "1 of 2", "1", "1.00", "1.00", "4.00", "s111 16"),
        ("fuse", "2 of 2", "2", "2.00", "3.00", "1.00", "s111 9.00, heat 4.00"),
    )
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    put_factors_into(found, page)
    assert "| fuse | 2 of 2 | 2 | 2.00 |" in page.read_text(encoding="utf-8")


def test_a_pass_is_idle_that_is_worth_little_or_in_one_family_only() -> None:
    much, little = Factors(None, 1.2), Factors(1.05, 0.9)
    found = {
        "heat": {"one": much, "two": little, "three": much},
        "gmm": {"one": much, "two": little, "three": much},
        "nbody": {"one": little, "two": much, "three": much},
        "s111": {"one": much, "two": little, "three": little},
    }
    assert [*idle(found)] == ["three", "two"]


def test_a_pass_is_worth_what_it_saves() -> None:
    told: list[str] = []
    found = factors("polynomial_fit", ["dce", "rows"], False, True, told.append)
    # It has no array that `rows` could ask for its rows: nothing is compiled for that.
    assert told == ["1 of 2: dce"]
    assert set(found) == {"dce", "rows"}
    assert found["rows"] == Factors()
    found = factors("s319", ["dce", "sums"], True, True, told.append)
    assert set(found) == {TOGETHER} and found[TOGETHER] != Factors()


def test_versions_take_turns() -> None:
    found = turns.factors(Path(sys.executable), "polynomial_fit", quick=True)
    assert [f.what for f in found] == ["value", "gradient"]
    assert all(f.before > 0.0 and f.factor.median > 0.0 for f in found)


def test_a_version_that_does_not_run_is_said(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(RuntimeError, match="ended"):
        turns.factors(broken, "polynomial_fit", quick=True)


def test_what_looks_slower_once_is_timed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [1.2, 1.01, 1.05, 1.02, 1.01, 1.0, 1.0]
    gradients = [1.0, 1.1, 1.02, 1.0, 1.0, 1.0, 1.3]
    medians = iter([m for pair in zip(values, gradients, strict=True) for m in pair])

    def timed(*_: object) -> list[turns.Factor]:
        times = [Time(m, m, m, 1) for m in (next(medians), next(medians))]
        return [
            turns.Factor("p", what, 1.0, t.median, t)
            for what, t in zip(turns.WHAT, times, strict=True)
        ]

    monkeypatch.setattr(turns, "factors", timed)
    found = turns.confirmed(Path("python"), "p", quick=True, threshold=0.03)
    assert [f.factor.median for f in found] == [1.01, 1.0]
    assert next(medians, None) is None  # Five of nine attempts were not slower then.


def test_threads_are_compared_with_one(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    names = ["running_sum"]
    assert threads.run(Namespace(names=names, quick=True, page=page)) == 0
    text = page.read_text(encoding="utf-8")
    for part in ("threads", "small"):
        found = text.split(f"<!-- measured: {part} -->")[1]
        assert "| running_sum | value |" in found.split("<!-- end")[0]


def test_threads_must_not_change_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_on", lambda count, *_: float(count))
    with pytest.raises(AssertionError):
        list(threads._speeds("running_sum", True, 1))


ASSEMBLY = """
.LBB0_1:
    movq %rax, %rbx
.LBB0_2:
    vmovupd (%rdi), %ymm0
    vfmadd231pd (%rsi), %ymm0, %ymm1
    callq _ZGVdN4v_exp@PLT
    addq $32, %rdi
    jne .LBB0_2
    vaddsd %xmm0, %xmm1, %xmm1
    jb .LBB0_1
.LBB0_3:
    vdivsd %xmm0, %xmm1, %xmm1
    vsqrtsd %xmm1, %xmm1, %xmm1
    jb .LBB0_3
.LBB0_4:
    vaddsd %xmm0, %xmm1, %xmm1
    callq chad_poll@PLT
    jb .LBB0_4
    jb .LBB0_5
.LBB0_5:
"""


def test_innermost_loops_are_found_in_assembly() -> None:
    loops = tuple(innermost(ASSEMBLY))
    assert loops == (
        Loop(5, 1, 0, 0, 256, ("_ZGVdN4v_exp",)),
        Loop(3, 0, 2, 2, 64, ()),
    )
    (row,) = summary_table({"any": loops}).rows
    assert row == ("any", "_ZGVdN4v_exp", "1", "1", "256")
    row, _ = loop_table("any", (*loops, loops[0])).rows
    assert row == ("_ZGVdN4v_exp", "2", "5", "1", "0", "0", "256")


def test_the_page_says_what_bounds_each_workload() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in workloads():
        assert f"\n### {name}\n" in text, f"nothing about {name}"


def test_the_table_of_the_readme(tmp_path: Path) -> None:
    """Gradients where there are some, else values; a dash for what was not measured."""
    table = known_table(RUN)
    numbers = [head.partition(":")[0] for head in table.heads[3:6]]
    assert numbers == ["JAX", "PyTorch", "Numba"]
    first, second = table.rows
    assert first[1:6] == ("n=20", "2 s", "–", "–", "–")
    assert second[3:] == ("3.00", "–", "0.50", "1.00 s", "0.10 s", "2.50 s", "–", "–")
    page = tmp_path / "README.md"
    page.write_text("<!-- measured: known -->\n<!-- end of known -->\n")
    path = tmp_path / "results.json"
    save(RUN, path)
    report(Namespace(results=path, page=None, readme=page))
    assert "| second | n=5 | 6 s | 3.00 | – | 0.50 |" in page.read_text()
