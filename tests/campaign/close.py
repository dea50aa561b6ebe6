"""Are two values equal, as far as the program's conditioning lets one say?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.campaign.values import leaves

ILL = 1e-5  # A program that turns a unit in the last place into this is chaotic.


@dataclass(frozen=True)
class Spread:
    """How far each number of a result moves if arguments move by last places."""

    sizes: tuple[np.ndarray, ...] = ()
    is_ill: bool = False


def spread(value: Any, others: list[Any]) -> Spread:
    """That of the results for arguments that were moved a little."""
    center = leaves(value)
    sizes = [np.zeros(leaf.shape) for leaf in center]
    for other in others:
        near = leaves(other)
        if len(near) != len(center):
            return Spread(is_ill=True)
        for k, (a, b) in enumerate(zip(center, near, strict=True)):
            if a.shape != b.shape or (a.dtype.kind != "f" and not np.array_equal(a, b)):
                return Spread(is_ill=True)
            x, y = a.astype(float), b.astype(float)
            with np.errstate(all="ignore"):
                gap = np.where(_same(x, y), 0.0, np.abs(x - y))
            if np.any(gap > ILL * (1.0 + np.abs(x))) or not np.all(np.isfinite(gap)):
                return Spread(is_ill=True)
            sizes[k] = np.maximum(sizes[k], gap)
    return Spread(tuple(sizes))


def _same(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x == y) | (np.isnan(x) & np.isnan(y))


def difference(found: Any, expected: Any, allowed: Spread, slack: float = 1.0) -> str:
    """How the values differ, or nothing."""
    ours, theirs = leaves(found), leaves(expected)
    if len(ours) != len(theirs):
        return f"{len(ours)} parts for {len(theirs)}"
    sizes = allowed.sizes or tuple(np.zeros(leaf.shape) for leaf in theirs)
    for k, (a, b, size) in enumerate(zip(ours, theirs, sizes, strict=True)):
        if a.shape != b.shape:
            if a.size == b.size == 0 and b.ndim < a.ndim:  # Python's list of no rows.
                continue
            return f"part {k}: shape {a.shape} for {b.shape}"
        if text := _gap(a, b, size, slack):
            return f"part {k}: {text}"
    return ""


def _gap(a: np.ndarray, b: np.ndarray, size: np.ndarray, slack: float) -> str:
    x, y = a.astype(float), b.astype(float)
    is_single = np.float32 in (a.dtype, b.dtype)
    unit = 1e-5 if is_single else 1e-11
    with np.errstate(all="ignore"):
        scale = np.max(np.abs(y[np.isfinite(y)]), initial=0.0)
        bound = slack * (
            100.0 * size + unit * np.maximum(np.abs(y), 1e-3 * scale + 1e-3)
        )
        wrong = ~(_same(x, y) | (np.abs(x - y) <= bound))
    if not np.any(wrong):
        return ""
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{x[place]!r} for {y[place]!r} at {place}"
