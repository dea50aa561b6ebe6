"""Writes lists in a list as places in one list: `growing.py` finds out where.

What a change does to the places is written below in the language itself.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Sequence
from typing import Any

from chadllvm.frontend.surface import ALL_CHANGING
from chadllvm.frontend.written import KEPT, written

_BEGUN = """
items = []
begins = []
sizes = []
rooms = []
"""

_LISTED = """
begins.append(begin)
sizes.append(len(items) - begin)
rooms.append(len(items) - begin)
"""

_APPENDED = """
count = sizes[at]
if count < rooms[at]:
    items[begins[at] + count] = value
else:
    if begins[at] + count != len(items):
        old = begins[at]
        begins[at] = len(items)
        for k in range(count):
            items.append(items[old + k])
    items.append(value)
    for k in range(count):
        items.append(value)
    rooms[at] = 2 * count + 1
sizes[at] = count + 1
"""

_SHORTENED = """
count = sizes[at]
if count == 0:
    raise IndexError("pop from empty list")
sizes[at] = count - 1
"""

_LAST = "items[begins[at] + sizes[at]]"
_PLACE = "items[begins[at] + range(sizes[at])[index]]"
_PART = "items[begins[at]:begins[at] + sizes[at]]"
_WHOLE = "[items[begin:begin + size] for begin, size in zip(begins, sizes)]"

# What is read of a list by these is no list, or another one.
READERS = KEPT - {"IndexError"}


class Other(Exception):
    """Such a list is used in another way."""


def changes(node: ast.AST, name: str) -> bool:
    """Whether something in this changes the list of a name, or gives it another."""
    return any(_is_change(inner, name) for inner in ast.walk(node))


def _is_change(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Global(names) | ast.Nonlocal(names):
            return name in names
        case ast.Name(other, ast.Store() | ast.Del()):
            return other == name
        case ast.Subscript(_, _, ast.Store() | ast.Del()) | ast.Attribute(
            _, _, ast.Store() | ast.Del()
        ):
            return _owner(node) == name
        case ast.Call(ast.Attribute(owner, method)):
            changing = (*ALL_CHANGING, "sort", "reverse")
            return method in changing and _owner(owner) == name
        case _:
            return False


def _owner(node: ast.expr) -> str | None:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


class Growing(ast.NodeTransformer):
    """Rewrites the statements in which a list of lists grows."""

    def __init__(self, name: str, outside: set[str], numpy: Collection[str]) -> None:
        self._name, self._outside, self._numpy = name, outside, numpy
        # The places of the lists that have names.
        self._rows: dict[str, str] = {}
        self._were_rows: set[str] = set()
        self._region: list[ast.stmt] = []
        self._after: list[ast.stmt] = []
        self._loops = 0

    def region(self, nodes: Sequence[ast.stmt], *, is_whole: bool) -> list[ast.stmt]:
        """These statements, and the list as any other if they are not all."""
        first, last = nodes[0], nodes[-1]
        if self._made(first) is None:
            raise Other
        self._region = copy.deepcopy([*nodes])
        self._after = self._region[1:]
        new = self._block(self._region)
        left = {n.id for each in new for n in ast.walk(each) if isinstance(n, ast.Name)}
        if left & self._were_rows:
            raise Other
        if is_whole:
            return new
        target = ast.Name(self._name, ast.Store())
        end = ast.Assign([target], self._expr(_WHOLE, last))
        return [*new, ast.fix_missing_locations(ast.copy_location(end, last))]

    # ---- parts -------------------------------------------------------------------

    def _own(self, name: str) -> str:
        return f"{name} of {self._name}"

    def _statements(
        self, text: str, place: ast.AST, **given: ast.expr
    ) -> list[ast.stmt]:
        return written(text, self._own, place, **given)

    def _expr(self, text: str, place: ast.AST, **given: ast.expr) -> ast.expr:
        (statement,) = self._statements(text, place, **given)
        assert isinstance(statement, ast.Expr)
        return statement.value

    def _set(self, name: str, value: ast.expr, place: ast.AST) -> ast.stmt:
        made = ast.Assign([ast.Name(self._own(name), ast.Store())], value)
        return ast.fix_missing_locations(ast.copy_location(made, place))

    def _is_list(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == self._name

    def _changes(self, node: ast.AST) -> bool:
        return any(changes(node, name) for name in (self._name, *self._rows))

    def _name_row(self, name: str, place: str, *nodes: ast.AST) -> None:
        """Let a name stand for the list at a place, in all nodes that use it.

        No other assigns it there, nor one of the place.
        """
        every = [part for node in nodes for part in ast.walk(node)]
        stored = [n for n in every if isinstance(n, ast.Name) and n.id in (name, place)]
        stored = [part for part in stored if not isinstance(part.ctx, ast.Load)]
        if name in self._outside or len({p.id for p in stored}) < len(stored):
            raise Other
        self._rows[name] = place
        self._were_rows.add(name)

    def _resizes(self, *nodes: ast.AST, kept: Collection[str] = ()) -> bool:
        """Whether there are other lists then, or more, but by methods that are kept."""
        for part in (part for node in nodes for part in ast.walk(node)):
            match part:
                case ast.Name(name, ast.Store()) if name == self._name:
                    return True
                case ast.Call(ast.Attribute(owner, method)) if self._is_list(owner):
                    if method not in kept:
                        return True
        return False

    def _over_rows(self, node: Any, loop: ast.AST) -> str | None:
        """The name of a list, if a loop runs over all; it is one over places then."""
        match node.target, node.iter:
            case ast.Name(name), rows if self._is_list(rows):
                place = f"place of {self._own(name)}"
            case (
                ast.Tuple([ast.Name(place), ast.Name(name)]),
                ast.Call(ast.Name("enumerate"), [rows], []),
            ) if self._is_list(rows):
                pass
            case _:
                return None
        if self._resizes(loop):
            raise Other
        self._name_row(name, place, loop)
        target = ast.Name(place, ast.Store())
        node.target = ast.copy_location(target, node.target)
        node.iter = self._expr("range(len(begins))", node.iter)
        return name

    def _is_read(self, node: ast.AST) -> bool:
        """Whether this names the list of lists, or one of these."""
        return isinstance(node, ast.Name) and node.id in (self._name, *self._rows)

    def _element(self, node: ast.AST) -> ast.expr | None:
        """The place of one of the lists, if this is `rows[place]`, or a name for it."""
        match node:
            case ast.Name(name, ast.Load()) if name in self._rows:
                place = ast.Name(self._rows[name], ast.Load())
                return ast.copy_location(place, node)
            case ast.Subscript(owner, place) if self._is_list(owner):
                if isinstance(place, ast.Slice | ast.Tuple):
                    raise Other
                return place
            case _:
                return None

    def _is_new(self, node: ast.expr) -> bool:
        """Whether an expression makes a list, which nothing else stands for."""
        match node:
            case ast.List() | ast.ListComp() | ast.Call(ast.Name("list" | "sorted")):
                return True
            case ast.Call(ast.Attribute(_, "copy" | "tolist"), []):
                return True
            case ast.Subscript(owner, ast.Slice()):
                return self._element(owner) is not None
            case ast.BinOp(left, ast.Add() | ast.Mult(), right):
                return isinstance(left, ast.List) or isinstance(right, ast.List)
            case _:
                return False

    def _read(self, node: ast.expr) -> ast.expr:
        """An expression that is only read: one of the lists, or another one."""
        at = self._element(node)
        if at is None:
            found: ast.expr = self.visit(node)
            return found
        for part in ast.walk(at):
            match part:
                case ast.Call(ast.Name(called)) if called in READERS:
                    continue
                case ast.Call() | ast.NamedExpr():
                    raise Other
        return self._expr(_PART, node, at=self.visit(at))

    def _test(self, node: ast.expr) -> ast.expr:
        """A condition, which a list is if there is anything in it."""
        match node:
            case ast.BoolOp(_, values):
                node.values = [self._test(value) for value in values]
            case ast.UnaryOp(ast.Not(), operand):
                node.operand = self._test(operand)
            case _ if self._is_list(node):
                return self._expr("begins", node)
            case _:
                return self._read(node)
        return node

    # ---- changes -----------------------------------------------------------------

    def _block(self, nodes: Sequence[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for node in nodes:
            new = self.visit(node)
            found += new if isinstance(new, list) else [new]
        return found

    def _made(self, node: ast.stmt) -> ast.expr | None:
        """What the list is made of, if this makes it."""
        match node:
            case ast.Assign([target], value) | ast.AnnAssign(target, _, value) if (
                self._is_list(target) and value is not None
            ):
                if any(map(self._is_read, ast.walk(value))):
                    raise Other
                return value
            case _:
                return None

    def visit_Assign(self, node: ast.Assign) -> Any:
        if (value := self._made(node)) is not None:
            return [*self._statements(_BEGUN, node), *self._listed(value)]
        target = node.targets[0]
        if len(node.targets) > 1 and any(self._changes(t) for t in node.targets):
            raise Other
        match node.value:
            case ast.Call(ast.Name("zip" | "enumerate" | "reversed")) as later if any(
                map(self._is_read, ast.walk(later))
            ):
                raise Other  # What it gives is read later.
            case ast.Call() as call if popped := self._last(call, node):
                node.value = self._expr("last", node.value)
                return [*popped, *self._block([node])]
        if (at := self._element(target)) is not None:
            return self._replaced(at, node.value, node)
        if (at := self._element(node.value)) is not None:
            return self._named(at, node)
        return self._changed(node)

    def _named(self, at: ast.expr, node: ast.Assign) -> ast.stmt:
        """`row = rows[i]`, and `a, b = rows[i]`."""
        match node.targets:
            case [ast.Tuple() as parts] if not self._changes(parts):
                node.value = self._read(node.value)
                return node
            case [ast.Name(name)] if not self._resizes(*self._after, kept=["append"]):
                place = f"place of {self._own(name)}"
                number = self._expr("range(len(begins))[at]", node, at=self.visit(at))
                self._name_row(name, place, *self._region)
                made = ast.Assign([ast.Name(place, ast.Store())], number)
                return ast.fix_missing_locations(ast.copy_location(made, node))
            case _:
                raise Other

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        value = self._made(node)
        if value is None:
            return self.generic_visit(node)
        first, *others = self._statements(_BEGUN, node)
        match first, node.annotation:
            case ast.Assign([ast.Name() as target], empty), ast.Subscript(_, inner):
                first = ast.AnnAssign(target, inner, empty, 1)
                ast.copy_location(first, node)
        return [first, *others, *self._listed(value)]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        at = self._element(node.target)
        if at is None and (popped := self._last(node.value, node)):
            if any(map(self._is_read, ast.walk(node.target))):
                raise Other  # It is read before.
            node.value = self._expr("last", node.value)
            return [*popped, node]
        if at is None:
            return self._changed(node)
        if not isinstance(node.op, ast.Add) or not self._is_new(node.value):
            raise Other
        return [self._set("at", self.visit(at), node), *self._extended(node.value)]

    def _changed(self, node: Any) -> Any:
        """`rows[i][j] = v`, the same with an operator, or something else."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if not any(self._changes(target) for target in targets):
            return self.generic_visit(node)
        match targets:
            case [ast.Subscript(owner, index) as target] if (
                at := self._element(owner)
            ) is not None and not isinstance(index, ast.Slice | ast.Tuple):
                before = [self._set("at", self.visit(at), node)]
                place = self._expr(_PLACE, target, index=self.visit(index))
                assert isinstance(place, ast.Subscript)
                place.ctx = ast.Store()
                node.value = self.visit(node.value)
                if isinstance(node, ast.Assign):
                    before.insert(0, self._set("value", node.value, node.value))
                    node.value = self._expr("value", node.value)
                    node.targets = [place]
                else:
                    node.target = place
                return [*before, node]
            case _:
                raise Other

    def visit_Expr(self, node: ast.Expr) -> Any:
        match node.value:
            case ast.Call(ast.Attribute(owner, "append"), [value], []) if self._is_list(
                owner
            ):
                return self._with(value)
            case ast.Call(ast.Attribute(owner, method), args, keywords) if (
                at := self._element(owner)
            ) is not None and (not keywords or method == "sort"):
                is_found_by_lists = any(map(self._is_read, ast.walk(at)))
                before = self._set("at", self.visit(at), node)
                match method, args:
                    case "append", [value] if popped := self._last(value, node):
                        if is_found_by_lists:  # They are read before.
                            raise Other
                        held = self._set("value", self._expr("last", value), value)
                        added = self._statements(_APPENDED, node)
                        return [*popped, before, held, *added]
                    case "append", [value]:
                        held = self._set("value", self.visit(value), value)
                        return [before, held, *self._statements(_APPENDED, node)]
                    case "extend", [value]:
                        return [before, *self._extended(value)]
                    case "pop", []:
                        return self._popped(at, node)
                    case "clear", []:
                        return [before, *self._statements("sizes[at] = 0", node)]
                    case "sort", []:
                        new = ast.Call(ast.Name("sorted", ast.Load()), [owner], [])
                        new.keywords = node.value.keywords
                        placed = ast.copy_location(new, node.value)
                        ast.copy_location(new.func, node.value)
                        return self._replaced(at, placed, node)
                raise Other
        return self.generic_visit(node)

    def _last(self, value: ast.expr, node: ast.stmt) -> list[ast.stmt]:
        """What takes the last element of a list, and names it; nothing if the value is
        not `rows[i].pop()`."""
        match value:
            case ast.Call(ast.Attribute(owner, "pop"), [], []):
                at = self._element(owner)
                if at is not None:
                    last = self._set("last", self._expr(_LAST, node), node)
                    return [*self._popped(at, node), last]
        return []

    def _popped(self, at: ast.expr, node: ast.stmt) -> list[ast.stmt]:
        place = self._set("at", self.visit(at), node)
        return [place, *self._statements(_SHORTENED, node)]

    def _replaced(
        self, at: ast.expr, value: ast.expr, node: ast.stmt
    ) -> list[ast.stmt]:
        """`rows[i] = [v, w]`"""
        place = self._set("at", self.visit(at), node)
        empty = self._statements("sizes[at] = 0", node)
        if isinstance(value, ast.List) and not value.elts:
            return [place, *empty]
        if not self._is_new(value):
            raise Other
        held = self._set("new", self._read(value), value)
        name = ast.copy_location(ast.Name(self._own("new"), ast.Load()), value)
        return [held, place, *empty, *self._each(name, _APPENDED)]

    def _extended(self, value: ast.expr) -> list[ast.stmt]:
        """The list at a place with more elements."""
        if isinstance(value, ast.GeneratorExp):
            made = ast.ListComp(value.elt, value.generators)
            value = ast.copy_location(made, value)
        if not any(map(self._is_read, ast.walk(value))):
            return self._each(self.visit(value), _APPENDED)
        new = self._expr("list(x)", value, x=self._read(value))
        name = ast.copy_location(ast.Name(self._own("new"), ast.Load()), value)
        return [self._set("new", new, value), *self._each(name, _APPENDED)]

    def _each(self, values: ast.expr, text: str) -> list[ast.stmt]:
        """The statements for each of these values."""
        target = ast.Name(self._own("value"), ast.Store())
        loop = ast.For(target, values, self._statements(text, values), [])
        return [ast.fix_missing_locations(ast.copy_location(loop, values))]

    def _listed(self, value: ast.expr) -> list[ast.stmt]:
        """A list for each of those that are made here."""
        match value:
            case ast.List(elements):
                return [new for element in elements for new in self._with(element)]
            case ast.ListComp(_, clauses):
                pass
            case ast.Call(ast.Name("list"), [], []):
                return []
            case _:
                raise Other
        bound = {
            node.id
            for clause in clauses
            for node in ast.walk(clause.target)
            if isinstance(node, ast.Name)
        }
        first = {n.id for n in ast.walk(clauses[0].iter) if isinstance(n, ast.Name)}
        if bound & first:
            raise Other
        value = _Renamed({name: self._own(name) for name in bound}).visit(value)
        assert isinstance(value, ast.ListComp)
        body = self._with(value.elt)
        for clause in reversed(value.generators):
            for test in reversed(clause.ifs):
                body = [ast.copy_location(ast.If(self._test(test), body, []), test)]
            source = self._read(clause.iter)
            loop = ast.For(clause.target, source, body, [])
            body = [ast.copy_location(loop, clause.iter)]
        return body

    def _with(self, value: ast.expr) -> list[ast.stmt]:
        """One more list, which is made here."""
        if not self._is_new(value):
            raise Other
        begin = self._set("begin", self._expr("len(items)", value), value)
        match value:
            case ast.List(elements) if not any(
                isinstance(element, ast.Starred) for element in elements
            ):
                held = [self.visit(element) for element in elements]
                each = [
                    new
                    for element in held
                    for new in self._statements("items.append(x)", element, x=element)
                ]
            case _:
                each = self._each(self._read(value), "items.append(value)")
        return [begin, *each, *self._statements(_LISTED, value)]

    # ---- what is read ------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> Any:
        if self._is_read(node):
            raise Other
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        is_new = not isinstance(node.ctx, ast.Load) and self._changes(node)
        if is_new or self._element(node) is not None:
            raise Other
        node.value, node.slice = self._read(node.value), self.visit(node.slice)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        match node:
            case ast.Call(ast.Name("len"), [only], []) if self._is_list(only):
                return self._expr("len(begins)", node)
            case ast.Call(ast.Name("min" | "max"), [_, _, *_]):
                return self.generic_visit(node)  # It is one of them.
            case ast.Call(ast.Name(called), args) if called in READERS:
                pass
            case ast.Call(ast.Attribute(ast.Name(owner)), args) if owner in self._numpy:
                pass
            case ast.Call(ast.Attribute(owner, "index" | "count" | "copy") as method):
                method.value = self._read(owner)
                args = node.args
            case _:
                return self.generic_visit(node)
        node.args = [self._read(arg) for arg in args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        node.left = self._read(node.left)
        node.comparators = [self._read(other) for other in node.comparators]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        node.left, node.right = self._read(node.left), self._read(node.right)
        return node

    def visit_Starred(self, node: ast.Starred) -> Any:
        node.value = self._read(node.value)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        node.test = self._test(node.test)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def _comprehension(self, node: Any) -> Any:
        named: list[str] = []
        for clause in node.generators:
            if (name := self._over_rows(clause, node)) is not None:
                named.append(name)
            elif self._is_list(clause.iter):
                clause.iter = self._expr(_WHOLE, clause.iter)
            else:
                clause.iter = self._read(clause.iter)
            clause.ifs = [self._test(test) for test in clause.ifs]
        for part in ("elt", "key", "value"):
            if (value := getattr(node, part, None)) is not None:
                setattr(node, part, self.visit(value))
        for name in named:
            del self._rows[name]
        return node

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> Any:
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self._comprehension(node)

    def visit_Return(self, node: ast.Return) -> Any:
        value = node.value
        if value is not None:
            whole = self._is_list(value)
            node.value = self._expr(_WHOLE, value) if whole else self._read(value)
        return node

    def visit_If(self, node: ast.If) -> Any:
        node.test = self._test(node.test)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> Any:
        node.test = self._test(node.test)
        return self._loop(node)

    def visit_For(self, node: ast.For) -> Any:
        name = self._over_rows(node, node)
        if name is not None:
            new = self._loop(node)
            del self._rows[name]
            return new
        is_range = ast.unparse(node.iter).startswith("range(")
        reads = any(map(self._is_read, ast.walk(node.iter)))
        if reads and not is_range and any(map(self._changes, node.body)):
            raise Other
        node.target, node.iter = self.visit(node.target), self._read(node.iter)
        return self._loop(node)

    def _loop(self, node: Any) -> Any:
        self._loops += 1
        node.body = self._block(node.body)
        self._loops -= 1
        node.orelse = self._block(node.orelse)
        return node

    def visit_Break(self, node: ast.Break) -> Any:
        if not self._loops:
            raise Other
        return node

    def visit_Continue(self, node: ast.Continue) -> Any:
        if not self._loops:
            raise Other
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self.visit_Lambda(node)

    def visit_Lambda(self, node: ast.Lambda | ast.FunctionDef) -> Any:
        if any(map(self._is_read, ast.walk(node))):
            raise Other
        return node


class _Renamed(ast.NodeTransformer):
    """Gives variables other names."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> Any:
        node.id = self._names.get(node.id, node.id)
        return node
