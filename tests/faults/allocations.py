"""Each request for memory of a call is refused in turn.

The runtime grants the first n requests, and none after these: of chunks, result blocks
and its own structures, and, in sanitized code, of each buffer of generated code. So
every place where a call may find no memory is tried, for n = 0, 1, … until all of its
requests are granted.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from containers import leaves
from programs.case import Case

import chadllvm as cl
from chadllvm.backend.runtime import runtime
from tests.faults import Fault
from tests.program_cases import CASES, real_params

MODES = {
    "default": cl.CompileOptions(),
    "sanitized": cl.CompileOptions(sanitize=True),
    "permanent": cl.CompileOptions(optimize=0),
}

# From here on only one request in so many as there have been is refused.
CLOSELY = 150


def some_programs(count: int) -> Sequence[Case]:
    """So many programs of the corpus with arrays and a gradient, from all of it."""
    usable = [
        case
        for case in CASES
        if real_params(case) and any(np.ndim(leaf) for leaf in leaves(case.args))
    ]
    return usable[:: max(1, len(usable) // count)][:count]


def refused(case: Case, mode: str) -> str:
    """Refuse each request of the value and of the gradient; how many that were.

    Raises:
        Fault: if that is no `MemoryError`, leaves memory behind or spoils a call.
    """
    function = cl.jit(case.function.py_func, options=MODES[mode])
    derivative = cl.value_and_grad(function, argnums=real_params(case))
    counts = [_refused(lambda f=f: f(*case.args)) for f in (function, derivative)]
    return f"{counts[0]} and {counts[1]} requests refused"


def _refused(call: Callable[[], Any]) -> int:
    right = _bits(call())
    tried, granted = 0, 0
    while not _is_served(call, granted, right):
        tried += 1
        granted += 1 + max(0, granted - CLOSELY) // 8
    return tried


def _is_served(call: Callable[[], Any], granted: int, right: list[bytes]) -> bool:
    """Whether a call gets all it asks for if so many requests are granted."""
    rt = runtime()
    rt.pool.clear()  # A new context has nothing that was kept.
    rt.lib.chad_set_grants(granted)
    try:
        found = call()
    except MemoryError:
        found = None
    except Exception as error:
        raise Fault(f"request {granted + 1} is refused: {error!r}") from error
    finally:
        rt.lib.chad_set_grants(-1)
    _nothing_is_left(granted)
    if found is not None:
        if _bits(found) != right:
            raise Fault(f"a wrong result after {granted} requests")
        return True
    if _bits(call()) != right:
        raise Fault(f"the call after request {granted + 1} was refused is wrong")
    _nothing_is_left(granted)
    return False


def _nothing_is_left(granted: int) -> None:
    rt = runtime()
    used = [int(rt.lib.chad_memory_used(state[0])) for state in rt.pool]
    if any(used):
        raise Fault(f"request {granted + 1} leaves {sum(used)} bytes behind")


def _bits(value: Any) -> list[bytes]:
    found = [np.asarray(leaf).tobytes() for leaf in leaves(value)]
    del value
    gc.collect(0)
    return found
