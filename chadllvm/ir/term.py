"""Terms of the core language: flat blocks in A-normal form.

A `Block` is a sequence of bindings and a tuple of results; blocks, functions and
bindings may have several values, so that a value and its backpropagator need no pair
around them. Operands are variables or literals. Only `Apply` (operations with bodies),
`If`, `Case` and `Lambda` nest blocks; passes loop over bindings and recurse on nesting
alone.

The node set below is closed: every pass matches all of it and ends in `assert_never`.
What `Apply` applies is open: see `ir/op.py` and `ops/`.

Nodes compare by identity; `ir/pretty.alpha_equal` compares structure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeVar, assert_never, dataclass_transform

import numpy as np

from chadllvm.ir.types import (
    BOOL,
    F32,
    F64,
    I64,
    Fun,
    Scalar,
    Sum,
    Type,
    is_float,
    to_single,
)
from chadllvm.ir.updated import Updated
from chadllvm.support.diagnostic import NO_SPAN, Span

if TYPE_CHECKING:
    from chadllvm.ir.op import Op

T = TypeVar("T")


@dataclass_transform(eq_default=False, frozen_default=True)
def node(cls: type[T]) -> type[T]:
    """Class decorator: a dataclass that compares by identity and is never changed.

    The type checker sees to the latter: `frozen` at run time would make construction,
    which is much of what passes do, several times slower.
    """
    return dataclass(slots=True, eq=False)(cls)


@node
class Var:
    """A variable, bound once; two are the same if they are the same object."""

    name: str
    type: Type


# The name of a variable that nobody has named.
UNNAMED = "t"


def rename(var: Var, name: str) -> None:
    """Give a variable of a program that is being written another name.

    Names are for readers: it is the same variable wherever it is used or known.
    """
    object.__setattr__(var, "name", name)


@dataclass(frozen=True, slots=True)
class Lit:
    """A scalar constant. Its type follows from the Python type of its value.

    A float is an f64 unless `is_single`: then it is an f32, and rounded to one already
    (see `literal`).
    """

    value: float | int | bool
    is_single: bool = False

    @property
    def type(self) -> Scalar:
        if isinstance(self.value, bool):
            return BOOL
        if isinstance(self.value, int):
            return I64
        return F32 if self.is_single else F64


Operand = Var | Lit


def literal(value: float | int | bool, ty: Type) -> Lit:
    """The constant of a scalar type that this number is."""
    if ty == BOOL:
        return Lit(bool(value))
    if ty == I64:
        return Lit(int(value))
    assert is_float(ty)
    return Lit(to_single(value), is_single=True) if ty == F32 else Lit(float(value))


def same_width(args: Iterable[Operand]) -> tuple[Operand, ...]:
    """Float literals as f32 if there is an f32 among the operands.

    So a rule need not know the width that its constants will be used at.
    """
    args = tuple(args)
    if all(arg.type != F32 for arg in args):
        return args
    return tuple(
        literal(arg.value, F32) if isinstance(arg, Lit) and arg.type == F64 else arg
        for arg in args
    )


@node
class Lambda:
    """A function of several parameters: a value, or the body of an operation."""

    params: tuple[Var, ...]
    body: Block

    @property
    def type(self) -> Fun:
        return Fun(tuple([p.type for p in self.params]), self.body.types)


@node
class Apply:
    """An operation of the open table applied to operands and bodies."""

    op: Op
    args: tuple[Operand, ...]
    bodies: tuple[Lambda, ...] = ()


@node
class Const:
    """An array captured from the surroundings of the user's function, read only."""

    value: np.ndarray


@node
class Tuple:
    """Construction of a product; `type` carries the field names."""

    args: tuple[Operand, ...]
    names: tuple[str, ...] = ()


@node
class Proj:
    """Component `index` of a product."""

    arg: Operand
    index: int


@node
class Inject:
    """A value of the sum `type`, of the constructor at `index`, that holds `arg`."""

    type: Sum
    index: int
    arg: Operand


@node
class Case:
    """The results of the branch of a sum's constructor, given what that one holds."""

    arg: Operand
    branches: tuple[Lambda, ...]


@node
class If:
    """The results of one of two blocks; only that block is run."""

    cond: Operand
    then: Block
    orelse: Block


class Mode(Enum):
    """How a function is differentiated: what a `Derivative` takes and gives.

    GRADIENT: the function's arguments; its results, then the gradient of the first of
        them, which is a float, by the parameters asked for.
    PULL_BACK: also, behind the arguments, cotangents of the results that hold reals;
        the results, then what these are pulled back to.
    PUSH_FORWARD: also, behind the arguments, tangents of the parameters asked for; the
        results, then the tangents of those that hold reals.
    """

    GRADIENT = "gradient"
    PULL_BACK = "pull_back"
    PUSH_FORWARD = "push_forward"


@dataclass(frozen=True, slots=True)
class Derivative:
    """A derivative of a top-level function by the parameters at these positions."""

    mode: Mode
    wrt: tuple[int, ...]


@node
class Call:
    """A call of a function value, or of a top-level function by its name.

    If a `derivative` is asked for, that is called: `driver/pipeline.py` sees to it
    before calls are inlined.
    """

    function: Var | str
    args: tuple[Operand, ...]
    derivative: Derivative | None = None


@node
class Open:
    """A new cell that holds zero; `dims` are the dimensions of an array's cell.

    For an array of boxes, `dims` is one such array. The cell has its dimensions, and
    those of the arrays that the boxes refer to.
    """

    content: Type
    dims: tuple[Operand, ...] = ()


@node
class View:
    """The part of an array's cell at `indices`, itself a cell.

    If the part is a box, it is the cell of the array that the box refers to.
    """

    cell: Operand
    indices: tuple[Operand, ...]


@node
class One:
    """Add `value` to the cell at `indices` (the whole cell if there are none)."""

    cell: Operand
    indices: tuple[Operand, ...]
    value: Operand


@node
class Close:
    """The sum in a cell, which nothing may be added to from here on."""

    cell: Operand


Expr = (
    Apply | Const | Tuple | Proj | Inject | Case | If | Lambda | Call
    | Open | View | One | Close
)  # fmt: skip


@node
class Binding:
    """`vars = expr`; an expression without a result (`One`) binds no variable."""

    vars: tuple[Var, ...]
    expr: Expr
    span: Span = NO_SPAN


@node
class Block:
    """Bindings in order, then the results."""

    bindings: tuple[Binding, ...]
    results: tuple[Operand, ...]

    @property
    def types(self) -> tuple[Type, ...]:
        return tuple([r.type for r in self.results])


@node
class Function:
    """A top-level function. Its body's free variables are its parameters only."""

    name: str
    params: tuple[Var, ...]
    body: Block
    span: Span = NO_SPAN


@node
class Program:
    """Functions by name; callees stand before their callers, `entry` is the last.

    Functions may call each other, and themselves: the order within such a group is
    free. `simplify/recursion.py` makes loops over a stack of them.

    `tape` are the arrays that keep what functions captured, as closure conversion made
    them; the passes behind it do not hand them on.

    `updated` says what the entry updates for callers in Python, who are given it by
    those who call machine code: no pass asks.
    """

    functions: tuple[Function, ...]
    tape: frozenset[Var] = frozenset()
    updated: Updated | None = None

    @property
    def entry(self) -> Function:
        return self.functions[-1]


# The functions below run for every binding in every pass: common nodes stand first.


def operands(expr: Expr) -> tuple[Operand, ...]:
    """The operands that an expression itself reads, not those of nested blocks."""
    match expr:
        case Apply():
            return expr.args
        case One():
            return (expr.cell, *expr.indices, expr.value)
        case Close(cell):
            return (cell,)
        case Open():
            return expr.dims
        case Call(function, args):
            return args if isinstance(function, str) else (function, *args)
        case Const() | Lambda():
            return ()
        case If():
            return (expr.cond,)
        case View(cell, indices):
            return (cell, *indices)
        case Tuple():
            return expr.args
        case Proj() | Inject() | Case():
            return (expr.arg,)
        case _:
            assert_never(expr)


Nested = tuple[tuple[tuple[Var, ...], Block], ...]


def nested(expr: Expr) -> Nested:
    """The nested blocks of an expression, each with the parameters it binds."""
    match expr:
        case Apply():
            bodies = expr.bodies
            return tuple([(b.params, b.body) for b in bodies]) if bodies else ()
        case One() | Close() | Open() | Call():
            return ()
        case Lambda():
            return ((expr.params, expr.body),)
        case If():
            return ((), expr.then), ((), expr.orelse)
        case Const() | View() | Tuple() | Proj() | Inject():
            return ()
        case Case():
            return tuple([(b.params, b.body) for b in expr.branches])
        case _:
            assert_never(expr)
