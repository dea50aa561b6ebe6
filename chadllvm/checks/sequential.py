"""Sums as loops that add one element after the other, so that each step can be checked.

s = fold[add](n) { i ->             s = iterate(n, 0.0) { i, t: f64 ->
  x = index(a, i)             →       x = index(a, i)
  yield x }                           t_1 = add(t, x)
                                      yield t_1 }
"""

from __future__ import annotations

from chadllvm.ir.build import Builder
from chadllvm.ir.term import Apply, Binding, Block, Lambda, Operand, Var, literal
from chadllvm.ir.types import is_float
from chadllvm.ops.fold import Fold
from chadllvm.ops.iterate import Iterate


def sequential(binding: Binding) -> Binding:
    """A sum as a loop; any other binding as it is."""
    match binding.expr:
        case Apply(Fold(kind="add"), (count,), (body,)):
            return Binding(binding.vars, _loop(count, body, binding), binding.span)
        case _:
            return binding


def _loop(count: Operand, body: Lambda, binding: Binding) -> Apply:
    total = binding.vars[0]
    state = Var(total.name, total.type)
    step = Builder(binding.span)
    step.bindings += body.body.bindings
    value, *rows = body.body.results
    after = step.prim(
        "add" if is_float(total.type) else "iadd", state, value, hint=total.name
    )
    block: Block = step.block([after, *rows])
    zero = literal(0, total.type)
    return Apply(Iterate(), (count, zero), (Lambda((*body.params, state), block),))
