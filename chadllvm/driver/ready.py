"""Versions of compiled functions, and those that are ready: found without the compiler.

A version that was compiled is kept in two parts. What the program means is the key of
its machine code (`backend/kept.py`); what the function reaches (`reach.py`) is the key
of what a call needs besides: the key of that code, the types of arguments and results,
the places that failures name. A process that finds both reads no syntax and types
nothing. The program itself lies beside them, for the few that ask for more: those whose
calls fail, and are repeated by another compilation, and those that want to be shown.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from chadllvm.backend import kept as kept_code
from chadllvm.backend.call import NativeFunction
from chadllvm.driver.shelf import Shelf, Unkept
from chadllvm.ir.defects import UNKEPT, stage
from chadllvm.ir.types import Type
from chadllvm.ir.updated import Updated
from chadllvm.support.diagnostic import NO_SPAN, Span

if TYPE_CHECKING:
    from chadllvm.api.compiled import Compiled
    from chadllvm.backend.results import Result
    from chadllvm.driver.crossing import Crossing
    from chadllvm.driver.pipeline import Compilation
    from chadllvm.driver.plan import Plan


class Specialisation:
    """One compiled version: the fast code, and how to show what led to it.

    `call` is the native function's, or what stands between it and Python: `crossing`.
    `reached` is the digest of what the function reached when it was compiled.
    """

    def __init__(
        self,
        compile: functools._lru_cache_wrapper[Compilation],
        native: NativeFunction,
        crossing: Crossing | None = None,
        key: kept_code.Key | None = None,
        kept: kept_code.Kept | None = None,
        plan: Plan | None = None,
    ) -> None:
        self._compile = compile
        # Its machine code as it is kept on disk.
        self.key, self.kept = key, kept
        self.native = native
        self.crossing = crossing
        self.plan = plan
        self.reached = b""
        # What was compiled, in words.
        self.title = ""
        self.is_found = False  # Its code was in the cache.
        # How it is found without the compiler, as that is kept on disk.
        self.shelf: Shelf | None = None
        # What gives the last values of what is updated, if it is anything.
        self.value: Callable[..., Any] = crossing or native.call
        self.call = self.value

    def update(
        self, name: str, names: Sequence[str], types: Sequence[Type], updated: Updated
    ) -> None:
        """Let calls write to their arguments."""
        from chadllvm.driver.updating import Updating

        self.call = Updating(self.value, name, names, types, updated)

    @property
    def compilation(self) -> Compilation:
        """The program at each stage; code from the cache is compiled for it."""
        return self._compile()

    @property
    def is_compiled(self) -> bool:
        """Whether this process has the program at each stage already."""
        return self._compile.cache_info().currsize > 0


class Machine(NamedTuple):
    """A native function as it is kept: its code by its key, and how it is called.

    `places` are those that its failures name, by their numbers; see `Shelf.relative`.
    """

    key: bytes
    names: tuple[str, ...]
    types: tuple[Type, ...]
    result: Result
    places: Mapping[int, tuple[Any, ...]]


class Saved(NamedTuple):
    """A version as it is kept: for arguments of the types `given`.

    `is_fixed`: annotations leave no other; `program` are the bytes of its core.
    """

    given: tuple[Type, ...]
    is_fixed: bool
    machine: Machine
    program: bytes
    updated: Updated | None = None


def machine(
    place: Shelf,
    key: kept_code.Key,
    kept: kept_code.Kept,
    names: Sequence[str],
    types: Sequence[Type],
    result: Result,
) -> Machine:
    """A native function as it is kept.

    Raises:
        Unkept: if a failure names a place that is in none of the functions.
    """
    places = {s.place: place.relative(key.places[s.place]) for s in kept.native.sites}
    return Machine(key.digest, tuple(names), tuple(types), result, places)


def code_of(found: Machine, place: Shelf) -> tuple[kept_code.Kept, list[Span]] | None:
    """The code of a native function that was kept, and the places that it names."""
    kept = kept_code.load(kept_code.Key(found.key, ()))
    if kept is None:
        return None
    places = [NO_SPAN] * (max(found.places, default=-1) + 1)
    for number, relative in found.places.items():
        places[number] = place.span(relative)
    return kept, places


@stage("cache", UNKEPT, runs_users=True)
def keep(function: Compiled, version: Specialisation, place: Shelf) -> None:
    """Keep a version, if it was made of what the function reaches now."""
    plan, key, kept = version.plan, version.key, version.kept
    if version.reached != place.reach.digest or key is None or kept is None:
        return
    if (
        plan is None
        or plan.boundary is not None
        or not kept_code.is_keepable(key, kept)
    ):
        return
    try:
        found = machine(place, key, kept, plan.names, plan.types, plan.result)
        program = place.packed(plan.source)
    except (Unkept, TypeError, RecursionError, ValueError):
        return
    is_fixed = function.is_fixed_to(plan.given)
    saved = Saved(plan.given, is_fixed, found, program, plan.updated)
    place.store(function.name, saved)
    version.shelf = version.shelf or place


@stage("cache", UNKEPT)
def version(function: Compiled, saved: Saved, place: Shelf) -> Specialisation | None:
    """A version that was kept; None if its code is gone."""
    found = code_of(saved.machine, place)
    if found is None:
        return None
    kept, places = found
    options = function.options

    @functools.cache
    def plan() -> Plan:
        return function.plan_of(place.unpacked(saved.program), saved.given)

    @functools.cache
    def compilation() -> Compilation:
        return function.deep(lambda: plan().compile(options))

    @functools.cache
    def repeats() -> tuple[Callable[..., Any] | None, Callable[..., Any] | None]:
        return function.repeats(plan(), kept.supposes_finite)

    def on_failure(*args: Any) -> Any:
        repeat, _ = repeats()
        assert repeat is not None
        return repeat(*args)

    def watched(*args: Any) -> Any:
        _, watch = repeats()
        assert watch is not None
        return watch(*args)

    may_fail = options.may_repeat or kept.supposes_finite
    native = NativeFunction(
        lambda: compilation().lowered,
        name=function.plain_name,
        param_names=saved.machine.names,
        param_types=saved.machine.types,
        result_type=saved.machine.result,
        on_failure=on_failure if may_fail else None,
        watched=None if options.nans else watched,
        found=kept.native,
        places=places,
    )
    made = Specialisation(compilation, native, None, None, kept)
    made.key = kept_code.Key(saved.machine.key, places)
    made.reached, made.shelf = place.reach.digest, place
    pairs = zip(saved.machine.names, saved.given, strict=False)
    made.title = f"{function.plain_name}({', '.join(f'{n}: {t}' for n, t in pairs)})"
    if saved.updated is not None:
        names = saved.machine.names
        made.update(function.plain_name, names, saved.given, saved.updated)
    return made
