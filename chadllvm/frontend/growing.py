"""Lists in a list that grow: what all of them hold stands in one list.

    rows = [[] for _ in range(n)]      items, begins, sizes, rooms = [], [], [], []
    ...                                ...
    rows[i].append(v)              →   items[begins[i] + sizes[i]] = v; sizes[i] += 1
    for row in rows:                   for k in range(len(begins)):
        use(sum(row))                      use(sum(items[begins[k]:begins[k] + …]))
    f(rows)                            f([items[b:b + s] for b, s in zip(…)])

A list without room is moved behind all others, and has room for twice as much there: so
an element is moved a constant number of times, and the gradient of all this is that of
statements of the language.

It is so where no other value is one of the lists: they are made there, and read as
`rows[i][j]`, in a loop, or by what makes something else of them. A name for one is
written as its place. Where this holds up to the last change only, `rows` is a list as
any other from there on. In other programs such lists stay as they are, and are refused.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from chadllvm.frontend.grown import Growing, Other, changes
from chadllvm.frontend.written import hides_python


def write_growing(definition: ast.FunctionDef, names: Mapping[str, Any]) -> None:
    """Rewrite the lists whose elements grow, in place, where that can be done.

    `names` are those of the definition's module.
    """
    functions = [n for n in ast.walk(definition) if isinstance(n, ast.FunctionDef)]
    found = [(f, dict.fromkeys(_grown([*ast.walk(f)]))) for f in reversed(functions)]
    if not any(grown for _, grown in found) or hides_python(definition, names):
        return
    numpy = [name for name, module in names.items() if module is np]
    for function, grown in found:
        _write(function, grown, numpy)


def _write(
    definition: ast.FunctionDef, grown: Iterable[str], numpy: Collection[str]
) -> None:
    """Rewrite the lists of one function, inside of which those of others are."""
    for name in grown:
        block, first, last = _home(definition.body, name)
        for end in (len(block), last + 1):
            if _is_written(definition, block, slice(first, end), name, numpy):
                break


def _is_written(
    definition: ast.FunctionDef,
    block: list[ast.stmt],
    part: slice,
    name: str,
    numpy: Collection[str],
) -> bool:
    """Whether a part of a block could be rewritten, and is.

    The list is used behind it as any other, if it is used there.
    """
    region = block[part]
    if not region or _is_captured(definition, region, name):
        return False
    inside = {id(node) for statement in region for node in ast.walk(statement)}
    outside = [n for n in ast.walk(definition) if id(n) not in inside]
    used = {node.id for node in outside if isinstance(node, ast.Name)}
    is_last = part.stop == len(block)
    if is_last and name in used:
        return False
    try:
        block[part] = Growing(name, used, numpy).region(region, is_whole=is_last)
    except Other:
        return False
    return True


def _grown(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """The lists that have elements which are made longer or shorter."""
    lists: dict[str, str] = {}
    for node in nodes:
        match node:
            case ast.For(ast.Name(row), ast.Name(name)) | ast.Assign(
                [ast.Name(row)], ast.Subscript(ast.Name(name))
            ):
                lists[row] = name
            case ast.For(
                ast.Tuple([_, ast.Name(row)]),
                ast.Call(ast.Name("enumerate"), [ast.Name(name)]),
            ):
                lists[row] = name
    for node in nodes:
        match node:
            case ast.Call(ast.Attribute(owner, "append" | "extend" | "pop")) | (
                ast.AugAssign(ast.Subscript() as owner, ast.Add(), ast.List())
            ):
                pass
            case _:
                continue
        match owner:
            case ast.Name(row) if row in lists:
                yield lists[row]
            case ast.Subscript(ast.Name(name)):
                yield name


def _home(block: list[ast.stmt], name: str) -> tuple[list[ast.stmt], int, int]:
    """The innermost block with all changes of a list, its first and its last one."""
    places = [k for k, node in enumerate(block) if changes(node, name)]
    if len(places) == 1:
        parts = [getattr(block[places[0]], part, []) for part in ("body", "orelse")]
        inside = [p for p in parts if any(changes(node, name) for node in p)]
        if len(inside) == 1:
            return _home(inside[0], name)
    return (block, places[0], places[-1]) if places else (block, 0, -1)


def _is_captured(
    definition: ast.FunctionDef, region: Sequence[ast.stmt], name: str
) -> bool:
    """Whether a function that is made before the last change uses the list."""
    behind = max(node.end_lineno or 0 for node in region)
    for node in [*ast.walk(definition)][1:]:
        if isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            if name in names and node.lineno <= behind:
                return True
    return False
