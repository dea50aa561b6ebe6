"""The posterior of the eight schools as a C library, and a C program that samples it.

Eight schools coached for a test; of each there is an estimate of the effect, with its
error (Rubin, "Estimation in parallel randomized experiments", 1981). The effects of the
schools are normal around a mean, with a spread that is unknown. Exports the log-density
and its gradient, compiles `schools_nuts.c` with them, and runs it: NUTS without Python.

    python examples/schools_export.py build/libschools
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import chadllvm as cl
from chadllvm import stats, transforms

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


@cl.jit
def log_posterior(u: cl.f64[:]) -> float:
    """The log-density, up to a constant, of ten numbers: the mean, the logarithm of the
    spread, and for each school how many spreads its effect is above the mean."""
    mean, spread = u[0], transforms.positive.constrain(u[1])
    apart = u[2:]
    prior = stats.norm.logpdf(mean, 0.0, 5.0) + stats.halfcauchy.logpdf(
        spread, 0.0, 5.0
    )
    prior += transforms.positive.log_jacobian(u[1]) + np.sum(stats.norm.logpdf(apart))
    seen = stats.norm.logpdf(EFFECTS, mean + spread * apart, ERRORS)
    return float(prior + np.sum(seen))


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/libschools")
    functions = {"density": cl.value_and_grad(log_posterior)}
    library = cl.export(functions, folder, kind="static")
    program = folder.parent / "schools_nuts"
    source = Path(__file__).parent / "schools_nuts.c"
    command = ["cc", "-O2", f"-I{folder}", str(source), str(library), "-lm"]
    subprocess.run([*command, "-o", str(program)], check=True)
    found = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    print("number  mean  deviation  effective draws, by a sampler in C")
    print(found.stdout, end="")


if __name__ == "__main__":
    main()
