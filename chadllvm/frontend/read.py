"""Python's statements → the surface form: what is not in the language stops here.

    if done:              if done:
        return a              return a
    x = f(a)        →     else:
    return x                  x = f(a)
                              return x

The statements after an `if` that is left by `return`, `break` or `continue` on some
paths move to the path that goes on, if it is only one; if there are several, they stay
where they are, for they would have to be repeated. Code that cannot be reached is not
read.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import assert_never

from chadllvm.errors import flow_errors, statement_errors, update_errors
from chadllvm.errors.update_errors import CHANGING
from chadllvm.frontend.annotations import Annotation
from chadllvm.frontend.assigned import Split, split
from chadllvm.frontend.called_first import HELD, CalledFirst
from chadllvm.frontend.exits import Exits
from chadllvm.frontend.fixed_lists import fixed, fixed_lists
from chadllvm.frontend.keys import Entries, Position, written_out
from chadllvm.frontend.match_statement import (
    Matched,
    Uncovered,
    without_match,
)
from chadllvm.frontend.pausing import breakpoint_of
from chadllvm.frontend.recovery import Mistakes, broken, broken_return
from chadllvm.frontend.signature import local_annotation
from chadllvm.frontend.source import Source
from chadllvm.frontend.surface import (
    ALL_CHANGING,
    Assign,
    Augmented,
    Branch,
    Break,
    Changed,
    Continue,
    Defined,
    Final,
    For,
    NamedLambda,
    Popped,
    Raise,
    Return,
    Statement,
    Updating,
    While,
    base,
    goes_on,
    has_break,
    has_return,
    is_endless,
    may_be_own,
)
from chadllvm.frontend.updates import Analysis, Updates
from chadllvm.support.diagnostic import CompileError

# Holds the None that `print` returns.
_NOTHING = "pass"


def read_body(
    source: Source,
    mistakes: Mistakes,
    analysis: Analysis,
    unrolled: Mapping[Position, Entries] = MappingProxyType({}),
) -> tuple[Statement, ...]:
    """The statements of a function, which return a value on every path.

    What cannot be read is entered in `mistakes` and stands as broken in the result.
    `analysis` tells what functions update; `unrolled` are loops to be written out.
    """
    definition = source.definition
    reader = _Reader(source, mistakes, analysis)
    statements = reader.block(without_match(written_out(definition.body, unrolled)))
    if not goes_on(statements):
        return statements
    if reader.gives_updated:
        return (*statements, reader.end(definition))
    if reader.own.only_acts:
        return (*statements, reader.nothing(definition))
    last = _match_at_end(statements)
    if last is not None:
        test, node = last
        result = ast.copy_location(Uncovered(test.cases, is_end=True), test)
        return (*statements, Return(result, node))
    if not mistakes:
        mistakes.add(_no_result(source, statements, reader.own))
    return (*statements, broken_return(definition))


def _match_at_end(
    statements: Sequence[Statement],
) -> tuple[Uncovered, ast.stmt] | None:
    """The `match` that must be left by no case if the end of a block is reached.

    Types will tell whether there is a value that none of its cases takes.
    """
    match [*statements]:
        case [*_, Branch(Uncovered() as test, node=node)]:
            return test, node
        case [*_, Branch(_, then, orelse)]:
            ends = [block for block in (then, orelse) if goes_on(block)]
            found = [_match_at_end(block) for block in ends]
            return None if None in found else found[-1]
        case _:
            return None


def _no_result(
    source: Source, statements: Sequence[Statement], own: Updates
) -> CompileError:
    """What to say of a function some of whose paths return nothing."""
    span = source.span(source.definition)
    match statements:
        case [*_, Branch(node=node) as branch] if has_return((branch,)):
            word = "`match`" if isinstance(branch.test, Matched) else "`if`"
            return flow_errors.missing_return(source.span(node), word)
    if any(isinstance(node, ast.Return) for node in ast.walk(source.definition)):
        return flow_errors.missing_return(span, "function")
    for name in sorted(own.bound):
        return update_errors.told_to_update(span, name, True)
    return flow_errors.returns_nothing(span, "there is no `return` in this function")


class _Reader:
    """Reads blocks; `exits`: see `exits.py`."""

    def __init__(self, source: Source, mistakes: Mistakes, analysis: Analysis) -> None:
        self.source = source
        self.mistakes = mistakes
        self.analysis = analysis
        self.own: Updates = analysis.of(source)
        calls = (n for n in ast.walk(source.definition) if isinstance(n, ast.Call))
        self._has_changes = any(self._names_changed(n, True) is not None for n in calls)
        self.exits = Exits()
        updated = partial(analysis.arguments, source)
        self._fixed = fixed_lists(source.definition, updated)

    @property
    def local(self) -> set[str]:
        """The names that are the function's own, not those of what is outside."""
        return self.analysis.local_names(self.source.definition)

    @property
    def gives_updated(self) -> bool:
        """Whether what it updates is all that the function gives."""
        return bool(self.own.names) and not self.own.has_result

    def end(self, node: ast.stmt, result: ast.expr | None = None) -> Return:
        """What the function gives here: what it has updated, and its result."""
        names = [ast.Name(name, ast.Load()) for name in self.own.names]
        parts = [ast.copy_location(name, node) for name in names]
        final = Final([*parts, *([result] if result else [])], ast.Load())
        final.has_result = result is not None
        return Return(ast.copy_location(final, result or node), node)

    def block(self, nodes: Sequence[ast.stmt]) -> tuple[Statement, ...]:
        """The statements of a block, up to where no path goes on."""
        statements: list[Statement] = []
        for position, node in enumerate(nodes):
            rest = nodes[position + 1 :]
            if (paused := breakpoint_of(self.source, node)) is not None:
                statements.append(paused)
                continue
            first, node = self._without_calls(node)
            statements += first
            if isinstance(node, ast.If) and rest and self.exits.paths(node) == 1:
                statements.append(self._branch(node, rest))
                break
            try:
                statements += self._statement(node)
            except CompileError as error:
                self.mistakes.add(error)
                statements += broken(node)
            if not goes_on(tuple(statements[-1:])):
                break
        return _grouped(statements)

    def _branch(self, node: ast.If, rest: Sequence[ast.stmt] = ()) -> Branch:
        """A branch; `rest` follows on the one path that goes on."""
        then, orelse = (
            self.block([*nodes, *rest] if self.exits.goes_on(nodes) else nodes)
            for nodes in (node.body, node.orelse)
        )
        return Branch(node.test, then, orelse, node)

    def _statement(self, node: ast.stmt) -> tuple[Statement, ...]:
        match node:
            case ast.Assign(targets, value):
                return self._assignments(targets, value, node)
            case ast.AugAssign(target, op, value):
                return self._augmented(target, op, value, node)
            case ast.AnnAssign():
                return self._annotated(node)
            case ast.If():
                return (self._branch(node),)
            case ast.For() | ast.While():
                return self._loop(node)
            case ast.Break():
                return (Break(node),)
            case ast.Continue():
                return (Continue(node),)
            case ast.Raise():
                return (self._raise(node),)
            case ast.Assert(test, message):
                failing = ast.copy_location(ast.UnaryOp(ast.Not(), test), test)
                return (Branch(failing, (Raise(None, message, node),), (), node),)
            case ast.Return(value):
                if self.gives_updated:
                    return (self.end(node),)
                if value is None and self.own.only_acts:
                    return (self.nothing(node),)
                if value is None:
                    raise flow_errors.returns_nothing(self.source.span(node))
                return self._returned(value, node)
            case ast.Expr(ast.Call() as call) if (
                changed := _changed(call)
            ) is not None and not may_be_own(changed):
                return (Assign(changed.target, changed, node),)
            case ast.Expr(ast.Call() as call) if self._updated(call):
                return (self._call(node, call),)
            case ast.Expr(ast.Call() as call) if self.analysis.only_acts(
                self.source, call
            ):
                nothing = ast.copy_location(ast.Name(_NOTHING, ast.Store()), call)
                return (Assign(nothing, call, node),)
            case ast.Expr(ast.Call() as call) if (
                changed := _changed(call)
            ) is not None:
                return (Assign(changed.target, changed, node),)
            case ast.Delete([ast.Subscript(ast.Name() as owner, index)]) if not (
                isinstance(index, ast.Slice | ast.Tuple)
            ):
                return (self._shortened(owner, index, node),)
            case ast.FunctionDef(name):
                target = ast.copy_location(ast.Name(name, ast.Store()), node)
                value = ast.copy_location(Defined(node), node)
                return (Assign(target, value, node),)
            case ast.Pass() | ast.Expr(ast.Constant()):
                return ()
            case _:
                raise self._unsupported(node)

    def nothing(self, node: ast.stmt) -> Return:
        """The None that a function gives which only prints or raises."""
        return Return(ast.copy_location(ast.Constant(None), node), node)

    def _returned(self, value: ast.expr, node: ast.Return) -> tuple[Statement, ...]:
        if self.own.names:
            return (self.end(node, value),)
        return (Return(value, node),)

    def _updated(
        self, value: ast.expr | None, *, perhaps: bool = True
    ) -> list[ast.expr]:
        """The arguments that are updated, if this is a call that updates some."""
        if not isinstance(value, ast.Call) or isinstance(value, Updating):
            return []
        return [*self.analysis.arguments(self.source, value, perhaps=perhaps)]

    def _without_calls(self, node: ast.stmt) -> tuple[list[Statement], ast.stmt]:
        """A statement without the calls in it that change something, and these."""
        if not self._has_changes:
            return [], node
        first = CalledFirst(
            self._names_changed, self._names_assigned, partial(self._called, node)
        )
        new = first.statement(node)
        return first.made, new

    def _names_changed(self, node: ast.expr, perhaps: bool) -> list[str] | None:
        """The names of what a call changes, and gives something besides; `perhaps`: of
        what a parameter that is called may change, too."""
        if (popped := _popped(node)) is not None:
            return [popped.target.id]
        parts = self._updated(node, perhaps=perhaps)
        names = [name.id for part in parts if (name := base(part)) is not None]
        return names if parts else None

    def _names_assigned(self, node: ast.expr) -> set[str]:
        """The variables that a call of a local function assigns."""
        if not isinstance(node, ast.Call):
            return set()
        return self.analysis.reassigned(self.source, node)

    def _called(
        self, node: ast.stmt, call: ast.expr, result: ast.Name
    ) -> Sequence[Statement]:
        """Such a call, whose result has a name then."""
        shorter = _popped(call)
        if shorter is None:
            return [self._call(node, call, result)]
        last = Popped(shorter.func, shorter.args, shorter.keywords)
        last = ast.copy_location(last, call)
        return [Assign(result, last, node), Assign(shorter.target, shorter, node)]

    def _call(
        self, node: ast.stmt, call: ast.expr, result: ast.Name | None = None
    ) -> Assign:
        """A call that updates arguments, and gives a `result` besides."""
        assert isinstance(call, ast.Call)
        made = Updating(call.func, call.args, call.keywords)
        made.result, made.parts = result, tuple(self._updated(call))
        own = self.analysis.local_names(self.source.definition)
        names = (base(part) for part in made.parts)
        kept = [name.id for name in names if name is not None and name.id in own]
        found = [ast.Name(name, ast.Store()) for name in kept]
        targets = [ast.copy_location(name, call) for name in found]
        target = ast.Tuple([*targets, *([result] if result else [])], ast.Store())
        return Assign(
            ast.copy_location(target, call), ast.copy_location(made, call), node
        )

    def _shortened(self, owner: ast.Name, index: ast.expr, node: ast.Delete) -> Assign:
        """`del xs[k]` does what `xs.pop(k)` does."""
        load = ast.copy_location(ast.Name(owner.id, ast.Load()), owner)
        method = ast.copy_location(ast.Attribute(load, "pop", ast.Load()), owner)
        changed = _changed(ast.copy_location(ast.Call(method, [index], []), node))
        assert changed is not None
        return Assign(changed.target, changed, node)

    def _assignments(
        self, targets: Sequence[ast.expr], value: ast.expr, node: ast.stmt
    ) -> tuple[Statement, ...]:
        """`a = b = value`: the value is computed once, then named again."""
        parts = [split(target, self.local) for target in targets]
        if any(part.whole or part.inside for part in parts):
            return self._with_parts(parts, node, value)
        for target in targets:
            self._check_target(target)
        if isinstance(value, ast.Constant):
            return tuple(Assign(target, value, node) for target in targets)
        first, *others = targets
        if not others:
            value = fixed(first, value, self._fixed)
        if others and not _are_distinct_names(targets):
            first = ast.copy_location(ast.Name(HELD, ast.Store()), value)
            others = [*targets]
        again = [Assign(target, _load(first), node) for target in others]
        return (Assign(first, value, node), *again)

    def _with_parts(
        self,
        parts: Sequence[Split],
        node: ast.stmt,
        value: ast.expr,
        op: ast.operator | None = None,
        annotation: Annotation = None,
    ) -> tuple[Statement, ...]:
        """An assignment to fields or entries: to variables that stand for them."""
        before = [part for found in parts for part in found.inside]
        if op is not None:
            before += [part for found in parts for part in found.whole]
        first: list[Statement] = []
        for part in before:
            first.append(Assign(part.variable(ast.Store()), _load(part.node), node))
        targets = [found.target for found in parts]
        if op is not None:
            first += self._augmented(targets[0], op, value, node)
        elif annotation is not None:
            first.append(Assign(targets[0], value, node, annotation))
        else:
            first += self._assignments(targets, value, node)
        for found in parts:
            for part in (*found.whole, *found.inside):
                new = part.variable(ast.Load())
                first.append(part.replaced(new, node, is_new=part in found.whole))
        return tuple(first)

    def _augmented(
        self, target: ast.expr, op: ast.operator, value: ast.expr, node: ast.stmt
    ) -> tuple[Statement, ...]:
        part = split(target, self.local)
        if part.whole or part.inside:
            return self._with_parts([part], node, value, op)
        self._check_target(target)
        operation = ast.copy_location(Augmented(_load(target), op, value), node)
        return (Assign(target, operation, node),)

    def _annotated(self, node: ast.AnnAssign) -> tuple[Statement, ...]:
        part = split(node.target, self.local)
        if node.value is not None and (part.whole or part.inside):
            annotation = local_annotation(self.source, node.annotation)
            return self._with_parts([part], node, node.value, annotation=annotation)
        self._check_target(node.target)
        if node.value is None:
            return ()
        annotation = local_annotation(self.source, node.annotation)
        return (Assign(node.target, node.value, node, annotation),)

    def _loop(self, node: ast.For | ast.While) -> tuple[Statement, ...]:
        """A loop; without a `break`, what stands in its `else` follows it."""
        endless = isinstance(node, ast.While) and is_endless(node.test)
        body = self.block(node.body)
        after = () if endless else self.block(node.orelse)
        orelse = after if has_break(body) else ()
        after = () if has_break(body) else after
        match node:
            case ast.While():
                return (While(node.test, body, orelse, node), *after)
            case ast.For():
                self._check_target(node.target, updates=False)
                return (For(node.target, node.iter, body, orelse, node), *after)
            case _:
                assert_never(node)

    def _raise(self, node: ast.Raise) -> Raise:
        """`raise error` or `raise error(message)`"""
        match node:
            case ast.Raise(ast.Call(error, [], []), None):
                return Raise(error, None, node)
            case ast.Raise(ast.Call(error, [message], []), None):
                return Raise(error, message, node)
            case ast.Raise(ast.Name() | ast.Attribute() as error, None):
                return Raise(error, None, node)
            case _:
                raise statement_errors.unusual_raise(self.source.span(node))

    def _check_target(self, target: ast.expr, *, updates: bool = True) -> None:
        """Refuse what cannot be assigned; `updates`: elements of arrays can be."""
        span = self.source.span(target)
        match target:
            case ast.Name():
                return
            case ast.Subscript() if updates and base(target) is not None:
                return
            case ast.Tuple(elements) | ast.List(elements):
                for element in elements:
                    self._check_target(element, updates=updates)
            case ast.Starred(rest):
                self._check_target(rest, updates=updates)
            case ast.Attribute():
                raise update_errors.attribute_update(span)
            case _:
                raise update_errors.element_update(span)

    def _unsupported(self, node: ast.stmt) -> CompileError:
        span = self.source.span(node)
        match node:
            case ast.Expr(ast.Call(ast.Attribute(_, method))) if method in CHANGING:
                return update_errors.list_of_lists(span, method)
            case ast.Expr(ast.Call(ast.Attribute(ast.Attribute(_, "add"), "at"))):
                return update_errors.not_accumulable(span)
            case ast.Expr(ast.Call(_, _, named)) if "out" in [k.arg for k in named]:
                return statement_errors.unused_expression(span, "out=")
            case ast.Expr(ast.Call(ast.Attribute(_, called))):
                return statement_errors.unused_expression(span, called)
            case ast.Expr(value) if type(value) in statement_errors.SYNTAX:
                return statement_errors.unsupported(self.source.span(value), value)
            case _:
                return statement_errors.unsupported(span, node)


def _grouped(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """The block, where functions know which others are defined right beside them."""
    grouped: list[Statement] = []
    group: dict[str, ast.Lambda | Defined] = {}
    for statement in statements:
        match statement:
            case Assign(ast.Name(name), ast.Lambda() | Defined() as made):
                made = _named(made)
                group = {} if name in group else group
                group[name] = made
                made.group = group
                grouped.append(replace(statement, value=made))
            case _:
                group = {}
                grouped.append(statement)
    return tuple(grouped)


def _named(node: ast.Lambda | Defined) -> NamedLambda | Defined:
    """The function with a place for its group."""
    if isinstance(node, Defined | NamedLambda):
        return node
    return ast.copy_location(NamedLambda(node.args, node.body), node)


def _changed(call: ast.Call) -> Changed | None:
    """The call as one that changes its owner, or the first argument of `np.add.at`."""
    match call:
        case ast.Call(ast.Attribute(ast.Name() as owner, attribute)) if (
            attribute in ALL_CHANGING
        ):
            target = owner
        case ast.Call(
            ast.Attribute(ast.Attribute(ast.Name(), "add"), "at"),
            [ast.Name() as first, *_],
        ):
            target = first
        case _:
            return None
    changed = Changed(call.func, call.args, call.keywords)
    changed.target = target
    return ast.copy_location(changed, call)


def _popped(call: ast.expr) -> Changed | None:
    """What makes the list shorter, if this is `xs.pop()`."""
    match call:
        case ast.Call(ast.Attribute(ast.Name(), "pop")) if not isinstance(call, Popped):
            changed = _changed(call)
            assert changed is not None
            changed.is_behind = True
            return changed
        case _:
            return None


def _are_distinct_names(targets: Sequence[ast.expr]) -> bool:
    """Whether no target is read, or assigned again, in assigning the others."""
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    return len(names) == len(targets)


def _load(target: ast.expr) -> ast.expr:
    """The expression that reads what this name or element holds."""
    match target:
        case ast.Name(name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Subscript(value, index):
            return ast.copy_location(ast.Subscript(value, index, ast.Load()), target)
        case _:
            return target
