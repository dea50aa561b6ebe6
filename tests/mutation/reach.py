"""The tests that run a statement: what `record.py` writes, and which of them to run.

A file has a line of JSON for each test, with a bit for each line of the modules that
may have faults: whether the statement that begins there has run.
"""

from __future__ import annotations

import ast
import json
import zlib
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path

from tests.mutation.sites import statements

ROOT = Path(__file__).parents[2]

# The folders that have faults.
FOLDERS = ("ops", "chad", "closure", "simplify", "lower")

# Tests of each file that are run before all others: the fastest.
_FIRST = 3


@cache
def modules() -> dict[str, str]:
    """The modules that may have faults, with their sources."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / "chadllvm" / folder).rglob("*.py")):
            if path.stem != "__init__":
                parts = path.relative_to(ROOT).with_suffix("").parts
                found[".".join(parts)] = path.read_text()
    return found


def lines_of() -> dict[str, int]:
    """How many lines each module has, and one, for they are counted from 1 on."""
    return {name: _lines(source) for name, source in modules().items()}


def _lines(source: str) -> int:
    return source.count("\n") + 2


@cache
def version() -> int:
    """Of the sources: lines that were recorded for others mean nothing."""
    return zlib.crc32("".join(modules().values()).encode())


@dataclass(frozen=True)
class Seen:
    """A line of the file: a test, its seconds of a processor, and what it runs."""

    name: str
    seconds: float
    version: int
    packed: str

    @staticmethod
    def of(name: str, seconds: float, hits: bytes) -> Seen:
        """`hits`: a byte for each line."""
        bits = int(hits[::-1].translate(_DIGITS) or b"0", 2)
        packed = zlib.compress(bits.to_bytes(len(hits) // 8 + 1, "little"))
        return Seen(name, round(seconds, 3), version(), b64encode(packed).decode())

    def line(self) -> str:
        return json.dumps(asdict(self)) + "\n"

    def bits(self) -> int:
        return int.from_bytes(zlib.decompress(b64decode(self.packed)), "little")


_DIGITS = bytes([ord("0"), ord("1")]) + bytes(254)


@dataclass(frozen=True)
class Known:
    """A test that passes, the seconds that it takes, and the lines that it runs."""

    name: str
    seconds: float
    bits: int

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]


@dataclass(frozen=True)
class Reach:
    """All tests that are known, and what runs when they are read."""

    tests: Sequence[Known]
    reading: int = 0

    @staticmethod
    def read(path: Path) -> Reach:
        """What a file has for the sources as they are."""
        tests, reading = list[Known](), 0
        for line in path.read_text().splitlines() if path.exists() else ():
            seen = Seen(**json.loads(line))
            if seen.version != version():
                continue
            if seen.name:
                tests.append(Known(seen.name, seen.seconds, seen.bits()))
            else:
                reading |= seen.bits()
        return Reach(tests, reading)

    def of(self, module: str, line: int) -> Iterator[Known]:
        """The tests that run a line of a module: the fastest of each file first.

        A line that runs when tests are read matters to all of them.
        """
        place = _place(module, line)
        hit = [test for test in self.tests if test.bits >> place & 1]
        yield from _ordered(hit, module)
        if self.is_early(module, line):
            yield from _ordered([t for t in self.tests if t not in set(hit)], module)

    def is_early(self, module: str, line: int) -> bool:
        """Whether a line runs when tests are read."""
        return bool(self.reading >> _place(module, line) & 1)


def _place(module: str, line: int) -> int:
    before = 0
    for name, source in modules().items():
        if name == module:
            return before + statements(ast.parse(source))[line]
        before += _lines(source)
    raise ValueError(module)


def _ordered(tests: Sequence[Known], module: str) -> Iterator[Known]:
    """The fastest of each file, by turns; then the others, the fastest first."""
    files = defaultdict[str, list[Known]](list)
    for test in sorted(tests, key=lambda test: test.seconds):
        files[test.file].append(test)
    own = f"tests/{module.split('.')[1]}/"
    order = sorted(files, key=lambda file: (not file.startswith(own), file))
    for turn in zip_longest(*(files[file][:_FIRST] for file in order)):
        yield from (test for test in turn if test is not None)
    others = [test for file in order for test in files[file][_FIRST:]]
    yield from sorted(others, key=lambda test: test.seconds)


def within(tests: Iterator[Known], seconds: float) -> Iterator[Known]:
    """The next ones, as long as there are seconds left."""
    for test in tests:
        yield test
        seconds -= test.seconds
        if seconds < 0.0:
            return
