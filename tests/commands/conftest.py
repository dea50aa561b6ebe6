"""The fixture `runs`: the command line in this process."""

from __future__ import annotations

import sys

import pytest
from command_runs import Runs


@pytest.fixture()
def runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Commands; the path is left as it was."""

    monkeypatch.setattr(sys, "path", list(sys.path))
    return Runs(capsys)
