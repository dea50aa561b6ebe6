"""The mixture of `gmm_model.py` as a C library, and a C program that fits it.

Exports the log-posterior and its gradient, compiles `gmm_fit.c` with them, and runs it:
gradient ascent on 40 points, without Python.

    python examples/gmm_export.py build/libmixture
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from gmm_model import log_posterior

import chadllvm as cl

FUNCTIONS = {
    "log_posterior": log_posterior,
    "gradient": cl.value_and_grad(log_posterior, argnums=(0, 1, 2, 3)),
}


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/libmixture")
    library = cl.export(FUNCTIONS, folder, kind="static")
    program = folder.parent / "gmm_fit"
    source = Path(__file__).parent / "gmm_fit.c"
    command = ["cc", "-O2", f"-I{folder}", str(source), str(library), "-lm"]
    subprocess.run([*command, "-o", str(program)], check=True)
    *_, value = subprocess.run(
        [str(program)], check=True, capture_output=True, text=True
    ).stdout.split()
    print(f"fitted in C: log-posterior {float(value):.6f}")


if __name__ == "__main__":
    main()
