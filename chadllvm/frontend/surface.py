"""The statements of a function in a small form: assignments, branches, loops, returns.

Expressions stay Python's own syntax trees. What `read.py` guarantees: a `Return` is the
last statement of its block; a branch with a `Return` in it is itself the last statement
of its block, and returns on every path, for the statements that follow it in Python
have been moved to the path that goes on. Loops contain no `Return`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from chadllvm.frontend.annotations import Annotation


class Augmented(ast.BinOp):
    """The operation of an augmented assignment, `x + y` in `x += y`."""


# The methods of lists and arrays that change them.
CHANGING = ("append", "extend", "pop", "fill")


class Changed(ast.Call):
    """A call that changes what the name `target` stands for, as `xs.append(v)` does."""

    target: ast.Name


@dataclass(frozen=True, slots=True, eq=False)
class Assign:
    """`target = value`: a name, an element of an array, or a tuple of targets."""

    target: ast.expr
    value: ast.expr
    node: ast.stmt
    annotation: Annotation = None


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """`if test: then else: orelse`"""

    test: ast.expr
    then: tuple[Statement, ...]
    orelse: tuple[Statement, ...]
    node: ast.If


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """`for target in iterable: body`"""

    target: ast.expr
    iterable: ast.expr
    body: tuple[Statement, ...]
    node: ast.For


@dataclass(frozen=True, slots=True, eq=False)
class Return:
    """`return value`"""

    value: ast.expr
    node: ast.stmt


Statement = Assign | Branch | Loop | Return


def returns(statements: tuple[Statement, ...]) -> bool:
    """Whether a block ends with a `Return`, or with a branch that does."""
    while statements:
        match statements[-1]:
            case Return():
                return True
            case Branch(_, then, orelse):
                if returns(orelse):
                    return True
                statements = then
            case _:
                return False
    return False


def target_names(target: ast.expr) -> Iterator[str]:
    """The names that an assignment to this target binds, in order.

    An assignment to an element binds the array's name to the updated array.
    """
    for part in target_parts(target):
        name = base(part)
        if name is not None:
            yield name.id


def target_parts(target: ast.expr) -> Iterator[ast.expr]:
    """The targets in a target that are no tuples, in order."""
    stack = [target]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Tuple | ast.List):
            stack.extend(reversed(node.elts))
        else:
            yield node


def base(target: ast.expr) -> ast.Name | None:
    """The name `a` of a target `a` or `a[i][j]`."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target if isinstance(target, ast.Name) else None
