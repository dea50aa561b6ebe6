"""Calls of native functions from Python.

A call releases the GIL. Contexts come from a pool, so a function may be called from
many threads, and again from a signal handler that runs during a call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from chadllvm.backend import failure
from chadllvm.backend.jit import Code, host_target
from chadllvm.backend.layout import array_layout
from chadllvm.backend.marshal import Marshal
from chadllvm.backend.results import Result
from chadllvm.backend.runtime import CallState, runtime
from chadllvm.ir.loops import LoopFunction
from chadllvm.ir.types import Type
from chadllvm.llvm import runtime as status
from chadllvm.llvm.emit import emit
from chadllvm.llvm.entry import emit_entry
from chadllvm.llvm.optimize import Effort


class NativeFunction:
    """A compiled function. `call` is the plain Python function that runs it.

    Scalars and tuples are passed and returned as Python's, arrays as NumPy's. Arrays of
    the right dtype that are contiguous are used in place, others are copied.

    `on_failure` is called with the arguments when the program fails, and its result is
    the call's; without it the failure is raised. `watched` makes the calls that are to
    name who makes a NaN (`debug_nans`).

    Raises: TypeError, ValueError or OverflowError for arguments that do not fit, and
    whatever the program raises, at the user's line.
    """

    def __init__(
        self,
        function: LoopFunction,
        name: str,
        param_names: Sequence[str],
        param_types: Sequence[Type],
        result_type: Result,
        on_failure: Callable[..., Any] | None = None,
        effort: Effort | None = None,
        watched: Callable[..., Any] | None = None,
    ) -> None:
        target = host_target()
        module = emit(function, _symbol(name), target.vector, target.width)
        self.name = name
        entry = emit_entry(function, module.symbol, array_layout())
        self.code = Code(module, entry, effort)
        marshal = Marshal(name, param_names, param_types, result_type)
        marshal.is_watchable = watched is not None
        marshal.check(function)
        self.source = marshal.source()
        self.call: Callable[..., Any] = marshal.compile(
            self.source, self.code, _failed(name, self.code, on_failure), watched
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs)

    @property
    def llvm_ir(self) -> str:
        """The optimised LLVM IR."""
        return self.code.llvm_ir

    @property
    def asm(self) -> str:
        """The assembly."""
        return self.code.asm


def _symbol(name: str) -> str:
    """A symbol that is no function of a library."""
    return "chad_fn_" + re.sub(r"[^A-Za-z0-9_]", "_", name)


def _failed(
    name: str, native: Code, on_failure: Callable[..., Any] | None
) -> Callable[[CallState, int, tuple[Any, ...]], Any]:
    """Ends a failed call: makes the context fit for the next, and raises.

    A program error is left to `on_failure`, if given, which gets the arguments.
    """
    rt, sites = runtime(), native.module.sites

    def failed(state: CallState, code: int, args: tuple[Any, ...]) -> Any:
        context = state[0]
        rt.lib.chad_results_discard(context)
        site, values = context.site, list(context.values)
        rt.pool.append(state)
        if code == status.INTERRUPT:
            raise rt.take_interrupt()
        if code != status.PROGRAM:
            raise failure.other_error(code, name)
        if on_failure is not None:
            return on_failure(*args)
        raise failure.program_error(sites[site], values)

    return failed
