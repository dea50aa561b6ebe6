"""docs/functions.md lists what the compiler's tables hold, and nothing else."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import MethodDescriptorType
from typing import Any

import numpy as np
import pytest

from chadllvm.frontend.array_functions import LIBRARY, METHODS
from chadllvm.frontend.calculus import SCIPY
from chadllvm.frontend.functions import _SCALAR_FUNCTIONS, _SPECIAL
from chadllvm.frontend.given import LibraryFunction
from chadllvm.ops import PRIMS
from chadllvm.support.overloads import SCALAR, Chooser, provided

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "functions.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `((?:np|math|cl)\..*\))` \|", PAGE, re.MULTILINE)
SPANS = " ".join(re.findall(r"`([^`\n]+)`", PAGE))
OPERATIONS = {n.rpartition(".")[2] for p in PRIMS.values() for n in p.names}
PREFIX = {
    "numpy": "np.",
    "numpy.linalg": "np.linalg.",
    "math": "math.",
    "chadllvm.support.library": "cl.",
}


def signature(row: LibraryFunction) -> str:
    function: Any = row.function
    name = PREFIX[function.__module__] + function.__name__
    return f"{name}({', '.join(row.parameters.split())})"


def is_named(name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", SPANS) is not None


def written(function: Any) -> Any:
    """The Python function that an overload is written as."""
    if isinstance(function, Chooser):
        return function.function
    function = getattr(function, SCALAR, function)
    return getattr(function, "py_func", function)


def parameters(function: Any) -> str:
    given = inspect.signature(written(function)).parameters.values()
    bare = [p.replace(annotation=p.empty) for p in given]
    return str(inspect.Signature(bare)).replace("'", '"').replace("/, ", "")


def named(target: Any) -> str:
    owner = getattr(target, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{target.__name__}"
    return PREFIX[target.__module__] + str(target.__name__)


OVERLOADS = {
    named(target) + parameters(function): written(function)
    for target, function in provided().items()
    if getattr(target, "__module__", "builtins") in PREFIX
    or isinstance(getattr(target, "__self__", None), np.ufunc)
}
OUR_METHODS = {
    t.__name__: t.__objclass__
    for t in provided()
    if isinstance(t, MethodDescriptorType)
}


def test_functions_of_arrays_are_those_of_the_tables() -> None:
    rows = [signature(row) for row in LIBRARY if row.function is not None]
    assert sorted(ROWS) == sorted([*rows, *OVERLOADS])


@pytest.mark.parametrize("name", sorted(OVERLOADS))
def test_rows_say_what_docstrings_say(name: str) -> None:
    said = inspect.cleandoc(OVERLOADS[name].__doc__).partition("\n\n")[0]
    assert f"| `{name}` | {' '.join(said.split())} |" in PAGE


SPECIAL = [
    target
    for target in provided()
    if isinstance(target, str) and not target.startswith("scipy.stats.")
]


@pytest.mark.parametrize("name", sorted(SPECIAL))
def test_special_functions_are_named(name: str) -> None:
    pages = SPANS + (DOCS / "statistics.md").read_text(encoding="utf-8")
    assert re.search(rf"\b{name.rpartition('.')[2]}\b", pages)


@pytest.mark.parametrize("name", sorted([*METHODS, *OUR_METHODS]))
def test_methods_are_named(name: str) -> None:
    owner = "xs" if OUR_METHODS.get(name) is list else "a"
    assert f"{owner}.{name}" in SPANS


@pytest.mark.parametrize("name", sorted(OPERATIONS | SCIPY.keys()))
def test_operations_and_functions_of_scipy_are_named(name: str) -> None:
    assert is_named(name)


@pytest.mark.parametrize(
    "name",
    sorted({f.__name__ for table in (_SCALAR_FUNCTIONS, _SPECIAL) for f, _ in table}),
)
def test_functions_of_numbers_are_named(name: str) -> None:
    assert is_named(name)
