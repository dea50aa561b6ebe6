"""An element that a loop updates over and over is a number until the loop is over.

    b = iterate(n, a) { k, s: f64[:] ->      x = index(a, i)
      x = index(s, i)                        y = iterate(n, x) { k, x: f64 ->
      y = index(s, k)                          y = index(a, k)
      z = add(x, y)                  →         z = add(x, y)
      t = update(s, i, z)                      yield z }
      yield t }                              b = update(a, i, y)

The place is the same in every step, and all other elements that the loop reads are
proved to stand elsewhere (`facts`), so that they are those of the array before. Where
the loop may make no step at all, all of this is done only if it makes some, for else
the place need not exist. If the element was written just before the loop, that is not
done any more. What is left is a loop over a number, which may be a sum or an extremum
(`accumulate`, `extremes`). Inner loops go first, so that nests of loops may be promoted
as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.rewrite import (
    Renaming,
    bound_in,
    free_vars_of,
    map_functions,
    with_body,
)
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    If,
    Lambda,
    Operand,
    Program,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import BOOL, Array, Scalar
from chadllvm.ops.index import Dim, Index
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update
from chadllvm.simplify.identities import is_same
from chadllvm.simplify.scopes import FactWalk

Place = tuple[Operand, ...]


def promote(program: Program) -> Program:
    """Put numbers in the place of elements that loops update."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    walk = _Promoting(function.params, _uses(function.body))
    return with_body(function, walk.block(function.body))


def _uses(block: Block) -> dict[Operand, int]:
    """How often each variable is used."""
    found: dict[Operand, int] = {}
    pending = [block]
    while pending:
        inner = pending.pop()
        used = [*inner.results]
        for binding in inner.bindings:
            used += operands(binding.expr)
            pending += (b for _, b in nested(binding.expr))
        for operand in used:
            found[operand] = found.get(operand, 0) + 1
    return found


class _Promoting(FactWalk):
    """Knows of each state of a loop the place that is updated, if there is just one.

    `_places` has all versions of such states, `_apart` what is read from other places.
    """

    def __init__(self, params: tuple[Var, ...], uses: dict[Operand, int]) -> None:
        super().__init__(params)
        self._uses = uses
        self._places: dict[Var, Place] = {}
        self._apart: set[Var] = set()
        self._updates: dict[Operand, Apply] = {}

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Index(), (Var() as array, *indices)) if array in self._places:
                if self._is_apart(self._places[array], indices):
                    self._apart.add(binding.vars[0])
            case Apply(Iterate(), (_, Var()), (body,)) as node if (
                body.params[1] in self._places
            ):
                self._loop(binding, node, self._places[body.params[1]])
                return
            case _:
                pass
        self.keep(binding)

    def keep(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Update()) as node:
                self._updates[binding.vars[0]] = node
            case _:
                pass
        super().keep(binding)

    def loop_expr(self, expr: Apply) -> Apply:
        versions: dict[Var, Place | None] = {}
        place = _place(expr, versions)
        if place is not None:
            self._places.update((version, place) for version in versions)
        return super().loop_expr(expr)

    def _is_apart(self, place: Place, indices: Sequence[Operand]) -> bool:
        """Whether elements stand at different places."""
        for a, b in zip(place, indices, strict=False):
            difference = self.facts.value(a) - self.facts.value(b)
            for apart in (difference, difference.times(-1)):
                if self.facts.is_not_negative(apart.plus(-1)):
                    return True
        return False

    def _loop(self, binding: Binding, node: Apply, place: Place) -> None:
        """A loop over a number, if all that the step does is known."""
        (count, array), (body,) = node.args, node.bodies
        base, start = self._written(array, place) or (array, None)
        block = _Element(base, place, self._apart).body(body)
        if block is None or not (start is not None or self._exists(node, place)):
            self.keep(binding)
            return
        out = Builder(binding.span)
        if start is None:
            start = out.one(Apply(Index(), (base, *place)), "element")
        (end,) = out.apply(Iterate(), [count, start], [block], ["element"])
        update = Apply(Update(), (base, *place, end))
        if start is not out.bindings[0].vars[0] or self._runs(count):
            for made in out.bindings:
                self.keep(made)
            self.keep(Binding(binding.vars, update, binding.span))
            return
        result = out.one(update, binding.vars[0].name)
        some = Var("some", BOOL)
        self.keep(Binding((some,), Apply(PRIMS["ilt"], (lit(0), count)), binding.span))
        choice = If(some, out.block([result]), Block((), (base,)))
        self.keep(self.walked(Binding(binding.vars, choice, binding.span)))

    def _written(self, array: Operand, place: Place) -> tuple[Operand, Operand] | None:
        """What this element was written into, and the value, if no one else sees it."""
        node = self._updates.get(array)
        if node is None or self._uses[array] != 1:
            return None
        before, *indices, value = node.args
        return (before, value) if _is_place(place, indices) else None

    def _exists(self, node: Apply, place: Place) -> bool:
        """Whether the place is in range, if the loop makes a step.

        It is if the first step uses it whatever happens.
        """
        (count, array), (body,) = node.args, node.bodies
        if _uses_first(body, place):
            return True
        assert isinstance(array, Var)
        with self.facts.assuming(self.facts.value(count).plus(-1)):
            return all(
                self.facts.is_in_range(
                    self.facts.value(index), self.facts.size(array, axis)
                )
                for axis, index in enumerate(place)
            )

    def _runs(self, count: Operand) -> bool:
        """Whether the loop makes a step for sure."""
        return self.facts.is_not_negative(self.facts.value(count).plus(-1))


def _is_place(place: Place, indices: Sequence[Operand]) -> bool:
    return len(place) == len(indices) and all(map(is_same, place, indices))


def _uses_first(body: Lambda, place: Place) -> bool:
    """Whether a step begins with using the element, before it may fail."""
    state = body.params[1]
    for binding in body.body.bindings:
        match binding.expr:
            case Apply(Index(), (array, *indices)) if array is state:
                if _is_place(place, indices):
                    return True
            case Apply(Prim(can_fail=False)) | Apply(Index() | Dim()):
                pass
            case _:
                return False
    return False


def _place(expr: Apply, versions: dict[Var, Place | None]) -> Place | None:
    """The only place that a loop updates in its only state; enters its versions."""
    match expr:
        case Apply(Iterate(stops=False), (_, _), (body,)) if (
            len(body.body.results) == 1
        ):
            state = body.params[1]
        case _:
            return None
    if not isinstance(state.type, Array) or not isinstance(state.type.elem, Scalar):
        return None
    versions[state] = None
    _enter(body.body, versions)
    places = [place for place in versions.values() if place is not None]
    bound = {*body.params, *bound_in(body.body)}
    is_one = all(_is_place(places[0], place) for place in places)
    if not places or not is_one or not bound.isdisjoint(places[0]):
        return None
    return places[0] if len(places[0]) == state.type.rank else None


def _enter(block: Block, versions: dict[Var, Place | None]) -> None:
    """Add what stands for the state after an update, a branch or an inner loop."""
    for binding in block.bindings:
        match binding.expr:
            case Apply(Update(), (Var() as array, *indices, _)) if array in versions:
                versions[binding.vars[0]] = tuple(indices)
            case Apply(Iterate(), (_, Var() as array), (body,)) if array in versions:
                versions[body.params[1]] = versions[binding.vars[0]] = None
                _enter(body.body, versions)
            case If(_, then, orelse):
                for inner in (then, orelse):
                    _enter(inner, versions)
                pairs = zip(then.results, orelse.results, strict=True)
                for var, results in zip(binding.vars, pairs, strict=True):
                    if any(result in versions for result in results):
                        versions[var] = None
            case _:
                pass


class _Element:
    """Turns what is done with the array into what is done with its element."""

    def __init__(self, base: Operand, place: Place, apart: set[Var]) -> None:
        self._base = base
        self._place = place
        self._apart = apart
        # The element of each version of the array.
        self._element: dict[Operand, Operand] = {}
        self._renaming = Renaming()

    def body(self, body: Lambda) -> Lambda | None:
        """The step with the element for its state; None if it needs the array."""
        index, array = body.params
        assert isinstance(array.type, Array)
        state = Var("element", array.type.elem)
        self._element[array] = state
        block = self._block(body.body)
        if block is None or body.body.results[0] not in self._element:
            return None
        return Lambda((index, state), block)

    def _block(self, block: Block) -> Block | None:
        new: list[Binding] = []
        for binding in block.bindings:
            if self._element.keys().isdisjoint(free_vars_of(binding.expr)):
                new.append(self._renaming.binding(binding))
            elif not self._uses_array(binding, new):
                return None
        results = [self._element.get(r, r) for r in block.results]
        return Block(tuple(new), self._renaming.operands(tuple(results)))

    def _uses_array(self, binding: Binding, new: list[Binding]) -> bool:
        """Put what a binding does with the array in other words, if there are any."""
        match binding:
            case Binding(expr=If() as node):
                return self._branch(binding, node, new)
            case Binding((var,), Apply(Index(), (array, *indices))) if _is_place(
                self._place, indices
            ):
                self._renaming.mapping[var] = self._element[array]
                return True
            case Binding((var,), Apply(Update(), (array, *indices, value))):
                self._element[var] = self._renaming.operand(value)
                return array in self._element and _is_place(self._place, indices)
            case Binding(_, Apply(Dim() as op, (_,))):
                read = Apply(op, (self._base,))
            case Binding((var,), Apply(Index() as op, (_, *indices))) if (
                var in self._apart
            ):
                read = Apply(op, (self._base, *self._renaming.operands((*indices,))))
            case _:
                return False
        new.append(Binding(binding.vars, read, binding.span))
        return True

    def _branch(self, binding: Binding, node: If, new: list[Binding]) -> bool:
        then, orelse = self._block(node.then), self._block(node.orelse)
        if then is None or orelse is None:
            return False
        variables: list[Var] = []
        pairs = zip(node.then.results, node.orelse.results, strict=True)
        for var, pair in zip(binding.vars, pairs, strict=True):
            known = [self._element[r] for r in pair if r in self._element]
            if len(known) == 1:
                return False  # Another array may take the place of this one.
            state = Var(var.name, known[0].type) if known else var
            if known:
                self._element[var] = state
            variables.append(state)
        cond = self._renaming.operand(node.cond)
        new.append(Binding(tuple(variables), If(cond, then, orelse), binding.span))
        return True
