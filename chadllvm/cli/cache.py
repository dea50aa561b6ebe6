"""`chadllvm cache`: what compiled functions have left on disk."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import time

from chadllvm.backend import cache
from chadllvm.cli.output import say, say_json, say_table, size
from chadllvm.cli.status import DONE, NO, BadInput

EXAMPLES = """\
  chadllvm cache ls
  chadllvm cache prune --limit 100M
  chadllvm cache clear
  chadllvm cache verify

`verify` removes nothing; exit status 1 says that it has found something wrong. A file
that is wrong is never run: it is warned of once, and made again. So is a folder that
others can write to: nothing is kept there. `prune` removes such files, and then those
that were not used for longest.
"""

_OFF = "the cache is off: CHADLLVM_CACHE says so, or there is no home for it"

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def describe(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument(
        "action",
        choices=("ls", "prune", "clear", "verify"),
        help="list the files, remove some or all of them, or look for what is wrong",
    )
    parser.add_argument(
        "--limit",
        type=_bytes,
        metavar="SIZE",
        help="how much `prune` leaves, as in 100M (default: "
        f"{size(cache.LIMIT)} are kept)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _bytes(text: str) -> int:
    match = re.fullmatch(r"(\d+)([KMG]?)", text.upper())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size, as 100M is one")
    return int(match[1]) * _UNITS[match[2]]


def run(options: argparse.Namespace) -> int:
    """List, remove or look."""
    if options.limit is not None and options.action != "prune":
        raise BadInput("--limit belongs to `chadllvm cache prune`")
    match options.action:
        case "ls":
            return _listed(cache.entries(), options.json)
        case "verify":
            found, wrong = cache.verify(), cache.distrusted()
            _listed(found, options.json)
            if wrong is not None and not options.json:
                say(f"nothing is kept there: {wrong}; {wrong.remedy}")
            return NO if found or wrong else DONE
        case "clear":
            return _removed(cache.clear(), options.json)
        case _:
            return _removed(_pruned(options.limit), options.json)


def _pruned(limit: int | None) -> tuple[int, int]:
    """Remove what is wrong, and then what is too much."""
    files = number = 0
    for entry in cache.verify():
        with contextlib.suppress(OSError):
            os.unlink(entry.path)
            files, number = files + 1, number + entry.size
    more, bytes_of_more = cache.prune(limit)
    return files + more, number + bytes_of_more


def _listed(entries: list[cache.Entry], as_json: bool) -> int:
    folder = cache.directory()
    if as_json:
        say_json(
            {
                "directory": None if folder is None else str(folder),
                "limit": cache.LIMIT,
                "distrusted": _said(cache.distrusted()),
                "entries": [entry._asdict() for entry in entries],
            }
        )
        return DONE
    if entries:
        say_table(("function", "kind", "size", "used", ""), list(map(_row, entries)))
    if folder is None:
        say(_OFF)
        return DONE
    total = sum(entry.size for entry in entries)
    files = f"{len(entries)} file{'' if len(entries) == 1 else 's'}"
    say(f"{files}, {size(total)} of {size(cache.LIMIT)}, in {folder}")
    return DONE


def _said(wrong: Exception | None) -> str:
    return "" if wrong is None else str(wrong)


def _row(entry: cache.Entry) -> tuple[str, ...]:
    used = _ago(time.time() - entry.used)
    return entry.name or entry.path, entry.kind, size(entry.size), used, entry.problem


def _ago(seconds: float) -> str:
    """A time in the past, in the largest unit that it fills."""
    for unit, length in (("day", 86400.0), ("hour", 3600.0), ("minute", 60.0)):
        count = int(seconds // length)
        if count > 0:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "now"


def _removed(files_and_bytes: tuple[int, int], as_json: bool) -> int:
    files, number = files_and_bytes
    if as_json:
        say_json({"files": files, "bytes": number})
    elif cache.directory() is None:
        say(_OFF)
    else:
        say(f"removed {files} file{'' if files == 1 else 's'}, {size(number)}")
    return DONE
