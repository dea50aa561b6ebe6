"""Functions as arguments: `cl.fold`, `cl.build`, `itertools.accumulate`.

    cl.build(n, f)      →   build(n) { i -> yield f(i) }
    cl.fold(f, xs)      →   iterate(levels, xs) { _, s ->
                              yield build(h) { k -> f(s[2 k], s[2 k + 1]) } }
    accumulate(xs, f)   →   iterate(n, …) { i, s -> t = f(s, xs[i]); yield t, t }

A function is the name of one, or a `lambda`, which is put in the place of its call. The
levels of a fold are the reduction tree of the paper's §8.1, without its nodes: each
level is an array, of half as many elements as the one before.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence

from chadllvm import library
from chadllvm.frontend import call_errors, shape_errors
from chadllvm.frontend.arithmetic import convert, join_values
from chadllvm.frontend.closures import check_growth
from chadllvm.frontend.context import Context
from chadllvm.frontend.given import Given, LibraryFunction
from chadllvm.frontend.subscript import dimension
from chadllvm.frontend.width import is_weak, new_state
from chadllvm.ir.build import Builder
from chadllvm.ir.term import If, Lambda, Lit, Operand, Tuple, Var, literal
from chadllvm.ir.types import I64, Array, Product, Scalar, Type, element
from chadllvm.ops.build import Build
from chadllvm.ops.index import Index
from chadllvm.ops.iterate import Iterate


def apply_function(
    cx: Context, function: ast.expr, name: str, args: Sequence[Operand]
) -> Operand:
    """The value of a function at these arguments, in the block we are in.

    The arguments are variables of its scope: those of a `lambda`, or ones whose names
    no user can write.
    """
    if isinstance(function, ast.Lambda):
        names = _parameters(cx, function, name, len(args))
        body = function.body
    else:
        names = [f"{k}." for k in range(len(args))]
        nodes: list[ast.expr] = [
            ast.copy_location(ast.Name(n, ast.Load()), function) for n in names
        ]
        body = ast.copy_location(ast.Call(function, nodes, []), function)
    for parameter, argument in zip(names, args, strict=True):
        cx.scope.bind(parameter, argument)
    return cx.value(body)


def _parameters(cx: Context, node: ast.Lambda, name: str, count: int) -> list[str]:
    """The names of a lambda's parameters, which are plain ones."""
    args = node.args
    plain = not (args.vararg or args.kwarg or args.kwonlyargs or args.defaults)
    found = [a.arg for a in (*args.posonlyargs, *args.args)]
    if not plain or len(found) != count:
        raise call_errors.function_needed(cx.span(node), name, count)
    return found


# ---- build -----------------------------------------------------------------------


def _build(call: Given) -> Operand:
    shape = call.shape("shape")

    def level(indices: Sequence[Operand]) -> Operand:
        if len(indices) == len(shape):
            function = call.nodes["function"]
            return apply_function(call.cx, function, call.name, indices)
        index = Var("i", I64)
        with call.cx.nested() as b:
            body = b.block([level([*indices, index])])
        size = shape[len(indices)]
        return call.builder.apply(Build(), [size], [Lambda((index,), body)])[0]

    return level(())


# ---- fold ------------------------------------------------------------------------


def _collection(call: Given, name: str) -> tuple[Operand, Type]:
    """An array, and the type of its elements or rows."""
    array = call.value(name)
    if not isinstance(array.type, Array):
        raise call_errors.wrong_operand(
            call.cx.span(call.nodes[name]), call.name, "an array", array.type
        )
    return array, element(array.type, 1)


def _result_type(
    call: Given, function: ast.expr, args: Sequence[Type], weak: bool
) -> Type:
    """What the function gives for arguments of these types, the first perhaps weak."""
    with call.cx.nested():
        operands = [new_state("x", ty, weak and k == 0) for k, ty in enumerate(args)]
        return apply_function(call.cx, function, call.name, operands).type


def _stable(
    call: Given,
    function: ast.expr,
    ty: Type,
    args: Callable[[Type], Sequence[Type]],
    weak: bool = False,
) -> Type:
    """The type that a state of this type becomes: an integer may become a float."""
    rounds = 0
    while True:
        found = _result_type(call, function, args(ty), weak)
        joined = join_values(new_state("x", ty, weak), Var("x", found))
        if joined is None:
            raise call_errors.changed_type(call.cx.span(function), call.name, ty, found)
        if joined == ty:
            return ty
        name = ast.unparse(function)
        check_growth(call.cx.span(function), rounds, {name: ty}, {name: joined})
        ty, rounds = joined, rounds + 1


def _fold(call: Given) -> Operand:
    array, before = _collection(call, "items")
    ty = _stable(call, call.nodes["function"], before, lambda t: [t, t])
    b = call.builder
    if ty != before:
        array = _converted(b, array, ty)
    size = b.prim("filled", dimension(b, array, 0))
    levels = b.prim("bit_length", b.prim("isub", size, Lit(1)))
    state = Var("level", array.type)
    with call.cx.nested() as step:
        body = step.block([_half(call, state, ty)])
    loop = Lambda((Var("k", I64), state), body)
    (last,) = call.builder.apply(Iterate(), [levels, array], [loop])
    return call.builder.apply(Index(), [last, Lit(0)])[0]


def _half(call: Given, state: Var, ty: Type) -> Operand:
    """The next level: neighbours combined; a last one without neighbour stays."""
    b = call.builder
    size = dimension(b, state, 0)
    half = b.prim("ifloordiv", b.prim("iadd", size, Lit(1)), Lit(2))
    index = Var("k", I64)
    with call.cx.nested() as inner:
        left = inner.prim("imul", index, Lit(2))
        right = inner.prim("iadd", left, Lit(1))
        has_both = inner.prim("ilt", right, size)
        (first,) = inner.apply(Index(), [state, left])
        with call.cx.nested() as then:
            (second,) = then.apply(Index(), [state, right])
            args = [first, second]
            function = call.nodes["function"]
            both = apply_function(call.cx, function, call.name, args)
            combined = then.block([convert(then, both, ty)])
        alone = inner.child().block([first])
        value = call.builder.one(If(has_both, combined, alone))
        body = inner.block([value])
    return call.builder.apply(Build(), [half], [Lambda((index,), body)])[0]


def _converted(b: Builder, array: Operand, ty: Type) -> Operand:
    """The elements of an array, each converted."""
    index, inner = Var("i", I64), b.child()
    (old,) = inner.apply(Index(), [array, index])
    body = Lambda((index,), inner.block([convert(inner, old, ty)]))
    return b.apply(Build(), [dimension(b, array, 0)], [body])[0]


# ---- accumulate ------------------------------------------------------------------


def accumulated(call: Given) -> Operand:
    """The running results of `itertools.accumulate`, as an array."""
    array, before = _collection(call, "items")
    if "func" not in call:
        call = _with_sum(call)
    if "initial" in call:
        start = call.value("initial")
        function, weak = call.nodes["func"], is_weak(start)
        ty = _stable(call, function, start.type, lambda t: [t, before], weak)
        return _with_initial(call, array, convert(call.builder, start, ty))
    ty = _stable(call, call.nodes["func"], before, lambda t: [t, before])
    return _from_first(call, array, ty)


def _with_sum(call: Given) -> Given:
    """The function is the sum if none is given."""
    names = [ast.arg("0."), ast.arg("1.")]
    left, right = (
        ast.copy_location(ast.Name(a.arg, ast.Load()), call.node) for a in names
    )
    total = ast.copy_location(ast.BinOp(left, ast.Add(), right), call.node)
    args = ast.arguments([], names, None, [], [], None, [])
    function = ast.copy_location(ast.Lambda(args, total), call.node)
    nodes = {**call.nodes, "func": function}
    return Given(call.cx, call.node, call.name, nodes)


def _states(call: Given, array: Operand, start: Operand, first: Operand | None) -> Var:
    """The states of the loop; the state before the `first` index is not looked at."""
    index, state = Var("i", I64), Var("s", start.type)
    function = call.nodes["func"]
    with call.cx.nested() as b:
        (item,) = b.apply(Index(), [array, index])
        if first is None:
            after = apply_function(call.cx, function, call.name, [state, item])
        else:
            is_first = b.prim("ieq", index, first)
            then = b.child()
            kept = then.block([convert(then, item, start.type)])
            with call.cx.nested() as other:
                value = apply_function(call.cx, function, call.name, [state, item])
                rest = other.block([convert(other, value, start.type)])
            after = call.builder.one(If(is_first, kept, rest))
        after = convert(call.builder, after, start.type)
        body = Lambda((index, state), b.block([after, after]))
    size = dimension(call.builder, array, 0)
    return call.builder.apply(Iterate(), [size, start], [body])[1]


def _from_first(call: Given, array: Operand, ty: Type) -> Operand:
    """The first result is the first element."""
    if not _has_zero(ty):
        raise shape_errors.no_first_state(call.cx.span(call.node), ty)
    return _states(call, array, _nothing(call.builder, ty), Lit(0))


def _with_initial(call: Given, array: Operand, start: Operand) -> Operand:
    """The first result is the initial value; there is one more than elements."""
    later = _states(call, array, start, None)
    b = call.builder
    size = b.prim("iadd", dimension(b, array, 0), Lit(1))
    index, inner = Var("i", I64), b.child()
    is_first = inner.prim("ieq", index, Lit(0))
    rest = inner.child()
    (value,) = rest.apply(Index(), [later, rest.prim("isub", index, Lit(1))])
    choice = If(is_first, inner.child().block([start]), rest.block([value]))
    body = Lambda((index,), inner.block([inner.one(choice)]))
    return b.apply(Build(), [size], [body])[0]


def _has_zero(ty: Type) -> bool:
    if isinstance(ty, Product):
        return all(map(_has_zero, ty.fields))
    return isinstance(ty, Scalar)


def _nothing(b: Builder, ty: Type) -> Operand:
    """A value of this type, whichever."""
    if isinstance(ty, Product):
        return b.one(Tuple(tuple(_nothing(b, f) for f in ty.fields), ty.names))
    assert isinstance(ty, Scalar)
    return literal(0, ty)


ACCUMULATE = LibraryFunction(
    itertools.accumulate, "items func=None * initial=None", accumulated
)

HIGHER: tuple[LibraryFunction, ...] = (
    LibraryFunction(library.fold, "function items", _fold),
    LibraryFunction(library.build, "shape function", _build),
)
