"""A plugin of pytest: tests are read once, and faults put into forked processes.

`CHADLLVM_JOBS` is a file with a line of JSON for each fault: its name, and the tests to
run until one fails. The process that has read the tests has imported the compiler, and
run none of it: a fork of it puts the code of functions with the fault in place of what
they have, and runs the tests. What became of each fault is a line on the file that
`CHADLLVM_FOUND` names.

A function has its new code wherever it is, in a table too; but what has run already
when the tests are read has run without the fault. Such faults have processes of their
own (`plugin.py`), and so has one whose function cannot have the new code.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from tests.mutation.plugin import install
from tests.mutation.sites import mutated

JOBS = "CHADLLVM_JOBS"
FOUND = "CHADLLVM_FOUND"

# What a fault may make the compiler take.
_MOST_MEMORY = 8 << 30


Functions = Mapping[str, Sequence[FunctionType]]


def functions() -> Functions:
    """All functions that there are, wherever they are kept, by their files."""
    found = defaultdict[str, list[FunctionType]](list)
    for each in gc.get_objects():
        if type(each) is FunctionType:
            found[each.__code__.co_filename].append(each)
    return found


def put_in(mutant: str, there: Functions) -> None:
    """Let the functions of a module have the fault. Raises: ValueError."""
    name, number = mutant.split(":")
    if name not in sys.modules:
        install(mutant)
        return
    path = sys.modules[name].__file__
    assert path is not None
    tree = mutated(Path(path).read_text(), int(number))
    new: dict[tuple[str, int], CodeType] = {}
    for code in _codes(compile(tree, path, "exec")):
        if new.setdefault(_key(code), code) is not code:
            raise ValueError("two functions on one line")
    for each in there[path]:
        each.__code__ = new[_key(each.__code__)]


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


class Server:
    """Runs the jobs, some of them at a time."""

    def __init__(self, jobs: Path, found: Path) -> None:
        self.jobs = [json.loads(line) for line in jobs.read_text().splitlines()]
        self.found = found
        self.running: dict[int, dict[str, Any]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        items = {item.nodeid: item for item in session.items}
        gc.collect()
        there = functions()
        gc.freeze()  # Else each fork would copy all of the memory.
        try:
            self._all(items, there)
        finally:
            for child in self.running:
                _end(child)
        return True

    def _all(self, items: Mapping[str, pytest.Item], there: Functions) -> None:
        for job in self.jobs:
            if len(self.running) == job["jobs"]:
                self._wait()
            child = os.fork()
            if not child:
                tests = [items[name] for name in job["tests"] if name in items]
                _run(job, there, tests)
            self.running[child] = job
        while self.running:
            self._wait()

    def _wait(self) -> None:
        """One of the jobs is done."""
        child, status = os.wait()
        _end(child)
        job, told = self.running.pop(child), _told(child)
        match os.waitstatus_to_exitcode(status):
            case 0:
                result = {"status": "missed", "by": f"{len(job['tests'])} tests run it"}
            case code if code == _AGAIN:
                result = {"status": "again", "by": ""}
            case code if -code in (signal.SIGXCPU, signal.SIGALRM):
                result = {"status": "time", "by": ""}
            case code:
                by = told.read_text() if told.exists() else f"exit status {code}"
                result = {"status": "caught", "by": by}
        told.unlink(missing_ok=True)
        with self.found.open("a") as file:
            file.write(json.dumps({"name": job["name"], **result}) + "\n")


def _end(child: int) -> None:
    """End a child, with what its tests have started."""
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


# The fault is for a process of its own.
_AGAIN = 77


def _told(child: int) -> Path:
    """Where a child says which test has failed."""
    return Path(f"{os.environ[FOUND]}.{child}")


def _run(
    job: Mapping[str, Any], there: Functions, items: Sequence[pytest.Item]
) -> None:
    """Run tests with a fault in this process, which ends with it."""
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (job["seconds"], job["seconds"] + 5))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.alarm(10 * job["seconds"])
    try:
        put_in(job["name"], there)
    except ValueError:
        os._exit(_AGAIN)
    for item, following in zip(items, [*items[1:], None], strict=True):
        reports = runtestprotocol(item, log=False, nextitem=following)
        if any(report.failed for report in reports):
            _told(os.getpid()).write_text(item.nodeid)
            os._exit(1)
    os._exit(0)


def pytest_configure(config: pytest.Config) -> None:
    """Serve, if this is asked for."""
    if JOBS in os.environ:
        server = Server(Path(os.environ[JOBS]), Path(os.environ[FOUND]))
        config.pluginmanager.register(server)
