"""Runs a loop inside of the loop whose results it reads element by element.

    xs, s = …loop(n) { i ->               s, … = …loop(n) { i ->
      …                                     …
      yield x, v }                          yield v
    …                             →         a = x
    …loop(n) { j ->                         …
      a = index(xs, j)                      one c w }
      …                                   …
      one c w }

The second loop has the same count, uses the results of the first at its own index only,
and nothing else that is computed from them or cannot be had before them. What it reads
is there because of the checks in front of it: these move in front of the first loop, or
it stays. A loop between the two does not move: if it checks something of a size, the
second may run before it only if its own indices are the steps of loops over such a
size, or that is checked before as well, as forward loops do for their reverse. Its
contributions to cells commute with everything, so it may run early. The arrays between
the two then need not exist. This is the fusion of producers and consumers of any
functional program; what CHAD leaves behind, a forward loop and a reverse loop over the
same index with a tape in between, is one case of it.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from chadllvm.ir.op import Op, Prim
from chadllvm.ir.rewrite import (
    Renaming,
    everywhere,
    free_vars_of,
    map_functions,
    rebuild,
    with_body,
)
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Const,
    Expr,
    Function,
    Lambda,
    One,
    Open,
    Operand,
    Program,
    Var,
    View,
    nested,
    operands,
)
from chadllvm.ir.types import Acc, Array, Type
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Dim, Index, Sized, Zeros
from chadllvm.simplify.failing import can_fail, checks, has_checks, is_check
from chadllvm.simplify.nearly import Nearly


def fuse(program: Program, *, speculate: bool) -> Program:
    """Fuse consumers into producers.

    Without `speculate`, a loop that can fail stays where it is, so that errors are
    found in program order.
    """
    return map_functions(
        program, lambda f: with_body(f, _Fuser(f, speculate).block(f.body))
    )


class _Fuser:
    def __init__(self, function: Function, speculate: bool) -> None:
        self.speculate = speculate
        self._function = function

    @cached_property
    def _nearly(self) -> Nearly:
        return Nearly(self._function)

    def block(self, block: Block) -> Block:
        return self._inside(self._outer(block))

    def _inside(self, block: Block) -> Block:
        bindings = tuple(
            b
            if (e := rebuild(b.expr, self.block)) is b.expr
            else Binding(b.vars, e, b.span)
            for b in block.bindings
        )
        if all(a is b for a, b in zip(bindings, block.bindings, strict=True)):
            return block
        return Block(bindings, block.results)

    def _outer(self, block: Block) -> Block:
        """Fuse the loops of this block, each as often as it goes."""
        places = _Places(block.bindings)
        for place in range(len(block.bindings)):
            at: int | None = place
            while at is not None:
                at = self._fuse_at(places, at)
        bindings = places.bindings()
        if len(bindings) == len(block.bindings):
            return block  # Every fusion makes two bindings one.
        return Block(bindings, block.results)

    def _fuse_at(self, places: _Places, place: int) -> int | None:
        """Fuse the consumer at this place; where the fused loop is."""
        node = _loop(places.last(place).expr)
        if node is None or (not self.speculate and can_fail(node)):
            return None
        producer = self._producer(places, place, node)
        if producer is None:
            return None
        between = places.between(producer, place)
        if between and not self.speculate:
            return None
        if self._relies_on_loops(places, producer, place, between):
            return None
        checks = [binding for binding in between if is_check(binding.expr)]
        before = places.movable(producer, place, checks)
        if before is None or not self._may_run_early(places, producer, place):
            return None
        places.fuse(producer, place, before)
        return producer

    def _relies_on_loops(
        self, places: _Places, producer: int, place: int, between: Sequence[Binding]
    ) -> bool:
        """Whether the consumer may be right because of checks in loops before it."""
        loops = [binding.expr for binding in between if not is_check(binding.expr)]
        found = {size for loop in loops for size in _checked(loop)}
        if not found:
            return False
        unproved = _Unproved(self._sizes)
        unproved.look(places.last(place))
        wanted = found & unproved.sizes
        return bool(wanted) and not wanted <= places.checked(producer)

    @cached_property
    def _sizes(self) -> dict[tuple[Var, int], list[Operand]]:
        """What each axis of an array, or of one that a cell holds, is known to be."""
        found = defaultdict[tuple[Var, int], list[Operand]](list)
        for binding in everywhere(self._function.body):
            match binding.expr:
                case Apply(Dim(axis), (Var() as array,)):
                    found[array, axis].append(binding.vars[0])
                case Open(dims=dims):
                    for axis, size in enumerate(dims):
                        found[binding.vars[0], axis].append(size)
        return found

    def _may_run_early(self, places: _Places, producer: int, place: int) -> bool:
        """Whether the consumer may add to its cells before the producer's place.

        A cell that begins as an array takes that over. In front of that it would have
        to be made, which is too much for a loop that adds to a part of it.
        """
        node = places.last(place).expr
        assert isinstance(node, Apply)
        return all(
            self._nearly_all(node, places.sizes(cell))
            for cell in places.read(place)
            if places.begins(cell, producer, place)
        )

    def _nearly_all(self, node: Apply, sizes: Sequence[Operand]) -> bool:
        """Whether a loop and those in it run over nearly all of so many indices."""
        if not sizes or not self._nearly.all_of(node.args[0], sizes[0]):
            return False
        return len(sizes) == 1 or any(
            isinstance(b.expr, Apply)
            and isinstance(b.expr.op, Build)
            and self._nearly_all(b.expr, sizes[1:])
            for b in node.bodies[0].body.bindings
        )

    def _producer(self, places: _Places, place: int, node: Apply) -> int | None:
        """The last loop before whose results the consumer reads at its index only."""
        read = places.read(place)
        for at in places.before(place, read):
            candidate = places.last(at)
            mine = read.intersection(candidate.vars)
            if not mine:
                continue
            other = _loop(candidate.expr)
            if other is None:
                if _is_movable(candidate.expr):
                    continue
                return None
            if not _same_count(node, other) or not _can_join(node, other):
                return None
            collected = set(_collected(candidate, other))
            if not mine <= collected:
                return None
            body = node.bodies[0]
            if not _only_at_index(body.body, mine, body.params[0]):
                return None
            return at
        return None


class _Unproved:
    """The sizes of axes whose indices are others than the steps of a loop over all."""

    def __init__(self, known: Mapping[tuple[Var, int], Sequence[Operand]]) -> None:
        self.sizes: set[Operand] = set()
        self._known = known
        self._counts: dict[Operand, Operand] = {}
        # Of which array, or cell, something is a part, behind how many of its axes.
        self._whole: dict[Var, tuple[Var, int]] = {}

    def look(self, binding: Binding) -> None:
        """Look at all indices in a binding."""
        expr = binding.expr
        match expr:
            case Apply(Index(), (Var() as array, *path)):
                self._part(binding, array, path)
            case One(Var() as cell, path, _) | View(Var() as cell, path):
                self._part(binding, cell, path)
            case Apply(args=(count, *_), bodies=(body,)):
                self._counts[body.params[0]] = count
        for _, block in nested(expr):
            for inner in block.bindings:
                self.look(inner)

    def _part(self, binding: Binding, of: Var, path: Sequence[Operand]) -> None:
        whole, first = self._whole.get(of, (of, 0))
        for axis, index in enumerate(path, first):
            sizes = self._known.get((whole, axis), ())
            if self._counts.get(index) not in sizes:
                self.sizes.update(sizes)
        for var in binding.vars:
            self._whole[var] = whole, first + len(path)


class _Places:
    """The bindings of a block while loops are fused, which takes no look at the others.

    Each binding starts at a place of its own. A fused loop stands at the producer's,
    behind what had to be moved there for it.
    """

    def __init__(self, bindings: Sequence[Binding]) -> None:
        self._order = {b: k for k, b in enumerate(bindings)}
        self._at = [[b] for b in bindings]
        self._place_of = {v: k for k, b in enumerate(bindings) for v in b.vars}
        # As it was at first: a loop is not moved, whichever it is a part of by now.
        self._definition = {v: b for b in bindings for v in b.vars}
        # Where something checks, or did before it moved.
        self._checking = [k for k, b in enumerate(bindings) if has_checks(b.expr)]
        self._read: dict[Binding, set[Var]] = {}
        # Where cells begin as arrays that are there already.
        self._begin = {
            b.expr.cell: k
            for k, b in enumerate(bindings)
            if isinstance(b.expr, One) and not b.expr.indices
        }

    def begins(self, cell: Var, producer: int, consumer: int) -> bool:
        """Whether a cell begins as an array between these places."""
        begin = self._begin.get(cell, -1)
        return isinstance(_content(cell), Array) and producer < begin < consumer

    def sizes(self, cell: Var) -> tuple[Operand, ...]:
        """The sizes of a cell that is opened in the block."""
        opened = self._definition[cell].expr if cell in self._definition else None
        return opened.dims if isinstance(opened, Open) else ()

    def bindings(self) -> tuple[Binding, ...]:
        return tuple([b for at in self._at for b in at])

    def last(self, place: int) -> Binding:
        """The loop at a place, or whatever was there from the start."""
        return self._at[place][-1]

    def read(self, place: int) -> set[Var]:
        """What the loop at a place reads from outside of it."""
        binding = self.last(place)
        if binding not in self._read:
            self._read[binding] = set(free_vars_of(binding.expr))
        return self._read[binding]

    def before(self, place: int, variables: set[Var]) -> list[int]:
        """The places before this one where the variables are bound, last ones first."""
        found = {self._place_of.get(v, place) for v in variables}
        return sorted(found - {place}, reverse=True)

    def checked(self, place: int) -> set[Operand]:
        """The variables that are checked up to this place."""
        until = self._checking[: bisect_right(self._checking, place)]
        return {o for k in {*until} for b in self._at[k] for o in _checked(b.expr)}

    def between(self, producer: int, consumer: int) -> list[Binding]:
        """What stands between these places and checks something."""
        first = bisect_right(self._checking, producer)
        places = self._checking[first : bisect_right(self._checking, consumer)]
        candidates = [b for k in dict.fromkeys(places) for b in self._at[k]]
        last = self.last(consumer)
        return [b for b in candidates if b is not last and has_checks(b.expr)]

    def movable(
        self, producer: int, consumer: int, checks: Sequence[Binding]
    ) -> list[Binding] | None:
        """The checks, and what they and the consumer need, from behind the producer.

        That is to be moved before the producer; None if it cannot be.
        """
        results = set(self.last(producer).vars)
        chosen = set(checks)
        pending = list(self.read(consumer) - results)
        for check in checks:
            pending += [o for o in operands(check.expr) if isinstance(o, Var)]
        while pending:
            var = pending.pop()
            if var in results:
                return None
            if self._place_of.get(var, -1) <= producer:
                continue
            binding = self._definition[var]
            if binding in chosen:
                continue
            if not _is_movable(binding.expr):
                return None
            chosen.add(binding)
            pending += [o for o in operands(binding.expr) if isinstance(o, Var)]
        return sorted(chosen, key=self._order.__getitem__)

    def fuse(self, producer: int, consumer: int, before: Sequence[Binding]) -> None:
        """Put both loops as one at the producer's place, behind these bindings."""
        read = self.read(producer) | self.read(consumer)
        first, second = self.last(producer), self.last(consumer)
        fused = _fused(first, second)
        self._read[fused] = read.difference(first.vars)
        self._at[consumer].remove(second)
        for binding in before:
            self._at[self._place_of[binding.vars[0]]].remove(binding)
        self._at[producer][-1:] = [*before, fused]
        for binding in (*before, second):
            self._place_of.update((v, producer) for v in binding.vars)
            if has_checks(binding.expr):
                insort(self._checking, producer)


def _content(cell: Var) -> Type | None:
    return cell.type.content if isinstance(cell.type, Acc) else None


def _loop(expr: Expr) -> Apply | None:
    """A loop whose iterations communicate by sums at most."""
    match expr:
        case Apply(Build() | Fold()):
            return expr
        case _:
            return None


def _same_count(a: Apply, b: Apply) -> bool:
    return a.args[0] is b.args[0] or (
        not isinstance(a.args[0], Var) and a.args[0] == b.args[0]
    )


def _can_join(consumer: Apply, producer: Apply) -> bool:
    """There is at most one reduction between the two."""
    return isinstance(consumer.op, Build) or isinstance(producer.op, Build)


def _collected(binding: Binding, node: Apply) -> Sequence[Var]:
    """The variables that hold arrays of the body's results."""
    results = len(node.bodies[0].body.results)
    return binding.vars[1:results] if isinstance(node.op, Fold) else binding.vars


def _only_at_index(block: Block, arrays: set[Var], index: Var) -> bool:
    """Whether the arrays are only read at this index."""
    for binding in block.bindings:
        match binding.expr:
            case Apply(Index(), (array, first, *rest)) if array in arrays:
                if first is not index or arrays.intersection(
                    r for r in rest if isinstance(r, Var)
                ):
                    return False
            case expr:
                if arrays.intersection(o for o in operands(expr) if isinstance(o, Var)):
                    return False
        for _, inner in nested(binding.expr):
            if not _only_at_index(inner, arrays, index):
                return False
    return not arrays.intersection(r for r in block.results if isinstance(r, Var))


def _checked(expr: Expr) -> set[Operand]:
    """The variables that are checked in an expression."""
    found = (o for check in checks(expr) for o in operands(check))
    return {operand for operand in found if isinstance(operand, Var)}


def _is_movable(expr: Expr) -> bool:
    """Whether an expression may be computed earlier, at no cost to speak of."""
    match expr:
        case Apply(Prim(can_fail=False)) | Apply(Index() | Dim() | Zeros() | Sized()):
            return True
        case Open() | View() | Const():
            return True
        case _:
            return False


class _AtIndex(Renaming):
    """Copies the consumer's body, reading the producer's results directly."""

    def __init__(self, elements: dict[Var, Operand], index: Var, new: Var) -> None:
        super().__init__({index: new})
        self.elements = elements

    def expr(self, expr: Expr) -> Expr:
        match expr:
            case Apply(Index() as op, (Var() as array, _, *rest)) if (
                array in self.elements and rest
            ):
                element = self.elements[array]
                return Apply(op, (element, *self.operands(tuple(rest))))
            case _:
                return super().expr(expr)

    def block(self, block: Block) -> Block:
        bindings = []
        for binding in block.bindings:
            match binding.expr:
                case Apply(Index(), (Var() as array, _)) if array in self.elements:
                    self.mapping[binding.vars[0]] = self.elements[array]
                case _:
                    bindings.append(self.binding(binding))
        return Block(tuple(bindings), self.operands(block.results))


def _fused(producer: Binding, consumer: Binding) -> Binding:
    """One loop that does what both did: the producer's work first."""
    first, second = producer.expr, consumer.expr
    assert isinstance(first, Apply) and isinstance(second, Apply)
    (one,), (two,) = first.bodies, second.bodies
    collected = _collected(producer, first)
    skip = 1 if isinstance(first.op, Fold) else 0
    elements = dict(zip(collected, one.body.results[skip:], strict=True))
    renaming = _AtIndex(elements, two.params[0], one.params[0])
    added = renaming.block(two.body)
    bindings = (*one.body.bindings, *added.bindings)
    if isinstance(second.op, Fold):
        op: Op = second.op
        results = (*added.results, *one.body.results)
        variables = _joined(consumer, second, producer, first)
    else:
        op = first.op
        results = (*one.body.results, *added.results)
        variables = _joined(producer, first, consumer, second)
    body = Lambda(one.params, Block(bindings, results))
    return Binding(variables, Apply(op, first.args, (body,)), consumer.span)


def _joined(
    first: Binding, first_node: Apply, second: Binding, second_node: Apply
) -> tuple[Var, ...]:
    """The variables of both, with those that go beyond the first's body last."""
    inside = len(first_node.bodies[0].body.results)
    assert len(second.vars) == len(second_node.bodies[0].body.results)
    return (*first.vars[:inside], *second.vars, *first.vars[inside:])
