"""Removes products and sums: a variable becomes one variable for each of its leaves.

    p = (x, n)                      ps_0, ps_1 = build(m) { i ->
    ps = build(m) { i ->      →       yield x, n }
      yield p }                     q_0 = index(ps_0, k)
    q = index(ps, k)                q_1 = index(ps_1, k)
    y = q.0                         … q_0 …

An array of products is one array for each leaf of the product (a struct of arrays), and
so is a box of one; a function takes and gives leaves; a cell is one cell for each leaf.

A sum is its tag, the index of its constructor, and the leaves of what every constructor
may hold: zeros and empty arrays for all but the one at hand. A case asks for the tag:

    y = case s left(x: f64) {           c = ieq(s_tag, 0)
      yield x                           y = if c {
    } right(u: ()) {              →       yield s_left
      yield 0.0                         } else {
    }                                     yield 0.0
                                        }

An array held by the elements of an array of sums has to be in a box, since its size is
another one in each of them.

It stands first: later passes know scalars, arrays, boxes, functions and cells only.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import assert_never

from chadllvm.diagnostic import InternalError
from chadllvm.ir.build import Builder, lit
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Close,
    Const,
    Derivative,
    Expr,
    Function,
    If,
    Inject,
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
    I64,
    Acc,
    Array,
    Box,
    Fun,
    Product,
    Scalar,
    Sum,
    Type,
    has_float,
    stacked,
)
from chadllvm.ops.alias import Alias
from chadllvm.ops.custom import Custom
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.heap import Count, Fetch, New
from chadllvm.ops.index import Dim, Empty, Index, MakeBox, Unbox, nothing
from chadllvm.ops.update import Update


def flatten(program: Program) -> Program:
    """Remove products and sums; the entry's parameters and results become leaves."""
    if not any(_is_structured(f.params, f.body) for f in program.functions):
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
        case Sum(constructors):
            held = ((n, *leaf) for n, p in constructors for leaf in _named_leaves(p))
            return (("_tag", I64), *((f"_{n}{suffix}", t) for n, suffix, t in held))
        case Array(elem, rank):
            if _has_sum_of_arrays(elem):
                raise InternalError(f"flatten: an array of {elem} with bare arrays")
            return tuple((s, stacked(t, rank)) for s, t in _named_leaves(elem))
        case Box(content):
            whole = _named_leaves(content)
            return tuple((s, Box(t)) for s, t in whole if isinstance(t, Array))
        case Acc(_, is_read=True):
            return (("", ty),)
        case Acc(content):
            return tuple((s, Acc(t)) for s, t in _named_leaves(content))
        case Fun(params, results):
            flat = Fun(_all_leaves(params), _all_leaves(results))
            return (("", flat),)
        case _:
            assert_never(ty)


def _has_sum_of_arrays(ty: Type) -> bool:
    """Whether an element of this type may have arrays in one constructor only."""
    match ty:
        case Sum():
            found = (leaf for payload in ty.payloads for leaf in leaves(payload))
            return any(isinstance(leaf, Array) for leaf in found)
        case Product(fields):
            return any(map(_has_sum_of_arrays, fields))
        case Scalar() | Array() | Box() | Acc() | Fun():
            return False
        case _:
            assert_never(ty)


def _all_leaves(types: tuple[Type, ...]) -> tuple[Type, ...]:
    return tuple(leaf for ty in types for leaf in leaves(ty))


def _taken(rest: list[Operand], ty: Type) -> tuple[Operand, ...]:
    """The leaves of a value of this type, taken from the beginning of a list."""
    count = len(leaves(ty))
    found = tuple(rest[:count])
    del rest[:count]
    return found


def _is_flat(ty: Type) -> bool:
    return isinstance(ty, Scalar) or leaves(ty) == (ty,)


def _is_structured(params: tuple[Var, ...], block: Block) -> bool:
    if not all(_is_flat(p.type) for p in params):
        return True
    for binding in block.bindings:
        if not all(_is_flat(v.type) for v in binding.vars):
            return True
        if any(_is_structured(*inner) for inner in nested(binding.expr)):
            return True
    return False


def _leafwise(derivative: Derivative, args: tuple[Operand, ...]) -> Derivative:
    """The derivative by the leaves of these parameters that are real."""
    found = [leaves(arg.type) for arg in args]
    starts = [0, *accumulate(map(len, found))]
    wrt = (
        starts[k] + j
        for k in derivative.wrt
        for j, leaf in enumerate(found[k])
        if has_float(leaf)
    )
    return Derivative(derivative.mode, tuple(wrt))


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
            case Inject() as node:
                out = Builder(binding.span)
                self.parts[binding.vars[0]] = self._injected(node, out)
                return out.bindings
            case Case(arg, branches):
                chain = self._case(arg, branches, binding)
                rest = list(chain.results)
                for var in binding.vars:
                    self.parts[var] = _taken(rest, var.type)
                return list(chain.bindings)
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

    def _injected(self, node: Inject, out: Builder) -> tuple[Operand, ...]:
        """The tag and the leaves of all payloads."""
        found: list[Operand] = [lit(node.index)]
        for index, payload in enumerate(node.type.payloads):
            if index == node.index:
                found += self.leaves(node.arg)
            else:
                found += [nothing(out, leaf) for leaf in leaves(payload)]
        return tuple(found)

    def _case(
        self, arg: Operand, branches: tuple[Lambda, ...], binding: Binding
    ) -> Block:
        """A chain of questions for the tag; the last constructor needs none."""
        tag, *rest = self.leaves(arg)
        blocks = []
        for branch in branches:
            for param in branch.params:
                self.parts[param] = _taken(rest, param.type)
            blocks.append(self.block(branch.body))
        names = [v.name + s for v in binding.vars for s, _ in _named_leaves(v.type)]
        chain = blocks.pop()
        for index in reversed(range(len(blocks))):
            out = Builder(binding.span)
            is_this = out.prim("ieq", tag, lit(index))
            chain = out.block(out.emit(If(is_this, blocks[index], chain), *names))
        return chain

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
            case Call(function, args, derivative):
                if derivative is not None:
                    derivative = _leafwise(derivative, args)
                flat = self.all_leaves(args)
                return [Call(self._callee(function), flat, derivative)]
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
            case Tuple() | Proj() | Inject() | Case():
                raise InternalError("flatten: products and sums are not rewritten here")
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
            case Update() | Append():
                whole, *indices, value = expr.args
                at = self.all_leaves(tuple(indices))
                pairs = zip(self.leaves(whole), self.leaves(value), strict=True)
                return [Apply(expr.op, (part, *at, new)) for part, new in pairs]
            case DropLast():
                return [Apply(expr.op, (a,)) for a in self.leaves(expr.args[0])]
            case Alias():
                # What shares one leaf of an array shares the array.
                shared = self.leaves(expr.args[1])[:1]
                values = self.leaves(expr.args[0])
                return [Apply(expr.op, (part, *shared)) for part in values]
            case Custom() as op:
                places = zip(op.origin, map(self.leaves, expr.args), strict=True)
                origin = tuple(k for k, parts in places for _ in parts)
                ty = Fun(_all_leaves(op.type.params), _all_leaves(op.type.results))
                flat = Custom(op.rules, ty, origin, flatten(op.primal))
                return [Apply(flat, self.all_leaves(expr.args))]
            case New(heap, types) | Fetch(heap, types) | Count(heap, types):
                flat_op = type(expr.op)(heap, _all_leaves(types))
                return [Apply(flat_op, self.all_leaves(expr.args))]
            case Empty(ty):
                parts2 = leaves(ty)
                return [Apply(Empty(t), ()) for t in parts2 if isinstance(t, Array)]
            case _:
                bodies = tuple(self.body(b) for b in expr.bodies)
                return [Apply(expr.op, self.all_leaves(expr.args), bodies)]
