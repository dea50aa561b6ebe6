"""The oracles of derivatives: tangents, differences, the permanent mode, Hessians."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

import chadllvm as cl
from tests.campaign.close import Spread, difference, spread
from tests.campaign.differences import slope_of
from tests.campaign.judge import AGREES, Judged, Verdict, skipped
from tests.campaign.oracles import (
    SANITIZED,
    compare,
    has_others,
    not_interpreted,
    oracle,
    same_bits,
)
from tests.campaign.outcome import Outcome, outcome
from tests.campaign.values import directions, dot, leaves, moved, nudged
from tests.interpreted_results import gradient_pairs


class Slopes:
    """The derivatives of a program along random directions."""

    def __init__(self, judged: Judged) -> None:
        self.judged = judged
        self.tangents = judged.tangents
        random = np.random.default_rng(3)
        value = judged.default.value
        self.cotangent = 1.0 if judged.is_scalar else directions(value, random)

    def pulled(self, args: Any, **options: Any) -> Any:
        """A cotangent for each argument with reals."""
        function = self.judged.compiled(**options)
        if self.judged.is_scalar:
            return cl.value_and_grad(function, argnums=self.judged.wrt)(*args)[1]
        _, pullback = cl.vjp(function, *args)
        return tuple(pullback(self.cotangent)[k] for k in self.judged.wrt)

    def pushed(self, args: Any) -> float:
        """The tangent of the result, times the cotangent."""
        _, tangent = cl.jvp(self.judged.compiled(), args, self.tangents)
        return dot(self.cotangent, tangent)

    def along(self, pulled: Any) -> float:
        return sum(
            dot(ct, self.tangents[k])
            for ct, k in zip(pulled, self.judged.wrt, strict=True)
        )

    @cached_property
    def reverse(self) -> Outcome:
        return outcome(lambda: self.pulled(self.judged.args))

    @cached_property
    def near(self) -> list[Any]:
        """The cotangents where the arguments are moved a little."""
        found, random = [], Random(5)
        for size in (1.0, 2.0):
            args = nudged(self.judged.args, random, size)
            each = outcome(lambda args=args: self.pulled(args))
            if each.is_value:
                found.append(each.value)
        return found

    @cached_property
    def spread(self) -> Spread:
        if len(self.near) < 2:
            return Spread(is_ill=True)
        return spread(self.reverse.value, self.near)

    @cached_property
    def allowed(self) -> float:
        """What rounding may do to the slope along the direction."""
        slopes = [self.along(pulled) for pulled in (self.reverse.value, *self.near)]
        unit = 1e-4 if self.judged.is_single else 1e-9
        pairs = zip(self.reverse.value, self.judged.wrt, strict=True)
        size = sum(
            float(np.sum(np.abs(a.astype(float))))
            for ct, _ in pairs
            for a in leaves(ct)
            if a.dtype.kind == "f"
        )
        return 100.0 * (max(slopes) - min(slopes)) + unit * (1.0 + size)


def slopes_of(judged: Judged) -> Slopes:
    if not hasattr(judged, "slopes"):
        judged.slopes = Slopes(judged)  # type: ignore[attr-defined]
    found: Slopes = judged.slopes  # type: ignore[attr-defined]
    return found


def _unready(judged: Judged) -> Verdict | None:
    if not judged.default.is_value or not judged.wrt:
        return skipped("no value")
    if judged.has_objects and not judged.is_scalar:
        return skipped("vjp takes no objects")
    value = judged.default.value
    if not any(leaf.dtype.kind == "f" for leaf in leaves(value)):
        return skipped("no reals")
    return None


@oracle("gradient/jvp")
def against_tangents(judged: Judged) -> Verdict:
    """⟨ct, J t⟩ both ways; a gradient of what fails fails alike."""
    if (
        judged.default.kind == "raised"
        and judged.python.kind == "raised"
        and judged.wrt
    ):
        is_odd = len(judged.text) % 2 and not judged.has_objects
        function = cl.vjp if is_odd else cl.jvp
        args = judged.args if function is cl.vjp else (judged.args, judged.tangents)
        return compare(
            judged, outcome(lambda: function(judged.compiled(), *args)), judged.default
        )
    if (unready := _unready(judged)) is not None:
        return unready
    slopes = slopes_of(judged)
    if (failed := judged.failed(slopes.reverse)) is not None:
        return failed
    forward = outcome(lambda: slopes.pushed(judged.args))
    if (failed := judged.failed(forward)) is not None:
        return failed
    found = slopes.along(slopes.reverse.value)
    return _same_slope(slopes, found, forward.value, "gradient", "jvp")


def _same_slope(
    slopes: Slopes, found: float, right: float, one: str, other: str
) -> Verdict:
    if not (np.isfinite(found) and np.isfinite(right)):
        return skipped("not finite")
    if abs(found - right) <= slopes.allowed:
        return AGREES
    ill = slopes.spread.is_ill or slopes.judged.spread.is_ill
    return Verdict("ill" if ill else "differs", f"{one} {found!r}, {other} {right!r}")


def _against_mode(judged: Judged, **options: Any) -> Verdict:
    """The gradient is that of a compilation with other options."""
    if (unready := _unready(judged)) is not None:
        return unready
    slopes = slopes_of(judged)
    if not slopes.reverse.is_value:
        return skipped("no gradient")
    found = outcome(lambda: slopes.pulled(judged.args, **options))
    if (failed := judged.failed(found)) is not None:
        return failed
    gap = difference(
        slopes.reverse.value, found.value, slopes.spread, 10.0 * judged.unit
    )
    if not gap:
        return AGREES
    ill = slopes.spread.is_ill or judged.spread.is_ill
    return Verdict("ill" if ill else "differs", gap)


@oracle("gradient/optimize=0", 3)
def against_permanent_mode(judged: Judged) -> Verdict:
    return _against_mode(judged, optimize=0)


@oracle("gradient/sanitized", 4)
def against_sanitized_code(judged: Judged) -> Verdict:
    return _against_mode(judged, options=SANITIZED)


@oracle("gradient/strict", 2)
def against_interpreter(judged: Judged) -> Verdict:
    """Bit for bit what the interpreter finds of the derivative that CHAD makes."""
    if (unready := _unready(judged)) is not None:
        return unready
    if why := not_interpreted(judged):
        return skipped(why)
    if not judged.is_scalar or has_others(judged):
        return skipped("no number, or a function that Python has in another form")
    if not all(map(_is_plain, judged.args)):
        return skipped("containers")
    derivative = cl.value_and_grad(judged.compiled(strict=True), argnums=judged.wrt)
    found = outcome(lambda: gradient_pairs(derivative, judged.wrt, judged.args))
    if (failed := judged.failed(found)) is not None:
        return failed
    return same_bits((given, right) for right, given in found.value)


def _is_plain(value: Any) -> bool:
    """Whether a value is a number or an array of numbers."""
    if isinstance(value, np.ndarray):
        return value.dtype.names is None
    return isinstance(value, bool | int | float | np.number)


def _smooth(judged: Judged) -> Verdict | None:
    """Differences say nothing of hidden slopes, of f32, and of hostile numbers."""
    if (unready := _unready(judged)) is not None:
        return unready
    if "hides" in judged.flags:
        return skipped("a derivative is stopped")
    if judged.is_single:
        return skipped("single precision")
    large = [
        np.max(np.abs(leaf), initial=0.0)
        for leaf in leaves(judged.args)
        if leaf.dtype.kind == "f"
    ]
    if not max(large) < 1e6:
        return skipped("hostile numbers")
    if not slopes_of(judged).reverse.is_value or judged.spread.is_ill:
        return skipped("no gradient")
    return None


def _against(
    slope: float, function: Callable[[float], float], judged: Judged
) -> Verdict:
    if not np.isfinite(slope):
        return skipped("not finite")
    estimate = slope_of(function)
    if isinstance(estimate, str):
        return Verdict("ill" if estimate != "slow" else "skipped", estimate)
    gap, bound = (
        abs(slope - estimate.slope),
        30.0 * estimate.error + 2e-5 * (1.0 + abs(slope)),
    )
    if gap <= bound:
        return AGREES
    return Verdict(
        "differs",
        f"{slope!r}, by differences {estimate.slope!r} ± {estimate.error:.1e}",
    )


@oracle("gradient/differences")
def against_differences(judged: Judged) -> Verdict:
    """Central differences of plain Python, extrapolated; kinks are recognised."""
    if (unready := _smooth(judged)) is not None:
        return unready
    slopes = slopes_of(judged)
    is_plain = judged.python.is_value and "derivatives" not in judged.flags
    function = judged.loaded.plain if is_plain else judged.compiled()
    args = judged.loaded.plain_args if is_plain else judged.args

    def value(step: float) -> float:
        found = function(
            *(moved(a, t, step) for a, t in zip(args, slopes.tangents, strict=True))
        )
        return dot(slopes.cotangent, _as_given(found, slopes.cotangent))

    return _against(slopes.along(slopes.reverse.value), value, judged)


def _as_given(found: Any, cotangent: Any) -> Any:
    """A list of Python's as an array, a number as a float."""
    if isinstance(cotangent, tuple):
        return tuple(_as_given(f, c) for f, c in zip(found, cotangent, strict=True))
    return None if cotangent is None else np.asarray(found, float)


def _chosen(judged: Judged) -> int | None:
    """An argument of which there are second derivatives to look at."""
    types = [*inspect.signature(judged.loaded.plain).parameters.values()]
    good = [
        k
        for k in judged.wrt
        if types[k].annotation is float
        or (
            isinstance(judged.args[k], np.ndarray)
            and judged.args[k].ndim == 1
            and judged.args[k].dtype == float
        )
    ]
    return good[len(judged.text) % len(good)] if good else None


def _product(judged: Judged, k: int) -> tuple[Outcome, Any]:
    v = slopes_of(judged).tangents[k]
    return outcome(lambda: cl.hvp(judged.compiled(), argnums=k)(*judged.args, v)), v


@oracle("hvp/differences", 4)
def products_against_differences(judged: Judged) -> Verdict:
    k = _chosen(judged)
    if k is None or not judged.is_scalar:
        return skipped("no float")
    if (unready := _smooth(judged)) is not None:
        return unready
    found, v = _product(judged, k)
    if (failed := judged.failed(found)) is not None:
        return failed
    slope = cl.grad(judged.compiled(), argnums=k)
    other = directions(judged.args[k], np.random.default_rng(8))

    def value(step: float) -> float:
        args = list(judged.args)
        args[k] = moved(args[k], v, step)
        return dot(slope(*args), other)

    return _against(dot(found.value, other), value, judged)


@oracle("hessian/hvp", 8)
def hessian_against_products(judged: Judged) -> Verdict:
    k = _chosen(judged)
    if k is None or not judged.is_scalar or np.size(judged.args[k]) > 8:
        return skipped("no float")
    if (unready := _smooth(judged)) is not None:
        return unready
    found, v = _product(judged, k)
    hessian = outcome(lambda: cl.hessian(judged.compiled(), argnums=k)(*judged.args))
    for each in (found, hessian):
        if (failed := judged.failed(each)) is not None:
            return failed
    product = np.tensordot(hessian.value, v, 1) if np.ndim(v) else hessian.value * v
    size = np.sum(np.abs(np.asarray(hessian.value))) + 1.0
    if not (np.all(np.isfinite(product)) and np.all(np.isfinite(found.value))):
        return skipped("not finite")
    gap = float(np.max(np.abs(product - found.value), initial=0.0))
    if gap <= 1e-9 * size:
        return AGREES
    return Verdict(
        "ill" if slopes_of(judged).spread.is_ill else "differs",
        f"{product} for {found.value}",
    )
