"""What calls offer for results: arrays of NumPy's own memory, made before the call.

To make an array of a block that native code has allocated takes several objects, and
costs more than a small function does. So the code for calls makes an array of the shape
that the result had last, if that was small; native code fills it if the result has that
shape again (see `llvm/entry.py`), and leaves no address then:

    offer0 = empty(shapes[0])
    status = native(context, floats, …, id(offer0))
    …
    value = refused(0, array_f64(ints[1], (ints[2], ))) if ints[1] else offer0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from chadllvm.backend.convert import DTYPES
from chadllvm.ir.types import F64, Scalar

# Up to so many bytes it takes less time to copy a result than to make an array of it.
SMALL = 8192


class Offers:
    """The offers of the code for one signature, whose own names begin with `mine`."""

    def __init__(self, mine: str) -> None:
        self.mine = mine
        # What each array is made by; and where the addresses of those refused are.
        self._made: list[str] = []
        self._addresses: list[str] = []
        self._ranks: list[int] = []

    def result(self, elem: Scalar, rank: int, address: str, made: str) -> str:
        """The result at an address, for which there is an offer from now on.

        `made` is the array of the block there, if native code has refused the offer.
        """
        mine, k = self.mine, len(self._made)
        dtype = "" if elem == F64 else f", {mine}dtype_{elem}"
        self._made.append(f"{mine}empty({mine}shapes[{k}]{dtype})")
        self._addresses.append(address)
        self._ranks.append(rank)
        return f"({mine}refused({k}, {made}) if {address} else {mine}offer{k})"

    def before(self) -> list[str]:
        """The lines that make the arrays."""
        return [f"{self.mine}offer{k} = {made}" for k, made in enumerate(self._made)]

    def args(self) -> list[tuple[str, str]]:
        """The arguments of the native call, with their C types."""
        ids = [f"{self.mine}id({self.mine}offer{k})" for k in range(len(self._made))]
        return [(name, "intptr_t") for name in ids]

    def after(self) -> list[str]:
        """The lines that let arrays own the blocks of what was refused."""
        if not self._addresses:
            return []
        release = f"{self.mine}release({self.mine}context)"
        return [f"if {' or '.join(self._addresses)}:", f"    {release}"]

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
