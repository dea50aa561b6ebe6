"""Removes products: every variable becomes one variable for each of its leaves.

    p = (x, n)                      ps_0, ps_1 = build(m) { i ->
    ps = build(m) { i ->      →       yield x, n }
      yield p }                     q_0 = index(ps_0, k)
    q = index(ps, k)                q_1 = index(ps_1, k)
    y = q.0                         … q_0 …

An array of products is one array for each leaf of the product (a struct of arrays), and
so is a box of one; a function takes and gives leaves; a cell is one cell for each leaf.
It stands first: later passes know scalars, arrays, boxes, functions and cells only.
"""

from __future__ import annotations

from functools import lru_cache
from typing import assert_never

from chadllvm.diagnostic import InternalError
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Close,
    Const,
    Expr,
    Function,
    If,
    Lambda,
    Lit,
    One,
    Open,
    Operand,
    Program,
    Proj,
    Tuple,
    Var,
    View,
    nested,
)
from chadllvm.ir.types import (
    Acc,
    Array,
    Box,
    Fun,
    Product,
    Scalar,
    Type,
    stacked,
)
from chadllvm.ops.index import Dim, Empty, Index, MakeBox, Unbox


def flatten(program: Program) -> Program:
    """Remove every product; the entry's parameters and results become their leaves."""
    if not any(_has_products(f.params, f.body) for f in program.functions):
        return program
    return Program(tuple(_function(f) for f in program.functions))


def leaves(ty: Type) -> tuple[Type, ...]:
    """The types of the leaves that a value of this type consists of, in order."""
    return tuple(leaf for _, leaf in _named_leaves(ty))


@lru_cache(maxsize=4096)
def _named_leaves(ty: Type) -> tuple[tuple[str, Type], ...]:
    """The leaves, each with what its variable's name gets appended."""
    match ty:
        case Scalar():
            return (("", ty),)
        case Product(fields, names):
            labels = names or tuple(map(str, range(len(fields))))
            return tuple(
                (f"_{label}{suffix}", leaf)
                for label, part in zip(labels, fields, strict=True)
                for suffix, leaf in _named_leaves(part)
            )
        case Array(elem, rank):
            return tuple((s, stacked(t, rank)) for s, t in _named_leaves(elem))
        case Box(content):
            parts = _named_leaves(content)
            return tuple((s, Box(t)) for s, t in parts if isinstance(t, Array))
        case Acc(content):
            return tuple((s, Acc(t)) for s, t in _named_leaves(content))
        case Fun(params, results):
            flat = Fun(_all_leaves(params), _all_leaves(results))
            return (("", flat),)
        case _:
            assert_never(ty)


def _all_leaves(types: tuple[Type, ...]) -> tuple[Type, ...]:
    return tuple(leaf for ty in types for leaf in leaves(ty))


def _is_flat(ty: Type) -> bool:
    return isinstance(ty, Scalar) or leaves(ty) == (ty,)


def _has_products(params: tuple[Var, ...], block: Block) -> bool:
    if not all(_is_flat(p.type) for p in params):
        return True
    for binding in block.bindings:
        if not all(_is_flat(v.type) for v in binding.vars):
            return True
        if any(_has_products(*inner) for inner in nested(binding.expr)):
            return True
    return False


def _function(function: Function) -> Function:
    flattener = _Flattener()
    params = flattener.bind(function.params)
    body = flattener.block(function.body)
    return Function(function.name, params, body, function.span)


class _Flattener:
    """Knows the leaves of each variable that is not a leaf itself."""

    def __init__(self) -> None:
        self.parts: dict[Var, tuple[Operand, ...]] = {}

    def bind(self, variables: tuple[Var, ...]) -> tuple[Var, ...]:
        """The leaves to bind in place of these variables."""
        bound: list[Var] = []
        for var in variables:
            if _is_flat(var.type):
                bound.append(var)
                continue
            named = _named_leaves(var.type)
            new = tuple(Var(var.name + suffix, ty) for suffix, ty in named)
            self.parts[var] = new
            bound += new
        return tuple(bound)

    def leaves(self, operand: Operand) -> tuple[Operand, ...]:
        if isinstance(operand, Lit):
            return (operand,)
        return self.parts.get(operand, (operand,))

    def leaf(self, operand: Operand) -> Operand:
        """The one leaf of a scalar or function."""
        (leaf,) = self.leaves(operand)
        return leaf

    def all_leaves(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        return tuple([leaf for o in operands for leaf in self.leaves(o)])

    def block(self, block: Block) -> Block:
        bindings: list[Binding] = []
        for binding in block.bindings:
            bindings += self.binding(binding)
        return Block(tuple(bindings), self.all_leaves(block.results))

    def body(self, body: Lambda) -> Lambda:
        return Lambda(self.bind(body.params), self.block(body.body))

    def binding(self, binding: Binding) -> list[Binding]:
        """The bindings of the leaves; none where a variable only gets new names."""
        match binding.expr:
            case Tuple(args, _):
                self.parts[binding.vars[0]] = self.all_leaves(args)
                return []
            case Proj(arg, index):
                self.parts[binding.vars[0]] = self._component(arg, index)
                return []
        exprs = self.leafwise(binding.expr)
        variables = self.bind(binding.vars)
        if len(exprs) == 1:
            return [Binding(variables, exprs[0], binding.span)]
        if not variables:
            return [Binding((), expr, binding.span) for expr in exprs]
        return [
            Binding((var,), expr, binding.span)
            for var, expr in zip(variables, exprs, strict=True)
        ]

    def _component(self, arg: Operand, index: int) -> tuple[Operand, ...]:
        ty = arg.type
        assert isinstance(ty, Product)
        start = len(_all_leaves(ty.fields[:index]))
        return self.leaves(arg)[start : start + len(leaves(ty.fields[index]))]

    def leafwise(self, expr: Expr) -> list[Expr]:
        """One expression with all results, or one for each leaf of the one result."""
        match expr:
            case Apply():
                return self._apply(expr)
            case Const():
                return [expr]
            case If(cond, then, orelse):
                return [If(self.leaf(cond), self.block(then), self.block(orelse))]
            case Lambda():
                return [self.body(expr)]
            case Call(function, args):
                return [Call(self._callee(function), self.all_leaves(args))]
            case Open(content, dims):
                return [Open(leaf, dims) for leaf in leaves(content)]
            case View(cell, indices):
                path = self.all_leaves(indices)
                return [View(leaf, path) for leaf in self.leaves(cell)]
            case One(cell, indices, value):
                path = self.all_leaves(indices)
                pairs = zip(self.leaves(cell), self.leaves(value), strict=True)
                return [One(leaf, path, part) for leaf, part in pairs]
            case Close(cell):
                return [Close(leaf) for leaf in self.leaves(cell)]
            case Tuple() | Proj():
                raise InternalError("flatten: products are renamed, not rewritten")
            case _:
                assert_never(expr)

    def _callee(self, function: Var | str) -> Var | str:
        if isinstance(function, str):
            return function
        leaf = self.leaf(function)
        assert isinstance(leaf, Var)
        return leaf

    def _apply(self, expr: Apply) -> list[Expr]:
        match expr.op:
            case Dim():
                array = self.leaves(expr.args[0])
                if not array:
                    raise InternalError("flatten: the size of an array of units")
                return [Apply(expr.op, array[:1])]
            case Index() | MakeBox() | Unbox():
                rest = self.all_leaves(expr.args[1:])
                parts = self.leaves(expr.args[0])
                return [Apply(expr.op, (part, *rest)) for part in parts]
            case Empty(ty):
                parts2 = leaves(ty)
                return [Apply(Empty(t), ()) for t in parts2 if isinstance(t, Array)]
            case _:
                bodies = tuple(self.body(b) for b in expr.bodies)
                return [Apply(expr.op, self.all_leaves(expr.args), bodies)]
