"""What escapes a stage of the compiler is ours, and says which stage, and where."""

from __future__ import annotations

import importlib
import linecache
import os
import signal
import sys
import types
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.driver import pipeline
from chadllvm.ir.term import Block, Program
from chadllvm.support.diagnostic import InternalError

X = np.array([0.5, -1.0, 2.0])
UNKEPT = cl.CompileOptions(cache=False)


def energy(x: cl.f64[:]) -> float:
    a = x * 2.0
    for i in range(len(a)):
        a[i] += x[0] * a[i]
    return np.sum(a * a)


def fails(run: Callable[[], Any], stage: str) -> str:
    """What is said of the only defect, which is in this stage."""
    with pytest.raises(InternalError) as caught:
        run()
    said = str(caught.value)
    assert caught.value.stage == stage
    assert said.startswith(f"defect of chadllvm in `{stage}`: ")
    assert said.count("defect of chadllvm") == said.count("please report") == 1
    assert "chadllvm doctor" in said
    return said


def gradient(**options: Any) -> Any:
    return cl.grad(cl.jit(energy, options=cl.CompileOptions(cache=False, **options)))(X)


def tangents() -> Any:
    return cl.jvp(cl.jit(energy, options=UNKEPT), (X,), (X,))


# ---- passes ----------------------------------------------------------------------

LISTS = ("FLATTEN", "NAMED", "VALUES", "NORMALISE", "SOURCE", "PRIMAL", "DERIVATIVE")
LISTS += ("TANGENTS", "FINAL")
PASSES = sorted({name for which in LISTS for name, _ in getattr(pipeline, which)})
ON_LOOPS = [name for name, _ in pipeline.LOOPS]


def look_at(block: Block) -> None:
    """What a pass is at when it fails."""
    for binding in block.bindings:
        if len(binding.vars) == 1:
            _ = binding.vars[1]


def broken(program: Program, _: Any) -> Program:
    look_at(program.entry.body)
    return program


@pytest.mark.sweep(share=4)
@pytest.mark.parametrize("name", PASSES)
def test_a_pass_that_fails(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for which in LISTS:
        passes = [(n, broken if n == name else p) for n, p in getattr(pipeline, which)]
        monkeypatch.setattr(pipeline, which, tuple(passes))
    said = fails(gradient, name)
    assert "IndexError: tuple index out of range" in said
    assert f"--> {__file__}:" in said and "\n> " in said
    assert (f'disabled=frozenset({{"{name}"}})' in said) == (name in pipeline.OPTIONAL)
    if name in pipeline.OPTIONAL:
        np.testing.assert_allclose(
            gradient(disabled=frozenset([name])), gradient(optimize=0), rtol=1e-12
        )


@pytest.mark.parametrize("name", ON_LOOPS)
def test_a_pass_on_loops_that_fails(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def failing(*_: Any) -> Any:
        return {}[name]

    passes = [(n, failing if n == name else p) for n, p in pipeline.LOOPS]
    monkeypatch.setattr(pipeline, "LOOPS", tuple(passes))
    assert f'disabled=frozenset({{"{name}"}})' in fails(gradient, name)
    assert np.isfinite(gradient(disabled=frozenset([name]))).all()


@pytest.mark.parametrize("each", [False, True])
def test_a_pass_that_breaks_the_program(
    monkeypatch: pytest.MonkeyPatch, each: bool
) -> None:
    monkeypatch.setattr(pipeline, "CHECKS_EACH", each)

    def halve(program: Program, _: Any) -> Program:
        (function,) = program.functions
        body = Block(function.body.bindings[1:], function.body.results)
        made = type(function)(function.name, function.params, body, function.span)
        return Program((made,))

    passes = tuple((n, halve if n == "cse" else p) for n, p in pipeline.SOURCE)
    monkeypatch.setattr(pipeline, "SOURCE", passes)
    said = fails(gradient, "cse")
    assert "scope: " in said and "after cse" in said and said.count("\n> ") >= 1
    assert 'disabled=frozenset({"cse"})' in said


# ---- the other stages ------------------------------------------------------------


def second_order() -> Any:
    return cl.hvp(cl.jit(energy, options=UNKEPT))(X, X)


def pullback() -> Any:
    return cl.vjp(cl.jit(energy, options=UNKEPT), X)[1](1.0)


def plainly() -> Any:
    return cl.jit(energy, options=UNKEPT)(X)


def shown() -> Any:
    return cl.jit(energy, options=UNKEPT).show("asm")


def reported() -> Any:
    return cl.jit(energy, options=UNKEPT).report(X)


STAGES = [
    ("chadllvm.driver.specialising", "specialise", plainly, "frontend"),
    ("chadllvm.frontend.translation", "read_source", plainly, "frontend"),
    ("chadllvm.frontend.translation", "read_text", gradient, "frontend"),
    ("chadllvm.frontend.body", "translate_function", second_order, "frontend"),
    ("chadllvm.frontend.statements", "bind_target", pullback, "frontend"),
    ("chadllvm.driver.plan", "_check_scalar", gradient, "plan"),
    ("chadllvm.driver.pipeline", "check", plainly, "frontend"),
    ("chadllvm.driver.pipeline", "has_derivatives", plainly, "pipeline"),
    ("chadllvm.driver.pipeline", "derived", second_order, "derived"),
    ("chadllvm.driver.pipeline", "settled", plainly, "settled"),
    ("chadllvm.driver.pipeline", "value_and_gradient", gradient, "chad"),
    ("chadllvm.driver.pipeline", "push_forward", tangents, "forward"),
    ("chadllvm.driver.pipeline", "pull_back", pullback, "chad"),
    ("chadllvm.driver.pipeline", "halves", pullback, "halves"),
    ("chadllvm.driver.pipeline", "lower_function", gradient, "lower"),
    ("chadllvm.lower.lower", "carriers", gradient, "lower"),
    ("chadllvm.driver.pipeline", "lower_boxed", lambda: gradient(optimize=0), "lower"),
    ("chadllvm.driver.pipeline", "check_loops", reported, "lower"),
    ("chadllvm.backend.jit", "emit", gradient, "llvm"),
    ("chadllvm.backend.jit", "emit_entry", pullback, "llvm"),
    ("chadllvm.llvm.optimize", "optimized", shown, "llvm"),
    ("chadllvm.backend.call", "Code", plainly, "backend"),
]


@pytest.mark.parametrize(("module", "name", "run", "stage"), STAGES)
@pytest.mark.parametrize("kind", [KeyError, InternalError])
def test_a_stage_that_fails(
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    name: str,
    run: Callable[[], Any],
    stage: str,
    kind: type[Exception],
) -> None:
    def failing(*args: Any, **options: Any) -> Any:
        raise kind("ours")

    monkeypatch.setattr(importlib.import_module(module), name, failing)
    assert "ours" in fails(run, stage)


def test_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = importlib.import_module("chadllvm.backend.kept")
    monkeypatch.setattr(kept.cache, "is_on", lambda: True)
    monkeypatch.setattr(kept, "digest_of", {}.__getitem__)
    key = partial(kept.key_of, "energy", 1)
    assert "cache=False" in fails(key, "cache")


def test_a_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pipeline, "lower_function", {}.__getitem__)
    fails(lambda: cl.export({"energy": energy}, tmp_path / "own"), "lower")


# ---- recursion -------------------------------------------------------------------


def endless(program: Program, _: Any) -> Program:
    return endless(program, _)


def test_a_pass_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = tuple((n, endless if n == "cse" else p) for n, p in pipeline.SOURCE)
    monkeypatch.setattr(pipeline, "SOURCE", passes)
    assert "RecursionError" in fails(gradient, "cse")


def test_a_frontend_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("chadllvm.frontend.body")
    monkeypatch.setattr(module, "translate_function", endless)
    assert "RecursionError" in fails(plainly, "frontend")


# ---- what is the user's ----------------------------------------------------------


@pytest.mark.parametrize("kind", [MemoryError, KeyboardInterrupt, UserWarning])
def test_what_is_nobodys_mistake(
    monkeypatch: pytest.MonkeyPatch, kind: type[BaseException]
) -> None:
    def failing(*args: Any, **options: Any) -> Any:
        raise kind

    monkeypatch.setattr(pipeline, "lower_function", failing)
    with pytest.raises(kind):
        gradient()


def test_code_of_the_users_that_runs_in_the_frontend() -> None:
    """What it raises is the user's, as it is in Python."""
    text = "def __getattr__(name):\n    raise LookupError('not here: ' + name)\n"
    linecache.cache["<lazy>"] = (len(text), None, text.splitlines(True), "<lazy>")
    lazy = types.ModuleType("lazy")
    exec(compile(text, "<lazy>", "exec"), vars(lazy))

    def scaled(x: cl.f64[:]) -> float:
        return np.sum(x) * lazy.factor

    for run in (cl.jit(scaled), cl.grad(scaled), lambda x: cl.vjp(scaled, x)):
        with pytest.raises(LookupError, match="not here: factor"):
            run(X)


@pytest.mark.parametrize("place", ["lower_function", "push_forward"])
def test_a_handler_of_signals(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """A limit on time, say, which the user sets, ends a compilation as it says."""

    def handler(*args: Any) -> None:
        raise TimeoutError("too long")

    before = signal.signal(signal.SIGUSR1, handler)
    made = getattr(pipeline, place)
    ours = types.FunctionType(
        compile(
            "def f(*args, **options):\n    kill()\n    return made(*args, **options)",
            "<ours>",
            "exec",
        ).co_consts[0],
        {
            "__name__": "chadllvm.ours",
            "kill": partial(os.kill, os.getpid(), signal.SIGUSR1),
            "made": made,
        },
    )
    monkeypatch.setattr(pipeline, place, ours)
    try:
        with pytest.raises(TimeoutError, match="too long"):
            tangents()
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_mistake_in_the_program_is_no_defect() -> None:
    def wrong(x: cl.f64[:]) -> float:
        return x + unknown  # noqa: F821

    with pytest.raises(cl.CompileError):
        cl.jit(wrong)(X)


def test_nothing_is_left_behind() -> None:
    """After a defect the next call of the same function works."""
    function = cl.jit(energy, options=UNKEPT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "lower_function", {}.__getitem__)
        fails(lambda: function(X), "lower")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert function(X) == pytest.approx(energy(X))
    assert sys.getrecursionlimit() < 12_000
