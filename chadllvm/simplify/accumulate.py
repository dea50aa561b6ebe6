"""Loops that only add up become sums.

    s = iterate(n, z) { i, s: f64 ->      t = fold[add](n) { i ->
      x = index(a, i)                       x = index(a, i)
      c = flt(0.0, x)                       c = flt(0.0, x)
      s_2 = if c {                          d = if c {
        s_1 = add(s, x)             →         yield x
        yield s_1                           } else { yield 0.0 }
      } else { yield s }                    yield d }
      yield s_2 }                         s = add(z, t)

The loop has one state and collects nothing; each step adds to the state what does not
depend on it. The steps of a sum are independent of each other, so they may be run in
parallel; a sum may be reassociated.
"""

from __future__ import annotations

from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.rewrite import free_vars_of, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    If,
    Lambda,
    Lit,
    Operand,
    Program,
    Var,
    literal,
)
from chadllvm.ir.types import F32, F64, I64, is_float
from chadllvm.ops.fold import Fold
from chadllvm.ops.iterate import Iterate
from chadllvm.simplify.walk import Walk

_OF_INTEGERS = ("iadd", "isub", "ineg")


def accumulate(program: Program) -> Program:
    """Make folds of the loops that add up."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    return with_body(function, _Accumulating().block(function.body))


class _Accumulating(Walk):
    """Rewrites each loop after the loops inside of it."""

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Iterate(stops=False), (_, _), (body,)) as node if (
                len(body.body.results) == 1
            ):
                self._iterate(binding, node)
            case _:
                self.keep(binding)

    def _iterate(self, binding: Binding, node: Apply) -> None:
        (count, init), (body,) = node.args, node.bodies
        index, state = body.params
        block = None
        if state.type in (F64, F32, I64):
            block = Addends(state).block(body.body, 0)
        if block is None:
            self.keep(binding)
            return
        fold = Apply(Fold(), (count,), (Lambda((index,), block),))
        if isinstance(init, Lit) and repr(init.value) in ("0", "0.0"):
            self.keep(Binding(binding.vars, fold, binding.span))
            return
        total = Var("total", state.type)
        self.keep(Binding((total,), fold, binding.span))
        add = PRIMS["add" if is_float(state.type) else "iadd"]
        self.keep(Binding(binding.vars, Apply(add, (init, total)), binding.span))


class Addends:
    """Turns sums of a state and something into the something.

    `addend` has, for each variable that is the state plus something, what is added.
    """

    def __init__(self, state: Var) -> None:
        names = ("add", "sub", "neg") if is_float(state.type) else _OF_INTEGERS
        self.add, self.sub, self.neg = names
        self.zero = literal(0, state.type)
        self.addend: dict[Var, Operand] = {state: self.zero}

    def block(self, block: Block, k: int) -> Block | None:
        """The block with the addend as its k-th result; None if that is no sum, or if
        another result is one.
        """
        bindings = self._bindings(block)
        if bindings is None:
            return None
        results = self._results(block)
        if [j for j, (is_sum, _) in enumerate(results) if is_sum] != [k]:
            return None
        return Block(tuple(bindings), tuple(r for _, r in results))

    def _results(self, block: Block) -> list[tuple[bool, Operand]]:
        return [
            (True, self.addend[r])
            if isinstance(r, Var) and r in self.addend
            else (False, r)
            for r in block.results
        ]

    def _bindings(self, block: Block) -> list[Binding] | None:
        """The bindings without sums; None if a sum is used for anything else."""
        new: list[Binding] = []
        for binding in block.bindings:
            expr = binding.expr
            if not any(v in self.addend for v in free_vars_of(expr)):
                new.append(binding)
                continue
            match expr:
                case Apply(Prim(name=name), args) if name == self.add:
                    done = self._sum(binding, args, new)
                case Apply(Prim(name=name), (state, part)) if name == self.sub:
                    done = self._difference(binding, state, part, new)
                case If():
                    done = self._if(binding, expr, new)
                case _:
                    done = False
            if not done:
                return None
        return new

    def _sum(
        self, binding: Binding, args: tuple[Operand, ...], new: list[Binding]
    ) -> bool:
        """(s + a) + b: the addend is a + b."""
        sums = [self.addend[a] for a in args if isinstance(a, Var) and a in self.addend]
        rest = [a for a in args if not isinstance(a, Var) or a not in self.addend]
        if len(sums) != 1:
            return False
        var = binding.vars[0]
        if sums[0] is self.zero:
            self.addend[var] = rest[0]
            return True
        total = Var(var.name, var.type)
        expr = Apply(PRIMS[self.add], (sums[0], rest[0]))
        new.append(Binding((total,), expr, binding.span))
        self.addend[var] = total
        return True

    def _difference(
        self, binding: Binding, state: Operand, part: Operand, new: list[Binding]
    ) -> bool:
        """s - a: the addend is -a."""
        if part in self.addend:
            return False
        negative = Var("t", part.type)
        new.append(Binding((negative,), Apply(PRIMS[self.neg], (part,)), binding.span))
        return self._sum(binding, (state, negative), new)

    def _if(self, binding: Binding, node: If, new: list[Binding]) -> bool:
        """Both branches must give sums in the same places."""
        if node.cond in self.addend:
            return False
        then, orelse = self._bindings(node.then), self._bindings(node.orelse)
        if then is None or orelse is None:
            return False
        pairs = zip(self._results(node.then), self._results(node.orelse), strict=True)
        flags = [(a, b) for (a, _), (b, _) in pairs]
        if any(a != b for a, b in flags):
            return False
        variables = []
        for var, (is_sum, _) in zip(binding.vars, flags, strict=True):
            variables.append(Var(var.name, var.type) if is_sum else var)
            if is_sum:
                self.addend[var] = variables[-1]
        branches = (
            Block(tuple(bindings), tuple(r for _, r in self._results(block)))
            for bindings, block in ((then, node.then), (orelse, node.orelse))
        )
        new.append(Binding(tuple(variables), If(node.cond, *branches), binding.span))
        return True
