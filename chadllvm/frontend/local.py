"""Functions inside of functions: what a `def` or a `lambda` is, and what it captures.

    a = 2.0 * b                         a = mul(2.0, b)
    f = lambda x, k=c: a * x + k   →    f = {a: a, k=: c}    of the type `function f`

The value is the captures (`closures.py`): the variables of the enclosing function that
the body reads, and the defaults of parameters. Python captures variables and we capture
their values, which is the same as long as none of them is assigned again while the
function may still be called. Where a function is read by its name, and where what holds
one is, that is checked (`Captured`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from chadllvm.errors import closure_errors
from chadllvm.frontend.closures import (
    NOTHING,
    ClosureNames,
    code_of,
    holds_function,
)
from chadllvm.frontend.context import Context
from chadllvm.frontend.free import captured_names, default_values
from chadllvm.frontend.records import NO_DEFAULT
from chadllvm.frontend.recovery import POISON
from chadllvm.frontend.scope import Scope, Surroundings, Unusable, surely
from chadllvm.frontend.siblings import (
    Node,
    capture_in,
    default_name,
    definition_of,
    group_of,
    name_of,
    siblings_of,
)
from chadllvm.frontend.signature import (
    Parameter,
    check_keywords,
    local_annotation,
    with_variadic,
)
from chadllvm.frontend.source import Source
from chadllvm.frontend.width import product
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Operand, Tuple
from chadllvm.support.diagnostic import CompileError, Span


@dataclass(frozen=True, eq=False)
class LocalFunction:
    """The code of a local function: one for each place where one is defined.

    `captured` are the names of its captures, the defaults of parameters behind the
    variables; `missing` are the names that had no value when it was defined. `siblings`
    are the functions that it makes anew, one may be itself (`siblings.py`); `name` is
    the variable it is given to.
    """

    source: Source
    surroundings: Surroundings
    parameters: tuple[Parameter, ...]
    captured: tuple[str, ...]
    missing: dict[str, Unusable] = field(default_factory=dict)
    siblings: dict[str, LocalFunction] = field(default_factory=dict)
    name: str = ""

    @property
    def title(self) -> str:
        return self.source.name

    @property
    def __name__(self) -> str:
        return self.source.name

    def bind(self, cx: Context, captures: Sequence[Operand]) -> None:
        """Give the names that the body reads their values."""
        read = captured_names(self.source.definition)
        found = dict(zip(self.captured, captures, strict=True))
        for name in found.keys() & read:
            cx.scope.bind(name, found[name])
        for name, value in self.missing.items():
            cx.scope.bind(name, value)
        for name in sorted(self.siblings.keys() & read):
            cx.scope.bind(name, self._made_anew(cx.builder, name, found))

    def _made_anew(
        self, b: Builder, name: str, captures: Mapping[str, Operand]
    ) -> Operand:
        """One of the siblings, made of what this function has captured."""
        code = self.siblings[name]
        values = {
            n: self._made_anew(b, n, captures)
            if n in self.siblings
            else captures[capture_in(n, code.name, self.name)]
            for n in code.captured
        }
        return _closure(b, code, values)


def define(cx: Context, node: Node) -> Operand:
    """The value of a local function."""
    captured = _captured(cx, node)
    code = _code(cx, node, captured)
    values = {
        name: cx.value(default) if default is not None else _value(cx, node, name)
        for name, default in captured.names.items()
    }
    value = _closure(cx.at(node), code, values)
    cx.captures.note(cx, value, [n for n in values if not n.endswith("=")])
    cx.captures.merge(value, tuple(values.values()))
    return value


def note_siblings(cx: Context, node: Node) -> None:
    """Note for the functions that call this one that it has been assigned."""
    own = name_of(node)
    for name in group_of(node):
        value = cx.scope.lookup(name)
        if value is None or isinstance(value, Unusable):
            continue
        code = code_of(value.type)
        if isinstance(code, LocalFunction) and own in code.siblings:
            cx.captures.note_name(cx, value, own)


def _closure(
    b: Builder, code: LocalFunction, captures: Mapping[str, Operand]
) -> Operand:
    fields = captures or NOTHING
    names = ClosureNames(fields, code)
    return product(b, Tuple(tuple(fields.values()), names), code.title)


def _value(cx: Context, node: ast.expr, name: str) -> Operand:
    """What a variable that is captured stands for."""
    value = cx.scope.lookup(name)
    if isinstance(value, Unusable):
        raise value.error(cx.span(node))
    assert value is not None
    return value


@dataclass(frozen=True)
class _Captured:
    """The names of captures, with the expressions of defaults, and those missing."""

    names: dict[str, ast.expr | None] = field(default_factory=dict)
    missing: dict[str, Unusable] = field(default_factory=dict)


def _captured(cx: Context, node: Node) -> _Captured:
    """What a local function captures: what it reads, and what its siblings read."""
    siblings, group = siblings_of(node), group_of(node)
    definition, own = definition_of(node), name_of(node)
    read = captured_names(definition)
    for sibling in siblings.values():
        read |= captured_names(definition_of(sibling))
    found = _Captured()
    for name in sorted(read - siblings.keys()):
        if name in group and _stands_before(group, name, own):
            found.names[name] = None
        elif cx.is_local(name):
            _enter(cx, node, name, found)
    for name, default in default_values(definition.args):
        found.names[default_name(name)] = default
    for owner, sibling in siblings.items():
        if sibling is not node:
            for name, default in default_values(definition_of(sibling).args):
                found.names[default_name(name, owner)] = default
    return found


def _stands_before(group: Mapping[str, Node], name: str, own: str) -> bool:
    order = list(group)
    return order.index(name) < order.index(own)


def _enter(cx: Context, node: Node, name: str, found: _Captured) -> None:
    """Enter a variable of the enclosing function, which may have no value here."""
    value = cx.scope.lookup(name)
    if value is POISON or cx.is_doubtful(value):
        raise POISON.error(cx.span(node))
    if isinstance(value, Unusable):
        found.missing[name] = surely(value)
    elif value is not None:
        found.names[name] = None
    else:
        title, line = definition_of(node).name, cx.span(node).line
        found.missing[name] = Unusable(partial(_defined_later, name, title, line))


def _defined_later(name: str, function: str, line: int, span: Span) -> CompileError:
    return closure_errors.captured_too_early(span, name, function, line)


def _code(cx: Context, node: Node, captured: _Captured) -> LocalFunction:
    """The code of a function for these captures, with that of its siblings."""
    key = id(node), tuple(captured.names)
    code = cx.codes.get(key)
    if code is None:
        code = cx.codes[key] = _new_code(cx, node, captured)
        for name, sibling in siblings_of(node).items():
            code.siblings[name] = _code(cx, sibling, _captured(cx, sibling))
    return code


def _new_code(cx: Context, node: Node, captured: _Captured) -> LocalFunction:
    outer, definition = cx.source, definition_of(node)
    if definition.decorator_list:
        raise closure_errors.decorated(outer.span(definition.decorator_list[0]))
    source = replace(outer, definition=definition, is_local=True)
    return LocalFunction(
        source,
        cx.surroundings,
        _parameters(source),
        tuple(captured.names),
        captured.missing,
        name=name_of(node),
    )


def _parameters(source: Source) -> tuple[Parameter, ...]:
    arguments = source.definition.args
    check_keywords(source)
    given = {name for name, _ in default_values(arguments)}
    nodes = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return with_variadic(
        source,
        [
            Parameter(
                node.arg,
                local_annotation(source, node.annotation) if node.annotation else None,
                None if node.arg in given else NO_DEFAULT,
                source.span(node),
                node in arguments.kwonlyargs,
            )
            for node in nodes
        ],
    )


# For each variable that is captured, the assignment that gave it the value.
Variables = dict[str, object]

# Stands for an assignment that has been overtaken by another one.
_OVERTAKEN = object()


class Captured:
    """Which variables' values are captured by what, and which assignments gave them.

    A value that is or holds functions has the captures of all functions that were read
    or made while it was computed: these are in the `log`.
    """

    def __init__(self) -> None:
        self._of: dict[Operand, Variables] = {}
        self._log: list[Operand] = []

    def note(self, cx: Context, value: Operand, names: Iterable[str]) -> None:
        """Note what a new function captures."""
        self._of[value] = {name: cx.scope.assignment(name) for name in names}
        self._log.append(value)

    def note_name(self, cx: Context, value: Operand, name: str) -> None:
        """Note that a function reads one more variable."""
        self._add(value, {name: cx.scope.assignment(name)})

    @property
    def now(self) -> int:
        return len(self._log)

    def hand_on(self, value: Operand, since: int) -> None:
        """Give a value that holds functions the captures of all that was read."""
        if holds_function(value.type):
            self.merge(value, self._log[since:])

    def merge(self, value: Operand, others: Sequence[Operand | None]) -> None:
        """Give a value the captures of others."""
        for other in others:
            if other is not None and other in self._of:
                self._add(value, self._of[other])

    def _add(self, value: Operand, variables: Variables) -> None:
        own = self._of.setdefault(value, {})
        for name, assignment in variables.items():
            same = own.get(name, assignment) is assignment
            own[name] = assignment if same else _OVERTAKEN

    def leave(
        self, value: Operand, other: Operand | None, inner: Scope, outer: Scope
    ) -> None:
        """Give a value the captures of another one, at the end of a block.

        What has not been assigned again in the block is what it is behind it.
        """
        if other is None or other not in self._of:
            return
        self._add(
            value,
            {
                name: outer.assignment(name)
                if inner.assignment(name) is assignment
                else _OVERTAKEN
                for name, assignment in self._of[other].items()
            },
        )

    def names(self, value: Operand) -> Iterable[str]:
        """The variables that a value has captured."""
        return self._of.get(value, ())

    def read(
        self, cx: Context, value: Operand, fail: Callable[[str], CompileError]
    ) -> None:
        """Check that what a value has captured is as it was."""
        variables = self._of.get(value)
        if variables is None:
            return
        self._log.append(value)
        for name, assignment in variables.items():
            if cx.scope.assignment(name) is not assignment:
                raise fail(name)
