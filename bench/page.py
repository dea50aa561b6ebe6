"""Fills the parts of a page that are measured, which stand between two comments.

<!-- measured: targets -->
… what was here before is replaced …
<!-- end of targets -->
"""

from __future__ import annotations

import re
from pathlib import Path


def fill(page: Path, part: str, text: str) -> None:
    """Put a text in the place of what the page holds under this name.

    Raises: ValueError if the page has no such place.
    """
    before = page.read_text(encoding="utf-8")
    page.write_text(filled(before, part, text), encoding="utf-8")


def filled(page: str, part: str, text: str, kind: str = "measured") -> str:
    """The text of a page with a part of it replaced.

    Raises: ValueError if the page has no such place.
    """
    name = re.escape(part)
    place = re.compile(
        rf"(<!-- {kind}: {name} -->).*?(<!-- end of {name} -->)", re.DOTALL
    )
    if not place.search(page):
        raise ValueError(f"the page has no place for {part!r}")
    return place.sub(lambda found: f"{found[1]}\n\n{text.strip()}\n\n{found[2]}", page)
