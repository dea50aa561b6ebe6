"""What depends linearly on some parameters of a function, say tangents.

    y = mul(t, x)      linear in t       z = add(y, t)      linear
    u = mul(t, t)      other             v = add(t, 1.0)    other

Users write rules for tangents and cotangents by hand, and these should be linear maps.
To transpose one is to differentiate it, which is right for linear maps alone. The
answer `LINEAR` is sure; `OTHER` says that nothing is known. A zero is linear too, and
stays apart from what else is `FIXED`: t + 1 is not linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from typing import assert_never

from chadllvm.ir.op import ArrayOp, Prim
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Close,
    Const,
    If,
    Inject,
    Lambda,
    Lit,
    One,
    Open,
    Operand,
    Proj,
    Tuple,
    Var,
    View,
)
from chadllvm.ir.types import is_float
from chadllvm.ops.alias import Alias
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Dim, Empty, Index, MakeBox, Sized, Unbox, Zeros
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Update
from chadllvm.support.diagnostic import InternalError


class Level(Enum):
    """How a value depends on the parameters in question."""

    ZERO = "zero"
    FIXED = "fixed"
    LINEAR = "linear"
    OTHER = "other"


ZERO, FIXED, LINEAR, OTHER = Level

# Linear in all arguments together.
_SUMS = ("add", "sub")
# Linear in the one argument.
_PASSING = ("neg", "widen", "narrow")
# Linear in each argument, the others fixed.
_PRODUCTS = ("mul", "scale")
# Linear in the first argument, the other fixed.
_SCALINGS = ("div", "ldexp")


def either(first: Level, second: Level) -> Level:
    """The level of what may be one or the other, or has both as parts."""
    if first is second or second is ZERO:
        return first
    return second if first is ZERO else OTHER


def all_of(levels: Iterable[Level]) -> Level:
    return reduce(either, levels, ZERO)


def _is_fixed(level: Level) -> bool:
    return level in (ZERO, FIXED)


class Linearity:
    """The levels of all variables of a block, given the parameters it depends on.

    `is_pure`: nothing that may fail depends on these parameters.
    """

    def __init__(self, block: Block, params: Iterable[Var]) -> None:
        self.levels: dict[Var, Level] = dict.fromkeys(params, LINEAR)
        self.is_pure = True
        # The cells that views and branches name.
        self._parts: dict[Var, tuple[Operand, ...]] = {}
        # The recursions around us, by the functions that call them again.
        self._recursions: dict[Var, _Recursion] = {}
        # Whether we are where a dependent value has led.
        self._astray = False
        self._block(block)

    def level(self, operand: Operand) -> Level:
        """Variables from outside, and parameters not given, are fixed."""
        if isinstance(operand, Lit):
            is_zero = is_float(operand.type) and operand.value == 0.0
            return ZERO if is_zero else FIXED
        return self.levels.get(operand, FIXED)

    def depends(self, operand: Operand) -> bool:
        return not _is_fixed(self.level(operand))

    def _block(self, block: Block) -> None:
        for binding in block.bindings:
            found = self._binding(binding)
            if self._astray:
                found = [OTHER] * len(found)
            # A call in a recursion may have no number as its last result.
            self.levels.update(zip(binding.vars, found, strict=False))

    def _binding(self, binding: Binding) -> list[Level]:
        match binding.expr:
            case Apply(Prim() as op, args):
                return [self._prim(op, args)]
            case Apply(ArrayOp() as op) as node:
                return self._array_op(op, node, len(binding.vars))
            case If(cond, then, orelse):
                return self._choice(binding, cond, (then, orelse))
            case Const(value):
                return [FIXED if value.any() else ZERO]
            case Open(_, dims):
                return [self._at(dims, ZERO)]
            case View(cell, indices):
                self._parts[binding.vars[0]] = (cell,)
                return [self._at(indices, ZERO)]
            case One(cell, indices, value):
                self._add(cell, self._at(indices, self.level(value)))
                return []
            case Close(cell):
                return [self.level(cell)]
            case Call(Var() as function, args):
                return self._call(self._recursions[function], args)
            case Lambda() | Tuple() | Proj() | Inject() | Case() | Call():
                name = type(binding.expr).__name__
                raise InternalError(f"linear: no rule for {name}")
            case Apply():
                raise InternalError(f"linear: no rule for {binding.expr.op.name}")
            case _:
                assert_never(binding.expr)

    def _prim(self, op: Prim, args: Sequence[Operand]) -> Level:
        levels = [self.level(arg) for arg in args]
        if op.name in _SUMS or op.name in _PASSING:
            return all_of(levels)
        if op.name in _PRODUCTS:
            return _product(*levels)
        if op.name in _SCALINGS and _is_fixed(levels[1]):
            return levels[0]
        if op.name == "select" and _is_fixed(levels[0]):
            return all_of(levels[1:])
        return self._opaque(op, levels)

    def _opaque(self, op: Prim | ArrayOp, levels: Iterable[Level]) -> Level:
        if all(map(_is_fixed, levels)):
            return FIXED
        self.is_pure = self.is_pure and not op.can_fail
        return OTHER

    def _at(self, indices: Sequence[Operand], level: Level) -> Level:
        """The level of what is at these indices, or of these sizes."""
        return OTHER if any(map(self.depends, indices)) else level

    def _add(self, cell: Operand, level: Level) -> None:
        """Something is added to a cell, and to the cells that it is part of."""
        pending = [cell]
        while pending:
            found = pending.pop()
            if isinstance(found, Var):
                new = OTHER if self._astray else either(self.level(found), level)
                self.levels[found] = new
                pending += self._parts.get(found, ())

    def _array_op(self, op: ArrayOp, node: Apply, results: int) -> list[Level]:
        levels = [self.level(arg) for arg in node.args]
        match op:
            case Index():
                return [self._at(node.args[1:], levels[0])]
            case MakeBox() | Unbox() | Sized() | Alias() | DropLast():
                return levels[:1]
            case Update():
                return [self._at(node.args[1:-1], either(levels[0], levels[-1]))]
            case Append():
                return [all_of(levels)]
            case Zeros() | Empty():
                return [self._at(node.args, ZERO)]
            case Dim():
                return [OTHER if levels[0] is OTHER else FIXED]
            case Recurse():
                return self._recurse(op, node)
            case Build() | Fold() | Iterate():
                return self._loop(op, node)[:results]
            case _:
                return [self._opaque(op, levels)] * results

    @contextmanager
    def _led_by(self, operands: Sequence[Operand]) -> Iterator[None]:
        """What is done inside depends on whatever these operands depend on."""
        outer = self._astray
        self._astray = outer or any(map(self.depends, operands))
        yield
        self._astray = outer

    def _choice(
        self, binding: Binding, cond: Operand, blocks: Sequence[Block]
    ) -> list[Level]:
        choices = list(zip(*(b.results for b in blocks), strict=True))
        self._parts.update(zip(binding.vars, choices, strict=True))
        with self._led_by([cond]):
            for block in blocks:
                self._block(block)
            if self._astray:
                return [OTHER] * len(choices)
        return [all_of(map(self.level, choice)) for choice in choices]

    def _loop(self, op: ArrayOp, node: Apply) -> list[Level]:
        (body,) = node.bodies
        results = body.body.results
        if isinstance(op, Iterate):
            return self._iterate(op, node, body)
        with self._led_by(node.args):
            self._block(body.body)
            if self._astray:
                return [OTHER] * (len(results) + 1)
        levels = [self.level(r) for r in results]
        if isinstance(op, Fold) and op.kind != "add":
            best = self._opaque(op, levels[:1])
            return [best, *levels[1:], best]
        return levels

    def _iterate(self, op: Iterate, node: Apply, body: Lambda) -> list[Level]:
        """The levels of states grow until a step changes nothing."""
        states, results = body.params[1:], body.body.results
        found = [self.level(init) for init in node.args[1:]]
        control = node.args[:1]
        while True:
            self.levels.update(zip(states, found, strict=True))
            with self._led_by(control):
                self._block(body.body)
                pairs = zip(found, results, strict=False)
                after = [either(level, self.level(r)) for level, r in pairs]
                if self._astray:
                    return [OTHER] * len(results)
            if op.stops and not _is_fixed(after[0]):
                control = (*control, results[0])
            elif after == found:
                return [*found, *(self.level(r) for r in results[len(found) :])]
            found = after

    def _recurse(self, op: Recurse, node: Apply) -> list[Level]:
        """The levels of parameters and results grow until a call changes nothing."""
        (body,) = node.bodies
        itself, *params = body.params
        results, count = body.body.results, op.plain(body)
        found = _Recursion([self.level(a) for a in node.args], [ZERO] * count)
        self._recursions[itself] = found
        while True:
            before = found.levels
            self.levels.update(zip(params, found.params, strict=True))
            self._block(body.body)
            found.return_(self.level(r) for r in results[:count])
            if found.levels == before:
                break
        number = [FIXED] if op.collects else []
        levels = [*found.results, *number, *(self.level(r) for r in results[count:])]
        return [OTHER] * len(levels) if found.is_astray else levels

    def _call(self, found: _Recursion, args: Sequence[Operand]) -> list[Level]:
        """A recursion goes on with these arguments."""
        found.call(self.level(arg) for arg in args)
        found.is_astray = found.is_astray or self._astray
        return [*found.results, FIXED]


@dataclass
class _Recursion:
    """What the parameters and the results of a recursion may be, as far as is known.

    `is_astray`: a dependent value decides whether it goes on.
    """

    params: list[Level]
    results: list[Level]
    is_astray: bool = False

    @property
    def levels(self) -> tuple[Level, ...]:
        return (*self.params, *self.results)

    def call(self, args: Iterable[Level]) -> None:
        self.params = list(map(either, self.params, args))

    def return_(self, results: Iterable[Level]) -> None:
        self.results = list(map(either, self.results, results))


def _product(first: Level, second: Level) -> Level:
    if ZERO in (first, second) and OTHER not in (first, second):
        return ZERO
    if first is LINEAR and second is FIXED:
        return LINEAR
    if first is FIXED and second is LINEAR:
        return LINEAR
    return FIXED if first is second is FIXED else OTHER
