"""Numbers as the values of options."""

from __future__ import annotations

import argparse
import math


def count(text: str) -> int:
    """An integer from 0 on."""
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no integer from 0 on")
    return int(text)


def positive(text: str) -> float:
    """A number above 0."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0.0 < found < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return found


def bounds(text: str) -> tuple[float, float]:
    """Two numbers, the second not below the first."""
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        low, high = math.inf, -math.inf
    if not -math.inf < low <= high < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not LOW,HIGH, as in 0.1,0.9")
    return low, high
