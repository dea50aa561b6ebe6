"""Terms of the core language: flat blocks in A-normal form.

A `Block` is a sequence of bindings and a tuple of results; blocks, functions and bindings
may have several values, so that a value and its backpropagator need no pair around them.
Operands are variables or literals. Only `Apply` (operations with bodies), `If` and
`Lambda` nest blocks; passes loop over bindings and recurse on nesting alone.

The node set below is closed: every pass matches all of it and ends in `assert_never`.
What `Apply` applies is open: see `ir/op.py` and `ops/`.

Nodes compare by identity; `ir/pretty.alpha_equal` compares structure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

import numpy as np

from chadllvm.diagnostic import NO_SPAN, Span
from chadllvm.ir.types import BOOL, F64, I64, Fun, Scalar, Type

if TYPE_CHECKING:
    from chadllvm.ir.op import Op


@dataclass(frozen=True, slots=True, eq=False)
class Var:
    """A variable, bound once; two variables are the same if they are the same object."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Lit:
    """A scalar constant. Its type follows from the Python type of its value."""

    value: float | int | bool

    @property
    def type(self) -> Scalar:
        if isinstance(self.value, bool):
            return BOOL
        return I64 if isinstance(self.value, int) else F64


Operand = Var | Lit


@dataclass(frozen=True, slots=True, eq=False)
class Lambda:
    """A function of several parameters: a value, or the body of an operation."""

    params: tuple[Var, ...]
    body: Block

    @property
    def type(self) -> Fun:
        return Fun(tuple(p.type for p in self.params), self.body.types)


@dataclass(frozen=True, slots=True, eq=False)
class Apply:
    """An operation of the open table applied to operands and bodies."""

    op: Op
    args: tuple[Operand, ...]
    bodies: tuple[Lambda, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """An array captured from the surroundings of the user's function, read only."""

    value: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Tuple:
    """Construction of a product; `type` carries the field names."""

    args: tuple[Operand, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Proj:
    """Component `index` of a product."""

    arg: Operand
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class If:
    """The results of one of two blocks; only that block is run."""

    cond: Operand
    then: Block
    orelse: Block


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A call of a function value, or of a top-level function by its name."""

    function: Var | str
    args: tuple[Operand, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Open:
    """A new cell that holds zero; `dims` are the dimensions of an array's cell."""

    content: Type
    dims: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The part of an array's cell at `indices`, itself a cell."""

    cell: Operand
    indices: tuple[Operand, ...]


@dataclass(frozen=True, slots=True, eq=False)
class One:
    """Add `value` to the cell at `indices` (the whole cell if there are none)."""

    cell: Operand
    indices: tuple[Operand, ...]
    value: Operand


@dataclass(frozen=True, slots=True, eq=False)
class Close:
    """The sum in a cell, which nothing may be added to from here on."""

    cell: Operand


Expr = (
    Apply | Const | Tuple | Proj | If | Lambda | Call | Open | View | One | Close
)


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """`vars = expr`; an expression without a result (`One`) binds no variable."""

    vars: tuple[Var, ...]
    expr: Expr
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Bindings in order, then the results."""

    bindings: tuple[Binding, ...]
    results: tuple[Operand, ...]

    @property
    def types(self) -> tuple[Type, ...]:
        return tuple(r.type for r in self.results)


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A top-level function. Its body's free variables are its parameters only."""

    name: str
    params: tuple[Var, ...]
    body: Block
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Functions by name; callees stand before their callers, `entry` is the last."""

    functions: tuple[Function, ...]

    @property
    def entry(self) -> Function:
        return self.functions[-1]


def operands(expr: Expr) -> tuple[Operand, ...]:
    """The operands that an expression itself reads, not those of nested blocks."""
    match expr:
        case Apply(args=args) | Tuple(args=args):
            return args
        case Const() | Lambda():
            return ()
        case Proj(arg, _):
            return (arg,)
        case If(cond=cond):
            return (cond,)
        case Call(function, args):
            return args if isinstance(function, str) else (function, *args)
        case Open(_, dims):
            return dims
        case View(cell, indices):
            return (cell, *indices)
        case One(cell, indices, value):
            return (cell, *indices, value)
        case Close(cell):
            return (cell,)
        case _:
            assert_never(expr)


def nested(expr: Expr) -> Iterator[tuple[tuple[Var, ...], Block]]:
    """The nested blocks of an expression, each with the parameters it binds."""
    match expr:
        case Apply(bodies=bodies):
            for body in bodies:
                yield body.params, body.body
        case Lambda(params, body):
            yield params, body
        case If(_, then, orelse):
            yield (), then
            yield (), orelse
        case (
            Const() | Tuple() | Proj() | Call() | Open() | View() | One() | Close()
        ):
            return
        case _:
            assert_never(expr)
