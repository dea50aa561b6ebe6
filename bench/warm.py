"""What a derivative costs in a new process, beyond `import numpy`: cold and warm.

    python -m bench.warm [--processes 20]

Each line is a new process on one core that imports chadllvm and the mixture example's
model, and calls a derivative of it once. Cold is with an empty cache. The first process
with a warm cache does not count. The time is that of the processor: what else the
machine does is no part of it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.measure import one_core

_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

_CALLS = {
    "value_and_grad": "cl.value_and_grad(f, argnums=(0, 1, 2, 3))(*args)",
    "grad": "cl.grad(f)(*args)",
    "jvp": "cl.jvp(f, args, (*map(np.ones_like, args[:5]), 1.0, None))",
    "vjp": "cl.vjp(f, *args)[1](1.0)",
    "hvp": "cl.hvp(f)(*args, np.ones(3))",
    "hessian": "cl.hessian(f)(*args)",
}

_SCRIPT = """
import sys, time
import numpy as np
start = time.process_time()
import chadllvm as cl
imported = time.process_time()
from gmm_model import log_posterior as f
shapes = (3,), (3, 2), (3, 2), (3, 1), (10, 2)
args = (*(np.full(shape, 0.5) for shape in shapes), 0.3, 2)
{call}
print(imported - start, time.process_time() - start)
"""


def measured(call: str, folder: str) -> tuple[float, float]:
    """Seconds for the import, and for all, of one process with this cache."""
    environment = {
        **os.environ,
        "CHADLLVM_CACHE": "1",
        "CHADLLVM_CACHE_DIR": folder,
        "PYTHONPATH": str(_EXAMPLES),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT.format(call=call)],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,  # What is measured is the package that is installed.
    )
    first, second = map(float, done.stdout.split())
    return first, second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=20, help="of each kind")
    count = parser.parse_args().processes
    print(f"milliseconds beyond import numpy; medians of {count} processes")
    print(f"{'':16}{'cold':>8}{'warm':>8}{'import':>8}")
    for name, call in _CALLS.items():
        with one_core(), tempfile.TemporaryDirectory() as folder:
            _, cold = measured(call, folder)
            measured(call, folder)
            warm = [measured(call, folder) for _ in range(count)]
        columns = [cold, *(statistics.median(c) for c in zip(*warm, strict=True))]
        once, imported, whole = (1e3 * value for value in columns)
        print(f"{name:16}{once:8.0f}{whole:8.0f}{imported:8.0f}", flush=True)


if __name__ == "__main__":
    main()
