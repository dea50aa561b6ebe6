"""The names that an expression or a local function reads from the scope around it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence

from chadllvm.frontend.match_statement import Matched, captures
from chadllvm.frontend.surface import Defined, target_names

_Pending = list[tuple[ast.AST, frozenset[str]]]


def free_names(expression: ast.expr) -> set[str]:
    """The names an expression reads, without those it binds for parts of itself."""
    return _free([(expression, frozenset())])


@functools.lru_cache(maxsize=1024)
def captured_names(definition: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """The names that a local function's body reads and does not bind.

    Each of those that call each other asks this of all others.
    """
    return frozenset(read_around(definition))


def read_around(definition: ast.FunctionDef | ast.Lambda) -> set[str]:
    """The same of a definition that may still be rewritten."""
    return _free(list(_body(definition, frozenset())))


def default_values(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    """The parameters that have a default, each with its expression, in order."""
    positional = [*arguments.posonlyargs, *arguments.args]
    count = len(arguments.defaults)
    for parameter, default in zip(
        positional[len(positional) - count :], arguments.defaults, strict=True
    ):
        yield parameter.arg, default
    for parameter, by_name in zip(
        arguments.kwonlyargs, arguments.kw_defaults, strict=True
    ):
        if by_name is not None:
            yield parameter.arg, by_name


def _free(stack: _Pending) -> set[str]:
    """What is read, by nodes each of which stands below these names' binding."""
    names: set[str] = set()
    while stack:
        node, bound = stack.pop()
        match node:
            case ast.Name(name, ast.Load()):
                names |= {name} - bound
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                stack += _comprehension_parts(node, bound)
            case Matched(subject, pattern):
                stack.append((subject, bound))
                if node.guard is not None:
                    inside = bound.union(captures(pattern))
                    stack.append((node.guard, inside))
            case Defined(definition):
                stack += _function_parts(definition, bound)
            case ast.Lambda() | ast.FunctionDef():
                stack += _function_parts(node, bound)
            case ast.arg() | ast.Name():
                pass
            case ast.AnnAssign(target, _, value):
                stack += [(part, bound) for part in (target, value) if part]
            case _:
                stack += [(child, bound) for child in ast.iter_child_nodes(node)]
    return names


def _function_parts(
    node: ast.Lambda | ast.FunctionDef, bound: frozenset[str]
) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """Defaults are read outside, the body sees the parameters."""
    yield from ((default, bound) for _, default in default_values(node.args))
    yield from _body(node, bound)


def _body(
    node: ast.Lambda | ast.FunctionDef, bound: frozenset[str]
) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    args = node.args
    own = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    own |= {args.vararg.arg} if args.vararg else set()
    if isinstance(node, ast.Lambda):
        yield node.body, bound | own
        return
    inside = bound | own | assigned(node.body)
    yield from ((statement, inside) for statement in node.body)


def assigned(statements: Sequence[ast.stmt]) -> set[str]:
    """The names that a function's statements bind, which makes them its own."""
    names: set[str] = set()
    stack: list[ast.AST] = list(statements)
    while stack:
        node = stack.pop()
        match node:
            case ast.Name(name, ast.Store()):
                names.add(name)
            case ast.FunctionDef(name):
                names.add(name)
            case ast.MatchAs(_, str(name)):
                names.add(name)
                stack += ast.iter_child_nodes(node)
            case ast.Lambda():
                pass
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                # Its variables are its own, but for those of `:=`.
                inside = ast.walk(node)
                stack += [n.target for n in inside if isinstance(n, ast.NamedExpr)]
            case _:
                stack += ast.iter_child_nodes(node)
    return names


def _comprehension_parts(
    node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp,
    bound: frozenset[str],
) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """The first iterable is read outside; all the rest sees the targets."""
    first = node.generators[0].iter
    targets = {n for g in node.generators for n in target_names(g.target)}
    inside = bound | targets
    yield first, bound
    made = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
    yield from ((part, inside) for part in made)
    for generator in node.generators:
        yield from ((test, inside) for test in generator.ifs)
        if generator.iter is not first:
            yield generator.iter, inside
