"""The libraries that the tests of this folder use, each made once."""

from __future__ import annotations

from pathlib import Path

import pytest
from export_models import FUNCTIONS, MIXTURE

import chadllvm as cl


@pytest.fixture(scope="session")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library of every form of arguments, shared and static."""
    folder = tmp_path_factory.mktemp("forms") / "libforms"
    cl.export(FUNCTIONS, folder, kind=("shared", "static"))
    return folder


@pytest.fixture(scope="session")
def mixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of the mixture example."""
    folder = tmp_path_factory.mktemp("mixture") / "libmixture"
    cl.export(MIXTURE, folder, kind=("shared", "static"))
    return folder
