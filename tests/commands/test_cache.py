"""`chadllvm cache`: what is kept is listed, looked at and removed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_runs import SHAPES

from chadllvm.backend import cache
from chadllvm.backend.runtime import runtime


@pytest.fixture()
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with the code of one function in it, in a process that has begun."""
    runtime()  # What its interface is would be kept as well.
    monkeypatch.setenv("CHADLLVM_CACHE", "1")
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(tmp_path))
    cache.store("code", b"\x01" * 32, "energy", b"code")
    cache.store("index", b"\x02" * 32, "energy", b"index")
    found = cache.directory()
    assert found is not None
    return found


def test_list(runs: Any, folder: Path) -> None:
    status, out, err = runs.ended("cache", "ls")
    assert (status, err) == (0, "")
    heads, *rows, last = out.splitlines()
    assert heads.split() == ["function", "kind", "size", "used"]
    assert {row.split()[1] for row in rows} == {"code", "index"}
    assert all(row.split()[0] == "energy" and row.endswith("now") for row in rows)
    assert last.startswith("2 files, ")
    assert last.endswith(f"of 512 MiB, in {folder}")
    status, out, _ = runs.ended("cache", "ls", "--json")
    found = json.loads(out)
    assert found["directory"] == str(folder)
    assert {entry["kind"] for entry in found["entries"]} == {"code", "index"}


def test_what_is_wrong(runs: Any, folder: Path) -> None:
    assert runs.ended("cache", "verify")[0] == 0
    wrong = next(folder.glob("*.code"))
    wrong.write_bytes(wrong.read_bytes()[:-1])
    status, out, _ = runs.ended("cache", "verify")
    assert status == 1
    assert "its checksum is wrong" in out
    assert "index" not in out
    status, out, _ = runs.ended("doctor")
    assert status == 0
    assert "something is wrong with 1 of them" in out
    status, out, _ = runs.ended("cache", "prune")
    assert (status, out.startswith("removed 1 file, ")) == (0, True)
    assert [path.suffix for path in folder.iterdir()] == [".index"]


def test_remove(runs: Any, folder: Path) -> None:
    status, out, _ = runs.ended("cache", "prune", "--limit", "1G")
    assert (status, out) == (0, "removed 0 files, 0 bytes\n")
    status, out, _ = runs.ended("cache", "prune", "--limit", "0", "--json")
    assert (status, json.loads(out)["files"]) == (0, 2)
    cache.store("code", b"\x01" * 32, "energy", b"code")
    assert runs.ended("cache", "clear")[1].startswith("removed 1 file, ")
    assert cache.entries() == []


def test_without_a_cache(runs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHADLLVM_CACHE", "0")
    for action in ("ls", "clear", "prune", "verify"):
        status, out, _ = runs.ended("cache", action)
        assert (status, out.startswith("the cache is off")) == (0, True)
    status, out, _ = runs.ended("cache", "ls", "--json")
    assert json.loads(out)["directory"] is None


def test_bad_words(runs: Any, folder: Path) -> None:
    status, _, err = runs.ended("cache", "ls", "--limit", "1G")
    assert (status, err) == (2, "chadllvm: --limit belongs to `chadllvm cache prune`\n")
    with pytest.raises(SystemExit):
        runs.ended("cache", "prune", "--limit", "much")
    assert len(cache.entries()) == 2


def test_a_timed_function_is_compiled(runs: Any, folder: Path) -> None:
    for _ in range(2):
        assert runs.ended("bench", f"{SHAPES}:area", "--seconds", "0.01")[0] == 0
    assert len(cache.entries()) == 2
    assert runs.ended("run", f"{SHAPES}:area", "--draw")[0] == 0
    assert len(cache.entries()) > 2


def test_a_folder_that_others_can_write_to(runs: Any, folder: Path) -> None:
    folder.chmod(0o777)
    status, out, _ = runs.ended("cache", "verify")
    assert status == 1
    said = f"nothing is kept there: {folder} is open to others; `chmod go-w {folder}`"
    assert said in out
    status, out, _ = runs.ended("cache", "verify", "--json")
    assert (status, json.loads(out)["distrusted"]) == (1, f"{folder} is open to others")
    folder.chmod(0o700)
    status, out, _ = runs.ended("cache", "verify", "--json")
    assert (status, json.loads(out)["distrusted"]) == (0, "")
