"""Functions whose text is made by a program, or is the file of a golden case."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any


def define(text: str, file: str = "<generated test>") -> Callable[..., Any]:
    """The function `f` of a text, which is entered into `linecache`."""
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {}
    exec(compile(text, file, "exec"), namespace)
    function: Callable[..., Any] = namespace["f"]
    return function


def load(path: Path) -> Callable[..., Any]:
    """The function of a case; its file is named without the directory."""
    text = path.read_text(encoding="utf-8")
    linecache.cache[path.name] = (len(text), None, text.splitlines(True), path.name)
    # The name of a module that there is: `dataclass` looks into it.
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, path.name, "exec"), namespace)
    function = namespace["f"]
    return getattr(function, "py_func", function)
