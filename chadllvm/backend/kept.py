"""Machine code as bytes, and the code that is kept in the cache.

What a program is compiled to does not depend on where in the user's files it stands, so
the places that its failures name are kept as numbers in the program's own list of
places (`digest.py`).
"""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from chadllvm.backend import cache
from chadllvm.backend.hashing import digest_of
from chadllvm.backend.host import processor, software
from chadllvm.backend.machine import Native, Site
from chadllvm.ir.defects import UNKEPT, stage
from chadllvm.support.diagnostic import Span
from chadllvm.support.options import CompileOptions

# More constants than this are not kept.
_MOST_BYTES = 64 << 20


class Key(NamedTuple):
    """The digest of a program and of all that it is compiled by, with its places."""

    digest: bytes
    places: Sequence[Span]


class Kept(NamedTuple):
    """Code, and whether it supposes what tangents are multiplied by to be finite."""

    native: Native
    supposes_finite: bool


@stage("cache", UNKEPT, runs_users=True)
def key_of(options: CompileOptions, *parts: Any) -> Key | None:
    """The key of what is compiled from these parts; None if nothing is to be kept."""
    if not (options.cache and cache.is_on()):
        return None
    # It needs all of the core, which code that is found does not.
    from chadllvm.backend.digest import Description, Indescribable

    compiler = software()
    if compiler is None:
        return None
    description = Description()
    try:
        description.add((*parts, options))
    except Indescribable:
        return None
    machine = processor(options.cpu) or _target()
    digest = digest_of(description.digest(), compiler, machine)
    return Key(digest, [*description.places])


def _target() -> bytes:
    """What LLVM says of the processor."""
    from chadllvm.backend.jit import host_target

    return repr(host_target()).encode()


# What came with pickled functions, by its key.
_received: dict[bytes, bytes] = {}


def receive(key: bytes, content: bytes) -> None:
    """Take over what is known of a function that was compiled elsewhere.

    It is of use where the key is the same: on a machine like that one.
    """
    _received[key] = content


def received(key: bytes) -> bytes | None:
    """What came with a pickled function under a key."""
    return _received.get(key)


@stage("cache", UNKEPT)
def load(key: Key) -> Kept | None:
    """The code that is kept under a key, or came with a pickled function."""
    content = cache.load("code", key.digest) or received(key.digest)
    return None if content is None else unpacked(content)


@stage("cache", UNKEPT)
def store(key: Key, name: str, kept: Kept) -> None:
    """Keep code, unless it is too large or names a place that the program has not."""
    if is_keepable(key, kept):
        cache.store("code", key.digest, name, packed(kept))


def is_keepable(key: Key, kept: Kept) -> bool:
    """Whether code is neither too large, nor names a place that the program has not."""
    native = kept.native
    size = sum(value.nbytes for _, value in native.data)
    is_among = all(site.place < len(key.places) for site in native.sites)
    return size <= _MOST_BYTES and is_among


def packed(kept: Kept) -> bytes:
    """The code as bytes."""
    native = kept.native
    data = [
        (name, value.dtype.str, value.shape, np.ascontiguousarray(value).tobytes())
        for name, value in native.data
    ]
    sites = [tuple(site) for site in native.sites]
    parts = native.symbol, native.code, sites, data, native.math
    return marshal.dumps((*parts, kept.supposes_finite))


def unpacked(content: bytes) -> Kept:
    """The code that bytes are."""
    symbol, code, sites, data, math, finite = marshal.loads(content)
    native = Native(
        symbol,
        code,
        tuple([Site(*site) for site in sites]),
        tuple([_constant(*constant) for constant in data]),
        math,
    )
    return Kept(native, finite)


def _constant(
    name: str, dtype: str, shape: Sequence[int], content: bytes
) -> tuple[str, np.ndarray[Any, Any]]:
    return name, np.ndarray(shape, dtype, content).copy()
