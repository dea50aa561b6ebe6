"""The golden flag: `--update-golden` rewrites expected texts instead of comparing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Golden = Callable[[Path, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the expected texts of golden tests",
    )


@pytest.fixture()
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with the one in a file, or write it there."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return check
