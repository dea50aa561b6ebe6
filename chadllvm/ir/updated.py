"""What a program updates for its callers in Python, who need nothing else of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Updated:
    """The parameters, by position, whose last values are the first of what is given.

    They are in one tuple, with the result behind them if the function `has_result`; one
    array alone is in none.
    """

    positions: tuple[int, ...]
    has_result: bool

    @property
    def is_one(self) -> bool:
        """Whether what is given is the one array that is updated."""
        return len(self.positions) == 1 and not self.has_result
