"""What commands print: tables, numbers, JSON, and programs in colour."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any


def say(text: str) -> None:
    """A line of the answer."""
    sys.stdout.write(text + "\n")


def complain(text: str) -> None:
    """A line that is not part of the answer."""
    sys.stderr.write(f"chadllvm: {text}\n")


def say_json(value: Any) -> None:
    """What is JSON already, for another program."""
    say(json.dumps(value, indent=2, allow_nan=False))


def say_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns below their heads; what looks like a number stands to the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        cells = [
            cell.rjust(width) if rows and _is_number(rows[0][k]) else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        say("  ".join(cells).rstrip())


def _is_number(cell: str) -> bool:
    return cell[:1].isdecimal() or cell[:1] in ("-", "+") or cell in ("nan", "inf")


def say_program(text: str, language: str) -> None:
    """A program, coloured on a terminal where `rich` is installed.

    Args:
        language: the name that Pygments has for it.
    """
    if not sys.stdout.isatty():
        return say(text)
    try:
        from rich.console import Console
        from rich.syntax import Syntax
    except ImportError:
        return say(text)
    syntax = Syntax(text, language, theme="ansi_dark", background_color="default")
    Console(soft_wrap=True).print(syntax)


def amount(seconds: float) -> str:
    """A time in a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def size(number: int) -> str:
    """Bytes in a unit that suits them."""
    value = float(number)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024.0 or unit == "GiB":
            break
        value /= 1024.0
    if unit == "bytes":
        return f"{number} byte{'' if number == 1 else 's'}"
    return f"{value:.3g} {unit}"
