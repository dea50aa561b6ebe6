"""The names of types that users write: `cl.f64`, `cl.f64[:, :]`.

They stand by themselves, so that a function can be annotated before the frontend, which
reads annotations, is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from chadllvm.ir.types import BOOL, F32, F64, I64, Alternatives, Array, Scalar


@dataclass(frozen=True, slots=True)
class ScalarAnnotation:
    """A scalar type that can be subscripted with one `:` per dimension.

    Called, it converts a number to itself, and it names a dtype, as NumPy's type does.
    """

    scalar: Scalar

    def __getitem__(self, dimensions: slice | tuple[slice, ...]) -> Array:
        if not isinstance(dimensions, tuple):
            dimensions = (dimensions,)
        if not dimensions or any(d != slice(None) for d in dimensions):
            raise TypeError(f"write one `:` per dimension, as in {self.scalar}[:, :]")
        return Array(self.scalar, len(dimensions))

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(_NUMPY[self.scalar])

    def __call__(self, number: Any) -> Any:
        return _NUMPY[self.scalar](number)

    def __or__(self, other: object) -> Alternatives:
        return Alternatives((self, other))

    def __ror__(self, other: object) -> Alternatives:
        return Alternatives((other, self))

    def __repr__(self) -> str:
        return self.scalar.name

    @property
    def __name__(self) -> str:
        return self.scalar.name


_NUMPY: dict[Scalar, type[np.generic]] = {
    F64: np.float64,
    F32: np.float32,
    I64: np.int64,
    BOOL: np.bool_,
}


f64 = ScalarAnnotation(F64)
f32 = ScalarAnnotation(F32)
i64 = ScalarAnnotation(I64)
boolean = ScalarAnnotation(BOOL)
