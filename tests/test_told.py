"""Compilations are told to a logger, and to a terminal while they take long."""

from __future__ import annotations

import io
import logging
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.support import told


def energy(x: cl.f64[:], k: float) -> float:
    return k * float(np.sum(x * x))


ARGS = np.ones(3), 2.0


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return [line.rpartition(" in ")[0] for line in found]


def test_each_compilation_has_a_line(caplog: pytest.LogCaptureFixture) -> None:
    compiled = cl.jit(energy, cache=False)
    with cl.log_compiles():
        compiled(*ARGS)
        compiled(*ARGS)
        cl.grad(compiled, argnums=1)(*ARGS)
        cl.jvp(compiled, ARGS, (np.ones(3), 0.0))
        cl.hvp(compiled)(*ARGS, np.ones(3))
        cl.vjp(compiled, *ARGS)
    whole = "energy(x: f64[:], k: f64)"
    assert lines(caplog) == [
        f"compiled {whole}",
        f"compiled gradient of {whole} by k",
        f"compiled tangents of {whole}",
        "compiled hvp_energy(x: f64[:], k: f64, direction: f64[:])",
        f"compiled pullback of {whole}",
    ]
    assert {record.levelno for record in caplog.records} <= {logging.WARNING}


def test_what_is_found_in_the_cache(
    caplog: pytest.LogCaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHADLLVM_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("CHADLLVM_CACHE", "1")

    with cl.log_compiles():
        assert cl.jit(lambda x: x * 2.0)(1.5) == 3.0
        assert cl.jit(lambda x: x * 2.0)(1.5) == 3.0
    whole = "<lambda>(x: f64)"
    assert lines(caplog) == [f"compiled {whole}", f"found {whole} in the cache"]


def test_nothing_is_told_unless_asked(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        cl.jit(energy)(*ARGS)
        with cl.log_compiles(), cl.log_compiles(False):
            cl.jit(energy, debug=True)(*ARGS)
    assert lines(caplog) == []
    with caplog.at_level(logging.DEBUG):
        cl.jit(energy, strict=True, cache=False)(*ARGS)
    assert lines(caplog) == ["compiled energy(x: f64[:], k: f64)"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_a_terminal_is_told_of_long_ones(
    monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(told, "_PATIENCE", patience)
    monkeypatch.setattr(told, "_PAUSE", 0.01)
    with told.told("energy") as compilation:
        compilation.title = "energy(x: f64[:])"
        time.sleep(0.05)
    shown = terminal.getvalue()
    assert ("compiling energy(x: f64[:])" in shown) == (patience == 0.0)
    assert shown.endswith("\r\x1b[K") == (patience == 0.0)


def test_a_pipe_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    monkeypatch.setattr(told, "_PATIENCE", 0.0)
    with told.told("energy"):
        time.sleep(0.02)
    assert pipe.getvalue() == ""
