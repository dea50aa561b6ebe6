"""The statements of a function in a small form: assignments, branches, loops, exits.

Expressions stay Python's own syntax trees. What `read.py` guarantees: nothing follows
an exit (`Return`, `Break`, `Continue`, `Raise`) in its block, nor a statement that no
path leaves but by exits. Where one path through a branch with exits goes on, the
statements that follow it in Python have been moved to that path; a branch that several
paths leave to go on may be left by exits all the same. A loop has an `else` only if it
has a `Break`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from chadllvm.errors.update_errors import CHANGING
from chadllvm.frontend.annotations import Annotation


class Augmented(ast.BinOp):
    """The operation of an augmented assignment, `x + y` in `x += y`."""


class Defined(ast.expr):
    """The function that a `def` inside of a function makes.

    `group` are the functions that are defined one behind the other, by their names.
    """

    __match_args__ = ("definition",)

    def __init__(self, definition: ast.FunctionDef) -> None:
        super().__init__()
        self.definition = definition
        self.group: dict[str, ast.Lambda | Defined] = {}


class NamedLambda(ast.Lambda):
    """A `lambda` that a variable is assigned, with its `group` as that of a `def`."""

    group: dict[str, ast.Lambda | Defined]


# The methods of `CHANGING` that leave the size as it is.
KEEPING = ("fill", "sort", "reverse")


class Changed(ast.Call):
    """A call that changes what the name `target` stands for, as `xs.append(v)` does."""

    target: ast.Name
    # Whether it stands behind what reads the element that it takes off.
    is_behind = False


# The methods of sets that do, where they are statements.
CHANGING_SETS = ("add", "discard", "remove", "update", "clear")

ALL_CHANGING = (*CHANGING, *CHANGING_SETS)


def is_filled(call: Changed) -> bool:
    """Whether a call changes elements, and leaves the size as it is."""
    # `at` is that of NumPy's functions.
    method = call.func.attr if isinstance(call.func, ast.Attribute) else "at"
    return method in (*KEEPING, "at")


def may_be_own(call: Changed) -> bool:
    """Whether it may rather be a method of the user's, of a name that others have."""
    names = (*CHANGING_SETS, "insert")
    return isinstance(call.func, ast.Attribute) and call.func.attr in names


class Popped(ast.Call):
    """`xs.pop()` as the last element; what makes the list shorter stands behind it.

    On a record it is a method of that name.
    """


class Paused(ast.Tuple):
    """`breakpoint()`, with the names that may be known there.

    `when`: it stops where this holds, as in `if i == 3: breakpoint()`.
    """

    _fields = ("elts", "ctx", "when")
    when: ast.expr | None = None


class Updating(ast.Call):
    """A call after which names stand for what their arrays were updated to.

    The names are in the targets of its assignment, and `result` behind them, if that
    is named; `parts` are the arguments that are updated.
    """

    result: ast.Name | None = None
    parts: tuple[ast.expr, ...] = ()


class Replaced(ast.expr):
    """The `record` with a `value` in the place of its field or entry `key`.

    `is_new`: in Python the object itself has the value from then on.
    """

    _fields = ("record", "value")
    __match_args__ = ("record", "value")
    key: str
    is_field: bool
    is_new: bool

    def __init__(self, record: ast.Name, value: ast.expr) -> None:
        super().__init__()
        self.record, self.value = record, value


class Final(ast.Tuple):
    """The parameters that a function updates, as they are at its end.

    If it `has_result`, that stands behind them.
    """

    has_result: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Assign:
    """`target = value`: a name, an element of an array, or a tuple of targets."""

    target: ast.expr
    value: ast.expr
    node: ast.stmt
    annotation: Annotation = None


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """`if test: then else: orelse`, or an `assert`, which raises unless it holds."""

    test: ast.expr
    then: tuple[Statement, ...]
    orelse: tuple[Statement, ...]
    node: ast.If | ast.Assert


@dataclass(frozen=True, slots=True, eq=False)
class For:
    """`for target in iterable: body else: orelse`"""

    target: ast.expr
    iterable: ast.expr
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]
    node: ast.For


@dataclass(frozen=True, slots=True, eq=False)
class While:
    """`while test: body else: orelse`"""

    test: ast.expr
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]
    node: ast.While


@dataclass(frozen=True, slots=True, eq=False)
class Return:
    """`return value`"""

    value: ast.expr
    node: ast.stmt


@dataclass(frozen=True, slots=True, eq=False)
class Break:
    """`break`"""

    node: ast.stmt


@dataclass(frozen=True, slots=True, eq=False)
class Continue:
    """`continue`"""

    node: ast.stmt


@dataclass(frozen=True, slots=True, eq=False)
class Raise:
    """`raise error(message)`; without an `error`, an `AssertionError`."""

    error: ast.expr | None
    message: ast.expr | None
    node: ast.stmt


Loop = For | While
Statement = Assign | Branch | For | While | Return | Break | Continue | Raise


def goes_on(statements: tuple[Statement, ...]) -> bool:
    """Whether some path reaches the end of a block."""
    return not statements or _goes_on(statements[-1])


def _goes_on(statement: Statement) -> bool:
    match statement:
        case Return() | Break() | Continue() | Raise():
            return False
        case Branch(_, then, orelse):
            return goes_on(then) or goes_on(orelse)
        case For(_, _, body, orelse):
            return has_break(body) or goes_on(orelse)
        case While(test, body, orelse):
            ends = not is_endless(test) and goes_on(orelse)
            return ends or has_break(body)
        case Assign():
            return True
        case _:
            assert_never(statement)


def is_endless(test: ast.expr) -> bool:
    """Whether this is the test of `while True`."""
    return isinstance(test, ast.Constant) and bool(test.value)


def has_break(statements: tuple[Statement, ...]) -> bool:
    """Whether the loop around these statements may be left by one of their breaks."""
    for statement in statements:
        match statement:
            case Break():
                return True
            case Branch(_, then, orelse):
                if has_break(then) or has_break(orelse):
                    return True
            case For(orelse=orelse) | While(orelse=orelse):
                if has_break(orelse):
                    return True
    return False


def has_return(statements: tuple[Statement, ...]) -> bool:
    """Whether there is a `Return` among these statements, or inside of them."""
    for statement in statements:
        match statement:
            case Return():
                return True
            case Branch(_, then, orelse):
                if has_return(then) or has_return(orelse):
                    return True
            case For(body=body, orelse=orelse) | While(body=body, orelse=orelse):
                if has_return(body) or has_return(orelse):
                    return True
    return False


def target_names(target: ast.expr) -> Iterator[str]:
    """The names that an assignment to this target binds, in order.

    An assignment to an element binds the array's name to the updated array.
    """
    for part in target_parts(target):
        name = base(part)
        if name is not None:
            yield name.id


def names_in(node: ast.expr) -> set[str]:
    """All names in an expression, whatever binds them."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def target_parts(target: ast.expr) -> Iterator[ast.expr]:
    """The targets in a target that are no tuples, in order."""
    stack = [target]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Tuple | ast.List):
            stack.extend(reversed(node.elts))
        elif isinstance(node, ast.Starred):
            stack.append(node.value)
        else:
            yield node


def base(target: ast.expr) -> ast.Name | None:
    """The name `a` of a target `a` or `a[i][j]`."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target if isinstance(target, ast.Name) else None


def bound_names(target: ast.expr) -> list[str]:
    """The names in a target; an empty one for what is no name."""
    match target:
        case ast.Name(name):
            return [name]
        case ast.Tuple(parts) | ast.List(parts):
            return [name for part in parts for name in bound_names(part)]
        case ast.Starred(part):
            return bound_names(part)
        case _:
            return [""]
