"""One of the two processes of `bench turns`: runs a program when it is told to.

It reads requests of a line and answers each with a line, a result and an error: first
the name of a program and whether little will do, which answers sums of what the value
and the gradient are; then which of these to time, and how many calls of it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import chadllvm as cl
from bench.measure import seconds
from bench.subjects import subjects

_LINE = 64  # bytes


def serve() -> None:
    """Answer requests until there are no more."""
    # What the program itself prints is no answer.
    answers, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: SIM115
    calls: list[Callable[[], Any]] = []
    for line in sys.stdin:
        first, second = json.loads(line)
        try:
            if isinstance(first, str):
                calls = _prepared(first, second)
                answer: Any = [_sum(call()) for call in calls]
            else:
                answer = seconds(calls[first], second)
            error = None
        except Exception as problem:
            answer, error = None, f"{type(problem).__name__}: {problem}"
        print(json.dumps([answer, error]), file=answers, flush=True)


def _prepared(name: str, quick: bool) -> list[Callable[[], Any]]:
    subject = subjects()[name]
    arguments = [*map(_placed, subject.arguments(quick))]
    value = cl.jit(subject.program)
    gradient = cl.value_and_grad(value, argnums=subject.argnums)
    return [partial(f, *arguments) for f in (value, gradient)]


def _placed(argument: Any) -> Any:
    """The array, at the beginning of a line of the cache in either process."""
    if not isinstance(argument, np.ndarray):
        return argument
    memory = np.empty(argument.nbytes + _LINE, np.uint8)
    start = -memory.ctypes.data % _LINE
    placed = memory[start : start + argument.nbytes].view(argument.dtype)
    placed = placed.reshape(argument.shape)
    placed[...] = argument
    return placed


def _sum(result: Any) -> float:
    if isinstance(result, tuple | list):
        return sum(map(_sum, result))
    return float(np.sum(result))
