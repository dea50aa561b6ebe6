"""The flags `--update-golden`, which rewrites expected texts instead of comparing, and
`--whole`, which leaves nothing out of the sweeps of `sweep.py`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# Tests are of what is compiled now: code that was kept before would hide what became of
# the compiler. `test_cache.py` has a cache of its own.
os.environ.setdefault("CHADLLVM_CACHE", "0")

# Some tests use the topics of `bench/`. The folder stands last on the path, so that the
# package under test is the installed one.
sys.path.append(str(Path(__file__).resolve().parents[1]))

Golden = Callable[[Path, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the expected texts of golden tests",
    )
    parser.addoption(
        "--whole",
        action="store_true",
        help="run all of the long sweeps, of which a fixed part is run otherwise",
    )


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out what only `--whole` asks for."""
    if config.getoption("--whole"):
        return
    left_out = [item for item in items if item.get_closest_marker("whole")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("whole")]


@pytest.fixture()
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with the one in a file, or write it there."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return check


# A shell that starts us in the background has Ctrl-C ignored; tests of it need it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
