"""A loop function → an object file, by way of LLVM; and LLVM's linker."""

from __future__ import annotations

import functools
import re
import weakref
from collections.abc import Mapping, Sequence

import llvmlite.binding as llvm

from chadllvm.backend import symbols
from chadllvm.backend.layout import HEAD, PLAIN
from chadllvm.backend.machine import Native, Site
from chadllvm.backend.runtime import runtime
from chadllvm.ir.defects import stage
from chadllvm.ir.loops import LoopFunction
from chadllvm.llvm import optimize, target, vecmath
from chadllvm.llvm import state as emitted
from chadllvm.llvm.emit import Module, emit, with_linkage
from chadllvm.llvm.entry import ArrayLayout, emit_entry, entry_symbol
from chadllvm.llvm.optimize import Effort
from chadllvm.llvm.target import Target
from chadllvm.support.diagnostic import Span
from chadllvm.support.levels import LEVELS, NATIVE


@functools.cache
def host_target() -> Target:
    """The processor we run on, with the vector functions we can link."""
    return target.host(symbols.has_symbol)


@functools.cache
def target_of(cpu: str) -> Target:
    """This machine with its own processor, or with that of a level of x86-64."""
    host = host_target()
    if cpu == NATIVE:
        return host
    features = LEVELS[cpu]
    pairs = tuple((feature, True) for feature in features)
    return Target(host.triple, cpu, pairs, vector_library(features))


def vector_library(features: Sequence[str]) -> frozenset[str]:
    """What this machine's libmvec has for processors with these features."""
    every = vecmath.vector_symbols(dict.fromkeys(features, True)).values()
    known = {symbol for names in every for symbol in names}
    return frozenset(filter(symbols.has_symbol, known))


@stage("llvm")
def module_of(function: LoopFunction, name: str) -> Module:
    """The module of a function, as it is shown."""
    to = target_of(function.cpu)
    return emit(function, _symbol(name), to.vector, to.width, to.convention)


@stage("llvm")
def compiled(
    function: LoopFunction,
    name: str,
    places: list[Span],
    effort: Effort | None = None,
) -> Native:
    """The machine code of a function, with an entry for calls from Python.

    The places that its failures name are those of a list, which may grow.
    """
    module = module_of(function, name)
    entry = emit_entry(function, module.symbol, ArrayLayout(HEAD, PLAIN))
    effort = effort or optimize.effort_for(module.text)
    to = target_of(function.cpu)
    # Only the entry is called from outside.
    inside = with_linkage(module.text, module.symbol, "internal")
    code = optimize.compile_text(inside + entry, to, effort)
    numbers = {place: k for k, place in enumerate(places)}
    sites = [_site(site, numbers) for site in module.sites]
    places[:] = numbers
    return Native(
        entry_symbol(module.symbol),
        code,
        tuple(sites),
        module.data,
        module.math,
    )


def _site(site: emitted.Site, numbers: dict[Span, int]) -> Site:
    failure = site.failure
    place = numbers.setdefault(failure.span, len(numbers))
    values = tuple(str(ty) for ty in site.values)
    return Site(failure.kind, failure.message, failure.own, place, values)


@stage("llvm")
def optimised_text(module: Module, cpu: str, effort: Effort | None = None) -> str:
    """The module after LLVM's optimisations."""
    effort = effort or optimize.effort_for(module.text)
    return str(optimize.optimized(module.text, target_of(cpu), effort))


@stage("llvm")
def assembly(module: Module, cpu: str, effort: Effort | None = None) -> str:
    """The machine code as assembly."""
    effort = effort or optimize.effort_for(module.text)
    return optimize.assembly(module.text, target_of(cpu), effort)


def _symbol(name: str) -> str:
    """A symbol that is no function of a library."""
    return "chad_fn_" + re.sub(r"[^A-Za-z0-9_]", "_", name)


class Library:
    """The code of an object that only a real linker can read, in memory.

    `own` are the addresses of what belongs to this object and to this process.
    """

    def __init__(self, native: Native, own: Mapping[str, int]) -> None:
        jit, self._tracker = _linked(native, own)
        weakref.finalize(self, _dispose, jit, self._tracker)

    def __getitem__(self, symbol: str) -> int:
        """The address of the function to call."""
        address: int = self._tracker[symbol]
        return address


def _linked(
    native: Native, own: Mapping[str, int]
) -> tuple[llvm.LLJIT, llvm.ResourceTracker]:
    builder = llvm.JITLibraryBuilder()
    builder.add_object_img(native.code)
    for name, address in {**_library(native.math), **own}.items():
        builder.import_symbol(name, address)
    builder.export_symbol(native.symbol)
    jit = llvm.create_lljit_compiler(use_jit_link=True)
    return jit, builder.link(jit, native.symbol)


def _library(math: Sequence[str]) -> dict[str, int]:
    """The addresses of the libraries' functions that code may call."""
    named = {name: symbols.address(name) for name in math}
    return {
        **symbols.standard(),
        **runtime().symbols(),
        **{name: place for name, place in named.items() if place is not None},
    }


def _dispose(jit: llvm.LLJIT, tracker: llvm.ResourceTracker) -> None:
    tracker.close()
    jit.close()
