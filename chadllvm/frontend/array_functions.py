"""NumPy's functions of arrays, and the methods of arrays: the table of all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chadllvm.frontend.constructors import CONSTRUCTORS, CONVERSIONS
from chadllvm.frontend.delayed import Value
from chadllvm.frontend.given import LibraryFunction
from chadllvm.frontend.higher import HIGHER
from chadllvm.frontend.joining import JOINING
from chadllvm.frontend.ordering import ORDERING
from chadllvm.frontend.pointwise import POINTWISE
from chadllvm.frontend.products import PRODUCTS
from chadllvm.frontend.reductions import REDUCTIONS
from chadllvm.frontend.scans import SCANS
from chadllvm.frontend.shaping import SHAPING
from chadllvm.frontend.stopped import STOPPED

LIBRARY: tuple[LibraryFunction, ...] = (
    *REDUCTIONS,
    *SCANS,
    *PRODUCTS,
    *CONSTRUCTORS,
    *CONVERSIONS,
    *SHAPING,
    *JOINING,
    *ORDERING,
    *POINTWISE,
    *HIGHER,
    *STOPPED,
)

ARRAY_FUNCTIONS: tuple[tuple[Any, Callable[..., Value]], ...] = tuple(
    (row.function, row.call) for row in LIBRARY if row.function is not None
)

METHODS: dict[str, LibraryFunction] = {row.method: row for row in LIBRARY if row.method}

# What a message can list.
NAMES: tuple[str, ...] = tuple(
    sorted({row.function.__name__ for row in LIBRARY if row.function is not None})
)
