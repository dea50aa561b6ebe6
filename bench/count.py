"""Executed operations of a program and of its gradient: exact, on every machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bench.workload import Workload
from chadllvm.backend.call import NativeFunction
from chadllvm.backend.results import Group
from chadllvm.driver.plan import Plan
from chadllvm.frontend import signature, specialise
from chadllvm.ir.types import I64, Array, Product, Scalar, Type
from chadllvm.llvm.optimize import Effort
from chadllvm.lower.count import count_operations
from chadllvm.support.options import CompileOptions
from chadllvm.support.request import Request


def _annotated(function: Callable[..., Any]) -> Iterator[Type]:
    for param in signature(function):
        if isinstance(param.annotation, Scalar | Array | Product):
            yield param.annotation


class Counted:
    """A compiled function, or its value and gradient, that counts its operations.

    `types` are those of the arguments; by default they are what is annotated.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        argnums: tuple[int, ...] | None,
        options: CompileOptions,
        effort: Effort | None = None,
        types: Sequence[Type] | None = None,
    ) -> None:
        known = tuple(types or _annotated(function))
        plan = Plan(specialise(function, known), known, Request(argnums))
        loops = plan.compile(options).loops
        assert loops is not None
        self._native = NativeFunction(
            count_operations(loops),
            function.__name__,
            plan.names,
            plan.types,
            Group((plan.result, I64)),
            effort=effort,
        )

    def __call__(self, *args: Any) -> tuple[Any, int]:
        """What the function returns, and the number of operations it took."""
        result, steps = self._native(*args)
        return result, steps


class OperationCounts:
    """The executed operations of a workload's program and of its gradient."""

    def __init__(
        self, workload: Workload, options: CompileOptions | None = None
    ) -> None:
        program = workload.program.py_func  # type: ignore[attr-defined]
        # What LLVM does is no matter: our own statements are counted.
        effort = Effort(0, 0, loops=False, tidy=True)
        options = options or CompileOptions()
        self._value = Counted(program, None, options, effort)
        self._gradient = Counted(program, workload.argnums, options, effort)

    def value(self, arguments: tuple[Any, ...]) -> int:
        """Those of the value."""
        return self._value(*arguments)[1]

    def gradient(self, arguments: tuple[Any, ...]) -> int:
        """Those of the value with its gradient."""
        return self._gradient(*arguments)[1]
