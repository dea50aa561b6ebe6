"""Correlated branches: what one branch has computed is handed to later ones that run
whenever it did.

    y = if c {                            y, r_2 = if c {
      r = sqrt(x)                           r = sqrt(x)
      s = sin(r)                            s = sin(r)
      yield s                               yield s, r
    } else {                              } else {
      yield x                               yield x, 0.0
    }                              →      }
    d = if c {                            d = if c {
      r_1 = sqrt(x)
      e = div(y, r_1)                       e = div(y, r_2)
      yield e                               yield e
    } else { … }                          } else { … }

The reverse of a branch stands behind the branch and asks the same condition. Where both
are in one step of a loop, what `closure/tape.py` weighed against memory takes a
register only: whatever costs as much as a division is not computed again. So it is with
the branches of branches.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Expr,
    Function,
    If,
    Operand,
    Program,
    Var,
    literal,
    operands,
)
from chadllvm.ir.types import Scalar
from chadllvm.simplify.cse import Key, expression_keys, operand_key
from chadllvm.simplify.walk import Walk

# The least cost of what is handed on: that of a division.
_LEAST = 4


def correlated(program: Program) -> Program:
    """Use what earlier branches for the same condition have computed."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    finding = _Finding()
    body = finding.block(function.body)
    if finding.more:
        body = _Handing(finding.more).block(body)
    return with_body(function, body)


@dataclass(eq=False)
class _Home:
    """A branch of the `if` whose first result is `name`.

    `outer`: the branch that this `if` stands in, where that must hand on as well what
    is seen from afar. `yielded`: the results of the `if` by what they are in here.
    """

    name: Var
    side: int
    outer: _Home | None
    yielded: dict[Operand, Var] = field(default_factory=dict)


@dataclass(eq=False)
class _Side:
    """All branches so far that run if a condition holds, or all those if it does not.

    `known`: what they compute, by keys; `equal`: what is the same wherever they ran.
    """

    known: dict[Key, tuple[_Home, Var]] = field(default_factory=dict)
    equal: dict[Var, Operand] = field(default_factory=dict)
    _ifs: dict[object, _Sides] = field(default_factory=dict)
    # The bindings of `if`s that are not among `_ifs` yet.
    _pending: list[tuple[_Home, Binding]] = field(default_factory=list)

    def add(self, home: _Home, variables: tuple[Var, ...], block: Block) -> None:
        """Note what a branch of an `if` with these results does."""
        for var, operand in zip(variables, block.results, strict=True):
            self.equal[var] = operand
            home.yielded.setdefault(operand, var)
        for binding in block.bindings:
            expr = binding.expr
            if isinstance(expr, If):
                if binding.vars:
                    self._pending.append((home, binding))
                continue
            args = [self.same(operand) for operand in operands(expr)]
            for key in expression_keys(expr, args) if len(binding.vars) == 1 else ():
                self.known.setdefault(key, (home, binding.vars[0]))

    def same(self, operand: Operand) -> Operand:
        """What an operand is, in terms of the first branch that has it."""
        while isinstance(operand, Var) and operand in self.equal:
            operand = self.equal[operand]
        return operand

    def within(self, cond: Operand) -> _Sides | None:
        """The branches in these for another condition."""
        for home, binding in self._pending:
            assert isinstance(binding.expr, If)
            key = operand_key(self.same(binding.expr.cond))
            add(self._ifs.setdefault(key, (_Side(), _Side())), binding, home)
        self._pending.clear()
        return self._ifs.get(operand_key(cond))


_Sides = tuple[_Side, _Side]


def add(sides: _Sides, binding: Binding, outer: _Home | None) -> None:
    """Note both branches of an `if`."""
    assert isinstance(binding.expr, If)
    blocks = binding.expr.then, binding.expr.orelse
    for k, (side, block) in enumerate(zip(sides, blocks, strict=True)):
        side.add(_Home(binding.vars[0], k, outer), binding.vars, block)


# What an `if` gets as further results: for each branch, by what it has computed.
_More = tuple[dict[Var, Var], dict[Var, Var]]


class _Finding(Walk):
    """Finds what is computed again; `more`: what each `if` has to hand on for it."""

    def __init__(self) -> None:
        super().__init__()
        self.more: dict[Var, _More] = {}
        # What stands before this place in blocks around it, by the conditions.
        self._before: dict[object, list[_Sides]] = {}
        # The conditions of those in this block.
        self._entered: set[object] = set()
        # What ran if the branches around this place do, from outside in.
        self._twins: list[_Side] = []

    def enter(self, params: tuple[Var, ...], block: Block) -> Block:
        outer, self._entered = self._entered, set()
        new = self.block(block)
        for key in self._entered:
            self._before[key].pop()
        self._entered = outer
        return new

    def expr(self, expr: Expr) -> Expr:
        if not isinstance(expr, If):
            return super().expr(expr)
        cond = self.operand(expr.cond)
        sides = self._sides(cond)
        if not sides:
            return super().expr(expr)
        with self._beside([first for first, _ in sides]):
            then = self.enter((), expr.then)
        with self._beside([second for _, second in sides]):
            orelse = self.enter((), expr.orelse)
        if then is expr.then and orelse is expr.orelse and cond is expr.cond:
            return expr
        return If(cond, then, orelse)

    def _sides(self, cond: Operand) -> list[_Sides]:
        """What came before with this condition."""
        same = self._same(cond)
        inside = [twin.within(same) for twin in self._twins]
        found = [sides for sides in inside if sides is not None]
        return found + self._before.get(operand_key(cond), [])

    def _same(self, operand: Operand) -> Operand:
        """What an operand is in the twins, or outside them."""
        for twin in reversed(self._twins):
            operand = twin.same(operand)
        return operand

    @contextmanager
    def _beside(self, twins: list[_Side]) -> Iterator[None]:
        start = len(self._twins)
        self._twins += twins
        yield
        del self._twins[start:]

    def visit(self, binding: Binding) -> None:
        expr = binding.expr
        if isinstance(expr, If):
            self.keep(binding)
            if binding.vars:
                self._enter_if(binding, operand_key(expr.cond))
        elif self._twins and (found := self._known(expr)):
            twin, home, var = found
            (mine,) = binding.vars
            if _is_dear(expr):
                handed = self._handed(home, var)
                self.replace(mine, handed)
                twin.equal.setdefault(handed, var)
            else:
                twin.equal[mine] = var
                self.keep(binding)
        else:
            self.keep(binding)

    def _enter_if(self, binding: Binding, key: object) -> None:
        """Note an `if`: it is not seen from outside of this block."""
        known = self._before.setdefault(key, [])
        if key not in self._entered:
            self._entered.add(key)
            known.append((_Side(), _Side()))
        add(known[-1], binding, None)

    def _known(self, expr: Expr) -> tuple[_Side, _Home, Var] | None:
        """The variable of a branch that ran before which is this."""
        args = [self._same(operand) for operand in operands(expr)]
        for key in expression_keys(expr, args)[:1]:  # what is known not to fail is less
            for twin in reversed(self._twins):
                if (found := twin.known.get(key)) is not None:
                    return twin, *found
        return None

    def _handed(self, home: _Home | None, var: Var) -> Var:
        """A variable of a branch as it is seen here."""
        while home is not None:
            result = home.yielded.get(var)
            if result is None:
                more = self.more.setdefault(home.name, ({}, {}))[home.side]
                result = more.setdefault(var, Var(var.name, var.type))
            home, var = home.outer, result
        return var


def _is_dear(expr: Expr) -> bool:
    """Whether an expression costs more than to hand a number on."""
    match expr:
        case Apply(Prim(result=Scalar()) as op):
            return op.cycles >= _LEAST
        case _:
            return False


class _Handing(Walk):
    """Gives each `if`, known by its first result, the further results it needs."""

    def __init__(self, more: dict[Var, _More]) -> None:
        super().__init__()
        self._more = more

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case If(cond, then, orelse) if binding.vars and (
                more := self._more.get(binding.vars[0])
            ):
                first, second = more
                zeros = [literal(0, v.type) for v in first.values()]
                others = [literal(0, v.type) for v in second.values()]
                node = If(
                    cond,
                    Block(then.bindings, (*then.results, *first, *others)),
                    Block(orelse.bindings, (*orelse.results, *zeros, *second)),
                )
                variables = *binding.vars, *first.values(), *second.values()
                binding = Binding(variables, node, binding.span)
        self.keep(binding)
