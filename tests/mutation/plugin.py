"""A plugin of pytest: one module has the fault that `CHADLLVM_MUTANT` names.

The variable is the module's name and the fault's number, as in
`chadllvm.simplify.cse:12`. The plugin is loaded before anything of the package is.
`CHADLLVM_TESTS` is a file that names the tests to run, in their order.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.mutation.loading import Finder
from tests.mutation.sites import mutated

VARIABLE = "CHADLLVM_MUTANT"
TESTS = "CHADLLVM_TESTS"


def install(mutant: str) -> None:
    """Let the module that a mutant names have its fault."""
    name, number = mutant.split(":")
    sys.meta_path.insert(0, Finder(name, partial(mutated, number=int(number))))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that are named; one that is gone is not collected: a failure."""
    if TESTS in os.environ:
        names = Path(os.environ[TESTS]).read_text().splitlines()
        found = {item.nodeid: item for item in items}
        items[:] = [found[name] for name in names if name in found]


if VARIABLE in os.environ:
    install(os.environ[VARIABLE])
