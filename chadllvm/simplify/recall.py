"""What a loop has computed already is kept for later loops, where that costs less.

    s, xs = iterate(n, x) { i, s ->          s, xs, cs = iterate(n, x) { i, s ->
      c = cos(s)                               c = cos(s)
      t = mul(s, c)                            t = mul(s, c)
      yield t, s }                             yield t, s, c }
    …iterate(n, …) { j, … ->          →      …iterate(n, …) { j, … ->
      k = isub(m, j)                           k = isub(m, j)
      x = index(xs, k)                         e = index(cs, k)
      e = cos(x)                               …
      …

An element of what a loop collects is a variable of that step, so that what is computed
from such elements alone may be known from the step. The step's value is read instead,
if it is collected already, and else collected too: the reverse of a sine reads a cosine
that the program computes anyway, and the tangents of a reverse loop what the tangents
of the forward loop have computed. `closure/tape.py` chose what is stored before all of
this was known; what is not read any more goes away (`dce`).

Only what costs more to compute than to store is worth it. Loops whose steps are
independent compute many elements at once, at about the price of memory, so that nothing
more is collected by them or for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from chadllvm.closure.tape import BUDGET
from chadllvm.ir.op import ArrayOp, Prim
from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Expr,
    Function,
    Lambda,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import Scalar, stacked
from chadllvm.ops.index import Index
from chadllvm.ops.iterate import Iterate
from chadllvm.simplify.cse import Key, expression_keys, operand_key
from chadllvm.simplify.walk import Walk


def recall(program: Program) -> Program:
    """Read from arrays what earlier loops have computed; new ones are on the tape."""
    tape: set[Var] = set()
    new = map_functions(program, lambda f: _function(f, tape))
    return Program(new.functions, frozenset(tape)) if tape else new


def _function(function: Function, tape: set[Var]) -> Function:
    recalling = _Recalling()
    body = recalling.block(function.body)
    if recalling.more:
        tape.update(*(more.values() for more in recalling.more.values()))
        body = _Collecting(recalling.more).block(body)
    return with_body(function, body)


@dataclass(eq=False)
class _Loop:
    """A loop: what its steps compute, and the arrays of what they collect.

    `name` is a variable that it binds; `grows`: whether it may collect more.
    """

    name: Var
    known: dict[Key, Var]
    arrays: dict[Var, Var]
    grows: bool


@dataclass(frozen=True)
class _Element:
    """A variable of a loop's step: of the step that an index says."""

    loop: _Loop
    index: Operand
    var: Var


class _Recalling(Walk):
    """Finds what is computed again; `more`: what loops have to collect for it."""

    def __init__(self) -> None:
        super().__init__()
        self.more: dict[Var, dict[Var, Var]] = {}
        self._collected: dict[Var, tuple[_Loop, Var]] = {}
        self._elements: dict[Var, _Element] = {}
        # Whether this is run step by step.
        self._in_order = False

    def expr(self, expr: Expr) -> Expr:
        if not (isinstance(expr, Apply) and expr.bodies):
            return super().expr(expr)
        outer, self._in_order = self._in_order, isinstance(expr.op, Iterate)
        new = super().expr(expr)
        self._in_order = outer
        return new

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Index(), (Var() as array, index)) if array in self._collected:
                loop, var = self._collected[array]
                self._elements[binding.vars[0]] = _Element(loop, index, var)
            case Apply(Prim(can_fail=False)) as node:
                binding = self._prim(binding, node)
            case Apply(ArrayOp(), _, (body,)) as node:
                self._loop(binding, node, body)
        self.keep(binding)

    def _loop(self, binding: Binding, node: Apply, body: Lambda) -> None:
        """Note what a loop collects and what its steps know."""
        assert isinstance(node.op, ArrayOp)
        first = node.op.carried(node)
        results = body.body.results
        if first is None or first == len(results):
            return
        loop = _Loop(binding.vars[0], {}, {}, isinstance(node.op, Iterate))
        for result, array in zip(results[first:], binding.vars[first:], strict=False):
            if isinstance(result, Var) and isinstance(result.type, Scalar):
                loop.arrays.setdefault(result, array)
                self._collected[array] = loop, result
        if loop.arrays:
            for inner in body.body.bindings:
                match inner.expr:
                    case Apply(Prim(can_fail=False), args) as expr:
                        (key,) = expression_keys(expr, args)
                        loop.known.setdefault(key, inner.vars[0])

    def _prim(self, binding: Binding, node: Apply) -> Binding:
        """The binding, or one that reads what a step has computed."""
        known = [self._elements.get(a) for a in node.args if isinstance(a, Var)]
        element = next((e for e in known if e is not None), None)
        if element is None:
            return binding
        loop, index = element.loop, element.index
        inside = [self._inside(arg, loop, index) for arg in node.args]
        (key,) = expression_keys(node, inside)
        found = loop.known.get(key)
        if found is None:
            return binding
        (var,) = binding.vars
        self._elements[var] = _Element(loop, index, found)
        assert isinstance(node.op, Prim)
        more = loop.grows and self._in_order
        if node.op.cycles <= BUDGET or not (found in loop.arrays or more):
            return binding
        read = Apply(Index(), (self._array(loop, found), index))
        return Binding((var,), read, binding.span)

    def _inside(self, operand: Operand, loop: _Loop, index: Operand) -> Operand:
        """What an operand is in that step of the loop."""
        element = self._elements.get(operand) if isinstance(operand, Var) else None
        if element is None or element.loop is not loop:
            return operand
        same = operand_key(element.index) == operand_key(index)
        return element.var if same else operand

    def _array(self, loop: _Loop, var: Var) -> Var:
        """The array of the values of a variable of a loop's steps."""
        if var not in loop.arrays:
            array = Var(var.name, stacked(var.type))
            loop.arrays[var] = array
            self.more.setdefault(loop.name, {})[var] = array
        return loop.arrays[var]


class _Collecting(Walk):
    """Has loops, each known by a variable that it binds, collect more variables."""

    def __init__(self, more: dict[Var, dict[Var, Var]]) -> None:
        super().__init__()
        self._more = more

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(op, args, (body,)) if binding.vars and (
                more := self._more.get(binding.vars[0])
            ):
                block = Block(body.body.bindings, (*body.body.results, *more))
                node = Apply(op, args, (Lambda(body.params, block),))
                variables = *binding.vars, *more.values()
                binding = Binding(variables, node, binding.span)
        self.keep(binding)
