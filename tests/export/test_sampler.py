"""The sampler in C of the examples, on the log-density that they export."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_modules import load

import chadllvm as cl

EXAMPLES = Path(__file__).parents[2] / "examples"
CHECKS = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.fixture(scope="module")
def schools() -> Any:
    return load("schools_export")


@pytest.fixture(scope="module")
def library(schools: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("schools") / "libschools"
    functions = {"density": cl.value_and_grad(schools.log_posterior)}
    return cl.export(functions, folder, kind="static")


def sampler(library: Path, *flags: str) -> Path:
    program = library.parent / f"nuts{len(flags)}"
    warnings = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    source, include = EXAMPLES / "schools_nuts.c", f"-I{library.parent}"
    command = ["cc", *warnings, *flags, include, str(source), str(library), "-lm"]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def run(program: Path, *arguments: object) -> np.ndarray:
    """For each number its mean, its deviation, and the effective draws."""
    command = [str(program), *map(str, arguments)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = [line.split() for line in found.stdout.splitlines()]
    assert [row[0] for row in rows] == [str(k) for k in range(10)]
    return np.array([row[1:] for row in rows], float)


def expected(schools: Any) -> np.ndarray:
    """Means of the posterior: of the effects by formula, else by a sum over a grid."""
    mean = np.linspace(-20.0, 30.0, 501)[:, None]
    log_spread = np.linspace(-12.0, 6.0, 901)[None, :]
    spread = np.exp(log_spread)
    log_weight = -0.5 * (mean / 5.0) ** 2 - np.log1p((spread / 5.0) ** 2) + log_spread
    pulled = []
    for effect, error in zip(schools.EFFECTS, schools.ERRORS, strict=True):
        variance = error**2 + spread**2
        log_weight = log_weight - 0.5 * (effect - mean) ** 2 / variance
        log_weight = log_weight - 0.5 * np.log(variance)
        pulled.append(spread * (effect - mean) / variance)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    parts = (mean + 0.0 * spread, log_spread + 0.0 * mean, *pulled)
    return np.array([np.sum(weight * part) for part in parts])


def test_the_posterior_is_found(schools: Any, library: Path) -> None:
    """Within five standard errors of Monte Carlo, which few draws make large."""
    means, deviations, effective = run(sampler(library, "-O2"), 2000, 3).T
    errors = deviations / np.sqrt(effective)
    assert np.all(effective > 800.0)
    assert np.max(np.abs(means - expected(schools)) / errors) < 5.0


def test_checked_by_the_compiler(library: Path) -> None:
    program = sampler(library, *CHECKS)
    first, second = run(program, 50, 1), run(program, 50, 1)
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, run(program, 50, 2))
    refused = subprocess.run([str(program), "3"], capture_output=True, check=False)
    assert refused.returncode == 2
