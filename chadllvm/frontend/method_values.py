"""Methods as the functions that derivatives are taken of.

cl.grad(self.energy)(x)      →   cl.grad(lambda x: self.energy(x))(x)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from chadllvm.frontend.context import Context
from chadllvm.frontend.method_names import methods_named
from chadllvm.frontend.objects import type_at
from chadllvm.frontend.records import class_attribute
from chadllvm.frontend.scope import NotStatic
from chadllvm.frontend.signature import Parameter
from chadllvm.ir.record import RecordNames
from chadllvm.ir.types import Product

_NUMBERS = (bool, int, float)


def with_lambda(cx: Context, node: ast.Call) -> ast.Call:
    """The call, with a `lambda` in the place of a method that is its first argument."""
    if not node.args or not isinstance(node.args[0], ast.Attribute):
        return node
    first, *rest = node.args
    assert isinstance(first, ast.Attribute)
    parameters = _parameters(cx, first)
    if parameters is None:
        return node
    made = ast.copy_location(_lambda(first, parameters), first)
    call = ast.Call(node.func, [ast.fix_missing_locations(made), *rest], node.keywords)
    return ast.copy_location(call, node)


def _parameters(cx: Context, method: ast.Attribute) -> Sequence[Parameter] | None:
    """What a method of a record or an object takes; None if this is none."""
    try:
        cx.static(method)
    except NotStatic:
        pass
    else:
        return None
    owner = type_at(cx, method.value)
    names = owner.names if isinstance(owner, Product) else ()
    if not isinstance(names, RecordNames) or not names.is_class or method.attr in names:
        return None
    kind = next((k for k in names.python.__mro__ if method.attr in vars(k)), object)
    if isinstance(class_attribute(kind, method.attr), property):
        return None
    for function, given in methods_named([kind], method.attr)[:1]:
        first = function.__code__.co_varnames[:given]
        found = cx.callees.parameters(function, first)
        return [p for p in found if p.name not in first]
    return None


def _lambda(method: ast.Attribute, parameters: Sequence[Parameter]) -> ast.Lambda:
    """A function that calls a method with what it takes itself.

    A default that is no number cannot be written here: the method takes its own.
    """
    taken = [p for p in parameters if p.is_required or type(p.default) in _NUMBERS]
    plain = [p for p in taken if not p.is_keyword_only]
    named = [p for p in taken if p.is_keyword_only]
    args = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(p.name) for p in plain],
        kwonlyargs=[ast.arg(p.name) for p in named],
        kw_defaults=[None if p.is_required else ast.Constant(p.default) for p in named],
        defaults=[ast.Constant(p.default) for p in plain if not p.is_required],
    )
    given = [ast.keyword(p.name, ast.Name(p.name, ast.Load())) for p in taken]
    return ast.Lambda(args, ast.Call(method, [], given))
