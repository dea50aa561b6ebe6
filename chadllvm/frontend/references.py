"""References to the nodes of recursive data, which classes that contain themselves are.

    n = Node(left, 1.0, None)      →      n = new[Node, …](left, 1.0, none)
    n.value                        →      l, v, r = fetch[Node, …](n.node); v

A value of such a class is the number of a node (`ops/heap.py`), so that its type is
finite and it may be in other values, in loops and in lists as a number may. What asks
for the fields of one opens it first.
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.ir.build import Builder
from chadllvm.ir.record import ReferenceNames
from chadllvm.ir.term import Operand, Proj, Tuple
from chadllvm.ir.types import Product, Type, reference_names
from chadllvm.ops.heap import Fetch, New


def opened(b: Builder, value: Operand) -> Operand:
    """What a reference refers to; any other value as it is."""
    names = reference_names(value.type)
    if names is None:
        return value
    number = b.one(Proj(value, 0))
    content: Product = names.content
    fields = b.apply(Fetch(names.heap, content.fields), [number], (), content.names)
    return b.one(Tuple(tuple(fields), content.names))


def made(b: Builder, ty: Type, parts: Sequence[Operand]) -> Operand:
    """A new node that holds these, and the reference to it."""
    assert isinstance(ty, Product) and isinstance(ty.names, ReferenceNames)
    content: Product = ty.names.content
    (number,) = b.apply(New(ty.names.heap, content.fields), parts, (), ["node"])
    return b.one(Tuple((number,), ty.names))
