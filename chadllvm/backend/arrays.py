"""Lists of arrays of different sizes as arguments: one array for each of their parts.

    [array([1., 2.]), [3.0]]   →   array([1., 2., 3.]), array([0, 2, 3])

What does not fit is named by its place: `xs[3]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from chadllvm.backend.convert import DTYPES, Converter, expected, found
from chadllvm.ir.lists import flattened
from chadllvm.ir.record import ListNames
from chadllvm.ir.types import Array, Product, Scalar, is_float, list_elem
from chadllvm.support import call_rules


def list_parts(function: str, path: str, ty: Product, value: Any) -> list[np.ndarray]:
    """The arrays of the parts of a list, each plain.

    Raises:
        TypeError: if something is not what the type says.
        ValueError: if an array has another number of dimensions.
    """
    names, elem = ty.names, list_elem(ty)
    assert isinstance(names, ListNames)
    reader = _Reader(function, ty, Array(elem, names.rank))
    return flattened(names, DTYPES[elem], path, value, reader)


@dataclass(frozen=True)
class _Reader:
    """Takes the arrays of a list, or says why not."""

    function: str
    whole: Product
    type: Array

    def array(self, path: str, item: Any) -> np.ndarray:
        if isinstance(item, list | tuple):
            item = self._of_numbers(path, item)
        return Converter(self.function, [path], [self.type]).as_array(0, item)

    def _of_numbers(self, path: str, item: Sequence[Any]) -> Any:
        """An array of Python's own numbers, of which none is lost."""
        elem = self.type.elem
        assert isinstance(elem, Scalar)
        dtype = DTYPES[elem]
        if not item:
            return np.empty((0,) * self.type.rank, dtype)
        try:
            array = np.array(item)
        except (ValueError, OverflowError):
            self._refuse(path, item)
        if is_float(elem) and array.dtype.kind in "iu":
            return array.astype(dtype)
        is_own = is_float(elem) and array.dtype == np.float64
        return array.astype(dtype) if is_own else array

    def _refuse(self, path: str, item: Any) -> NoReturn:
        raise call_rules.wrong_type(
            f"{self.function}: parameter {path} must be {expected(self.type)}, or a "
            f"list of numbers, found {found(item)}"
        )

    def refuse(self, path: str, item: Any) -> NoReturn:
        raise call_rules.wrong_type(
            f"{self.function}: parameter {path} must be a list, as in "
            f"{expected(self.whole)[2:]}, found {found(item)}"
        )
