"""The flags `--update-golden`, which rewrites expected texts instead of comparing;
`--sweep`, which runs what takes long too, of that with `--part K/N` one test in N;
and `--whole`, which leaves nothing out of the sweeps of `sweep.py`.

Most tests are of what our own stages do. LLVM works little on their machine code, where
its optimisations would take most of the time of a run. They work in full for the tests
marked `optimised`, for one in several of the others, and for all with `--whole`.
"""

from __future__ import annotations

import os
import signal
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import chadllvm as cl
from chadllvm.api import checking
from chadllvm.backend.runtime import runtime
from chadllvm.driver import pipeline
from chadllvm.llvm import optimize
from chadllvm.llvm.optimize import Effort
from chadllvm.lower.chunks import spread
from tests import sweep

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
        "--sweep",
        action="store_true",
        help="run the tests that take long, too, and all with users' machine code",
    )
    parser.addoption(
        "--part",
        type=_part_of_parts,
        default=(1, 1),
        metavar="K/N",
        help="the K-th of N parts of what only `--sweep` runs",
    )
    parser.addoption(
        "--whole",
        action="store_true",
        help="run all of the sweeps, of which `--sweep` runs a fixed part",
    )


def _part_of_parts(text: str) -> tuple[int, int]:
    """Which of how many parts: "2/3" is the second of three."""
    number, count = map(int, text.split("/"))
    if not 1 <= number <= count:
        raise ValueError(text)
    return number, count


def pytest_configure(config: pytest.Config) -> None:
    sweep.is_whole = config.getoption("--whole")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out what only `--sweep` or `--whole` asks for."""
    if config.getoption("--whole"):
        return
    number, count = config.getoption("--part")
    kept, left_out = [], []
    for item in items:
        # Not the remainders of `share`, so that the parts are about as large.
        place = zlib.crc32(f"part: {item.nodeid}".encode()) % count
        is_run = config.getoption("--sweep") and place == number - 1
        is_left = item.get_closest_marker("whole") or (
            not is_run and _is_swept(item.get_closest_marker("sweep"), item.nodeid)
        )
        (left_out if is_left else kept).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def _is_swept(mark: pytest.Mark | None, name: str) -> bool:
    """Whether a sweep has this test, but for one in `share`, if that is given."""
    if mark is None:
        return False
    share = mark.kwargs.get("share", 0)
    return not share or zlib.crc32(name.encode()) % share != 0


EFFORTS = optimize.EFFORTS
LITTLE = ((*EFFORTS[-1][:-1], Effort(0, 0, loops=False, tidy=True)),)

# One test in so many has its machine code as users do, whatever it is about.
SHARE = 8


def is_optimised(item: pytest.Item) -> bool:
    """Whether the machine code of a test is made as for users.

    One in `share` of those that are marked so with it, unless `--sweep` asks for all.
    """
    config, number = item.config, zlib.crc32(item.nodeid.encode())
    if config.getoption("--whole") or number % SHARE == 0:
        return True
    mark = item.get_closest_marker("optimised")
    share = mark.kwargs.get("share", 1) if mark else 0
    return bool(share) and (config.getoption("--sweep") or number % share == 0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    optimize.EFFORTS = EFFORTS if is_optimised(item) else LITTLE
    pipeline.CHECKS_EACH = is_optimised(item)


@pytest.fixture
def small_grain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Loops of a few steps have several chunks, for any number of threads."""
    monkeypatch.setattr(spread, "GRAIN", 40)
    monkeypatch.setattr(spread, "SHARE", 0)
    monkeypatch.setattr(spread, "MERGE", 0)
    yield
    runtime().lib.chad_set_threads(0)


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


@pytest.fixture
def agreed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each derivative that `check_grads` compares, whether it agrees."""
    made: list[bool] = []
    compared = checking._Limits.are_close

    def are_close(limits: Any, found: float, expected: float, size: float) -> bool:
        made.append(compared(limits, found, expected, size))
        return made[-1]

    monkeypatch.setattr(checking._Limits, "are_close", are_close)
    return made


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Even short loops and calls are for several threads."""
    monkeypatch.setattr("chadllvm.lower.tasks.PATIENCE", 0)
    monkeypatch.setattr("chadllvm.lower.chunks.spread.GRAIN", 200)
    yield
    cl.set_num_threads(None)
