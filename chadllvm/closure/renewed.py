"""States that refer to an array which some earlier step has made, on the tape.

    iterate(n, a) { i, k ->               iterate(n, a, 0, 0) { i, k, t, w ->
      …                                     …
      y = build(m) { … }                    y = build(m) { … }
      x = if c { yield y }                  x = if c { yield y } else { yield k }
          else { yield k }         →        t', w' = if c { yield i, 1 }
      yield x, fun … k … }                           else { yield t, w }
                                            yield x, t', w', t, w, y }

Of such a state the tape holds in which step it was made, as which array, and the arrays
that steps make; not the state in each step, of which several are one array. Where a
function needs the state, it is

    k = if ieq(w, 0) { yield a } else { z = index(ys, t); yield z }

So it has an owner (`simplify/references.py`), and a derivative of the derivative adds
to a part of the owner's cell what it would add to a cell of each step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.term import Apply, Binding, Block, If, Operand, Var
from chadllvm.ir.types import I64
from chadllvm.ops.index import Index, Unbox
from chadllvm.support.diagnostic import Span


@dataclass(frozen=True)
class _Either:
    """What a branch gives: the state as it was (None), an array that was made, or what
    a branch in it gives."""

    cond: Operand
    sides: tuple[_Next, _Next]


_Next = _Either | Var | None


@dataclass(frozen=True)
class Renewal:
    """A state with what it begins as, and what a step makes of it.

    `since` and `which`: the states that say what it is.
    """

    state: Var
    init: Operand
    next: _Either
    since: Var = field(default_factory=lambda: Var("since", I64))
    which: Var = field(default_factory=lambda: Var("which", I64))

    @property
    def made(self) -> list[Var]:
        """The arrays that steps make for it."""
        return [*dict.fromkeys(v for v in _leaves(self.next) if v is not None)]

    def step(self, index: Operand, out: Builder) -> tuple[Operand, ...]:
        """What the two states are next."""
        return self._step(self.next, index, out)

    def _step(self, after: _Next, index: Operand, out: Builder) -> tuple[Operand, ...]:
        match after:
            case None:
                return self.since, self.which
            case Var():
                return index, lit(1 + self.made.index(after))
            case _Either(cond, sides):
                blocks = []
                for side in sides:
                    inner = out.child()
                    blocks.append(inner.block(self._step(side, index, inner)))
                return tuple(out.emit(If(cond, *blocks), "since", "which"))

    def restored(
        self, arrays: Mapping[Var, Operand], span: Span
    ) -> tuple[Binding, ...]:
        """The state again, of the arrays that the tape holds."""
        out = Builder(span)
        result = self.init
        for k, made in enumerate(self.made):
            inner = out.child()
            part = inner.one(Apply(Index(), (arrays[made], self.since)), made.name)
            if part.type != made.type:  # An array that was put into a box.
                part = inner.one(Apply(Unbox(), (part,)), made.name)
            is_this = out.prim("ieq", self.which, lit(1 + k))
            node = If(is_this, inner.block([part]), Block((), (result,)))
            (result,) = out.emit(node, self.state.name)
        *before, last = out.bindings
        return (*before, Binding((self.state,), last.expr, span))


def renewal(
    state: Var, init: Operand, result: Operand, bindings: Sequence[Binding]
) -> Renewal | None:
    """How a state is renewed, if a step makes it or leaves it as it is."""
    bound: dict[Operand, Binding] = {v: b for b in bindings for v in b.vars}
    match _next(result, state, bound, {}):
        case [_Either() as found] if None in _leaves(found):
            return Renewal(state, init, found)
        case _:
            return None


def _next(
    operand: Operand,
    state: Var,
    bound: Mapping[Operand, Binding],
    inside: dict[Operand, Binding],
) -> list[_Next]:
    """What a step's result is, if that is known; `inside`: what branches bind."""
    if operand is state:
        return [None]
    binding = inside.get(operand) or bound.get(operand)
    if binding is not None and isinstance(binding.expr, If):
        node = binding.expr
        k = next(k for k, var in enumerate(binding.vars) if var is operand)
        sides: list[_Next] = []
        for block in (node.then, node.orelse):
            own: dict[Operand, Binding] = dict(inside)
            own.update((v, b) for b in block.bindings for v in b.vars)
            sides += _next(block.results[k], state, bound, own)
        if len(sides) == 2 and node.cond not in inside:
            either = _Either(node.cond, (sides[0], sides[1]))
            if operand not in bound or None in _leaves(either):
                return [either]
    return [operand] if isinstance(operand, Var) and operand in bound else []


def _leaves(after: _Next) -> list[Var | None]:
    """What a state may be next: arrays that are made, or what it was (None)."""
    if not isinstance(after, _Either):
        return [after]
    return [leaf for side in after.sides for leaf in _leaves(side)]
