"""Central differences, extrapolated (Richardson); kinks and jumps are told apart."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.campaign.outcome import outcome

STEPS = tuple(4e-3 * 0.5**k for k in range(9))
SECONDS = 10.0


@dataclass(frozen=True)
class Estimate:
    slope: float
    error: float


def slope_of(function: Callable[[float], float]) -> Estimate | str:
    """The slope at 0 with a bound of its error, or why there is none."""
    begun = time.monotonic()
    rights, lefts, centers = [], [], []
    middle = outcome(lambda: function(0.0))
    for step in STEPS:
        if time.monotonic() - begun > SECONDS:
            return "slow"
        high, low = (
            outcome(lambda h=step: function(h)),
            outcome(lambda h=step: function(-h)),
        )
        if not (high.is_value and low.is_value and middle.is_value):
            return "no value nearby"
        rights.append((high.value - middle.value) / step)
        lefts.append((middle.value - low.value) / step)
        centers.append(0.5 * (rights[-1] + lefts[-1]))
    values = np.array([*rights, *lefts])
    if not np.all(np.isfinite(values)):
        return "not finite nearby"
    return _extrapolated(
        np.array(rights), np.array(lefts), np.array(centers), abs(middle.value)
    )


def _extrapolated(
    rights: np.ndarray, lefts: np.ndarray, centers: np.ndarray, value: float
) -> Estimate | str:
    noise = 1e-15 * (value + 1.0) / STEPS[-1]
    gaps = np.abs(rights - lefts)
    scale = 1.0 + float(np.min(np.abs(centers)))
    if gaps[-1] > 1e-3 * scale + 100.0 * noise and gaps[-1] > 0.3 * gaps[0]:
        return "a kink"
    better = (4.0 * centers[1:] - centers[:-1]) / 3.0
    errors = np.abs(np.diff(better))
    best = int(np.argmin(errors))
    error = float(errors[best]) + noise
    if error > 1e-4 * scale:
        return "differences do not settle"
    late = float(np.max(np.abs(better[best:] - better[best + 1])))
    return Estimate(float(better[best + 1]), max(error, min(late, 1e-4 * scale)))
