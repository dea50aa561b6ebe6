"""Proves checks of indices away, and hoists what is left of them out of loops.

    n = dim[0](a)                           n = dim[0](a)
    s = fold[add](n) { i ->                 g = ilt(0, n)
      k = bound(i, n)                       if g {
      x = index(a, k)               →         f = within(m, d)
      e = iadd(i, m)                          t = iadd(m, n); l = iadd(t, -1)
      l = bound(e, d)                         r = within(l, d) }
      y = index(b, l)                       s = fold[add](n) { i ->
      …                                       x = index(a, i)
                                              e = iadd(i, m)
                                              y = index(b, e)
                                              …

What the facts of a place prove (`facts`) needs no check. With `speculate`, a check that
is executed in every step of a loop, of an index affine in that of the loop, is replaced
by checks of the first and the last index in front of the loop, and so on outwards. So
is one of the same index in every step of a loop that stops, if there is a step. An
index that is known to be negative is counted from the beginning then, and one that is
so in the first step keeps its check. They fail for other negative indices too, and
perhaps before another error would: the caller promises to run a program that was not
speculated when one fails. They fail only if the program would fail or uses a negative
index.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    If,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import I64
from chadllvm.simplify.affine import Form
from chadllvm.simplify.emit import Emitter
from chadllvm.simplify.facts import LIMIT
from chadllvm.simplify.scopes import FactWalk, sure_to_start
from chadllvm.support.diagnostic import Span


def bounds(program: Program, speculate: bool = False) -> Program:
    """Remove the checks that cannot fail; with `speculate`, hoist others."""
    return map_functions(program, lambda f: _function(f, speculate))


def _function(function: Function, speculate: bool) -> Function:
    walk = _Bounds(function.params, speculate)
    return with_body(function, walk.block(function.body))


@dataclass(frozen=True, eq=False)
class _Check:
    """0 <= index < size; if `steps`, that steps of `index`, `size` times, do not wrap.

    It has to hold only if all counts in `guards` are positive.
    """

    index: Form
    size: Form
    guards: tuple[Form, ...]
    span: Span
    steps: bool = False

    def forms(self) -> tuple[Form, ...]:
        return (self.index, self.size, *self.guards)

    @property
    def key(self) -> object:
        return tuple(f.key for f in self.forms()), self.steps


@dataclass(eq=False)
class _Loop:
    """The body of a loop that is being walked, and the checks that every step makes.

    The steps of a loop that stops have no `index`: any but the first may be the last.
    """

    index: Var | None
    depth: int
    checks: dict[object, _Check] = field(default_factory=dict)


class _Bounds(FactWalk):
    """Removes checks on the way, and collects those to hoist."""

    def __init__(self, params: tuple[Var, ...], speculate: bool) -> None:
        super().__init__(params)
        self.speculate = speculate
        self._loop: _Loop | None = None
        self._hoisted: list[_Check] = []
        self._starts = False

    def loop_expr(self, expr: Apply) -> Apply:
        self._starts = sure_to_start(expr)
        return super().loop_expr(expr)

    def inside(self, block: Block, index: Var | None) -> Block:
        outer, starts = self._loop, self._starts
        self._starts = False
        self._loop = _Loop(index, self.facts.depth) if index or starts else None
        new = self.block(block)
        self._hoisted = list(self._loop.checks.values()) if self._loop else []
        self._loop = outer
        return new

    def visit(self, binding: Binding) -> None:
        hoisted, self._hoisted = self._hoisted, []
        match binding.expr:
            case Apply(Prim(name=("bound" | "within")) as op, (index, size)):
                self._check(binding, op, index, size)
            case Apply(Prim(name="same"), (n, m)) if self._are_equal(n, m):
                self.replace(binding.vars[0], n)
            case Apply(_, (count, *_), (body,)) if hoisted:
                self._before_loop(hoisted, count, body.params[0])
                self.keep(binding)
            case _:
                self.keep(binding)

    def _check(self, binding: Binding, op: Prim, index: Operand, size: Operand) -> None:
        form, limit = self.facts.form(index), self.facts.value(size)
        counts = op.name == "bound"
        is_place = counts and self._is_natural(form)
        if counts and self.speculate and self._is_negative(form):
            index, form = self._from_end(binding, index, size), limit + form
            is_place = True
        check = _Check(form, limit, (), binding.span)
        if self.facts.is_in_range(form, limit) or self._leave(check):
            self.replace(binding.vars[0], index)
        elif is_place:
            within = Apply(PRIMS["within"], (index, size))
            self.keep(Binding((Var("i", I64),), within, binding.span))
            self.replace(binding.vars[0], index)
        else:
            self.keep(binding)

    def _from_end(self, binding: Binding, index: Operand, size: Operand) -> Var:
        """What counts from the end, counted from the beginning."""
        place = Var(binding.vars[0].name, I64)
        expr = Apply(PRIMS["iadd"], (size, index))
        self.keep(Binding((place,), expr, binding.span))
        return place

    def _are_equal(self, n: Operand, m: Operand) -> bool:
        difference = self.facts.value(n) - self.facts.value(m)
        both = (difference, difference.times(-1))
        return all(map(self.facts.is_not_negative, both))

    def _leave(self, check: _Check) -> bool:
        """Leave a check to the place before the loop, if that can be done."""
        loop = self._loop
        if not self.speculate or loop is None or not self._can_leave(check, loop):
            return False
        loop.checks.setdefault(check.key, check)
        return True

    def _can_leave(self, check: _Check, loop: _Loop) -> bool:
        """Whether only the index depends on what the loop binds, and linearly."""
        if not all(form.is_small for form in check.forms()):
            return False
        split = None
        if loop.index is not None and not check.steps:
            split = check.index.split(loop.index)
            if split and self._is_negative(split[1]):
                return False  # It would fail: the first step counts from the end.
        fixed = [check.size, *check.guards, *(split or (check.index,))]
        depths = self.facts.depth_of
        return all(depths[v] < loop.depth for f in fixed for v in f.variables())

    def _before_loop(
        self, checks: Sequence[_Check], count: Operand, index: Var
    ) -> None:
        """Emit what makes up for the checks in each step of a loop, or leave it too."""
        times = self.facts.value(count)
        here: dict[object, _Check] = {}
        for check in checks:
            for end in self._ends(check, times, index):
                if not self._leave(end):
                    here.setdefault(end.key, end)
        groups: dict[object, list[_Check]] = {}
        for check in here.values():
            key = tuple(guard.key for guard in check.guards)
            groups.setdefault(key, []).append(check)
        for group in groups.values():
            self._emit(group)

    def _ends(self, check: _Check, times: Form, index: Var) -> Iterator[_Check]:
        """The checks of the first and the last step, and that no step wraps around.

        If the lesser of the two indices is not negative and they differ by the number
        of steps, less than 2^63, the other one alone tells whether it is in range.
        """
        guards = check.guards
        if not self.facts.is_not_negative(times.plus(-1)):
            guards = (*guards, times)
        split = check.index.split(index)
        assert split is not None
        slope, first = split
        if not slope.terms:
            yield replace(check, guards=guards)
            return
        last = first + slope * times.plus(-1)
        ends = [last, first] if slope.number == -1 else [first, last]
        with self.facts.assuming(times.plus(-1)):
            if slope.number not in (1, -1):
                if not self._is_short(slope, times):
                    yield _Check(slope, times, guards, check.span, steps=True)
            elif self._is_natural(ends[0]):
                ends = ends[1:]
            ends = [e for e in ends if not self.facts.is_in_range(e, check.size)]
        for end in ends:
            yield replace(check, index=end, guards=guards)

    def _is_short(self, slope: Form, times: Form) -> bool:
        """Whether the steps cannot lead from one index around to another."""
        if slope.number is None:
            return False
        return abs(slope.number) * self.facts.range(times)[1] < 3 * LIMIT

    def _is_natural(self, form: Form) -> bool:
        """Whether a form is an i64 that is not negative."""
        return (
            self.facts.is_not_negative(form) and self.facts.range(form)[1] < 2 * LIMIT
        )

    def _is_negative(self, form: Form) -> bool:
        """Whether a form is an i64 that is negative."""
        lowest, _ = self.facts.range(form)
        opposite = form.times(-1).plus(-1)
        return lowest >= -2 * LIMIT and self.facts.is_not_negative(opposite)

    def _emit(self, group: Sequence[_Check]) -> None:
        """Make checks that have the same guards."""
        span = group[0].span
        inner = Emitter(self.facts, span)
        for check in group:
            inner.builder.span = check.span
            (inner.steps if check.steps else inner.within)(check.index, check.size)
        bindings = inner.builder.bindings
        if group[0].guards:
            outer = Emitter(self.facts, span)
            cond = outer.all_positive(group[0].guards)
            outer.builder.emit(If(cond, inner.builder.block(()), Block((), ())))
            bindings = outer.builder.bindings
        for binding in bindings:
            self.keep(binding)
