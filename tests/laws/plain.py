"""Programs that are written by chance, as plain Python."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

import chadllvm as cl


def plain(text: str, file: str, **names: Any) -> Callable[..., float]:
    """The function `main` of a text, which may use these names."""
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    space = {"cl": cl, "np": np, **names}
    exec(compile(text, file, "exec"), space)
    main = space["main"]
    assert callable(main)
    return main
