"""The commands on the pages of docs/ and in README.md print what stands below them.

A snippet `console` has commands behind `$ `, and what they print, with `...` for what
is not the same everywhere. A Python snippet that begins with the name of a file as a
comment, `# model.py`, is that file. A command may say `# exits with 2`.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from chadllvm.cli.command_line import COMMANDS
from chadllvm.cli.status import MEANINGS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FILE = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ", re.MULTILINE)
EXITS = re.compile(r"# exits with (\d+)$")

WITH_COMMANDS = [page for page in PAGES if CONSOLE.search(page.read_text("utf-8"))]

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def matches(expected: str, found: str) -> bool:
    return doctest.OutputChecker().check_output(expected, found, FLAGS)


def run(command: str, folder: Path) -> tuple[int, str]:
    """A command's exit status, and all that it prints."""
    scripts = sysconfig.get_path("scripts")
    path = os.pathsep.join(
        [scripts, str(Path(sys.executable).parent), os.environ["PATH"]]
    )
    kept = {"CHADLLVM_CACHE": "1", "CHADLLVM_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env={**os.environ, **kept, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.name)
def test_commands_print_what_is_written(page: Path, tmp_path: Path) -> None:
    text = page.read_text("utf-8")
    for name, content in FILE.findall(text):
        (tmp_path / name).write_text(content, "utf-8")
    for snippet in CONSOLE.findall(text):
        for part in COMMAND.split(snippet)[1:]:
            command, _, expected = part.partition("\n")
            exits = EXITS.search(command)
            status, found = run(command, tmp_path)
            assert status == (int(exits[1]) if exits else 0), f"{command}\n{found}"
            assert matches(expected, found), f"{command}\n{found}"


def test_something_else_is_found() -> None:
    assert matches("by x: [-3.0, 2.1...]\n", "by x: [-3.0, 2.15]\n")
    assert not matches("value: 2.5\n", "value: 2.6\n")
    assert not matches("", "Traceback\n")


def test_every_status_is_told() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    for status, meaning in MEANINGS.items():
        assert f"| {status} | {meaning} |\n" in page


def test_every_command_has_a_section() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    for name, what in COMMANDS.items():
        assert f"| [`{name}`](#{name}) | {what} |\n" in page
        assert f"\n## {name}\n" in page
