"""Runs of the command line in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chadllvm.cli import main

SHAPES = str(Path(__file__).parent / "commands" / "shapes.py")


class Runs:
    """Runs commands, and reads what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, command: str, name: str, *words: str) -> str:
        """What a command about a function prints, if it ends well."""
        status, out, err = self.ended(command, f"{SHAPES}:{name}", *words)
        assert (status, err) == (0, ""), f"{status}: {err}"
        return out

    def json(self, command: str, name: str, *words: str) -> Any:
        return json.loads(self(command, name, *words, "--json"))

    def refused(self, command: str, name: str, *words: str) -> str:
        """What a command says of input that it does not understand."""
        status, out, err = self.ended(command, f"{SHAPES}:{name}", *words)
        assert (status, out) == (2, ""), f"{status}: {err}"
        assert err.startswith("chadllvm: ") and "Traceback" not in err
        return err.removeprefix("chadllvm: ").rstrip()

    def ended(self, *words: str) -> tuple[int, str, str]:
        """The status, and all that was printed."""
        self.capsys.readouterr()
        status = main(words)
        return status, *self.capsys.readouterr()
