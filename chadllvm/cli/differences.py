"""Derivatives of a function beside central differences of its values, number by number.

Results that are no single number are weighed: what is differentiated is their sum, each
number of them times a random one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chadllvm.api.compiled import Compiled
from chadllvm.api.reals import all_numbers, has_singles, mapped, places, stepped
from chadllvm.api.reverse import vjp
from chadllvm.cli.function_options import gradient_of
from chadllvm.cli.given import Given
from chadllvm.cli.status import BadInput, called

# The step of a difference, and how much it may be off, for f64 and with f32.
_DOUBLE, _SINGLE = (6e-6, 1e-6), (2e-2, 2e-2)


@dataclass(frozen=True)
class Row:
    """One comparison; `place` is empty for the derivative along all of an argument."""

    argument: str
    place: str
    ours: float
    difference: float
    allowed: float

    @property
    def error(self) -> float:
        """How far the two are apart."""
        if self.ours == self.difference:  # They may be infinite.
            return 0.0
        return abs(self.ours - self.difference)

    @property
    def agrees(self) -> bool:
        """Whether they are as close as they should be; NaN never is."""
        return self.error <= self.allowed


@dataclass
class Comparison:
    """A function at some arguments. None for `step` and `tolerance`: by the types."""

    function: Compiled
    given: Given
    random: np.random.Generator
    step: float | None = None
    tolerance: float | None = None

    def rows(self, by: Sequence[int], entries: int) -> Iterator[Row]:
        """Compare by these arguments, each by so many numbers of it; 0 means by all.

        Whatever is left out is part of the last row of an argument: the derivative
        along a random direction.
        """
        try:
            single = has_singles(self.given.values)
        except ValueError as error:
            raise BadInput(str(error)) from error
        step, tolerance = _SINGLE if single else _DOUBLE
        self._step = step if self.step is None else self.step
        self._tolerance = tolerance if self.tolerance is None else self.tolerance
        self._out = self.given.call(self.function)
        self._weights = self._weighing()
        for k, gradient in zip(by, self._gradients(by), strict=True):
            yield from self._by(k, all_numbers(gradient), entries)

    def _weighing(self) -> Any:
        """1 for a number, else a random weight for each real."""
        if isinstance(self._out, float | np.floating):
            return type(self._out)(1.0)
        if not all_numbers(self._out).size:
            raise BadInput(f"{self.function.name}() gives no real numbers")
        return mapped(self._out, self._weight, lambda _: None)

    def _weight(self, x: Any) -> Any:
        drawn = self.random.uniform(0.5, 1.5, np.shape(x))
        if isinstance(x, np.ndarray):
            return drawn.astype(x.dtype)
        return type(x)(drawn)

    def _gradients(self, by: Sequence[int]) -> Sequence[Any]:
        if isinstance(self._out, float | np.floating):
            _, found = self.given.call(gradient_of(self.function, list(by)))
            return tuple(found)
        if self.given.by_name:
            raise BadInput(
                "parameters that are given by name alone are checked where the result "
                "is a number"
            )
        _, pullback = called(vjp, (self.function, *self.given.positional))
        pulled = pullback(self._weights)
        return [pulled[k] for k in by]

    def _by(self, k: int, ours: np.ndarray, entries: int) -> Iterator[Row]:
        name, value = self.given.parameters[k].name, self.given.values[k]
        marks = list(places(value, name))
        chosen = np.arange(len(marks))
        if 0 < entries < len(marks):
            chosen = np.sort(self.random.choice(len(marks), entries, replace=False))
        for entry in chosen.tolist():
            direction = np.zeros(len(marks))
            direction[entry] = 1.0
            yield self._row(k, direction, float(ours[entry]), marks[entry])
        if len(marks) > 1:
            along = self.random.choice([-1.0, 1.0], len(marks))
            yield self._row(k, along, float(along @ ours), "")

    def _row(self, k: int, direction: np.ndarray, ours: float, place: str) -> Row:
        """The step is relative to the numbers that are moved."""
        here = all_numbers(self.given.values[k])
        step = self._step * max(1.0, float(np.max(np.abs(here) * (direction != 0.0))))
        above, below = self._at(k, step * direction), self._at(k, -step * direction)
        difference = (above - below) / (2.0 * step)
        rounding = 8.0 * np.finfo(np.float64).eps * max(abs(above), abs(below)) / step
        scale = max(abs(ours), abs(difference), 1.0)
        allowed = self._tolerance * scale + rounding
        argument = self.given.parameters[k].name
        return Row(argument, place, ours, difference, float(allowed))

    def _at(self, k: int, steps: np.ndarray) -> float:
        """What the function gives with one argument moved."""
        values = list(self.given.values)
        values[k] = stepped(values[k], steps)
        out = replace(self.given, values=tuple(values)).call(self.function)
        found, weights = all_numbers(out), all_numbers(self._weights)
        if found.shape != weights.shape:
            raise BadInput(f"{self.function.name}() has results of changing shapes")
        return float(found @ weights)
