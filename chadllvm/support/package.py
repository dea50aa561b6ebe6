"""Where the files of the package are."""

from __future__ import annotations

import os

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def is_ours(file: str) -> bool:
    """Whether a file is one of the package."""
    return file.startswith(FOLDER + os.sep)
