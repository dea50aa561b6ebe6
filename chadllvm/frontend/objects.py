"""Objects of ordinary classes inside a function: what is no data in their fields.

    self.method == "euler"     →   decided, for the string that the field holds
    self.activation(x)         →   a call of the function that the field holds
    super().energy(x)          →   a call of the base class's function, which takes self

Fields that are data are those of a record; what the object was read as is in the names
of its type (`ir/record.py`).
"""

from __future__ import annotations

import ast
from typing import Any

from chadllvm.frontend.context import Context
from chadllvm.frontend.scope import NotStatic
from chadllvm.ir.record import ObjectNames, RecordNames
from chadllvm.ir.term import Lit, Operand, Var
from chadllvm.ir.types import Product, Type, opened_type


def static_field(cx: Context, node: ast.Attribute) -> Any:
    """The value of a field that is no data, or `NotStatic`."""
    owner = type_at(cx, node.value)
    return field_value(owner, node.attr)


def field_value(owner: Type | None, name: str) -> Any:
    """The value of a field that is no data, or `NotStatic`."""
    names = owner.names if isinstance(owner, Product) else ()
    if not isinstance(names, ObjectNames) or name not in names.statics:
        raise NotStatic
    return names.statics[name]


def type_at(cx: Context, node: ast.expr) -> Type | None:
    """The type of a name, or of a field of one, without translating it."""
    match node:
        case ast.Name(name):
            value = cx.scope.lookup(name)
            return value.type if isinstance(value, Var | Lit) else None
        case ast.Attribute(owner, name):
            inside = type_at(cx, owner)
            held = None if inside is None else opened_type(inside)
            names = held.names if isinstance(held, Product) else ()
            if not isinstance(names, RecordNames) or name not in names:
                return None
            assert isinstance(held, Product)
            return held.fields[names.index(name)]
        case _:
            return None


def base_of(cx: Context, node: ast.expr) -> tuple[list[type], Operand] | None:
    """What `super()` stands for: classes in the order to look in, and the object."""
    match node:
        case ast.Call(ast.Name("super"), [], []):
            owner = _own_class(cx)
            first = cx.source.definition.args.args[:1]
            value = cx.scope.lookup(first[0].arg) if first else None
        case ast.Call(ast.Name("super"), [which, ast.Name(name)], []):
            owner, value = cx.static(which), cx.scope.lookup(name)
        case _:
            return None
    ty = value.type if isinstance(value, Var | Lit) else None
    held = None if ty is None else ty
    names = held.names if isinstance(held, Product) else ()
    if not isinstance(names, RecordNames) or not isinstance(owner, type):
        return None
    order = names.python.__mro__
    if owner not in order:
        return None
    assert isinstance(value, Var | Lit)
    return [*order[order.index(owner) + 1 :]], value


def _own_class(cx: Context) -> Any:
    """The class that a method is defined in."""
    try:
        return cx.surroundings.lookup("__class__")
    except KeyError:
        return None
