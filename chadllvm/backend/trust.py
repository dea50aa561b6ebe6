"""Which files and folders nobody but their user, and root, can have written to.

What is kept on disk is machine code: to run what another user can write is to be that
user's. So a file is believed if it belongs to the user and nobody else may write to it,
as the open file tells, which is no link. The folder that it is in must be such a one as
well; and the folder above, in which it could be replaced by another folder of the
user's, with content from anywhere:

    /tmp/kept       the user's or root's, written to by nobody else, unless sticky
    /tmp/kept/v1    the user's, written to by nobody else

Links that lead there must be the user's or root's. Whoever may write to a folder
farther up can put another one in the place of these, but not one of the user's, for a
folder is moved only by those who may write to it: the cache is gone then, and nothing
of theirs is run.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

_ROOT = 0
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class Distrusted(Exception):
    """A file that is not what we have written, or may not be; says why.

    `remedy` is a command that mends it, and says what else would; it may be empty.
    """

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem)
        self.remedy = remedy


def check_file(status: os.stat_result) -> None:
    """See that an open file is the user's own.

    Raises:
        Distrusted: if it is not.
    """
    if not stat.S_ISREG(status.st_mode):
        raise Distrusted("no regular file")
    if status.st_uid != os.geteuid() or status.st_mode & _OTHERS:
        raise Distrusted("it is open to others, or of another user")


def check_folder(folder: str) -> None:
    """See that nobody else can put files into a folder, or another one in its place.

    Raises:
        Distrusted: if somebody can.
        OSError: if it is not there.
    """
    os.stat(folder)  # Links that lead nowhere, or in circles, end here.
    folders = []
    for path, status in _way(folder):
        if stat.S_ISLNK(status.st_mode):
            _check_link(path, status)
        else:
            folders.append((path, status))
    for path, status in folders[-2:]:
        _check_own(path, status, is_above=path != folders[-1][0])


def _check_link(path: str, status: os.stat_result) -> None:
    if status.st_uid not in (_ROOT, os.geteuid()):
        raise Distrusted(
            f"{path} is a link that belongs to user {status.st_uid}", _ELSEWHERE
        )


def _check_own(path: str, status: os.stat_result, is_above: bool) -> None:
    """`is_above`: it is the folder that the files' own one is in."""
    me, owner = os.geteuid(), status.st_uid
    if owner != me and not (is_above and owner == _ROOT):
        raise Distrusted(
            f"{path} belongs to user {owner}, and this is user {me}",
            f"`{'sudo ' if me else ''}chown -R {me} {_quoted(path)}`, or {_ELSEWHERE}",
        )
    if status.st_mode & _OTHERS and not (is_above and _is_sticky(status)):
        raise Distrusted(
            f"{path} is open to others",
            f"`chmod go-w {_quoted(path)}`, or {_ELSEWHERE}",
        )


_ELSEWHERE = "name a folder of your own in CHADLLVM_CACHE_DIR"


def _quoted(path: str) -> str:
    from shlex import quote

    return quote(path)


def _is_sticky(status: os.stat_result) -> bool:
    return bool(status.st_mode & stat.S_ISVTX)


def _way(path: str) -> Iterator[tuple[str, os.stat_result]]:
    """Each folder and link that an absolute path leads over, as the system goes."""
    place, rest = "/", path.split("/")[::-1]
    while rest:
        part = rest.pop()
        if part in ("", "."):
            continue
        if part == "..":
            place = os.path.dirname(place)
            continue
        place = os.path.join(place, part)
        status = os.lstat(place)
        yield place, status
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(place)
            rest += target.split("/")[::-1]
            place = "/" if target.startswith("/") else os.path.dirname(place)
