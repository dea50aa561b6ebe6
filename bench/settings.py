"""How to measure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """How to measure.

    `quick`: small sizes and few rounds, to see that all works. `peers`: the names of
    the other systems to measure. `grid`: all sizes of a workload, not only the usual.
    """

    quick: bool
    build_folder: Path
    peers: tuple[str, ...] = ()
    grid: bool = False

    def rounds(self, full: int) -> int:
        """The number of rounds to take."""
        return 3 if self.quick else full

    @property
    def budget(self) -> float:
        """The seconds for what is measured in turns at one size."""
        return 0.05 if self.quick else 2.5
