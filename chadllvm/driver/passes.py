"""The passes of each stage in their order, and which of them rely on others.

A pass is a row of a table, by its name. `AFTER` says what may not change places, which
the tests check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from chadllvm.checks.checks import add_checks
from chadllvm.checks.nans import check_nans
from chadllvm.closure.convert import convert_closures
from chadllvm.ir.loops import LoopFunction
from chadllvm.ir.term import Program
from chadllvm.lower.additions import additions
from chadllvm.lower.apart import apart
from chadllvm.lower.chunks.parallel import parallel
from chadllvm.lower.diagonals import diagonals
from chadllvm.lower.distribute import distribute
from chadllvm.lower.ends import ends
from chadllvm.lower.fills import fills
from chadllvm.lower.interchange import interchange
from chadllvm.lower.lanes import lanes
from chadllvm.lower.ranges import ranges
from chadllvm.lower.registers import registers
from chadllvm.lower.release import release
from chadllvm.lower.settle import settle
from chadllvm.lower.singles import singles
from chadllvm.lower.split import split_loops
from chadllvm.lower.stages import stages
from chadllvm.lower.strands.strands import strands
from chadllvm.lower.tasks import tasks
from chadllvm.simplify.accumulate import accumulate
from chadllvm.simplify.bounds import bounds
from chadllvm.simplify.cells import cells
from chadllvm.simplify.columns import columns
from chadllvm.simplify.constants import fold_constants
from chadllvm.simplify.copies import copies
from chadllvm.simplify.correlated import correlated
from chadllvm.simplify.cse import cse
from chadllvm.simplify.dce import dce
from chadllvm.simplify.decided import decided
from chadllvm.simplify.displays import displays
from chadllvm.simplify.elements import elements
from chadllvm.simplify.equal import equal
from chadllvm.simplify.extremes import extremes
from chadllvm.simplify.finite import finite
from chadllvm.simplify.flatten import flatten
from chadllvm.simplify.fuse import fuse
from chadllvm.simplify.gather import gather
from chadllvm.simplify.hoist import hoist
from chadllvm.simplify.inductions import inductions
from chadllvm.simplify.inline import around_pullbacks, as_written, inline
from chadllvm.simplify.invariants import invariants
from chadllvm.simplify.lasting import lasting, lasting_elements
from chadllvm.simplify.locations import locations
from chadllvm.simplify.pointwise import pointwise
from chadllvm.simplify.promote import promote
from chadllvm.simplify.recall import recall
from chadllvm.simplify.recursion import recursion
from chadllvm.simplify.references import references, separate
from chadllvm.simplify.roots import roots
from chadllvm.simplify.rows import rows
from chadllvm.simplify.scatter import scatter
from chadllvm.simplify.shapes import kept_states, shapes
from chadllvm.simplify.sharing import sharing
from chadllvm.simplify.shifts import shifts
from chadllvm.simplify.sink import sink
from chadllvm.simplify.slices import slices
from chadllvm.simplify.stretch import stretch
from chadllvm.simplify.sums import sums
from chadllvm.simplify.tabulate import tabulate
from chadllvm.simplify.tails import tails
from chadllvm.simplify.views import views
from chadllvm.support.options import CompileOptions

Pass = tuple[str, Callable[[Program, CompileOptions], Program]]


LoopPass = tuple[str, Callable[[LoopFunction, CompileOptions], LoopFunction]]


def _plain(run: Callable[[Program], Program]) -> Pass:
    return run.__name__, lambda program, _: run(program)


def _speculates(run: Callable[..., Program]) -> Pass:
    return run.__name__, lambda program, o: run(program, speculate=o.speculates)


def _loops(run: Callable[[LoopFunction], LoopFunction]) -> LoopPass:
    return run.__name__, lambda loops, _: run(loops)


def _threads(run: Callable[..., LoopFunction]) -> LoopPass:
    return run.__name__, lambda loops, o: run(loops, threads=o.parallel)


FOLD: Pass = (
    fold_constants.__name__,
    lambda program, o: fold_constants(program, powers=o.arithmetic.own_functions),
)

FORWARD: Pass = (cse.__name__, lambda program, _: cse(program, stores=True))

# What looks at the program as the user wrote it.
DEBUG: tuple[Pass, ...] = (_plain(add_checks),)

# Who makes a NaN that nobody asked for is no matter.
NANS: tuple[Pass, ...] = (_plain(dce), _plain(check_nans))

# Products and sums go first, then what functions call themselves by their names.
FLATTEN: tuple[Pass, ...] = (_plain(flatten), _plain(recursion))

# What refuses updates that mean something else in Python. It looks at what is run, as
# it was written: a derivative is made of values, and so are the arrays it returns.
WRITTEN: tuple[Pass, ...] = (_plain(as_written), _plain(sharing))

# What calls a function that is differentiated otherwise than the others do.
AROUND: tuple[Pass, ...] = (_plain(around_pullbacks),)

# What tells of operations which they are, as the user wrote them: what a derivative is
# made of may look like that in one mode and not in another.
NAMED: tuple[Pass, ...] = (_plain(roots),)

# What leaves one function without calls, in which updates make new arrays.
VALUES: tuple[Pass, ...] = (
    *FLATTEN,
    _plain(inline),
    _plain(invariants),
    _plain(views),
)

# The same for a program without derivatives in it.
NORMALISE: tuple[Pass, ...] = (
    *FLATTEN,
    _plain(inline),
    _plain(sharing),
    _plain(invariants),
    _plain(views),
)

# What makes the source's loops as plain as they can be. What is here is done once for
# the primal and its derivative, so bounds are proved here.
SOURCE: tuple[Pass, ...] = (
    _plain(cse),
    FOLD,
    _speculates(stretch),
    _plain(dce),
    _plain(displays),
    _plain(slices),
    _plain(locations),
    _plain(references),
    _plain(slices),
    _speculates(rows),
    _plain(shapes),
    (tails.__name__, lambda program, o: tails(program, exact=o.strict)),
    _plain(hoist),
    _plain(cse),
    _plain(inductions),
    FOLD,
    _plain(accumulate),
    _plain(scatter),
    _plain(shapes),
    _speculates(equal),
    _speculates(bounds),
    _plain(decided),
    FOLD,
    FORWARD,
    _plain(promote),
    _plain(accumulate),
    _plain(sums),
    _plain(extremes),
    _plain(tabulate),
    _plain(hoist),
    _plain(dce),
)

# What gives arrays that CHAD makes cells for variables of their own.
APART: tuple[Pass, ...] = (_plain(separate), _plain(fold_constants), _plain(dce))

# What is done for the sake of CHAD alone. Loops that become one have one
# backpropagator, for which less has to be kept than for each of them.
PRIMAL: tuple[Pass, ...] = (
    _plain(shifts),
    _plain(separate),
    _plain(elements),
    _speculates(fuse),
    FOLD,
    _plain(dce),
)

# CHAD leaves cotangents that nobody asked for, and functions, which `convert_closures`
# turns into what they capture: the less they use by then, the smaller the tape.
DERIVATIVE: tuple[Pass, ...] = (
    _plain(dce),
    FOLD,
    _plain(shapes),
    _plain(hoist),
    (
        convert_closures.__name__,
        lambda program, _: convert_closures(program, kept_states, lasting_elements),
    ),
    _plain(invariants),
)

# What makes a derivative plain that is to be differentiated again.
PLAIN: tuple[Pass, ...] = (
    _plain(cells),
    FOLD,
    _plain(cse),
    _plain(dce),
)

# What tangents and cotangents need not ask.
TANGENTS: tuple[Pass, ...] = (
    FOLD,
    _plain(finite),
)

# What the derivative's loops need not do.
FINAL: tuple[Pass, ...] = (
    _plain(cells),
    FOLD,
    _plain(cse),
    _plain(dce),
    _plain(lasting),
    _plain(dce),
    _plain(pointwise),
    _plain(copies),
    _plain(cells),
    _speculates(fuse),
    _plain(columns),
    _plain(hoist),
    FOLD,
    _plain(cse),
    _plain(recall),
    _plain(correlated),
    _plain(dce),
    _plain(pointwise),
    _plain(cells),
    _plain(gather),
    _plain(dce),
    _plain(sink),
)


# What loops need not do, and who does it: they are exchanged, run side by side, on
# threads, in strips, and split.
LOOPS: tuple[LoopPass, ...] = (
    _loops(settle),
    _threads(tasks),
    _loops(ranges),
    _threads(parallel),
    _threads(strands),
    _loops(interchange),
    _loops(registers),
    _loops(lanes),
    _loops(diagonals),
    _loops(apart),
    _loops(additions),
    _loops(stages),
    _loops(distribute),
    _loops(split_loops),
    _loops(singles),
    _loops(ends),
    _loops(release),
    _threads(fills),
)

# The passes that change the order in which something is added up, or the sign of a zero
# that is: they are left out where the order is the program's.
REORDERS = frozenset(
    run.__name__
    for run in (
        *(accumulate, scatter, sums, shifts, finite),
        *(cells, pointwise, fuse, columns, gather),
        *(settle, parallel, strands, interchange, registers, lanes, diagonals),
        *(apart, additions, stages, distribute, split_loops, singles, tasks),
    )
)

# The passes that a program compiles without.
OPTIONAL = frozenset(name for name, _ in (*SOURCE, *PRIMAL, *TANGENTS, *FINAL, *LOOPS))

# A pass relies on what others make: in a sequence, it first runs after them.
AFTER: Mapping[str, tuple[str, ...]] = {
    # Functions that call themselves are told by names, and functions are inlined then.
    "recursion": ("flatten",),
    "inline": ("recursion",),
    # Updates are judged by what Python would do, and arrays are one by value then.
    "sharing": ("inline",),
    "views": ("sharing",),
    "invariants": ("inline", "convert_closures"),
    # Broadcasting leaves index maps, which are parts to be read in place.
    "slices": ("stretch", "displays"),
    "references": ("displays", "locations"),
    # Rows that are supposed to be there say sizes; sizes are compared, then indices.
    "shapes": ("rows",),
    "equal": ("shapes",),
    "bounds": ("hoist", "cse", "equal"),
    "decided": ("bounds",),
    # What is the same in all calls stands in front of the loop, which is counted then.
    "hoist": ("tails",),
    "inductions": ("hoist",),
    # Comparable indices tell which places are the same.
    "promote": ("bounds",),
    "extremes": ("promote",),
    "sums": ("accumulate",),
    "tabulate": ("bounds", "promote"),
    # Loops are run together before arrays go and before cells are gathered.
    "fuse": ("elements", "finite", "lasting"),
    "columns": ("fuse",),
    "gather": ("fuse", "columns"),
    # Nothing moves bindings any more.
    "sink": ("gather",),
    # What makes loops is done before they run side by side, and these before innermost
    # ones are split.
    "registers": ("interchange",),
    "lanes": ("parallel", "strands", "interchange", "registers"),
    "diagonals": ("lanes",),
    "distribute": ("lanes",),
    "split_loops": ("lanes", "additions", "stages"),
    "singles": ("lanes", "split_loops"),
    "ends": ("split_loops", "singles"),
    # Nothing moves statements any more.
    "release": ("ends",),
    "fills": ("release",),
}


# What groups are called where it is shown how long they take.
GROUPS = {
    group: name.lower()
    for name, group in [*globals().items()]
    if name.isupper() and isinstance(group, tuple)
}
