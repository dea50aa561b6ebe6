"""Refuses updates that mean something else in Python, where arrays are shared.

    b = a                      b = a
    a[0] = 1.0                 a[0] = 1.0
    return a                   return a, b      refused: Python's b changes as well

Here an update makes a new array. In Python it changes the array that all its names
refer to; the two are the same unless another name is read afterwards. An *object* is
what Python would make one array of; rows and slices are the same object as the array
they are taken from. Arguments, and constants from outside, must not be changed at all.

It sees through calls and tuples, as functions are inlined, and no pass has yet made one
array out of two that are equal.

What a loop carries is, in each step, an object of its own: what it was before the step.
It may be one from outside of the loop (its `parents`). States are different objects
unless the initial or next values of two may be one; they then form one group, which is
found by walking over the body until nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations

from chadllvm.errors import update_errors
from chadllvm.ir.rewrite import Renaming, everywhere, free_vars_of, has
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Const,
    Function,
    If,
    Operand,
    Program,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import Array, Box, Type
from chadllvm.ops.alias import Alias, Contains, Item, Lent, Read, Rewritten, Shares
from chadllvm.ops.custom import Custom
from chadllvm.ops.grow import WRITERS, Append, DropLast
from chadllvm.ops.index import Dim, Index, Sized
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Replace, Update
from chadllvm.simplify.flatten import flatten
from chadllvm.simplify.inline import as_written
from chadllvm.simplify.recursion import recursion
from chadllvm.support.diagnostic import NO_SPAN, CompileError, InternalError, Span


def sharing(program: Program) -> Program:
    """The same program, if its updates mean what they mean in Python.

    Raises:
        CompileError: at an update of what is an argument, or is read by another name
            afterwards.
    """
    updating = [f for f in program.functions if _updates(f)]
    CompileError.all_of(partial(_check, function) for function in updating)
    return program


def has_updates(program: Program) -> bool:
    """Whether there is anything that `sharing` may refuse."""
    return any(map(_updates, program.functions))


def _updates(function: Function) -> bool:
    return has(function.body, *WRITERS)


@dataclass(eq=False, slots=True)
class _Object:
    """One array of Python's, as far as is known.

    `number`: objects are counted as they are met. `fixed`: why it must not be updated,
    if so. `parents`: older objects that it may be; with none it is a new one. `family`:
    objects of one family are different ones; so are those that are `apart`. `is_row`:
    it is one of what a list refers to, not the list itself; `is_item`: one that was
    taken from there. `level`: it is one of the rows of its parents, which are lists of
    so many dimensions. `names`: the variables that stand for it, or for a part of it.
    """

    number: int
    fixed: str = ""
    parents: frozenset[_Object] = frozenset()
    family: object = None
    is_row: bool = False
    is_item: bool = False
    level: int = 0
    names: list[Var] = field(default_factory=list)
    apart: set[_Object] = field(default_factory=set)

    def may_be(
        self,
        other: _Object,
        *,
        rows: bool = True,
        others: bool = True,
        level: int = 0,
    ) -> bool:
        """Whether two objects may be the same: the younger one tells.

        `rows`: or this one may be a list that refers to the other one; `others`: or the
        other one to this. Rows of lists of so many dimensions as `level` are no matter.
        """
        if 0 < self.level <= level or 0 < other.level <= level:
            return False
        if (self.is_row and not rows) or (other.is_row and not others):
            return False
        if self is other:
            return True
        if self.family is not None and self.family is other.family:
            return False
        if other in self.apart:
            return False
        if self.number < other.number:
            return other.may_be(self, rows=others, others=rows, level=level)
        return any(
            parent.may_be(other, rows=rows, others=others, level=level)
            for parent in self.parents
        )

    def holds(self, other: _Object, level: int) -> bool:
        """Whether this may be another object, a list of so many dimensions, or refer to
        it."""
        rows = self.number > other.number
        return self.may_be(other, rows=rows, others=False, level=level)


@dataclass(frozen=True, slots=True)
class _Given:
    """What a result of a call may be besides a new array: parameters by position, and
    objects from outside of the function."""

    params: frozenset[int] = frozenset()
    outside: frozenset[_Object] = frozenset()

    @classmethod
    def of(cls, result: Objects, params: Sequence[Objects], before: int) -> _Given:
        found = _above(result)
        given = (k for k, own in enumerate(params) if not own.isdisjoint(found))
        return cls(frozenset(given), frozenset(o for o in found if o.number <= before))


@dataclass(frozen=True, slots=True)
class _Recursion:
    """What is known of the function of a recursion: its results, and which of its
    parameters it updates."""

    results: tuple[_Given, ...]
    updated: frozenset[int] = frozenset()


_SHARED_ROWS = "made of rows that are used elsewhere"

# Each walk of a loop's body but the last learns what one more state refers to.
_MOST_WALKS = 200

Objects = frozenset[_Object]
_NONE: Objects = frozenset()


@dataclass(eq=False, slots=True)
class _Frame:
    """A block being walked: where each variable is read last, and where we are.

    `outer_reads`: for the body of a loop, what it reads from outside, in every step.
    """

    last_read: dict[Var, tuple[int, Span]]
    position: int = 0
    outer_reads: dict[Var, Span] = field(default_factory=dict)


class _Changed:
    """Which types have arrays that may change: what nobody changes, any may refer to.

    A list that becomes another one leaves what it refers to as it is.
    """

    def __init__(self, block: Block) -> None:
        self._all = has(block, Custom)
        self._listed: set[Type] = set()
        self._written: set[Type] = set()
        for binding in everywhere(block):
            match binding.expr:
                case Apply(Append() | DropLast() | Replace()):
                    self._listed.update(v.type for v in binding.vars)
                case Apply(Update() | Rewritten()):
                    self._written.update(v.type for v in binding.vars)
        self._known: dict[Type, bool] = {}

    def may(self, ty: Type) -> bool:
        """Whether an array of this type, what it refers to, or what refers to it."""
        if ty not in self._known:
            self._known[ty] = (
                self._all
                or any(
                    ty == other or _refers(ty, other)
                    for other in self._listed | self._written
                )
                or any(_refers(other, ty) for other in self._written)
            )
        return self._known[ty]


def _refers(whole: Type, part: Type) -> bool:
    """Whether an array of one type may refer to one of the other."""
    match whole, part:
        case Array(elem, rank), Array(inner, below) if elem == inner:
            return rank > below
        case Array(Box(content)) | Box(content), _:
            return content == part or _refers(content, part)
        case _:
            return False


def _check(function: Function) -> None:
    body = function.body
    walk = _Walk(sizes_change=has(body, Append, DropLast), changed=_Changed(body))
    for param in function.params:
        walk.bind(param, walk.new("an argument"))
    walk.block(function.body)


class _Walk:
    """Walks blocks in order and checks each update."""

    def __init__(self, *, sizes_change: bool, changed: _Changed) -> None:
        # Whether to ask for a size is to read the array.
        self.sizes_change = sizes_change
        self.changed = changed
        self.objects: dict[Var, Objects] = {}
        self.frames: list[_Frame] = []
        self.count = 0
        # The objects that have names, and those that stand for a reason.
        self.named: dict[_Object, None] = {}
        self.reasons: dict[tuple[str, bool], Objects] = {}
        # What a list refers to, by what that is besides.
        self.rows: dict[tuple[_Object, int], _Object] = {}
        # What is taken from a list, by what that is besides.
        self.items: dict[_Object, _Object] = {}
        # The names that updates in a branch found dead there.
        self.dropped: list[tuple[_Object, list[Var]]] = []
        # The functions of recursions.
        self.recursions: dict[Var, _Recursion] = {}
        # The objects that were updated, of which parameters may be some.
        self.updated: set[_Object] = set()

    def new(
        self,
        fixed: str = "",
        parents: Objects = _NONE,
        family: object = None,
        *,
        is_row: bool = False,
        is_item: bool = False,
        level: int = 0,
    ) -> Objects:
        self.count += 1
        made = _Object(self.count, fixed, parents, family, is_row, is_item, level)
        return frozenset([made])

    def row(self, item: _Object, level: int = 0) -> _Object:
        """The object as what a list refers to; or what it refers to itself, which is a
        list of so many dimensions."""
        if item.is_row and not item.is_item:
            return item
        if (item, level) not in self.rows:
            parents = frozenset([item])
            (self.rows[item, level],) = self.new("", parents, is_row=True, level=level)
        return self.rows[item, level]

    def item(self, items: _Object) -> _Object:
        """What was taken from a list, whose size has nothing to do with the list's."""
        if items.is_item:
            return items
        if items not in self.items:
            parents = frozenset([items])
            (self.items[items],) = self.new("", parents, is_row=True, is_item=True)
            if items.is_row:
                # Put into a list again it is what it was.
                self.rows[self.items[items], 0] = items
        return self.items[items]

    def listed(self, array: Objects, value: Objects, level: int = 0) -> Objects:
        """The objects of a list that refers to a value as well; or to what that refers
        to as a list of so many dimensions."""
        old = [o for o in _above(array) if o.is_row or o in array]
        found = array | {self.row(item, level) for item in value}
        if any(a.may_be(b) for a in old for b in value):
            found |= self.reason(_SHARED_ROWS, is_row=True)
        return found

    def reason(self, why: str, *, is_row: bool) -> Objects:
        """Whatever must not be updated for this reason."""
        key = why, is_row
        if key not in self.reasons:
            self.reasons[key] = self.new(why, is_row=is_row)
        return self.reasons[key]

    def bind(self, var: Var, objects: Objects) -> None:
        if not isinstance(var.type, Array) or not self.changed.may(var.type):
            return
        self.objects[var] = objects
        for item in objects:
            item.names.append(var)
            self.named[item] = None

    def of(self, operand: Operand) -> Objects:
        return self.objects.get(operand, _NONE) if isinstance(operand, Var) else _NONE

    def block(self, block: Block, outer_reads: dict[Var, Span] | None = None) -> None:
        self.frames.append(
            _Frame(_last_reads(block, self.sizes_change), 0, outer_reads or {})
        )
        for position, binding in enumerate(block.bindings):
            self.frames[-1].position = position
            self._binding(binding)
        self.frames.pop()

    def _inside(self, op: Custom, args: Sequence[Operand]) -> Sequence[Operand]:
        """Walk a copy of a function that stands apart; what it gives."""
        function = as_written(recursion(flatten(op.primal))).entry
        renaming = Renaming(fresh=True)
        params = renaming.bind(function.params)
        for param, arg in zip(params, args, strict=True):
            self.bind(param, self.of(arg))
        body = renaming.block(function.body)
        self.block(body)
        return body.results

    def _read_later(self, var: Var) -> Span | None:
        """Where a variable is read behind this place, in a later step of a loop too."""
        for frame in reversed(self.frames):
            position, span = frame.last_read.get(var, (-1, NO_SPAN))
            if position > frame.position:
                return span
            if var in frame.outer_reads:
                return frame.outer_reads[var]
        return None

    def _binding(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Update() as op, (array, *_)):
                self._update(binding, array, rows=not isinstance(op, Replace))
                self.bind(binding.vars[0], self.of(array))
            case Apply(DropLast(), (array,)):
                self._update(binding, array, rows=False)
                self.bind(binding.vars[0], self.of(array))
            case Apply(Append(), (array, value)):
                after = self.listed(self.of(array), self.of(value))
                self._update(binding, array, rows=False)
                self.bind(binding.vars[0], after)
            case Apply(Index() | Sized(), (array, *_)):
                self.bind(binding.vars[0], self.of(array))
            case Apply(Contains() as op, (array, value)):
                level = _depth(array.type) if isinstance(op, Shares) else 0
                objects = self.listed(self.of(array), self.of(value), level)
                self.bind(binding.vars[0], objects)
            case Apply(Custom() as op, args):
                results = self._inside(op, args)
                for var, result in zip(binding.vars, results, strict=True):
                    self.bind(var, self.of(result))
            case Apply(Lent()):
                self.bind(binding.vars[0], self.new())
            case Apply(Rewritten(), (array, _)):
                self._update(binding, array)
                self.bind(binding.vars[0], self.of(array))
            case Apply(Item(), (array, whole)):
                items = frozenset(map(self.item, self.of(whole)))
                self.bind(binding.vars[0], self.of(array) | items)
            case Apply(Read()):
                self.bind(binding.vars[0], self.new())
            case Apply(Alias(), (array, whole)):
                self.bind(binding.vars[0], self.of(array) | self.of(whole))
            case If(_, then, orelse):
                self._branch(then)
                self._branch(orelse)
                given = [[*map(self.of, b.results)] for b in (then, orelse)]
                for var, objects in zip(
                    binding.vars, self._either(*given), strict=True
                ):
                    self.bind(var, objects)
            case Apply(Iterate()) as node:
                self._iterate(binding, node)
            case Apply(Recurse() as op) as node:
                self._recursion(binding, node, op)
            case Call(Var() as function, args) if function in self.recursions:
                self._called(binding, function, args)
            case Apply(_, _, (body,)):
                before = self.count
                self.block(body.body, _reads(binding, self.sizes_change))
                self._collected(binding.vars, body.body.results, before)
            case Const():
                self.bind(binding.vars[0], self.new("a constant"))
            case _:
                for var in binding.vars:
                    self.bind(var, self.new())

    def _branch(self, block: Block) -> None:
        """What is dead behind an update in one branch may be read in the other."""
        mark = len(self.dropped)
        self.block(block)
        for item, names in reversed(self.dropped[mark:]):
            item.names = names + item.names
            self.named[item] = None
        del self.dropped[mark:]

    def _either(
        self, then: Sequence[Objects], orelse: Sequence[Objects]
    ) -> Sequence[Objects]:
        """What a branch gives. Results that are different on either side are so behind
        it, though each may be what the other would have been."""
        either = [a | b for a, b in zip(then, orelse, strict=True)]
        apart = [
            (i, k)
            for i, k in combinations(range(len(either)), 2)
            if _may_share(either[i], either[k])
            and not _may_share(then[i], then[k])
            and not _may_share(orelse[i], orelse[k])
        ]
        for k in sorted({k for pair in apart for k in pair}):
            either[k] = self.new("", either[k])
        for i, k in apart:
            (one,), (other,) = either[i], either[k]
            one.apart.add(other)
            other.apart.add(one)
        return either

    def _collected(
        self, variables: Sequence[Var], results: Sequence[Operand], before: int
    ) -> None:
        """New arrays. In a list, rows that were there `before` the step are shared."""
        for var, result in zip(variables, results, strict=False):
            older = [o for o in _above(self.of(result)) if o.number <= before]
            objects = self.new()
            if older:
                objects |= self.reason(_SHARED_ROWS, is_row=True) | set(
                    map(self.row, older)
                )
            self.bind(var, objects)

    def _update(self, binding: Binding, array: Operand, *, rows: bool = True) -> None:
        """Check an update; `rows`: it may be one of an array that a list refers to.

        Otherwise a list is another one behind it, but not what it has referred to.
        """
        objects = self.of(array)
        level = _depth(array.type)
        least = 0 if rows else level
        # To make an array of a list longer is to change what is in the list.
        rows = rows or any(o.is_item for o in _above(objects, items=True))
        if not rows:
            objects = frozenset(o for o in objects if not o.is_row)
        name = _name(array)
        for item in _above(objects, rows=rows):
            if item.fixed:
                itself = {item} if item.is_row else _above(objects, rows=False)
                raise update_errors.fixed_update(
                    binding.span, name, item.fixed, is_row=item not in itself
                )
        self.updated.update(_above(objects, rows=rows))
        same = [
            known
            for known in self.named
            if any(known.may_be(o) if rows else known.holds(o, level) for o in objects)
        ]
        changed = [(item, _deep(item.names, least)) for item in same]
        for other in dict.fromkeys(n for _, names in changed for n in names):
            span = self._read_later(other)
            if span is not None:
                raise update_errors.shared_update(binding.span, name, span)
        for item, names in changed:
            self.dropped.append((item, names))
            item.names = [n for n in item.names if n not in names]
            if not item.names:
                del self.named[item]

    def _iterate(self, binding: Binding, node: Apply) -> None:
        (body,) = node.bodies
        states = body.params[1:]
        outside = dict(zip(states, map(self.of, node.args[1:]), strict=False))
        groups = _united({s: k for k, s in enumerate(states)}, outside)
        for state in self._with_common_rows(groups, outside):
            outside[state] |= self.reason(_SHARED_ROWS, is_row=True)
        known = self._names()
        walks = 0
        while True:
            walks += 1
            if walks > _MOST_WALKS:
                raise InternalError("sharing: what states refer to is not found")
            self._forget(known)
            own = self._group(groups, outside)
            before = self.count
            for state, group in groups.items():
                self.bind(state, own[group])
            self.block(body.body, _reads(binding, self.sizes_change))
            results = body.body.results
            steps = dict(zip(states, map(self.of, results), strict=False))
            united = _united(groups, steps)
            wider = {s: outside[s] | self._older(o, own) for s, o in steps.items()}
            for state in self._with_common_rows(united, steps):
                wider[state] |= self.reason(_SHARED_ROWS, is_row=True)
            if united == groups and wider == outside:
                break
            groups, outside = united, wider
        last = self._group(groups, outside)
        for final, state in zip(binding.vars, states, strict=False):
            self.bind(final, last[groups[state]])
        count = len(states)
        self._collected(binding.vars[count:], results[count:], before)

    def _names(self) -> dict[_Object, list[Var]]:
        """The names that objects have now."""
        return {item: [*item.names] for item in self.named}

    def _forget(self, known: dict[_Object, list[Var]]) -> None:
        """Take the names back that a walk gave which did not know enough yet."""
        for item in self.named:
            item.names = []
        self.named = dict.fromkeys(known)
        for item, names in known.items():
            item.names = [*names]

    def _with_common_rows(
        self, groups: dict[Var, int], objects: dict[Var, Objects]
    ) -> set[Var]:
        """The states of different groups that may refer to a row that may change."""
        found: set[Var] = set()
        for pair in combinations(groups, 2):
            first, second = (objects[state] for state in pair)
            is_one = groups[pair[0]] == groups[pair[1]]
            if not is_one and _may_share(first, second):
                common = _above(first) & _above(second)
                found.update(() if all(map(_is_fixed, common)) else pair)
        return found

    def _recursion(self, binding: Binding, node: Apply, op: Recurse) -> None:
        """Calls may return what they are given, or what is outside of them."""
        (body,) = node.bodies
        itself, *params = body.params
        results = body.body.results[: op.plain(body)]
        before, known = self.count, self._names()
        self.recursions[itself] = _Recursion(tuple(_Given() for _ in results))
        while True:
            self._forget(known)
            own = [self.new() for _ in params]
            for param, objects in zip(params, own, strict=True):
                self.bind(param, objects)
            self.block(body.body, _reads(binding, self.sizes_change))
            given = tuple(_Given.of(self.of(r), own, before) for r in results)
            updated = (k for k, objects in enumerate(own) if objects & self.updated)
            found = _Recursion(given, frozenset(updated))
            if found == self.recursions[itself]:
                break
            self.recursions[itself] = found
        self._called(binding, itself, node.args)

    def _called(self, binding: Binding, function: Var, args: Sequence[Operand]) -> None:
        """New objects, but for what they may be; what is updated is nothing else."""
        found, given = self.recursions[function], [self.of(a) for a in args]
        for k in sorted(found.updated):
            for j, other in enumerate(given):
                if j != k and any(a.may_be(b) for a in given[k] for b in other):
                    raise update_errors.shared_update(
                        binding.span, _name(args[k]), binding.span
                    )
            self._update(binding, args[k])
        for var, result in zip(binding.vars, found.results, strict=False):
            parents = result.outside.union(*(given[k] for k in result.params))
            self.bind(var, self.new("", parents))

    def _group(
        self, groups: dict[Var, int], outside: dict[Var, Objects]
    ) -> dict[int, Objects]:
        """One object for each group of states."""
        found: dict[int, Objects] = {}
        family = object()
        for group in set(groups.values()):
            members = [s for s in groups if groups[s] == group]
            parents = frozenset(o for s in members for o in outside[s])
            found[group] = self.new("", parents, family)
        return found

    def _older(self, step: Objects, own: dict[int, Objects]) -> Objects:
        """What a next state may be, or refer to, that was there before the loop."""
        oldest = min((o.number for objects in own.values() for o in objects), default=0)
        found: set[_Object] = set()
        pending = list(step)
        while pending:
            item = pending.pop()
            if item.number < oldest:
                found.add(item)
                continue
            if item.fixed:
                found |= self.reason(item.fixed, is_row=item.is_row)
            if item.is_item:
                found.update(map(self.item, self._older(item.parents, own)))
            elif item.is_row:
                older = self._older(item.parents, own)
                found.update(self.row(o, item.level) for o in older)
            else:
                pending += item.parents
        return frozenset(found)


def _deep(names: Iterable[Var], least: int) -> list[Var]:
    """Those that may stand for a list of so many dimensions, or for one of such."""
    return [name for name in names if _depth(name.type) >= least]


def _depth(ty: Type) -> int:
    """The dimensions of an array, with those of the arrays that it may have."""
    match ty:
        case Array(elem, rank):
            return rank + _depth(elem)
        case Box(content):
            return _depth(content)
        case _:
            return 0


def _name(array: Operand) -> str:
    return array.name if isinstance(array, Var) else "array"


def _united(groups: dict[Var, int], objects: dict[Var, Objects]) -> dict[Var, int]:
    """The groups, with those in one whose states may be one object."""
    groups = dict(groups)
    states = list(groups)
    for k, state in enumerate(states):
        for other in states[:k]:
            level = min(_depth(state.type), _depth(other.type))
            if _may_be_one(objects[state], objects[other], level):
                old, new = groups[state], groups[other]
                groups.update((s, new) for s in states if groups[s] == old)
    return groups


def _may_be_one(first: Objects, second: Objects, level: int) -> bool:
    """Whether two variables may stand for one object, or one for what the other holds.

    Two lists that refer to one row are not one; nor are those of so many dimensions.
    """
    own = _above(first, items=True, level=level) & _above(second, level=level)
    held = _above(first, level=level) & _above(second, items=True, level=level)
    return bool(own | held) and _may_share(first, second, level)


def _may_share(first: Objects, second: Objects, level: int = 0) -> bool:
    """Whether two variables may stand for, or refer to, one object."""
    return any(a.may_be(b, level=level) for a in first for b in second)


def _is_fixed(item: _Object) -> bool:
    return any(o.fixed for o in _above([item]))


def _above(
    objects: Iterable[_Object],
    *,
    rows: bool = True,
    items: bool = False,
    level: int = 0,
) -> set[_Object]:
    """These objects and all that they may be; `rows`: or may refer to.

    With `items`, of what they refer to only what they may be themselves; without what
    lists of so many dimensions as `level` refer to.
    """
    found: set[_Object] = set()
    pending = list(objects)
    while pending:
        item = pending.pop()
        is_passed = item.is_item if items and item.is_row else rows or not item.is_row
        if item not in found and is_passed and not 0 < item.level <= level:
            found.add(item)
            pending += item.parents
    return found


def _reads(binding: Binding, sizes_change: bool) -> dict[Var, Span]:
    """What the bodies of an expression read from outside."""
    used: dict[Var, Span] = {}
    for params, body in nested(binding.expr):
        inside = {*params, *(v for b in body.bindings for v in b.vars)}
        last = _last_reads(body, sizes_change).items()
        used.update((v, span) for v, (_, span) in last if v not in inside)
    return used


def _last_reads(block: Block, sizes_change: bool) -> dict[Var, tuple[int, Span]]:
    """The place of the last read of each variable; results are read at the end.

    To ask for the size of an array is not to read it, unless sizes change; nor is to
    put it into a list.
    """
    found: dict[Var, tuple[int, Span]] = {}
    for position, binding in enumerate(block.bindings):
        used: Iterable[Operand] = operands(binding.expr)
        if isinstance(binding.expr, Apply) and isinstance(binding.expr.op, Contains):
            used = binding.expr.args[:1]
        if nested(binding.expr):
            used = free_vars_of(binding.expr)
        elif _is_size(binding) and not sizes_change:
            continue
        place = position, binding.span
        found.update((o, place) for o in used if isinstance(o, Var))
    end = len(block.bindings)
    span = block.bindings[-1].span if block.bindings else NO_SPAN
    found.update((r, (end, span)) for r in block.results if isinstance(r, Var))
    return found


def _is_size(binding: Binding) -> bool:
    return isinstance(binding.expr, Apply) and isinstance(binding.expr.op, Dim)
