"""Folders that others can write to, or own: what is taken from them, and what is said.

Only root can give a folder away. Others see that a folder belongs to somebody else in
what the system tells of it, and so it is told here.
"""

from __future__ import annotations

import os
import shutil
import stat
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend import cache, trust

OTHER = 12345  # A user that is neither root nor us.
KEY = b"k" * 32


@pytest.fixture()
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that is named, with a file in the cache's own folder below."""
    given = tmp_path / "above" / "given"
    monkeypatch.setenv("CHADLLVM_CACHE", "1")
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(given))
    monkeypatch.setattr(cache._State, "has_warned", False)
    cache.store("code", KEY, "function", b"content")
    assert cache.load("code", KEY) == b"content"
    return given


def found() -> tuple[bytes | None, str]:
    """What is loaded, and the warning; another warning in the process is a failure."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        content = cache.load("code", KEY)
        cache.store("code", b"l" * 32, "another", b"more")
        assert cache.load("code", KEY) == content
    (said,) = [str(w.message) for w in caught] or [""]
    return content, said


class Owners:
    """Makes files and folders those of other users."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.of: dict[int, int] = {}
        for name in ("lstat", "fstat"):
            monkeypatch.setattr(trust.os, name, self._told(getattr(os, name)))

    def _told(self, ask: Callable[[Any], os.stat_result]) -> Any:
        def told(place: Any, **how: Any) -> os.stat_result:
            status = ask(place, **how)
            values = list(status)
            values[stat.ST_UID] = self.of.get(status.st_ino, status.st_uid)
            return os.stat_result(values)

        return told

    def give(self, path: Path, owner: int = OTHER) -> None:
        self.of[path.lstat().st_ino] = owner


@pytest.fixture()
def owners(monkeypatch: pytest.MonkeyPatch) -> Owners:
    return Owners(monkeypatch)


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o733, 0o720, 0o702, 0o1777])
def test_a_folder_that_is_open_to_others(mode: int, given: Path) -> None:
    folder = given / "v1"
    folder.chmod(mode)
    content, said = found()
    assert content is None and not (folder / f"{'6c' * 32}.code").exists()
    assert f"{folder} is open to others; `chmod go-w {folder}`" in said
    folder.chmod(mode & 0o755)  # What the warning says.
    assert found() == (b"content", "")


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o733])
def test_a_folder_in_one_that_is_open_to_others(mode: int, given: Path) -> None:
    given.chmod(mode)
    content, said = found()
    assert content is None
    assert f"{given} is open to others; `chmod go-w {given}`" in said


def test_a_name_that_a_shell_reads_otherwise(
    given: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = given.with_name("my cache")
    given.rename(odd)
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(odd))
    odd.chmod(0o777)
    assert f"`chmod go-w '{odd}'`" in found()[1]


def test_sticky_folders_keep_what_is_in_them(given: Path) -> None:
    for folder in (given, given.parent):
        folder.chmod(0o1777)
        assert found() == (b"content", "")


def test_others_may_replace_folders_far_above(given: Path, owners: Owners) -> None:
    """By folders of their own, which are told from ours."""
    given.parent.chmod(0o777)
    assert found() == (b"content", "")
    given.rename(given.with_name("moved"))
    shutil.copytree(given.with_name("moved"), given)
    owners.give(given)
    content, said = found()
    assert content is None and f"{given} belongs to user {OTHER}" in said


@pytest.mark.parametrize("which", ["v1", "."])
def test_a_folder_of_another_user(which: str, given: Path, owners: Owners) -> None:
    folder = given / which
    owners.give(folder)
    content, said = found()
    assert content is None and not (given / "v1" / f"{'6c' * 32}.code").exists()
    assert f"{folder} belongs to user {OTHER}, and this is user {os.geteuid()}" in said
    sudo = "sudo " if os.geteuid() else ""
    assert f"`{sudo}chown -R {os.geteuid()} {folder}`" in said
    assert "CHADLLVM_CACHE_DIR" in said


def test_root_in_a_folder_of_a_user(
    given: Path, owners: Owners, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with `sudo`: all is the user's, who could change what root runs."""
    for path in (given, given / "v1", *(given / "v1").iterdir()):
        owners.give(path)
    monkeypatch.setattr(trust.os, "geteuid", lambda: 0)
    content, said = found()
    assert content is None and f"`chown -R 0 {given}`" in said


def test_a_user_in_a_folder_of_root(
    given: Path, owners: Owners, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (given / "v1", *(given / "v1").iterdir()):
        owners.give(path)
    owners.give(given, 0)
    monkeypatch.setattr(trust.os, "geteuid", lambda: OTHER)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.load("code", KEY) == b"content"


def test_a_file_of_another_user(given: Path, owners: Owners) -> None:
    (file,) = (given / "v1").glob(f"{KEY.hex()}.code")
    owners.give(file)
    content, said = found()
    assert content is None and "of another user" in said
    assert [entry.path for entry in cache.verify()] == [str(file)]


# ---- links


def test_links_of_ones_own_count_as_what_they_lead_to(
    given: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, second = given.with_name("link"), given.with_name("second")
    link.symlink_to("../above/given")
    second.symlink_to(link)
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(second))
    assert found() == (b"content", "")
    given.chmod(0o777)
    content, said = found()
    assert content is None and f"{given} is open to others" in said


@pytest.mark.parametrize("number", [0, 1])
def test_links_of_others_are_not_followed(
    number: int, given: Path, owners: Owners, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = [given.with_name("link"), given.with_name("second")]
    links[0].symlink_to(given)
    links[1].symlink_to(links[0])
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(links[1]))
    owners.give(links[number])
    content, said = found()
    assert content is None and f"{links[number]} is a link that belongs to" in said


def test_the_folder_itself_may_be_a_link(given: Path) -> None:
    (given / "v1").rename(given / "elsewhere")
    (given / "v1").symlink_to("elsewhere")
    assert found() == (b"content", "")
    (given / "elsewhere").chmod(0o777)
    content, said = found()
    assert content is None and f"`chmod go-w {given / 'elsewhere'}`" in said


def test_links_that_lead_nowhere_or_in_circles(given: Path) -> None:
    (given / "v1").rename(given / "elsewhere")
    for target in ("nowhere", "v1"):
        (given / "v1").symlink_to(target)
        assert found() == (None, "")
        (given / "v1").unlink()


# ---- what is made, and what is said


def test_what_is_made_is_the_users_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHADLLVM_CACHE", "1")
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(tmp_path / "a" / "b" / "c"))
    mask = os.umask(0)
    try:
        cache.store("code", KEY, "function", b"content")
    finally:
        os.umask(mask)
    assert cache.load("code", KEY) == b"content"
    made = [path.stat().st_mode & 0o777 for path in sorted(tmp_path.rglob("*"))]
    assert made == [0o700] * 4 + [0o600]


def test_machine_code_of_others_is_not_run(given: Path, owners: Owners) -> None:
    def doubled() -> Any:
        return cl.jit(lambda x: x * 2.0)

    assert doubled()(3.0) == 6.0
    owners.give(given / "v1")
    with pytest.warns(RuntimeWarning, match="belongs to user") as caught:
        assert doubled()(3.0) == 6.0
        assert cl.grad(doubled())(np.float64(3.0)) == 2.0
    assert len(caught) == 1


def test_commands_say_it(given: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from chadllvm.cli.machine import Health, examine

    assert cache.distrusted() is None
    (given / "v1").chmod(0o777)
    assert "is open to others" in str(cache.distrusted())
    (look,) = [f for f in examine() if f.name == "cache"]
    assert look.health is Health.NOTE and "`chmod go-w" in look.remedy
