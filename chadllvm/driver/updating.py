"""Calls that update the arrays of their caller.

Native code gives new arrays: they are written to those of the caller when all has been
computed, so that a call that fails leaves these as they were. Only what NumPy would
have written to is taken: arrays of the very dtype, writeable, which share no memory
with another argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from chadllvm.backend.convert import DTYPES, expected, found
from chadllvm.backend.outs import filled
from chadllvm.backend.overlap import arrays, overlaps_itself, share
from chadllvm.ir.types import Array, Scalar, Type
from chadllvm.ir.updated import Updated
from chadllvm.support import call_rules
from chadllvm.support.frames import hide_frames


class Updating:
    """A function whose arguments at some positions are updated.

    `call` gives their last values, and the result behind them; that alone is returned.
    """

    def __init__(
        self,
        call: Callable[..., Any],
        name: str,
        names: Sequence[str],
        types: Sequence[Type],
        updated: Updated,
    ) -> None:
        self._call, self._name, self._names = call, name, tuple(names)
        self._updated = updated
        dtypes = [_dtype(types[k]) for k in updated.positions]
        self._written = list(zip(updated.positions, dtypes, strict=True))
        self._types = tuple(types)
        # What may share memory with one of these.
        self._others = [k for k, ty in enumerate(types) if not isinstance(ty, Scalar)]

    def __call__(self, *args: Any, out: Any = None) -> Any:
        try:
            for k, dtype in self._written:
                self._check(k, dtype, args[k])
            if len(self._others) > 1:
                self._check_apart(args)
        except Exception as error:
            hide_frames(error)
            raise
        found = self._call(*args)
        parts = (found,) if self._updated.is_one else found
        result = parts[-1] if self._updated.has_result else None
        made = filled(self._name, result, out)
        for (k, _), part in zip(self._written, parts, strict=False):
            args[k][...] = part
        return made

    def _check(self, k: int, dtype: np.dtype[Any], value: Any) -> None:
        """The argument must be an array that can be written to."""
        if not isinstance(value, np.ndarray) or value.dtype != dtype:
            raise call_rules.wrong_type(
                f"{self._title(k)} is updated, so that it must be "
                f"{expected(self._types[k])}, found {found(value)}"
            )
        if not value.flags.writeable:
            raise call_rules.not_writeable(
                f"{self._title(k)} is updated, and the array is read-only"
            )
        if overlaps_itself(value):
            raise call_rules.shared_memory(
                f"{self._title(k)} is updated, and elements of the array share memory"
            )

    def _title(self, k: int) -> str:
        return f"{self._name}: parameter {self._names[k]}"

    def _check_apart(self, args: Sequence[Any]) -> None:
        """What is updated shares no memory with another argument."""
        for k, _ in self._written:
            for other in self._others:
                if other != k and any(
                    share(args[k], array) for array in arrays(args[other])
                ):
                    raise call_rules.shared_memory(
                        f"{self._title(k)} is updated, and shares memory with "
                        f"parameter {self._names[other]}; give a copy of one of them"
                    )


def _dtype(ty: Type) -> np.dtype[Any]:
    assert isinstance(ty, Array) and isinstance(ty.elem, Scalar)
    return DTYPES[ty.elem]
