"""docs/functions.md lists what the compiler's tables hold, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from chadllvm.frontend.array_functions import LIBRARY, METHODS
from chadllvm.frontend.calculus import SCIPY
from chadllvm.frontend.functions import _SCALAR_FUNCTIONS, _SPECIAL
from chadllvm.frontend.given import LibraryFunction
from chadllvm.frontend.linear import _SCIPY
from chadllvm.ops import PRIMS

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "functions.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `((?:np|math|cl)\..*\))` \|", PAGE, re.MULTILINE)
SPANS = " ".join(re.findall(r"`([^`\n]+)`", PAGE))
OPERATIONS = {n.rpartition(".")[2] for p in PRIMS.values() for n in p.names}
PREFIX = {
    "numpy": "np.",
    "numpy.linalg": "np.linalg.",
    "math": "math.",
    "chadllvm.library": "cl.",
}


def signature(row: LibraryFunction) -> str:
    function: Any = row.function
    name = PREFIX[function.__module__] + function.__name__
    return f"{name}({', '.join(row.parameters.split())})"


def is_named(name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", SPANS) is not None


def test_functions_of_arrays_are_those_of_the_table() -> None:
    expected = [signature(row) for row in LIBRARY if row.function is not None]
    assert sorted(ROWS) == sorted(expected)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods_are_named(name: str) -> None:
    assert f"a.{name}" in SPANS


@pytest.mark.parametrize("name", sorted(OPERATIONS | SCIPY.keys()))
def test_operations_and_functions_of_scipy_are_named(name: str) -> None:
    assert is_named(name)


@pytest.mark.parametrize("name", sorted(_SCIPY))
def test_linear_algebra_of_scipy_is_named(name: str) -> None:
    assert is_named(name)


@pytest.mark.parametrize(
    "name",
    sorted({f.__name__ for table in (_SCALAR_FUNCTIONS, _SPECIAL) for f, _ in table}),
)
def test_functions_of_numbers_are_named(name: str) -> None:
    assert is_named(name)
