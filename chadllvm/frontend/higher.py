"""Functions as arguments: `cl.fold`, `cl.build`, `itertools.accumulate`.

    cl.build(n, f)      →   build(n) { i -> yield f(i) }
    cl.fold(f, xs)      →   ys = build(m) { b ->
                              yield iterate(l - 1, xs[b l]) { k, s ->
                                f(s, xs[b l + 1 + k]) } }
                            iterate(m - 1 + rest, ys[0]) { k, s ->
                              f(s, ys[k + 1] or what is left of xs) }
    accumulate(xs, f)   →   iterate(n, …) { i, s -> t = f(s, xs[i]); yield t, t }

A function is the name of one, or a `lambda`, which is put in the place of its call. A
fold is the compact block form of the paper's §8.1: blocks of a length l near the root
of the size, whose results are combined in order, and what is left behind them after
that. The blocks are independent, and so are their reverses; what these need is the
states within the blocks and between them.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence

from chadllvm.errors import array_errors, call_errors
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
from chadllvm.ops.index import Index, sized
from chadllvm.ops.iterate import Iterate
from chadllvm.support import library


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

    return sized(call.builder, level(()), shape)


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
    root = b.prim("isqrt", b.prim("isub", size, Lit(1)))
    length = b.prim("iadd", root, Lit(1))
    blocks = b.prim("ifloordiv", size, length)
    results = _blocks(call, array, blocks, length, ty)
    last = b.prim("isub", blocks, Lit(1))
    done = b.prim("imul", blocks, length)
    steps = b.prim("iadd", last, b.prim("isub", size, done))

    def item(inner: Builder, index: Var) -> Operand:
        is_block = inner.prim("ilt", index, last)
        then, orelse = inner.child(), inner.child()
        (block,) = then.apply(Index(), [results, then.prim("iadd", index, Lit(1))])
        at = orelse.prim("iadd", done, orelse.prim("isub", index, last))
        (single,) = orelse.apply(Index(), [array, at])
        return inner.one(If(is_block, then.block([block]), orelse.block([single])))

    (first,) = b.apply(Index(), [results, Lit(0)])
    return _in_order(call, steps, first, item, ty)


def _blocks(
    call: Given, array: Operand, blocks: Operand, length: Operand, ty: Type
) -> Operand:
    """The results of whole blocks, each combined from its first element to its last."""
    index = Var("block", I64)
    with call.cx.nested() as b:
        start = b.prim("imul", index, length)
        second = b.prim("iadd", start, Lit(1))
        (first,) = b.apply(Index(), [array, start])

        def item(inner: Builder, k: Var) -> Operand:
            return inner.apply(Index(), [array, inner.prim("iadd", second, k)])[0]

        steps = b.prim("isub", length, Lit(1))
        body = b.block([_in_order(call, steps, first, item, ty)])
    return call.builder.apply(Build(), [blocks], [Lambda((index,), body)])[0]


def _in_order(
    call: Given,
    steps: Operand,
    first: Operand,
    item: Callable[[Builder, Var], Operand],
    ty: Type,
) -> Operand:
    """The function's value for the first one and an item, for that and the next…"""
    index, state = Var("k", I64), Var("s", ty)
    with call.cx.nested() as b:
        args = [state, item(b, index)]
        after = apply_function(call.cx, call.nodes["function"], call.name, args)
        body = Lambda((index, state), b.block([convert(b, after, ty)]))
    return call.builder.apply(Iterate(), [steps, first], [body])[0]


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
        raise array_errors.no_first_state(call.cx.span(call.node), ty)
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
