"""Calls in all kinds of workers: `python shared_machine.py fork`.

Each scenario calls in the parent first, with several threads, then in workers, and
compares. It is a process of its own, so that one that hangs is stopped alone.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import numpy as np
from threaded_programs import Answer, answer, answers, region

import chadllvm as cl

SEEDS = range(4)


def by_processes(method: str) -> list[Answer]:
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        return list(pool.map(answer, SEEDS))


def by_joblib(backend: str) -> list[Answer]:
    import joblib

    with joblib.parallel_config(backend=backend):
        return list(joblib.Parallel(2)(joblib.delayed(answer)(s) for s in SEEDS))


def by_dask(scheduler: str) -> list[Answer]:
    import dask

    tasks = [dask.delayed(answer)(seed) for seed in SEEDS]
    return list(dask.compute(*tasks, scheduler=scheduler, num_workers=2))


def by_grandchildren() -> list[Answer]:
    """A forked child starts threads, and forks again."""
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(in_a_child).result()


def in_a_child() -> list[Answer]:
    assert cl.get_num_threads() == 1
    cl.set_num_threads(4)
    assert cl.get_num_threads() == 1
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(answer, SEEDS)) == answers(SEEDS)
    return by_processes("fork")


@contextmanager
def busy(work: Callable[[], object]) -> Iterator[None]:
    """Another thread does this all the time."""
    ends = threading.Event()

    def repeat() -> None:
        while not ends.is_set():
            work()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def beside_blas() -> list[Answer]:
    from scipy import linalg

    matrix = np.random.default_rng(0).normal(size=(300, 300))
    with (
        busy(lambda: matrix @ matrix),
        busy(lambda: linalg.svdvals(matrix)),
        ThreadPoolExecutor(2) as pool,
    ):
        return list(pool.map(answer, SEEDS))


def beside_torch() -> list[Answer]:
    import torch

    matrix = torch.ones(400, 400)
    grown = torch.ones(1_000_000)
    assert torch.get_num_threads() >= 1
    with busy(lambda: matrix @ matrix), busy(lambda: torch.exp(grown).sum()):
        found = answers(SEEDS)
    assert by_processes("fork") == found
    return found


SCENARIOS = {
    "fork": partial(by_processes, "fork"),
    "spawn": partial(by_processes, "spawn"),
    "forkserver": partial(by_processes, "forkserver"),
    "grandchildren": by_grandchildren,
    "loky": partial(by_joblib, "loky"),
    "multiprocessing": partial(by_joblib, "multiprocessing"),
    "dask-threads": partial(by_dask, "threads"),
    "dask-processes": partial(by_dask, "processes"),
    "blas": beside_blas,
    "torch": beside_torch,  # by hand: it is large
}


def main(name: str) -> None:
    cl.set_num_threads(3)
    assert len(region(20, together=cl.get_num_threads())) == cl.get_num_threads()
    expected = answers(SEEDS)
    assert SCENARIOS[name]() == expected
    assert answers(SEEDS) == expected


if __name__ == "__main__":
    main(sys.argv[1])
