"""How values of the core are represented by registers, slots and buffers.

A scalar is an atom. An array is a pointer and its dimensions; so is a box, and so is
the cell of an array, once something is added to it. The cell of a scalar is a slot, or
a place in an array's buffer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chadllvm.ir.loops import Atom, Slot
from chadllvm.ir.types import I64, Array, Box, Scalar, Type
from chadllvm.support.diagnostic import InternalError

if TYPE_CHECKING:
    from chadllvm.lower.kept import KeptRows
    from chadllvm.lower.memory import Scope


@dataclass(frozen=True, slots=True)
class Growth:
    """Where the buffer of a growing array is, and how many machine elements it holds.

    A larger buffer is made in the region of `home`.
    """

    ptr: Slot
    room: Slot
    home: Scope


@dataclass(frozen=True, slots=True)
class ArrayRep:
    """An array in memory, contiguous in C order.

    `elem` is the type of an element: a scalar, or a box, which takes one word for its
    pointer and one for each dimension. `root` stands for the buffers it may be in. An
    array that grows in place has its `growth`.
    """

    ptr: Atom
    dims: tuple[Atom, ...]
    elem: Scalar | Box
    root: int
    growth: Growth | None = None

    @property
    def words(self) -> int:
        """How many machine elements an element takes."""
        return words_of(self.elem)

    @property
    def machine(self) -> Scalar:
        """The machine type of the buffer."""
        return machine_of(self.elem)


@dataclass(frozen=True, slots=True)
class SlotCell:
    """The cell of a scalar, local to the function; that of an f32 is kept as f64."""

    slot: Slot
    is_single: bool = False


@dataclass(frozen=True, slots=True)
class ElementCell:
    """The cell of an element of an array's cell."""

    ptr: Atom
    index: Atom
    root: int


@dataclass(frozen=True, slots=True)
class ZeroCell:
    """The cell of an array that nothing was added to yet: it has no buffer."""

    dims: tuple[Atom, ...]
    elem: Scalar | Box


@dataclass(frozen=True, slots=True)
class KeptRep:
    """What the calls of a recursion kept of one output, whose rows begin at `ptr`."""

    rows: KeptRows
    output: int
    ptr: Atom


Rep = Atom | ArrayRep | SlotCell | ElementCell | ZeroCell | KeptRep


def words_of(elem: Scalar | Box) -> int:
    return 1 if isinstance(elem, Scalar) else 1 + elem.content.rank


def machine_of(elem: Scalar | Box) -> Scalar:
    return elem if isinstance(elem, Scalar) else I64


def element_type(ty: Type) -> Scalar | Box:
    """The element type of an array type, or the type itself if it is no array."""
    match ty:
        case Scalar() | Box():
            return ty
        case Array(elem, _):
            return element_type(elem)
        case _:
            raise InternalError(f"lower: no buffer holds a {ty}")


class Roots:
    """Classes of buffers that may be the same, and what boxes in them refer to."""

    def __init__(self) -> None:
        self._parent: list[int] = []
        self._inner: dict[int, int] = {}

    def new(self) -> int:
        self._parent.append(len(self._parent))
        return self._parent[-1]

    def find(self, root: int) -> int:
        while self._parent[root] != root:
            self._parent[root] = self._parent[self._parent[root]]
            root = self._parent[root]
        return root

    def inner(self, root: int) -> int:
        """The root of the arrays that the boxes in a buffer refer to."""
        root = self.find(root)
        if root not in self._inner:
            self._inner[root] = self.new()
        return self.find(self._inner[root])

    def union(self, a: int, b: int) -> int:
        """From here on the two are one."""
        pending = [(a, b)]
        while pending:
            x, y = (self.find(r) for r in pending.pop())
            if x == y:
                continue
            self._parent[y] = x
            inner = self._inner.pop(y, None)
            if inner is not None:
                pending.append((self._inner.setdefault(x, inner), inner))
        return self.find(a)

    def table(self) -> tuple[int, ...]:
        """The representative of every root."""
        return tuple(self.find(r) for r in range(len(self._parent)))
