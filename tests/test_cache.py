"""The cache on disk: what is found again, what is not, and whatever happens to files.

Each test has a folder of its own. Whether code was compiled or found is seen by the
compiler being asked or not.
"""

from __future__ import annotations

import linecache
import math
import os
import random
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.backend import cache, kept
from chadllvm.backend.digest import Description
from chadllvm.driver import shelf


@pytest.fixture()
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache, turned on for one test."""
    monkeypatch.setenv("CHADLLVM_CACHE", "1")
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache._State, "has_warned", False)
    return tmp_path / "v1"


@pytest.fixture()
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that were compiled, and not found."""
    from chadllvm.backend import jit

    names: list[str] = []
    original = jit.compiled

    def count(function: Any, name: str, *rest: Any) -> Any:
        names.append(name)
        return original(function, name, *rest)

    monkeypatch.setattr(jit, "compiled", count)
    return names


def files(folder: Path, kind: str = "code") -> list[Path]:
    return sorted(folder.glob(f"*.{kind}"))


def bending(factor: float = 2.0) -> Any:
    """A new function each time, as in a new process."""

    @cl.jit
    def bend(x: cl.f64[:]) -> float:
        return sum(math.sin(value) * factor for value in x)

    return bend


class Point(NamedTuple):
    x: float
    y: float


def test_code_is_found_again(folder: Path, compiled: list[str]) -> None:
    x = np.linspace(0.0, 1.0, 5)
    first = cl.value_and_grad(bending())(x)
    assert compiled == ["bend"] and len(files(folder)) == 1
    second = cl.value_and_grad(bending())(x)
    assert compiled == ["bend"]
    assert first[0] == second[0] and (first[1] == second[1]).all()
    assert (folder.stat().st_mode | files(folder)[0].stat().st_mode) & 0o077 == 0


def test_what_is_captured_makes_other_code(folder: Path, compiled: list[str]) -> None:
    assert bending(2.0)(np.ones(1)) == 2.0 * math.sin(1.0)
    assert bending(3.0)(np.ones(1)) == 3.0 * math.sin(1.0)
    assert len(compiled) == len(files(folder)) == 2


def test_constants_are_kept_with_the_code(folder: Path, compiled: list[str]) -> None:
    def made(table: np.ndarray) -> Any:
        return cl.jit(lambda k: table[k] * 2.0)

    large = np.arange(5000.0)
    assert [made(large)(4999) for _ in range(2)] == [9998.0, 9998.0]
    large[4999] = 1.0
    assert made(large)(4999) == 2.0
    assert len(compiled) == 2


def test_records_come_back_as_they_are(folder: Path, compiled: list[str]) -> None:
    def made() -> Any:
        return cl.grad(lambda p: p.x * p.x * p.y)

    assert [made()(Point(3.0, 2.0)) for _ in range(2)] == [Point(12.0, 9.0)] * 2
    assert len(compiled) == 1


def test_failures_name_the_place_that_they_have_now(
    folder: Path, compiled: list[str], tmp_path: Path
) -> None:
    text = (
        "import chadllvm as cl\n\n@cl.jit\ndef f(x: cl.f64[:], k):\n    return x[k]\n"
    )
    places = []
    for number, blank in enumerate(("", "\n\n\n")):
        path = tmp_path / f"module{number}.py"
        path.write_text(blank + text)
        space: dict[str, Any] = {}
        exec(compile(path.read_text(), str(path), "exec"), space)
        with pytest.raises(IndexError) as caught:
            space["f"](np.ones(3), 7)
        places.append(str(caught.value))
    assert compiled == ["f", "f"]  # The fast form and the one that is repeated.
    assert "module0.py:5" in places[0] and "module1.py:8" in places[1]


def test_tangents_and_pullbacks(folder: Path, compiled: list[str]) -> None:
    for _ in range(2):
        f, x = bending(), np.ones(2)
        assert cl.jvp(f, (x,), (x,))[1] == pytest.approx(4.0 * math.cos(1.0))
    assert len(compiled) == 1


def test_stages_are_shown_of_code_that_was_found(folder: Path) -> None:
    texts = [bending().show("llvm", np.ones(1)) for _ in range(2)]
    assert texts[0] == texts[1] and "chad_fn_bend" in texts[0]
    assert "sin" in bending().show("simplified", np.ones(1))


@pytest.mark.parametrize("where", ["environment", "option"])
def test_it_can_be_turned_off(
    where: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where == "environment":
        monkeypatch.setenv("CHADLLVM_CACHE", "0")
        assert cl.jit(lambda x: x + 1.0)(1.0) == 2.0
    else:
        assert cl.jit(cache=False)(lambda x: x + 1.0)(1.0) == 2.0
    assert files(folder) == []


def test_options_and_types_are_part_of_the_key(folder: Path) -> None:
    def f(x):
        return x * x

    cl.jit(f)(2.0)
    cl.jit(f)(2)
    cl.jit(debug=True)(f)(2)
    cl.jit(options=cl.CompileOptions(disabled=frozenset(["cse"])))(f)(2.0)
    assert len(files(folder)) == 4


def test_another_installation_finds_nothing(
    folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("software", "processor"):
        bending()(np.ones(1))
        for module in (kept, shelf):
            monkeypatch.setattr(module, part, lambda part=part: part.encode())
    bending()(np.ones(1))
    assert len(compiled) == 3


# ---- damage


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def open_to_all(path: Path) -> None:
    path.chmod(0o666)


def open_folder(path: Path) -> None:
    path.parent.chmod(0o777)


def link(path: Path) -> None:
    other = path.with_suffix(".real")
    path.rename(other)
    path.symlink_to(other)


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def renamed(path: Path) -> None:
    """Another entry under the name of this one."""
    cl.jit(lambda x: x + 100.0)(1.0)
    (other,) = set(files(path.parent)) - {path}
    other.replace(path)


@pytest.mark.parametrize(
    "damage", [cut, flip, empty, open_to_all, open_folder, link, pipe, renamed]
)
def test_what_is_not_trusted_is_compiled_again(
    damage: Callable[[Path], None], folder: Path, compiled: list[str]
) -> None:
    bending()(np.ones(1))
    (path,) = files(folder)
    damage(path)
    compiled.clear()
    with pytest.warns(RuntimeWarning, match="is ignored") as caught:
        assert bending()(np.ones(1)) == 2.0 * math.sin(1.0)
        assert bending()(np.ones(1)) == 2.0 * math.sin(1.0)
    assert len(caught) == 1
    # What takes its place is believed again, but in a folder that is open to all.
    assert len(compiled) == (2 if damage is open_folder else 1)
    assert not cache.verify()


def test_a_folder_of_noise(folder: Path) -> None:
    bending()(np.ones(1))
    (path,) = files(folder)
    whole, noise = path.read_bytes(), random.Random(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for _ in range(300):
            content = bytearray(whole)
            for _ in range(noise.choice((1, 2, 50))):
                content[noise.randrange(len(content))] = noise.randrange(256)
            if noise.random() < 0.3:
                del content[noise.randrange(len(content)) :]
            path.write_bytes(content)
            found = cache.load("code", bytes.fromhex(path.stem))
            assert found is None or bytes(content) == whole


@pytest.fixture()
def limited() -> Iterator[None]:
    """A disk on which no file may have more than 4 kB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk(folder: Path, limited: None) -> None:
    assert bending()(np.ones(1)) == 2.0 * math.sin(1.0)
    cache.store("code", b"1" * 32, "large", b"0" * 100_000)
    assert [path.name for path in folder.iterdir() if path.suffix == ".draft"] == []
    assert not (folder / ("31" * 32 + ".code")).exists()


def test_no_place_to_write(
    folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError("read-only")

    with monkeypatch.context() as patch:  # Root may write anywhere.
        patch.setattr(os, "makedirs", refuse)
        bending()(np.ones(1))
    assert files(folder) == []
    monkeypatch.delenv("CHADLLVM_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/dev/null/nowhere")
    bending()(np.ones(1))
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert cache.directory() is None
    bending()(np.ones(1))
    assert len(compiled) == 3


def test_where_the_folder_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHADLLVM_CACHE", "")
    monkeypatch.delenv("CHADLLVM_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.directory() == Path("/home/somebody/.cache/chadllvm/v1")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/kept")
    assert cache.directory() == Path("/var/kept/chadllvm/v1")
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", "/somewhere")
    assert cache.directory() == Path("/somewhere/v1")


# ---- all files


def test_what_is_used_last_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10):
        key = bytes([number]) * 32
        cache.store("code", key, f"function {number}", b"0" * 1000)
        path = folder / f"{key.hex()}.code"
        os.utime(path, (0, 1_000_000 + number))
    assert cache.load("code", bytes([2]) * 32) == b"0" * 1000  # Used: it is new now.
    sizes = [entry.size for entry in cache.entries()]
    count, removed = cache.prune(limit=4 * sizes[0])
    assert (count, removed) == (6, 6 * sizes[0])
    names = [entry.name for entry in cache.entries()]
    assert names == ["function 2", "function 9", "function 8", "function 7"]
    # The bound holds without being asked for.
    monkeypatch.setattr(cache, "LIMIT", 3 * sizes[0])
    monkeypatch.setattr(cache._State, "written", 0)
    cache.store("code", b"x" * 32, "the last", b"0" * 1000)
    assert sum(entry.size for entry in cache.entries()) <= 3 * sizes[0]
    assert "the last" in [entry.name for entry in cache.entries()]


def test_listed_verified_cleared(folder: Path) -> None:
    bending()(np.ones(1))
    cache.store("code", b"y" * 32, "broken", b"content")
    cut(folder / ("79" * 32 + ".code"))
    (folder / "notes.txt").write_text("not ours")
    found = cache.entries()
    assert "bend" in {entry.name for entry in found}
    assert [entry.problem for entry in cache.verify()] == ["its checksum is wrong"]
    assert cache.clear()[0] == len(found)
    assert cache.entries() == [] and (folder / "notes.txt").exists()


KILLED = """
import os, signal, sys
from chadllvm.backend import cache

def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)

os.replace = kill
cache.store("code", b"k" * 32, "killed", b"0" * 1000)
"""


def test_a_writer_that_is_killed(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], timeout=120)
    assert done.returncode == -9
    (draft,) = folder.iterdir()
    assert cache.load("code", b"k" * 32) is None and cache.entries() == []
    assert cache.prune()[0] == 0  # It may be being written still.
    os.utime(draft, (0, 1_000_000))
    assert cache.prune()[0] == 1 and [*folder.iterdir()] == []


TOGETHER = """
import os, sys
import numpy as np
import chadllvm as cl
from chadllvm.backend import cache

@cl.jit
def f(x: cl.f64[:]) -> float:
    return sum(value * value for value in x)

children = []
for _ in range(20):
    child = os.fork()
    if not child:
        gradient = cl.grad(f)(np.arange(4.0))
        os._exit(0 if (gradient == 2.0 * np.arange(4.0)).all() else 1)
    children.append(child)
failed = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
assert failed == [0] * 20, failed
assert cache.verify() == [], cache.verify()
assert [e.name for e in cache.entries() if e.kind == "code"] == ["f"], cache.entries()
"""


def test_twenty_processes_on_one_cold_cache(folder: Path, tmp_path: Path) -> None:
    script = tmp_path / "together.py"
    script.write_text(TOGETHER)
    subprocess.run(
        [sys.executable, "-W", "error", str(script)], check=True, timeout=300
    )


# ---- digests


def described(function: Any, *args: Any) -> bytes:
    description = Description()
    version = cl.jit(function)._version_for(args)
    description.add(version.compilation.stages["core"])
    return description.digest()


ADDED = """
def f(x):{comment}
    return x * 2.0 {sign} 1.0
"""


def test_a_digest_knows_meanings_not_places() -> None:
    found = []
    for k, (comment, sign) in enumerate((("", "+"), ("  # other", "+"), ("", "-"))):
        text, space = "\n" * k + ADDED.format(comment=comment, sign=sign), {}
        name = f"<digest {k}>"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        exec(compile(text, name, "exec"), space)
        found.append(described(space["f"], 1.0))
        found.append(described(space["f"], 1))
    assert found[0:2] == found[2:4] and len(set(found)) == 4


def test_nothing_is_kept_of_what_cannot_be_described(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chadllvm.backend import digest

    def refuse(*_: Any) -> None:
        raise digest.Indescribable("a primitive")

    monkeypatch.setitem(digest._WRITERS, next(iter(digest._WRITERS)), refuse)
    assert cl.jit(lambda x: x + 1.0)(1.0) == 2.0
    assert files(folder) == []


# ---- the compiler


@pytest.fixture()
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Some files that stand for the compiler's."""
    from chadllvm.backend import host

    place = tmp_path / "package"
    place.mkdir()
    (place / "one.py").write_text("x = 1\n")
    monkeypatch.setattr(host, "_own_files", lambda: host._files(str(place), ""))
    monkeypatch.setattr(cl, "STARTED", 2**63)
    return place


def test_keys_know_contents_of_files_and_not_their_dates(
    folder: Path, package: Path
) -> None:
    from chadllvm.backend.host import software

    first = software.__wrapped__()
    assert software.__wrapped__() == first and len(files(folder, "files")) == 1
    os.utime(package / "one.py", (1, 1))
    assert software.__wrapped__() == first and len(files(folder, "files")) == 2
    (package / "one.py").write_text("x = 2\n")
    os.utime(package / "one.py", (1, 1))
    second = software.__wrapped__()
    (package / "two.py").write_text("")
    assert None not in {first, second, software.__wrapped__()}
    assert len({first, second, software.__wrapped__()}) == 3


def test_a_compiler_that_changes_while_it_runs_keeps_nothing(
    folder: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chadllvm.backend.host import software

    monkeypatch.setattr(cl, "STARTED", (package / "one.py").stat().st_ctime_ns - 1)
    assert software.__wrapped__() is None
    for module in (kept, shelf):
        monkeypatch.setattr(module, "software", lambda: None)
    assert bending()(np.ones(1)) == 2.0 * math.sin(1.0)
    assert not files(folder) and not files(folder, "index")
