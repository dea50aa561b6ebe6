"""Variables that change are arguments of the local functions that use them.

    def find(i):                           def find(i, *, parent):
        while parent[i] != i:                  while parent[i] != i:
            i = parent[i]              →           i = parent[i]
        return i                               return i
    parent[k] = find(k // 2)               parent[k] = find(k // 2, parent=parent)

    def put(i, v):                         def put(i, v, *, out):
        out[i] = v                     →       out[i] = v
    put(0, x)                              put(0, x, out=out)

    def add(v):                            def add(v, *, total):
        nonlocal total                         total += v
        total += v                 →       total = add(x, total=total)
    add(x)

A local function holds what the variables around it were when it was made, and may not
change them. Python looks at them when the function runs; so does one that is given them
then (this is known as lambda lifting). It is done where all uses of a function are
calls, by the function around or by others of these, and only where something changes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from chadllvm.frontend.free import assigned, read_around
from chadllvm.frontend.surface import ALL_CHANGING, KEEPING, base, target_names

_LOOPS = (ast.For, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

_Definition = ast.FunctionDef | ast.Lambda


class Lifted(ast.arg):
    """A parameter for a variable of the function around."""


class Reassigned(Lifted):
    """One that is another value then: `nonlocal`, or a list or a set that changes."""


@dataclass
class _Local:
    """A local function: its `own` names, what it reads of the variables around, which
    of them it updates, which are others then, and the functions that it calls.

    Variables that are `given` become arguments. It stands behind the line `begin`, or
    in a loop that begins there.
    """

    definition: _Definition
    begin: int
    own: set[str]
    reads: set[str]
    updates: set[str]
    outer: set[str]
    calls: set[str]
    given: set[str] = field(default_factory=set)


def lift(definition: ast.FunctionDef) -> None:
    """Rewrite the local functions of a definition in place, and their calls."""
    for _, inner, _ in _definitions(definition):
        if isinstance(inner, ast.FunctionDef):
            lift(inner)
    found = _locals(definition)
    while found:
        _settle(definition, found)
        kept = {n: f for n, f in found.items() if _is_called_only(definition, n, found)}
        if len(kept) == len(found):
            break
        found = kept
    for local in found.values():
        args = local.definition.args
        for name in sorted(local.given):
            param = Reassigned(name) if name in local.outer else Lifted(name)
            args.kwonlyargs.append(ast.copy_location(param, local.definition))
            args.kw_defaults.append(None)
        if local.outer:
            _WithoutNonlocal().visit(local.definition)
    for node in ast.walk(definition) if found else ():
        match node:
            case ast.Call(ast.Name(called), _, keywords) if called in found:
                for name in sorted(found[called].given):
                    value = ast.copy_location(ast.Name(name, ast.Load()), node)
                    keyword = ast.keyword(name, value)
                    keywords.append(ast.copy_location(keyword, node))


class _WithoutNonlocal(ast.NodeTransformer):
    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node)


def is_reassigned(definition: ast.FunctionDef, name: str) -> bool:
    """Whether a name is a parameter whose value the caller takes back as a whole."""
    params = definition.args.kwonlyargs
    return any(isinstance(a, Reassigned) and a.arg == name for a in params)


def _locals(definition: ast.FunctionDef) -> dict[str, _Local]:
    """The functions that are defined in one, each once."""
    definitions, found = [*_definitions(definition)], dict[str, _Local]()
    if not definitions:
        return found
    names = _names(definition)
    bound = [name for node in _own(definition) for name in _bound(node)]
    for name, node, loop in definitions:
        if bound.count(name) == 1 and name not in _params(definition):
            local = _local(node, loop or node, names)
            if local is not None:
                found[name] = local
    return found


def _local(
    node: _Definition, begin: ast.stmt | _Definition, names: set[str]
) -> _Local | None:
    """A function in one with these names, if it is none of another kind."""
    own = [*_own(node)]
    assigned = {name for inner in own for name in _nonlocal(inner)}
    inside = {name for inner in ast.walk(node) for name in _nonlocal(inner)}
    if any(map(_is_special, ast.walk(node))) or not inside <= assigned & names:
        return None
    reads = read_around(node) & names | assigned
    outer = {name for inner in own for name in _resized(inner)} & reads | assigned
    updates = {name for inner in own for name in _updated(inner)} & reads | outer
    calls = {name for inner in ast.walk(node) for name in _called(inner)}
    kept = _names(node) - assigned
    return _Local(node, begin.lineno, kept, reads, updates, outer, calls)


def _settle(definition: ast.FunctionDef, found: Mapping[str, _Local]) -> None:
    """What functions are given: what changes behind them, or in one of them."""
    changed = {name for local in found.values() for name in local.updates}
    last: dict[str, int] = {}
    for node in _own(definition):
        for name in (*_bound(node), *_updated(node), *_resized(node)):
            last[name] = max(last.get(name, 0), getattr(node, "lineno", 0))
    for local in found.values():
        later = {n for n, line in last.items() if line > local.begin}
        local.given = local.reads & (changed | later) - found.keys()
    grows = True
    while grows:
        grows = False
        for local in found.values():
            for other in map(found.__getitem__, local.calls & found.keys()):
                grows |= not other.given <= local.given
                grows |= not other.outer <= local.outer
                local.given |= other.given
                local.outer |= other.outer


def _is_called_only(
    definition: ast.FunctionDef, name: str, found: Mapping[str, _Local]
) -> bool:
    """Whether a function is given something, in calls that can give it."""
    given = found[name].given
    if not given or not given.isdisjoint(found[name].own):
        return False
    bodies = {id(local.definition) for local in found.values()}
    stack: list[tuple[ast.AST, bool]] = [(s, True) for s in definition.body]
    while stack:
        node, may_call = stack.pop()
        match node:
            case ast.Call(ast.Name(called), args, keywords) if called == name:
                if not may_call:
                    return False
                stack += [(part, may_call) for part in (*args, *keywords)]
                continue
            case ast.Name(used, ast.Load()) if used == name:
                return False
            case _ if isinstance(node, _FUNCTIONS):
                may_call = may_call and id(node) in bodies
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                own = {n for g in node.generators for n in target_names(g.target)}
                may_call = may_call and given.isdisjoint(own)
        stack += [(child, may_call) for child in ast.iter_child_nodes(node)]
    return True


def _definitions(
    definition: ast.FunctionDef,
) -> Iterator[tuple[str, _Definition, ast.stmt | None]]:
    """The functions that a function's own statements name, and the loops around."""
    stack: list[tuple[ast.AST, ast.stmt | None]] = [(s, None) for s in definition.body]
    while stack:
        node, loop = stack.pop()
        match node:
            case ast.FunctionDef(name, decorator_list=[]):
                yield name, node, loop
            case ast.Assign([ast.Name(name)], ast.Lambda() as value):
                yield name, value, loop
        if not isinstance(node, _FUNCTIONS):
            around = node if loop is None and isinstance(node, _LOOPS) else loop
            stack += [(child, around) for child in ast.iter_child_nodes(node)]


def _own(definition: _Definition) -> Iterator[ast.AST]:
    """The nodes of a function without those in functions inside of it."""
    body = definition.body
    stack: list[ast.AST] = [*body] if isinstance(body, list) else [body]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _FUNCTIONS):
            stack += ast.iter_child_nodes(node)


def _names(definition: _Definition) -> set[str]:
    """The names that a function binds."""
    own = set() if isinstance(definition, ast.Lambda) else assigned(definition.body)
    return {*_params(definition), *own}


def _params(definition: _Definition) -> list[str]:
    args = definition.args
    return [
        a.arg
        for a in (
            *args.posonlyargs,
            *args.args,
            args.vararg,
            *args.kwonlyargs,
            args.kwarg,
        )
        if a is not None
    ]


def _bound(node: ast.AST) -> list[str]:
    """The name that a node assigns as a whole."""
    match node:
        case ast.Name(name, ast.Store()) | ast.FunctionDef(name):
            return [name]
        case ast.MatchAs(_, str(name)) | ast.MatchStar(str(name)):
            return [name]
        case _:
            return []


def _updated(node: ast.AST) -> list[str]:
    """The name of what a node changes a part of."""
    match node:
        case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
            part: ast.expr | None = node
        case ast.Call(ast.Attribute(owner, method)) if method in ALL_CHANGING:
            part = owner
        case ast.Call(ast.Attribute(ast.Attribute(_, "add"), "at"), [target, *_]):
            part = target
        case _:
            part = None
    while isinstance(part, ast.Attribute):
        part = part.value
    name = None if part is None else base(part)
    return [] if name is None else [name.id]


def _resized(node: ast.AST) -> list[str]:
    """The name of a list or a set that a node makes longer or shorter."""
    match node:
        case ast.Call(ast.Attribute(ast.Name(name), method)):
            return [name] if method in ALL_CHANGING and method not in KEEPING else []
        case ast.Delete([ast.Subscript(ast.Name(name))]):
            return [name]
        case _:
            return []


def _nonlocal(node: ast.AST) -> list[str]:
    return node.names if isinstance(node, ast.Nonlocal) else []


def _is_special(node: ast.AST) -> bool:
    return isinstance(node, ast.Global | ast.Yield | ast.YieldFrom)


def _called(node: ast.AST) -> list[str]:
    """The name of the function that a node calls."""
    match node:
        case ast.Call(ast.Name(name)):
            return [name]
        case _:
            return []
