"""What is compiled is kept on disk: files with a key, shared by all processes.

    <folder>/v1/<key>.code        machine code, by what the program means
    <folder>/v1/<key>.index       which code a Python function has, by its text
    <folder>/v1/<key>.interface   the C runtime's declarations, as they are read
    <folder>/v1/<key>.files       what the compiler's files come to, by their dates

A file is the line `chadllvm cache 1`, a line with the name of what it is of, 32 bytes
of checksum, and the content. The checksum is of the key, the name and the content: a
file that was cut short, changed or given another name is not believed. Neither is one
that others could have written (`trust.py`). Such a file is as good as none; the first
one in a process is warned of, and the next that is compiled takes its place. In a
folder that others can write to nothing is looked for, and nothing is kept.

A file is written under another name and renamed when it is whole, so that readers never
see half of one, whoever is killed; of several writers the last one wins, with the same
content. Where nothing can be written (no home, a read-only or full disk) nothing is
kept. When the files exceed `LIMIT`, those go that were not used for longest.

`CHADLLVM_CACHE=0` turns it off; `CHADLLVM_CACHE_DIR` says where it is, else it is
`chadllvm` in `XDG_CACHE_HOME`, or in `~/.cache`.
"""

from __future__ import annotations

import errno
import os
import time
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from chadllvm.backend.hashing import digest_of
from chadllvm.backend.trust import Distrusted, check_file, check_folder

if TYPE_CHECKING:
    from pathlib import Path

# So many bytes are kept; pruning leaves this part of them.
LIMIT = 512 << 20
_KEPT_PART = 0.75

_VERSION = "v1"
_HEAD = b"chadllvm cache 1\n"
_CHECKSUM = 32
_KINDS = ("code", "index", "interface", "files")

# A file counts as used again after so many seconds; a writer is dead after so many.
_USED_AGAIN = 3600.0
_DEAD = 3600.0

# The folder is looked over at every so many files that are written.
_BETWEEN = 64

_OFF = ("0", "off", "no", "false")


class Entry(NamedTuple):
    """One file: what it is of, its bytes, when it was used, and what is wrong with it.

    `problem` is empty if all is well; `used` is in seconds, as `time.time()` gives it.
    """

    path: str
    kind: str
    name: str
    size: int
    used: float
    problem: str


class _State:
    """What this process has done so far."""

    written = 0
    has_warned = False


def is_on() -> bool:
    """Whether anything is kept at all."""
    return os.environ.get("CHADLLVM_CACHE", "").lower() not in _OFF


def directory() -> Path | None:
    """The folder in use, which need not be there yet; None without a cache."""
    from pathlib import Path

    folder = _folder()
    return None if folder is None else Path(folder)


def _folder() -> str | None:
    if not is_on():
        return None
    given = os.environ.get("CHADLLVM_CACHE_DIR")
    if given:
        return os.path.join(os.path.abspath(given), _VERSION)
    root = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(root):
        root = os.path.join(os.path.expanduser("~"), ".cache")
    # Without a home the tilde stays what it is.
    return os.path.join(root, "chadllvm", _VERSION) if os.path.isabs(root) else None


# ---- files


def load(kind: str, key: bytes) -> bytes | None:
    """The content that was stored under a key, if it is there and to be trusted."""
    folder = _folder()
    if folder is None:
        return None
    path = os.path.join(folder, f"{key.hex()}.{kind}")
    try:
        check_folder(folder)
    except Distrusted as problem:
        _warn(folder, problem)
        return None
    except OSError:
        return None
    try:
        text, status = _read(path)
        _, content = _checked(text, kind, key)
    except Distrusted as problem:
        _warn(path, problem)
        return None
    except OSError:
        return None
    if time.time() - status.st_mtime > _USED_AGAIN:
        _touch(path)
    return content


def store(kind: str, key: bytes, name: str, content: bytes) -> None:
    """Keep a content under a key; if that cannot be done, it is not."""
    folder = _folder()
    if folder is None:
        return
    title = name.replace("\n", " ").encode(errors="replace")
    checksum = _checksum(kind, key, title, content)
    try:
        _make(folder)
        check_folder(folder)
        path = os.path.join(folder, f"{key.hex()}.{kind}")
        _write(path, (_HEAD, title, b"\n", checksum, content))
    except Distrusted as problem:
        return _warn(folder, problem)
    except OSError:
        return
    _State.written += 1
    if _State.written % _BETWEEN == 1:
        prune()


def _make(folder: str) -> None:
    """Make a folder, and those above that are missing, for the user alone."""
    if not os.path.isdir(folder):
        _make(os.path.dirname(folder))
        os.makedirs(folder, mode=0o700, exist_ok=True)


def _read(path: str) -> tuple[bytes, os.stat_result]:
    """A whole file of the user's own."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Distrusted("it is a link") from None
        raise
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        check_file(status)
        return file.read(), status


def _checked(text: bytes, kind: str, key: bytes) -> tuple[str, bytes]:
    """The name and the content of a file."""
    if not text.startswith(_HEAD):
        raise Distrusted("it is no file of the cache, or of another version")
    end = text.find(b"\n", len(_HEAD))
    title, start = text[len(_HEAD) : end], end + 1 + _CHECKSUM
    content = text[start:]
    if end < 0 or text[end + 1 : start] != _checksum(kind, key, title, content):
        raise Distrusted("its checksum is wrong")
    return title.decode(errors="replace"), content


def _checksum(kind: str, key: bytes, title: bytes, content: bytes) -> bytes:
    return digest_of(kind.encode(), key, title, content)


def _write(path: str, parts: Iterable[bytes]) -> None:
    """Write a file that is there as a whole or not at all."""
    draft = f"{path}.{os.getpid()}-{os.urandom(6).hex()}.draft"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        with open(os.open(draft, flags, 0o600), "wb") as file:
            file.writelines(parts)
        os.replace(draft, path)
    except BaseException:
        _remove(draft)
        raise


def _touch(path: str) -> None:
    try:
        os.utime(path)
    except OSError:
        return


def _remove(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def _warn(path: str, problem: Distrusted) -> None:
    if not _State.has_warned:
        _State.has_warned = True
        remedy = problem.remedy or "`chadllvm cache verify` lists all such files"
        warnings.warn(
            f"chadllvm: {path} in the cache of compiled functions is ignored: "
            f"{problem}; {remedy}",
            RuntimeWarning,
            stacklevel=2,
        )


# ---- all files


def distrusted() -> Distrusted | None:
    """Why nothing is kept in the folder, and what to do; None if it is.

    Others can write to it then.
    """
    folder = _folder()
    try:
        if folder is not None:
            check_folder(folder)
    except Distrusted as problem:
        return problem
    except OSError:
        pass  # It is not there yet.
    return None


def entries() -> list[Entry]:
    """All files, those used last in front."""
    found = [_entry(path) for path in _files() if not path.endswith(".draft")]
    there = [entry for entry in found if entry is not None]
    return sorted(there, key=lambda entry: -entry.used)


def verify() -> list[Entry]:
    """The files that are not to be trusted."""
    return [entry for entry in entries() if entry.problem]


def clear() -> tuple[int, int]:
    """Remove all files; how many there were, and their bytes."""
    return _remove_all(_files())


def prune(limit: int | None = None) -> tuple[int, int]:
    """Remove what was not used for longest, if all files have more bytes than `limit`.

    What dead writers have left goes too. How many files were removed, and their bytes.
    """
    most = LIMIT if limit is None else limit
    now, kept, drafts = time.time(), [], []
    for path in _files():
        status = _status(path)
        if status is None:
            continue
        if not path.endswith(".draft"):
            kept.append((status.st_mtime, status.st_size, path))
        elif now - status.st_mtime > _DEAD:
            drafts.append(path)
    total, removed = sum(size for _, size, _ in kept), drafts
    if total > most:
        target = most * _KEPT_PART if limit is None else most
        for _, size, path in sorted(kept):
            if total <= target:
                break
            total -= size
            removed.append(path)
    return _remove_all(removed)


def _files() -> Iterator[str]:
    """Our files in the folder; whatever else is there stays."""
    folder = _folder()
    if folder is None:
        return
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name.endswith((".draft", *(f".{kind}" for kind in _KINDS))):
            yield os.path.join(folder, name)


def _entry(path: str) -> Entry | None:
    status = _status(path)
    if status is None:
        return None
    stem, _, kind = os.path.basename(path).rpartition(".")
    name, problem = "", ""
    try:
        text, _ = _read(path)
        name, _ = _checked(text, kind, bytes.fromhex(stem))
    except (Distrusted, ValueError) as found:
        problem = str(found)
    except OSError:
        return None
    return Entry(path, kind, name, status.st_size, status.st_mtime, problem)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _remove_all(paths: Iterable[str]) -> tuple[int, int]:
    count = size = 0
    for path in paths:
        status = _status(path)
        if status is not None and _remove(path):
            count, size = count + 1, size + status.st_size
    return count, size
