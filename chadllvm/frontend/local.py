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
from dataclasses import dataclass, field
from functools import partial

from chadllvm.diagnostic import CompileError, Span
from chadllvm.frontend import closure_errors, syntax_errors
from chadllvm.frontend.closures import NOTHING, ClosureNames, holds_function
from chadllvm.frontend.context import Context
from chadllvm.frontend.free import captured_names, default_values
from chadllvm.frontend.records import NO_DEFAULT
from chadllvm.frontend.recovery import POISON
from chadllvm.frontend.scope import Scope, Surroundings, Unusable
from chadllvm.frontend.signature import Parameter, local_annotation
from chadllvm.frontend.source import Source, lambda_definition
from chadllvm.frontend.surface import Defined
from chadllvm.frontend.width import product
from chadllvm.ir.term import Operand, Tuple


@dataclass(frozen=True, eq=False)
class LocalFunction:
    """The code of a local function: one for each place where one is defined.

    `captured` are the names of its captures, the defaults of parameters behind the
    variables; `missing` are the names that had no value when it was defined.
    """

    source: Source
    surroundings: Surroundings
    parameters: tuple[Parameter, ...]
    captured: tuple[str, ...]
    missing: dict[str, Unusable] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.source.name

    @property
    def __name__(self) -> str:
        return self.source.name

    def default(self, parameter: str) -> str:
        """The name of the capture that is a parameter's default."""
        return f"{parameter}="


def define(cx: Context, node: ast.Lambda | Defined) -> Operand:
    """The value of a local function."""
    definition = (
        node.definition if isinstance(node, Defined) else lambda_definition(node)
    )
    values, missing = _captures(cx, definition, node)
    for name, default in default_values(definition.args):
        values[f"{name}="] = cx.value(default)
    key = id(node), tuple(values)
    code = cx.codes.get(key)
    if code is None:
        code = _code(cx, definition, node, tuple(values), missing)
        cx.codes[key] = code
    fields: Mapping[str, Operand] = values or NOTHING
    names = ClosureNames(fields, code)
    value = product(cx.at(node), Tuple(tuple(fields.values()), names), code.title)
    cx.captures.note(cx, value, [n for n in values if not n.endswith("=")])
    cx.captures.merge(value, tuple(values.values()))
    return value


def _captures(
    cx: Context, definition: ast.FunctionDef, node: ast.expr
) -> tuple[dict[str, Operand], dict[str, Unusable]]:
    """The variables of the enclosing function that a local one reads."""
    values: dict[str, Operand] = {}
    missing: dict[str, Unusable] = {}
    for name in sorted(captured_names(definition)):
        if not cx.is_local(name):
            continue
        value = cx.scope.lookup(name)
        if value is POISON:
            raise POISON.error(cx.span(node))
        if isinstance(value, Unusable):
            missing[name] = value
        elif value is not None:
            values[name] = value
        elif name == definition.name:
            missing[name] = Unusable(partial(_recursion, name))
        else:
            missing[name] = Unusable(
                partial(_defined_later, name, definition.name, cx.span(node).line)
            )
    return values, missing


def _recursion(name: str, span: Span) -> CompileError:
    return closure_errors.local_recursion(span, name)


def _defined_later(name: str, function: str, line: int, span: Span) -> CompileError:
    return closure_errors.captured_too_early(span, name, function, line)


def _code(
    cx: Context,
    definition: ast.FunctionDef,
    node: ast.expr,
    captured: tuple[str, ...],
    missing: dict[str, Unusable],
) -> LocalFunction:
    outer = cx.source
    if definition.decorator_list:
        raise closure_errors.decorated(outer.span(definition.decorator_list[0]))
    source = Source(
        outer.function,
        definition,
        outer.file,
        outer.first_line,
        outer.lines,
        outer.wrapped,
        is_local=True,
    )
    parameters = _parameters(source)
    return LocalFunction(source, cx.surroundings, parameters, captured, missing)


def _parameters(source: Source) -> tuple[Parameter, ...]:
    arguments = source.definition.args
    for extra in (arguments.vararg, arguments.kwarg):
        if extra is not None:
            raise syntax_errors.starred(source.span(extra))
    given = {name for name, _ in default_values(arguments)}
    nodes = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return tuple(
        Parameter(
            node.arg,
            local_annotation(source, node.annotation) if node.annotation else None,
            None if node.arg in given else NO_DEFAULT,
            source.span(node),
            node in arguments.kwonlyargs,
        )
        for node in nodes
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
