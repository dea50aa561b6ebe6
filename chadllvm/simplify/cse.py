"""Common subexpressions: what has been computed already is not computed again.

    k = bound(i, n)                     k = bound(i, n)
    x = mul(a, b)                       x = mul(a, b)
    r = build(m) { j ->           →     r = build(m) { j ->
      k_1 = bound(i, n)                   z = add(x, x)
      y = mul(b, a)                       yield z }
      z = add(x, y)
      yield z }

An expression is replaced by an equal one that stands before it in its own block or in
a block around it. Arrays are values, so reading them again gives the same; so does
fetching a node. What can fail is no exception: it has been executed with these operands
and did not fail, so that its form for what cannot fail is the same. Behind `same(n, m)`
the two are equal, so that one stands for both.

An element that has been written to an array need not be read of it (`stores`).

A loop that collects a value twice collects it once. So do the tapes of second
derivatives, which keep again what the tapes of the first ones keep.
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.ir.op import ArrayOp, Prim
from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Const,
    Expr,
    Lambda,
    Operand,
    Program,
    Var,
    View,
    operands,
)
from chadllvm.ir.types import Scalar
from chadllvm.ops.heap import Fetch
from chadllvm.ops.index import Dim, Index, MakeBox, Sized, Unbox
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Update
from chadllvm.simplify.walk import Walk

# Exactly commutative; `minimum(0.0, -0.0)` for instance is not.
COMMUTATIVE = {
    *("add", "mul", "iadd", "imul", "imin", "imax"),
    *("feq", "fne", "ieq", "ine", "and", "or"),
}

Key = tuple[object, ...]


def cse(program: Program, stores: bool = False) -> Program:
    """Share equal expressions along the paths of each function.

    stores: forward numbers that updates write to where they are read. What looks for
    elements that are added to needs them to be read, and so runs before.
    """
    return map_functions(
        program, lambda f: with_body(f, _Sharing(stores).block(f.body))
    )


class _Sharing(Walk):
    """Knows the expressions that are in scope, by their keys."""

    def __init__(self, stores: bool) -> None:
        super().__init__()
        self._stores = stores
        self.known: dict[Key, tuple[Operand, ...]] = {}
        self._entered: list[Key] = []
        # The variables that are equal to others in this block.
        self._equal: list[Var] = []

    def operand(self, operand: Operand) -> Operand:
        """What stands for an operand may turn out to be equal to another one."""
        while isinstance(operand, Var) and operand in self.mapping:
            operand = self.mapping[operand]
        return operand

    def enter(self, params: tuple[Var, ...], block: Block) -> Block:
        start, equal = len(self._entered), len(self._equal)
        new = self.block(block)
        for var in self._equal[equal:]:
            del self.mapping[var]
        del self._equal[equal:]
        for key in self._entered[start:]:
            del self.known[key]
        del self._entered[start:]
        return new

    def visit(self, binding: Binding) -> None:
        binding = self._without_twins(binding)
        keys = expression_keys(binding.expr, operands(binding.expr))
        if keys and (known := self.known.get(keys[0])) is not None:
            for var, twin in zip(binding.vars, known, strict=True):
                self.replace(var, self.operand(twin))
            return
        for key in keys:
            self._enter(key, binding.vars)
        self.keep(binding)
        self._learn(binding.expr)
        match binding.expr:
            case Apply(Update(), (_, *indices, value)) if self._stores:
                if isinstance(value.type, Scalar):
                    stored = map(operand_key, (binding.vars[0], *indices))
                    self._enter((Index(), *stored), (value,))

    def _enter(self, key: Key, values: tuple[Operand, ...]) -> None:
        if key not in self.known:
            self.known[key] = values
            self._entered.append(key)

    def _learn(self, expr: Expr) -> None:
        match expr:
            case Apply(Prim(name="same"), (n, Var() as m)) if n is not m:
                self.replace(m, n)
                self._equal.append(m)

    def _without_twins(self, binding: Binding) -> Binding:
        """The binding without outputs that are collected twice, as tapes of tapes are.

        build(n) { i -> … yield x, x } has one result for both.
        """
        match binding.expr:
            case Apply(Recurse() as op, _, (body,)):
                count, results = op.plain(body), body.body.results
                _, _, arrays = op.parts(binding.vars, count)
                chosen = self._distinct(arrays, results[count:], 0)
                keep = [k in chosen for k in range(len(arrays))]
                return op.collecting(binding, keep)
            case Apply(ArrayOp() as op, args, (body,)) as node:
                results = body.body.results
                kept = self._distinct(binding.vars, results, op.carried(node) or 0)
                if len(kept) == len(results):
                    return binding
                block = Block(body.body.bindings, tuple(results[k] for k in kept))
                kept += range(len(results), len(binding.vars))
                variables = tuple(binding.vars[k] for k in kept)
                new = Apply(op, args, (Lambda(body.params, block),))
                return Binding(variables, new, binding.span)
            case _:
                return binding

    def _distinct(
        self, variables: Sequence[Var], results: Sequence[Operand], first: int
    ) -> list[int]:
        """The positions to keep; from `first` on, the other variables are replaced."""
        kept = list(range(first))
        known: dict[object, Var] = {}
        for k in range(first, len(results)):
            twin = known.setdefault(operand_key(results[k]), variables[k])
            if twin is variables[k]:
                kept.append(k)
            else:
                self.replace(variables[k], twin)
        return kept


def expression_keys(expr: Expr, args: Sequence[Operand]) -> tuple[Key, ...]:
    """What equal expressions have in common; nothing for those not to be shared.

    `args` stand for the operands. The first key is the expression's own; once it has
    been executed it also has that of the same expression which cannot fail any more.
    """
    match expr:
        case Apply(Prim(sure=None) as op):
            return (_key(op, args),)
        case Apply(Prim(sure=Prim() as sure) as op):
            return _key(op, args), _key(sure, args)
        case Apply(Index() | Dim() | MakeBox() | Unbox() | Sized() | Fetch() as op):
            return ((op, *map(operand_key, args)),)
        case Const(value):
            return ((Const, id(value)),)
        case View():
            return ((View, *map(operand_key, args)),)
        case _:
            return ()


def _key(op: Prim, args: Sequence[Operand]) -> Key:
    keys = [operand_key(a) for a in args]
    if op.name in COMMUTATIVE:
        keys.sort(key=hash)
    return (op, *keys)


def operand_key(operand: Operand) -> object:
    """Equal for the same variable or the same literal: 1, 1.0 and True differ."""
    if isinstance(operand, Var):
        return operand
    return operand.type, repr(operand.value)
