"""The state of the translation of one function: where we are, and what is in scope."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from chadllvm.frontend.annotations import Annotation
from chadllvm.frontend.assigned import Assigned
from chadllvm.frontend.liveness import Liveness
from chadllvm.frontend.marks import Mark
from chadllvm.frontend.recovery import POISON, Broken, Mistakes
from chadllvm.frontend.scope import NotStatic, Scope, Surroundings
from chadllvm.frontend.signature import Parameter
from chadllvm.frontend.source import Function, Located, Source
from chadllvm.frontend.surface import Loop, Return
from chadllvm.ir.build import Builder
from chadllvm.ir.term import UNNAMED, Operand, Var, rename
from chadllvm.ir.types import Fun, Type
from chadllvm.ir.union import is_union
from chadllvm.support.diagnostic import NO_SPAN, Span

if TYPE_CHECKING:
    from chadllvm.frontend.delayed import Value
    from chadllvm.frontend.local import Captured, LocalFunction
    from chadllvm.frontend.updates import Updates
    from chadllvm.frontend.ways import Ends


def _captured() -> Captured:
    from chadllvm.frontend.local import Captured

    return Captured()


# Given a builder and the parameters, the results of a function.
Wrap = Callable[[Builder, Sequence[Var]], Sequence[Operand]]


class Callees(Protocol):
    """The other functions of the program, as a call needs them."""

    def parameters(
        self, function: Function | LocalFunction, statics: Collection[str]
    ) -> tuple[Parameter, ...]:
        """The parameters of a function, some of them static."""

    def updates(self, function: Function | LocalFunction) -> Updates:
        """Which parameters a function updates."""

    def assigned(self, source: Source, outside: Callable[[ast.expr], Any]) -> Assigned:
        """What other names there may be of objects whose fields a function assigns."""

    def itself(self, called: Function) -> Function:
        """What stands for a function that is called: a caller made from the same one,
        if there is one, as it is where a function is compiled with other options."""

    def placed(self, function: Function, types: Sequence[Type], span: Span) -> Function:
        """A function of the library that takes arrays, as it is called at a place:
        what happens in it happens there, for its users. Others are what they are."""

    def signature(self, name: str) -> Fun:
        """The type of a function that is there, or `TypeRuleError`."""

    def mark(self, name: str) -> Mark:
        """Which lists the result of a function holds (`marks.py`)."""

    def is_weak(self, name: str) -> bool:
        """Whether the result of a function is a number of Python's own (`width.py`)."""

    def size(self, name: str) -> int:
        """The number of bindings of a function, with those of the ones it calls."""

    def instance(
        self,
        function: Function | LocalFunction,
        types: Sequence[Type],
        span: Span,
        statics: Mapping[str, Any],
        weak: frozenset[int],
        marks: Mark | None = None,
    ) -> str:
        """The name of the function specialised to arguments of these types.

        `statics` are the values of its static parameters; the arguments at the
        positions in `weak` are Python's own numbers (`width.py`). The first arguments
        of a local function are its captures. `marks` say which lists they hold; without
        them lists are arrays there, and so is the result.
        """

    def wrapper(
        self,
        title: str,
        like: Sequence[Operand],
        body: Wrap,
        span: Span = NO_SPAN,
        key: Hashable = None,
    ) -> str:
        """The name of a new function for arguments like these.

        `body` emits what it does and gives its results. What has been made for a `key`
        is given again.
        """


class Settled(ast.expr):
    """An expression whose value is there already."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value

    def __deepcopy__(self, memo: object) -> Settled:
        return self


class UpdatedPart(NamedTuple):
    """An argument of a call, what it was updated to, and whether as a whole: then it is
    no array of which elements were."""

    part: ast.expr
    value: Operand
    is_whole: bool


@dataclass
class Elements:
    """What a list that begins empty holds.

    `is_sure`: something was appended to it, which does not follow from a guess of what
    it holds; `unsure` is where it begins if not; `is_likely`: what follows is the same.
    """

    elem: Type
    is_sure: bool
    unsure: ast.expr | None = None
    is_likely: bool = False


@dataclass
class Context:
    """One function being translated.

    `builder` and `scope` are those of the block we are in; `prelude` collects constants
    and the sizes of the `parameters` at the start of the function. `translate`
    translates an expression (the modules that handle parts of the language call each
    other through it), and `make` makes the array that it gives if it is not made yet
    (see `delayed`); `loop` translates a loop. `loops` are those that we are in,
    `returns` has a number for each `return` in a loop, and `tests_first` says which
    tests are not repeated (`stopping.py`). `promoted` remembers which variables of a
    loop became floats, so that a loop inside a loop learns it once.

    `elements` says what the lists of a name hold that begin empty (`lists.py`).

    `views` says of rows, and of slices that are made, what they are parts of.

    `matched` has the types of what is matched with cases, by the first of these.

    `codes` has the local functions, and `captures` what values have captured.

    `shapes` has the sizes of arrays whose sizes are older than they are, and so may be
    used wherever the array may; `lists` are the arrays that are lists in Python, and
    `marks` say it of rows and of parts of products too (`marks.py`); `items` are those
    that were taken from lists of arrays.

    `enclosing` are the blocks that this one is in, and `begun` how many there were
    where a list of a name began empty. `wanted` says of lists what they are to be
    where an annotation does, and `declared` of the result.

    `updated` are the parameters that the function updates for its caller. `lent` are
    the arguments of calls that update them, by parameter, and `updated_parts` what
    they were updated to (`lending.py`).

    `mistakes` are those found so far; with any, the function has no result.
    """

    source: Source
    callees: Callees
    surroundings: Surroundings
    liveness: Liveness
    builder: Builder
    prelude: Builder
    translate: Callable[[Context, ast.expr], Value]
    make: Callable[[Context, ast.expr, Value], Operand]
    loop: Callable[[Context, Loop], Ends]
    parameters: frozenset[Var]
    scope: Scope = field(default_factory=Scope)
    constants: dict[int, tuple[Any, Operand]] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    # What is computed of lists that begin empty.
    doubted: set[str] = field(default_factory=set)
    returns: dict[Return, int] = field(default_factory=dict)
    tests_first: dict[Loop, bool] = field(default_factory=dict)
    promoted: dict[Loop, dict[str, Type]] = field(default_factory=dict)
    shapes: dict[Var, tuple[Operand, ...]] = field(default_factory=dict)
    lists: set[object] = field(default_factory=set)
    marks: dict[object, Mark] = field(default_factory=dict)
    items: set[object] = field(default_factory=set)
    enclosing: list[tuple[Builder, Scope]] = field(default_factory=list)
    begun: dict[str, int] = field(default_factory=dict)
    wanted: dict[ast.expr, Type] = field(default_factory=dict)
    declared: Annotation = None
    views: dict[Var, Var] = field(default_factory=dict)
    elements: dict[str, Elements] = field(default_factory=dict)
    mistakes: Mistakes = field(default_factory=Mistakes)
    codes: dict[Hashable, LocalFunction] = field(default_factory=dict)
    captures: Captured = field(default_factory=_captured)
    matched: dict[ast.match_case, Type] = field(default_factory=dict)
    updated: tuple[str, ...] = ()
    lent: dict[ast.Call, Mapping[str, ast.expr]] = field(default_factory=dict)
    updated_parts: dict[ast.Call, list[UpdatedPart]] = field(default_factory=dict)

    @cached_property
    def assigned(self) -> Assigned:
        """What other names there may be of objects whose fields are assigned."""

        def outside(node: ast.expr) -> Any:
            try:
                return self.static(node)
            except NotStatic:
                return None

        return self.callees.assigned(self.source, outside)

    def span(self, node: Located) -> Span:
        return self.source.span(node)

    def at(self, node: Located) -> Builder:
        """The builder of this block, for bindings that come from `node`."""
        self.builder.span = self.source.span(node)
        return self.builder

    def value(self, node: ast.expr) -> Operand:
        """The operand that holds the value of an expression."""
        return self.make(self, node, self.lazy(node))

    def lazy(self, node: ast.expr) -> Value:
        """The value of an expression; an array need not be made yet."""
        value = self.of_any_member(node)
        if self.is_doubtful(value):
            raise POISON.error(self.span(node))
        return value

    def is_doubtful(self, value: object) -> bool:
        """Whether a wrong question may have told which member of a union this is."""
        is_one = isinstance(value, Var) and is_union(value.type)
        return is_one and self.scope.in_doubt

    def of_any_member(self, node: ast.expr) -> Value:
        """The same also where it is in doubt which member of a union it is."""
        if isinstance(node, Settled):
            return node.value
        if isinstance(node, Broken):
            raise POISON.error(self.span(node))
        return self.translate(self, node)

    @contextmanager
    def nested(self) -> Iterator[Builder]:
        """Translate into a block of its own, with a scope of its own."""
        outer = self.builder, self.scope
        self.enclosing.append(outer)
        self.builder, self.scope = self.builder.child(), Scope(self.scope)
        try:
            yield self.builder
        finally:
            self.builder, self.scope = outer
            self.enclosing.pop()

    def settled(self, node: ast.expr, value: Value) -> ast.expr:
        """An expression that stands for this value of `node`, computed already."""
        return ast.copy_location(Settled(value), node)

    def names(self) -> set[str]:
        """The names that an expression may use, here or somewhere in the function."""
        return self.liveness.locals | self.surroundings.names()

    def is_local(self, name: str) -> bool:
        return name in self.liveness.locals or self.scope.lookup(name) is not None

    def static(self, node: ast.expr) -> Any:
        """The object outside the function that a name stands for, or `NotStatic`."""
        return self.surroundings.resolve(node, self.is_local)

    def is_module(self, node: ast.expr) -> bool:
        """Whether an expression is the name of a module."""
        try:
            return isinstance(self.static(node), ModuleType)
        except NotStatic:
            return False

    def named(self, value: Operand, name: str, since: int) -> Operand:
        """Give the variable just bound the user's name.

        `since` is the number of bindings before the value was computed: a variable that
        is older has a name already. It stays the same variable: shapes, marks and
        whatever else is known by it, or holds it, know it as before.
        """
        bindings = self.builder.bindings
        if len(bindings) > since and bindings[-1].vars == (value,):
            assert isinstance(value, Var)
            if value.name == UNNAMED:
                rename(value, name)
        return value
