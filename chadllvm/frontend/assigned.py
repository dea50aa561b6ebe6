"""Fields and entries that are assigned: the name stands for a changed record then.

    p.x = v             →   p = (p, with v as its x)
    d["w"] -= v         →   d.w = d["w"]; d.w -= v; d = (d, with d.w as its "w")
    p.x, p.y = p.y, a   →   p.x, p.y = p.y, a; p = (p, with p.x as its x); …
    p.at[i] = v         →   p.at = p.at; p.at[i] = v; p = (p, with p.at as its at)

On the right `p.x` is a variable of that name, which no user can write.

Records are values here, where in Python every name of an object sees what is assigned
to its fields. So an object whose fields are assigned has one name: it is made where the
name is assigned, by a call of its class or of what makes one, a dictionary written out,
or a copy, and the name stands by itself only where no other one comes from that. A call
may take it, if what it gives holds no objects (`Assigned.held`) or has that name then,
as in `p = moved(p)`, and may assign its fields (`updates.py`). What is assigned in an
array of a field is no matter of the record: names of arrays are looked after by
`simplify/sharing.py`.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from chadllvm.frontend.surface import ALL_CHANGING, Assign, Replaced

# Calls that give an object that nobody else has.
_COPIES = (dict, dataclasses.replace, copy.copy)


@dataclass(frozen=True)
class Part:
    """A field or an entry `key` of what a name stands for."""

    owner: ast.Name
    key: str
    node: ast.expr

    @property
    def name(self) -> str:
        """Of the variable that stands for it."""
        return f"{self.owner.id}.{self.key}"

    def variable(self, context: ast.expr_context) -> ast.Name:
        return ast.copy_location(ast.Name(self.name, context), self.node)

    def replaced(self, value: ast.expr, node: ast.stmt, *, is_new: bool) -> Assign:
        """The statement by which the owner has a value in the place of this part."""
        record = ast.copy_location(ast.Name(self.owner.id, ast.Load()), self.owner)
        made = Replaced(record, value)
        made.key, made.is_field = self.key, isinstance(self.node, ast.Attribute)
        made.is_new = is_new
        target = ast.copy_location(ast.Name(self.owner.id, ast.Store()), self.owner)
        return Assign(target, ast.copy_location(made, self.node), node)


def part_of(target: ast.expr, names: Collection[str]) -> Part | None:
    """The field or entry that a target is, of what one of these names stands for.

    With a dot a name stands for a part itself.
    """
    match target:
        case ast.Attribute(ast.Name(name) as owner, key):
            pass
        case ast.Subscript(ast.Name(name) as owner, ast.Constant(str(key))):
            pass
        case _:
            return None
    is_own = name in names or "." in name
    return Part(owner, key, target) if is_own else None


def part_around(target: ast.expr, names: Collection[str]) -> Part | None:
    """The field or entry in whose array a target `p.at[i][j]` is."""
    inner = target
    while isinstance(inner, ast.Subscript):
        inner = inner.value
        found = part_of(inner, names)
        if found is not None:
            return found
    return None


@dataclass
class Split:
    """A target without fields and entries, and the parts that stand for these."""

    target: ast.expr
    whole: list[Part] = field(default_factory=list)
    inside: list[Part] = field(default_factory=list)


def split(target: ast.expr, names: Collection[str]) -> Split:
    """Put variables in the places of fields and entries of what these names are."""
    found = Split(target)
    found.target = _split(target, found, names)
    return found


def _split(target: ast.expr, found: Split, names: Collection[str]) -> ast.expr:
    match target:
        case ast.Tuple(elements) | ast.List(elements):
            new = [_split(element, found, names) for element in elements]
            return ast.copy_location(type(target)(new, ast.Store()), target)
        case ast.Starred(rest):
            inner = _split(rest, found, names)
            return ast.copy_location(ast.Starred(inner, ast.Store()), target)
    part = part_of(target, names)
    if part is not None:
        found.whole.append(part)
        return part.variable(ast.Store())
    around = part_around(target, names)
    if around is None:
        return target
    if all(around.name != other.name for other in found.inside):
        found.inside.append(around)
    return _inside(target, around)


def _inside(target: ast.expr, part: Part) -> ast.expr:
    """A target in an array of a part, as one in the array that its variable is."""
    if target is part.node:
        return part.variable(ast.Load())
    assert isinstance(target, ast.Subscript)
    inner = _inside(target.value, part)
    made = ast.Subscript(inner, target.slice, target.ctx)
    return ast.copy_location(made, target)


# ---- other names -----------------------------------------------------------------


class Calls(Protocol):
    """What is known of the functions that a function calls."""

    def changed(self, call: ast.Call) -> list[ast.expr]:
        """The arguments of which fields or entries are assigned."""

    def given_back(self, call: ast.Call) -> list[ast.expr] | None:
        """The arguments that an object which is no new one is one of; None if it may
        be another one."""


class Assigned:
    """What other names there may be of objects whose fields a function assigns.

    `outside` gives what a name or an attribute stands for outside of the function.
    """

    def __init__(
        self,
        definition: ast.FunctionDef,
        outside: Callable[[ast.expr], Any],
        calls: Calls,
    ) -> None:
        self._definition, self._outside, self._calls = definition, outside, calls

    @cached_property
    def _nodes(self) -> tuple[ast.AST, ...]:
        """All that is in the body."""
        return tuple([n for each in self._definition.body for n in ast.walk(each)])

    @cached_property
    def _names(self) -> frozenset[str]:
        """Those with an assigned part: of a record, a dictionary or an array."""
        found: set[str] = set()
        for node in self._nodes:
            match node:
                case ast.Attribute(ast.Name(name), _, ast.Store()):
                    found.add(name)
                case ast.Subscript(ast.Name(name), _, ast.Store()):
                    found.add(name)
                case ast.Call():
                    changed = self._calls.changed(node)
                    found |= {part.id for part in changed if isinstance(part, ast.Name)}
        return frozenset(found)

    @cached_property
    def _renewed(self) -> dict[_Place, str]:
        """The names that the results of calls are given, by where these stand."""
        return {
            _place(value): target.id
            for node in self._nodes
            for target, value in _bindings(node)
            if isinstance(target, ast.Name) and isinstance(value, ast.Call)
        }

    @cached_property
    def _dropped(self) -> frozenset[_Place]:
        """Where the calls stand whose results nobody uses."""
        expressions = (n for n in self._nodes if isinstance(n, ast.Expr))
        calls = (n.value for n in expressions if isinstance(n.value, ast.Call))
        return frozenset(map(_place, calls))

    def held(self, call: ast.Call) -> list[ast.Name]:
        """The names that stand by themselves in what the result of a call may hold."""
        if not self._names or _place(call) in self._dropped:
            return []
        if self._is_copy(call):
            taken = [*call.args[1:], *(keyword.value for keyword in call.keywords)]
        else:
            taken = [*_taken(call)]
        names = self._names - {self._renewed.get(_place(call), "")}
        return [t for t in taken if isinstance(t, ast.Name) and t.id in names]

    def given_back(self) -> frozenset[str] | None:
        """The parameters that an object which the function gives may be, if it is no
        new one; None if it may be another one."""
        found: set[str] = set()
        bound = [t for node in self._nodes for t, _ in _bindings(node)]
        for node in self._nodes:
            match node:
                case ast.Return(None):
                    pass
                case ast.Return(ast.Name(name)) if _has(self._definition.args, name):
                    if any(_binds(target, name) for target in bound):
                        return None
                    found.add(name)
                case ast.Return(ast.Name(name)) if self.other(name) is None:
                    pass
                case ast.Return(ast.expr() as value) if not self.makes(value):
                    return None
        return frozenset(found)

    def _is_copy(self, call: ast.Call) -> bool:
        match call:
            case ast.Call(ast.Attribute(_, "copy"), [], []):
                return True
            case ast.Call(function):
                found = self._outside(function)
                return any(found is copies for copies in _COPIES)

    def other(
        self, name: str, *, is_lent: bool = False
    ) -> ast.expr | ast.FunctionDef | None:
        """Where a name's object may come to have another name, or comes from one.

        The whole function if the object comes from outside of it, and is not lent.
        """
        found = next(self._others(name), None)
        is_known = found is not None or is_lent or self._is_made(name)
        return found if is_known else self._definition

    def _others(self, name: str) -> Iterator[ast.expr]:
        """What gives an object a second name, or the name an object of others."""
        for statement in self._definition.body:
            yield from _escapes(statement, name)
        for node in self._nodes:
            for target, value in _bindings(node):
                if not _binds(target, name):
                    continue
                if not (isinstance(target, ast.Name) and value) or not self.makes(
                    value, name
                ):
                    yield value or target

    def makes(self, value: ast.expr, name: str = "") -> bool:
        """Whether an expression makes an object that nobody else has, or gives the one
        of this name."""
        match value:
            case ast.Dict() | ast.DictComp():
                return True
            case ast.IfExp(_, then, orelse):
                return self.makes(then, name) and self.makes(orelse, name)
            case ast.Call(function):
                if isinstance(self._outside(function), type) or self._is_copy(value):
                    return True
                given = self._calls.given_back(value)
                return given is not None and all(_is_name(g, {name}) for g in given)
            case _:
                return False

    def _is_made(self, name: str) -> bool:
        """Whether the name is assigned an object before anything else is done."""
        is_parameter = _has(self._definition.args, name)
        top: tuple[ast.AST, ...] = (*self._definition.body,)
        for node in top if is_parameter else self._nodes:
            if any(_binds(target, name) for target, _ in _bindings(node)):
                return True
            if is_parameter and any(_is_name(n, {name}) for n in ast.walk(node)):
                return False
        return False


# Where a call begins and ends; it may be copied, as in a loop that is written out.
_Place = tuple[int, int, int | None, int | None]


def _place(call: ast.Call) -> _Place:
    return call.lineno, call.col_offset, call.end_lineno, call.end_col_offset


def _has(parameters: ast.arguments, name: str) -> bool:
    every = (node for node in ast.walk(parameters) if isinstance(node, ast.arg))
    return any(parameter.arg == name for parameter in every)


def _is_name(node: ast.AST, names: frozenset[str] | set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The targets of a node, each with what is assigned to it by itself."""
    match node:
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(
            values
        ):
            yield from zip(targets, values, strict=True)
        case ast.Assign([target], value) | ast.AnnAssign(target, _, value):
            yield target, value
        case ast.NamedExpr(target, value):
            yield target, value
        case ast.Assign(targets):
            yield from ((target, None) for target in targets)
        case ast.AugAssign(target) | ast.For(target) | ast.comprehension(target):
            yield target, None


def _binds(target: ast.expr, name: str) -> bool:
    """Whether a target gives a name another object, not one of its parts."""
    match target:
        case ast.Name(bound):
            return bound == name
        case ast.Tuple(parts) | ast.List(parts):
            return any(_binds(part, name) for part in parts)
        case ast.Starred(part):
            return _binds(part, name)
        case _:
            return False


def _taken(call: ast.Call) -> Iterator[ast.expr]:
    """What its method is one of, if a call is of one, and its arguments."""
    if isinstance(call.func, ast.Attribute):
        yield call.func.value
        if call.func.attr in ALL_CHANGING:
            return  # They hold what they are given.
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


def _escapes(node: ast.AST, name: str) -> Iterator[ast.expr]:
    """Where a name stands by itself, and another one may come from that."""
    match node:
        case ast.Name(found, ast.Load()) if found == name:
            yield node
        case ast.Return():
            pass  # Nothing follows.
        case ast.FunctionDef(args=args) | ast.Lambda(args) if _has(args, name):
            pass
        case ast.FunctionDef() | ast.Lambda():
            inside = (n for n in ast.walk(node) if _is_name(n, {name}))
            yield from (n for n in inside if isinstance(n, ast.expr))
        case ast.Attribute(ast.Name()):
            pass
        case ast.Subscript(ast.Name(), index):
            yield from _escapes(index, name)
        case ast.Compare(left, _, others):
            for side in (left, *others):
                if not isinstance(side, ast.Name):
                    yield from _escapes(side, name)
        case ast.Dict(keys, values):
            for key, value in zip(keys, values, strict=True):
                if key is not None or not isinstance(value, ast.Name):
                    yield from _escapes(value, name)
        case ast.For(_, ast.Name(), body, orelse):
            for statement in (*body, *orelse):
                yield from _escapes(statement, name)
        case ast.comprehension(_, ast.Name(), tests):
            for test in tests:
                yield from _escapes(test, name)
        case ast.Call():
            taken = [*_taken(node)]
            for child in ast.iter_child_nodes(node):
                inner = child.value if isinstance(child, ast.keyword) else child
                if not (isinstance(inner, ast.Name) and inner in taken):
                    yield from _escapes(inner, name)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _escapes(child, name)
