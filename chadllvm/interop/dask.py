"""Sums of a compiled function over shards of data, on the workers of Dask.

    total = cl.distributed.sum_value_and_grad(loss, shards, client)
    value, gradient = total(parameters)
    scipy.optimize.minimize(total, x0, jac=True, hessp=total.hvp)

A task evaluates one shard, and a tree of additions sums up the results. Its shape and
order are those of the list of shards, so that the sum is the same bits on any number of
workers of one kind of processor, wherever the shards lie.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from typing import Any
from uuid import uuid4

import numpy as np
from distributed import Client, Future, KilledWorker
from distributed.client import FutureCancelledError

from chadllvm.api.jacobian import hvp
from chadllvm.api.reals import mapped
from chadllvm.api.transforms import value_and_grad
from chadllvm.interop.derived import compiled

# How many results an addition takes: fewer are more tasks, more are longer ones.
_FAN = 8

# How often a sum is begun again after a worker took scattered data with it, and how
# often data are scattered again where a worker dies meanwhile. One that dies may end
# several attempts, and Dask gives up a task after four that died of it.
_ATTEMPTS = 20

# A sum that takes longer than these seconds is shown on a terminal, and how often.
_PATIENCE, _REFRESH = 1.0, 0.25


class ShardError(RuntimeError):
    """The evaluation of a shard failed; the message says which, and why."""


class _Held:
    """A value that a task gives as it is: Dask makes it again if it is lost."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def get(self) -> Any:
        """The value."""
        return self.value


class Total:
    """The sum of a function over shards; see `sum_value_and_grad`."""

    def __init__(
        self,
        function: Callable[..., Any],
        shards: Sequence[Any],
        client: Client,
        argnums: int | tuple[int, ...],
    ) -> None:
        at = argnums if isinstance(argnums, tuple) else (argnums,)
        _check(function, shards, client, max(at) + 1)
        ours = compiled(function)
        self._client = client
        self._data = list(shards)
        self._shards: list[Future] = []
        self._kinds = {
            "value_and_grad": value_and_grad(ours, argnums),
            "hvp": hvp(ours, argnums),
        }
        self._code: dict[str, Future] = {}
        self._every = tuple(range(len(self._data)))

    def __call__(self, *args: Any) -> tuple[Any, Any]:
        """The value and the gradient: the sums over all shards."""
        found: tuple[Any, Any] = self._sum("value_and_grad", self._every, args, ())
        return found

    def hvp(self, *args: Any) -> Any:
        """The Hessian of the sum times a direction, which is the last argument."""
        return self._sum("hvp", self._every, args[:-1], args[-1:])

    def minibatches(
        self, size: int, seed: int = 0
    ) -> Iterator[Callable[..., tuple[Any, Any]]]:
        """An epoch: functions that sum over `size` shards each, in a random order.

        Every shard is in one of them; the last one may have fewer. The order depends on
        the seed alone.

        Raises:
            ValueError: if the size is not positive.
        """
        if size < 1:
            raise ValueError(f"size={size}: a minibatch has one shard at least")
        order = np.random.default_rng(seed).permutation(len(self._data)).tolist()
        for first in range(0, len(order), size):
            yield partial(self._batch, tuple(order[first : first + size]))

    def _batch(self, which: tuple[int, ...], *args: Any) -> tuple[Any, Any]:
        found: tuple[Any, Any] = self._sum("value_and_grad", which, args, ())
        return found

    def _sum(
        self, kind: str, which: tuple[int, ...], args: Any, after: tuple[Any, ...]
    ) -> Any:
        for _ in range(_ATTEMPTS):
            try:
                return self._attempt(kind, which, args, after)
            except (FutureCancelledError, OSError) as error:
                # A worker that died held the only copy of something scattered.
                last = error
        raise ShardError(f"workers died in each of {_ATTEMPTS} attempts") from last

    def _attempt(
        self, kind: str, which: tuple[int, ...], args: Any, after: tuple[Any, ...]
    ) -> Any:
        self._place(kind, args, after)
        name = f"{kind}-{uuid4().hex}"
        held = _Held((args, after))
        given = self._client.submit(_Held.get, held, key=f"{name}-arguments")
        results = self._client.map(
            _evaluated,
            [self._shards[k] for k in which],
            which,
            key=[f"{name}-shard-{k}" for k in which],
            code=self._code[kind],
            given=given,
        )
        total = self._tree(name, results)
        try:
            return self._waited(results, total)
        except KilledWorker as error:
            _, found, place = str(error.task).rpartition("-shard-")
            if not found:
                raise
            raise ShardError(
                f"shard {place}: each worker that took it died, as one does that is "
                "out of memory"
            ) from error

    def _tree(self, name: str, futures: list[Future]) -> Future:
        """The sum of results: groups of neighbours are added, then their sums."""
        level = 0
        while len(futures) > 1:
            groups = [futures[k : k + _FAN] for k in range(0, len(futures), _FAN)]
            keys = [f"{name}-sum-{level}-{k}" for k in range(len(groups))]
            submit = self._client.submit
            futures = [
                submit(_added, *group, key=key)
                for group, key in zip(groups, keys, strict=True)
            ]
            level += 1
        return futures[0]

    def _place(self, kind: str, args: Any, after: tuple[Any, ...]) -> None:
        """Bring code and shards to the workers, so far as they are not there."""
        if kind not in self._code:
            self._code[kind] = self._shipped(self._kinds[kind], args, after)
        if not self._shards:
            self._shards = self._scattered(self._every)
        lost = self._lost()
        for k, future in zip(lost, self._scattered(lost), strict=True):
            self._shards[k] = future

    def _lost(self) -> list[int]:
        """The shards that no worker has any more."""
        return [k for k, future in enumerate(self._shards) if not _is_there(future)]

    def _shipped(self, code: Any, args: Any, after: tuple[Any, ...]) -> Future:
        """The function, with machine code for the types of these arguments."""
        held = [k for k in self._every if isinstance(self._data[k], tuple)]
        for k in held[:1]:
            try:
                code._shown_version((*args, *self._data[k], *after), {})
            except Exception as error:
                raise _failed(k, error) from error
        return self._client.submit(_Held.get, _Held(code), key=f"code-{uuid4().hex}")

    def _scattered(self, which: Sequence[int]) -> list[Future]:
        held = [k for k in which if isinstance(self._data[k], tuple)]
        data = [self._data[k] for k in held]
        found = dict(zip(held, self._sent(data), strict=True))
        name = f"load-{uuid4().hex}"
        for k in which:
            if k not in found:
                key = f"{name}-shard-{k}"
                found[k] = self._client.submit(_loaded, self._data[k], k, key=key)
        return [found[k] for k in which]

    def _sent(self, data: list[Any]) -> list[Future]:
        """Shards that are here, on the workers."""
        if not data:
            return []
        for _ in range(_ATTEMPTS):
            try:
                return list(self._client.scatter(data, hash=False))
            except KeyError as error:
                # A worker that took some died, and the scheduler has forgotten it.
                last = error
        raise ShardError("workers died each time that shards were sent") from last

    def _waited(self, results: list[Future], total: Future) -> Any:
        if not sys.stderr.isatty():
            return total.result()
        try:
            return total.result(timeout=_PATIENCE)
        except TimeoutError:
            pass
        with _bar(len(results)) as show:
            while True:
                show(sum(future.done() for future in results))
                try:
                    return total.result(timeout=_REFRESH)
                except TimeoutError:
                    continue


def sum_value_and_grad(
    function: Callable[..., Any],
    shards: Sequence[Any],
    client: Client,
    argnums: int | tuple[int, ...] = 0,
) -> Total:
    """The value and the gradient of a sum over shards, evaluated by Dask's workers.

    Code and shards are brought to the workers once; a call moves its arguments to each
    worker, and sums of gradients between them. The client keeps the shards: what a
    worker takes with it that dies is sent again.

    Args:
        function: returns a float. Its first arguments, up to the last one of `argnums`,
            are given at each call; a shard holds the others.
        shards: for each a tuple of arguments, or a function without parameters that
            returns one: it is called on a worker, as to read a file, and again on
            another one if that worker dies.
        client: a `distributed.Client`, not an asynchronous one.
        argnums: which arguments to differentiate by.

    Returns:
        `total(*args)`, which gives the value and the gradient; `total.hvp(*args, v)`,
        the Hessian times a direction; `total.minibatches(size, seed)`.

    Raises:
        TypeError: if a shard is neither a tuple nor a function, has another number of
            arguments, or the client is none.
        ValueError: if there are no shards.
        ShardError: at a call, if a shard cannot be evaluated; it says which.
    """
    return Total(function, shards, client, argnums)


def _check(
    function: Callable[..., Any], shards: Sequence[Any], client: Any, given: int
) -> None:
    if not isinstance(client, Client) or client.asynchronous:
        raise TypeError(f"expected a synchronous distributed.Client, not {client!r}")
    if not len(shards):
        raise ValueError("there are no shards to sum over")
    signature = inspect.signature(function)
    for k, shard in enumerate(shards):
        if not isinstance(shard, tuple):
            if not callable(shard):
                raise TypeError(
                    f"shard {k} is of {type(shard).__name__}: expected a tuple of "
                    "arguments, or a function that returns one"
                )
            continue
        try:
            signature.bind(*range(given), *shard)
        except TypeError as error:
            raise TypeError(
                f"shard {k} has {len(shard)} arguments, with {given} in front of them: "
                f"{error}"
            ) from None


def _is_there(future: Future) -> bool:
    return future.status not in ("cancelled", "lost")


def _failed(place: int, error: Exception) -> ShardError:
    return ShardError(f"shard {place}: {type(error).__name__}: {error}")


def _loaded(load: Callable[[], Any], place: int) -> Any:
    """What a function gives for a shard, on a worker."""
    try:
        shard = load()
        if not isinstance(shard, tuple):
            raise TypeError(
                f"expected a tuple of arguments, not {type(shard).__name__}"
            )
        return shard
    except Exception as error:
        raise _failed(place, error) from error


def _evaluated(
    shard: tuple[Any, ...], place: int, *, code: Callable[..., Any], given: Any
) -> Any:
    """The value and the gradient for a shard, on a worker."""
    args, after = given
    try:
        return code(*args, *shard, *after)
    except Exception as error:
        raise _failed(place, error) from error


def _added(*parts: Any) -> Any:
    """The sum of results of one structure, from the first to the last."""
    return reduce(_plus, parts)


def _plus(a: Any, b: Any) -> Any:
    """Two values of one structure, their numbers added."""
    numbers: list[Any] = []

    def note(number: Any) -> Any:
        numbers.append(number)
        return number

    mapped(b, note, lambda x: x)
    rest = iter(numbers)
    return mapped(a, lambda x: x + next(rest), lambda x: x)


@contextmanager
def _bar(size: int) -> Iterator[Callable[[int], None]]:
    """A bar on the terminal, drawn by rich if it is installed; it goes at the end."""
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        yield lambda done: print(
            f"\r{done} of {size} shards", end="", file=sys.stderr, flush=True
        )
        print("\r\033[K", end="", file=sys.stderr, flush=True)
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("shards", total=size)
        yield lambda done: bar.update(task, completed=done)
