"""What a loop keeps of an array that it fills is read from the array in the end.

    a, ys = iterate(n, z) { i, s ->          a = iterate(n, z) { i, s ->
      y = index(s, i)                          y = index(s, i)
      k = iadd(i, 1)                           k = iadd(i, 1)
      e = mul(y, y)                            e = mul(y, y)
      t = update(s, k, e)                      t = update(s, k, e)
      yield t, y }                             yield t }
    …iterate(n, …) { j, … ->          →      …iterate(n, …) { j, … ->
      m = isub(l, j)                           m = isub(l, j)
      x = index(ys, m)                         x = index(a, m)

A loop that updates an array overwrites what it reads, so that `closure/tape.py` keeps a
copy of every element that the reverse needs. But tables, factors of matrices and series
are filled once: an element that no later step writes to (`versions`) is in the result.
So a factorisation keeps nothing, where copies would be cubic in its size.

The array must stay as it is: one that is updated after the loop would be copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chadllvm.ir.op import ArrayOp
from chadllvm.ir.rewrite import everywhere, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    Lit,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import Array, Scalar
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Index, MakeBox, Unbox
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update
from chadllvm.simplify.affine import Form
from chadllvm.simplify.emit import Emitter
from chadllvm.simplify.scopes import LOOPS, FactWalk
from chadllvm.simplify.versions import Access, Lasting, Versions
from chadllvm.support.diagnostic import Span


def lasting(program: Program) -> Program:
    """Read elements that last from the result of the loop that updates the array."""
    return map_functions(program, _function)


def lasting_elements(function: Function) -> frozenset[Var]:
    """The numbers that loops have read of, or written to, arrays which last there."""
    walk = _walk(function)
    walk.block(function.body)
    return frozenset(var for var, _ in walk.places)


def _function(function: Function) -> Function:
    return with_body(function, _walk(function).block(function.body))


def _walk(function: Function) -> _Lasting:
    changed: set[Operand] = set()
    _note_changed(function.body, changed)
    return _Lasting(function.params, changed)


def _note_changed(block: Block, changed: set[Operand]) -> None:
    """Arrays whose next version is made in their place."""
    for binding in everywhere(block):
        match binding.expr:
            case Apply(Update() | Append() | DropLast(), (array, *_)):
                changed.add(array)
            case Apply(Iterate(), (_, *inits)):
                changed.update(inits)
            case _:
                pass


@dataclass(frozen=True)
class _Element:
    """A variable of a loop's step; `steps`: which, for the loop and those inside."""

    steps: Mapping[Var, Operand]
    var: Var


@dataclass(frozen=True)
class _Place:
    """Where a number of a step is in the array that the loop results in."""

    array: Var
    indices: tuple[Form, ...]


class _Lasting(FactWalk):
    def __init__(self, params: tuple[Var, ...], changed: set[Operand]) -> None:
        super().__init__(params)
        self._changed = changed
        # What loops collect: the index of the loop, and the variable of its steps.
        self._collected: dict[Operand, tuple[Var, Var]] = {}
        self._boxed: dict[Var, Operand] = {}
        self._elements: dict[Operand, _Element] = {}
        # By the variable, and the indices of the loops around it, that loop first.
        self.places: dict[tuple[Var, tuple[Var, ...]], _Place] = {}

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(MakeBox(), (array,)):
                self._boxed[binding.vars[0]] = array
            case Apply(Unbox(), (box,)):
                self._unbox(binding.vars[0], box)
            case Apply(Index(), (Var() as array, *indices)):
                binding = self._index(binding, array, indices)
            case Apply(op) as node if isinstance(op, LOOPS):
                self.keep(binding)
                self._loop(binding, node)
                return
            case _:
                pass
        self.keep(binding)

    def _loop(self, binding: Binding, node: Apply) -> None:
        """Note what a loop collects, and where it is found again."""
        assert isinstance(node.op, ArrayOp)
        (body,) = node.bodies
        first = node.op.carried(node) or 0
        results = body.body.results
        for var, result in zip(binding.vars[first:], results[first:], strict=False):
            if isinstance(result, Var):
                self._collected[var] = body.params[0], result
        if isinstance(node.op, Iterate) and first < len(binding.vars):
            for position in range(first):
                self._note_places(binding, node, position)

    def _note_places(self, binding: Binding, node: Apply, position: int) -> None:
        """Note the elements that last of the array in one of a loop's states."""
        array, index = binding.vars[position], node.bodies[0].params[0]
        if not isinstance(array.type, Array) or array in self._changed:
            return
        versions = Versions(node, position)
        if not versions.is_known or not versions.writes:
            return
        lasts = Lasting(self.facts, versions.writes)
        for access in (*versions.writes, *versions.reads):
            var = access.var
            if not isinstance(var, Var) or not isinstance(var.type, Scalar):
                continue
            forms = tuple(map(self.facts.value, access.place))
            if self._is_known_later(forms, access, index) and lasts(access):
                self.places[var, access.loops] = _Place(array, forms)

    def _is_known_later(
        self, forms: tuple[Form, ...], access: Access, index: Var
    ) -> bool:
        """Whether a place depends on what is known outside of the loop, and steps."""
        depths = self.facts.depth_of
        return all(
            var in access.loops or depths[var] < depths[index]
            for form in forms
            for var in form.variables()
        )

    def _unbox(self, var: Var, box: Operand) -> None:
        element = self._elements.get(box)
        inside = self._boxed.get(element.var) if element else None
        if element is not None and isinstance(inside, Var):
            self._elements[var] = _Element(element.steps, inside)

    def _index(self, binding: Binding, array: Var, indices: list[Operand]) -> Binding:
        """The binding, or one that reads the array that was filled."""
        element = self._elements.get(array) or _Element({}, array)
        steps, var = dict(element.steps), element.var
        for index in indices:
            if var not in self._collected:
                return binding
            loop, var = self._collected[var]
            steps[loop] = index
        self._elements[binding.vars[0]] = _Element(steps, var)
        place = self.places.get((var, tuple(steps)))
        if place is None:
            return binding
        return Binding(
            binding.vars, self._read(place, steps, binding.span), binding.span
        )

    def _read(self, place: _Place, steps: Mapping[Var, Operand], span: Span) -> Apply:
        emitter = Emitter(self.facts, span)
        indices = [emitter.operand(_at(form, steps)) for form in place.indices]
        for binding in emitter.builder.bindings:
            self.keep(binding)
        return Apply(Index(), (place.array, *indices))


def _at(form: Form, steps: Mapping[Var, Operand]) -> Form:
    """The form in these steps of the loops."""
    total = Form({})
    for monomial, factor in form.terms.items():
        product = Form.constant(factor)
        for var in monomial:
            product = product * _operand(steps.get(var, var))
        total = total + product
    return total


def _operand(operand: Operand) -> Form:
    if isinstance(operand, Lit):
        return Form.constant(int(operand.value))
    return Form.variable(operand)
