"""The open table of operations: what `Apply` applies.

A scalar primitive is one row, a `Prim`, and the machine instruction that computes it is
an `Instruction` of the loop language; an array combinator is one `ArrayOp` class with
five methods in pipeline order (`result_types`, `interpret`, `differentiate`,
`push_forward`, `lower`). All live in `ops/`; adding one touches one file there and
nothing else. Every table of scalar operations is derived from the registries: what an
operation costs, whether vectors and lanes may run it, what it is called in Python.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from chadllvm.ir.term import Lambda, Operand
from chadllvm.ir.types import F32, F64, Scalar, Type
from chadllvm.support.diagnostic import NO_SPAN, Span

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward
    from chadllvm.chad.transform import Chad, Rule
    from chadllvm.ir.build import Builder
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.loop_build import LoopBuilder
    from chadllvm.ir.loops import Atom
    from chadllvm.ir.lowering import Lowering
    from chadllvm.ir.term import Apply, Binding


class TypeRuleError(Exception):
    """An application that breaks the typing rule of its operation; says which."""


class ProgramError(Exception):
    """A run-time failure of the user's program, as the interpreter meets it.

    `kind` is the Python exception to raise (`IndexError`, `ValueError`, …); `span` is
    the place in the user's source, which the interpreter adds.
    """

    def __init__(self, kind: type[Exception], message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.span = NO_SPAN

    def at(self, span: Span) -> ProgramError:
        """The same failure with its place, unless the innermost one is known."""
        if self.span is NO_SPAN:
            self.span = span
        return self


class Op:
    """An operation."""

    name: str

    @property
    def can_fail(self) -> bool:
        """Whether running it may raise a program error."""
        return False

    @abstractmethod
    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        """The types of the results, or `TypeRuleError`."""


# Given a builder for the backpropagator's body, the arguments, the result and the
# result's cotangent: the cotangent of each argument (None where it is zero).
Transpose = Callable[
    ["Builder", Sequence[Operand], Operand, Operand], Sequence[Operand | None]
]


# Given the lowering context, the atoms of the arguments and the place: the result's
# atom.
PrimLowering = Callable[["LoopBuilder", Sequence["Atom"], Span], "Atom"]


class Speculation(IntEnum):
    """What happens if an instruction is run though nobody asked for its result."""

    # It may go wrong, or take long.
    NEVER = 0
    # The same, but for a second operand that is 1.
    BY_ONE = 1
    # No harm is done.
    SAFE = 2
    # No harm is done, and it takes a few cycles only.
    CHEAP = 3


@dataclass(frozen=True, slots=True)
class Instruction:
    """A machine instruction of the loop language.

    `params` and `result` have a letter for each type: f is f64 or f32, the same for
    all; d is f64, s is f32, i is i64, b is bool, p is a pointer, T is any type, that of
    the last operand. `cycles` is the throughput: the time from one result to the next
    where none waits for another. `latency` is the time from an operand to the result.
    `most` is a bound on the cycles, where these depend on the operands. `symbol` is the
    function that it calls, if it is a call. `has_vectors`: there is an instruction or a
    call for many numbers at a time. `is_double`: an f32 is widened for it.
    """

    params: str
    result: str
    cycles: int = 1
    latency: int = 1
    most: int = 0
    symbol: str = ""
    has_vectors: bool = True
    is_double: bool = False
    speculation: Speculation = Speculation.CHEAP

    @property
    def is_vector_call(self) -> bool:
        """Whether it is a call of which there are versions for vectors."""
        return self.has_vectors and bool(self.symbol)

    @property
    def is_cheap(self) -> bool:
        """Whether it may be computed for nothing: it neither traps nor takes long."""
        return self.speculation == Speculation.CHEAP

    @property
    def is_plain(self) -> bool:
        """Whether vectors compute it, by instructions or calls, and nothing traps."""
        return self.is_cheap or self.is_vector_call


@dataclass(frozen=True)
class Page:
    """What `docs/functions.md` says of a function; those that share one have a line.

    `names` are the names on the page, if these are not just those in Python.
    """

    domain: str
    edges: str = ""
    names: str = ""


@dataclass(frozen=True, eq=False)
class Prim(Op):
    """A scalar primitive as one row of a table.

    A row of f64 is one of f32 as well: its f64 parameters may all be f32, and then its
    f64 result is. Only conversions between the two, which name f32, are what they say.

    `meaning` computes it on Python numbers (raising `ProgramError` if `can_fail`);
    `transpose` is its transposed derivative (None: not differentiable, result
    inactive); `lowering` emits it in the loop language (None: the machine instruction
    of the same name); `selective`: its cotangent may reach only some of its arguments,
    depending on the data; `domain` gives, per float argument, an interval inside which
    the derivative is tested; `sure` is the same primitive where it is known not to
    fail. `is_strict`: a NaN gives a NaN, and zeros of both signs give the same, but for
    the sign of a zero. `check` is the primitive that debug mode asks of its arguments,
    or of these and its result. `names` are those of Python's functions that it is, on
    floats; `page` says more.
    """

    name: str
    params: tuple[Scalar, ...]
    result: Scalar
    meaning: Callable[..., Any]
    transpose: Transpose | None = None
    lowering: PrimLowering | None = None
    can_fail: bool = False
    selective: bool = False
    domain: tuple[tuple[float, float], ...] = field(default=())
    sure: Prim | None = None
    is_strict: bool = False
    check: str = ""
    names: tuple[str, ...] = ()
    page: Page | None = None

    @cached_property
    def cycles(self) -> int:
        """Its throughput: that of the instructions which it is lowered to."""
        from chadllvm.ir.loop_build import cycles_of

        return cycles_of(self)

    @cached_property
    def single_params(self) -> tuple[Scalar, ...] | None:
        """The parameters of the row's form for f32, if it has one."""
        if F64 not in self.params or F32 in (*self.params, self.result):
            return None
        return tuple(F32 if param == F64 else param for param in self.params)

    @property
    def changes_width(self) -> bool:
        """Whether it makes an f64 of an f32, or an f32 of an f64."""
        return {*self.params, self.result} == {F64, F32}

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        if tuple(args) == self.single_params and not bodies:
            return (F32 if self.result == F64 else self.result,)
        if tuple(args) != self.params or bodies:
            expected = ", ".join(map(str, self.params))
            found = ", ".join(map(str, args))
            raise TypeRuleError(f"{self.name} takes ({expected}), found ({found})")
        return (self.result,)


class ArrayOp(Op):
    """An array operation or combinator. Subclasses are frozen dataclasses.

    Attributes of an instance (such as the operator of a fold) are part of the
    operation; `attributes` and the class method `parse` give its textual form.
    """

    # Whether the body may be run less often than the first operand says.
    stops: bool = False

    # How many leading results of the body are carried or combined by the operation
    # itself; the results after these are collected into an array along the index.
    # None: the operation has no body that is run along an index.
    def carried(self, node: Apply) -> int | None:
        return None

    @property
    def attributes(self) -> str:
        """What stands in brackets behind the name in the textual form, e.g. `add`."""
        return ""

    @classmethod
    def parse(cls, attributes: str) -> ArrayOp:
        """The operation whose `attributes` are these."""
        return cls()

    @abstractmethod
    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        """The results; `run.call(body, args)` runs a body, `run.pay(n)` counts cost."""

    @abstractmethod
    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """The primal's bindings, and the backpropagator of the results asked for.

        `node` is the binding's expression.
        """

    @abstractmethod
    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        """Emit the operation, and bind the tangents of the results that have one."""

    @abstractmethod
    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        """Emit loops and bind the result variables to their representation."""


PRIMS: dict[str, Prim] = {}
INSTRUCTIONS: dict[str, Instruction] = {}
ARRAY_OPS: dict[str, type[ArrayOp]] = {}


def register(prim: Prim) -> Prim:
    """Enter a row into the table; a name may be entered once."""
    if prim.name in PRIMS or prim.name in ARRAY_OPS:
        raise ValueError(f"operation {prim.name} is registered twice")
    PRIMS[prim.name] = prim
    return prim


ArrayOpClass = TypeVar("ArrayOpClass", bound=type[ArrayOp])


def register_array_op(cls: ArrayOpClass) -> ArrayOpClass:
    """Class decorator: enter a combinator into the table."""
    if cls.name in PRIMS or cls.name in ARRAY_OPS:
        raise ValueError(f"operation {cls.name} is registered twice")
    ARRAY_OPS[cls.name] = cls
    return cls
