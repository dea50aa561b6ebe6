"""Seeded faults: what they are, and that a module has the one that is asked for."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.mutation import cli, reach
from tests.mutation.cli import Result, chosen, judged, record, table
from tests.mutation.plugin import VARIABLE
from tests.mutation.reach import FOLDERS, Known, Reach, Seen, modules, within
from tests.mutation.server import functions, put_in
from tests.mutation.sites import NAME, marked, mutated, sites, statements

ROOT = Path(__file__).parents[1]

SOURCE = '''\
"""A module."""
LIMIT = 3


def f(x: list[int], name: str = "add") -> int:
    """Of 7 things."""
    total: int = 0
    if x and x[0] < LIMIT:
        total += -x[1]
        x.append(total - 1)
    if name not in ("add", "other"):
        raise ValueError(f"no {1 + 2}")
    assert total + 1
    assert_never(total - 1)
    return total * 2 if x is None else 5
'''

WANTED = [
    ("constant", "0", "1"),
    ("condition", "if x and x[0] < LIMIT:", "if not (x and x[0] < LIMIT):"),
    ("condition", "x and x[0] < LIMIT", "x or x[0] < LIMIT"),
    ("comparison", "x[0] < LIMIT", "x[0] <= LIMIT"),
    ("constant", "0", "1"),
    ("dropped", "total += -x[1]", "pass"),
    ("sign", "-x[1]", "x[1]"),
    ("constant", "1", "2"),
    ("dropped", "x.append(total - 1)", "pass"),
    ("sign", "total - 1", "total + 1"),
    ("constant", "1", "2"),
    (
        "condition",
        "if name not in ('add', 'other'):",
        "if not name not in ('add', 'other'):",
    ),
    ("comparison", "name not in ('add', 'other')", "name in ('add', 'other')"),
    ("operation", "'add'", "'sub'"),
    ("condition", "total * 2 if x is None else 5", "5 if x is None else total * 2"),
    ("comparison", "x is None", "x is not None"),
    ("sign", "total * 2", "total / 2"),
    ("constant", "2", "3"),
    ("constant", "5", "6"),
]


def test_faults_of_a_module() -> None:
    found = [(site.kind, site.before, site.after) for site in sites(SOURCE)]
    assert found == WANTED


def test_a_module_has_one_fault() -> None:
    original = ast.unparse(ast.parse(SOURCE))
    seen = {ast.unparse(mutated(SOURCE, site.number)) for site in sites(SOURCE)}
    assert len(seen) == len(WANTED)
    assert original not in seen


def test_a_module_is_imported_with_its_fault(tmp_path: Path) -> None:
    (tmp_path / "sample.py").write_text("def f(a, b):\n    return a + b\n")
    code = "import tests.mutation.plugin, sample; print(sample.f(3, 1))"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    for mutant, wanted in (("sample:0", "2"), ("other:0", "4")):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**environment, VARIABLE: mutant},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == wanted


def test_faults_are_spread_and_the_same_for_a_seed() -> None:
    some = chosen(300, 0)
    assert chosen(20, 0) == some[:20]
    assert chosen(20, 1) != some[:20]
    assert {mutant.folder for mutant in some} == set(FOLDERS)


# ---- which tests run what --------------------------------------------------------

BRANCHES = '''\
def f(x):
    """A docstring."""
    if x > 2:
        y = [
            x
        ]
    else:
        y = []
    match x:
        case 3:
            return 0
    def g():
        return 1
    return y
'''


@pytest.mark.parametrize(
    ("x", "lines"), [(1, [3, 8, 9, 12, 14]), (3, [3, 4, 9, 11]), (5, [3, 4, 9, 12, 14])]
)
def test_statements_say_that_they_run(x: int, lines: list[int]) -> None:
    ran = bytearray(20)
    names: dict[str, Any] = {NAME: ran}
    exec(compile(marked(BRANCHES), "branches", "exec"), names)
    names["f"](x)
    assert [line for line, has_run in enumerate(ran) if has_run] == lines
    assert names["f"].__doc__ == "A docstring."


def test_a_line_belongs_to_the_innermost_statement() -> None:
    found = statements(ast.parse(BRANCHES))
    assert [found[line] for line in (3, 4, 5, 6, 8, 10, 11)] == [3, 4, 4, 4, 8, 9, 11]


def test_what_a_test_runs_is_recorded(tmp_path: Path) -> None:
    path, tests = tmp_path / "reach.jsonl", "tests/closure/test_cut.py"
    assert record(path, 5.0, [tests], 0) == 0
    found = Reach.read(path)
    titles = re.findall(r"^def (test_\w+)", (ROOT / tests).read_text(), re.MULTILINE)
    names = {f"{tests}::{title}" for title in titles}
    assert {each.name for each in found.tests} == names
    for name, text, wanted in (
        ("cut", "self._push(levels)", names),
        ("convert", "self.tape = tape", set[str]()),
    ):
        module = f"chadllvm.closure.{name}"
        line = modules()[module].split(text)[0].count("\n") + 1
        assert {each.name for each in found.of(module, line)} == wanted
    assert record(path, 5.0, [tests], 0) == 0  # They are known.
    assert len(Reach.read(path).tests) == len(names)


def test_lines_are_those_of_the_sources_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "reach.jsonl"
    hits = bytes(k % 3 == 1 for k in range(1000))
    seen = Seen.of("test", 1.5, hits)
    old = replace(seen, name="old", version=seen.version + 1)
    path.write_text(old.line() + seen.line() + replace(seen, name="").line())
    [test] = Reach.read(path).tests
    assert (test.name, test.seconds) == ("test", 1.5)
    assert [k for k in range(1000) if test.bits >> k & 1] == [*range(1, 1000, 3)]
    assert Reach.read(path).reading == test.bits


def test_the_fastest_are_first_file_by_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reach, "modules", lambda: {"pack.ops.a": "x\n" * 3})
    here = 1 << 2
    tests = [Known(f"tests/x.py::{9 - k}", 1.0 - k / 20, here) for k in range(9)]
    tests.append(Known("tests/ops/y.py::0", 1.0, here))
    tests.append(Known("tests/y.py::1", 1.0, 1 << 1))
    found = [test.name for test in Reach(tests).of("pack.ops.a", 2)]
    assert found[:4] == ["tests/ops/y.py::0", *(f"tests/x.py::{k}" for k in (1, 2, 3))]
    assert sorted(found) == sorted(test.name for test in tests[:-1])
    assert len([*Reach(tests, here).of("pack.ops.a", 2)]) == len(tests)
    left = Reach(tests).of("pack.ops.a", 2)
    assert [len([*within(left, 2.5)]) for _ in range(4)] == [4, 4, 2, 0]


TESTS = """\
from pack.ops import sample

def test_first():
    assert sample.f(3, 1) == 4

def test_second():
    assert sample.f(0, 0) == 0

def test_of_something_else():
    assert sample.f(8, 0) == 8
"""


@pytest.mark.parametrize("reading", [0, 1 << 2], ids=["together", "alone"])
def test_a_fault_is_noticed_by_the_first_test_that_fails(
    reading: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only tests that are named are run, in their order."""
    (tmp_path / "pack" / "ops").mkdir(parents=True)
    source = "def f(a, b):\n    return a + b if a < 7 or a == 8 else 0\n"
    (tmp_path / "pack" / "ops" / "sample.py").write_text(source)
    (tmp_path / "test_sample.py").write_text(TESTS)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(cli, "ROOT", tmp_path)
    monkeypatch.setattr(reach, "modules", lambda: {"pack.ops.sample": source})
    names = ("test_sample.py::test_second", "test_sample.py::test_first")
    known = Reach([Known(name, 0.1, 1 << 2) for name in names], reading)
    faults = [
        cli.Mutant("pack.ops.sample", site)
        for site in sites(source)
        if site.before in ("a + b", "a < 7", "a == 8")
    ]
    found = {r.fault.split("  ")[0]: r for r in judged(faults, known, 10.0)}
    assert found["a + b"].status == "caught"
    assert found["a + b"].by.endswith("test_first")
    assert (found["a < 7"].status, found["a == 8"].status) == ("missed", "missed")


def test_a_fault_that_no_test_runs_is_missed() -> None:
    [fault] = chosen(1, 0)
    [result] = judged([fault], Reach([]), 1.0)
    assert (result.status, result.by) == ("missed", "no test runs it")


def test_functions_in_tables_have_the_fault_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tabled.py"
    path.write_text("def f(a):\n    return a + 1\n\nTABLE = {'f': f}\n")
    two = tmp_path / "two.py"
    two.write_text("def f(a):\n    return (lambda: a + 1), (lambda: a + 2)\n")
    monkeypatch.syspath_prepend(tmp_path)
    modules = [importlib.import_module(name) for name in ("tabled", "two")]
    put_in("tabled:0", functions())
    assert modules[0].TABLE["f"](3) == 2
    with pytest.raises(ValueError, match="two functions on one line"):
        put_in("two:0", functions())


def test_the_table_names_what_was_missed() -> None:
    results = [
        Result("m:1", "chad", "sign", "caught", "t", "chadllvm/chad/m.py:3", "a → b"),
        Result(
            "m:2", "chad", "constant", "missed", "", "chadllvm/chad/m.py:4", "1 → 2"
        ),
    ]
    text = table(results)
    assert "2 faults, 50% noticed" in text
    assert "chadllvm/chad/m.py:4: 1 → 2" in text
    assert "chadllvm/chad/m.py:3" not in text
