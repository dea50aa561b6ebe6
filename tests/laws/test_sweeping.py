"""The sweep over programs that were not written for the law, and a small part of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from tests.campaign.load import load
from tests.laws.sweeping import command
from tests.laws.sweeping.command import Summary, sweep
from tests.laws.sweeping.corpus import names
from tests.laws.sweeping.derivatives import Unmeasured, functions
from tests.laws.sweeping.measured import Subject
from tests.laws.sweeping.scaled import along_all, along_first, scaled, size
from tests.laws.sweeping.sources import program
from tests.laws.sweeping.verdicts import violations
from tests.laws.sweeping.worker import answer
from tests.program_cases import CASES
from tests.sweep import is_whole, named

SEEDS = range(100, 140) if is_whole else (101, 104, 105)


def taken(seed: int, *what: str) -> dict[str, Any]:
    *_, told = answer({"seed": seed, "oracles": ["value", *what]})
    return command.measures(told["found"])


@pytest.mark.sweep(share=6)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(seed: int) -> None:
    found = taken(seed, "gradient", "jvp", "interpreter", "python")
    if is_whole and not found:
        pytest.skip("it is refused, or does not run for several sizes")
    assert list(violations(found)) == []
    assert "gradient" in found


@pytest.mark.parametrize(
    "name", ["carried_rows", "cumulative_products", "asian_option"]
)
def test_programs_of_the_corpus(name: str) -> None:
    case = dict(zip(named(CASES), CASES, strict=True))[name]
    one = Subject(case.function, case.args)
    found = {
        what: {"work": t.work, "peak": t.peak, "sizes": one.sizes}
        for what in ("value", "gradient")
        for t in [one.taken(what)]
    }
    assert list(violations(found)) == []
    assert name in names()


def found(gradient: list[int], peak: list[int] | None = None) -> dict[str, Any]:
    sizes, linear = [10, 40, 160], [100, 400, 1600]
    value = {"work": linear, "peak": linear, "sizes": sizes}
    of = {"work": gradient, "peak": peak or linear, "sizes": sizes}
    return {"value": value, "gradient": of}


def test_what_grows_with_the_value_is_within_the_law() -> None:
    assert not list(violations(found([500, 2000, 8000])))
    # What a call takes by itself is no growth.
    assert not list(violations(found([2000, 2300, 3500])))
    assert dict(violations(found([500, 2000, 16_000]))).keys() == {"gradient: growth"}
    assert dict(violations(found([5000, 20_000, 80_000]))).keys() == {"gradient: ratio"}
    grown = found([500, 2000, 8000], [10_000, 100_000, 4_000_000])
    assert dict(violations(grown)).keys() == {"gradient: memory"}
    repeated = found([5000, 40_000, 320_000])
    repeated["gradient"]["value"] = [1000, 8000, 64_000]
    assert not list(violations(repeated))


def test_arguments_of_all_sizes() -> None:
    matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
    args = (0.5, np.arange(3.0), matrix, [(1.0, 2.0)], {"w": np.ones(1)})
    number, vector, square, pairs, entries = scaled(args, 3, along_all)
    assert number == 0.5 and len(pairs) == 3 and entries["w"].shape == (3,)
    np.testing.assert_array_equal(vector, np.tile(np.arange(3.0), 3))
    assert np.linalg.matrix_rank(square) == 6
    np.testing.assert_array_equal(square, square.T)
    assert scaled(matrix, 3, along_first).shape == (6, 2)
    assert size(args) == 1 + 3 + 4 + 2 + 1


def mixed(a, n):
    return a * a, n, np.sum(a)


def test_the_functions_that_are_measured() -> None:
    function = cl.jit(mixed)
    args = (np.array([0.5, 2.0]), 3)
    made, active = functions(function, function._types(args))
    assert active == (0,)
    values = {name: cl.jit(each)(*args) for name, each in made.items()}
    gradient = 2.0 * args[0] + 1.0
    assert values["value"] == pytest.approx(6.75)
    assert values["jvp"] == pytest.approx(gradient @ args[0])
    assert values["hvp"] == pytest.approx(np.sum(2.0 * args[0]))
    assert values["grad of grad"] == pytest.approx(gradient @ gradient)
    with pytest.raises(Unmeasured, match="no real arguments"):
        functions(function, function._types((3, 3)))


@pytest.mark.parametrize("seed", range(8))
def test_random_programs_are_the_same_each_time(seed: int) -> None:
    text = program(seed)
    assert text == program(seed)
    assert any(np.ndim(arg) for arg in load(text).args)


def test_a_call_that_is_repeated_is_compared_with_such_a_value() -> None:
    def cubes(x: float, a: cl.f64[:], c: cl.f64[:]) -> float:
        for _ in a:
            for _ in range(len(a)):
                x = 0.5 * x + np.std(a + np.arange(len(c)))
            for _ in range(len(a)):
                both = np.array([x, 0.5 * x])
                x += both @ both
        return x

    a = np.arange(1.0, 4.0)
    one = Subject(cl.jit(cubes), (2.0, a, a))
    value, gradient = (one.taken(what) for what in ("value", "gradient"))
    assert gradient.value and value.value is None
    assert gradient.value[-1] > 5 * value.work[-1]
    assert gradient.work[-1] < 5 * gradient.value[-1]


def test_a_sweep_goes_on_where_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def answered(process: object, request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request["seed"])
        measured = found([500, 2000, 16_000 if request["seed"] == 2 else 8000])
        return {what: ["measured", each] for what, each in measured.items()}

    monkeypatch.setattr(command, "asked", answered)
    file = tmp_path / "results.jsonl"
    first = dict(sweep([0, 1], file, jobs=2))
    again = dict(sweep([0, 1, 2], file, jobs=1))
    assert sorted(asked) == [0, 1, 2] and sorted(again) == [0, 1, 2]
    assert again[0] == first[0]
    assert len([json.loads(line) for line in file.read_text().splitlines()]) == 3
    summary = Summary()
    for key, each in again.items():
        summary.add(key, each)
    assert [(key, kind) for key, kind, _ in summary.broken] == [(2, "gradient: growth")]
    assert "3 programs measured" in str(summary)
    assert "breaks the law, gradient: growth: 1 programs" in str(summary)
