"""Other systems, one file each: every workload they can express, as their users would.

Each module has a dictionary `PROGRAMS`, from the names of workloads to programs of the
same arguments; a dictionary `REFUSED` from the names of the others to the reason; and
`prepare`, which makes a program ready to be timed.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

# The systems, and the package that each of them needs.
PACKAGES = {
    "jax": "jax",
    "torch": "torch",
    "numba": "numba",
    "numba_fast": "numba",
    "casadi": "casadi",
    "enzyme": "enzyme_ad",
}


@dataclass(frozen=True)
class Prepared:
    """A peer's program on given arguments; a call returns when its results are there.

    `gradient`: the value with the gradient, or None if the peer has none of this
    program; `why` says why. `numbers` turns what a gradient's call returns into a float
    and arrays, and is not timed.
    """

    value: Callable[[], Any]
    gradient: Callable[[], Any] | None = None
    numbers: Callable[[Any], tuple[float, Sequence[Any]]] = lambda found: found
    why: str = ""


def installed() -> tuple[str, ...]:
    """The systems that are there."""
    return tuple(n for n, p in PACKAGES.items() if importlib.util.find_spec(p))


def peer(name: str) -> ModuleType:
    """The module of a system."""
    return importlib.import_module(f"bench.peers.with_{name}")
