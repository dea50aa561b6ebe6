"""The core text that a function becomes: `core/name.py` and `core/name.core`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from frontend.generated import load

from chadllvm.frontend import signature, specialise
from chadllvm.ir.pretty import pretty
from chadllvm.ir.types import Array, Product, Scalar

CASES = sorted((Path(__file__).parent / "core").glob("*.py"))


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_core(path: Path, golden: Callable[[Path, str], None]) -> None:
    function = load(path)
    types = [param.annotation for param in signature(function)]
    known = [ty for ty in types if isinstance(ty, Scalar | Array | Product)]
    golden(
        path.with_suffix(".core"), pretty(specialise(function, known)).rstrip() + "\n"
    )
