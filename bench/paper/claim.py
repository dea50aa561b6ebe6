"""What a topic of the paper gives to the report: claims with verdicts, and curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """One claim: what is said, where the paper says it, and what was measured.

    `holds` is the verdict on what was measured, not on what was hoped for: a failure
    that the paper predicts, and that is seen, holds.
    """

    says: str
    place: str
    measured: str
    holds: bool


@dataclass(frozen=True)
class Series:
    """One line of a plot: a name and its points."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Curve:
    """A plot: lines over a common axis, `name` is also that of the picture's file.

    `is_log`: both axes are logarithmic.
    """

    name: str
    title: str
    place: str
    x: str
    y: str
    series: tuple[Series, ...]
    is_log: bool = True


@dataclass(frozen=True)
class Report:
    """All that a topic has to say. A topic is a module with `report(quick) -> Report`.

    `quick`: small sizes and few programs, for the tests.
    """

    claims: Sequence[Claim] = ()
    curves: Sequence[Curve] = ()
