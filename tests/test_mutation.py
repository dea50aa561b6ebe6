"""Seeded faults: what they are, and that a module has the one that is asked for."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation import cli
from tests.mutation.cli import Result, chosen, table
from tests.mutation.plugin import VARIABLE
from tests.mutation.sites import mutated, sites

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
    assert {mutant.folder for mutant in some} == set(cli.FOLDERS)


def test_tests_of_faults_are_there() -> None:
    for tests in (*cli.FOLDERS.values(), cli.ALL):
        for path in tests:
            assert (ROOT / path).exists()


TESTS = """\
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from pack.ops import sample

def test_first():
    assert sample.f(3, 1) == 4

def test_second():
    assert sample.f(0, 0) == 0
"""


def test_a_fault_is_noticed_by_the_first_test_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pack" / "ops").mkdir(parents=True)
    source = "def f(a, b):\n    return a + b if a < 7 else 0\n"
    (tmp_path / "pack" / "ops" / "sample.py").write_text(source)
    (tmp_path / "test_sample.py").write_text(TESTS)
    monkeypatch.setitem(cli.FOLDERS, "ops", (str(tmp_path / "test_sample.py"),))
    monkeypatch.setattr(cli, "ALL", (str(tmp_path / "test_sample.py"),))
    found = {
        site.before: cli.judged(cli.Mutant("pack.ops.sample", site), 5.0)
        for site in sites(source)
    }
    sign, comparison = found["a + b"], found["a < 7"]
    assert sign.status == "caught"
    assert sign.by.endswith("test_first")
    assert comparison.status == "missed"


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
