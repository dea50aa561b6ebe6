"""What calls offer for results: arrays of NumPy's own memory, made before the call.

To make an array of a block that native code has allocated takes several objects, and
costs more than a small function does. So the code for calls makes an array of the shape
that the result had last, if that was small; native code computes in it if the result
has that shape again (see `llvm/entry.py`), and leaves no address then:

    offer0 = empty(shapes[0])
    status = native(at, …, offer0)
    …
    if status == BLOCKS:
        release(context)
        if ints[1]: offer0 = refused(0, array_f64(ints[1], (ints[2], )))
    value = offer0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from chadllvm.backend.convert import DTYPES
from chadllvm.ir.types import F64, Scalar
from chadllvm.llvm import status

# Up to so many bytes a result stands in an array of NumPy's own.
SMALL = 8192


class Offers:
    """The offers of the code for one signature, whose own names begin with `mine`."""

    def __init__(self, mine: str) -> None:
        self.mine = mine
        # What each array is made by, and what replaces those refused.
        self._made: list[str] = []
        self._replaced: list[str] = []
        self._ranks: list[int] = []

    def result(self, elem: Scalar, rank: int, address: str, made: str) -> str:
        """The result at an address, for which there is an offer from now on.

        `made` is the array of the block there, if native code has refused the offer.
        """
        mine, k = self.mine, len(self._made)
        dtype = "" if elem == F64 else f", {mine}dtype_{elem}"
        offer = f"{mine}offer{k}"
        self._made.append(f"{offer} = {mine}empty({mine}shapes[{k}]{dtype})")
        self._replaced.append(f"if {address}: {offer} = {mine}refused({k}, {made})")
        self._ranks.append(rank)
        return offer

    def before(self) -> list[str]:
        """The lines that make the arrays."""
        return self._made

    def names(self) -> list[str]:
        """The variables that hold them."""
        return [f"{self.mine}offer{k}" for k in range(len(self._made))]

    def after(self) -> list[str]:
        """The lines that let arrays own the blocks of what was refused."""
        if not self._made:
            return []
        return [
            f"if {self.mine}status == {status.BLOCKS}:",
            f"    {self.mine}release({self.mine}context)",
            *("    " + line for line in self._replaced),
        ]

    def objects(self) -> dict[str, Any]:
        """What the lines refer to. At first no result is known to be small."""
        shapes = [(0,) * rank for rank in self._ranks]
        return {
            "shapes": shapes,
            "refused": _refused(shapes),
            "empty": np.empty,
            **{f"dtype_{elem}": dtype for elem, dtype in DTYPES.items()},
        }


def _refused(
    shapes: list[tuple[int, ...]],
) -> Callable[[int, np.ndarray], np.ndarray]:
    """What keeps in mind the shape of an array for which there was no good offer.

    Calls may run at the same time: then some offers are refused.
    """

    def refused(k: int, array: np.ndarray) -> np.ndarray:
        small = array.nbytes <= SMALL
        shapes[k] = array.shape if small else (0,) * array.ndim
        return array

    return refused
