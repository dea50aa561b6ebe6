"""Generators, written into the loops that run over them before anything is read.

    def odd(n):                      for i_odd in range(n):
        for i in range(n):               if i_odd % 2:
            if i % 2:                →       k = i_odd
                yield i                      s += k

    for k in odd(9):
        s += k

Generators are functions defined within the compiled one, or beside it in its module. A
`break` ends the loops of the generator, a `return` of the generator the loop over it:
flags say so behind each loop. What takes all that there is (`list`, `sum`, a list
comprehension) is given a list.
"""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from chadllvm.frontend.free import assigned, captured_names
from chadllvm.frontend.surface import target_names
from chadllvm.frontend.taken import Taken

_LOOPS = (ast.For, ast.While)
_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ClassDef)

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

# Generators within generators: one that runs over itself has no end.
_DEEPEST = 20


class _Unfit(Exception):
    """A generator that is left as it is: its `yield` is refused where it stands."""


def write_out(definition: ast.AST, names: Mapping[str, Any]) -> None:
    """Rewrite a definition in place; `names` are those of its module."""
    if not isinstance(definition, ast.FunctionDef):
        return
    nodes = [*ast.walk(definition)][1:]
    inside = [n for n in nodes if isinstance(n, ast.FunctionDef) and is_generator(n)]
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    called = {node.id for node in calls if isinstance(node, ast.Name)}
    beside = [name for name in sorted(called) if _is_beside(names.get(name))]
    if inside or beside:
        own = _assigned(definition)
        found = {f.name: f for f in inside if own.count(f.name) == 1}
        found |= _beside([name for name in beside if name not in own], names, {*own})
        _Writing(definition, found).function(definition)


def is_generator(definition: ast.FunctionDef) -> bool:
    """Whether a function has a `yield` of its own."""
    kinds = ast.Yield | ast.YieldFrom
    return any(isinstance(node, kinds) for node in _own(definition.body))


def _own(nodes: Iterable[ast.AST], *, loops: bool = True) -> Iterator[ast.AST]:
    """The nodes below these, without those in other functions, or in loops."""
    for node in nodes:
        yield node
        if isinstance(node, _SCOPES):
            continue
        if isinstance(node, _LOOPS) and not loops:
            yield from _own(node.orelse, loops=loops)
            continue
        yield from _own(ast.iter_child_nodes(node), loops=loops)


def _assigned(node: ast.AST) -> list[str]:
    """The names that are bound in a definition, as often as they are."""
    found = []
    for inner in ast.walk(node):
        match inner:
            case ast.Name(name, ast.Store()) | ast.arg(name):
                found.append(name)
            case ast.FunctionDef(name) if inner is not node:
                found.append(name)
            case _:
                pass
    return found


def _locals(definition: ast.FunctionDef) -> set[str]:
    """The variables of a function, without those of what has a scope inside of it."""
    return {*_params(definition.args), *assigned(definition.body)}


def _params(args: ast.arguments) -> list[str]:
    return [node.arg for node in ast.walk(args) if isinstance(node, ast.arg)]


def _scope(node: ast.AST) -> set[str]:
    """The names that a node binds for what is inside of it."""
    match node:
        case ast.Lambda(args=args):
            return {*_params(args)}
        case ast.FunctionDef():
            return _locals(node)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return {
                name for part in node.generators for name in target_names(part.target)
            }
        case _:
            return set()


def _is_beside(value: object) -> bool:
    return isinstance(value, FunctionType) and inspect.isgeneratorfunction(value)


def _beside(
    called: Sequence[str], names: Mapping[str, Any], own: set[str]
) -> dict[str, ast.FunctionDef]:
    """Generators of the module, which use no name that is the definition's `own`."""
    found = {name: _definition(names[name], names) for name in called}
    return {n: d for n, d in found.items() if d is not None and not _globals(d) & own}


def _definition(
    function: FunctionType, names: Mapping[str, Any]
) -> ast.FunctionDef | None:
    if function.__globals__ is not names or function.__closure__:
        return None
    try:
        lines, _ = inspect.getsourcelines(function)
        (node,) = ast.parse(inspect.cleandoc("\n" + "".join(lines))).body
    except (OSError, SyntaxError, ValueError):
        return None
    return node if isinstance(node, ast.FunctionDef) else None


def _globals(definition: ast.FunctionDef) -> set[str]:
    """The names from outside that a function uses."""
    return {*captured_names(definition)}


@dataclass
class _Writing:
    """One definition: its generators, and the names that are taken in it."""

    definition: ast.FunctionDef
    generators: dict[str, ast.FunctionDef]
    depth: int = 0
    taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.taken = {
            n.id for n in ast.walk(self.definition) if isinstance(n, ast.Name)
        }
        self.taken |= {*_assigned(self.definition)}

    def fresh(self, name: str) -> str:
        """A name that is not taken."""
        numbered = (f"{name}_{k}" for k in itertools.count(2))
        found = next(
            n for n in itertools.chain((name,), numbered) if n not in self.taken
        )
        self.taken.add(found)
        return found

    # Statements.

    def function(self, definition: ast.FunctionDef) -> None:
        """Rewrite a function, and take away the generators that nobody calls now."""
        definition.body = self.block(definition.body)
        if definition is self.definition:
            used = {n.id for n in ast.walk(definition) if isinstance(n, ast.Name)}
            _Without(self.generators.keys() - used).visit(definition)

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [new for old in statements for new in self.statement(old)]

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.FunctionDef):
            if node.name not in self.generators:
                self.function(node)
            return [node]
        before = self._lists(node)
        for name in ("body", "orelse", "finalbody"):
            if isinstance(getattr(node, name, None), list):
                setattr(node, name, self.block(getattr(node, name)))
        for case in getattr(node, "cases", ()):
            case.body = self.block(case.body)
        if isinstance(node, ast.For):
            return [*before, *self._loop(node)]
        return [*before, node]

    def _lists(self, node: ast.stmt) -> list[ast.stmt]:
        """What fills lists in front of a statement that takes all of a generator."""
        before: list[ast.stmt] = []

        def list_of(call: ast.Call) -> ast.Name:
            name, item = self.fresh("items"), self.fresh("item")
            one = _at(call, ast.Name(item, ast.Load()))
            append = ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load())
            put = ast.Expr(ast.Call(append, [one], []))
            target = ast.Name(item, ast.Store())
            empty = ast.Assign([ast.Name(name, ast.Store())], ast.List([], ast.Load()))
            loop = _at(call, ast.For(target, call, [put], []))
            before.extend([_at(call, empty), *self._loop(loop)])
            made: ast.Name = _at(call, ast.Name(name, ast.Load()))
            return made

        Taken(self.is_call, list_of).rewrite(node)
        return before

    def is_call(self, node: ast.AST) -> bool:
        """Whether this calls a generator."""
        match node:
            case ast.Call(ast.Name(name)):
                return name in self.generators
            case _:
                return False

    # Loops.

    def _loop(self, node: ast.For) -> list[ast.stmt]:
        """A loop over a generator, or over `enumerate` of one, written out."""
        match node.iter:
            case ast.Call(ast.Name("enumerate"), [call, *start], []) if self.is_call(
                call
            ):
                return self._counted(node, call, start)
            case call if self.is_call(call):
                return self._written(node, call)
            case _:
                return [node]

    def _counted(
        self, node: ast.For, call: ast.expr, start: list[ast.expr]
    ) -> list[ast.stmt]:
        count, item = self.fresh("count"), self.fresh("item")
        first = start[0] if start else ast.Constant(0)
        begin = ast.Assign([ast.Name(count, ast.Store())], first)
        parts = [ast.Name(name, ast.Load()) for name in (count, item)]
        pair = ast.Tuple([*parts], ast.Load())
        bind = ast.Assign([node.target], pair)
        one = ast.AugAssign(ast.Name(count, ast.Store()), ast.Add(), ast.Constant(1))
        target = ast.Name(item, ast.Store())
        body = [_at(node, bind), _at(node, one), *node.body]
        loop = _at(node, ast.For(_at(node, target), call, body, node.orelse))
        return [_at(node, begin), *self._loop(loop)]

    def _written(self, node: ast.For, call: Any) -> list[ast.stmt]:
        self.depth += 1
        try:
            if self.depth > _DEEPEST:
                raise _Unfit
            return _Consumed(self, node, call).statements()
        except _Unfit:
            return [node]
        finally:
            self.depth -= 1


class _Consumed:
    """A loop over a call of a generator."""

    def __init__(self, writing: _Writing, loop: ast.For, call: ast.Call) -> None:
        self.writing, self.loop, self.call = writing, loop, call
        assert isinstance(call.func, ast.Name)
        self.name = call.func.id
        generator = copy.deepcopy(writing.generators[self.name])
        if generator.decorator_list or _declares(generator):
            raise _Unfit
        if self.name in _globals(generator):
            raise _Unfit  # It runs over itself.
        own = sorted(_locals(generator))
        names = {name: writing.fresh(f"{name}_{self.name}") for name in own}
        self.params = self._arguments(generator.args, names)
        self.body = [_Renamed(names).visit(s) for s in generator.body]
        for node in (node for s in self.body for node in ast.walk(s)):
            _at(call, node)
        inside = [*_own(loop.body, loops=False)]
        self.breaks = any(isinstance(n, ast.Break) for n in inside)
        self.continues = any(isinstance(n, ast.Continue) for n in inside)
        returns = any(isinstance(n, ast.Return) for n in _own(self.body))
        self.is_left = (
            writing.fresh(f"{self.name}_ends") if self.breaks or returns else ""
        )
        self.is_broken = ""
        if self.breaks and loop.orelse:
            self.is_broken = writing.fresh(f"{self.name}_breaks")

    def statements(self) -> list[ast.stmt]:
        """What stands for the loop."""
        first = [_assign(self.call, name, value) for name, value in self.params]
        body = self._block(self.body, 0)
        if self.is_left:
            first.append(self._flag(self.is_left, False))
            body = [self._once(body)]
        if self.is_broken:
            first.append(self._flag(self.is_broken, False))
        after = self.loop.orelse
        if self.is_broken:
            whole = ast.UnaryOp(ast.Not(), ast.Name(self.is_broken, ast.Load()))
            after = [_at(self.loop, ast.If(whole, after, []))]
        return [*first, *self.writing.block(body), *after]

    def _arguments(
        self, params: ast.arguments, names: Mapping[str, str]
    ) -> list[tuple[str, ast.expr]]:
        defaults = [d for d in (*params.defaults, *params.kw_defaults) if d is not None]
        if params.vararg or params.kwarg or params.posonlyargs:
            raise _Unfit
        if not all(isinstance(default, ast.Constant) for default in defaults):
            raise _Unfit  # They are of the time when the function was defined.
        given: dict[str, ast.expr] = {}
        positional = [a.arg for a in params.args]
        first = len(positional) - len(params.defaults)
        given |= dict(zip(positional[first:], params.defaults, strict=True))
        for arg, default in zip(params.kwonlyargs, params.kw_defaults, strict=True):
            given |= {arg.arg: default} if default is not None else {}
        if len(self.call.args) > len(positional):
            raise _Unfit
        given |= dict(zip(positional, self.call.args, strict=False))
        given |= {k.arg: k.value for k in self.call.keywords if k.arg is not None}
        wanted = [*positional, *(a.arg for a in params.kwonlyargs)]
        if {*given} != {*wanted} or any(
            isinstance(a, ast.Starred) for a in self.call.args
        ):
            raise _Unfit
        return [(names[name], given[name]) for name in wanted]

    # The body of the generator, so many of its loops deep.

    def _block(self, statements: Sequence[ast.stmt], depth: int) -> list[ast.stmt]:
        return [new for old in statements for new in self._statement(old, depth)]

    def _statement(self, node: ast.stmt, depth: int) -> list[ast.stmt]:
        match node:
            case ast.Expr(ast.Constant()):
                return []
            case ast.Expr(ast.Yield(value)):
                return self._yielded(value or ast.Constant(None), depth)
            case ast.Expr(ast.YieldFrom(source)):
                item = self.writing.fresh("item")
                again = ast.Expr(ast.Yield(ast.Name(item, ast.Load())))
                target = ast.Name(item, ast.Store())
                loop = ast.For(target, source, [_at(node, again)], [])
                return self._statement(_at(node, loop), depth)
            case ast.Return():
                return self._exit(depth)
            case ast.For() | ast.While() | ast.If() | ast.Match():
                return self._nested(node, depth)
            case _ if any(
                isinstance(n, ast.Yield | ast.YieldFrom) for n in _own([node])
            ):
                raise _Unfit
            case _:
                return [node]

    def _nested(self, node: Any, depth: int) -> list[ast.stmt]:
        is_loop = isinstance(node, _LOOPS)
        before = _flags(node, self.is_left)
        if isinstance(node, ast.Match):
            for case in node.cases:
                case.body = self._block(case.body, depth)
        else:
            node.body = self._block(node.body, depth + is_loop)
            node.orelse = self._block(node.orelse, depth)
        is_left = _flags(node, self.is_left) > before
        return [node, *(self._ends() if is_loop and is_left else ())]

    def _yielded(self, value: ast.expr, depth: int) -> list[ast.stmt]:
        """The body of the loop, for what the generator gives here."""
        bind = _at(self.loop, ast.Assign([copy.deepcopy(self.loop.target)], value))
        body = copy.deepcopy(self.loop.body)
        if not self.breaks and not self.continues:
            return [bind, *body]
        found = [self._flag(self.is_left, True)] if self.breaks else []
        found += [self._flag(self.is_broken, True)] if self.is_broken else []
        inner = self._once(_Breaking(found).block(body))
        return [bind, inner, *(self._ends() if self.breaks else ())]

    def _exit(self, depth: int) -> list[ast.stmt]:
        ends = [self._flag(self.is_left, True)] if depth else []
        return [*ends, _at(self.call, ast.Break())]

    def _ends(self) -> list[ast.stmt]:
        """Go on outwards, if the generator is left."""
        test = ast.Name(self.is_left, ast.Load())
        return [_at(self.call, ast.If(test, [ast.Break()], []))]

    def _flag(self, name: str, value: bool) -> ast.stmt:
        return _assign(self.loop, name, ast.Constant(value))

    def _once(self, body: list[ast.stmt]) -> ast.stmt:
        """A loop of one step, which may be left."""
        target = ast.Name(self.writing.fresh("once"), ast.Store())
        steps = ast.Call(ast.Name("range", ast.Load()), [ast.Constant(1)], [])
        made: ast.stmt = _at(self.loop, ast.For(target, steps, body, []))
        return made


def _declares(generator: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Nonlocal | ast.Global) for n in _own(generator.body))


def _flags(node: ast.AST, name: str) -> int:
    """How often a flag is set below a node."""
    return sum(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
        for n in ast.walk(node)
    )


def _assign(place: ast.AST, name: str, value: ast.expr) -> ast.stmt:
    made: ast.stmt = _at(place, ast.Assign([ast.Name(name, ast.Store())], value))
    return made


def _at(place: ast.AST, node: Any) -> Any:
    """The node, with all below it that has no place yet."""
    ast.copy_location(node, place)
    for child in ast.iter_child_nodes(node):
        if not hasattr(child, "lineno"):
            _at(place, child)
    return node


class _Renamed(ast.NodeTransformer):
    """Other names for the variables of a scope."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """What is inside of a node, where the names that it binds are its own."""
        own = _scope(node)
        if not own:
            return super().generic_visit(node)
        inner = _Renamed({n: new for n, new in self._names.items() if n not in own})
        if not isinstance(node, _COMPREHENSIONS):
            return super(_Renamed, inner).generic_visit(node)
        first = node.generators[0]  # What it runs over is computed outside of it.
        found, first.iter = self.visit(first.iter), ast.Constant(None)
        super(_Renamed, inner).generic_visit(node)
        first.iter = found
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self._names.get(node.arg, node.arg)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.AST:
        node.name = node.name and self._names.get(node.name, node.name)
        return self.generic_visit(node)


class _Breaking(ast.NodeTransformer):
    """Puts statements in front of each `break` of a loop's body."""

    def __init__(self, before: Sequence[ast.stmt]) -> None:
        self._before = before

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in statements:
            new = self.visit(statement)
            found += new if isinstance(new, list) else [new]
        return found

    def visit_Break(self, node: ast.Break) -> Any:
        return [*copy.deepcopy(list(self._before)), node]

    def visit_For(self, node: ast.For) -> Any:
        node.orelse = self.block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> Any:
        node.orelse = self.block(node.orelse)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node


class _Without(ast.NodeTransformer):
    """Takes away the definitions of these functions."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {*names}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if node.name in self._names:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)
