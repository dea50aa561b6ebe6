"""What runs over the keys of dictionaries: known when the program is compiled.

    for k, v in params.items():     →   d = params
        total += f(k, v)                v = d["w"]; total += f("w", v)
                                        v = d["b"]; total += f("b", v)

    {k: f(v) for k, v in d.items()} →   {"w": f(d["w"]), "b": f(d["b"])}

Entries may differ in type, and keys are no values at run time: so a loop over them is
written out, with a step for each. That needs types, which are known only when the loop
is translated. A statement is then read again with the loop written out (`Unrolled`), an
expression is written out where it stands. Strings in tuples are run over alike.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from chadllvm.errors import record_errors, type_errors
from chadllvm.frontend.arithmetic import join_values
from chadllvm.frontend.context import Context, Settled
from chadllvm.frontend.static import decided, dictionary_type, keys_of, known_value
from chadllvm.frontend.surface import target_names
from chadllvm.frontend.tuples import components, is_sequence
from chadllvm.ir.term import Var
from chadllvm.ir.types import Product, Type

# The number of a loop in its function, and those of the copies that it is in.
Position = tuple[int, ...]


@dataclass(frozen=True)
class Entries:
    """The elements of what is run over, which read these owners by their names."""

    elements: tuple[ast.expr, ...]
    owners: tuple[tuple[str, ast.expr], ...] = ()


class Unrolled(Exception):
    """A loop runs over these entries; the function is to be read again."""

    def __init__(self, position: Position, entries: Entries) -> None:
        super().__init__(position)
        self.position, self.entries = position, entries


def position_of(node: ast.For) -> Position:
    found: Position = getattr(node, "position", ())
    return found


# ---- what there is to run over -----------------------------------------------------


def entries(cx: Context, node: ast.expr, *, is_paired: bool = False) -> Entries | None:
    """The entries that an expression runs over, None if they are no known ones.

    `is_paired`: also values that could be run over like any tuple.
    """
    match node:
        case ast.Call(ast.Attribute(owner, "items" | "values" as method), [], []):
            return _owned(cx, owner, method, is_paired)
        case ast.Call(ast.Name("sorted" | "reversed" | "list" | "tuple"), [inner], _):
            return ordered(cx, node, entries(cx, inner))
        case ast.Call(ast.Name("enumerate"), [inner, *_], _):
            return numbered(cx, node, entries(cx, inner))
        case ast.Call(ast.Name("zip"), [_, *_] as parts, _):
            return _paired(cx, node, parts)
        case ast.Tuple(parts) | ast.List(parts) if any(map(_holds_text, parts)):
            return Entries(tuple(parts))
        case ast.Name() | ast.Attribute() if (texts := _texts(cx, node)) is not None:
            return Entries(tuple(_written(text, node) for text in texts))
    keys = keys_of(cx, node)
    return None if keys is None else Entries(tuple(_written(k, node) for k in keys))


def _holds_text(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return any(map(_holds_text, node.elts))
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _texts(cx: Context, node: ast.expr) -> Sequence[Any] | None:
    """A tuple or a list from outside, or a static argument, that holds strings."""
    value = known_value(cx, node)
    if not isinstance(value, tuple | list) or not value:
        return None
    return value if all(map(_is_text, value)) else None


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (
        type(value) is tuple and all(isinstance(v, str | int | float) for v in value)
        and any(isinstance(v, str) for v in value)
    )  # fmt: skip


def _written(value: Any, at: ast.expr) -> ast.expr:
    """A constant as an expression."""
    if isinstance(value, tuple):
        parts = [_written(part, at) for part in value]
        return ast.copy_location(ast.Tuple(parts, ast.Load()), at)
    return ast.copy_location(ast.Constant(value), at)


def _owned(
    cx: Context, owner: ast.expr, method: str, is_paired: bool
) -> Entries | None:
    """`d.items()`, and `d.values()` where these differ in type."""
    keys = keys_of(cx, owner)
    if keys is None:
        return None
    if method == "values" and not is_paired and _is_uniform(dictionary_type(cx, owner)):
        return None
    name = f"{method} at {owner.lineno}:{owner.col_offset}"
    found = []
    for key in keys:
        word = _written(key, owner)
        read = ast.Name(name, ast.Load())
        value: ast.expr = ast.Subscript(ast.copy_location(read, owner), word)
        value = ast.copy_location(value, owner)
        if method == "items":
            value = ast.Tuple([word, value], ast.Load())
        found.append(ast.copy_location(value, owner))
    return Entries(tuple(found), ((name, owner),))


def _is_uniform(ty: Type | None) -> bool:
    """Whether the entries can be elements of one tuple that is run over."""
    assert isinstance(ty, Product)
    return join_values(*(Var("x", field) for field in ty.fields)) is not None


def ordered(cx: Context, node: ast.Call, inner: Entries | None) -> Entries | None:
    """`sorted(d)`, `reversed(d.items())`, `list(d)`: keys decide the order."""
    function = known_value(cx, node.func)
    if inner is None or not (function in _ORDERED or function is reversed):
        return None
    found, backwards = list(inner.elements), function is reversed
    for keyword in node.keywords:
        flag = known_value(cx, keyword.value)
        if (function, keyword.arg) != (sorted, "reverse") or type(flag) is not bool:
            return None
        backwards = flag
    if function is sorted:
        keys = [_key(element) for element in found]
        if None in keys or len(set(keys)) < len(keys):
            return None
        found.sort(key=lambda element: str(_key(element)))
    return replace(inner, elements=tuple(reversed(found) if backwards else found))


_ORDERED = (sorted, list, tuple)


def _key(element: ast.expr) -> str | None:
    """The string that an entry is ordered by."""
    match element:
        case ast.Constant(str(key)) | ast.Tuple([ast.Constant(str(key)), *_]):
            return key
        case _:
            return None


def numbered(cx: Context, node: ast.Call, inner: Entries | None) -> Entries | None:
    """The pairs of `enumerate`."""
    given = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "start")]
    starts = [known_value(cx, argument) for argument in given] or [0]
    is_known = len(starts) == 1 and type(starts[0]) is int
    if inner is None or not is_known or known_value(cx, node.func) is not enumerate:
        return None
    pairs = (
        ast.copy_location(ast.Tuple([_written(k, node), element], ast.Load()), node)
        for k, element in enumerate(inner.elements, starts[0])
    )
    return replace(inner, elements=tuple(pairs))


def _paired(cx: Context, node: ast.Call, parts: Sequence[ast.expr]) -> Entries | None:
    """`zip` of entries alone."""
    if all(entries(cx, part) is None for part in parts):
        return None
    return paired(cx, node, [entries(cx, part, is_paired=True) for part in parts])


def paired(
    cx: Context, node: ast.Call, parts: Sequence[Entries | None]
) -> Entries | None:
    """The rows of `zip`, if all of its arguments are known."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or known_value(cx, node.func) is not zip:
        return None
    is_strict = any(known_value(cx, k.value) is True for k in node.keywords)
    if is_strict and len({len(part.elements) for part in known}) > 1:
        return None
    rows = zip(*(part.elements for part in known), strict=False)
    tuples = (ast.Tuple(list(row), ast.Load()) for row in rows)
    elements = tuple(ast.copy_location(row, node) for row in tuples)
    return Entries(elements, tuple(owner for part in known for owner in part.owners))


# ---- statements ------------------------------------------------------------------


def written_out(
    statements: Sequence[ast.stmt], unrolled: Mapping[Position, Entries]
) -> Sequence[ast.stmt]:
    """The statements of a function, with these loops written out."""
    loops = (n for part in statements for n in ast.walk(part) if isinstance(n, ast.For))
    for number, loop in enumerate(loops):
        _place(loop, (number,))
    if not unrolled:
        return statements
    module = ast.Module(deepcopy(list(statements)), [])
    _Writer(unrolled).visit(module)
    return module.body


def _place(loop: ast.For, position: Position) -> ast.For:
    loop.position = position  # type: ignore[attr-defined]
    return loop


class _Writer(ast.NodeTransformer):
    def __init__(self, unrolled: Mapping[Position, Entries]) -> None:
        self._unrolled = unrolled

    def visit_For(self, node: ast.For) -> Any:
        known = self._unrolled.get(position_of(node))
        if known is None:
            return self.generic_visit(node)
        made = _unrolled(node, known)
        return [part for each in made for part in _as_list(self.visit(each))]


def _as_list(made: Any) -> list[Any]:
    return made if isinstance(made, list) else [made]


def _unrolled(node: ast.For, known: Entries) -> list[ast.stmt]:
    """The steps of a loop, one behind the other."""
    first: list[ast.stmt] = []
    for name, owner in known.owners:
        target = ast.copy_location(ast.Name(name, ast.Store()), owner)
        first.append(ast.copy_location(ast.Assign([target], deepcopy(owner)), owner))
    steps = [_step(node, k, element) for k, element in enumerate(known.elements)]
    if not any(_leaves(part) for part in node.body):
        return [*first, *(part for step in steps for part in step), *node.orelse]
    # `continue` leads to the `else` of a loop of one step, and `break` past it.
    rest = node.orelse
    for step in reversed(steps):
        once = ast.Tuple([ast.copy_location(ast.Constant(0), node)], ast.Load())
        target = ast.copy_location(ast.Name("once", ast.Store()), node.target)
        target.id = f"step of {node.lineno}:{node.col_offset}"
        loop = ast.For(target, ast.copy_location(once, node.iter), step, rest)
        rest = [_place(ast.copy_location(loop, node), (*position_of(node), -1))]
    return [*first, *rest]


def _step(node: ast.For, k: int, element: ast.expr) -> list[ast.stmt]:
    """The body of a step, in which the keys are written out."""
    words, values = _bound(node.target, element)
    inside = _Words(words, k)
    made: list[ast.stmt] = []
    for target, value in values:
        assigned = ast.Assign([deepcopy(target)], deepcopy(value))
        made.append(ast.copy_location(assigned, node))
    return [*made, *(inside.visit(deepcopy(part)) for part in node.body)]


def _leaves(node: ast.AST) -> bool:
    """Whether a statement may leave the step of the loop around it."""
    if isinstance(node, ast.Break | ast.Continue):
        return True
    if isinstance(node, ast.For | ast.While):
        return any(map(_leaves, node.orelse))
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        return False
    return any(map(_leaves, ast.iter_child_nodes(node)))


def _bound(
    target: ast.expr, element: ast.expr
) -> tuple[dict[str, ast.Constant], list[tuple[ast.expr, ast.expr]]]:
    """The names that stand for strings, and the targets of what is a value."""
    match target, element:
        case ast.Name(name), ast.Constant(str()):
            return {name: element}, []
        case ast.Tuple(targets) | ast.List(targets), ast.Tuple(parts) if len(
            targets
        ) == len(parts) and not any(isinstance(t, ast.Starred) for t in targets):
            words: dict[str, ast.Constant] = {}
            values: list[tuple[ast.expr, ast.expr]] = []
            for inner, part in zip(targets, parts, strict=True):
                found, others = _bound(inner, part)
                words |= found
                values += others
            return words, values
        case _:
            return {}, [(target, element)]


def _copied(word: ast.expr) -> ast.expr:
    return Settled(word.value) if isinstance(word, Settled) else deepcopy(word)


class _Words(ast.NodeTransformer):
    """Writes expressions for names; loops inside know which copy they are in."""

    def __init__(self, words: Mapping[str, ast.expr], copy: int | None = None) -> None:
        self._words, self._copy = words, copy

    def visit(self, node: ast.AST) -> Any:
        match node:
            case ast.Name(name, ast.Load()) if name in self._words:
                return ast.copy_location(_copied(self._words[name]), node)
            case ast.For() if self._copy is not None:
                _place(node, (*position_of(node), self._copy))
                return self.generic_visit(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._comprehension(node)
            case ast.Lambda() | ast.FunctionDef():
                return self._function(node)
            case _:
                return self.generic_visit(node)

    def _without(self, names: Iterable[str]) -> _Words:
        hidden = {*names}
        left = {n: word for n, word in self._words.items() if n not in hidden}
        return _Words(left, self._copy)

    def _comprehension(self, node: Any) -> Any:
        """What it binds hides names, but in what it runs over first."""
        first = node.generators[0]
        iterable = self.visit(first.iter)
        inside = self._without(
            name for part in node.generators for name in target_names(part.target)
        )
        made = inside.generic_visit(node)
        first.iter = iterable
        return made

    def _function(self, node: Any) -> Any:
        """Parameters hide names, but in the defaults."""
        node.args.defaults = [self.visit(part) for part in node.args.defaults]
        args = node.args
        own = {arg.arg for arg in ast.walk(args) if isinstance(arg, ast.arg)}
        inside = self._without(own)
        body = node.body
        if isinstance(body, list):
            node.body = [inside.visit(part) for part in body]
        else:
            node.body = inside.visit(body)
        return node


def check_words(cx: Context, node: ast.For, known: Entries) -> None:
    """What stands for a key is a name of its own, which nothing assigns."""
    for element in known.elements:
        words, values = _bound(node.target, element)
        _check_values(cx, values)
        for part in node.body:
            for name in _stored(part):
                if name in words:
                    raise record_errors.key_assigned(cx.span(part), name)


def _check_values(cx: Context, values: Sequence[tuple[ast.expr, ast.expr]]) -> None:
    for target, value in values:
        if _holds_text(value):
            raise record_errors.key_as_value(cx.span(target))


def _stored(node: ast.AST) -> Iterator[str]:
    """The names that a statement assigns, in the scope of its function."""
    match node:
        case ast.Name(name, ast.Store()):
            yield name
        case ast.FunctionDef(name):
            yield name
        case ast.Lambda() | ast.ListComp() | ast.GeneratorExp():
            pass
        case ast.SetComp() | ast.DictComp():
            pass
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _stored(child)


# ---- expressions -----------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """What a comprehension has for one entry: elements, where a test holds, if any."""

    node: ast.expr
    test: ast.expr | None


def parts_of(cx: Context, node: Any) -> list[Part] | None:
    """A comprehension over entries, written out; None for any other."""
    known = entries(cx, node.generators[0].iter)
    return None if known is None else parts_by(cx, node, known)


def parts_by(cx: Context, node: Any, known: Entries) -> list[Part]:
    """A comprehension whose first clause runs over these entries, written out."""
    first, rest = node.generators[0], node.generators[1:]
    owners: dict[str, ast.expr] = {}
    for name, owner in known.owners:
        owners[name] = cx.settled(owner, cx.value(owner))
    found = []
    for element in known.elements:
        names = _names(cx, first.target, _Words(owners).visit(deepcopy(element)))
        inside = _Words(names)
        tests = [inside.visit(deepcopy(test)) for test in first.ifs]
        left = [test for test in tests if _outcome(cx, test) is not True]
        if any(_outcome(cx, test) is False for test in left):
            continue
        body = inside.visit(_without_first(node, rest))
        found.append(Part(body, _all(left)))
    return found


def _outcome(cx: Context, test: ast.expr) -> bool | None:
    """What a test of keys and constants gives; None where that is not known."""
    found = decided(cx, test)
    value = known_value(cx, test) if found is None else found
    return value if isinstance(value, bool) else None


def _names(cx: Context, whole: ast.expr, element: ast.expr) -> dict[str, ast.expr]:
    """What the names in a target stand for."""
    words, values = _bound(whole, element)
    _check_values(cx, values)
    found: dict[str, ast.expr] = {**words}
    for inner, value in values:
        match inner, cx.lazy(value):
            case ast.Name(name), made:
                is_number = isinstance(value, ast.Constant)
                found[name] = value if is_number else cx.settled(value, made)
            case ast.Tuple(targets), made if is_sequence(made):
                parts, span = components(cx, value, made), cx.span(inner)
                if len(targets) != len(parts):
                    raise type_errors.wrong_unpacking(span, len(targets), len(parts))
                for target, part in zip(targets, parts, strict=True):
                    found |= _names(cx, target, cx.settled(value, part))
            case _:
                raise record_errors.key_as_value(cx.span(inner))
    return found


def _without_first(node: Any, rest: Sequence[ast.comprehension]) -> Any:
    """The element, or a comprehension by what is left of the clauses."""
    if isinstance(node, ast.DictComp):
        pair = ast.Tuple([node.key, node.value], ast.Load())
        return deepcopy(ast.copy_location(pair, node))
    if not rest:
        return deepcopy(node.elt)
    return deepcopy(ast.copy_location(type(node)(node.elt, list(rest)), node))


def _all(tests: Sequence[ast.expr]) -> ast.expr | None:
    if len(tests) < 2:
        return tests[0] if tests else None
    return ast.copy_location(ast.BoolOp(ast.And(), list(tests)), tests[0])
