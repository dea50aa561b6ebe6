"""Which parameters a function updates for its caller.

    def scale(a: f64[:], k: float):        updates a, has no result
        for i in range(len(a)):
            a[i] *= k                →     a function of (a, k) that gives the last a

A function that returns nothing updates the arrays among its parameters that it writes
to; any other one those that `jit(updates=…)` names, and a recursive one that is not
compiled by itself those that it hands on to itself and does not return. Arrays are
values here, so such a function gives them as they are at its end, in front of its
result; a call is a statement, after which the names of its arguments stand for what
they were given (`driver/updating.py`).

    def step(self, dt):                    updates self, has no result
        self.x += self.v * dt

Of what has fields or entries, a function updates what it assigns one of, or an element
of an array in one, whether it has a result or not. That is so where a compiled function
calls it: what Python gives to a compiled one is the caller's.

This looks at syntax alone, before anything is typed: a name that is assigned as a
whole stands for an array of the function's own. What functions that call each other
update is the least solution of what they say of each other.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

from chadllvm.frontend.assigned import Assigned, part_around, part_of
from chadllvm.frontend.lifted import Lifted, Reassigned
from chadllvm.frontend.method_names import methods_named
from chadllvm.frontend.records import is_record
from chadllvm.frontend.scope import NotStatic, Surroundings, is_library
from chadllvm.frontend.signature import closure_values
from chadllvm.frontend.source import (
    TOLD,
    Function,
    Source,
    is_lasting,
    read_source,
)
from chadllvm.frontend.surface import KEEPING, base
from chadllvm.ir.record import RecordNames
from chadllvm.ir.term import Var
from chadllvm.ir.types import Array, Product, Scalar, Type
from chadllvm.ir.updated import Updated
from chadllvm.support.diagnostic import CompileError

# Where one keeps rules of its own: what has them gives what it makes.
_RULES = "__chadllvm_rules__"


@dataclass(frozen=True)
class Updates:
    """The parameters that a function updates, and whether it has a result besides.

    It may have been `told` which; `bound` are those that it writes to, or is told to
    update, and assigns as a whole. It `acts` if it prints or raises, or calls what
    does. Of `objects` it assigns fields or entries; `reassigned` are variables around
    it that it assigns as a whole.
    """

    names: tuple[str, ...] = ()
    has_result: bool = True
    told: tuple[str, ...] | None = None
    bound: frozenset[str] = frozenset()
    acts: bool = False
    objects: frozenset[str] = frozenset()
    reassigned: frozenset[str] = frozenset()

    def has(self, name: str, ty: Type) -> bool:
        """Whether an argument of this type is updated for a parameter of this name."""
        if name in self.reassigned:
            return True
        if isinstance(ty, Product):
            return name in self.objects and isinstance(ty.names, RecordNames)
        return name in self.names and is_updatable(ty)

    @property
    def only_acts(self) -> bool:
        """Whether that is all that it is for: it gives None."""
        return self.acts and not self.names and not self.has_result


def is_print(call: ast.Call) -> bool:
    """Whether this is a call of `print`, or of one in a module."""
    return (
        isinstance(call.func, ast.Name | ast.Attribute)
        and (call.func.id if isinstance(call.func, ast.Name) else call.func.attr)
        == "print"
    )


def is_updatable(ty: Type) -> bool:
    """Whether this is the type of an array of which elements are updated."""
    return isinstance(ty, Array) and isinstance(ty.elem, Scalar)


def updated_names(updates: Updates, params: Sequence[Var]) -> tuple[str, ...]:
    """Those of the parameters that are updated whose types can be."""
    types = {param.name: param.type for param in params}
    return tuple([n for n in updates.names if n in types and updates.has(n, types[n])])


def updated_of(updates: Updates, params: Sequence[Var]) -> Updated | None:
    """What a function of these parameters updates, by their positions."""
    names = [param.name for param in params]
    positions = [names.index(name) for name in updated_names(updates, params)]
    return Updated(tuple(positions), updates.has_result) if positions else None


def result_type(updated: Sequence[Type], result: Type | None) -> Type:
    """What a function gives that updates arrays of these types."""
    parts = (*updated,) if result is None else (*updated, result)
    return parts[0] if len(parts) == 1 else Product(parts)


@dataclass(frozen=True)
class _Called:
    """A call: the function, and the names whose arrays are its parameters'."""

    definition: ast.FunctionDef
    given: Mapping[str, str]


@dataclass
class _Facts:
    """What a definition says: `writes` are the names of arrays that it writes to, and
    `assigns` those of what it assigns fields or entries of. Its arguments may be
    `foreign`: Python's, or those of a function with rules. `lifted` are the parameters
    for variables around, `reassigned` those of them that are `nonlocal`; `handed_on`
    those that a recursion has in common."""

    params: tuple[str, ...]
    told: tuple[str, ...] | None
    has_result: bool
    bound: set[str]
    writes: set[str]
    assigns: set[str]
    calls: list[_Called] = field(default_factory=list)
    acts: bool = False
    foreign: bool = False
    lifted: frozenset[str] = frozenset()
    reassigned: frozenset[str] = frozenset()
    handed_on: set[str] = field(default_factory=set)

    def updates(self, known: Callable[[ast.FunctionDef], Updates]) -> Updates:
        acts = self.acts or any(known(c.definition).acts for c in self.calls)
        assigned = self.assigns.union(
            call.given[name]
            for call in self.calls
            for name in known(call.definition).objects
            if name in call.given
        )
        own = () if self.foreign else self.params
        objects = frozenset(assigned.intersection(own) - self.bound)
        named = tuple([p for p in self.params if p in objects])
        if self.told is not None:
            bound = frozenset(self.bound.intersection(self.told))
            names = (*self.told, *(n for n in named if n not in self.told))
            return Updates(names, self.has_result, self.told, bound, acts, objects)
        written = {
            call.given[name]
            for call in self.calls
            for name in known(call.definition).names
            if name in call.given
        }
        outer = self.reassigned
        found = (written | self.writes) - self.bound
        if self.has_result:
            found &= self.lifted | (set() if self.foreign else self.handed_on)
        names = tuple([p for p in self.params if p in found | objects | outer])
        if self.has_result:
            return Updates(names, acts=acts, objects=objects, reassigned=outer)
        lost = frozenset(self.writes.intersection(self.params) & self.bound - outer)
        return Updates(names, False, None, lost, acts, objects, outer)


class _Callee(NamedTuple):
    """A function that a call may mean; a method's owner is its first argument."""

    source: Source
    is_method: bool = False

    def given(self, caller: Source, call: ast.Call) -> dict[str, ast.expr]:
        """The arguments of a call by parameter, as far as its syntax tells."""
        params = _params(self.source.definition)
        if not self.is_method:
            return _bound_arguments(params, call)
        owner = owner_of(caller.definition, call)
        first = {name: owner for name in params[:1]}
        return first | _bound_arguments(params[1:], call)


def owner_of(definition: ast.FunctionDef, call: ast.Call) -> ast.expr:
    """What a method is called of, in a function; `super()` is its first parameter."""
    assert isinstance(call.func, ast.Attribute)
    match call.func.value:
        case ast.Call(ast.Name("super"), [], []) as base if _params(definition):
            name = ast.Name(_params(definition)[0], ast.Load())
            return ast.copy_location(name, base)
        case owner:
            return owner


class Analysis:
    """What the functions of a program update.

    `classes` are those whose methods it may call of values.
    """

    def __init__(
        self, sources: Mapping[Function, Source], classes: Sequence[type] = ()
    ) -> None:
        self._sources = dict(sources)
        self._classes = classes
        self._roots: dict[Function, dict[str, ast.FunctionDef | None]] = {}
        self._known: dict[ast.FunctionDef, Updates] = {}
        self._local_names: dict[ast.FunctionDef, set[str]] = {}
        # Those that the user compiles by themselves.
        self._compiled: set[ast.FunctionDef] = set()
        self._called: dict[tuple[Function, ast.expr], list[_Callee]] = {}
        self._near: dict[Function, tuple[type, ...]] = {}
        self._given_back: dict[ast.FunctionDef, frozenset[str] | None] = {}
        self._entry = next(iter(sources), None)

    def of(self, source: Source) -> Updates:
        """What a function updates."""
        own = _library if _is_of_library(source) else self
        if source.definition not in own._known:
            own._settle(source)
        return own._known[source.definition]

    def arguments(
        self, source: Source, call: ast.Call, *, perhaps: bool = True
    ) -> Iterator[ast.expr]:
        """The arguments of a call that are updated; `perhaps`: all of one of a
        parameter."""
        callees = self._callees(source, call.func)
        found: dict[ast.expr, None] = {}
        for callee in callees:
            names = self.of(callee.source).names
            given = callee.given(source, call)
            found |= {node: None for name, node in given.items() if name in names}
        yield from found
        own = _params(source.definition)
        is_parameter = isinstance(call.func, ast.Name) and call.func.id in own
        if perhaps and is_parameter and not callees:
            yield from _all_arguments(call)

    def reassigned(self, source: Source, call: ast.Call) -> set[str]:
        """The variables around local functions that a call assigns as a whole."""
        callees = self._callees(source, call.func)
        return {n for c in callees for n in self.of(c.source).reassigned}

    def changed(self, source: Source, call: ast.Call) -> list[ast.expr]:
        """The arguments of a call of which fields or entries are assigned."""
        return [
            node
            for callee in self._callees(source, call.func)
            for name, node in callee.given(source, call).items()
            if name in self.of(callee.source).objects
        ]

    def given_back(self, source: Source, call: ast.Call) -> list[ast.expr] | None:
        """The arguments that the object which a call gives may be, if it is no new one;
        None if it may be another one."""
        found: list[ast.expr] = []
        callees = self._callees(source, call.func)
        for callee in callees:
            names, given = self._returned(callee.source), callee.given(source, call)
            if names is None or not names <= given.keys():
                return None
            found += (given[name] for name in names)
        return found if callees else None

    def _returned(self, source: Source) -> frozenset[str] | None:
        if source.definition not in self._given_back:
            self._given_back[source.definition] = None  # As far as calls of itself go.
            found = self.assigned(source, partial(self._outside, source)).given_back()
            self._given_back[source.definition] = found
        return self._given_back[source.definition]

    def assigned(self, source: Source, outside: Callable[[ast.expr], Any]) -> Assigned:
        """What other names there may be of objects whose fields a function assigns."""
        return Assigned(source.definition, outside, _Known(self, source))

    def _outside(self, source: Source, node: ast.expr) -> Any:
        own = self.local_names(source.definition)
        try:
            return Surroundings(source.function, {}).resolve(node, own.__contains__)
        except NotStatic:
            return None

    def only_acts(self, source: Source, call: ast.Call) -> bool:
        """Whether a call does nothing but print."""
        found = [self.of(callee.source) for callee in self._callees(source, call.func)]
        return is_print(call) or (bool(found) and all(u.only_acts for u in found))

    def local_names(self, definition: ast.FunctionDef) -> set[str]:
        """The parameters of a function, and the names that it assigns."""
        if definition not in self._local_names:
            nodes = _own_nodes(definition.body)
            bound = {name for node in nodes for name in _bindings(node)}
            self._local_names[definition] = {*_params(definition), *bound}
        return self._local_names[definition]

    def _settle(self, source: Source) -> None:
        """Enter what all updates that a function calls, and itself."""
        facts: dict[ast.FunctionDef, _Facts] = {}
        waiting = [source]
        while waiting:
            at = waiting.pop()
            if at.definition not in facts and at.definition not in self._known:
                facts[at.definition], callees = self._facts(at)
                waiting += callees
        found = {node: Updates(has_result=f.has_result) for node, f in facts.items()}
        known = found

        def of(definition: ast.FunctionDef) -> Updates:
            own = known.get(definition)
            return self._known[definition] if own is None else own

        while found:
            found = {n: f.updates(of) for n, f in facts.items()}
            found = {n: u for n, u in found.items() if u != known[n]}
            known = known | found
        self._known |= known

    def _facts(self, source: Source) -> tuple[_Facts, list[Source]]:
        definition, function = source.definition, source.function
        told = None if source.is_local else getattr(function, TOLD, None)
        is_ruled = not source.is_local and hasattr(function, _RULES)
        nodes = [*_own_nodes(definition.body)]
        local = self.local_names(definition)
        facts = _Facts(
            params=_params(definition),
            told=() if is_ruled else told,
            has_result=any(map(_returns_value, nodes)),
            bound={name for node in nodes for name in _bindings(node)},
            writes={name for node in nodes for name in _writes(node)},
            assigns={name for node in nodes for name in _assigns(node, local)},
            lifted=_kept(definition, Lifted),
            reassigned=_kept(definition, Reassigned),
            foreign=is_ruled or (not source.is_local and function is self._entry),
        )
        callees: list[Source] = []
        for node in nodes:
            facts.writes.update(_given_away(node, facts.params))
            facts.acts |= isinstance(node, ast.Raise | ast.Assert)
            if not isinstance(node, ast.Call):
                continue
            facts.acts |= is_print(node)
            for callee in self._callees(source, node.func):
                given = callee.given(source, node)
                names = {n: base(arg) for n, arg in given.items()}
                plain = {n: name.id for n, name in names.items() if name is not None}
                facts.calls.append(_Called(callee.source.definition, plain))
                callees.append(callee.source)
                if callee.source.definition is definition:
                    facts.handed_on.update(p for p in plain if _is_name(given[p], p))
        facts.handed_on -= {name for node in nodes for name in _returned(node)}
        if definition in self._compiled:
            facts.handed_on.clear()
        return facts, callees

    def _callees(self, source: Source, called: ast.expr) -> list[_Callee]:
        """The functions of the user's that may be called, as far as syntax tells."""
        key = source.function, called
        if key not in self._called:
            self._called[key] = self._found(source, called)
        return self._called[key]

    def _found(self, source: Source, called: ast.expr) -> list[_Callee]:
        try:
            found = self._callee(source, called)
        except NotStatic:
            if not isinstance(called, ast.Attribute):
                return []
            return self._methods(source.function, called.attr)
        return [] if found is None else [_Callee(found)]

    def _methods(self, function: Function, name: str) -> list[_Callee]:
        """The methods of this name, of classes that a function sees or is given."""
        if function not in self._near:
            seen = (*function.__globals__.values(), *closure_values(function).values())
            self._near[function] = tuple([s for s in seen if is_record(s)])
        found = []
        classes = (*self._classes, *self._near[function])
        for method, given in methods_named(classes, name):
            source = self.source(method)
            if source is not None:
                found.append(_Callee(source, is_method=bool(given)))
        return found

    def _callee(self, source: Source, called: ast.expr) -> Source | None:
        """The function of the user's that is called; raises `NotStatic`."""
        local = self._local_functions(source.function)
        if isinstance(called, ast.Name) and called.id in local:
            definition = local[called.id]
            if definition is None:
                return None
            return Source(
                source.function,
                definition,
                source.file,
                source.first_line,
                source.lines,
                source.wrapped,
                is_local=True,
                place=source.place,
            )
        own = self.local_names(source.definition)
        found = Surroundings(source.function, {}).resolve(called, own.__contains__)
        own_source = self.source(getattr(found, "py_func", found))
        if own_source is not None and hasattr(found, "py_func"):
            self._compiled.add(own_source.definition)
        return own_source

    def source(self, function: Any) -> Source | None:
        """The source of a function, if it is one of the user's that can be read."""
        if not isinstance(function, FunctionType) or is_library(function):
            return None
        if (function.__module__ or "").partition(".")[0] == "chadllvm":
            return None
        if function not in self._sources:
            try:
                self._sources[function] = read_source(function)
            except CompileError:
                return None
        return self._sources[function]

    def _local_functions(
        self, function: Function
    ) -> Mapping[str, ast.FunctionDef | None]:
        """The functions defined in one, by name; None where there are several."""
        if function not in self._roots:
            source = self.source(function)
            found: dict[str, ast.FunctionDef | None] = {}
            body = source.definition.body if source is not None else []
            for node in (n for statement in body for n in ast.walk(statement)):
                if isinstance(node, ast.FunctionDef):
                    found[node.name] = None if node.name in found else node
            self._roots[function] = found
        return self._roots[function]


class _Known(NamedTuple):
    """What is known of the functions that one function calls."""

    analysis: Analysis
    source: Source

    def changed(self, call: ast.Call) -> list[ast.expr]:
        return self.analysis.changed(self.source, call)

    def given_back(self, call: ast.Call) -> list[ast.expr] | None:
        return self.analysis.given_back(self.source, call)


def _is_of_library(source: Source) -> bool:
    return not source.is_local and is_lasting(source.function)


# What the library's functions update, which call none of the user's by name.
_library = Analysis({})


def _params(definition: ast.FunctionDef) -> tuple[str, ...]:
    args = definition.args
    return tuple([a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)])


def _kept(definition: ast.FunctionDef, kind: type[Lifted]) -> frozenset[str]:
    """The parameters of a kind that stand for variables around."""
    params = definition.args.kwonlyargs
    return frozenset(a.arg for a in params if isinstance(a, kind))


def _bound_arguments(params: Iterable[str], call: ast.Call) -> dict[str, ast.expr]:
    """The arguments of a call by parameter, as far as its syntax tells."""
    found: dict[str, ast.expr] = {}
    for name, node in zip(params, call.args, strict=False):
        if isinstance(node, ast.Starred):
            break
        found[name] = node
    return found | {k.arg: k.value for k in call.keywords if k.arg is not None}


_SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def _own_nodes(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of statements without those inside of functions and comprehensions."""
    stack = list(statements)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _SCOPES):
            stack += ast.iter_child_nodes(node)


def _returns_value(node: ast.AST) -> bool:
    match node:
        case ast.Return(None) | ast.Return(ast.Constant(None)):
            return False
        case _:
            return isinstance(node, ast.Return)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _returned(node: ast.AST) -> Iterator[str]:
    """The names of what is returned, or is in a tuple that is."""
    stack = [node.value] if isinstance(node, ast.Return) and node.value else []
    while stack:
        match stack.pop():
            case ast.Name(name):
                yield name
            case ast.Tuple(parts):
                stack += parts
            case ast.IfExp(_, then, orelse):
                stack += [then, orelse]


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """The targets of an assignment that are no tuples."""
    match node:
        case ast.Assign(targets):
            stack = list(targets)
        case ast.AnnAssign(target, _, ast.expr()) | ast.For(target):
            stack = [target]
        case _:
            return
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Tuple | ast.List):
            stack += part.elts
        elif isinstance(part, ast.Starred):
            stack.append(part.value)
        else:
            yield part


def _bindings(node: ast.AST) -> Iterator[str]:
    """The names that a node gives another value, as a whole."""
    match node:
        case ast.FunctionDef(name) | ast.ClassDef(name):
            yield name
        case ast.NamedExpr(ast.Name(name)):
            yield name
        case ast.MatchAs(_, str(name)) | ast.MatchStar(str(name)):
            yield name
        case _:
            yield from (t.id for t in _targets(node) if isinstance(t, ast.Name))


def _given_away(node: ast.AST, params: Collection[str]) -> Iterator[str]:
    """The names of what is given to a parameter that is called for what it does."""
    match node:
        case ast.Expr(ast.Call(ast.Name(called)) as call) if called in params:
            found = (base(argument) for argument in _all_arguments(call))
            yield from (name.id for name in found if name is not None)


def _all_arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _assigns(node: ast.AST, names: Collection[str]) -> Iterator[str]:
    """Which of these names a node assigns fields or entries of, or parts of those."""
    targets = [node.target] if isinstance(node, ast.AugAssign) else _targets(node)
    for target in targets:
        part = part_of(target, names) or part_around(target, names)
        if part is not None:
            yield part.owner.id


def _writes(node: ast.AST) -> Iterator[str]:
    """The names of arrays that a node writes to; numbers may be among them."""
    written: list[ast.expr]
    match node:
        case ast.AugAssign(target):
            written = [target]
        case ast.Expr(ast.Call(ast.Attribute(ast.Name() as owner, method))) if (
            method in KEEPING
        ):
            written = [owner]
        case ast.Expr(
            ast.Call(ast.Attribute(ast.Attribute(_, "add"), "at"), [target, *_])
        ):
            written = [target]
        case _:
            written = [t for t in _targets(node) if isinstance(t, ast.Subscript)]
    for target in written:
        name = base(target)
        if name is not None:
            yield name.id
