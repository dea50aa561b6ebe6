"""What is made of a function: itself, its gradient, or both."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """What is made of a function; `argnums` is None for the function itself."""

    argnums: int | tuple[int, ...] | None = None
    value: bool = True
    has_aux: bool = False

    @property
    def positions(self) -> tuple[int, ...]:
        if self.argnums is None:
            return ()
        return (self.argnums,) if isinstance(self.argnums, int) else self.argnums
