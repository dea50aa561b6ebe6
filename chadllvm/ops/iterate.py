"""`iterate(n, s…; i, s… -> s'…, o…)`: a loop with carried state and collected outputs.

The state starts as `s…` and becomes `s'…` after each step; the outputs of the steps are
stacked. The reverse of a loop is a loop: the steps' backpropagators are an output of
the forward loop, and are run from the last to the first with the state's cotangent as
state.

    iterate[while](n, go, s…; i, go, s… -> go', s'…, o…)

is a loop whose first state, a truth value, says whether there is another step; it makes
n steps at most, and has as many outputs as it made steps. Its length is not known in
front of it, so what its steps' backpropagators keep is kept in buffers that grow. The
number of steps is one more state of the forward loop; the reverse loop is a plain one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.op import PRIMS, ArrayOp, Prim, TypeRuleError, register_array_op
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Lambda,
    Lit,
    One,
    Operand,
    Var,
    literal,
)
from chadllvm.ir.types import BOOL, I64, Acc, Array, Type, stacked
from chadllvm.ir.value import stack
from chadllvm.ops.index import Dim, Index, Zeros

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward
    from chadllvm.chad.transform import Chad, Rule
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering


@register_array_op
@dataclass(frozen=True)
class Iterate(ArrayOp):
    """`iterate(n, s…; i, s… -> s'…, o…)`; `stops`: when the first state is false."""

    name = "iterate"
    stops: bool = False

    @property
    def attributes(self) -> str:
        return "while" if self.stops else ""

    @classmethod
    def parse(cls, attributes: str) -> Iterate:
        if attributes not in ("", "while"):
            raise ValueError(attributes)
        return cls(attributes == "while")

    def carried(self, node: Apply) -> int | None:
        return len(node.args) - 1

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        (body,) = bodies
        states = tuple(args[1:])
        if args[0] != I64 or tuple(p.type for p in body.params) != (I64, *states):
            raise TypeRuleError("iterate: takes a count and the states of its body")
        if self.stops and states[:1] != (BOOL,):
            raise TypeRuleError("iterate: its first state is no truth value")
        results = body.body.types
        if results[: len(states)] != states:
            found = ", ".join(map(str, results))
            raise TypeRuleError(f"iterate: a step from {states} to ({found})")
        return (*states, *(stacked(ty) for ty in results[len(states) :]))

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        (n, *state), (body,) = args, bodies
        outputs: list[Any] = []
        for i in range(n):
            if self.stops and not state[0]:
                break
            results = run.call(body, (i, *state))
            outputs.append(results[len(state) :])
            state = list(results[: len(state)])
        run.pay(1 + len(outputs))
        collected = (
            stack([row[k] for row in outputs], ty)
            for k, ty in enumerate(body.body.types[len(state) :])
        )
        return (*state, *collected)

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """D[iterate n s (i s. t)] = let (s', bps) = iterate n s (i s. D[t]) in
        (s', fun d. let d' = iterate n d (j d. bps[n-1-j] d) in one s_c d')

        The step's backpropagator returns the cotangent of the step's state. The state
        components asked for are those that the results asked for depend on.
        """
        (body,) = node.bodies
        states, results = body.params[1:], body.body.results
        wanted = self._wanted(chad, body, asked)
        flags = [w and t for w, t in zip(wanted, chad.touched, strict=False)]
        inner = chad.block(
            body.body,
            [*wanted, *asked[len(states) :]],
            [
                *chad.touched_states(body, flags),
                *[False] * (len(results) - len(states)),
            ],
            body.params,
            [s for s, flag in zip(states, wanted, strict=True) if flag],
        )
        block = inner.primal_and_bp(binding)
        new, count, counted = self._counted(node, body.params, block)
        bps = Var("bps", stacked(block.results[-1].type))
        zeros: list[Binding] = []
        with chad.backpropagator(binding, asked) as bp:
            cts = iter(bp.cts)
            start = [
                next(cts) if flag else zero_cotangent(bp.body, state, zeros)
                for flag, want, state in zip(asked, wanted, binding.vars, strict=False)
                if want
            ]
            cells = [bp.dual(v) for v in inner.free]
            final = _reverse_loop(bp.body, count, bps, start, list(cts), cells)
            inits = _chosen(node.args[1:], wanted)
            for init, ct in zip(inits, final, strict=True):
                if chad.is_active(init):
                    assert isinstance(init, Var)
                    bp.body.emit(One(bp.dual(init), (), ct))
        states_end = len(states)
        finals, outputs = binding.vars[:states_end], binding.vars[states_end:]
        variables = (*finals, *counted, *outputs, bps)
        return bp.rule([Binding(variables, new, binding.span), *zeros])

    def _counted(
        self, node: Apply, params: tuple[Var, ...], block: Block
    ) -> tuple[Apply, Operand, tuple[Var, ...]]:
        """The loop of these steps, their number, and the variable that holds it.

        A loop that stops counts its steps, by one more state.
        """
        if not self.stops:
            return Apply(self, node.args, (Lambda(params, block),)), node.args[0], ()
        count, after, steps = (Var("steps", I64) for _ in range(3))
        add = Binding((after,), Apply(PRIMS["iadd"], (params[0], lit(1))))
        results = block.results
        states = len(params) - 1
        counting = Block(
            (*block.bindings, add), (*results[:states], after, *results[states:])
        )
        body = Lambda((*params, steps), counting)
        return Apply(self, (*node.args, lit(0)), (body,)), count, (count,)

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        """iterate n s (i s. t, o) = iterate n s s_t (i s s_t. t, t_t, o, o_t)"""
        (body,) = node.bodies
        count, states = len(node.args) - 1, body.params[1:]
        finals, outputs = binding.vars[:count], binding.vars[count:]
        params = (*body.params, *forward.bind(states))
        inner, results = forward.block(body.body), body.body.results
        tangents = forward.tangents(results, states)
        collected = results[count:]
        rows = forward.tangents(collected, outputs)
        block = inner.block((*results[:count], *tangents, *collected, *rows))
        args = (*node.args, *forward.tangents(node.args[1:], states))
        variables = (
            *(*finals, *forward.bind(finals)),
            *(*outputs, *forward.bind(outputs)),
        )
        new = Apply(self, args, (Lambda(params, block),))
        out.bindings.append(Binding(variables, new, binding.span))

    def _wanted(self, chad: Chad, body: Lambda, asked: Sequence[bool]) -> list[bool]:
        """The state components that the results asked for depend on, by any step."""
        states, results = body.params[1:], body.body.results
        wanted = [
            flag and chad.is_active(s) for flag, s in zip(asked, states, strict=False)
        ]
        outputs = [r for r, flag in zip(results, asked, strict=True) if flag]
        while True:
            chosen = [*outputs, *_chosen(results[: len(states)], wanted)]
            found = chad.influences(
                body.body, [r for r in chosen if isinstance(r, Var)]
            )
            grown = [w or s in found for w, s in zip(wanted, states, strict=True)]
            if grown == wanted:
                return wanted
            wanted = grown

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        (body,) = node.bodies
        states = len(node.args) - 1
        count = lowering.loops.count(lowering.atom(node.args[0]))
        carriers = lowering.carriers(node, binding)
        go, made = None, binding.vars[states:]
        if self.stops:
            go = lowering.loops.slot("go", lowering.atom(node.args[1]))
            collectors = lowering.growing(made, body, states, binding.span)
        else:
            collectors = lowering.collectors(
                made, body, states, count, binding.span, carriers
            )
        with lowering.loop(count, body, go=go) as index:
            for carrier in carriers:
                carrier.enter()
            results = lowering.step(body, index, collectors)
            for collector, result in zip(collectors, results[states:], strict=True):
                collector.collect(index, result)
            steps = [
                carrier.next(result)
                for carrier, result in zip(carriers, results[:states], strict=True)
            ]
            for step in steps:
                step()
            if go is not None:
                lowering.loops.set(go, lowering.atom_of(results[0]))
        for carrier in carriers:
            carrier.finish()
        for collector in collectors:
            collector.finish()


def _chosen(
    items: Sequence[Operand] | Sequence[Var], flags: Sequence[bool]
) -> list[Operand]:
    return [x for x, flag in zip(items, flags, strict=False) if flag]


def zero_cotangent(b: Builder, state: Var, forward: list[Binding]) -> Operand:
    """The zero cotangent of a result that nobody uses.

    The dimensions of an array are bound in the forward part, so that the backpropagator
    captures them and not the array.
    """
    if not isinstance(state.type, Array):
        return literal(0, state.type)
    dims = tuple(Var(f"{state.name}_dim", I64) for _ in range(state.type.rank))
    for axis, dim in enumerate(dims):
        forward.append(Binding((dim,), Apply(Dim(axis), (state,)), b.span))
    return b.one(Apply(Zeros(state.type.elem), dims), f"{state.name}_ct")


def _reverse_loop(
    b: Builder,
    count: Operand,
    bps: Var,
    start: Sequence[Operand],
    output_cts: Sequence[Var],
    cells: Sequence[Var],
) -> tuple[Var, ...]:
    """Run the steps' backpropagators from the last to the first; in their own order if
    they hand on no cotangent, for additions to cells that nobody reads yet commute."""
    step = b.child()
    j = Var("j", I64)
    cts = tuple(
        Var(s.name if isinstance(s, Var) else "state_ct", s.type) for s in start
    )
    i = j
    if start or any(isinstance(c.type, Acc) and c.type.is_read for c in cells):
        last = step.prim("isub", count, lit(1))
        i = step.prim("isub", last, j, hint="i")
    function = step.one(Apply(Index(), (bps, i)), "bp")
    parts = [step.one(Apply(Index(), (ct, i)), ct.name) for ct in output_cts]
    results = step.call(function, (*cts, *parts, *cells))
    body = Lambda((j, *cts), step.block(results))
    return b.apply(Iterate(), (count, *start), [body], [c.name for c in cts])


# Whether a loop has a step.


def asked(node: Apply) -> list[Operand]:
    """What is positive, or true, where a loop has a step."""
    assert isinstance(node.op, Iterate)
    operands = node.args[: 2 if node.op.stops else 1]
    return [x for x in operands if not (isinstance(x, Lit) and x.value > 0)]


def least_steps(node: Apply, known: Callable[[Operand], bool]) -> int:
    """How many steps a loop has at least, by what is known to be positive, or true."""
    assert isinstance(node.op, Iterate)
    if not all(map(known, asked(node))):
        return 0
    count = node.args[0]
    if isinstance(count, Lit) and not node.op.stops:
        return int(count.value)
    return 1


def begun_with(
    body: Lambda, state: int, is_made: Callable[[Operand], bool]
) -> list[int] | None:
    """The states by which a loop begins with what a state is in the end if there is no
    step, one, and so on; None if none of so many steps makes it.

        x, y, z = y, z, f(x)   →   x begins with what x is after 0 steps, y 1, z 2
    """
    states, results, found = body.params[1:], body.body.results, [state]
    while not is_made(results[found[-1]]):
        if results[found[-1]] not in states:
            return None
        state = states.index(results[found[-1]])
        if state in found:
            return None
        found.append(state)
    return found


class Steps:
    """Which loops have a step: what is positive where a truth value is true."""

    def __init__(self) -> None:
        self._positive: dict[Operand, Operand] = {}

    def enter(self, binding: Binding) -> None:
        """Look at what may be the condition of a branch."""
        match binding.expr:
            case Apply(Prim(name="ilt"), (Lit(0), Var() as count)):
                self._positive[binding.vars[0]] = count

    def where(self, condition: Operand) -> Sequence[Operand]:
        """What a loop may ask for that has a step where the condition is true."""
        return condition, self._positive.get(condition, condition)
