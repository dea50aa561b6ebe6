"""States of a loop that are only added to become cells.

    s, t = iterate(n, 0.0, z) { i, s: f64, t: f64 ->
      x = index(a, i)                     s_c = open f64
      s_1 = add(s, x)                     t_c = open f64
      y = mul(x, x)                 →     build(n) { i ->
      t_1 = sub(t, y)                       x = index(a, i)
      yield s_1, t_1 }                      y = mul(x, x)
                                            u = neg(y)
                                            one s_c x
                                            one t_c u }
                                          s = close s_c
                                          v = close t_c
                                          t = add(z, v)

A loop with one state is a fold (`accumulate.py`, in front of this); here are those that
add up several things, or that also carry what is no sum. A loop that carries nothing
else is a `build`: its steps commute, and those of its reverse do, because all of them
read the same cotangents. Sums may be reassociated, so both become vector code.
"""

from __future__ import annotations

from typing import TypeVar

from chadllvm.ir.op import PRIMS
from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Close,
    Function,
    Lambda,
    Lit,
    One,
    Open,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import Acc, is_float
from chadllvm.ops.iterate import Iterate
from chadllvm.simplify.accumulate import Addends
from chadllvm.simplify.scatter import as_build
from chadllvm.simplify.walk import Walk

T = TypeVar("T")


def sums(program: Program) -> Program:
    """Make cells of the numbers that loops only add to."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    return with_body(function, _Sums().block(function.body))


class _Sums(Walk):
    """Rewrites each loop after the loops inside of it."""

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Iterate(), (_, *inits)):
                self._loop(binding, inits)
            case _:
                self.keep(binding)

    def _loop(self, binding: Binding, inits: list[Operand]) -> None:
        """The cells that are opened, the loop, and what is closed behind it."""
        loop, behind = binding, list[Binding]()
        # From the last one on, so that the others stay where they are.
        for k in reversed(range(len(inits))):
            var = binding.vars[k]
            cell = Var(f"{var.name}_c", Acc(var.type))
            new = _without_state(loop, k, cell) if is_float(var.type) else None
            if new is not None:
                self.keep(Binding((cell,), Open(var.type), binding.span))
                behind += _total(var, inits[k], cell, binding)
                loop = new
        self.keep(loop if loop is binding else as_build(loop))
        self.out += behind


def _without_state(loop: Binding, k: int, cell: Var) -> Binding | None:
    """The loop with additions to a cell in the place of a state; None if it does more
    than add to that.
    """
    node = loop.expr
    assert isinstance(node, Apply)
    (body,) = node.bodies
    block = Addends(body.params[1 + k]).block(body.body, k)
    if block is None:
        return None
    add = Binding((), One(cell, (), block.results[k]), loop.span)
    results = _without(block.results, k)
    adding = Lambda(
        _without(body.params, 1 + k), Block((*block.bindings, add), results)
    )
    new = Apply(node.op, _without(node.args, 1 + k), (adding,))
    return Binding(_without(loop.vars, k), new, loop.span)


def _without(items: tuple[T, ...], k: int) -> tuple[T, ...]:
    return (*items[:k], *items[k + 1 :])


def _total(var: Var, init: Operand, cell: Var, loop: Binding) -> list[Binding]:
    """What the state is in the end: the sum in the cell, and what it was before."""
    if isinstance(init, Lit) and repr(init.value) == "0.0":
        return [Binding((var,), Close(cell), loop.span)]
    total = Var("total", var.type)
    add = Apply(PRIMS["add"], (init, total))
    return [
        Binding((total,), Close(cell), loop.span),
        Binding((var,), add, loop.span),
    ]
