"""Loops that only add to elements of an array add to a cell.

    a = iterate(n, z) { i, s: f64[:] ->       d = dim[0](z)
      j = index(p, i)                         c = open f64[:](d)
      x = index(s, j)                         one c z
      y = add(x, e)                     →     build(n) { i ->
      t = update(s, j, y)                       j = index(p, i)
      yield t }                                 one c[j] e }
                                              a = close c

What is added does not depend on the array then, so the steps commute, and their
cotangents are read from that of the sum. A state is turned into a cell if nothing but
these additions reads it, in branches and inner loops too.
"""

from __future__ import annotations

from operator import is_

from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.rewrite import (
    free_vars,
    free_vars_of,
    has,
    map_functions,
    rebuild,
    with_body,
)
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Close,
    Function,
    If,
    Lambda,
    One,
    Open,
    Operand,
    Program,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import I64, Acc, Array, Type, is_float
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update
from chadllvm.simplify.dce import reads_cells


def scatter(program: Program) -> Program:
    """Make cells of the arrays that loops only add to."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    if not has(function.body, Update):
        return function
    return with_body(function, _block(function.body))


def _block(block: Block) -> Block:
    """Rewrite outer loops first: their states are those of the loops inside of them."""
    new: list[Binding] = []
    for binding in block.bindings:
        for part in _parts(binding):
            expr = rebuild(part.expr, _block)
            same = expr is part.expr
            new.append(part if same else Binding(part.vars, expr, part.span))
    if len(new) == len(block.bindings) and all(map(is_, new, block.bindings)):
        return block
    return Block(tuple(new), block.results)


def _parts(binding: Binding) -> list[Binding]:
    """A loop with cells in the place of the states that it only adds to."""
    match binding.expr:
        case Apply(Iterate(), (_, *inits)):
            for k, init in enumerate(inits):
                if isinstance(init, Var) and _is_real(init.type):
                    cell = Var(f"{binding.vars[k].name}_c", Acc(init.type))
                    loop = _without_state(binding, k, cell, init)
                    if loop is not None:
                        close = Binding((binding.vars[k],), Close(cell), binding.span)
                        before = _opened(cell, init, binding)
                        return [*before, *_parts(as_build(loop)), close]
        case _:
            pass
    return [binding]


def _opened(cell: Var, init: Var, binding: Binding) -> list[Binding]:
    """A cell that holds the initial value."""
    dims = tuple(Var(f"{init.name}_dim", I64) for _ in range(_rank(init)))
    sizes = [
        Binding((dim,), Apply(Dim(axis), (init,)), binding.span)
        for axis, dim in enumerate(dims)
    ]
    opened = Binding((cell,), Open(init.type, dims), binding.span)
    return [*sizes, opened, Binding((), One(cell, (), init), binding.span)]


def as_build(loop: Binding) -> Binding:
    """A loop without a state is a build, if its steps need no order."""
    match loop.expr:
        case Apply(Iterate(stops=False), (count,), (body,)) if not reads_cells(body):
            return Binding(loop.vars, Apply(Build(), (count,), (body,)), loop.span)
        case _:
            return loop


def _is_real(ty: Type) -> bool:
    """Whether this is an array of real numbers."""
    return isinstance(ty, Array) and is_float(ty.elem)


def _rank(operand: Operand) -> int:
    return operand.type.rank if isinstance(operand.type, Array) else 0


def _without_state(binding: Binding, k: int, cell: Var, init: Var) -> Binding | None:
    """The loop with a cell in the place of its k-th state; None if it is read."""
    node = binding.expr
    assert isinstance(node, Apply)
    (body,) = node.bodies
    block = _Adding(cell, init, body.body).block(body.params[1 + k], body.body, k)
    if block is None:
        return None
    params = (*body.params[: 1 + k], *body.params[2 + k :])
    args = (*node.args[: 1 + k], *node.args[2 + k :])
    variables = (*binding.vars[:k], *binding.vars[k + 1 :])
    new = Apply(node.op, args, (Lambda(params, block),))
    return Binding(variables, new, binding.span)


class _Adding:
    """Turns what is done with the state into additions to the cell.

    `read` has the elements of the state by the variables that hold them, `sums` what is
    added to them; both are used once only, or else the state is read.
    """

    def __init__(self, cell: Var, init: Var, block: Block) -> None:
        self.cell = cell
        self.init = init
        self.uses: dict[Var, int] = {}
        self._count(block)
        self.states: set[Var] = set()
        self.read: dict[Var, tuple[Operand, ...]] = {}
        self.sums: dict[Var, tuple[tuple[Operand, ...], Operand, bool]] = {}

    def _count(self, block: Block) -> None:
        for binding in block.bindings:
            for operand in operands(binding.expr):
                if isinstance(operand, Var):
                    self.uses[operand] = self.uses.get(operand, 0) + 1
            for _, inner in nested(binding.expr):
                self._count(inner)
        for result in block.results:
            if isinstance(result, Var):
                self.uses[result] = self.uses.get(result, 0) + 1

    def block(self, state: Var, block: Block, k: int) -> Block | None:
        """The block that adds to the cell; the state was its k-th result."""
        current = state
        self.states.add(state)
        new: list[Binding] = []
        for binding in block.bindings:
            following = self._binding(current, binding, new)
            if following is None:
                return None
            current = following
            self.states.add(current)
        results = (*block.results[:k], *block.results[k + 1 :])
        hidden = {*self.states, *self.read, *self.sums}
        if block.results[k] is not current or not hidden.isdisjoint(results):
            return None
        return Block(tuple(new), results)

    def _binding(
        self, current: Var, binding: Binding, new: list[Binding]
    ) -> Var | None:
        """What stands for the state behind a binding; None if it is read there."""
        used = free_vars_of(binding.expr)
        hidden = [v for v in used if self._is_hidden(v)]
        if not hidden:
            new.append(binding)
            return current
        match binding.expr:
            case Apply(Dim() as op, (_,)):
                new.append(Binding(binding.vars, Apply(op, (self.init,)), binding.span))
                return current
            case Apply(Index(), (array, *indices)) if array is current:
                return self._element(current, binding, tuple(indices))
            case Apply(Prim(name="add" | "sub" as name), args):
                return current if self._sum(binding.vars[0], name, args) else None
            case Apply(Update(), (array, *indices, Var() as value)) if array is current:
                return self._update(binding, tuple(indices), value, new)
            case If() as node if hidden == [current]:
                return self._if(current, binding, node, new)
            case Apply(Iterate()) if hidden == [current]:
                return self._inner_loop(current, binding, new)
            case _:
                return None

    def _is_hidden(self, var: Var) -> bool:
        """Whether a variable is the state at some time, or computed from it."""
        return var in self.states or var in self.read or var in self.sums

    def _element(
        self, current: Var, binding: Binding, indices: tuple[Operand, ...]
    ) -> Var | None:
        (var,) = binding.vars
        if isinstance(var.type, Array) or self.uses.get(var, 0) != 1:
            return None
        self.read[var] = indices
        return current

    def _sum(self, var: Var, name: str, args: tuple[Operand, ...]) -> bool:
        """`element + e`, `e + element` or `element - e`, for one use."""
        first, second = args
        if isinstance(second, Var) and second in self.read and name == "add":
            first, second = second, first
        if not isinstance(first, Var) or first not in self.read:
            return False
        if second in self.read or second in self.sums or self.uses.get(var, 0) != 1:
            return False
        self.sums[var] = self.read[first], second, name == "sub"
        return True

    def _update(
        self,
        binding: Binding,
        indices: tuple[Operand, ...],
        value: Var,
        new: list[Binding],
    ) -> Var | None:
        """The element that was read is put back, with something added to it."""
        if value not in self.sums or self.sums[value][0] != indices:
            return None
        _, added, is_negative = self.sums[value]
        if is_negative:
            negative = Var(value.name, added.type)
            expr = Apply(PRIMS["neg"], (added,))
            new.append(Binding((negative,), expr, binding.span))
            added = negative
        new.append(Binding((), One(self.cell, indices, added), binding.span))
        return binding.vars[0]

    def _if(
        self, current: Var, binding: Binding, node: If, new: list[Binding]
    ) -> Var | None:
        """Both branches hand the state on, by the same result."""
        if node.cond is current:
            return None
        places = self._places(current, node)
        if len(places) != 1:
            return None
        (k,) = places
        blocks = [self.block(current, b, k) for b in (node.then, node.orelse)]
        then, orelse = blocks
        if then is None or orelse is None:
            return None
        variables = (*binding.vars[:k], *binding.vars[k + 1 :])
        new.append(Binding(variables, If(node.cond, then, orelse), binding.span))
        return binding.vars[k]

    def _places(self, current: Var, node: If) -> list[int]:
        """The results of an `if` that may be the state, by their types and names."""
        found = []
        for k, pair in enumerate(
            zip(node.then.results, node.orelse.results, strict=True)
        ):
            if any(r is current or self._is_updated(r, node) for r in pair):
                found.append(k)
        return found

    def _is_updated(self, result: Operand, node: If) -> bool:
        """Whether a result of a branch is made there, of the state's type."""
        outside = free_vars([((), node.then), ((), node.orelse)])
        return (
            isinstance(result, Var)
            and result.type == self.init.type
            and result not in outside
        )

    def _inner_loop(
        self, current: Var, binding: Binding, new: list[Binding]
    ) -> Var | None:
        """A loop inside of the loop that has the state as one of its own."""
        node = binding.expr
        assert isinstance(node, Apply)
        inits = node.args[1:]
        if inits.count(current) != 1 or node.args[0] is current:
            return None
        k = inits.index(current)
        (body,) = node.bodies
        block = self.block(body.params[1 + k], body.body, k)
        if block is None:
            return None
        params = (*body.params[: 1 + k], *body.params[2 + k :])
        args = (*node.args[: 1 + k], *node.args[2 + k :])
        variables = (*binding.vars[:k], *binding.vars[k + 1 :])
        loop = Apply(node.op, args, (Lambda(params, block),))
        new.append(as_build(Binding(variables, loop, binding.span)))
        return binding.vars[k]
