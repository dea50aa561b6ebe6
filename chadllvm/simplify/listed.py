"""Which lists hold nothing but arrays from outside, so that numbers can stand for them.

A list goes by several names, as it is chosen, handed on by loops, and grows. All of
these become columns of numbers (`lists.py`), or none: where nothing but elements and
sizes are asked of any of them, and each array in them is the same one wherever an
element is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    If,
    Lit,
    Operand,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import Array, Scalar
from chadllvm.ops.build import Build
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Dim, Empty, Index, Sized
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update
from chadllvm.simplify.codes import NONE, Table

_MOST = 16  # The arrays of a list, of which each has a branch where it is read.

# Of a variable or a use, the blocks that it stands in, and how far it is on.
_Place = tuple[tuple[int, ...], int]


@dataclass(eq=False)
class _List:
    """What goes by several names: these, what is put in, and where it is read.

    A state of a loop that is an array goes by two, and is what it begins with and what
    is handed on to it.
    """

    names: list[Var] = field(default_factory=list)
    elements: list[Operand] = field(default_factory=list)
    reads: list[_Place] = field(default_factory=list)
    is_whole: bool = False  # Used otherwise than by its elements.
    is_worth: bool = False  # Made or changed more than once.
    is_repeated: bool = False  # Made in each step of a loop.
    is_sized: bool = False  # The size of its rows may be asked where it has none.

    def take(self, other: _List) -> None:
        self.names += other.names
        self.elements += other.elements
        self.reads += other.reads
        self.is_whole |= other.is_whole
        self.is_worth |= other.is_worth
        self.is_repeated |= other.is_repeated
        self.is_sized |= other.is_sized


Owners = tuple[Var, ...]


@dataclass(frozen=True)
class Listed:
    """The names of such lists, the states of loops by way of which they get arrays, and
    what is put into them, each with the arrays that it may refer to; and the lists of
    which the size of rows is known where there are none."""

    lists: Mapping[Var, Owners]
    states: Mapping[Var, Owners]
    elements: Mapping[Operand, Owners]
    sized: frozenset[Var]


def listed(function: Function, table: Table) -> Listed:
    """Find them, by what the table knows of the variables of a function."""
    table.forget_owners()
    found = _Lists(function)
    left = found.worth(table)
    while True:
        known = {name: one for one in left for name in one.names}
        reached = [(one, *_reached(one, known, found.states, table)) for one in left]
        bad = next((r[0] for r in reached if not found.is_outside(*r)), None)
        if bad is None:
            lists: dict[Var, Owners] = {}
            states: dict[Var, Owners] = {}
            elements: dict[Operand, Owners] = {}
            for one, owners, through in reached:
                lists |= dict.fromkeys(one.names, owners)
                for state in through:
                    states |= dict.fromkeys(state.names, owners)
                for each in (one, *through):
                    elements |= dict.fromkeys(each.elements, owners)
            sized = (name for one in left if one.is_sized for name in one.names)
            return Listed(lists, states, elements, frozenset(sized))
        # Others that take elements of this one may do without what is in it.
        left.remove(bad)


def _reached(
    one: _List, lists: Mapping[Var, _List], states: Mapping[Var, _List], table: Table
) -> tuple[Owners, list[_List]]:
    """The arrays in a list, those of others whose elements it takes included, and the
    states by way of which it gets some.

    An element that may be of one list or such a list itself stands for itself.
    """
    owners: dict[Var, None] = {}
    through: dict[_List, None] = {}
    pending = [*one.elements]
    seen: set[object] = {one}
    while pending:
        element = pending.pop()
        assert isinstance(element, Var)
        if not table.takes_elements(element, lists):
            owners[element] = None
            continue
        for owner in table.owners(element):
            other = lists.get(owner) or states.get(owner)
            if other in seen or owner in seen:
                continue
            seen.add(other or owner)
            if other is not None:
                pending += other.elements
                if owner not in lists:
                    through[other] = None
            elif table.owners(owner) != (owner,):
                pending.append(owner)
            else:
                owners[owner] = None
    return tuple(owners), [*through]


class _Lists:
    """A walk over a function that finds its lists, and where all stands."""

    def __init__(self, function: Function) -> None:
        self._list: dict[Var, _List] = {}
        # The states of loops that are arrays, by what they are in a step and behind.
        self.states: dict[Var, _List] = {}
        self._place: dict[Var, _Place] = {}
        self._path: tuple[int, ...] = ()
        self._blocks = self._now = 0
        self._in_loop = False
        self._function(function)

    def worth(self, table: Table) -> list[_List]:
        """Those that are made or changed more than once, and those of which such lists
        get elements."""
        all_of_them = dict.fromkeys(self._list.values())
        chosen = [one for one in all_of_them if one.is_worth and not one.is_whole]
        for one in chosen:  # Which grows.
            for element in one.elements:
                assert isinstance(element, Var)
                for owner in table.owners(element):
                    other = self._list.get(owner)
                    if other and not other.is_whole and other not in chosen:
                        chosen.append(other)
        return chosen

    def is_outside(self, one: _List, owners: Owners, through: Sequence[_List]) -> bool:
        """Whether all in a list is there, and the same, as long as the list is."""
        if not owners or NONE in owners or len(owners) > _MOST:
            return False
        if len(owners) == len(one.names) == 1 and not one.is_repeated:
            return False  # What is read of it can be read of the array at once.
        return all(
            self._is_around(owner, other)
            for owner in owners
            for other in (one, *through)
        )

    def _is_around(self, owner: Var, one: _List) -> bool:
        if owner not in self._place:  # It went by another name before.
            return False
        path, since = self._place[owner]
        names = [self._place[name] for name in one.names]
        return all(p[: len(path)] == path for p, _ in (*names, *one.reads)) and all(
            since < now for _, now in one.reads
        )

    def _function(self, function: Function) -> None:
        for param in self._enter(function.params):
            param.is_whole = True
        self._block(function.body)
        self._whole(function.body.results)

    def _enter(self, variables: Iterable[Var]) -> list[_List]:
        """Note where variables are bound, and give the lists among them."""
        found: list[_List] = []
        for var in variables:
            self._now += 1
            self._place[var] = self._path, self._now
            if _is_list(var):
                in_loop = self._in_loop
                found.append(_List([var], is_worth=in_loop, is_repeated=in_loop))
                self._list[var] = found[-1]
        return found

    def _inner(self, params: Sequence[Var], block: Block, in_loop: bool) -> None:
        outer, was_in_loop = self._path, self._in_loop
        self._blocks += 1
        self._path, self._in_loop = (*outer, self._blocks), was_in_loop or in_loop
        self._enter(params)
        self._block(block)
        self._path, self._in_loop = outer, was_in_loop

    def _block(self, block: Block) -> None:
        for binding in block.bindings:
            self._binding(binding)

    def _binding(self, binding: Binding) -> None:
        expr = binding.expr
        for params, inner in nested(expr):
            self._inner(params, inner, in_loop=not isinstance(expr, If))
        bound = self._enter(binding.vars)
        match expr:
            case Apply(Empty()):
                pass
            case Apply(Build(), (count,), (body,)):
                for var, result in zip(binding.vars, body.body.results, strict=True):
                    self._put(var, result)
                    if count != Lit(1):
                        self._read(var)  # To compare the sizes of its elements.
                    if _is_list(var) and not isinstance(count, Lit):
                        self._list[var].is_worth = True
            case Apply(Append(), (array, element)):
                self._same(array, *binding.vars)
                self._put(binding.vars[0], element)
            case Apply(DropLast(), (array,)):
                self._same(array, *binding.vars)
            case Apply(Update(), (array, _, element)) if _is_array(element):
                self._same(array, *binding.vars)
                self._put(binding.vars[0], element)
            case Apply(Index(), (array, *at)) if at:
                self._read(array)
                for one in bound:
                    one.is_whole = True
            case Apply(Sized(), (Var() as array, *_)) if _is_list(array):
                self._same(array, *binding.vars)
                one = self._list[array]
                one.is_sized = True
                one.is_whole |= _rank(array) > 2
            case Apply(Dim(axis), (array,)):
                if axis > 0:
                    self._read(array)
            case If(_, then, orelse):
                for k, var in enumerate(binding.vars):
                    self._same(var, then.results[k], orelse.results[k])
            case Apply(Iterate(), (_, *inits), (body,)):
                params, results = body.params[1:], body.body.results
                for k, init in enumerate(inits):
                    self._same(init, params[k], results[k], binding.vars[k])
                    self._state((params[k], binding.vars[k]), (init, results[k]))
                self._whole(results[len(inits) :])
                self._whole(binding.vars[len(inits) :])
            case _:
                self._whole(operands(expr))
                self._whole(binding.vars)
                for params, inner in nested(expr):
                    self._whole((*params, *inner.results))

    def _state(self, names: Sequence[Var], values: Sequence[Operand]) -> None:
        if _is_array(names[0]):
            reads = [self._place[name] for name in names]
            one = _List([*names], [*values], reads)
            self.states |= dict.fromkeys(names, one)

    def _put(self, array: Var, element: Operand) -> None:
        if _is_list(array):
            self._list[array].elements.append(element)
            self._whole([element])

    def _read(self, array: Operand) -> None:
        if isinstance(array, Var) and _is_list(array):
            self._list[array].reads.append((self._path, self._now))

    def _whole(self, given: Iterable[Operand]) -> None:
        for operand in given:
            if isinstance(operand, Var) and _is_list(operand):
                self._list[operand].is_whole = True

    def _same(self, first: Operand, *others: Operand) -> None:
        """Take names for those of one list."""
        if not (isinstance(first, Var) and _is_list(first)):
            return
        one = self._list[first]
        for var in others:
            assert isinstance(var, Var)
            other = self._list[var]
            if other is not one:
                one.take(other)
                self._list |= dict.fromkeys(other.names, one)


def _rank(array: Var) -> int:
    assert isinstance(array.type, Array)
    return array.type.rank


def _is_array(operand: Operand) -> bool:
    return isinstance(operand.type, Array)


def _is_list(operand: Operand) -> bool:
    """Whether an operand is an array of numbers that may be a list of arrays."""
    ty = operand.type
    return isinstance(ty, Array) and ty.rank > 1 and isinstance(ty.elem, Scalar)
