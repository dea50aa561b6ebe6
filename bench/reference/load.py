"""Builds the C kernels, and reads what they declare."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent

# The build that counts the memory it takes, see `counted.h`; it is not timed.
COUNTED = "counted"


def build(folder: Path, kernels: str) -> list[Path]:
    """Build all kernels in this folder; the libraries of these, one for each build."""
    make(folder)
    found = sorted(folder.glob(f"lib{kernels}-*.so"))
    return [path for path in found if path != counted(folder, kernels)]


def counted(folder: Path, kernels: str) -> Path:
    """The library of these kernels that counts its memory."""
    return folder / f"lib{kernels}-{COUNTED}.so"


def make(folder: Path) -> None:
    """Build all kernels that are not up to date."""
    configure = ["cmake", "-S", str(HERE), "-B", str(folder)]
    compile_all = ["cmake", "--build", str(folder), "--parallel", str(os.cpu_count())]
    for command in (configure, compile_all):
        result = subprocess.run(command, check=False, capture_output=True, text=True)
        if result.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}:\n{result.stdout}{result.stderr}")


def declarations(kernels: str) -> str:
    """The declarations of a header, without the preprocessor's lines."""
    text = (HERE / f"{kernels}.h").read_text()
    return re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
