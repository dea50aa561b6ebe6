"""Each rule's message, as the user reads it: `errors/name.py` and `errors/name.err`.

A case defines `f`, which cannot be compiled for the types of its annotations.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from frontend.generated import load

from chadllvm.frontend import signature, specialise
from chadllvm.frontend.annotations import CLOSED
from chadllvm.ir.types import F64
from chadllvm.support.diagnostic import CompileError

CASES = sorted((Path(__file__).parent / "errors").glob("*.py"))


def message(function: Callable[..., Any]) -> str:
    with pytest.raises(CompileError) as caught:
        types = [param.annotation for param in signature(function)]
        assert all(isinstance(ty, CLOSED) for ty in types)
        specialise(function, types)
    return str(caught.value) + "\n"


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_message(path: Path, golden: Callable[[Path, str], None]) -> None:
    golden(path.with_suffix(".err"), message(load(path)))


def test_every_message_helps() -> None:
    """Every message has a title, a place and a sentence that helps.

    A function of Python's own stands in no file.
    """
    for path in CASES:
        text = path.with_suffix(".err").read_text(encoding="utf-8")
        assert ("\n  --> " in text) != (path.stem == "builtin_function"), path.stem
        assert "\n  = help: " in text, path.stem


def test_types_are_said_as_users_write_them() -> None:
    """`float`, not `f64`, but for the elements of an array, or beside an f32."""
    for path in CASES:
        if path.stem.startswith("f32_"):
            continue
        for line in path.with_suffix(".err").read_text(encoding="utf-8").splitlines():
            if " | " not in line or "^" in line:  # not the user's own source
                assert not re.search(r"\b(f64|i64)\b(?!\[)", line), (path.stem, line)


def test_missing_source() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    return x\n", namespace)
    with pytest.raises(CompileError, match="linecache"):
        specialise(namespace["f"], [F64])


def test_changed_source() -> None:
    function = load(CASES[0].parent / "unknown_name.py")
    other = "def g(x):\n    return x\n"
    name = "unknown_name.py"
    linecache.cache[name] = (len(other), None, other.splitlines(True), name)
    with pytest.raises(CompileError, match="has changed"):
        specialise(function, [F64])
