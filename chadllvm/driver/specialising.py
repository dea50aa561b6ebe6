"""A function and the types of its arguments → machine code, from the cache or anew."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from chadllvm.backend import kept as kept_code
from chadllvm.backend.call import NativeFunction
from chadllvm.driver.crossing import Crossing
from chadllvm.driver.pipeline import Compilation, collector_paused
from chadllvm.driver.plan import Plan
from chadllvm.driver.ready import Specialisation
from chadllvm.errors import statement_errors
from chadllvm.frontend import specialise, too_deep
from chadllvm.ir.defects import stage
from chadllvm.ir.loops import LoopFunction, can_fail
from chadllvm.ir.term import Program
from chadllvm.ir.types import Type
from chadllvm.ops.pause import pauses
from chadllvm.ops.show import shows
from chadllvm.simplify.finite import finite
from chadllvm.simplify.ones import Axis
from chadllvm.support.deep import run_deep
from chadllvm.support.forking import Lock
from chadllvm.support.options import CompileOptions
from chadllvm.support.request import Request
from chadllvm.support.told import told

T = TypeVar("T")

# What makes a call again that another compilation leaves to it.
Repeat = Callable[..., Any] | None

# How many versions of a function there are for arguments of which sizes are 1.
_MOST_WITH_ONES = 4


class Specialiser:
    """How the versions of a function are made, each of which this is made for."""

    def __init__(
        self,
        function: Callable[..., Any],
        below: Sequence[Request],
        request: Request,
        options: CompileOptions,
        plan: Callable[[Program, tuple[Type, ...], Request], Plan],
    ) -> None:
        self._function = function
        self._name = function.__name__
        self._below = below
        self._request = request
        self._options = options
        self._plan = plan
        self._lock = Lock()

    @collector_paused()
    def __call__(
        self, types: tuple[Type, ...], statics: Mapping[str, Any]
    ) -> Specialisation:
        """The version for arguments of these types."""
        with told(self._name) as compilation:
            plan = self.planned(types, statics)
            compilation.title = plan.title(self._name)
            options = self._options_of(plan)
            made = self._native(plan, options, *self._repeats(plan, options))
            made.title = compilation.title
            compilation.is_found = made.is_found
            return made

    def repeats(self, plan: Plan, supposes_finite: bool) -> tuple[Repeat, Repeat]:
        """What repeats calls of a version: those that fail, and those that are watched.

        It is made of the same program: what was captured may have changed since.
        """
        options = self._options_of(plan)
        repeat, watched = self._repeats(plan, options)
        return self._failed(plan, options, repeat, supposes_finite), watched

    def _options_of(self, plan: Plan) -> CompileOptions:
        """The options for a plan: a program that writes is never run again, and what it
        writes stands between the same checks as in Python."""
        for function in plan.source.functions:
            for span in pauses(function):
                raise statement_errors.breakpoint_in_native(span)
        if any(map(shows, plan.source.functions)):
            return replace(self._options, speculate=False)
        return self._options

    def _repeats(self, plan: Plan, options: CompileOptions) -> tuple[Repeat, Repeat]:
        repeat = watched = None
        if options.may_repeat:
            repeat = self._again(plan, replace(options, speculate=False))
        if not options.nans:
            watched = self._again(plan, replace(options, nans=True))
        return repeat, watched

    def _failed(
        self, plan: Plan, options: CompileOptions, repeat: Repeat, finite_only: bool
    ) -> Repeat:
        """What repeats a call that fails, where `repeat` supposes nothing."""
        otherwise = repeat
        if finite_only:
            otherwise = self._again(plan, self._without_finite(options), repeat)
        if plan.ones or repeat is None or otherwise is None:
            return otherwise
        return self._with_ones(plan, options, repeat, otherwise)

    def _without_finite(self, options: CompileOptions) -> CompileOptions:
        return replace(options, disabled=options.disabled | {finite.__name__})

    def plan_of(self, program: Program, types: tuple[Type, ...]) -> Plan:
        """What is compiled of a program for arguments of these types."""
        with stage("plan", given=program):
            return self._plan(program, types, self._request)

    @stage("frontend", runs_users=True)
    @collector_paused()
    def planned(self, types: tuple[Type, ...], statics: Mapping[str, Any]) -> Plan:
        """What is compiled for these types."""
        parts = [(r.argnums, r.value, r.has_aux) for r in self._below]
        is_gradient = self._request.argnums is not None
        program = specialise(self._function, types, statics, parts, is_gradient)
        return self.plan_of(program, types)

    @stage("backend")
    @collector_paused()
    def loops(self, plan: Plan, *, threads: bool) -> list[LoopFunction]:
        """The loops of a plan, and those to run behind them where they fail."""
        own = self._options_of(plan)
        if not threads:
            whole = own.disabled | {"parallel", "strands", "fills"}
            own = replace(own, disabled=whole)
        options, made = own, []
        while True:
            compilation = self._deep(functools.partial(plan.compile, options))
            made.append(compilation.lowered)
            if compilation.supposes_finite:
                options = self._without_finite(options)
            elif options.may_repeat and can_fail(compilation.lowered):
                options = replace(own, speculate=False)
            else:
                return made

    @stage("backend")
    def _native(
        self,
        plan: Plan,
        options: CompileOptions,
        on_failure: Repeat,
        watched: Repeat = None,
    ) -> Specialisation:
        @functools.cache
        def compilation() -> Compilation:
            return self._deep(lambda: plan.compile(options))

        key = self._deep(lambda: self._key(plan, options))
        kept = None if key is None else kept_code.load(key)
        is_found = kept is not None
        finite_only = kept.supposes_finite if kept else compilation().supposes_finite
        failed = self._failed(plan, options, on_failure, finite_only)
        native = self._deep(
            lambda: NativeFunction(
                lambda: compilation().lowered,
                name=self._name,
                param_names=plan.names,
                param_types=plan.types,
                result_type=plan.result,
                on_failure=failed,
                watched=watched,
                found=kept and kept.native,
                places=key.places if key else (),
            )
        )
        if key is not None and kept is None:
            kept = kept_code.Kept(native.native, finite_only)
            kept_code.store(key, self._name, kept)
        crossing = None
        if plan.boundary is not None:
            crossing = Crossing(plan.boundary, plan.request, native.call)
        made = Specialisation(compilation, native, crossing, key, kept, plan)
        made.is_found = is_found
        if plan.updated is not None:
            params = plan.source.entry.params
            names = [param.name for param in params]
            made.update(self._name, names, plan.given, plan.updated)
        return made

    def _key(self, plan: Plan, options: CompileOptions) -> kept_code.Key | None:
        """The key in the cache of what is compiled for a plan."""
        asked = type(plan).__name__, plan.names, plan.types, plan.request, plan.ones
        return kept_code.key_of(options, self._name, plan.program, asked)

    def _deep(self, run: Callable[[], T]) -> T:
        return deep(self._function, run)

    def _again(
        self,
        plan: Plan,
        options: CompileOptions,
        on_failure: Repeat = None,
    ) -> Callable[..., Any]:
        """What calls a second compilation, made when it is first needed."""
        made: list[NativeFunction] = []

        def call(*args: Any) -> Any:
            with self._lock:
                if not made:
                    with told(f"{plan.title(self._name)}, to repeat a call"):
                        made.append(self._native(plan, options, on_failure).native)
            return made[0].call(*args)

        return call

    def _with_ones(
        self,
        plan: Plan,
        options: CompileOptions,
        repeat: Callable[..., Any],
        otherwise: Callable[..., Any],
    ) -> Callable[..., Any]:
        """What calls versions for sizes of 1, so that what they stretch is known."""
        made: dict[tuple[Axis, ...], Callable[..., Any]] = {}

        def make(ones: tuple[Axis, ...]) -> None:
            with self._lock:
                if ones not in made and len(made) < _MOST_WITH_ONES:
                    own = plan.supposing(ones)
                    with told(f"{plan.title(self._name)}, for sizes of 1"):
                        made[ones] = self._native(own, options, repeat).native.call

        def call(*args: Any) -> Any:
            ones = plan.ones_in(args)
            if ones and ones not in made:
                make(ones)
            return made.get(ones, otherwise)(*args)

        return call


def deep(function: Callable[..., Any], run: Callable[[], T]) -> T:
    """What a step of the compiler makes, on a deep stack if it has to be one."""
    try:
        return run_deep(run)
    except RecursionError:
        raise too_deep(function) from None
