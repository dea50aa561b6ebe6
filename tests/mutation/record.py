"""A plugin of pytest: each test is run by itself, and what it runs is written down.

Each statement in the functions of the folders says that it runs; a test runs in a
forked process, so that nothing is left from an earlier one, and if it passes, the file
that `CHADLLVM_RECORD` names gets a line (`reach.py` reads it). Tests that the file
knows are left out, and so are all once the minutes of `CHADLLVM_MINUTES` are over.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

import pytest
from _pytest.runner import runtestprotocol

from tests.mutation.loading import Finder
from tests.mutation.reach import Reach, Seen, lines_of, modules
from tests.mutation.sites import NAME, marked

FILE = "CHADLLVM_RECORD"
MINUTES = "CHADLLVM_MINUTES"


class Recording:
    """The statements that have run, and the file."""

    def __init__(self, path: Path, minutes: float) -> None:
        self.path, self.until = path, time.monotonic() + 60.0 * minutes
        self.known = {test.name for test in Reach.read(path).tests}
        self.hits = {name: bytearray(lines) for name, lines in lines_of().items()}
        self.is_started = False
        for name in modules():
            given = {NAME: self.hits[name]}
            sys.meta_path.insert(0, Finder(name, partial(marked), given))

    def seen(self, name: str, seconds: float) -> Seen:
        """What has run by now."""
        return Seen.of(name, seconds, b"".join(self.hits.values()))

    def write(self, seen: Seen) -> None:
        """In one piece, for other processes write to the file too."""
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(file, seen.line().encode())
        os.close(file)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Tests of all files come first; of n in a file, in proportion to √n."""
        Random(0).shuffle(items)
        counts = Counter(item.path for item in items)
        seen, order = Counter[Path](), dict[pytest.Item, float]()
        for item in items:
            order[item] = seen[item.path] / math.sqrt(counts[item.path])
            seen[item.path] += 1
        items.sort(key=order.__getitem__)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Iterator[None]:
        """What runs when the tests are read runs for all of them."""
        self.write(self.seen("", 0.0))
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        if item.nodeid not in self.known and time.monotonic() < self.until:
            child = os.fork()
            if not child:
                self._run(item)
            os.waitpid(child, 0)
        return True

    def _run(self, item: pytest.Item) -> None:
        """Run a test in this process, which ends with it."""
        for hits in self.hits.values():
            hits[:] = bytes(len(hits))
        begin = time.process_time()
        reports = runtestprotocol(item, log=False, nextitem=None)
        if all(report.passed for report in reports):
            self.write(self.seen(item.nodeid, time.process_time() - begin))
        os._exit(0)


if FILE in os.environ:
    _recording = Recording(Path(os.environ[FILE]), float(os.environ[MINUTES]))


def pytest_configure(config: pytest.Config) -> None:
    """Record, if this is asked for."""
    if FILE in os.environ:
        config.pluginmanager.register(_recording)
