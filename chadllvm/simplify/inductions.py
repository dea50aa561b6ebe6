"""Loops that run until a state meets a bound are counted, and such states go.

    go = ilt(k, n)                                 m = span(n, k)
    g, l, y = iterate[while](∞, go, k, z) {        y = iterate(m, z) { i, x ->
      i, _, j, x ->                                  j = iadd(k, i)
      w = f(j, x)                            →       w = f(j, x)
      h = iadd(j, 1)                                 yield w }
      c = ilt(h, n)                                l = iadd(k, m)
      yield c, h, w }

A state to which each step adds the same is affine in the index, an induction variable:
what is read there can be proved to be in range, and the reverse need not keep it. If
the loop goes on just while it is below a bound the number of steps is known. If it may
stop for other reasons as well, that is the most steps that it makes, and the state is
kept where it is asked for behind the loop.

The number of steps saturates (`span`), and no loop takes that many: one that goes on
while a state is not equal to a bound, which it moves away from, takes the most.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from chadllvm.ir.build import Builder
from chadllvm.ir.loops import UNBOUNDED
from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.rewrite import bound_in, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Expr,
    Function,
    If,
    Lambda,
    Lit,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import I64
from chadllvm.ops.iterate import Iterate
from chadllvm.simplify.failing import is_plain
from chadllvm.simplify.walk import Walk

T = TypeVar("T")


def inductions(program: Program) -> Program:
    """Count loops, and replace induction variables."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    return with_body(function, _Inductions().block(function.body))


# Constants nearer to 0 have neighbours.
_FAR = 1 << 62
_LARGEST = (1 << 63) - 1

# By what a variable is bound, and as which of its results.
_Made = Mapping[Var, tuple[Expr, int]]


@dataclass(frozen=True)
class _Side:
    """A value is below a bound, or above it; the bound may be on its side too.

    `is_apart`: it is not known on which side it is, but that it is not the bound.
    """

    value: Operand
    bound: Operand
    is_below: bool
    is_inclusive: bool
    is_apart: bool = False

    def steps(self, out: Builder, step: int, may_be_there: bool) -> Operand:
        """How many values there are on this side, from this one on.

        `may_be_there`: the first one may be the bound, and leaves it.
        """
        if self.is_apart:
            ends = (
                (self.value, self.bound) if self.is_below else (self.bound, self.value)
            )
            ahead = out.prim("ilt" if may_be_there else "ile", *ends)
            return out.prim("iselect", ahead, self._distance(out), UNBOUNDED)
        if abs(step) > 1 and self.is_inclusive:
            whole = out.prim("ifloordiv", self._distance(out), Lit(abs(step)))
            return out.prim("iadd", whole, Lit(1))
        if abs(step) > 1:
            return out.prim("steps", self.value, self.bound, Lit(step))
        if not self.is_inclusive:
            return self._distance(out)
        # One more: where that is a constant it is known not to wrap around.
        outwards = 1 if self.is_below else -1
        if isinstance(self.bound, Lit) and abs(int(self.bound.value)) < _FAR:
            bound = Lit(int(self.bound.value) + outwards)
            return replace(self, bound=bound)._distance(out)
        if isinstance(self.value, Lit) and abs(int(self.value.value)) < _FAR:
            value = Lit(int(self.value.value) - outwards)
            return replace(self, value=value)._distance(out)
        return _one_more(out, self._distance(out))

    def _distance(self, out: Builder) -> Operand:
        """How far the bound is, or less than nothing."""
        ends = (self.bound, self.value) if self.is_below else (self.value, self.bound)
        return out.prim("span", *ends)


class _Inductions(Walk):
    def __init__(self) -> None:
        super().__init__()
        self._made: dict[Var, tuple[Expr, int]] = {}

    def keep(self, binding: Binding) -> None:
        self._made.update(_made_by(binding))
        super().keep(binding)

    def walked(self, binding: Binding) -> Binding:
        """Loops are looked at before what is in them."""
        binding = self._replaced(self._counted(binding))
        return super().walked(binding)

    def _counted(self, binding: Binding) -> Binding:
        """A loop that has a bound makes so many steps."""
        match binding.expr:
            case Apply(Iterate(stops=True), (Lit(), *_) as args, (body,)) if (
                _has_integers(body)
            ):
                loop = _Loop(body)
            case _:
                return binding
        _, _, *inits = self.operands(args)
        for side in loop.sides:
            value, bound = loop.course(side.value), loop.course(side.bound)
            if value is None or bound is None:
                continue
            if {value.is_late, bound.is_late} == {True, False}:
                continue
            step = value.step - bound.step
            if side.is_apart and abs(step) != 1:
                continue
            if step and side.is_below == (step > 0):
                first, last = (self._first(at, inits) for at in (value, bound))
                start = replace(side, value=first, bound=last)
                return self._bounded(binding, loop, side, start, step)
        return binding

    def _first(self, course: _Course, inits: Sequence[Operand]) -> Operand:
        if isinstance(course.start, int):
            return inits[course.start]
        return self.operand(course.start)

    def _bounded(
        self, binding: Binding, loop: _Loop, side: _Side, start: _Side, step: int
    ) -> Binding:
        """The loop that ends once a state is not on its side of a bound.

        It is asked in each step for what the state is in the next, or at once.
        """
        assert isinstance(binding.expr, Apply)
        most, go, *inits = self.operands(binding.expr.args)
        is_first = side.value in loop.states or side.bound in loop.states
        out = Builder(binding.span)
        starts = not is_first and self._starts(start, go)
        steps = start.steps(out, step, not is_first and not starts)
        is_told = go == Lit(True) or (starts and self._is_comparison(go))
        block = loop.block_without(side, is_first) if is_told else None
        if is_first and block is None:
            steps = _one_more(out, out.prim("imax", steps, Lit(0)))
        elif not is_first and not starts:
            steps = out.prim("imax", steps, Lit(1))
        going: Operand = Lit(False)
        if most != UNBOUNDED:
            # A test in front of a step ends the loop in the step behind the last one.
            whole = out.prim("imax", steps, Lit(0))
            going = out.prim("ile" if is_first else "ilt", most, whole)
            steps = out.prim("imin", steps, most)
        for new in out.bindings:
            self.keep(new)
        if block is None:
            bodies = binding.expr.bodies
            loop_of = Apply(Iterate(stops=True), (steps, go, *inits), bodies)
            return replace(binding, expr=loop_of)
        self.replace(loop.going, Lit(True))
        self.replace(binding.vars[0], going)
        body = Lambda((loop.index, *loop.states), block)
        expr = Apply(Iterate(), (steps, *inits), (body,))
        return Binding(binding.vars[1:], expr, binding.span)

    def _starts(self, start: _Side, go: Operand) -> bool:
        """Whether a loop that starts does so on the same side of the bound."""
        ends = start.value, start.bound
        if go == Lit(True) and isinstance(ends[0], Lit) and isinstance(ends[1], Lit):
            first, last = int(ends[0].value), int(ends[1].value)
            low, high = (first, last) if start.is_below else (last, first)
            return low < high + int(start.is_inclusive)
        return start in _sides(self._made, [(go, True)])

    def _is_comparison(self, go: Operand) -> bool:
        """Whether a loop starts for one reason only."""
        return bool(_compared(self._made, go))

    def _replaced(self, binding: Binding) -> Binding:
        """A loop's states to which each step adds the same are read off its index."""
        match binding.expr:
            case Apply(Iterate(stops=stops), args, (body,)) if _has_integers(body):
                loop = _Loop(body, stops)
            case _:
                return binding
        count, *inits = self.operands(args)
        top, before = Builder(binding.span), Builder(binding.span)
        gone = set[int]()
        for k, (state, after) in enumerate(zip(loop.states, loop.after, strict=True)):
            step = loop.step(state, after)
            if step is None:
                continue
            step, first = self.operand(step), inits[k + stops]
            self.replace(state, _affine(top, first, loop.index, step))
            if not stops:
                gone.add(k)
                times = before.prim("imax", count, Lit(0))
                self.replace(binding.vars[k], _affine(before, first, times, step))
        for new in before.bindings:
            self.keep(new)
        if not top.bindings and not gone:
            return binding
        results = _without(body.body.results, gone)
        block = Block((*top.bindings, *body.body.bindings), results)
        body = Lambda((loop.index, *_without(body.params[1:], gone)), block)
        expr = Apply(Iterate(stops), (count, *_without(inits, gone)), (body,))
        return Binding(_without(binding.vars, gone), expr, binding.span)


@dataclass(frozen=True)
class _Course:
    """What a number begins with, a state or what is fixed, and what a step adds to it.

    `is_late`: it is what the next step begins with.
    """

    start: int | Operand
    step: int
    is_late: bool | None


@dataclass(frozen=True)
class _Way:
    """A choice that ends the loop on one side, and what must be so on the other."""

    choice: If
    side: Block
    end: Block
    go: Operand
    wanted: Lit


class _Loop:
    """What goes on in a step after which there is another one.

    `after` is what such a step makes of the `states`, and `sides` what it finds out of
    numbers; `local` is bound in the loop.
    """

    def __init__(self, body: Lambda, stops: bool = True) -> None:
        self.index, *states = body.params
        self.going, self.states = states[0], states[stops:]
        self._body = body.body
        self.local = {*body.params, *bound_in(body.body)}
        self._made = dict[Var, tuple[Expr, int]]()
        _enter(body.body, self._made)
        go, *after = body.body.results[: len(states)]
        self.after = after if stops else [go, *after]
        self._ways = list[_Way]()
        known = self._known([(go, Lit(True))]) if stops else []
        self.after = [self._on(result) for result in self.after]
        self.sides = [
            replace(side, value=self._on(side.value), bound=self._on(side.bound))
            for side in _sides(self._made, known)
        ]

    def _known(self, asked: list[tuple[Operand, Lit]]) -> list[tuple[Operand, bool]]:
        """The conditions that hold, or do not, if there is another step."""
        known = list[tuple[Operand, bool]]()
        while asked:
            go, wanted = asked.pop()
            expr, _ = (
                self._made.get(go, (None, 0)) if isinstance(go, Var) else (None, 0)
            )
            way = self._way(go, wanted)
            if way is not None:
                self._ways.append(way)
                known.append((way.choice.cond, way.side is way.choice.then))
                asked.append((way.go, way.wanted))
            elif isinstance(expr, Apply) and expr.op == PRIMS["and"]:
                asked += [(part, wanted) for part in expr.args]
            elif wanted == Lit(True):
                known.append((go, True))
        return known

    def _on(self, result: Operand) -> Operand:
        """What a variable is if there is another step."""
        for way in self._ways:
            result = self._in(way.side, way.choice, result)
        return result

    def course(self, number: Operand) -> _Course | None:
        """How a number changes from step to step, if evenly or not at all."""
        for k, (state, after) in enumerate(zip(self.states, self.after, strict=True)):
            if number in (state, after):
                step = self.step(state, after)
                if isinstance(step, Lit):
                    return _Course(k, int(step.value), number == after)
        return None if number in self.local else _Course(number, 0, None)

    def _way(self, go: Operand, wanted: Lit) -> _Way | None:
        """The only side of a choice on which a variable may be what is wanted."""
        match self._made.get(go) if isinstance(go, Var) else None:
            case Apply(Prim(name="ieq"), (Var() as code, Lit() as number)), _ if (
                wanted == Lit(True)
            ):
                return self._way(code, number)
            case If(_, then, orelse) as choice, place:
                yes, no = then.results[place], orelse.results[place]
            case _:
                return None
        if isinstance(yes, Lit) and yes != wanted:
            return _Way(choice, orelse, then, no, wanted)
        if isinstance(no, Lit) and no != wanted:
            return _Way(choice, then, orelse, yes, wanted)
        return None

    def block_without(self, side: _Side, is_first: bool) -> Block | None:
        """What each step does if nothing but a bound ends the loop; None if others may.

        The test is the last thing that a step does, or the first.
        """
        go, *results = self._body.results
        if is_first:
            return self._behind_test(go, results, side)
        if self._is_test(go, side):
            return Block(self._body.bindings, tuple(results))
        way = self._way(go, Lit(True))
        if way is None or way.go != way.wanted:
            return None
        sides = [
            [self._in(b, way.choice, r) for r in results] for b in (way.side, way.end)
        ]
        is_idle = (
            not way.side.bindings and not way.end.bindings and sides[0] == sides[1]
        )
        if is_idle and self._is_test(way.choice.cond, side):
            return Block(self._body.bindings, tuple(sides[0]))
        return None

    def _behind_test(
        self, go: Operand, results: Sequence[Operand], side: _Side
    ) -> Block | None:
        """What a step does behind a test that it begins with.

        Nothing may fail in front of it, and where it ends the loop nothing is done.
        """
        way = self._way(go, Lit(True))
        if way is None or way.go != way.wanted:
            return None
        bindings, choice = self._body.bindings, way.choice
        first = next((k for k, b in enumerate(bindings) if b.expr is choice), 0)
        before, behind = bindings[:first], bindings[first + 1 :]
        late = {var for binding in behind for var in binding.vars}
        after = [self._in(way.side, choice, r) for r in results]
        if (
            self._is_test(choice.cond, side)
            and not way.end.bindings
            and [self._in(way.end, choice, r) for r in results] == self.states
            and late.isdisjoint(after)
            and all(is_plain(binding.expr) for binding in (*before, *behind))
        ):
            return Block((*before, *way.side.bindings), tuple(after))
        return None

    def _is_test(self, cond: Operand, side: _Side) -> bool:
        """Whether a condition compares what is on a side, and asks for nothing else."""
        return side.value in _compared(self._made, cond)

    def _in(self, side: Block, choice: If, result: Operand) -> Operand:
        """A result of a choice on one of its sides."""
        if isinstance(result, Var) and result in self._made:
            expr, place = self._made[result]
            return side.results[place] if expr is choice else result
        return result

    def step(self, state: Var, after: Operand) -> Operand | None:
        """What a step adds to a state, if that is the same in each."""
        if not isinstance(after, Var):
            return None
        match self._made.get(after):
            case Apply(Prim(name="iadd"), (x, y)), _:
                step = y if x is state else x if y is state else None
            case Apply(Prim(name="isub"), (x, Lit(number))), _ if x is state:
                step = Lit(-int(number))
            case _:
                return None
        return None if step in self.local else step


def _has_integers(body: Lambda) -> bool:
    return any(param.type == I64 for param in body.params[1:])


def _made_by(binding: Binding) -> Iterator[tuple[Var, tuple[Expr, int]]]:
    for place, var in enumerate(binding.vars):
        yield var, (binding.expr, place)


def _enter(block: Block, made: dict[Var, tuple[Expr, int]]) -> None:
    """Enter what is bound in a block and in its branches."""
    for binding in block.bindings:
        made.update(_made_by(binding))
        if isinstance(binding.expr, If):
            _enter(binding.expr.then, made)
            _enter(binding.expr.orelse, made)


def _compared(made: _Made, cond: Operand) -> tuple[Operand, ...]:
    """What a condition compares, if it is nothing but a comparison."""
    match made.get(cond) if isinstance(cond, Var) else None:
        case Apply(Prim(name=("ilt" | "ile" | "ieq" | "ine")), args), _:
            return args
        case _:
            return ()


def _sides(made: _Made, known: Sequence[tuple[Operand, bool]]) -> list[_Side]:
    """What conditions say of numbers that are known to hold, or not to."""
    found, todo = list[_Side](), [*known]
    while todo:
        cond, holds = todo.pop()
        if not isinstance(cond, Var):
            continue
        match made.get(cond):
            case Apply(Prim(name=("ilt" | "ile") as name), (x, y)), _:
                low, high = (x, y) if holds else (y, x)
                is_inclusive = (name == "ile") == holds
                found.append(_Side(low, high, True, is_inclusive))
                found.append(_Side(high, low, False, is_inclusive))
            case Apply(Prim(name=("ieq" | "ine") as name), (x, y)), _ if (
                name == "ine"
            ) == holds:
                found += [
                    _Side(*pair, is_below, is_inclusive=False, is_apart=True)
                    for pair in ((x, y), (y, x))
                    for is_below in (True, False)
                ]
            case Apply(Prim(name="not"), (x,)), _:
                todo.append((x, not holds))
            case Apply(Prim(name=("and" | "or") as name), both), _ if (
                name == "and"
            ) == holds:
                todo += [(x, holds) for x in both]
            case If(first, then, orelse), place if holds and orelse.results[
                place
            ] == Lit(False):
                todo += [(first, True), (then.results[place], True)]
            case _:
                pass
    return found


def _one_more(out: Builder, number: Operand) -> Operand:
    """A number and one, or the largest."""
    return out.prim("iadd", out.prim("imin", number, Lit(_LARGEST - 1)), Lit(1))


def _affine(out: Builder, first: Operand, index: Operand, step: Operand) -> Operand:
    """What a state is that begins with a number, after so many steps."""
    if step == Lit(-1):
        return out.prim("isub", first, index)
    moved = index if step == Lit(1) else out.prim("imul", index, step)
    return moved if first == Lit(0) else out.prim("iadd", first, moved)


def _without(items: Sequence[T], gone: Collection[int]) -> tuple[T, ...]:
    return tuple(item for k, item in enumerate(items) if k not in gone)
