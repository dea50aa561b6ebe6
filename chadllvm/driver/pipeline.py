"""The stages in their order; `passes.py` has the passes of each.

A source program (`core`) is simplified, differentiated if a gradient or tangents are
asked for (`chad`), freed of functions and simplified again (`simplified`), lowered to
loops, and compiled. The checker runs between all passes of the core, and names the pass
that broke a program.

In the permanent mode (`optimize=0`) nothing is simplified, and functions are lowered as
values.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from chadllvm.chad.custom import Customs, settled
from chadllvm.chad.derived import derived, has_derivatives, has_tangents
from chadllvm.chad.forward import push_forward
from chadllvm.chad.gradient import pull_back, value_and_gradient
from chadllvm.chad.halves import halves
from chadllvm.chad.packing import packed
from chadllvm.chad.payers import check_paid
from chadllvm.checks.nans import name_reverse, name_tangents
from chadllvm.driver.passes import (
    APART,
    AROUND,
    DEBUG,
    DERIVATIVE,
    FINAL,
    FLATTEN,
    GROUPS,
    LOOPS,
    NAMED,
    NANS,
    NORMALISE,
    OPTIONAL,
    PLAIN,
    PRIMAL,
    REORDERS,
    SOURCE,
    TANGENTS,
    VALUES,
    WRITTEN,
    Pass,
)
from chadllvm.ir.check import check
from chadllvm.ir.defects import leave_out, stage
from chadllvm.ir.excerpt import nesting
from chadllvm.ir.loops import LoopFunction
from chadllvm.ir.loops_check import check_loops
from chadllvm.ir.term import Function, Program, Var
from chadllvm.ir.types import Type, has_float
from chadllvm.lower.boxed.lower import lower_boxed
from chadllvm.lower.lower import lower_function
from chadllvm.ops.heap import heaps_of
from chadllvm.simplify.ones import Axis, suppose_ones
from chadllvm.simplify.sharing import has_updates
from chadllvm.support.diagnostic import InternalError
from chadllvm.support.options import CompileOptions
from chadllvm.view.timing import timed


def _remedy(name: str) -> str:
    """What to do where a pass fails."""
    return leave_out(name) if name in OPTIONAL else ""


# Chooses, orders or adds results of a flattened function.
Select = Callable[[Function], Function]


@dataclass(frozen=True)
class Gradient:
    """A request for derivatives by these parameters (positions after flattening)."""

    wrt: tuple[int, ...]


@dataclass(frozen=True)
class Tangents:
    """A request for the results' tangents, given those of these parameters.

    With a gradient, that is forward mode over reverse mode. `select` may add to the
    results and the tangents behind them.
    """

    wrt: tuple[int, ...]
    select: Select = lambda function: function


# Whether the checker runs behind each pass, as in tests, and not where a group of them
# ends: it takes as long as a few of them do.
CHECKS_EACH = False


@dataclass
class Compilation:
    """The program at each stage, as far as it has come."""

    options: CompileOptions
    stages: dict[str, Program] = field(default_factory=dict)
    loops: LoopFunction | None = None
    # The arrays that hold what the reverse needs.
    tape: frozenset[Var] = frozenset()
    # What the nodes of each heap hold, as the source says it.
    contents: Mapping[str, tuple[Type, ...]] = field(default_factory=dict)
    # The passes that found something to do: without another one all would be the same.
    effective: set[str] = field(default_factory=set)
    # What each pass made last: it finds nothing more to do there.
    _settled: dict[str, Program] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.customs = Customs(self._rule)

    def runs(self, name: str) -> bool:
        """Whether a pass is run by these options."""
        is_allowed = self.options.arithmetic.reorder or name not in REORDERS
        return is_allowed and name not in self.options.disabled

    @property
    def supposes_finite(self) -> bool:
        """Whether it fails where a factor is not finite (`simplify/finite.py`)."""
        return "finite" in self.effective

    @property
    def lowered(self) -> LoopFunction:
        """The loops of a program that has come so far."""
        assert self.loops is not None
        return self.loops

    def run(self, program: Program, passes: Sequence[Pass]) -> Program:
        """Run passes, with the checker behind the last one, or behind each of them.

        Where there is a defect they are run again with the checker behind each, which
        tells whose it is.
        """
        verify = self.options.verify
        with timed(GROUPS.get(tuple(passes), "")):
            try:
                new = self._run(program, passes, each=verify and CHECKS_EACH)
                if verify and not CHECKS_EACH and new is not program:
                    with stage(passes[-1][0], given=program):
                        check(new, after=passes[-1][0])
            except InternalError:
                if verify and not CHECKS_EACH:
                    self._run(program, passes, each=True)
                raise
        return new

    def _run(self, program: Program, passes: Sequence[Pass], each: bool) -> Program:
        for name, apply in passes:
            if not self.runs(name) or self._settled.get(name) is program:
                continue
            with stage(name, _remedy(name), program):
                new = apply(program, self.options)
                if each and new is not program:
                    check(new, after=name)
            if new is not program:
                self.effective.add(name)
            program = self._settled[name] = new
            self.tape |= program.tape
        return program

    def normalised(self, program: Program) -> Program:
        """One function without products, calls and derivatives."""
        program = self.run(program, (*FLATTEN, *NAMED))
        if not any(has_derivatives(f.body) for f in program.functions):
            return self.run(program, NORMALISE)
        if has_updates(program):  # To inline all may make it very long.
            self.run(program, WRITTEN)
        program = self.run(program, AROUND)
        with stage("derived", given=program):
            program = derived(program, self._source, self._without, self.customs)
        return self.run(program, VALUES)

    def _rule(self, program: Program) -> Program:
        """A function with rules, or one of its rules."""
        program = self.run(program, DEBUG) if self.options.debug else program
        return self._source(self.normalised(program))

    def settled(self, program: Program) -> Program:
        """The program without rules: nobody asks for derivatives any more."""
        with stage("settled", given=program):
            new = settled(program, self.customs)
            if self.options.verify and new is not program:
                check(new, after="settled")
        return new

    @property
    def simplifies(self) -> bool:
        """Whether programs are made plain before they are differentiated.

        What that changes of a program changes the order in which its cotangents are
        added up.
        """
        options = self.options
        return (
            bool(options.optimize) and not options.nans and options.arithmetic.reorder
        )

    def _source(self, program: Program) -> Program:
        """A function as plain as the mode makes it."""
        program = self.run(program, VALUES)
        passes = (*SOURCE, *APART)
        return self.run(program, passes) if self.simplifies else program

    def _without(self, program: Program) -> Program:
        """A derivative without functions, so that it can be differentiated again."""
        self.check(program, "chad")
        self.check_payers(program)
        program = self.run(program, DERIVATIVE)
        return self.run(program, PLAIN) if self.simplifies else program

    def derived(self, program: Program, after: str) -> Program:
        """Check a derivative; it is shown as the stage `chad`."""
        self.check(program, after)
        self.stages["chad"] = program
        return program

    def check_payers(self, program: Program) -> None:
        """Check who pays for the cells of a derivative, if that is asked for."""
        if self.options.cost_law and self.simplifies:
            with stage("payers"):
                check_paid(program)

    def check(self, program: Program, after: str) -> None:
        """Check what a stage has made, if that is asked for."""
        if self.options.verify:
            with stage(after):
                check(program, after)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Without the search for cyclic garbage, which costs a third of a compilation.

    Programs are trees of many small objects that refer to each other one way only, and
    go away without it. If the collector is off already it is left as it is.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@stage("pipeline")
@collector_paused()
def compile_program(
    source: Program,
    gradient: Gradient | None,
    select: Select,
    options: CompileOptions,
    tangents: Tangents | None = None,
    ones: Sequence[Axis] = (),
) -> Compilation:
    """Compile the entry of a program to loops.

    `select` chooses and orders the results of the flattened function, whose results are
    the value's leaves followed by the gradients. The tangents of those that are chosen
    and hold reals come behind them. `ones` are sizes that are supposed to be 1.
    """
    done = Compilation(options, contents=_contents(source))
    done.stages["core"] = source
    done.check(source, "frontend")
    moves = tangents is not None or has_tangents(source)
    program = done.run(source, DEBUG) if options.debug else source
    program = done.normalised(program)
    if ones:
        program = suppose_ones(program, ones)
        done.check(program, "ones")
    derives = gradient is not None or tangents is not None
    if not derives:
        program = done.settled(program)
    if done.simplifies or (options.optimize and not options.nans and not derives):
        program = done.run(program, SOURCE)
    if done.simplifies and gradient is not None:
        program = done.run(program, PRIMAL)
    if gradient is not None:
        with stage("chad", given=program):
            entry = value_and_gradient(program.entry, gradient.wrt, done.customs)
        program = Program((entry,))
        program = name_reverse(program) if options.nans else program
    program = Program((select(program.entry),))
    if tangents is None:
        program = done.settled(program)
    program = done.derived(program, "chad")
    if gradient is not None:
        done.check_payers(program)
    # Forward mode has no rule for functions, so that there they go in any mode.
    if options.nans and tangents is None:
        program = done.run(program, NANS)
    if gradient is not None and (options.optimize or tangents is not None):
        program = done.run(program, DERIVATIVE)
    if tangents is not None:
        before = program
        with stage("forward", given=program):
            entry = push_forward(program.entry, tangents.wrt, done.customs)
        program = done.settled(Program((tangents.select(entry),)))
        program = done.derived(program, "forward")
        if options.nans:
            program = done.run(name_tangents(program, before), NANS)
        if options.optimize:
            program = done.run(program, DERIVATIVE)
    if (moves or gradient is not None) and options.may_repeat:
        program = done.run(program, TANGENTS)
    if options.optimize:
        program = done.run(program, FINAL)
    done.stages["simplified"] = program
    done.loops = _lower(program.entry, done)
    return done


@stage("pipeline")
@collector_paused()
def compile_halves(
    source: Program, wrt: tuple[int, ...], options: CompileOptions
) -> tuple[Compilation, Compilation] | None:
    """Compile the pull-back of the entry in the halves of `chad/halves.py`.

    The first gives the results, and behind them what the second takes in front of the
    cotangents of the results that hold reals; that gives those of the parameters `wrt`.
    None if that is not numbers and arrays of numbers.
    """
    done = Compilation(options, contents=_contents(source))
    moves = has_tangents(source)
    program = done.normalised(source)
    if done.simplifies:
        program = done.run(done.run(program, SOURCE), PRIMAL)
    results = program.entry.body.results
    reals = [k for k, result in enumerate(results) if has_float(result.type)]
    with stage("chad", given=program):
        whole = pull_back(program.entry, wrt, reals, done.customs)
    program = done.derived(done.settled(Program((whole,))), "chad")
    program = done.run(program, DERIVATIVE)
    with stage("halves", given=program):
        cut = packed(halves(program.entry, len(results), len(reals), apart=True))
    if cut is None:
        return None
    return (
        _compiled_half(cut.early, done, moves),
        _compiled_half(cut.late, done, moves),
    )


def _compiled_half(function: Function, whole: Compilation, moves: bool) -> Compilation:
    options = whole.options
    half = Compilation(options, tape=whole.tape, contents=whole.contents)
    program = Program((function,))
    half.check(program, "halves")
    if moves and options.may_repeat:
        program = half.run(program, TANGENTS)
    program = half.stages["simplified"] = half.run(program, FINAL)
    half.loops = _lower(program.entry, half)
    return half


def _contents(source: Program) -> dict[str, tuple[Type, ...]]:
    """What the nodes of each heap hold; at the border it is taken apart already."""
    found: dict[str, tuple[Type, ...]] = {}
    for function in source.functions:
        for name, types in heaps_of(function.body).items():
            found[name] = min(types, found.get(name, types), key=len)
    return found


def _lower(function: Function, done: Compilation) -> LoopFunction:
    options = done.options
    with stage("lower", given=Program((function,))):
        if not options.optimize:
            loops = lower_boxed(function, options.arithmetic)
        else:
            loops = lower_function(
                function,
                done.tape,
                done.contents,
                options.arithmetic,
                keeps_lines=options.debug_info,
            )
    depth = partial(nesting, Program((function,)))
    for name, change in LOOPS if options.optimize else ():
        if done.runs(name):
            with stage(name, _remedy(name), depth=depth):
                new = change(loops, options)
            if new is not loops:
                done.effective.add(name)
            loops = new
    if options.verify:
        with stage("lower", depth=depth):
            check_loops(loops)
    return replace(
        loops,
        sanitize=options.sanitize,
        debug_info=options.debug_info,
        cpu=options.cpu,
    )
