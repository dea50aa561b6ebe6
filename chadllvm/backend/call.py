"""Calls of native functions from Python.

A call releases the GIL. Contexts come from a pool, so a function may be called from
many threads, and again from a signal handler that runs during a call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from chadllvm.backend.machine import Code, Native
from chadllvm.backend.marshal import Marshal
from chadllvm.backend.results import leaf_types
from chadllvm.backend.runtime import CallState, runtime
from chadllvm.ir.types import Array
from chadllvm.llvm import status
from chadllvm.support.diagnostic import Span

if TYPE_CHECKING:
    from chadllvm.backend.results import Result
    from chadllvm.ir.loops import LoopFunction
    from chadllvm.ir.types import Type
    from chadllvm.llvm.emit import Module
    from chadllvm.llvm.optimize import Effort


class NativeFunction:
    """A compiled function. `call` is the plain Python function that runs it.

    Scalars and tuples are passed and returned as Python's, arrays as NumPy's. Arrays of
    the right dtype that are contiguous are used in place, others are copied.

    `on_failure` is called with the arguments when the program fails, and its result is
    the call's; without it the failure is raised. `watched` makes the calls that are to
    name who makes a NaN (`debug_nans`).

    `found` is machine code that was made of this function before, which is then asked
    for only to show it; `places` are those that the code names by their numbers.

    Raises: TypeError, ValueError or OverflowError for arguments that do not fit, and
    whatever the program raises, at the user's line.
    """

    def __init__(
        self,
        function: LoopFunction | Callable[[], LoopFunction],
        name: str,
        param_names: Sequence[str],
        param_types: Sequence[Type],
        result_type: Result,
        on_failure: Callable[..., Any] | None = None,
        effort: Effort | None = None,
        watched: Callable[..., Any] | None = None,
        found: Native | None = None,
        places: Sequence[Span] = (),
    ) -> None:
        self.name = name
        self._function, self._effort = function, effort
        self._signature = name, param_names, param_types, result_type
        self._watched = watched
        marshal = self._marshal()
        # Python is slower to call what has a keyword.
        has_array = any(isinstance(leaf, Array) for leaf in leaf_types(result_type))
        marshal.takes_out = has_array and "out" not in param_names
        marshal.check_names()
        self.places = [*places]
        self.native = found or self._compiled(marshal)
        self.code = Code(self.native)
        self.source = marshal.source()
        self._failed = failing(name, self.native, lambda: self.places, on_failure)
        self.call: Callable[..., Any] = marshal.compile(
            self.source, self.code, self._failed, watched, self._filled
        )

    def _marshal(self) -> Marshal:
        made = Marshal(*self._signature)
        made.is_watchable = self._watched is not None
        return made

    def _compiled(self, marshal: Marshal) -> Native:
        from chadllvm.backend.jit import compiled

        marshal.check(self._loops())
        return compiled(self._loops(), self.name, self.places, self._effort)

    def _loops(self) -> LoopFunction:
        return self._function() if callable(self._function) else self._function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs)

    @functools.cached_property
    def filling(self) -> Callable[..., Any]:
        """The function that also takes the arrays for its results, in their order."""
        marshal = self._marshal()
        marshal.is_filling = True
        source = marshal.source()
        return marshal.compile(source, self.code, self._failed, self._watched)

    def _filled(self, args: tuple[Any, ...], out: Any) -> Any:
        """A call whose results stand in arrays of the caller's (`outs.py`)."""
        from chadllvm.backend import outs

        arrays = outs.lent(self._signature[-1], out, args)
        value = self.call(*args) if arrays is None else self.filling(*args, *arrays)
        return outs.filled(self.name, value, out)

    @property
    def module(self) -> Module:
        """The module that the code was made of."""
        from chadllvm.backend.jit import module_of

        return module_of(self._loops(), self.name)

    @property
    def llvm_ir(self) -> str:
        """The optimised LLVM IR."""
        from chadllvm.backend.jit import optimised_text

        return optimised_text(self.module, self._loops().cpu, self._effort)

    @property
    def asm(self) -> str:
        """The assembly."""
        from chadllvm.backend.jit import assembly

        return assembly(self.module, self._loops().cpu, self._effort)


def failing(
    name: str,
    native: Native,
    places: Callable[[], Sequence[Span]],
    on_failure: Callable[..., Any] | None,
) -> Callable[[CallState, int, tuple[Any, ...]], Any]:
    """Ends a failed call: makes the context fit for the next, and raises.

    A program error is left to `on_failure`, if given, which gets the arguments.
    """
    rt = runtime()

    def failed(state: CallState, code: int, args: tuple[Any, ...]) -> Any:
        from chadllvm.backend import failure

        context = state[0]
        rt.lib.chad_results_discard(context)
        number, values = context.site, list(context.values)
        rt.pool.append(state)
        if code == status.INTERRUPT:
            raise rt.take_interrupt()
        if code != status.PROGRAM:
            raise failure.other_error(code, name)
        if on_failure is not None:
            return on_failure(*args)
        site = native.sites[number]
        raise failure.program_error(site, places()[site.place], values)

    return failed
