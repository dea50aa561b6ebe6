"""Lists that are written out, and of which elements are only read: they are tuples.

    layers = [(w, b), (v, c)]            layers = ((w, b), (v, c))
    for m, a in layers:            →     for m, a in layers:
        x = np.tanh(m @ x + a)               x = np.tanh(m @ x + a)

So each array in it has a size of its own, and is not copied. A name of such a list is
assigned once, and is run over, measured or indexed wherever it stands.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum

from chadllvm.frontend.surface import ALL_CHANGING

Updated = Callable[[ast.Call], Iterable[ast.expr]]

# Of no more elements one is taken by asking for each.
MOST = 16

# What only asks a list for its elements, or how many there are.
_READING = ("zip", "enumerate", "reversed", "len")


class FixedList(ast.List):
    """A list that is written out and remains as it is."""


def fixed(target: ast.expr, value: ast.expr, names: frozenset[str]) -> ast.expr:
    """The value of an assignment, where a list is one of those."""
    match target, value:
        case ast.Name(name), ast.List(elements, ctx) if name in names:
            return ast.copy_location(FixedList(elements, ctx), value)
        case ast.Tuple(), ast.Tuple() if len(target.elts) == len(value.elts):
            pairs = zip(target.elts, value.elts, strict=True)
            parts = [fixed(part, item, names) for part, item in pairs]
            return ast.copy_location(ast.Tuple(parts, value.ctx), value)
        case _:
            return value


def fixed_lists(definition: ast.FunctionDef, updated: Updated) -> frozenset[str]:
    """The names of a function that such lists are assigned to.

    `updated`: the arguments of a call that are changed by it.
    """
    assigned = {
        name: count
        for node in ast.walk(definition)
        if isinstance(node, ast.Assign) and len(node.targets) == 1
        for name, count in _names_of_lists(node.targets[0], node.value)
    }
    if not assigned:
        return frozenset()
    return frozenset(_Uses(definition, updated, assigned).only_read())


def _names_of_lists(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, int]]:
    """The names, with the numbers of elements."""
    match target, value:
        case ast.Name(name), ast.List(elements) if 0 < len(elements) <= MOST:
            if not any(isinstance(e, ast.Constant | ast.Starred) for e in elements):
                yield name, len(elements)
        case ast.Tuple(), ast.Tuple() if len(target.elts) == len(value.elts):
            for part, item in zip(target.elts, value.elts, strict=True):
                yield from _names_of_lists(part, item)


class _Use(Enum):
    """What becomes of the value of an expression."""

    READ = "it is asked for elements"
    TAKEN = "anything"
    CHANGED = "it is changed where it is"


class _Uses:
    """Where the names of a function stand."""

    def __init__(
        self, definition: ast.FunctionDef, updated: Updated, counts: Mapping[str, int]
    ) -> None:
        self._updated, self._counts = updated, counts
        self._assigned = Counter[str]()
        self._taken: set[str] = set()
        self._changed: set[str] = set()
        # The names that elements are given, with all that they may be elements of.
        self._elements: list[tuple[str, str]] = []
        self._visit_all(ast.iter_child_nodes(definition))

    def only_read(self) -> Iterator[str]:
        barred = self._taken | self._changed
        barred |= {whole for part, whole in self._elements if part in self._changed}
        return (n for n in self._counts if self._assigned[n] == 1 and n not in barred)

    def _visit_all(self, nodes: Iterator[ast.AST]) -> None:
        for node in nodes:
            self._visit(node, _Use.TAKEN)

    def _visit(self, node: ast.AST, use: _Use) -> None:
        match node:
            case ast.Name(name, ast.Load()):
                if use is not _Use.READ:
                    (self._taken if use is _Use.TAKEN else self._changed).add(name)
            case ast.Name(name, ast.Store()):
                self._assigned[name] += 1
            case ast.Name(name) | ast.arg(name) | ast.FunctionDef(name):
                self._taken.add(name)
                self._visit_all(ast.iter_child_nodes(node))
            case ast.For(target, whole) | ast.comprehension(target, whole):
                self._run_over(node, target, whole)
            case ast.AugAssign(target):
                self._visit(_read(target), _Use.CHANGED)
                self._visit_all(ast.iter_child_nodes(node))
            case ast.Assign([target], ast.Subscript(whole)):
                self._is_element(target, whole)
                self._visit_all(ast.iter_child_nodes(node))
            case ast.Subscript(whole, index, ctx):
                self._visit(whole, self._of_whole(use, whole, index, ctx))
                self._visit(index, _Use.TAKEN)
            case ast.Attribute(whole, _, ctx):
                is_changed = use is _Use.CHANGED or not isinstance(ctx, ast.Load)
                self._visit(whole, _Use.CHANGED if is_changed else _Use.TAKEN)
            case ast.Call(ast.Name(name), args) if name in _READING:
                for each in args:
                    self._visit(each, _Use.READ)
                self._visit_all(iter(node.keywords))
            case ast.Call(ast.Attribute(whole, method)) if method in ALL_CHANGING:
                self._visit(whole, _Use.CHANGED)
                self._visit_all(ast.iter_child_nodes(node))
            case ast.Call():
                for each in self._updated(node):
                    self._visit(each, _Use.CHANGED)
                self._visit_all(ast.iter_child_nodes(node))
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                self._taken.add(name)
                self._visit_all(ast.iter_child_nodes(node))
            case ast.Global(names) | ast.Nonlocal(names):
                self._taken.update(names)
            case _:
                self._visit_all(ast.iter_child_nodes(node))

    def _of_whole(
        self, use: _Use, whole: ast.expr, index: ast.expr, ctx: ast.expr_context
    ) -> _Use:
        """What becomes of a list by a subscript, whose value is used like this."""
        if use is _Use.CHANGED or not isinstance(ctx, ast.Load):
            return _Use.CHANGED
        if not isinstance(index, ast.Slice):
            return _Use.READ
        return use if self._has_elements(whole, index) else _Use.TAKEN

    def _has_elements(self, whole: ast.expr, part: ast.Slice) -> bool:
        """Whether a part of a list is known to have some: nothing has no type."""
        bounds = (part.lower, part.upper, part.step)
        if not isinstance(whole, ast.Name) or not all(map(_is_known, bounds)):
            return False
        values = [None if b is None else int(ast.literal_eval(b)) for b in bounds]
        return 0 not in values[2:] and bool(
            range(self._counts.get(whole.id, 0))[slice(*values)]
        )

    def _run_over(
        self, node: ast.For | ast.comprehension, target: ast.expr, whole: ast.expr
    ) -> None:
        self._is_element(target, whole)
        self._visit(whole, _Use.READ)
        self._visit_all(n for n in ast.iter_child_nodes(node) if n is not whole)

    def _is_element(self, target: ast.expr, whole: ast.expr) -> None:
        parts = [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]
        wholes = [n.id for n in ast.walk(whole) if isinstance(n, ast.Name)]
        self._elements += [(part, name) for part in parts for name in wholes]


def _is_known(bound: ast.expr | None) -> bool:
    match bound:
        case ast.UnaryOp(ast.USub(), operand):
            return _is_known(operand)
        case None | ast.Constant(int()):
            return True
        case _:
            return False


def _read(target: ast.expr) -> ast.expr:
    """What an augmented assignment changes, as it is read."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target
