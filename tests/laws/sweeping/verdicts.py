"""What a program takes → whether that is within the law.

The bound on a derivative is a constant times the value's work and the numbers in the
arguments. That it is constant is seen where both grow: what a derivative takes more at
the largest size than at the middle one, for each operation more of the bound, is not
much more than from the smallest size to the middle one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

# The most that derivatives may be of the bound.
MOST = {"gradient": 12.0, "jvp": 8.0, "hvp": 24.0, "grad of grad": 72.0}
GROWTH = 1.5
BYTES = 8.0  # for an operation; less is not looked at
COST = 0.5  # operations for one of the interpreter's; less is not looked at
PYTHON = 2.0  # bytes for one of Python's; less is not looked at
SLACK = 1 << 14  # bytes

Found = dict[str, Any]


def ratios(found: Found, what: str) -> list[float]:
    """The work of a derivative, for each operation of the bound."""
    return [d / b for d, b in zip(found[what]["work"], bound(found, what), strict=True)]


def bound(found: Found, what: str) -> list[int]:
    """The value's operations, compiled as what is measured, and its numbers."""
    value, sizes = found["value"]["work"], found["value"]["sizes"]
    value = found[what].get("value", value)
    return [w + s for w, s in zip(value, sizes, strict=True)]


def grown(found: Found, what: str) -> float:
    """How the work of a derivative grows beside the bound.

    To clear an input's cell takes another constant than an operation: small slopes are
    no matter.
    """
    return growth(found[what]["work"], bound(found, what), MOST[what] / 4)


def growth(
    taken: Sequence[int], of: Sequence[int], least: float, slack: int = 0
) -> float:
    """How the slope of what is taken grows; below `least` slopes are no matter.

    What is taken may be `slack` more, whatever the size.
    """
    slopes = [
        max(taken[k + 1] - taken[k] - slack * k, 0) / max(of[k + 1] - of[k], 1)
        for k in range(2)
    ]
    first = taken[0] / max(of[0], 1)
    return slopes[1] / max(slopes[0], min(first, slopes[1]) / GROWTH, least)


def violations(found: Found) -> Iterator[tuple[str, str]]:
    """What breaks the law: its kind, and its numbers."""
    value = found["value"]
    for what in ("value", *MOST):
        taken = found.get(what)
        if taken is None:
            continue
        if what in MOST:
            ratio = ratios(found, what)
            if ratio[-1] > MOST[what]:
                yield f"{what}: ratio", f"{ratio[-1]:.1f} times the value"
            if grown(found, what) > GROWTH:
                yield f"{what}: growth", f"{taken['work']}, value {value['work']}"
        if growth(taken["peak"], bound(found, what), BYTES, SLACK) > GROWTH:
            yield f"{what}: memory", f"{taken['peak']} bytes, work {value['work']}"
    if "interpreter" in found:
        costs, works = found["interpreter"]["cost"], found["interpreter"]["work"]
        if growth(works, costs, COST) > GROWTH:
            yield "value: cost", f"{works} operations, the interpreter's cost {costs}"
    if "python" in found:
        peak, ours = found["python"]["peak"], found["python"]["ours"]
        # NumPy shows a few elements of an array that is large: then Python's shrinks.
        if list(peak) == sorted(peak) and growth(ours, peak, PYTHON, SLACK) > GROWTH:
            yield "value: peak", f"{ours} bytes, Python's peak {peak}"
