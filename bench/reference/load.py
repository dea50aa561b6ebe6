"""Builds the C kernels, and reads what they declare."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent


def build(folder: Path, kernels: str) -> list[Path]:
    """Build all kernels in this folder; the libraries of these, one for each build."""
    configure = ["cmake", "-S", str(HERE), "-B", str(folder)]
    for command in (configure, ["cmake", "--build", str(folder)]):
        result = subprocess.run(command, check=False, capture_output=True, text=True)
        if result.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}:\n{result.stdout}{result.stderr}")
    return sorted(folder.glob(f"lib{kernels}-*.so"))


def declarations(kernels: str) -> str:
    """The declarations of a header, without the preprocessor's lines."""
    text = (HERE / f"{kernels}.h").read_text()
    return re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
