"""The text of a program → its function and arguments, compiled or plain."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import chadllvm
from tests.campaign.plain import PLAIN

IMPORT = "import chadllvm as cl"


@dataclass(frozen=True)
class Loaded:
    """A program that is there to be called."""

    function: Any
    plain: Any
    args: tuple[Any, ...]
    plain_args: tuple[Any, ...]
    flags: frozenset[str]
    classes: dict[str, type]


def load(text: str) -> Loaded:
    """Run the module, with the compiler and without.

    Raises:
        Exception: whatever the text raises.
    """
    ours, plain = (
        _run(text, "campaign_compiled", chadllvm),
        _run(text, "campaign_plain", PLAIN),
    )
    classes = {name: value for name, value in ours.items() if isinstance(value, type)}
    flags = ours.get("FLAGS", frozenset())
    return Loaded(ours["f"], plain["f"], ours["ARGS"], plain["ARGS"], flags, classes)


def _run(text: str, name: str, cl: Any) -> dict[str, Any]:
    """The names of a module of its own, in which annotations find their classes."""
    text, file = text.replace(IMPORT, "", 1), f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    module = sys.modules[name] = ModuleType(name)
    module.__dict__["cl"] = cl
    exec(compile(text, file, "exec"), module.__dict__)
    return module.__dict__
