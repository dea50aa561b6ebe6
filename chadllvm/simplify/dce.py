"""Removes what nobody uses and what has no effect.

    x = exp(a)                          s = iterate(n, 0.0) { i, s: f64 ->
    s, t, os = iterate(n, 0.0, 1.0)       s_1 = add(s, 2.0)
      { i, s: f64, t: f64 ->      →       yield s_1 }
      s_1 = add(s, 2.0)                 return s
      t_1 = mul(t, 3.0)
      yield s_1, t_1, i }
    return s

Effects are operations that can fail, and additions to cells that somebody reads: a cell
whose total is not used goes away with all that is added to it. Results of branches and
of array operations are removed one by one; a state that only feeds itself is dead.
A loop that carries nothing any more becomes a `build`, whose iterations commute; not
where steps read a ledger that others add to.

It marks and sweeps: marking follows uses from the results and the effects of a
function, and visits each variable once; sweeping rebuilds the blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from chadllvm.ir.rewrite import free_vars, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Case,
    Close,
    Expr,
    Function,
    If,
    Lambda,
    One,
    Operand,
    Program,
    Var,
    nested,
    operands,
)
from chadllvm.ir.types import Acc
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.recurse import Recurse
from chadllvm.simplify.regions import Region, Regions, has_equal_rows, may_not_end
from chadllvm.simplify.walk import same

T = TypeVar("T")


def dce(program: Program) -> Program:
    """Remove dead code from every function."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    liveness = _Liveness(Regions(function))
    liveness.run(function)
    return with_body(function, _Sweep(liveness).block(function.body))


class _Liveness:
    """Which variables are used, and which bindings have to be executed."""

    def __init__(self, regions: Regions) -> None:
        self.regions = regions
        self.live: set[Var] = set()
        self.executed: set[Binding] = set()
        self._todo: list[Var] = []
        self._observed: set[Var] = set()
        self._additions: dict[Var, list[Binding]] = {}
        self._views: dict[Var, list[Var]] = {}
        self._closes: dict[Var, Binding] = {}

    def run(self, function: Function) -> None:
        root = self.regions.root
        for param in root.params:
            self._observe_cell(param)
        self._activate(root)
        self._mark_all(function.body.results)
        while self._todo:
            self._use(self._todo.pop())

    def _mark(self, operand: Operand) -> None:
        self._mark_all((operand,))

    def _mark_all(self, args: Sequence[Operand]) -> None:
        for operand in args:
            if isinstance(operand, Var) and operand not in self.live:
                self.live.add(operand)
                self._todo.append(operand)

    def _use(self, var: Var) -> None:
        """Mark what a variable depends on."""
        if isinstance(var.type, Acc):
            self._observe_cell(var)
            if var in self._closes:
                self._execute(self._closes[var])
        loop = self.regions.state_of.get(var)
        if loop is not None:
            self._mark(loop)
        definition = self.regions.definition.get(var)
        if definition is not None:
            binding = definition.binding
            self._execute(binding)
            if nested(binding.expr):
                self._use_result(binding.expr, definition.position)

    def _use_result(self, expr: Expr, position: int) -> None:
        """Mark what one result of an expression with nested blocks depends on."""
        match expr:
            case If(_, then, orelse):
                self._mark(then.results[position])
                self._mark(orelse.results[position])
            case Case(_, branches):
                self._mark_all([b.body.results[position] for b in branches])
            case Lambda(params, body):
                for param in params:
                    self._observe_cell(param)
                self._activate(self.regions.of_block[body])
                self._mark_all(body.results)
            case Apply(Build() | Fold(), _, (body,)):
                results = body.body.results
                self._mark(results[position if position < len(results) else 0])
            case Apply(Recurse() as op, _, (body,)) if position >= op.plain(body):
                # That of a number needs something to be collected.
                collected = position - op.plain(body) - 1
                self._mark(body.body.results[max(collected, 0) + op.plain(body)])
            case Apply(Iterate(), args, (body,)):
                self._mark(body.body.results[position])
                if position < len(args) - 1:
                    self._mark(args[1 + position])

    def _execute(self, binding: Binding) -> None:
        """Mark what running a binding needs, and the bindings around it."""
        if binding in self.executed:
            return
        self.executed.add(binding)
        parent = self.regions.parent_of(binding)
        if parent is not None:
            self._execute(parent)
        match binding.expr:
            case Apply(_, args, ()):
                self._mark_all(args)
            case Apply(Iterate(stops=True), args, (body,)):
                self._mark_all((*args[:2], body.body.results[0], binding.vars[0]))
            case Apply(Build() | Iterate(), args, _):
                self._mark(args[0])
            case Apply(Fold(kind), args, (body,)):
                self._mark(args[0])
                if kind != "add":
                    self._mark(body.body.results[0])
            case Apply(Recurse() as op, args, (body,)):
                self._mark_all(args)
                self._mark_all(body.body.results[: op.plain(body)])
                for param in body.params:
                    self._observe_cell(param)
            case Apply(_, args, bodies):
                self._mark_all(args)
                for other in bodies:
                    self._mark_all(other.body.results)
            case _:
                self._mark_all(operands(binding.expr))

    def _activate(self, region: Region) -> None:
        """Mark the effects of a block that may be run, and of those inside of it."""
        for binding in region.effects:
            self._effect(binding)
        for view, cell in region.views:
            self._views.setdefault(cell, []).append(view)
            if cell in self._observed:
                self._observe_cell(view)
        for inner in region.children:
            self._activate(inner)

    def _effect(self, binding: Binding) -> None:
        match binding.expr:
            case One(Var() as cell, _, _) if cell not in self._observed:
                self._additions.setdefault(cell, []).append(binding)
            case Close(Var() as cell):
                self._closes[cell] = binding
            case Apply(Build() | Fold() | Iterate()) as node:
                if node.op.can_fail or may_not_end(node):
                    self._execute(binding)
                for var in self._checked(binding, node):
                    self._mark(var)
            case _:
                self._execute(binding)

    def _checked(self, binding: Binding, node: Apply) -> list[Var]:
        """The collected results whose rows may turn out to have different shapes."""
        return [
            var
            for position, var in enumerate(binding.vars)
            if not has_equal_rows(self.regions, binding, node, position)
        ]

    def _observe_cell(self, cell: Var) -> None:
        """Somebody reads the cell: what is added to it or to its views counts."""
        todo = [cell]
        while todo:
            cell = todo.pop()
            if cell in self._observed or not isinstance(cell.type, Acc):
                continue
            self._observed.add(cell)
            for binding in self._additions.pop(cell, ()):
                self._execute(binding)
            todo += self._views.get(cell, ())


class _Sweep:
    """Rebuilds blocks of what is executed and live."""

    def __init__(self, liveness: _Liveness) -> None:
        self.live = liveness.live
        self.executed = liveness.executed

    def block(self, block: Block, keep: Sequence[bool] | None = None) -> Block:
        """The block without dead bindings, and with the results to keep."""
        bindings = tuple(
            [self.binding(b) for b in block.bindings if b in self.executed]
        )
        results = block.results if keep is None else _kept(block.results, keep)
        if results == block.results and same(bindings, block.bindings):
            return block
        return Block(bindings, results)

    def binding(self, binding: Binding) -> Binding:
        if not nested(binding.expr):
            return binding
        keep = [v in self.live for v in binding.vars]
        match binding.expr:
            case If(cond, then, orelse):
                new_then, new_orelse = self.block(then, keep), self.block(orelse, keep)
                if new_then is then and new_orelse is orelse:
                    return binding
                branch = If(cond, new_then, new_orelse)
                return Binding(_kept(binding.vars, keep), branch, binding.span)
            case Lambda():
                return _changed(binding, binding.vars, self._body(binding.expr))
            case Case(arg, branches):
                chosen = tuple([self._body(b, keep) for b in branches])
                if same(chosen, branches):
                    return binding
                kept = _kept(binding.vars, keep)
                return Binding(kept, Case(arg, chosen), binding.span)
            case Apply(Build()) as node:
                return self._collect(binding, node, keep)
            case Apply(Fold(kind)) as node:
                return self._fold(binding, node, kind, keep)
            case Apply(Iterate()) as node:
                return self._iterate(binding, node, keep)
            case Apply(Recurse()) as node:
                return self._recursion(binding, node)
            case Apply(op, args, bodies) if bodies:
                new = tuple(map(self._body, bodies))
                if same(new, bodies):
                    return binding
                return _changed(binding, binding.vars, Apply(op, args, new))
            case _:
                return binding

    def _body(self, body: Lambda, keep: Sequence[bool] | None = None) -> Lambda:
        block = self.block(body.body, keep)
        return body if block is body.body else Lambda(body.params, block)

    def _collect(self, binding: Binding, node: Apply, keep: list[bool]) -> Binding:
        """A build with the results that are used."""
        body = self._body(node.bodies[0], keep)
        if body is node.bodies[0] and isinstance(node.op, Build):
            return binding
        kept = _kept(binding.vars, keep)
        return Binding(kept, Apply(Build(), node.args[:1], (body,)), binding.span)

    def _fold(
        self, binding: Binding, node: Apply, kind: str, keep: list[bool]
    ) -> Binding:
        """A fold keeps what it combines; a sum that nobody uses is a build."""
        if kind == "add" and not keep[0]:
            return self._collect(binding, node, keep)
        keep[0] = True
        outputs = len(node.bodies[0].body.results)
        keep[outputs:] = [True] * (len(keep) - outputs)
        body = self._body(node.bodies[0], keep[:outputs])
        if body is node.bodies[0]:
            return binding
        kept = _kept(binding.vars, keep)
        return Binding(kept, Apply(node.op, node.args, (body,)), binding.span)

    def _recursion(self, binding: Binding, node: Apply) -> Binding:
        """A recursion that collects what is used."""
        op, body = node.op, self._body(node.bodies[0])
        assert isinstance(op, Recurse)
        if body is not node.bodies[0]:
            binding = _changed(binding, binding.vars, Apply(op, node.args, (body,)))
        count = op.plain(body)
        _, number, arrays = op.parts(binding.vars, count)
        keep = [v in self.live for v in arrays]
        collected = body.body.results[count:]
        if not any(keep) and any(v in self.live for v in number):
            keep[0] = True
        assert len(keep) == len(collected)
        return op.collecting(binding, keep)

    def _iterate(self, binding: Binding, node: Apply, keep: list[bool]) -> Binding:
        count, *inits = node.args
        (body,) = node.bodies
        index, *states = body.params
        flags = keep[: len(states)]
        params = (index, *_kept(tuple(states), flags))
        block = self.block(body.body, keep)
        kept = _kept(binding.vars, keep)
        if len(params) == 1 and not reads_cells(body):
            loop = Apply(Build(), (count,), (Lambda(params, block),))
            return Binding(kept, loop, binding.span)
        if block is body.body and all(keep):
            return binding
        args = (count, *_kept(tuple(inits), flags))
        loop = Apply(node.op, args, (Lambda(params, block),))
        return Binding(kept, loop, binding.span)


def reads_cells(body: Lambda) -> bool:
    """Whether steps use cells that are read while they are open: their order counts."""
    free = free_vars([(body.params, body.body)])
    return any(isinstance(v.type, Acc) and v.type.is_read for v in free)


def _kept(items: tuple[T, ...], keep: Sequence[bool]) -> tuple[T, ...]:
    return tuple([x for x, flag in zip(items, keep, strict=True) if flag])


def _changed(binding: Binding, variables: tuple[Var, ...], expr: Expr) -> Binding:
    if expr is binding.expr:
        return binding
    return Binding(variables, expr, binding.span)
