"""`fold[add|min|max](n; i -> r)`: a reduction of r over the index (paper, §7 and §8.1).

The operators are those whose derivative needs no record of the reduction tree: for a
sum every element gets the cotangent of the whole; for a minimum the winner does, the
first one of equals. `fold[argmin|argmax]` also returns the winner's index; that is what
CHAD makes of a minimum. A sum may be reassociated, in a way that depends on the program
and on n alone. Minima compare as Python's builtins do: a later element wins if strictly
better. With `nan`, as in `fold[max, nan]`, they do as NumPy's: the first NaN wins. With
`quiet` a NaN never wins: it stands for the worst value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.build import Builder
from chadllvm.ir.op import (
    ArrayOp,
    Prim,
    ProgramError,
    TypeRuleError,
    register_array_op,
)
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Close,
    If,
    Lambda,
    Lit,
    One,
    Open,
    Operand,
    Var,
    literal,
    nested,
)
from chadllvm.ir.types import F32, F64, I64, Array, Type, is_float, stacked
from chadllvm.ir.value import rounded, stack
from chadllvm.ops.best import FirstZero, first_zero, is_best, nan_wins, unless_nan
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index
from chadllvm.ops.iterate import Iterate

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward
    from chadllvm.chad.transform import Chad, Rule
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.loops import Atom, Slot
    from chadllvm.ir.lowering import Lowering

# Sums over no more elements than this are not cut into chunks; see `_chunk`.
_LIGHT_CHUNK = 1024
_HEAVY_CHUNK, _SLIM_CHUNK = 16, 32
# A recurrence of no more bindings is slim.
_SLIM = 5
# A minimum of elements with no more bindings than this computes them twice.
_CHEAP = 16


@register_array_op
@dataclass(frozen=True)
class Fold(ArrayOp):
    """`fold[kind](n; i -> r, o…)`: the reduction, the outputs stacked, the winner."""

    name = "fold"
    kind: str = "add"
    nan: bool = False
    quiet: bool = False

    @property
    def can_fail(self) -> bool:
        return self.kind != "add"

    @property
    def attributes(self) -> str:
        how = (", nan" if self.nan else "") + (", quiet" if self.quiet else "")
        return self.kind + how

    @classmethod
    def parse(cls, attributes: str) -> Fold:
        kind, comma, rest = attributes.partition(",")
        if comma and rest.strip() not in ("nan", "quiet"):
            raise ValueError(attributes)
        return cls(kind, rest.strip() == "nan", rest.strip() == "quiet")

    def _of_kind(self, kind: str) -> Fold:
        return Fold(kind, self.nan, self.quiet)

    @property
    def _has_winner(self) -> bool:
        return self.kind.startswith("arg")

    def carried(self, node: Apply) -> int | None:
        return 1

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        (body,) = bodies
        if self.kind not in ("add", "min", "max", "argmin", "argmax"):
            raise TypeRuleError(f"fold: no operator {self.kind}")
        if tuple(args) != (I64,) or [p.type for p in body.params] != [I64]:
            raise TypeRuleError("fold: takes a size and a body of one index")
        types = body.body.types
        if not types or types[0] not in (F64, F32, I64):
            raise TypeRuleError("fold: the body gives no number")
        winner = (I64,) if self._has_winner else ()
        return (types[0], *(stacked(ty) for ty in types[1:]), *winner)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        (n,), (body,) = args, bodies
        rows = [run.call(body, (i,)) for i in range(n)]
        run.pay(1 + max(n, 0))
        types = body.body.types
        collected = (
            stack([row[k] for row in rows], ty) for k, ty in enumerate(types) if k
        )
        values = [self._heard(row[0]) for row in rows]
        if self.kind == "add":
            total = sum(values, literal(0, types[0]).value)
            return (rounded(total, types[0]), *collected)
        if not values:
            raise ProgramError(ValueError, _empty_message(self.kind))
        winner = self._winner(values)
        last = (winner,) if self._has_winner else ()
        return (values[winner], *collected, *last)

    def _heard(self, value: Any) -> Any:
        """The value that is compared."""
        return self._worst(F64) if self.quiet and value != value else value

    def _worst(self, ty: Type) -> float | int:
        """The value that any other one beats."""
        return _WORST[is_float(ty), self.kind.endswith("min")]

    def _winner(self, values: Sequence[Any]) -> int:
        """The index of the least or the largest value, the first one of equals."""
        if self.nan:
            for index, value in enumerate(values):
                if value != value:
                    return index
        best = min if self.kind.endswith("min") else max
        return best(range(len(values)), key=values.__getitem__)

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """D[fold (+) n (i. t)] = let (s, bps) = fold (+) n (i. D[t]) in
        (s, fun d. build n (i. bps[i] d)), and for a minimum (m, fun d. bps[winner] d).
        """
        (body,) = node.bodies
        count = len(body.body.results)
        is_sum = self.kind == "add"
        touched = [chad.touched[0] and is_sum, *[False] * (count - 1)]
        inner = chad.block(body.body, asked[:count], touched, body.params)
        block = inner.primal_and_bp(binding)
        bps = Var("bps", stacked(block.results[-1].type))
        kind = self.kind if is_sum or self._has_winner else f"arg{self.kind}"
        new = Apply(self._of_kind(kind), node.args, (Lambda(body.params, block),))
        winner = binding.vars[count:] or (() if is_sum else (Var("winner", I64),))
        with chad.backpropagator(binding, asked) as bp:
            cells = [bp.dual(v) for v in inner.free]
            if is_sum or any(asked[1:]) or chad.adds(binding):
                one = bp.cts[0] if asked[0] else None
                rows = bp.cts[1:] if asked[0] else bp.cts
                call = _each(body.params[0], bps, winner, one, rows, cells, binding)
                bp.body.apply(Build(), node.args, [call])
            else:
                function = bp.body.one(Apply(Index(), (bps, winner[0])), "bp")
                bp.body.call(function, (bp.cts[0], *cells))
        variables = (*binding.vars[:count], bps, *winner)
        return bp.rule([Binding(variables, new, binding.span)])

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        """The tangent of a sum is collected in a cell: s_t = close c after
        fold (+) n (i. t, one c t_t). That of a minimum is the winner's.
        """
        (body,) = node.bodies
        results, count = body.body.results, len(body.body.results)
        value, *outputs = binding.vars[:count]
        winner = binding.vars[count:]
        inner = forward.block(body.body)
        rows = [*results, *forward.tangents(results[1:], outputs)]
        bound = [value, *outputs, *forward.bind(outputs)]
        op: Fold = self
        tangent: Close | Apply | None = None
        if forward.moves(value) and self.kind == "add":
            cell = out.one(Open(value.type), f"{value.name}_c")
            inner.emit(One(cell, (), forward.tangent(results[0])))
            tangent = Close(cell)
        elif forward.moves(value):
            op = self if winner else self._of_kind(f"arg{self.kind}")
            winner = winner or (Var("winner", I64),)
            rows.append(forward.tangent(results[0]))
            bound.append(Var(f"{value.name}_ts", Array(value.type, 1)))
            tangent = Apply(Index(), (bound[-1], *winner))
        new = Apply(op, node.args, (Lambda(body.params, inner.block(rows)),))
        out.bindings.append(Binding((*bound, *winner), new, binding.span))
        if tangent is not None:
            forward.again((value,), tangent, out)

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        (body,) = node.bodies
        count = lowering.loops.count(lowering.atom(node.args[0]))
        outputs = binding.vars[1:-1] if self._has_winner else binding.vars[1:]
        collectors = lowering.collectors(outputs, body, 1, count, binding.span)
        lower = self._lower_sum if self.kind == "add" else self._lower_best
        lower(lowering, body, count, collectors, binding)
        for collector in collectors:
            collector.finish()

    def _lower_sum(
        self,
        lowering: Lowering,
        body: Lambda,
        count: Atom,
        collectors: Sequence[Any],
        binding: Binding,
    ) -> None:
        """One loop, or a loop over chunks whose sums are added in their order.

        Those of f32 are added as f64, for there may be very many chunks. Where the
        order is the program's, one number is added after the other, all as f64.
        """
        loops, ty = lowering.loops, binding.vars[0].type
        zero, is_single = literal(0, ty), ty == F32
        wide = literal(0, F64) if is_single else zero
        total = loops.slot(binding.vars[0].name, wide)
        is_ordered = not lowering.arithmetic.reorder
        chunk = None if is_ordered else _chunk(lowering, body)

        def widened(value: Atom) -> Atom:
            return loops.let("widen", value) if is_single else value

        def add_up(
            sum_: Slot, low: Atom, high: Atom, form: Callable[..., Atom]
        ) -> None:
            with lowering.loop(high, body, low, commutes=True) as index:
                value, *rest = lowering.step(body, index, collectors)
                lowering.accumulate(sum_, form(lowering.atom_of(value)))
                for collector, result in zip(collectors, rest, strict=True):
                    collector.collect(index, result)

        def run(low: Atom, high: Atom) -> None:
            part = loops.slot("part", zero)
            add_up(part, low, high, lambda value: value)
            done = widened(loops.get(part))
            loops.set(total, lowering.sum_of(loops.get(total), done))

        if is_ordered:
            add_up(total, Lit(0), count, widened)
        elif chunk is None:
            run(Lit(0), count)
        else:
            with lowering.chunks(count, chunk) as (low, high):
                run(low, high)
        result: Atom = loops.get(total)
        result = loops.let("narrow", result) if is_single else result
        lowering.bind(binding.vars[0], result)

    def _lower_best(
        self,
        lowering: Lowering,
        body: Lambda,
        count: Atom,
        collectors: Sequence[Any],
        binding: Binding,
    ) -> None:
        loops = lowering.loops
        some = loops.let("ilt", Lit(0), count)
        loops.check(some, "ValueError", _empty_message(self.kind), binding.span)
        ty = binding.vars[0].type
        once = not self._has_winner and not self._minds_first(ty)
        if once:
            found = self._best(lowering, body, count, collectors, binding)
            lowering.bind(binding.vars[0], found)
            return
        if not collectors and _is_cheap(body):
            self._lower_twice(lowering, body, count, binding)
            return
        best = loops.slot(binding.vars[0].name, literal(self._worst(ty), ty))
        winner = loops.slot("winner", Lit(0))
        with lowering.loop(count, body) as index:
            value, *rest = lowering.step(body, index, collectors)
            new, old = lowering.atom_of(value), loops.get(best)
            pair = (new, old) if self.kind.endswith("min") else (old, new)
            better: Atom = loops.let("flt" if is_float(new.type) else "ilt", *pair)
            if self.nan and is_float(new.type):
                better = nan_wins(loops, better, new, old)
            if not self.quiet:
                first = loops.let("ieq", index, Lit(0))
                better = loops.let("or", first, better)
            loops.set(best, loops.let("select", better, new, old))
            if self._has_winner:
                at = loops.get(winner)
                loops.set(winner, loops.let("select", better, index, at))
            for collector, result in zip(collectors, rest, strict=True):
                collector.collect(index, result)
        lowering.bind(binding.vars[0], loops.get(best))
        if self._has_winner:
            lowering.bind(binding.vars[-1], loops.get(winner))

    def _best(
        self,
        lowering: Lowering,
        body: Lambda,
        count: Atom,
        collectors: Sequence[Any],
        binding: Binding,
    ) -> Atom:
        """A loop for the best value, which does not wait for a comparison in each step.

        So it is vectorised. A NaN at the first place is none of its business. Of zeros
        it is the first one.
        """
        loops, ty = lowering.loops, binding.vars[0].type
        best = loops.slot(binding.vars[0].name, literal(self._worst(ty), ty))
        is_again = not collectors and _is_cheap(body)
        zero = FirstZero(loops) if is_float(ty) and not is_again else None
        with lowering.loop(count, body) as index:
            value, *rest = lowering.step(body, index, collectors)
            new = lowering.atom_of(value)
            loops.set(best, loops.let(self._combining(ty), loops.get(best), new))
            if zero is not None:
                zero.note(index, new)
            for collector, result in zip(collectors, rest, strict=True):
                collector.collect(index, result)
        if zero is not None:
            return zero.signed(loops.get(best))
        return (
            first_zero(lowering, body, count, best) if is_float(ty) else loops.get(best)
        )

    def _lower_twice(
        self, lowering: Lowering, body: Lambda, count: Atom, binding: Binding
    ) -> None:
        """One loop for the best value, another one for the first place it stands at.

        Neither has to wait for a comparison in each step, so both are vectorised.
        """
        loops, ty = lowering.loops, binding.vars[0].type

        def value_at(index: Atom) -> Atom:
            (value,) = lowering.step(body, index, ())
            return lowering.atom_of(value)

        best = self._best(lowering, body, count, (), binding)
        first = value_at(Lit(0)) if self._minds_first(ty) else None
        found = unless_nan(loops, first, best, first)
        lowering.bind(binding.vars[0], found)
        if not self._has_winner:
            return
        winner = loops.slot("winner", count)
        with lowering.loop(count, body) as index:
            wins = is_best(loops, value_at(index), best, self.nan)
            place = loops.let("select", wins, index, count)
            loops.set(winner, loops.let("imin", loops.get(winner), place))
        # There is none if all are NaN.
        some = loops.let("ilt", loops.get(winner), count)
        place = loops.let("select", some, loops.get(winner), Lit(0))
        found = unless_nan(loops, first, place, Lit(0))
        lowering.bind(binding.vars[-1], found)

    def _minds_first(self, ty: Type) -> bool:
        """Whether a NaN wins if it is the first element, as in Python."""
        return is_float(ty) and not self.nan and not self.quiet

    def _combining(self, ty: Type) -> str:
        """The instruction for the better one of two values."""
        is_min = self.kind.endswith("min")
        if not is_float(ty):
            return "imin" if is_min else "imax"
        if self.nan:
            return "least" if is_min else "largest"
        return "lesser" if is_min else "greater"


# By whether it is a float and whether it is a minimum: the value that any other beats.
_WORST = {
    (True, True): math.inf,
    (True, False): -math.inf,
    (False, True): (1 << 63) - 1,
    (False, False): -(1 << 63),
}


def _is_cheap(body: Lambda) -> bool:
    """Whether a body may be run twice: it is short, and nothing happens in it."""
    cost = _cost(body.body)
    return cost is not None and cost <= _CHEAP


def _cost(block: Block) -> int | None:
    """The number of bindings, those in branches as well; None if it may do more."""
    total = len(block.bindings)
    for binding in block.bindings:
        match binding.expr:
            case Apply(Prim(can_fail=False)) | Apply(Index() | Dim()):
                pass
            case If(_, then, orelse):
                costs = _cost(then), _cost(orelse)
                if None in costs:
                    return None
                total += sum(cost for cost in costs if cost is not None)
            case _:
                return None
    return total


def _each(
    param: Var,
    bps: Var,
    winner: Sequence[Var],
    ct: Var | None,
    rows: Sequence[Var],
    cells: Sequence[Var],
    binding: Binding,
) -> Lambda:
    """Call every element's backpropagator.

    `ct` is the cotangent of the reduction: that of every element of a sum, and of the
    winner alone for a minimum. `rows` are the cotangents of the outputs.
    """
    each = Builder(binding.span)
    index = Var(param.name, I64)
    function = each.one(Apply(Index(), (bps, index)), "bp")
    cts: list[Operand] = []
    if ct is not None and winner:
        wins = each.prim("ieq", index, winner[0])
        cts.append(each.prim("select", wins, ct, Lit(0.0), hint=ct.name))
    elif ct is not None:
        cts.append(ct)
    cts += [each.one(Apply(Index(), (row, index)), row.name) for row in rows]
    each.call(function, (*cts, *cells))
    return Lambda((index,), each.block(()))


def _chunk(lowering: Lowering, body: Lambda) -> int | None:
    """How many elements are summed at a time; None: all.

    It depends on the program alone, not on the machine or its threads, so that the
    result does not either. Sums inside the iterations of another data-parallel loop
    are never spread over threads and need no chunks; those of f32 do, to be exact.
    """
    if lowering.inside_parallel and body.body.results[0].type != F32:
        return None
    if not lowering.has_loop(body.body):
        return _LIGHT_CHUNK
    return _SLIM_CHUNK if _is_slim(body.body) else _HEAVY_CHUNK


def _is_slim(block: Block) -> bool:
    """Whether all loops in a block are recurrences that do little in each step.

    So few numbers are under way in one of them that more are taken side by side.
    """
    for binding in block.bindings:
        match binding.expr:
            case Apply(Iterate(), _, (body,)):
                if len(body.body.bindings) > _SLIM or not _is_slim(body.body):
                    return False
            case Apply(bodies=(_, *_)):
                return False
            case expr:
                if not all(_is_slim(inner) for _, inner in nested(expr)):
                    return False
    return True


def _empty_message(kind: str) -> str:
    return f"{kind.removeprefix('arg')}() iterable argument is empty"
