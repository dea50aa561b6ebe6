"""What the calls of a recursion keep for the reverse, as rows of one buffer.

    r…, id, as, bs, cs = recurse[3](x) …        recurse(id, d) { g', i, d ->
                                                  a = index(as, i); b = …; c = …
                                                  if a { … b … } else { … c … } }

Each call writes what it keeps side by side when it is about to return, and its number
is the place where that begins. This is done where arrays that calls collect are only
ever read at such numbers; else each is an array by itself, with its size
(`growing.py`), and the numbers are 0, 1, 2, …

Where a bool that is kept tells what of the rest is read, as in this example, a call
keeps only that: c if a is false. A call with true gives the number -1 - place. So the
bool takes no room, and a call that keeps nothing else writes nothing. (Half of the
calls of a function that walks along a tree are at leaves.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chadllvm.ir import loops as l
from chadllvm.ir.loops import PTR, Atom
from chadllvm.ir.rewrite import free_vars, free_vars_of
from chadllvm.ir.term import (
    Apply,
    Block,
    Function,
    If,
    Lit,
    Operand,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import BOOL, I64, Array, Box, Scalar
from chadllvm.lower.represent import ArrayRep, KeptRep, Rep, element_type
from chadllvm.lower.rows import RowShape, Words, row_shape
from chadllvm.ops.index import Index
from chadllvm.ops.recurse import Recurse

if TYPE_CHECKING:
    from chadllvm.lower.lower import Lowering


@dataclass(frozen=True, slots=True)
class Plan:
    """How calls keep what they collect.

    `sides`: for each output, if it is read only where the one number `flag` is true,
    or only where it is false.
    """

    flag: int | None
    sides: tuple[bool | None, ...]

    def kept(self, side: bool | None) -> list[int]:
        """What a call keeps whose flag is this; None: what all calls keep."""
        sides = enumerate(self.sides)
        return [k for k, s in sides if s is side and k != self.flag]


def plans(function: Function) -> dict[Var, Plan]:
    """For the first output of each recursion whose calls may keep rows, how."""
    reads = _Reads()
    reads.block(function.body, {})
    found: dict[Var, Plan] = {}
    for outputs in reads.recursions:
        is_flat = all(isinstance(v.type, Array) and v.type.rank == 1 for v in outputs)
        if is_flat and reads.otherwise.isdisjoint(outputs):
            found[outputs[0]] = _plan(outputs, reads)
    return found


def _plan(outputs: Sequence[Var], reads: _Reads) -> Plan:
    best = Plan(None, (None,) * len(outputs))
    for k, flag in enumerate(outputs):
        if element_type(flag.type) != BOOL:
            continue
        sides = tuple(
            None if j == k else reads.side(v, flag) for j, v in enumerate(outputs)
        )
        if sides.count(None) < best.sides.count(None):
            best = Plan(k, sides)
    return best


@dataclass
class _Reads:
    """How the arrays of a function are read."""

    # The outputs of recursions, and all of these.
    recursions: list[Sequence[Var]] = field(default_factory=list)
    outputs: set[Var] = field(default_factory=set)
    # What is used for anything but to read an element of it.
    otherwise: set[Var] = field(default_factory=set)
    # For each array, what the reads of it are behind: by the array that a condition was
    # read of, whether it holds. None: nothing is known.
    behind: dict[Var, list[dict[Var, bool]]] = field(default_factory=dict)

    def side(self, array: Var, flag: Var) -> bool | None:
        """The value of a flag with which the array is read, if that is only one."""
        found = {known.get(flag) for known in self.behind.get(array, ())}
        return found.pop() if len(found) == 1 else None

    def block(self, block: Block, known: dict[tuple[Var, Operand], bool]) -> None:
        """Go through a block; `known`: arrays with the element that is known there."""
        read: dict[Var, tuple[Var, Operand]] = {}
        for binding in block.bindings:
            match binding.expr:
                case Apply(Index(), (Var() as array, index)) if array in self.outputs:
                    read[binding.vars[0]] = array, index
                    self._otherwise([index])
                case If(cond) as node:
                    self._branches(node, read, known)
                    self._otherwise([cond])
                    continue
                case Apply(Recurse() as op, _, (body,)):
                    _, _, outputs = op.parts(binding.vars, op.plain(body))
                    if outputs:
                        self.recursions.append(outputs)
                        self.outputs.update(outputs)
                    self._otherwise(operands(binding.expr))
                case expr:
                    self._otherwise(operands(expr))
            for _, inner in nested(binding.expr):
                self.block(inner, {})
        self._otherwise(block.results)
        if read:
            self._note(block, read, known)

    def _branches(
        self,
        node: If,
        read: dict[Var, tuple[Var, Operand]],
        known: dict[tuple[Var, Operand], bool],
    ) -> None:
        for side, branch in ((True, node.then), (False, node.orelse)):
            more = {read[node.cond]: side} if node.cond in read else {}
            self.block(branch, {**known, **more})

    def _otherwise(self, found: Sequence[Operand]) -> None:
        self.otherwise.update(v for v in found if isinstance(v, Var))

    def _note(
        self,
        block: Block,
        read: dict[Var, tuple[Var, Operand]],
        known: dict[tuple[Var, Operand], bool],
    ) -> None:
        """What the reads in a block are behind: those around, or where all uses are."""
        uses = _Uses(block, read)
        for var, (array, index) in read.items():
            inside = {**known, **uses.common(var)}
            self.behind.setdefault(array, []).append(
                {flag: side for (flag, at), side in inside.items() if at is index}
            )


class _Uses:
    """In which branches of a block the values are used that are read in front."""

    def __init__(self, block: Block, read: dict[Var, tuple[Var, Operand]]) -> None:
        self._anywhere: set[Var] = {v for v in block.results if isinstance(v, Var)}
        self._branches: list[tuple[tuple[Var, Operand], bool, set[Var]]] = []
        for binding in block.bindings:
            match binding.expr:
                case If(Var() as cond, then, orelse) if cond in read:
                    for side, branch in ((True, then), (False, orelse)):
                        used = set(free_vars([((), branch)]))
                        self._branches.append((read[cond], side, used))
                    self._anywhere.add(cond)
                case expr:
                    self._anywhere.update(free_vars_of(expr))

    def common(self, var: Var) -> dict[tuple[Var, Operand], bool]:
        """The conditions that hold wherever a value is used."""
        if var in self._anywhere:
            return {}
        found: dict[tuple[Var, Operand], bool] = {}
        places = [(cond, side) for cond, side, used in self._branches if var in used]
        for cond, side in places:
            if all(place == (cond, side) for place in places):
                found[cond] = side
        return found


class KeptRows:
    """The rows of the calls of one recursion: what all keep, then what some do."""

    def __init__(self, lowering: Lowering, outputs: Sequence[Var], plan: Plan) -> None:
        self.lowering, self.outputs, self.plan = lowering, outputs, plan
        self.elems = [element_type(v.type) for v in outputs]
        # What the boxes among it refer to is apart.
        self.inner = [lowering.roots.new() for _ in outputs]
        self.places: dict[int, int] = {}
        self.common = self._shape(None)
        self.shapes = {side: self._shape(side) for side in (True, False)}
        loops, root = lowering.loops, lowering.roots.new()
        homes = [lowering.life.home(v) for v in outputs]
        region = lowering.region(min(homes, key=lambda home: home.depth))
        self.words = Words(loops, root, region, "kept")
        self.used = loops.slot("used", Lit(0))
        self.most = self.common.words + max(s.words for s in self.shapes.values())
        # A read that is for the other flag may not leave the buffer either.
        self.words.make_room(Lit(self.most), Lit(0))

    def _shape(self, side: bool | None) -> RowShape:
        """The part of a row with this; `places` has where each begins among its."""
        types: list[Scalar] = []
        for k in self.plan.kept(side):
            self.places[k] = len(types)
            types += _machine(self.elems[k])
        return row_shape(types)

    def collect(self, results: Sequence[Rep]) -> Atom:
        """Keep the results of a call; its number."""
        loops, place = self.lowering.loops, self.lowering.loops.get(self.used)
        if self.plan.flag is None:
            self._write(place, results, False)
            return place
        flag = self.lowering.atom_of(results[self.plan.flag])
        bodies = []
        for side in (True, False):
            loops.open(is_loop=False)
            if self.common.words + self.shapes[side].words:
                self._write(place, results, side)
            bodies.append(loops.close())
        loops.emit(l.Branch(flag, *bodies))
        return loops.let("select", flag, self._turned(place), place)

    def _turned(self, number: Atom) -> Atom:
        """-1 - number"""
        return self.lowering.loops.let("isub", Lit(-1), number)

    def _write(self, place: Atom, results: Sequence[Rep], side: bool) -> None:
        loops, most = self.lowering.loops, Lit(self.most)
        self.words.make_room(loops.let("iadd", place, most), place)
        row = loops.offset(self.words.ptr, place, I64)
        for part in (None, side):
            shape = self._of(part)
            start = row if part is None else self._behind(row)
            for k in self.plan.kept(part):
                for j, atom in enumerate(self._atoms(k, results[k])):
                    at = self.places[k] + j
                    shape.store(loops, start, at, atom, self.words.root)
        words = self.common.words + self.shapes[side].words
        loops.set(self.used, loops.let("iadd", place, Lit(words)))

    def _of(self, side: bool | None) -> RowShape:
        return self.common if side is None else self.shapes[side]

    def _behind(self, row: Atom) -> Atom:
        """Where the part of a row begins that only some calls have."""
        return self.lowering.loops.offset(row, Lit(self.common.words), I64)

    def _atoms(self, k: int, value: Rep) -> Sequence[Atom]:
        if not isinstance(value, ArrayRep):
            return [self.lowering.atom_of(value)]
        self.lowering.roots.union(self.inner[k], value.root)
        return value.ptr, *value.dims

    def finish(self) -> None:
        """After the outermost call: bind the outputs."""
        self.words.trim(self.used, 1, self.most)
        ptr = self.words.ptr
        for k, var in enumerate(self.outputs):
            self.lowering.bind(var, KeptRep(self, k, ptr))

    def load(self, of: KeptRep, number: Atom, name: str) -> Rep:
        """What the call of a number has kept of an output."""
        loops, plan, k = self.lowering.loops, self.plan, of.output
        if k == plan.flag:
            return loops.let("ilt", number, Lit(0), name=name)
        place, side = number, plan.sides[k]
        if plan.flag is not None:
            place = loops.let("imax", number, self._turned(number))
        row = loops.offset(of.ptr, place, I64)
        start = row if side is None else self._behind(row)
        elem, shape = self.elems[k], self._of(side)
        atoms = [
            shape.load(loops, start, self.places[k] + j, self.words.root, name)
            for j in range(len(_machine(elem)))
        ]
        if isinstance(elem, Scalar):
            return atoms[0]
        ptr, *dims = atoms
        content = element_type(elem.content.elem)
        return ArrayRep(ptr, tuple(dims), content, self.inner[k])


def _machine(elem: Scalar | Box) -> list[Scalar]:
    """What stands for an element in a row."""
    return [elem] if isinstance(elem, Scalar) else [PTR, *[I64] * elem.content.rank]
