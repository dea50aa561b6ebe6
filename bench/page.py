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
    place = re.compile(_place(part), re.DOTALL)
    if not place.search(before):
        raise ValueError(f"{page} has no place for {part!r}")
    after = place.sub(
        lambda found: f"{found[1]}\n\n{text.strip()}\n\n{found[2]}", before
    )
    page.write_text(after, encoding="utf-8")


def _place(part: str) -> str:
    name = re.escape(part)
    return rf"(<!-- measured: {name} -->).*?(<!-- end of {name} -->)"
