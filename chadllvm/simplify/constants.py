"""Folds constants, and applies identities that hold exactly (`identities`).

    n = dim[0](zeros(3))                y = mul(x, x)
    c = ilt(0, n)                       return y
    y = if c {                    →
      z = powi(x, 2)
      yield z
    } else { yield x }
    return y

A primitive of literals is computed by its `meaning`, unless that fails: then it stays,
to fail at run time. A branch whose condition is known is put in the place of the `if`;
in a branch the condition is known to hold. Where it only decides between truth values,
as that of `0 < i and i < n` does, these are computed. Sizes follow the arrays that they
are sizes of: that of a `build` is its count, that of a row a size of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chadllvm.ir.op import PRIMS, ArrayOp, Prim, ProgramError
from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Const,
    Expr,
    Function,
    If,
    Lit,
    Operand,
    Program,
    Var,
    literal,
    node,
)
from chadllvm.ir.types import BOOL, Scalar
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Dim, Empty, Index, MakeBox, Sized, Unbox, Zeros
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.require import Require
from chadllvm.simplify.identities import (
    apply,
    is_not_negative,
    is_same,
    simplified,
)
from chadllvm.simplify.walk import Walk


def fold_constants(program: Program, *, powers: bool = True) -> Program:
    """Compute what is known, and simplify what follows from it.

    `powers`: of whole numbers they are multiplied out, where libm's may be an ulp away.
    """

    def each(function: Function) -> Function:
        return with_body(function, _Folding(powers).block(function.body))

    return map_functions(program, each)


def folded(block: Block) -> Block:
    """The same for a block by itself."""
    return _Folding(powers=True).block(block)


# Comparisons of integers: what holds of y and x where this does not of x and y.
_OPPOSITES = {"ilt": "ile", "ile": "ilt", "ieq": "ine", "ine": "ieq"}


@node
class _Definition:
    expr: Expr
    position: int


class _Folding(Walk):
    """Knows how each variable in scope is defined."""

    def __init__(self, powers: bool) -> None:
        super().__init__()
        self._powers = powers
        self.definitions: dict[Var, _Definition] = {}

    def define(self, operand: Operand) -> Expr | None:
        """The expression whose only result this is."""
        if not isinstance(operand, Var):
            return None
        found = self.definitions.get(operand)
        return found.expr if found else None

    def keep(self, binding: Binding) -> None:
        for position, var in enumerate(binding.vars):
            self.definitions[var] = _Definition(binding.expr, position)
        super().keep(binding)

    def expr(self, expr: Expr) -> Expr:
        if not isinstance(expr, If):
            return super().expr(expr)
        cond, then, orelse = self.operand(expr.cond), expr.then, expr.orelse
        match self.define(cond):
            case Apply(Prim(name="not"), (opposite,)):
                return self.expr(If(opposite, orelse, then))
            case Apply(Prim(name="ine"), sides):
                # So that there is one question for the members of a union.
                same = Var("same", BOOL)
                self.keep(Binding((same,), apply("ieq", *sides)))
                return self.expr(If(same, orelse, then))
            case Apply(Prim(name="or")) if self._can_negate(cond):
                # So that loops are split where each of the parts of it changes.
                return self.expr(If(self._negated(cond), orelse, then))
        if not isinstance(cond, Lit) or cond.value:
            then = self._branch(expr, cond, True)
        if not isinstance(cond, Lit) or not cond.value:
            orelse = self._branch(expr, cond, False)
        if cond is expr.cond and then is expr.then and orelse is expr.orelse:
            return expr
        return If(cond, then, orelse)

    def _can_negate(self, cond: Operand) -> bool:
        """Whether a condition compares integers, is an opposite, or says that one of
        such conditions holds."""
        match self.define(cond):
            case Apply(Prim(name="or"), args):
                return all(map(self._can_negate, args))
            case Apply(Prim(name=name)):
                return name == "not" or name in _OPPOSITES
        return False

    def _negated(self, cond: Operand) -> Operand:
        """Bind the opposite of such a condition."""
        match self.define(cond):
            case Apply(Prim(name="or"), args):
                opposite = apply("and", *map(self._negated, args))
            case Apply(Prim(name="not"), (same,)):
                return same
            case Apply(Prim(name=name), (x, y)):
                opposite = apply(_OPPOSITES[name], y, x)
            case _:
                raise AssertionError(cond)
        var = Var("other", BOOL)
        self.visit(Binding((var,), opposite))
        return self.operand(var)

    def _branch(self, node: If, cond: Operand, taken: bool) -> Block:
        """Walk a branch, in which the condition is known."""
        block = node.then if taken else node.orelse
        known = {v for v in (node.cond, cond) if isinstance(v, Var)}
        before = {v: self.mapping[v] for v in known if v in self.mapping}
        self.mapping.update((v, Lit(taken)) for v in known)
        new = self.block(block)
        for var in known:
            del self.mapping[var]
        self.mapping.update(before)
        return new

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case Apply(Prim()):
                self._prim(binding)
            case Apply(Dim(axis), (Var() as array,)):
                self._dim(binding, array, axis)
            case Apply(Unbox(), (box,)):
                self._unbox(binding, box)
            case Apply(Index(), (Var() as array, *_)):
                self._index(binding, array)
            case Apply(Require(), (Lit(True), *_)):
                return  # What is required is known to hold.
            case If(Lit(value), then, orelse):
                self._splice(binding, then if value else orelse)
            case If(cond, then, orelse):
                self._merge(binding, cond, then, orelse)
            case _:
                self.keep(binding)

    def _rewrite(self, binding: Binding, new: Operand | Expr) -> None:
        """Put an operand in the variable's place, or visit the new expression."""
        if isinstance(new, Var | Lit):
            self.replace(binding.vars[0], new)
        else:
            self.visit(Binding(binding.vars, new, binding.span))

    def _prim(self, binding: Binding) -> None:
        node = binding.expr
        assert isinstance(node, Apply)
        new: Operand | Apply | None = _value(node)
        if new is None and (self._powers or not _is_power(node)):
            new = self._cube(binding, node) or simplified(self.define, node)
        if new is None:
            self.keep(binding)
        else:
            self._rewrite(binding, new)

    def _cube(self, binding: Binding, node: Apply) -> Apply | None:
        """x^3 = x x x, which takes two bindings."""
        assert isinstance(node.op, Prim)
        if node.op.name != "powi" or not is_same(node.args[1], Lit(3)):
            return None
        x = node.args[0]
        square = Var("square", binding.vars[0].type)
        self.keep(Binding((square,), apply("mul", x, x), binding.span))
        return apply("mul", square, x)

    def _dim(self, binding: Binding, array: Var, axis: int) -> None:
        found = self.definitions.get(array)
        size = _size(found, axis) if found else None
        if size is None:
            self.keep(binding)
        elif isinstance(size, Apply):
            self._rewrite(binding, size)
        elif is_not_negative(self.define, size):
            self.replace(binding.vars[0], size)
        else:
            self._rewrite(binding, apply("imax", size, Lit(0)))

    def _index(self, binding: Binding, array: Var) -> None:
        """What is read of an array with sizes is read of the array without them.

        A row of several dimensions may have no rows itself. An element of zeros is one.
        """
        node, (var,) = binding.expr, binding.vars
        assert isinstance(node, Apply)
        match self.define(array):
            case Apply(Zeros()) if isinstance(var.type, Scalar):
                self.replace(var, literal(0, var.type))
            case Apply(Sized(), (whole, *sizes)):
                new = Apply(node.op, (whole, *node.args[1:]))
                if rest := sizes[len(node.args) - 1 :]:
                    row = Var(var.name, var.type)
                    self.visit(Binding((row,), new, binding.span))
                    new = Apply(Sized(), (row, *rest))
                self.visit(Binding(binding.vars, new, binding.span))
            case _:
                self.keep(binding)

    def _unbox(self, binding: Binding, box: Operand) -> None:
        match self.define(box):
            case Apply(MakeBox(), (array,)):
                self.replace(binding.vars[0], array)
            case _:
                self.keep(binding)

    def _splice(self, binding: Binding, block: Block) -> None:
        """The branch that is taken, in the place of the `if`."""
        self.out += block.bindings
        for var, result in zip(binding.vars, block.results, strict=True):
            self.replace(var, result)

    def _merge(
        self, binding: Binding, cond: Operand, then: Block, orelse: Block
    ) -> None:
        """A result that both branches give alike is that result.

        One that says which branch it is from is the condition, or its opposite; a truth
        value that one of them knows is computed, not chosen, from what is there. If a
        branch gives no others, what little it does for them is done before.
        """
        if _only_decides(then, orelse):
            self.out += (*then.bindings, *orelse.bindings)
            then, orelse = (replace(block, bindings=()) for block in (then, orelse))
        inside = {v for b in (then, orelse) for made in b.bindings for v in made.vars}
        rest = []
        for k, (a, b) in enumerate(zip(then.results, orelse.results, strict=True)):
            var = binding.vars[k]
            if is_same(a, b):
                rest.append(k)
                self.replace(var, a)
            elif is_same(a, Lit(True)) and is_same(b, Lit(False)):
                rest.append(k)
                self.replace(var, cond)
            elif not _is_known(a, b) or not inside.isdisjoint((a, b)):
                rest.append(k)
            else:
                self._decide(Binding((var,), binding.expr, binding.span), cond, a, b)
        if rest or then.bindings or orelse.bindings:
            self.keep(_with_results(binding, cond, (then, orelse), rest))

    def _decide(self, binding: Binding, cond: Operand, a: Operand, b: Operand) -> None:
        """Bind a truth value: `a` where the condition holds, else `b`."""
        opposite = apply("not", cond)
        if isinstance(a, Lit) and isinstance(b, Lit):
            self.visit(replace(binding, expr=opposite))
            return
        if is_same(a, Lit(False)) or is_same(b, Lit(True)):
            cond = Var("not_so", BOOL)
            self.keep(Binding((cond,), opposite, binding.span))
        name = "or" if is_same(a, Lit(True)) or is_same(b, Lit(True)) else "and"
        other = b if isinstance(a, Lit) else a
        self.visit(replace(binding, expr=apply(name, cond, other)))


def _is_known(a: Operand, b: Operand) -> bool:
    """Whether one of two results is a known truth value."""
    return a.type == BOOL and (isinstance(a, Lit) or isinstance(b, Lit))


def _only_decides(then: Block, orelse: Block) -> bool:
    """Whether a branch gives truth values only, of which it knows one on either side,
    by what takes no longer than comparisons."""
    return (
        len(then.results) > 0
        and all(map(_is_known, then.results, orelse.results))
        and all(
            isinstance(b.expr, Apply)
            and isinstance(b.expr.op, Prim)
            and not b.expr.op.can_fail
            and b.expr.op.cycles <= PRIMS["flt"].cycles
            for b in (*then.bindings, *orelse.bindings)
        )
    )


def _with_results(
    binding: Binding, cond: Operand, blocks: Sequence[Block], kept: Sequence[int]
) -> Binding:
    """A branch with these of its results only."""
    if len(kept) == len(binding.vars):
        return binding
    sides = (Block(b.bindings, tuple([b.results[k] for k in kept])) for b in blocks)
    variables = tuple([binding.vars[k] for k in kept])
    return Binding(variables, If(cond, *sides), binding.span)


def _is_power(node: Apply) -> bool:
    return isinstance(node.op, Prim) and node.op.name in ("pow", "powi")


def _value(node: Apply) -> Lit | None:
    """The value of a primitive of literals, if it has one."""
    assert isinstance(node.op, Prim)
    values = []
    for arg in node.args:
        if isinstance(arg, Var):
            return None
        values.append(arg.value)
    try:
        value = node.op.meaning(*values)
        (ty,) = node.op.result_types([arg.type for arg in node.args], ())
        return literal(value, ty)
    except ProgramError:
        return None


def _size(found: _Definition, axis: int) -> Operand | Apply | None:
    """A size of an array by its definition; a negative one stands for 0."""
    match found.expr:
        case Const(value):
            return Lit(value.shape[axis])
        case Apply(Empty()):
            return Lit(0)
        case Apply(Zeros(), dims):
            return dims[axis]
        case Apply(Sized(), (array, *sizes)):
            is_known = 1 <= axis <= len(sizes)
            return sizes[axis - 1] if is_known else Apply(Dim(axis), (array,))
        case Apply(Index(), (array, *indices)):
            return Apply(Dim(axis + len(indices)), (array,))
        case Apply(Build() | Fold() | Iterate() as op, args) as node if axis == 0:
            assert isinstance(op, ArrayOp)
            is_made = found.position >= (op.carried(node) or 0) and not op.stops
            return args[0] if is_made else None
        case _:
            return None
