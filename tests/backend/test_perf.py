"""`CHADLLVM_PERF=1`: `perf` finds the names of generated functions."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend import perf
from chadllvm.backend.machine import Code

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/maps").exists(), reason="perf is a tool of Linux"
)

OPTIONS = cl.CompileOptions(cache=False)


@pytest.fixture()
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "perf.map"
    monkeypatch.setenv("CHADLLVM_PERF", "1")
    monkeypatch.setattr(perf, "map_file", lambda: place)
    return place


def named(place: Path) -> dict[str, tuple[int, int]]:
    """The addresses and sizes of what is in the file, by names."""
    rows = [line.split(" ", 2) for line in place.read_text().splitlines()]
    return {name: (int(start, 16), int(size, 16)) for start, size, name in rows}


def is_run(start: int, size: int) -> bool:
    """Whether memory holds code."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        low, _, high = line.split(" ")[0].partition("-")
        if int(low, 16) <= start and start + size <= int(high, 16):
            return "x" in line.split(" ")[1]
    return False


def compiled(function: object) -> Code:
    (version,) = function._versions.values()  # type: ignore[attr-defined]
    code: Code = version.native.code
    return code


@pytest.mark.parametrize("links_itself", [True, False])
def test_functions_are_named(
    place: Path, monkeypatch: pytest.MonkeyPatch, links_itself: bool
) -> None:
    if not links_itself:
        monkeypatch.setattr("chadllvm.backend.elf.is_supported", lambda: False)

    @cl.jit(options=OPTIONS)
    def halved(x: cl.f64[:]) -> float:
        return 0.5 * sum(x)

    assert halved(np.ones(4)) == 2.0
    found = named(place)
    start, size = found["chadllvm:halved"]
    assert size > 0 and is_run(start, size)
    assert found["chadllvm:halved_entry"][0] == compiled(halved).address
    ends = sorted((start, start + size) for start, size in found.values())
    assert all(end <= after for (_, end), (after, _) in pairwise(ends))


def test_functions_are_added(place: Path) -> None:
    place.write_text("1000 10 py::other\n")
    for k in (1.0, 2.0):
        assert cl.jit(lambda x, k=k: x * 2.0, options=OPTIONS)(k) == 2.0 * k
    lines = place.read_text().splitlines()
    assert lines[0] == "1000 10 py::other"
    assert sum(line.endswith("_entry") for line in lines) == 2


def test_nothing_is_written_otherwise(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    place.symlink_to(victim)
    assert cl.jit(lambda x: x + 1.0, options=OPTIONS)(1.0) == 2.0
    assert not victim.exists()
    place.unlink()
    monkeypatch.setenv("CHADLLVM_PERF", "0")
    assert cl.jit(lambda x: x + 2.0, options=OPTIONS)(1.0) == 3.0
    assert not place.exists()


def test_where_perf_looks() -> None:
    assert str(perf.map_file()) == f"/tmp/perf-{os.getpid()}.map"
