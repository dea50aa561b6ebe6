"""Jacobians inside of programs: `cl.jacfwd`, `cl.jacrev`, `cl.hessian`.

    cl.jacfwd(f)(x)    →   cols = build(n) { j -> e = unit(n, j)
                             _, y_t = derivative push_forward[0] @f(x, e); yield y_t }
                           build(m) { i -> build(n) { j -> yield cols[j, i] } }
    cl.jacrev(f)(x)    →   y = @f(x)
                           rows = build(m) { i -> e = unit(m, i)
                             _, x_ct = derivative pull_back[0] @f(x, e); yield x_ct }

The Jacobian has the structure of the result. In the place of each of its reals stands
an array, of this one's shape followed by the argument's; for several arguments a tuple
of such arrays.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from chadllvm.errors import closure_errors
from chadllvm.frontend.applying import (
    Made,
    captures_of,
    closure,
    for_each,
    function_of,
)
from chadllvm.frontend.closures import Code, code_of
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Indices, Shape, Value, build_nest
from chadllvm.frontend.derivative_arguments import (
    Argnums,
    argument_numbers,
    constant_argument,
    given_arguments,
    positions,
    written_at,
)
from chadllvm.frontend.differentiated import Target, parameters_of, target_of
from chadllvm.frontend.gradients import Gradient
from chadllvm.frontend.signature import Parameter
from chadllvm.ir.build import Builder
from chadllvm.ir.term import (
    Apply,
    Call,
    Derivative,
    Lambda,
    Lit,
    Mode,
    Operand,
    Proj,
    Tuple,
    Var,
    literal,
)
from chadllvm.ir.types import (
    I64,
    Array,
    Product,
    Type,
    cotangent_type,
    has_float,
    is_float,
    list_names,
)
from chadllvm.ir.wording import said
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index, sized


@dataclass(frozen=True)
class Jacobian(Made):
    """The Jacobian of a function of this code."""

    of: Code
    argnums: Argnums
    is_forward: bool
    has_aux: bool

    @property
    def title(self) -> str:
        return f"{'jacfwd' if self.is_forward else 'jacrev'}_{self.of.title}"

    def parameters(self, cx: Context, node: ast.expr) -> tuple[Parameter, ...]:
        return parameters_of(cx, self.of, node)

    def call(self, cx: Context, node: ast.Call, function: Operand) -> Value:
        inner = closure(cx, node, self.of, captures_of(cx, node, function))
        target = target_of(cx, node, inner)
        target.check_nodes(positions(self.argnums))
        b = cx.at(node)
        wrt = target.wrt(positions(self.argnums))
        found = _Rows(target.first() if self.has_aux else target, wrt, b)
        columns = found.forward() if self.is_forward else found.reverse()
        jacobian = found.arranged(columns, isinstance(self.argnums, int))
        if not self.has_aux:
            return jacobian
        (both,) = b.call(target.name, target.operands)
        return b.one(Tuple((jacobian, b.one(Proj(both, 1)))))


def jacobian(cx: Context, node: ast.Call, is_forward: bool, of_gradient: bool) -> Value:
    """A call of `jacfwd`, `jacrev` or `hessian`."""
    name = ast.unparse(node.func)
    given = given_arguments(cx, node, name, ("function", "argnums", "has_aux"))
    function = function_of(cx, given["function"])
    argnums = constant_argument(cx, given.get("argnums"), name, 0)
    has_aux = bool(constant_argument(cx, given.get("has_aux"), name, False))
    place = given.get("argnums", node)

    def make(cx: Context, node: ast.Call, function: Operand) -> Operand:
        code = code_of(function.type)
        assert code is not None
        parameters = parameters_of(cx, code, node)
        found = argument_numbers(cx, place, name, code.title, parameters, argnums)
        if of_gradient:
            code = Gradient(code, found, False, has_aux)
        made = Jacobian(code, found, is_forward, has_aux)
        return closure(cx, node, made, captures_of(cx, node, function))

    return for_each(cx, node, function, make)


class _Rows:
    """The Jacobian of a function at its arguments, a row or column at a time.

    What the two modes give is a list for each real of the result, and in it for each
    argument what is to be arranged.
    """

    def __init__(self, target: Target, wrt: Sequence[int], b: Builder) -> None:
        self.target, self.wrt, self.b = target, wrt, b
        self.arguments = [target.operands[at] for at in wrt]
        for argument in self.arguments:
            self._check(argument.type, "argument", 1)
        # The function itself is run for the shapes of its results.
        (out,) = b.call(target.name, target.operands)
        self.out = out
        reals = list(_reals(b, out))
        self._check(out.type, "result", len(reals))
        self.reals = reals

    def _check(self, ty: Type, what: str, count: int) -> None:
        if not count or not _is_regular(ty, what == "result"):
            span = self.target.span
            wanted = "Jacobians are of floats and arrays of floats, by such"
            raise closure_errors.derivative_argument(
                span,
                written_at(span),
                f"the {what} is {said(ty)}",
                f"{wanted}; differentiate a part of it",
            )

    def forward(self) -> list[list[Operand]]:
        """For each argument along each of its components."""
        found = [self._along(k) for k in range(len(self.wrt))]
        return [list(column) for column in zip(*found, strict=True)]

    def _along(self, k: int) -> list[Operand]:
        """The slopes of the reals, in an array of the argument's rank at least."""
        argument = self.arguments[k]
        rule = Derivative(Mode.PUSH_FORWARD, (self.wrt[k],))

        def slopes(b: Builder, tangent: Operand) -> Sequence[Operand]:
            call = Call(self.target.name, (*self.target.operands, tangent), rule)
            _, moved = b.emit(call, "out", "out_t")
            return list(_reals(b, moved))

        found = _units(self.b, argument, self.reals, slopes)
        shape = _shape(self.b, argument)
        pairs = zip(found, self.reals, strict=True)
        return [
            self._turned(table, shape, _shape(self.b, real)) for table, real in pairs
        ]

    def _turned(self, table: Operand, first: Shape, last: Shape) -> Operand:
        """An array with its first axes behind the others."""
        if not first or not last:
            return table

        def element(b: Builder, indices: Indices) -> Operand:
            at = (*indices[len(last) :], *indices[: len(last)])
            return b.one(Apply(Index(), (table, *at)))

        return build_nest(self.b, (*last, *first), element)

    def reverse(self) -> list[list[Operand]]:
        """For each real from each of its components."""
        return [self._from(k) for k in range(len(self.reals))]

    def _from(self, k: int) -> list[Operand]:
        rule = Derivative(Mode.PULL_BACK, tuple(self.wrt))
        others = [_zeros(self.b, real) for real in self.reals]

        def gradients(b: Builder, unit: Operand) -> Sequence[Operand]:
            parts = iter([*others[:k], unit, *others[k + 1 :]])
            ct = _like(b, cotangent_type(self.out.type), parts)
            call = Call(self.target.name, (*self.target.operands, ct), rule)
            _, *found = b.emit(call, "out")
            return found

        return list(_units(self.b, self.reals[k], self.arguments, gradients))

    def arranged(self, columns: Sequence[Sequence[Operand]], is_one: bool) -> Operand:
        """The Jacobian, of the structure of the result."""
        each = (c[0] if is_one else self.b.one(Tuple(tuple(c))) for c in columns)
        return _like(self.b, cotangent_type(self.out.type), iter(each))


def _is_regular(ty: Type, in_product: bool) -> bool:
    """Whether this is a float or an array of floats, or a product of such."""
    match ty:
        case Product(fields) if in_product and list_names(ty) is None:
            return all(_is_regular(part, True) for part in fields if has_float(part))
        case Array(elem, _):
            return is_float(elem)
        case _:
            return is_float(ty)


def _reals(b: Builder, value: Operand) -> Iterator[Operand]:
    """The floats and arrays of floats in a value, in order."""
    if not has_float(value.type):
        return
    if isinstance(value.type, Product):
        for k in range(len(value.type.fields)):
            yield from _reals(b, b.one(Proj(value, k)))
    else:
        yield value


def _like(b: Builder, ty: Type, parts: Iterator[Operand]) -> Operand:
    """A value of the structure of a type, with these in the place of its reals."""
    match ty:
        case Product(fields, names):
            return b.one(
                Tuple(tuple([_like(b, part, parts) for part in fields]), names)
            )
        case _:
            return next(parts)


def _shape(b: Builder, value: Operand) -> Shape:
    rank = value.type.rank if isinstance(value.type, Array) else 0
    return tuple(b.one(Apply(Dim(axis), (value,))) for axis in range(rank))


def _zeros(b: Builder, like: Operand) -> Operand:
    """The zero of the type and shape of a real."""
    if not isinstance(like.type, Array):
        return literal(0, like.type)
    elem = like.type.elem
    return build_nest(b, _shape(b, like), lambda b, indices: literal(0, elem))


def _units(
    b: Builder,
    like: Operand,
    reals: Sequence[Operand],
    use: Callable[[Builder, Operand], Sequence[Operand]],
) -> Sequence[Operand]:
    """What `use` gives for each value like this that is 1 at one place, and else 0.

    It has the shapes of these reals.
    """
    if not isinstance(like.type, Array):
        return use(b, literal(1, like.type))
    shape, elem = _shape(b, like), like.type.elem

    def level(outer: Builder, at: Sequence[Operand]) -> Sequence[Operand]:
        if len(at) == len(shape):
            return use(outer, _unit(outer, shape, at, elem))
        index, inner = Var("k", I64), outer.child()
        body = Lambda((index,), inner.block(level(inner, [*at, index])))
        return outer.apply(Build(), [shape[len(at)]], [body])

    return [
        sized(b, table, (*shape, *_shape(b, real)))
        for table, real in zip(level(b, ()), reals, strict=True)
    ]


def _unit(b: Builder, shape: Shape, at: Sequence[Operand], elem: Type) -> Operand:
    def element(b: Builder, indices: Indices) -> Operand:
        is_here: Operand = Lit(True)
        for index, place in zip(indices, at, strict=True):
            is_here = b.prim("and", is_here, b.prim("ieq", index, place))
        return b.prim("select", is_here, literal(1, elem), literal(0, elem))

    return build_nest(b, shape, element)
