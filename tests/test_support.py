"""The table of what is supported says what pyproject.toml and `.ci/run` say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from chadllvm.backend.runtime import library_path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "support.md").read_text("utf-8")
ROWS = {
    cells[0].strip(): [cell.strip() for cell in cells[1:]]
    for cells in (line.strip("|").split("|") for line in PAGE.splitlines())
    if len(cells) == 3
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RUN = (ROOT / ".ci" / "run").read_text("utf-8")


def least(package: str) -> str:
    """The oldest version that is allowed."""
    listed = "\n".join(PROJECT["dependencies"])
    found = re.search(rf"^{package}>=([\d.]+)$", listed, re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("package", ["llvmlite", "numpy"])
def test_the_oldest_versions(package: str) -> None:
    names = {name.lower(): cells for name, cells in ROWS.items()}
    assert names[package][0] == f"{least(package)} and newer"


def test_the_oldest_llvmlite_is_tested() -> None:
    assert ROWS["llvmlite"][1].endswith(f"with {least('llvmlite')}")
    assert '"llvmlite==$oldest.*"' in RUN


def test_pythons() -> None:
    oldest = PROJECT["requires-python"].removeprefix(">=")
    allowed, tested = ROWS["Python"]
    assert allowed == f"{oldest} and newer"
    minors = re.search(r"^for minor in ([\d ]+); do$", RUN, re.MULTILINE)
    assert minors is not None
    assert re.findall(r"3\.(\d+)", tested) == minors[1].split()
    assert oldest == f"3.{minors[1].split()[0]}"


def test_systems() -> None:
    """What classifiers name is allowed, and what is not allowed they do not name."""
    systems = {
        text.rpartition(" :: ")[2]
        for text in PROJECT["classifiers"]
        if text.startswith("Operating System")
    }
    assert systems == {"Linux", "MacOS"}
    assert ROWS["Linux on x86-64"] == ["yes", "everything"]
    assert ROWS["macOS on x86-64 and arm64"][0].startswith("yes")
    assert ROWS["Windows"][0] == "no"
    assert Path(library_path()).suffix in (".so", ".dylib")


def test_what_the_tests_need_is_installed_by_the_run() -> None:
    """Without these, tests of other systems are left out."""
    for tool in ("qemu-user", "gcc-aarch64-linux-gnu", "nodejs"):
        assert tool in RUN
    assert ".ci/beside" in ROWS["beside numba, PyMC, JAX and torch"][1]
    assert ".ci/beside" in RUN
