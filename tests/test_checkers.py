"""The type checkers accept programs as users write them, both in their strict modes.

`.ci/run` has both of them; without one, its part is left out here.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Without these libraries what needs them is left out.
NEEDED = {"gmm_digits.py": "sklearn"}
MISSING = {name for name, needed in NEEDED.items() if find_spec(needed) is None}
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
CHECKED = ["tests/checkers", *[str(e) for e in EXAMPLES if e.name not in MISSING]]


def run(tool: str, *options: str) -> str:
    """What is wrong with the examples, and with the programs of `checkers/`."""
    path = shutil.which(tool, path=str(Path(sys.executable).parent))
    if path is None:
        pytest.skip(f"{tool} is not installed")
    found = subprocess.run(
        [path, *options, *CHECKED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    return "" if found.returncode == 0 else found.stdout + found.stderr


def test_mypy(tmp_path: Path) -> None:
    assert not run("mypy", "--strict", "--cache-dir", str(tmp_path))


@pytest.mark.sweep
def test_pyright() -> None:
    assert not run("pyright", "--pythonpath", sys.executable)


@pytest.mark.parametrize("name", ["derivatives", "slices"])
def test_programs_run(name: str) -> None:
    """What the checkers are told is so."""
    path = ROOT / "tests" / "checkers" / f"{name}.py"
    subprocess.run([sys.executable, str(path)], check=True, timeout=500)
