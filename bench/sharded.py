"""What a sum over shards costs on Dask's workers beside the evaluation of the shards.

    python -m bench.sharded [--workers 2] [--parameters 1000 100000]

Prints the bytes of the code, the time that each shard adds to a call if evaluating it
takes none, what a call takes with one shard for each worker, the bytes that the workers
send each other, and how many times as fast the workers are as this process.
"""

from __future__ import annotations

import argparse
import logging
import os
import pickle
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import chadllvm as cl

_FEW, _MANY = 64, 512


@cl.jit
def loss(w: cl.f64[:], x: cl.f64[:, :], steps: int) -> float:
    """Work of any length, by little data."""
    total = 0.0
    for k in range(steps):
        total += np.sum(np.sin(x @ w[: x.shape[1]] + k))
    return total


def seconds(run: Callable[[], Any], times: int = 9) -> float:
    """The median time of a call, the first of which does not count."""
    run()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def sent(dask_worker: Any) -> int:
    """What a worker has sent to others."""
    return int(dask_worker.transfer_outgoing_bytes_total)


def overheads(client: Any, size: int) -> str:
    """A line for a number of parameters."""
    w, shard = np.ones(size), (np.ones((1, 8)), 1)
    times = []
    for count in (_FEW, _MANY):
        total = cl.distributed.sum_value_and_grad(loss, [shard] * count, client)
        times.append(seconds(lambda total=total: total(w)))
    before = sum(client.run(sent).values())
    total(w)
    moved = sum(client.run(sent).values()) - before
    each = (times[1] - times[0]) / (_MANY - _FEW)
    workers = len(client.scheduler_info()["workers"])
    small = cl.distributed.sum_value_and_grad(loss, [shard] * workers, client)
    call = seconds(lambda: small(w))
    return (
        f"{size:>10} {1e3 * each:>14.2f} {1e3 * call:>14.1f} "
        f"{moved / (8 * size):>24.1f}"
    )


def speedup(client: Any) -> float:
    """How many times as fast the workers are as this process."""
    w, shards = np.ones(8), [(np.ones((1000, 8)), 100_000)] * 16
    code = cl.value_and_grad(loss)
    alone = seconds(lambda: [code(w, *shard) for shard in shards], 3)
    total = cl.distributed.sum_value_and_grad(loss, shards, client)
    return alone / seconds(lambda: total(w), 3)


def main() -> None:
    """Print the table."""
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parameters", type=int, nargs="*", default=[1000, 100_000])
    options = parser.parse_args()
    cl.set_num_threads(1)
    # Code goes along with pickled functions where the cache is on.
    folder = tempfile.TemporaryDirectory()
    os.environ.update(CHADLLVM_CACHE="1", CHADLLVM_CACHE_DIR=folder.name)
    ours = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    made = LocalCluster(options.workers, silence_logs=logging.CRITICAL, **ours)
    with made as cluster, Client(cluster) as client:
        print("parameters  ms for a shard  ms for a call  gradients between workers")
        for size in options.parameters:
            print(overheads(client, size))
        print(f"bytes of the code: {len(pickle.dumps(cl.value_and_grad(loss)))}")
        print(f"{options.workers} workers: {speedup(client):.2f} times one process")


if __name__ == "__main__":
    main()
