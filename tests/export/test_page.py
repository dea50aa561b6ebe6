"""The programs of `docs/export.md`: its C is compiled and run as its commands say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_docs import ROOT, run_page

PAGE = ROOT / "docs" / "export.md"
PROGRAM = re.compile(r"^```c\n// (\w+\.c)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the linker's options")
def test_the_programs_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_page(PAGE, tmp_path, monkeypatch)
    text = PAGE.read_text(encoding="utf-8")
    programs = PROGRAM.findall(text)
    assert len(programs) == text.count("```c\n") == 5
    for name, source in programs:
        (tmp_path / name).write_text(source)
    for commands in COMMANDS.findall(text):
        ran = subprocess.run(
            ["sh", "-e", "-x"], input=commands, cwd=tmp_path, text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stdout + ran.stderr
