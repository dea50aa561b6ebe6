"""How the nodes of a heap stand in memory: what is never there at once shares a place.

    left: Leaf(value: f64) | Node(number: i64), right: the same, weight: f64

    →  | weight | value or number | value or number | tag tag . . . . . . |

What a value of several kinds holds as one of them takes the place of what it would hold
as another one, and the tag of two kinds a byte. To whoever looks, what a value of
another kind would hold is zero, as it was when the node was made. Wide values come
first, as in any row (`lower/rows.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chadllvm.ir import loops as l
from chadllvm.ir.loop_build import LoopBuilder
from chadllvm.ir.loops import Atom, Reg
from chadllvm.ir.term import Lit, literal
from chadllvm.ir.types import BOOL, F64, I64, Product, Scalar, Sum, Type
from chadllvm.lower.rows import WORD, size_of

# A byte holds which one of so many kinds a value is of.
_KINDS_OF_A_BYTE = 2


@dataclass(frozen=True)
class _Leaf:
    """A scalar of a node: its type there, and the kind it belongs to.

    That is the number of the leaf with the tag, and what it has to be.
    """

    type: Type
    stored: Type
    kind: tuple[int, int] | None
    place: int


@dataclass(frozen=True)
class NodeShape:
    """Where the scalars of a node are, each in elements of the type it is stored as."""

    leaves: tuple[_Leaf, ...]
    words: int

    @property
    def types(self) -> tuple[Type, ...]:
        """The types of the scalars."""
        return tuple(leaf.type for leaf in self.leaves)

    def begin(self, loops: LoopBuilder, ptr: Atom, number: Atom) -> Atom:
        """Where the node of a number begins, in a buffer of such nodes."""
        index = loops.let("imul", number, Lit(self.words)) if self.words > 1 else number
        return loops.offset(ptr, index, I64)

    def store(
        self, loops: LoopBuilder, row: Atom, values: Sequence[Atom], root: int
    ) -> None:
        """Put a node there."""
        using = _Using(self, loops, dict(enumerate(values)))
        for sharing in self._sharing().values():
            place, value = self.leaves[sharing[0]].place, using.stored(sharing)
            loops.emit(l.Store(row, Lit(place), value, root))

    def load(
        self, loops: LoopBuilder, row: Atom, root: int, names: Mapping[int, str]
    ) -> list[Atom]:
        """The scalars of these numbers, which get names."""
        using = _Using(self, loops, {}, row, root, names)
        return [using.value(k) for k in names]

    def is_shared(self, k: int) -> bool:
        """Whether a scalar has its place not for itself."""
        return len(self._sharing()[self._at(k)]) > 1

    def _sharing(self) -> dict[tuple[int, int], list[int]]:
        """The leaves of each place."""
        found: dict[tuple[int, int], list[int]] = defaultdict(list)
        for k in range(len(self.leaves)):
            found[self._at(k)].append(k)
        return found

    def _at(self, k: int) -> tuple[int, int]:
        leaf = self.leaves[k]
        return size_of(leaf.stored), leaf.place


class _Using:
    """The scalars of one node, and of which kinds its values are, as far as known."""

    def __init__(
        self,
        shape: NodeShape,
        loops: LoopBuilder,
        values: dict[int, Atom],
        row: Atom = Lit(0),
        root: int = 0,
        names: Mapping[int, str] | None = None,
    ) -> None:
        self._shape, self._loops, self._values = shape, loops, values
        self._row, self._root, self._names = row, root, names or {}
        self._is_there: dict[int, Atom] = {}

    def stored(self, sharing: Sequence[int]) -> Atom:
        """What stands in a place of these leaves."""
        first, *others = sharing
        leaves = [self._shape.leaves[k] for k in sharing]
        mixed = len({leaf.stored for leaf in leaves}) > 1
        found = self._alone(first, mixed)
        for k in others:
            is_there, value = self._there(k), self._alone(k, mixed)
            found = self._loops.let("select", is_there, value, found)
        return found

    def _alone(self, k: int, mixed: bool) -> Atom:
        """What stands for a leaf; `mixed`: as an integer."""
        leaf, value = self._shape.leaves[k], self._values[k]
        if leaf.stored != leaf.type:
            return self._loops.let("ieq", value, Lit(1))
        if mixed and leaf.type == F64:
            return self._loops.let("bits", value)
        return value

    def value(self, k: int) -> Atom:
        """A leaf that is looked up."""
        if k not in self._values:
            self._values[k] = self._looked_up(k)
        return self._values[k]

    def _looked_up(self, k: int) -> Atom:
        loops, leaf = self._loops, self._shape.leaves[k]
        assert isinstance(leaf.stored, Scalar) and isinstance(leaf.type, Scalar)
        name, place = self._names.get(k, "tag"), Lit(leaf.place)
        found: Reg = loops.load(self._row, place, leaf.stored, self._root, name)
        if leaf.stored != leaf.type:
            found = loops.let("bool_to_int", found)
        if not self._shape.is_shared(k):
            return found
        return loops.let("select", self._there(k), found, literal(0, leaf.type))

    def _there(self, k: int) -> Atom:
        """Whether a value is of the kind that a leaf belongs to."""
        if k not in self._is_there:
            kind = self._shape.leaves[k].kind
            assert kind is not None
            tag, number = kind
            found: Atom = self._loops.let("ieq", self.value(tag), Lit(number))
            if self._shape.leaves[tag].kind is not None:
                found = self._loops.let("and", self._there(tag), found)
            self._is_there[k] = found
        return self._is_there[k]


def node_shape(types: Sequence[Type]) -> NodeShape:
    """The shape of nodes that hold these, be it in parts or as a whole."""
    making = _Making()
    ends = {size: 0 for size in (8, 4, 1)}
    for ty in types:
        making.lay(ty, None, ends)
    # Where the values of each size begin, in bytes.
    begins = {8: 0, 4: 8 * ends[8], 1: 8 * ends[8] + 4 * ends[4]}
    leaves = tuple(
        _Leaf(x.type, x.stored, x.kind, begins[size] // size + x.place)
        for x in making.leaves
        for size in [size_of(x.stored)]
    )
    return NodeShape(leaves, -(-(begins[1] + ends[1]) // WORD))


class _Making:
    """The leaves, each with its place among those of its size."""

    def __init__(self) -> None:
        self.leaves: list[_Leaf] = []

    def lay(self, ty: Type, kind: tuple[int, int] | None, ends: dict[int, int]) -> None:
        """Find places for a value behind these."""
        match ty:
            case Product(fields):
                for part in fields:
                    self.lay(part, kind, ends)
            case Sum(constructors):
                tag, few = len(self.leaves), len(constructors) <= _KINDS_OF_A_BYTE
                self._leaf(I64, BOOL if few else I64, kind, ends)
                begins = dict(ends)
                for number, (_, payload) in enumerate(constructors):
                    mine = dict(begins)
                    self.lay(payload, (tag, number), mine)
                    for size, end in mine.items():
                        ends[size] = max(ends[size], end)
            case _:
                self._leaf(ty, ty, kind, ends)

    def _leaf(
        self, ty: Type, stored: Type, kind: tuple[int, int] | None, ends: dict[int, int]
    ) -> None:
        size = size_of(stored)
        self.leaves.append(_Leaf(ty, stored, kind, ends[size]))
        ends[size] += 1
