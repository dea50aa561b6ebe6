"""The types of what only the derivatives of arrays make: trees, and lists (Fig. 9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from chadllvm.ir.types import Array, Type
from chadllvm.paper.types import IllTyped


@dataclass(frozen=True, slots=True)
class TreeOf:
    """Tree a f"""

    value: Type
    bp: Type

    def __str__(self) -> str:
        return f"Tree {self.value} {self.bp}"


@dataclass(frozen=True, slots=True)
class ListOf:
    """List a; a difference list `List a → List a` is known to be one by `is_open`."""

    item: Type
    is_open: bool = False

    def __str__(self) -> str:
        return f"{'Open' if self.is_open else ''}List {self.item}"


def array(item: Type) -> Type:
    """Array τ"""
    return Array(item, 1)


def tree(value: Type, bp: Type) -> Type:
    """Tree a f"""
    return cast(Type, TreeOf(value, bp))


def list_of(item: Type) -> Type:
    """List a"""
    return cast(Type, ListOf(item))


def difference_list(item: Type) -> Type:
    """List a → List a"""
    return cast(Type, ListOf(item, is_open=True))


def is_array(rule: str, ty: Type) -> Type:
    """The type of an array's elements."""
    if not isinstance(ty, Array):
        raise IllTyped(f"{rule}: expected an array, found {ty}")
    return ty.elem if ty.rank == 1 else Array(ty.elem, ty.rank - 1)


def is_tree(rule: str, ty: Type) -> tuple[Type, Type]:
    """The types of a tree's values and backpropagators."""
    if not isinstance(ty, TreeOf):
        raise IllTyped(f"{rule}: expected a tree, found {ty}")
    return ty.value, ty.bp


def is_list(rule: str, ty: Type, is_open: bool = False) -> Type:
    """The type of a list's items."""
    if not isinstance(ty, ListOf) or ty.is_open != is_open:
        raise IllTyped(f"{rule}: expected a list, found {ty}")
    found: Type = ty.item
    return found
