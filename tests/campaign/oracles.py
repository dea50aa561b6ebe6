"""The oracles of values: plain Python, the interpreter, and every way to compile."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import chadllvm as cl
from chadllvm.frontend import specialise
from chadllvm.ir.check import check
from chadllvm.ir.interp import Interpreter, ProgramError
from chadllvm.ir.value import from_value, to_value
from tests.campaign.close import difference
from tests.campaign.judge import AGREES, Judged, Verdict, skipped
from tests.campaign.outcome import Outcome, outcome
from tests.campaign.values import leaves
from tests.interpreted_results import bits

# For the interpreter: a program that takes longer tells no more.
INTERPRETED = 5

ARITHMETIC = ("ZeroDivisionError", "OverflowError", "ValueError", "FloatingPointError")

SANITIZED = cl.CompileOptions(sanitize=True)

# Arguments that the interpreter is not given.
OTHERS = ("Leaf", "Node", "Chain", "Spring")

# What NumPy says of a reduction along an axis of no elements, without results too.
OF_NOTHING = ("zero-size array to reduction", "of an empty sequence")

# What `math` says outside of a domain, where compiled code goes on.
OF_MATH = ("math domain error", "math range error", "in fsum")

# What is said of a list that is taken to be an array.
OF_SIZES = ("do not match", "rows of different lengths")

# What it says of an array of one dimension that a list of no rows has become.
WITHOUT_ROWS = (
    "at least two dimensions",
    "object is not iterable",
    "out of bounds for array",
)

# What Python's `math` or the runtime have written themselves, and what is made of that.
OTHER_FUNCTIONS = (
    *("gamma", "sinc", "round", "around", "erf"),
    *("beta", "psi", "special.iv", "stats."),
)


@dataclass(frozen=True)
class Oracle:
    """`every` so many programs are asked it, unless all are asked for."""

    name: str
    every: int
    judge: Callable[[Judged], Verdict]


ORACLES: list[Oracle] = []
Judge = Callable[[Judged], Verdict]


def oracle(name: str, every: int = 1) -> Callable[[Judge], Judge]:
    """Decorator: enter an oracle."""

    def enter(judge: Judge) -> Judge:
        ORACLES.append(Oracle(name, every, judge))
        return judge

    return enter


def compare(
    judged: Judged, found: Outcome, right: Outcome, slack: float = 1.0
) -> Verdict:
    """Is an outcome the right one, as far as rounding allows?"""
    if right.kind in ("refused", "internal", "slow"):
        return skipped(right.kind)
    failed = judged.failed(found, right)
    if failed is not None:
        if failed.status == "differs" and judged.spread.is_ill:
            return Verdict("ill", failed.detail)
        return failed
    if not right.is_value:
        return Verdict("differs", f"a value for {right.detail}")
    gap = difference(found.value, right.value, judged.spread, slack * judged.unit)
    if not gap:
        return AGREES
    return Verdict("ill" if judged.spread.is_ill else "differs", gap)


@oracle("python")
def plain_python(judged: Judged) -> Verdict:
    """Where both differ, debug mode, or the arithmetic of NumPy, has to tell why."""
    right, found = judged.python, judged.default
    if right.kind == "slow":
        return skipped("slow")
    if right.kind in ("refused", "internal"):  # A derivative that Python asks for.
        verdict = judged.failed(found) or AGREES
        if verdict.status in ("refused", "internal"):
            return verdict
        return skipped("Python compiles derivatives")
    verdict = compare(judged, found, right)
    if verdict.status not in ("differs", "ill"):
        return verdict
    reason = _documented(judged, right, found, verdict.detail)
    return Verdict("documented", reason) if reason else verdict


def _documented(judged: Judged, right: Outcome, found: Outcome, gap: str) -> str:
    """Why plain Python may do something else, or nothing."""
    if found.detail == "MemoryError" and right.detail in (
        "ValueError",
        "OverflowError",
    ):
        return "a size beyond memory"
    if any(words in str(right.value) for words in OF_MATH):
        return f"Python stops: {right.detail}"
    checked = judged.with_options(debug=True)
    if checked.kind == "raised" and checked.detail == right.detail:
        return f"Python stops: {right.detail}"
    if checked.detail == "OverflowError":
        return "integers wrap around"
    if right.is_value and any(leaf.dtype.kind in "cO" for leaf in leaves(right.value)):
        return "complex or large integers"
    if right.detail == "TypeError" and "complex" in str(right.value):
        return "complex numbers"
    if "must not contain infs or NaNs" in str(right.value):
        return "SciPy checks that numbers are finite"
    if "sizes" in judged.flags and any(w in str(found.value) for w in OF_SIZES):
        return "a list is taken to be an array"
    if str(found.value).startswith("cannot convert float") and right.is_value:
        return "NumPy makes integers of NaN"
    if any(words in str(right.value) for words in OF_NOTHING):
        return "no result has an element of nothing"
    has_quantiles = any(word in judged.text for word in ("quantile", "percentile"))
    if "axis 0 with size 0" in str(right.value) and has_quantiles:
        return "NumPy has no quantile of nothing"
    is_apart = "shape" in gap or any(w in str(right.value) for w in WITHOUT_ROWS)
    if is_apart and _has_empty(judged):
        return "a list of no rows has fewer dimensions in Python"
    if "doesn't define __round__" in str(right.value):
        return "NumPy's array without dimensions is no number"
    if right.detail == "TypeError" and "pow()" in str(right.value):
        return "NumPy's integers have no power of three arguments"
    if "strict=True" in judged.text and "do not match" in str(found.value):
        return "zip compares sizes before the loop"
    if found.detail == "ZeroDivisionError" and _divides_by_zero(judged):
        return "NumPy divides integers by zero"
    return ""


def _has_empty(judged: Judged) -> bool:
    """Whether an argument is an array without elements."""
    return any(isinstance(arg, np.ndarray) and not arg.size for arg in judged.args)


def _divides_by_zero(judged: Judged) -> bool:
    def call() -> Any:
        with np.errstate(divide="raise"):
            return judged.loaded.plain(*judged.loaded.plain_args)

    return outcome(call).detail == "FloatingPointError"


@oracle("interpreter")
def interpreter(judged: Judged) -> Verdict:
    """The frontend's program, run by the reference interpreter."""
    if why := not_interpreted(judged):
        return skipped(why)
    found = outcome(lambda: _interpreted(judged), INTERPRETED)
    return compare(judged, found, judged.default)


def not_interpreted(judged: Judged) -> str:
    """Why the interpreter is not asked, or nothing."""
    if "derivatives" in judged.flags:
        return "derivatives inside"
    if any(type(arg).__name__ in OTHERS for arg in judged.args):
        return "recursive data and objects"
    return ""


def _interpreted(judged: Judged) -> Any:
    function = judged.compiled()
    types = function._types(judged.args)
    program = specialise(function.py_func, types)
    check(program, after="frontend")
    values = [to_value(a, ty) for a, ty in zip(judged.args, types, strict=True)]
    try:
        (result,) = Interpreter(program).run(*values)
    except ProgramError as error:
        raise error.kind(str(error)) from None
    (ty,) = program.entry.body.types
    return from_value(result, ty)


@oracle("optimize=0")
def permanent_mode(judged: Judged) -> Verdict:
    return compare(judged, judged.with_options(optimize=0), judged.default)


@oracle("debug", 2)
def debug_mode(judged: Judged) -> Verdict:
    """It may raise for arithmetic; else it does the same."""
    found = judged.with_options(debug=True)
    is_arithmetic = found.kind == "raised" and found.detail in ARITHMETIC
    if is_arithmetic and judged.default.detail != found.detail:
        return Verdict("documented", f"arithmetic: {found.detail}")
    return compare(judged, found, judged.default)


@oracle("sanitized", 4)
def sanitized(judged: Judged) -> Verdict:
    """Every access of native code is in its buffer, and the value is the same."""
    return compare(judged, judged.with_options(options=SANITIZED), judged.default)


@oracle("sequential", 4)
def without_threads(judged: Judged) -> Verdict:
    """One thread, two, and a compilation without them, give the same bits."""
    alone = judged.with_options(parallel=False)
    verdict = compare(judged, alone, judged.default)
    if verdict.is_failure or not (alone.is_value and judged.default.is_value):
        return verdict
    bits = [leaf.tobytes() for leaf in leaves(alone.value)]
    try:
        for count in (1, 2):
            cl.set_num_threads(count)
            found = outcome(lambda: judged.compiled()(*judged.args))
            if not found.is_value or [v.tobytes() for v in leaves(found.value)] != bits:
                return Verdict("differs", f"other bits on {count} threads")
    finally:
        cl.set_num_threads(None)
    return verdict


@oracle("strict", 2)
def strict_mode(judged: Judged) -> Verdict:
    """Bit for bit the interpreter's."""
    if why := not_interpreted(judged):
        return skipped(why)
    found = judged.with_options(strict=True)
    right = outcome(lambda: _interpreted(judged), INTERPRETED)
    verdict = compare(judged, found, right)
    if verdict.status != "agrees" or not found.is_value or has_others(judged):
        return verdict
    return same_bits(zip(leaves(found.value), leaves(right.value), strict=True))


def has_others(judged: Judged) -> bool:
    """Whether a function is called that Python has in another form than libm."""
    return any(name in judged.text for name in OTHER_FUNCTIONS)


def same_bits(pairs: Iterable[tuple[Any, Any]]) -> Verdict:
    """Whether what was found is what is right, to the bit."""
    for found, right in pairs:
        if bits(found) != bits(right):
            return Verdict("differs", f"other bits: {found!r} for {right!r}"[:150])
    return AGREES


@oracle("export", 40)
def exported(judged: Judged) -> Verdict:
    """The function of a library, loaded again."""
    if judged.default.kind not in ("value", "raised") or judged.has_objects:
        return skipped("no value, or an object")

    def call() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "libprogram")
            functions = {"f": (judged.compiled(), judged.args)}
            cl.export(functions, path, cpu="native")
            return cl.load(path, judged.loaded.classes).f(*judged.args)

    return compare(judged, outcome(call, 40), judged.default)
