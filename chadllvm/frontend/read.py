"""Python's statements → the surface form: what is not in the language stops here.

    if done:              if done:
        return a              return a
    x = f(a)        →     else:
    return x                  x = f(a)
                              return x

The statements after an `if` that returns on some paths move to the one path that goes
on; if several paths go on, they would have to be repeated, and we refuse. Code after a
`return` cannot run and is not read.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from chadllvm.diagnostic import CompileError
from chadllvm.frontend import (
    errors,
    list_errors,
    statement_errors,
    syntax_errors,
    update_errors,
)
from chadllvm.frontend.recovery import Mistakes, broken, broken_return
from chadllvm.frontend.signature import local_annotation
from chadllvm.frontend.source import Source
from chadllvm.frontend.surface import (
    CHANGING,
    Assign,
    Augmented,
    Branch,
    Changed,
    Loop,
    Return,
    Statement,
    base,
    returns,
)

# Holds the value of `a[0] = b[0] = value`: a keyword, so that no variable is called so.
_CHAINED = "as"


def read_body(source: Source, mistakes: Mistakes) -> tuple[Statement, ...]:
    """The statements of a function, which return a value on every path.

    What cannot be read is entered in `mistakes` and stands as broken in the result.
    """
    definition = source.definition
    statements = _Reader(source, mistakes).block(definition.body)
    if returns(statements):
        return statements
    if not mistakes:
        mistakes.add(_no_result(source))
    return (*statements, broken_return(definition))


def _no_result(source: Source) -> CompileError:
    span = source.span(source.definition)
    if any(isinstance(node, ast.Return) for node in ast.walk(source.definition)):
        return errors.missing_return(span, "function")
    return errors.returns_nothing(span)


class _Reader:
    """Reads blocks; `exits` are the paths of each `if` with a `return` that go on."""

    def __init__(self, source: Source, mistakes: Mistakes) -> None:
        self.source = source
        self.mistakes = mistakes
        self.exits: dict[ast.If, int] = {}
        _count_exits(source.definition.body, self.exits)

    def block(self, nodes: Sequence[ast.stmt]) -> tuple[Statement, ...]:
        """The statements of a block, up to where it returns."""
        statements: list[Statement] = []
        for position, node in enumerate(nodes):
            if isinstance(node, ast.If) and node in self.exits:
                rest = nodes[position + 1 :]
                try:
                    return (*statements, self._returning_branch(node, rest))
                except CompileError as error:
                    self.mistakes.add(error)
                    statements += broken(node)
                    continue
            try:
                statements += self._statement(node)
            except CompileError as error:
                self.mistakes.add(error)
                statements += broken(node)
            if isinstance(node, ast.Return):
                break
        return tuple(statements)

    def _returning_branch(self, node: ast.If, rest: Sequence[ast.stmt]) -> Branch:
        exits = self.exits[node]
        if exits and not rest:
            raise errors.missing_return(self.source.span(node), "`if`")
        if exits > 1:
            raise errors.return_in_the_middle(self.source.span(node))
        then, orelse = (
            self.block([*nodes, *rest] if _goes_on(nodes, self.exits) else nodes)
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
            case ast.If(test, body, orelse):
                return (Branch(test, self.block(body), self.block(orelse), node),)
            case ast.For():
                return (self._loop(node),)
            case ast.Return(value):
                if value is None:
                    raise errors.returns_nothing(self.source.span(node))
                return (Return(value, node),)
            case ast.Expr(ast.Call() as call) if (
                changed := _changed(call)
            ) is not None:
                return (Assign(changed.target, changed, node),)
            case ast.Pass() | ast.Expr(ast.Constant()):
                return ()
            case _:
                raise self._unsupported(node)

    def _assignments(
        self, targets: Sequence[ast.expr], value: ast.expr, node: ast.stmt
    ) -> tuple[Statement, ...]:
        """`a = b = value`: the value is computed once, then named again."""
        for target in targets:
            self._check_target(target)
        popped = _popped(targets, value)
        if popped is not None:
            last, shorter = popped
            rest = Assign(shorter.target, shorter, node)
            return (*self._assignments(targets, last, node), rest)
        if isinstance(value, ast.Constant):
            return tuple(Assign(target, value, node) for target in targets)
        first, *others = targets
        if others and not _are_distinct_names(targets):
            first = ast.copy_location(ast.Name(_CHAINED, ast.Store()), value)
            others = [*targets]
        again = [Assign(target, _load(first), node) for target in others]
        return (Assign(first, value, node), *again)

    def _augmented(
        self, target: ast.expr, op: ast.operator, value: ast.expr, node: ast.stmt
    ) -> tuple[Statement, ...]:
        self._check_target(target)
        operation = ast.copy_location(Augmented(_load(target), op, value), node)
        return (Assign(target, operation, node),)

    def _annotated(self, node: ast.AnnAssign) -> tuple[Statement, ...]:
        self._check_target(node.target)
        if node.value is None:
            return ()
        annotation = local_annotation(self.source, node.annotation)
        return (Assign(node.target, node.value, node, annotation),)

    def _loop(self, node: ast.For) -> Loop:
        self._check_target(node.target, updates=False)
        if node.orelse:
            raise statement_errors.loop_else(self.source.span(node.orelse[0]))
        for inner in ast.walk(node):
            if isinstance(inner, ast.Return):
                raise errors.return_in_loop(self.source.span(inner))
        return Loop(node.target, node.iter, self.block(node.body), node)

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
            case ast.Starred():
                raise syntax_errors.starred(span)
            case ast.Attribute():
                raise update_errors.attribute_update(span)
            case _:
                raise update_errors.element_update(span)

    def _unsupported(self, node: ast.stmt) -> CompileError:
        span = self.source.span(node)
        match node:
            case ast.Expr(ast.Call(ast.Name("print"))):
                return statement_errors.printing(span)
            case ast.Expr(ast.Call(ast.Attribute(_, method))) if method in CHANGING:
                return list_errors.list_of_lists(span, method)
            case ast.Expr(ast.Call(ast.Attribute(ast.Attribute(_, "add"), "at"))):
                return update_errors.not_accumulable(span)
            case ast.Expr(value) if type(value) in syntax_errors.SYNTAX:
                return syntax_errors.unsupported(self.source.span(value), value)
            case _:
                return syntax_errors.unsupported(span, node)


def _changed(call: ast.Call) -> Changed | None:
    """The call as one that changes its owner, or the first argument of `np.add.at`."""
    match call:
        case ast.Call(ast.Attribute(ast.Name() as owner, attribute)) if (
            attribute in CHANGING
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


def _popped(
    targets: Sequence[ast.expr], value: ast.expr
) -> tuple[ast.expr, Changed] | None:
    """`xs.pop()` as the last element, and what makes the list shorter.

    Only names are assigned, and not that of the list: it would be too long for others.
    """
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    if len(names) < len(targets):
        return None
    match value:
        case ast.Call(ast.Attribute(ast.Name(owner), "pop")) if owner in names:
            return None
        case ast.Call(ast.Attribute(ast.Name() as owner, "pop")):
            changed = _changed(value)
            assert changed is not None
            last = ast.copy_location(ast.Constant(-1), value)
            item = ast.Subscript(owner, last, ast.Load())
            return ast.copy_location(item, value), changed
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


def _count_exits(
    nodes: Sequence[ast.stmt], exits: dict[ast.If, int]
) -> tuple[bool, int]:
    """Whether a block contains a `return`, and how many of its paths go on after it.

    Enters into `exits` every `if` with a `return` inside; loops come when read.
    """
    found, count = False, 1
    for node in nodes:
        if isinstance(node, ast.Return):
            return True, 0
        if isinstance(node, ast.If):
            then_found, then = _count_exits(node.body, exits)
            orelse_found, orelse = _count_exits(node.orelse, exits)
            if then_found or orelse_found:
                exits[node] = then + orelse
                found, count = True, count * (then + orelse)
    return found, count


def _goes_on(nodes: Sequence[ast.stmt], exits: dict[ast.If, int]) -> bool:
    """Whether a path through a block reaches its end."""
    return not any(
        isinstance(node, ast.Return)
        or (isinstance(node, ast.If) and exits.get(node) == 0)
        for node in nodes
    )
