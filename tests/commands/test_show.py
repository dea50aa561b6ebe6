"""`chadllvm show`, `bench`, `doctor`, and what all commands have in common."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_runs import SHAPES

import chadllvm.cli.machine as machine
from chadllvm.cli.command_line import COMMANDS, main, parser
from chadllvm.cli.output import say_program
from chadllvm.driver.shown import STAGES


@pytest.mark.parametrize("stage", STAGES)
def test_the_stages(runs: Any, stage: str) -> None:
    shown = runs("show", "energy", "--stage", stage, "--grad")
    expected = {"source": "def energy(", "llvm": "define ", "asm": ".text"}
    assert (
        expected.get(stage, "energy_grad(" if stage != "core" else "energy(") in shown
    )


def test_shown_by_arguments(runs: Any) -> None:
    assert "def untyped(x: f64[:, :], k: i64)" not in runs(
        "show", "untyped", "[1.0]", "0", "--stage", "core"
    )
    shown = runs("show", "open_rank", "--shape", "x=2,2", "--stage", "core")
    assert shown.startswith("def open_rank(x: f64[:, :])")
    assert runs("show", "energy", "--stage", "report").startswith("report of energy")
    only = runs("show", "energy", "--stage", "chad", "--wrt", "stiffness")
    assert "x_c" not in only


class Terminal:
    """A file that says that it is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("has_rich", [True, False])
def test_colour_on_a_terminal(monkeypatch: pytest.MonkeyPatch, has_rich: bool) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if not has_rich:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    say_program("def f():\n    return [1]", "python")
    assert ("\x1b[" in terminal.text) == has_rich
    assert "return" in terminal.text


def test_times(runs: Any) -> None:
    words = ("--shape", "x=50", "--seconds", "0.01")
    found = runs.json("bench", "energy", *words)
    value, both = found["value"], found["value and gradient"]
    assert 0.0 < value["median_seconds"] < value["first_call_seconds"]
    assert found["ratio"] == both["median_seconds"] / value["median_seconds"]
    assert both["calls"] >= 3
    assert both["peak_bytes"] > 0
    lines = runs("bench", "energy", *words).splitlines()
    assert lines[1].startswith("value ")
    assert lines[2].startswith("value and gradient ")
    stored = runs.json("bench", "walk", *words, "n=5")["stored_each_step"]
    assert ("at", 8) in [(item["name"], item["bytes"]) for item in stored]


def test_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    found = {item["name"]: item for item in json.loads(capsys.readouterr().out)}
    assert set(found) == set(machine.LOOKS)
    assert found["gradient"]["text"] == "compiled, and right"
    assert all(bool(f["remedy"]) == (f["health"] != "ok") for f in found.values())


def test_a_broken_machine(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise ImportError("no libchad_rt.so")

    monkeypatch.setitem(machine.LOOKS, "runtime", fails)
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "broken runtime      ImportError: no libchad_rt.so\n" in out
    assert "install chadllvm again" in out
    assert "note   compiler     none\n" in out
    monkeypatch.setattr(machine, "_probe", lambda x: x)
    assert machine._gradient()[1] is machine.Health.BROKEN


def test_statuses(runs: Any, tmp_path: Path) -> None:
    status, out, err = runs.ended("run", f"{SHAPES}:refused", "1")
    assert (status, out) == (3, "")
    assert err.startswith("error[CL0204]: `try` is not supported\n")
    status, out, err = runs.ended("run", f"{SHAPES}:untyped", "[1.0]", "7")
    assert (status, out) == (4, "")
    assert err.startswith("IndexError: index 7 is out of range for size 1")
    broken = tmp_path / "broken_model.py"
    broken.write_text("import math\nx = math.sqrt(-1.0)\n")
    status, out, err = runs.ended("run", f"{broken}:f")
    assert (status, out) == (4, "")
    assert f'File "{broken}", line 2' in err
    assert "commands" not in err
    assert err.endswith("ValueError: math domain error\n")
    assert runs.ended("run", str(tmp_path / "none.py"))[0] == 2
    assert runs.ended("run", "no-module:f")[0] == 2
    assert runs.ended("run", "no_such_module_at_all:f")[0] == 2
    status, _, err = runs.ended("run", SHAPES)
    assert status == 2
    assert "say which function" in err


def test_a_defect_is_no_answer(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chadllvm.cli.doctor.examine", None)
    status, _, err = runs.ended("doctor")
    assert status == 70
    assert err.endswith("this is a defect of chadllvm\n")


_BAD_NUMBERS = (
    ("--step", "0"),
    ("--step", "nan"),
    ("--tolerance", "x"),
    ("--entries", "1.5"),
    ("--seed=-1",),
    ("--between", "2,1"),
    ("--between", "1"),
)


def test_unknown_options(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [["run", "--nope", "f"], ["explain", "CL0401", "more"], ["nope"]]
    wrong += [["check", "m.py:f", *words] for words in _BAD_NUMBERS]
    for words in wrong:
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        assert capsys.readouterr().err.startswith("usage: chadllvm")


def test_alone_it_says_what_it_can(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: chadllvm" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"  chadllvm {command} " in capsys.readouterr().out.partition("examples:")[2]


def test_the_whole_parser() -> None:
    assert parser().parse_args(["explain", "--list"]).list


def test_a_reader_that_stops() -> None:
    """A pipe that is closed early is no defect."""
    command = [sys.executable, "-m", "chadllvm", "explain", "--list"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
