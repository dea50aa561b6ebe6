"""Runs something in a new process that stays on one core, and may die."""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from bench.measure import one_core

# Says what is being done.
Tell = Callable[[str], None]


def in_new_process(work: Callable[..., Any], *arguments: Any, tell: Tell) -> Any:
    """What `work(*arguments, tell)` returns, which is a function of a module.

    Raises: RuntimeError if it fails, or the process dies.
    """
    context = get_context("spawn")
    here, there = context.Pipe(duplex=False)
    worker = context.Process(target=_run, args=(there, work, *arguments))
    with one_core():
        worker.start()
    there.close()
    try:
        while isinstance(message := here.recv(), str):
            tell(message)
    except EOFError:
        worker.join()
        raise RuntimeError(f"the process ended with {worker.exitcode}") from None
    worker.join()
    if isinstance(message, Exception):
        raise message
    return message


def _run(connection: Connection, work: Callable[..., Any], *arguments: Any) -> None:
    """What the new process does: sends words while it works, then the result."""
    # For whoever asks no scheduler how many cores it may use.
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        connection.send(work(*arguments, connection.send))
    except Exception as error:
        # Some exceptions cannot be pickled, or need more than their message.
        connection.send(RuntimeError(f"{type(error).__name__}: {error}"))
