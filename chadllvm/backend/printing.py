"""What native code has to write: the words of a line → values of Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from chadllvm.ops.show import DTYPES, write

# Numbers as Python shows them.
_PYTHON: dict[str, Any] = {"d": float, "s": np.float32, "i": int, "b": bool}

_KIND = re.compile(r"([al])([dsib])(\d)|([dsib])")


def show(ffi: Any, line: Any) -> None:
    """Write a line of the C runtime (`chad_line_t`)."""
    kinds = ffi.string(line.kinds).decode()
    write(
        ffi.string(line.text).decode(), [*_values(ffi, kinds, line.words)], line.error
    )


def _values(ffi: Any, kinds: str, words: Any) -> Iterator[Any]:
    reals, at = ffi.cast("double *", words), 0
    for found in _KIND.finditer(kinds):
        outer, letter, rank, alone = found.groups()
        if alone:
            yield _PYTHON[alone](reals[at] if alone in "ds" else words[at])
            at += 1
            continue
        size, shape = words[at + 1], tuple(words[at + 2 : at + 2 + int(rank)])
        array = _array(ffi, words[at], letter, size, shape)
        yield array.tolist() if outer == "l" else array
        at += 2 + int(rank)


def _array(
    ffi: Any, place: int, letter: str, size: int, shape: tuple[int, ...]
) -> np.ndarray:
    """A copy of the elements there, each of which may take a word."""
    count = int(np.prod(shape))
    if not count:
        return np.zeros(shape, DTYPES[letter])
    widened = {"s": np.float64, "b": np.int64}.get(letter) if size == 8 else None
    memory = ffi.buffer(ffi.cast("char *", place), count * size)
    found = np.frombuffer(memory, widened or DTYPES[letter]).astype(DTYPES[letter])
    return found.reshape(shape)
