"""Store or recompute: what is kept of a loop body or branch for a function that leaves
it.

    fs = build n { i ->                        as, bs = build n { i ->
      a = exp(…)                                 a = exp(…)
      x = index(p, i)                            x = index(p, i)
      y = mul(x, a)                      →       y = mul(x, a)
      f = fun (d) { … a … x … y … }              yield a }
      yield f }                                 and where f is called, for index j:
                                               a' = index(as, j); x' = index(p, j)
                                               y' = mul(x', a')

What a function captures from inside the body is stored for every iteration: that is the
tape, and it is nothing else. Values that cheap operations give from what is at hand
anyway (the index, variables from outside, what is stored for other reasons) are
computed again instead. Every operation runs at most twice, since recomputation happens
where the function is called, once, and contains no loop, no call and nothing that can
fail: what has not failed the first time needs no check (`Prim.sure`).
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from chadllvm.ir.op import Prim
from chadllvm.ir.term import Apply, Binding, Expr, Var, operands
from chadllvm.ops.index import Dim, Index, Unbox

# The work, in additions, up to which a value is computed again rather than stored:
# about what writing eight bytes to memory and reading them back costs.
BUDGET = 8


def store_or_recompute(
    captures: Sequence[Var],
    bindings: Sequence[Binding],
    states: Sequence[Var],
    fleeting: Container[Var] = (),
) -> tuple[list[Var], list[Binding]]:
    """The captures to store, and the bindings that compute the others again.

    `bindings` are those of the body in order; `states` are parameters of the body that
    are not at hand later (its index is). Arrays of an outer loop that are `fleeting`
    are not either: their steps overwrite them, so what is read of them is stored.
    """
    return _Plan(bindings, states, fleeting).choose(captures)


class _Plan:
    def __init__(
        self,
        bindings: Sequence[Binding],
        states: Sequence[Var],
        fleeting: Container[Var],
    ) -> None:
        self.defined = {v: _sure(b) for b in bindings for v in b.vars}
        self.order = {v: k for k, v in enumerate(self.defined)}
        self.states = set(states)
        self.fleeting = fleeting

    def choose(self, captures: Sequence[Var]) -> tuple[list[Var], list[Binding]]:
        stored = {v for v in captures if not self._is_cheap(v)}
        again: set[Var] = set()
        for var in sorted(captures, key=lambda v: self.order.get(v, -1)):
            if var in stored:
                continue
            needed = self._needed(var, stored, again)
            if needed is None:
                stored.add(var)
            else:
                again |= needed
        chosen = {
            self.defined[v]: None for v in sorted(again, key=self.order.__getitem__)
        }
        return [v for v in captures if v in stored], list(chosen)

    def _is_local(self, var: Var) -> bool:
        return var in self.defined or var in self.states

    def _is_cheap(self, var: Var) -> bool:
        if var not in self.defined:
            return False
        match self.defined[var].expr:
            case Apply(Index() | Dim(), (Var() as array, *_)):
                return array not in self.fleeting
            case expr:
                return _weight(expr) <= BUDGET

    def _needed(self, var: Var, stored: set[Var], again: set[Var]) -> set[Var] | None:
        """The variables to compute again for `var`; None if it is better stored."""
        found: set[Var] = set()
        work, pending = 0, [var]
        while pending:
            v = pending.pop()
            if v in stored or v in found or v in again or not self._is_local(v):
                continue
            if not self._is_cheap(v):
                return None
            work += _weight(self.defined[v].expr)
            if work > BUDGET:
                return None
            found.add(v)
            args = operands(self.defined[v].expr)
            pending += [o for o in args if isinstance(o, Var)]
        return found


def _sure(binding: Binding) -> Binding:
    """The binding as it is computed again, when it is known not to fail."""
    match binding.expr:
        case Apply(Prim(sure=Prim() as op), args):
            return Binding(binding.vars, Apply(op, args), binding.span)
        case _:
            return binding


def _weight(expr: Expr) -> int:
    """The cost of computing an expression again; beyond any budget if it must not."""
    match expr:
        case Apply(Prim(weight=weight, can_fail=False), _):
            return weight
        case Apply(Index() | Dim() | Unbox()):
            return 1
        case _:
            return BUDGET + 1
