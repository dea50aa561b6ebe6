"""Sums over shards on a real cluster: values, bits, lost workers, failures."""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl

distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")

# Of what users get, here and on the workers: bits are compared.
pytestmark = pytest.mark.optimised


class Line(NamedTuple):
    offset: float
    slopes: cl.f64[:]


# Functions inside of functions are pickled by value: workers cannot import this file.
def robust_loss() -> Any:
    @cl.jit
    def loss(w: cl.f64[:], x: cl.f64[:, :], y: cl.f64[:]) -> float:
        r = x @ w - y
        return np.sum(np.log1p(r * r))

    return loss


def slow_loss() -> Any:
    @cl.jit
    def slow(w: cl.f64[:], x: cl.f64[:, :], steps: int) -> float:
        s = 0.0
        for _ in range(steps):
            s += np.sum(np.sin(x @ w + 1e-3 * s))
        return s

    return slow


LOSS = robust_loss()
RNG = np.random.default_rng(3)
SHARDS = [(RNG.normal(size=(n, 4)), RNG.normal(size=n)) for n in range(20, 41)]
W = RNG.normal(size=4)


def cluster_of(workers: int, **options: Any) -> Any:
    return distributed.LocalCluster(
        n_workers=workers,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
        **options,
    )


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two processes, which find nothing in the cache that this one writes to."""
    ours, theirs = (
        {"CHADLLVM_CACHE": "1", "CHADLLVM_CACHE_DIR": str(tmp_path_factory.mktemp("c"))}
        for _ in range(2)
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ours.items():
            patch.setenv(name, value)
        made = cluster_of(2, threads_per_worker=1, processes=True, env=theirs)
        with made as cluster, distributed.Client(cluster) as client:
            yield client
            pids = list(client.run(os.getpid).values())
    assert not [pid for pid in pids if psutil.pid_exists(pid)]


def plain_sum(function: Any, *args: Any) -> tuple[float, Any]:
    found = [cl.value_and_grad(function)(*args, *shard) for shard in SHARDS]
    return sum(v for v, _ in found), sum(g for _, g in found)


def test_sums_and_their_bits(client: Any) -> None:
    total = cl.distributed.sum_value_and_grad(LOSS, SHARDS, client)
    value, gradient = total(W)
    expected, slope = plain_sum(LOSS, W)
    assert value == pytest.approx(expected, rel=1e-14)
    assert np.allclose(gradient, slope, rtol=1e-12, atol=1e-12)
    direction = np.arange(4.0)
    curved = total.hvp(W, direction)
    products = [cl.hvp(LOSS)(W, *shard, direction) for shard in SHARDS]
    assert np.allclose(curved, sum(products), rtol=1e-12, atol=1e-12)

    loaded = [lambda shard=shard: shard for shard in SHARDS]
    mixed = cl.distributed.sum_value_and_grad(LOSS, [*loaded[:9], *SHARDS[9:]], client)
    with (
        cluster_of(1, processes=False) as cluster,
        distributed.Client(cluster) as alone,
    ):
        single = cl.distributed.sum_value_and_grad(LOSS, SHARDS, alone)
        again = [(total, W), (mixed, W), (single, W)]
        for other, at in again:
            found, slope = other(at)
            assert found == value and slope.tobytes() == gradient.tobytes()
        assert single.hvp(W, direction).tobytes() == curved.tobytes()


def compilers() -> list[str]:
    return [name for name in sys.modules if name.startswith("llvmlite")]


def test_code_is_shipped(client: Any) -> None:
    client.restart()
    cl.distributed.sum_value_and_grad(LOSS, SHARDS, client)(W)
    assert set(map(tuple, client.run(compilers).values())) == {()}


def test_records_and_several_arguments(client: Any) -> None:
    def loss(line: Line, scale: float, x: cl.f64[:, :], y: cl.f64[:]):  # type: ignore[no-untyped-def]
        r = line.offset + x @ line.slopes - y
        return np.sum(r * r) * scale

    at = (Line(0.5, W), 2.0)
    total = cl.distributed.sum_value_and_grad(loss, SHARDS, client, argnums=(0, 1))
    value, (line, scale) = total(*at)
    expected = [cl.value_and_grad(loss, (0, 1))(*at, *shard) for shard in SHARDS]
    assert value == pytest.approx(sum(v for v, _ in expected), rel=1e-14)
    assert type(line).__name__ == "Line"
    assert line.offset == pytest.approx(sum(g[0].offset for _, g in expected))
    assert np.allclose(line.slopes, sum(g[0].slopes for _, g in expected), rtol=1e-12)
    assert scale == pytest.approx(sum(g[1] for _, g in expected), rel=1e-14)


def test_optimisers_and_minibatches(client: Any) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    total = cl.distributed.sum_value_and_grad(LOSS, SHARDS, client)
    found = optimize.minimize(total, W, jac=True, method="L-BFGS-B")
    assert found.success and np.abs(total(found.x)[1]).max() < 1e-2
    second = optimize.minimize(
        total, found.x, jac=True, hessp=total.hvp, method="trust-ncg"
    )
    assert np.abs(second.jac).max() < 1e-4

    epochs = [[batch(W) for batch in total.minibatches(5, seed)] for seed in (1, 1, 2)]
    assert [len(epoch) for epoch in epochs] == [5, 5, 5]
    values = [[value for value, _ in epoch] for epoch in epochs]
    assert values[0] == values[1] != values[2]
    for epoch in epochs:
        assert sum(g for _, g in epoch) == pytest.approx(total(W)[1])
    with pytest.raises(ValueError, match="one shard at least"):
        next(total.minibatches(0))


def test_a_worker_is_killed_in_the_middle(client: Any) -> None:
    slow = slow_loss()
    shards = [(x, 6000) for x, _ in SHARDS]
    total = cl.distributed.sum_value_and_grad(slow, shards, client)
    value, gradient = total(W)
    done = threading.Event()
    was_running = []

    def kill(pid: int) -> None:
        was_running.append(not done.is_set())
        os.kill(pid, signal.SIGKILL)

    first, second = client.run(os.getpid).values()
    for pid in (first, second):
        done.clear()
        timer = threading.Timer(0.05, kill, (pid,))
        timer.start()
        found, slope = total(W)
        done.set()
        timer.join()
        assert found == value and slope.tobytes() == gradient.tobytes()
    found, slope = total(W)
    assert found == value and slope.tobytes() == gradient.tobytes()
    assert all(was_running)
    assert first not in client.run(os.getpid).values()


def test_a_shard_that_fails_is_named(client: Any) -> None:
    error = cl.distributed.ShardError

    def sums(*shards: Any) -> Any:
        return cl.distributed.sum_value_and_grad(LOSS, [*SHARDS[:2], *shards], client)

    with pytest.raises(error, match=r"shard 2: ValueError: .*sizes"):
        sums((np.ones((3, 5)), np.ones(3)))(W)
    with pytest.raises(error, match=r"shard 2: .*parameter x must have 2 dimension"):
        sums((np.ones(3), np.ones(3)))(W)
    with pytest.raises(error, match="shard 2: ZeroDivisionError"):
        sums(lambda: 1 // 0)(W)
    with pytest.raises(
        error, match=r"shard 2: TypeError: expected a tuple .* not list"
    ):
        sums(lambda: [1])(W)
    with pytest.raises(error, match=r"shard [01]: .*parameter w must be"):
        sums()("parameters")
    with pytest.raises(TypeError, match="shard 2 is of list: expected a tuple"):
        sums([np.ones((3, 4)), np.ones(3)])
    with pytest.raises(TypeError, match="shard 2 has 1 arguments, with 1 in front"):
        sums((np.ones((3, 4)),))
    with pytest.raises(ValueError, match="no shards"):
        cl.distributed.sum_value_and_grad(LOSS, [], client)
    with pytest.raises(TypeError, match=r"distributed\.Client, not None"):
        cl.distributed.sum_value_and_grad(LOSS, SHARDS, None)
    with pytest.raises(error, match="shard 2: each worker that took it died"):
        sums(lambda: os.kill(os.getpid(), signal.SIGKILL))(W)


@pytest.mark.parametrize("times", [2, 99])
def test_a_worker_dies_while_it_takes_shards(
    client: Any, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    scatter, failed = client.scatter, []

    def failing(*args: Any, **kwargs: Any) -> Any:
        if len(failed) < times:
            failed.append(args)
            raise KeyError("tcp://127.0.0.1:1")  # As the scheduler of Dask does.
        return scatter(*args, **kwargs)

    monkeypatch.setattr(client, "scatter", failing)
    total = cl.distributed.sum_value_and_grad(LOSS, SHARDS, client)
    if times == 2:
        assert total(W)[0] == pytest.approx(plain_sum(LOSS, W)[0], rel=1e-14)
    else:
        with pytest.raises(cl.distributed.ShardError, match="died each time"):
            total(W)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("rich", [True, False])
def test_a_long_sum_is_shown(
    client: Any, monkeypatch: pytest.MonkeyPatch, rich: bool
) -> None:
    if rich:
        pytest.importorskip("rich")
    else:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    from chadllvm.interop import dask

    monkeypatch.setattr(dask, "_PATIENCE", 1e-3)
    monkeypatch.setattr(sys, "stderr", Terminal())
    shards = [(x, 500) for x, _ in SHARDS]
    value, _ = cl.distributed.sum_value_and_grad(slow_loss(), shards, client)(W)
    assert np.isfinite(value)
    text = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert ("shards" in text) if rich else ("of 21 shards" in text)
