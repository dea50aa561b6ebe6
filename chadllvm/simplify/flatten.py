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

An array held by the elements of an array of sums has another size in each of them: see
`pieces.py`.

What is left are scalars, arrays, boxes, functions and cells only.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from typing import assert_never

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
)
from chadllvm.ops.alias import Alias
from chadllvm.ops.build import Build
from chadllvm.ops.custom import Custom
from chadllvm.ops.fold import Fold
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.heap import Count, Fetch, New
from chadllvm.ops.index import Dim, Empty, Index, MakeBox, Sized, Unbox, nothing
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.reals import Reals, WithReals
from chadllvm.ops.update import Update
from chadllvm.simplify import pieces
from chadllvm.simplify.pieces import Part
from chadllvm.support.diagnostic import InternalError


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
            parts = parts_of(elem)
            if rank > 1 and any(part.is_piece for part in parts):
                raise InternalError(f"flatten: {ty} with bare arrays")
            return tuple(leaf for part in parts for leaf in part.columns(rank))
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


@lru_cache(maxsize=4096)
def parts_of(ty: Type, in_sum: bool = False) -> tuple[Part, ...]:
    """The leaves of an element of an array."""
    match ty:
        case Product(fields, names):
            labels = names or tuple(map(str, range(len(fields))))
            return tuple(
                replace(part, suffix=f"_{label}{part.suffix}")
                for label, field in zip(labels, fields, strict=True)
                for part in parts_of(field, in_sum)
            )
        case Sum(constructors):
            held = (
                replace(part, suffix=f"_{name}{part.suffix}")
                for name, payload in constructors
                for part in parts_of(payload, True)
            )
            return (Part("_tag", I64, False), *held)
        case Array(elem) if any(part.is_piece for part in parts_of(elem)):
            raise InternalError(f"flatten: {ty} with bare arrays in an array")
        case _:
            return tuple(
                Part(suffix, leaf, in_sum and isinstance(leaf, Array))
                for suffix, leaf in _named_leaves(ty)
            )


def _has_pieces(ty: Type) -> bool:
    """Whether elements of this type of array hold arrays of sizes of their own."""
    return isinstance(ty, Array) and any(part.is_piece for part in parts_of(ty.elem))


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
            case Apply(WithReals() | Reals()) as node:
                out = Builder(binding.span)
                give = self._rows if isinstance(node.op, WithReals) else self._reals
                self.parts[binding.vars[0]] = give(node, binding.vars[0], out)
                return out.bindings
            case Apply() as node if self._moves_pieces(node, binding):
                out = Builder(binding.span)
                self._with_pieces(node, binding, out)
                return out.bindings
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

    # ---- arrays whose elements hold arrays of sizes of their own

    def _moves_pieces(self, node: Apply, binding: Binding) -> bool:
        """Whether elements of such an array are read, written or collected."""
        if isinstance(node.op, Index | Update | Append | DropLast):
            return _has_pieces(node.args[0].type)
        if not isinstance(node.op, Build | Iterate | Fold):
            return False
        made = binding.vars[node.op.carried(node) or 0 :]
        return any(_has_pieces(var.type) for var in made)

    def _with_pieces(self, node: Apply, binding: Binding, out: Builder) -> None:
        if node.bodies:
            self._collected(node, binding, out)
            return
        array, *rest = node.args
        columns = self._columns(array)
        found: list[Operand] = []
        match node.op:
            case Index():
                indices = self.all_leaves(tuple(rest))
                found += [pieces.read(out, part, c, indices) for part, c in columns]
            case Update():
                *at, value = rest
                indices = self.all_leaves(tuple(at))
                pairs = zip(columns, self.leaves(value), strict=True)
                for (part, own), new in pairs:
                    found += pieces.replaced(out, part, own, indices, new)
            case Append():
                pairs = zip(columns, self.leaves(rest[0]), strict=True)
                for (part, own), new in pairs:
                    found += pieces.appended(out, part, own, new)
            case _:
                for part, own in columns:
                    found += pieces.shortened(out, part, own)
        (var,) = binding.vars
        self.parts[var] = tuple(found)

    def _rows(self, node: Apply, var: Var, out: Builder) -> tuple[Operand, ...]:
        """The columns of an array, with the reals of a cotangent in place of its own.

        What holds no reals is not in the elements any more, tags and places aside.
        """
        ct, whole = node.args
        assert isinstance(var.type, Array) and isinstance(whole.type, Array)
        reals = iter(self.leaves(ct))
        found: list[Operand] = []
        own = iter(self._columns(whole))
        for part in parts_of(var.type.elem):
            from_whole, columns = next(own)
            while from_whole.suffix != part.suffix:
                from_whole, columns = next(own)
            is_real = has_float(part.type)
            found += [next(reals), *columns[1:]] if is_real else columns
        return tuple(found)

    def _reals(self, node: Apply, var: Var, out: Builder) -> tuple[Operand, ...]:
        """The numbers of an array's pieces, put where those of another are."""
        rows, whole = map(self._columns, node.args)
        found = []
        own = [(part, columns) for part, columns in whole if has_float(part.type)]
        given = [columns for part, columns in rows if has_float(part.type)]
        for (part, columns), moved in zip(own, given, strict=True):
            placed = pieces.placed(out, columns, moved) if part.is_piece else moved[0]
            found.append(placed)
        return tuple(found)

    def _columns(self, array: Operand) -> list[tuple[Part, tuple[Operand, ...]]]:
        """The parts of the elements of an array, each with its leaves."""
        assert isinstance(array.type, Array)
        rest = list(self.leaves(array))
        found = []
        for part in parts_of(array.type.elem):
            found.append((part, tuple(rest[: part.width])))
            del rest[: part.width]
        return found

    def _collected(self, node: Apply, binding: Binding, out: Builder) -> None:
        """A loop that collects such elements: their numbers are states of it."""
        if not isinstance(node.op, Build | Iterate):
            raise InternalError(f"flatten: {node.op.name} of elements with bare arrays")
        (body,) = node.bodies
        carried = node.op.carried(node) or 0
        kept, made = binding.vars[:carried], binding.vars[carried:]
        elems = body.body.types[carried:]
        groups = [parts_of(elem) for elem in elems]
        every = [part for group in groups for part in group]
        states = len(_all_leaves(body.body.types[:carried]))
        flat = self.body(body)
        flat, added = pieces.collecting(flat, every, states, binding.span)
        empty = [out.one(pieces.no_numbers(v)) for v in added]
        op = Iterate() if isinstance(node.op, Build) else node.op
        args = (*self.all_leaves(node.args), *empty)
        results: list[Operand] = [*out.emit(Apply(op, args, (flat,)))]
        for var in kept:
            self.parts[var] = _taken(results, var.type)
        numbers, outputs = results[: len(added)], results[len(added) :]
        for var, group in zip(made, groups, strict=True):
            own: list[Operand] = []
            for part in group:
                own += [numbers.pop(0)] if part.is_piece else []
                count = part.width - part.is_piece
                own += outputs[:count]
                del outputs[:count]
            self.parts[var] = tuple(own)

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
            case Index() | MakeBox() | Unbox() | Sized():
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
                shared = [w for arg in expr.args[1:] for w in self.leaves(arg)[:1]]
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
