"""The lines of the file that a function is in, as Python finds them for a traceback.

They come from `linecache`: from files, from what was entered there (by notebooks, say)
and from the loader of the function's module, which finds them in a zip file.
"""

from __future__ import annotations

import linecache
from pathlib import PurePath
from types import FunctionType


def lines_of(function: FunctionType) -> list[str]:
    """The lines of the file of a function as they are now; none if nobody has them."""
    file = function.__code__.co_filename
    linecache.checkcache(file)
    return known_lines_of(function)


def known_lines_of(function: FunctionType) -> list[str]:
    """The same as they were when somebody asked last."""
    file = function.__code__.co_filename
    if file not in linecache.cache and _is_of_module(file, function.__globals__):
        linecache.lazycache(file, function.__globals__)
    return linecache.getlines(file)


def _is_of_module(file: str, names: dict[str, object]) -> bool:
    """Whether these are the names of the module that is written in a file.

    Code that was made with the names of another module is not in the text of that.
    """
    module = getattr(names.get("__spec__"), "name", None) or names.get("__name__")
    own = (*str(module).split("."),)
    parts = PurePath(file).with_suffix("").parts
    return any(parts[-len(end) :] == end for end in (own, (*own, "__init__")))
