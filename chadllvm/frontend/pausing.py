"""`breakpoint()`: the variables in scope, where the interpreter stops.

    breakpoint()       →   x, y = stop((x, y), (n, xs), true, "label")

`stop` (`prelude/debug.py`) hands the reals in scope on, with rules that stop as well:
in the reverse it is there that their cotangents are complete, and in forward mode that
their tangents are known. Only names that are read later stand for what it gives.

What Python's containers are in the program is written into the label, for numbers and
arrays are all that a `pause` has.
"""

from __future__ import annotations

import ast
import builtins
import json
from typing import Any

from chadllvm.frontend.closures import is_function
from chadllvm.frontend.context import Context
from chadllvm.frontend.jitted import function_call
from chadllvm.frontend.marks import is_python_list, mark_joined, mark_of
from chadllvm.frontend.scope import Unusable
from chadllvm.frontend.source import Source
from chadllvm.frontend.static import static_string
from chadllvm.frontend.surface import Assign, Paused
from chadllvm.frontend.unions import NONE_VALUE
from chadllvm.frontend.width import as_weak, component
from chadllvm.ir.record import ListNames, RecordNames, ReferenceNames
from chadllvm.ir.term import If, Lit, Operand, Tuple
from chadllvm.ir.types import Array, Product, Scalar, Type, is_float
from chadllvm.ir.wording import said
from chadllvm.ops.pause import Pause
from chadllvm.ops.show import kind_of
from chadllvm.support.overloads import overloaded


def breakpoint_of(source: Source, node: ast.stmt) -> Assign | None:
    """`breakpoint()`, or `if test: breakpoint()`."""
    test: ast.expr | None = None
    inner = node
    if isinstance(node, ast.If) and len(node.body) == 1 and not node.orelse:
        test, inner = node.test, node.body[0]
    match inner:
        case ast.Expr(ast.Call(ast.Name("breakpoint"), [], [])) if (
            "breakpoint" not in source.function.__globals__
        ):
            names = _names_before(source.definition, inner)
            loads = [ast.Name(name, ast.Load()) for name in names]
            parts: list[ast.expr] = [ast.copy_location(n, inner) for n in loads]
            made = ast.copy_location(Paused(parts, ast.Load()), inner)
            made.when = test
            nothing = ast.copy_location(ast.Tuple([], ast.Store()), inner)
            return Assign(nothing, made, inner)
        case _:
            return None


def _names_before(definition: ast.FunctionDef, at: ast.stmt) -> list[str]:
    """The parameters, and the names that are assigned before a statement or around."""
    args = definition.args
    found = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    stack: list[ast.AST] = [*reversed(definition.body)]
    while stack:
        node = stack.pop()
        match node:
            case ast.Name(name, ast.Store()) if node.lineno <= at.lineno:
                found.append(name)
            case ast.FunctionDef() | ast.Lambda() | ast.ListComp() | ast.SetComp():
                pass
            case ast.GeneratorExp() | ast.DictComp():
                pass
            case _:
                stack += reversed([*ast.iter_child_nodes(node)])
    return [*dict.fromkeys(found)]


def stop(cx: Context, node: Paused) -> None:
    """Stop here, if the condition holds."""
    names = [part.id for part in node.elts if isinstance(part, ast.Name)]
    found = {name: cx.scope.lookup(name) for name in names}
    values = {n: v for n, v in found.items() if v and not isinstance(v, Unusable)}
    passed = [n for n, v in values.items() if n not in cx.updated and _passes(v.type)]
    others = [n for n in values if n not in passed and _is_shown(values[n].type)]
    hidden = {n: said(v.type) for n, v in values.items() if not _is_shown(v.type)}
    span = cx.span(node)
    place = {"file": span.file, "line": span.line, "function": span.function}
    lists = [n for n in (*passed, *others) if is_python_list(cx, values[n])]
    about = {"names": [passed, others], "hidden": hidden, "lists": lists}
    label = json.dumps(place | about)
    b = cx.at(node)
    cx.at(node).apply(Pause(""), [])  # For who looks for a place to stop at.
    tuples = [b.one(Tuple(tuple(values[n] for n in part))) for part in (passed, others)]
    when = Lit(True) if node.when is None else cx.value(node.when)
    texts = [ast.copy_location(ast.Constant(t), node) for t in (label, "value")]
    shown: list[ast.expr] = [cx.settled(node, value) for value in tuples]
    if not passed:
        call = ast.copy_location(ast.Call(node, [*texts, *shown], []), node)
        with cx.nested() as inner:
            paused(cx, call)
            then = inner.block([])
        cx.at(node).emit(If(when, then, cx.builder.child().block([])))
        return
    arguments = [*shown, cx.settled(node, when), texts[0]]
    call = ast.copy_location(ast.Call(node, arguments, []), node)
    function = overloaded(builtins.breakpoint)
    result = function_call(cx, call, function._function, ("label",))
    for k, name in enumerate(passed):
        old = values[name]
        new = as_weak(cx.at(node), component(cx.at(node), result, k), (old,))
        mark_joined(cx, new, [old], mark_of(cx, old))
        cx.scope.hand(name, new)


def _passes(ty: Type) -> bool:
    """Whether there is a cotangent of a value that can be told."""
    match ty:
        case Product(fields, names):
            if is_function(ty) or isinstance(names, ReferenceNames | ListNames):
                return False
            return bool(fields) and all(map(_passes, fields))
        case Array(Scalar() as elem):
            return is_float(elem)
        case _:
            return is_float(ty)


def _is_shown(ty: Type) -> bool:
    match ty:
        case Scalar() | Array(Scalar()):
            return True
        case Product(fields, names):
            is_own = is_function(ty) or isinstance(names, ReferenceNames)
            return not is_own and all(map(_is_shown, fields))
        case _:
            return False


# ---- what is shown -----------------------------------------------------------------


def paused(cx: Context, node: ast.Call) -> Operand:
    """`pause(label, stage, …)`, with tuples of values."""
    texts = [static_string(cx, argument) for argument in node.args[:2]]
    values: list[Operand] = []
    kinds: list[str] = []
    shapes = []
    for argument in node.args[2:]:
        value = cx.value(argument)
        shapes.append(_shape(cx, node, value, values, kinds))
    label = {**json.loads(texts[0] or "{}"), "stage": texts[1], "shapes": shapes}
    cx.at(node).apply(Pause(json.dumps(label), tuple(kinds)), values)
    return cx.at(node).one(NONE_VALUE)


def _shape(
    cx: Context,
    node: ast.Call,
    value: Operand,
    values: list[Operand],
    kinds: list[str],
) -> Any:
    """How Python has a value: a place among the values, or a container of such."""
    ty = value.type
    if isinstance(ty, Scalar | Array):
        kinds.append(kind_of(ty, is_list=False))
        values.append(value)
        return len(values) - 1
    assert isinstance(ty, Product)
    parts = [
        _shape(cx, node, component(cx.at(node), value, k), values, kinds)
        for k in range(len(ty.fields))
    ]
    match ty.names:
        case RecordNames() as names:
            return {"kind": names.kind.value, "title": names.title, "names": names,
                    "parts": parts}  # fmt: skip
        case ListNames() as names:
            return {"kind": "list", "names": names._key(), "parts": parts}
        case _:
            return {"kind": "tuple", "parts": parts}
