"""The checker of the core: runs after passes, names the one that broke a program.

It checks that every variable is bound once and used in its scope, that every node
obeys its typing rule (`ir/typing.py`), that callees stand before their callers unless
they call each other, and the discipline of cells. A cell is second
class: it is never part of another value, never captured by a function and never
returned from one (a branch may return one). What `open` makes is closed exactly once,
in the block of the `open`, and neither it nor a view of it is used afterwards. A box
has no cell: what is added to is the cell of the array that it refers to.

Linear in the size of the program; it loops over bindings and recurses on nesting.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from chadllvm.ir.calls import groups
from chadllvm.ir.op import TypeRuleError
from chadllvm.ir.pretty import bindings_around
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Close,
    Const,
    Expr,
    Function,
    If,
    Inject,
    Lambda,
    One,
    Open,
    Operand,
    Program,
    Proj,
    Tuple,
    Var,
    View,
    operands,
)
from chadllvm.ir.types import Acc, Array, Box, Fun, Product, Scalar, Sum, Type
from chadllvm.ir.typing import result_types
from chadllvm.support.diagnostic import InternalError


class BrokenRule(Exception):
    """A rule that a program breaks; `check` adds the pass and the place."""


@dataclass(slots=True, eq=False)
class _Cell:
    """What is known of a cell: the function it belongs to, and whether it is closed.

    `parts` are the cells that are closed with it: its views, and what a branch chose.
    """

    level: int
    is_closed: bool = False
    parts: list[_Cell] = field(default_factory=list)

    def close(self) -> None:
        """Close the cell with all its parts, each once."""
        pending = [self]
        while pending:
            cell = pending.pop()
            if not cell.is_closed:
                cell.is_closed = True
                pending += cell.parts


_GONE = _Cell(-1)


@dataclass(eq=False)
class _Place:
    """A block on the way to where the checker is; `index` is the binding it is at."""

    block: Block
    index: int = 0
    open_cells: set[Var] = field(default_factory=set)


def check(program: Program, after: str = "") -> None:
    """Check a program that the pass `after` has produced.

    Raises:
        InternalError: if a rule is broken; names the pass and the rule, and shows the
            bindings around the place.
    """
    _Checker(after).program(program)


class _Checker:
    """Walks a program in order; `level` counts the functions it is inside of."""

    def __init__(self, after: str) -> None:
        self.after = after
        # For each variable bound so far its cell, if it is one; `_GONE` out of scope.
        self.scope: dict[Var, _Cell | None] = {}
        self.cells: dict[Var, _Cell] = {}
        self.functions: dict[str, Function] = {}
        self.ended: set[str] = set()
        self.current = ""
        self.places: list[_Place] = []
        self.level = 0
        self._storable: dict[Type, bool] = {}

    def program(self, program: Program) -> None:
        self.functions = {f.name: f for f in program.functions}
        for function in program.functions:
            self.places = []
            try:
                self._function(function)
            except (BrokenRule, TypeRuleError) as rule:
                raise InternalError(self._report(function, rule)) from None

    def _function(self, function: Function) -> None:
        if function.name in self.ended:
            raise BrokenRule(f"scope: two functions are named {function.name}")
        self.current = function.name
        self._closed_body(function.params, function.body)
        self.ended.add(function.name)

    def _closed_body(self, params: tuple[Var, ...], body: Block) -> None:
        """The body of a function: cells from outside are out of reach in it."""
        self.level += 1
        self._body(params, body)
        self.level -= 1

    def _body(self, params: tuple[Var, ...], body: Block) -> None:
        """The body of a function or operation, which may not return a cell."""
        for param in params:
            self._bind(param)
        self._block(body)
        if any(isinstance(ty, Acc) for ty in body.types):
            raise BrokenRule("cells: a body returns a cell")
        self._leave(params)

    def _block(self, block: Block) -> None:
        place = _Place(block)
        self.places.append(place)
        for place.index, binding in enumerate(block.bindings):
            self._binding(binding, place)
        place.index = len(block.bindings)
        for operand in block.results:
            if isinstance(operand, Var):
                self._use(operand)
        if place.open_cells:
            names = ", ".join(sorted(v.name for v in place.open_cells))
            raise BrokenRule(f"cells: {names} is opened in this block and not closed")
        for binding in block.bindings:
            self._leave(binding.vars)
        self.places.pop()

    def _binding(self, binding: Binding, place: _Place) -> None:
        expr = binding.expr
        for operand in operands(expr):
            if isinstance(operand, Var):
                self._use(operand)
        is_plain = isinstance(expr, Apply) and not expr.bodies
        if not is_plain:
            self._nested(expr)
        types = self._result_types(expr)
        if types != tuple([v.type for v in binding.vars]):
            found = ", ".join(f"{v.name}: {v.type}" for v in binding.vars)
            expected = ", ".join(map(str, types))
            raise BrokenRule(f"types: the rule gives ({expected}), bound are ({found})")
        for var in binding.vars:
            self._bind(var)
        if not is_plain:
            self._derive(expr, binding, place)

    def _result_types(self, expr: Expr) -> tuple[Type, ...]:
        try:
            return result_types(expr, self._signature)
        except (ValueError, IndexError):
            raise BrokenRule("types: wrong number of arguments or bodies") from None

    def _signature(self, name: str) -> Fun:
        function = self.functions.get(name)
        if function is None or not (name in self.ended or self._calls_back(name)):
            raise BrokenRule(f"scope: no function named {name} stands above")
        return Fun(tuple([p.type for p in function.params]), function.body.types)

    def _calls_back(self, name: str) -> bool:
        """Whether a function calls the one that the checker is in."""
        return any(self.current in group for group in groups(self.functions, name))

    def _nested(self, expr: Expr) -> None:
        match expr:
            case One() | Close() | Open() | Call():
                return
            case Apply(bodies=bodies):
                for body in bodies:
                    self._body(body.params, body.body)
            case Lambda(params, body):
                self._closed_body(params, body)
            case If(_, then, orelse):
                self._block(then)
                self._block(orelse)
            case Case(_, branches):
                for branch in branches:
                    self._branch(branch)
            case Const() | View() | Tuple() | Proj() | Inject():
                return
            case _:
                assert_never(expr)

    def _branch(self, branch: Lambda) -> None:
        """A branch of a case, which may return a cell."""
        for param in branch.params:
            self._bind(param)
        self._block(branch.body)
        self._leave(branch.params)

    def _use(self, var: Var) -> None:
        cell = self.scope.get(var, _GONE)
        if cell is None:
            return
        if cell is _GONE:
            raise BrokenRule(f"scope: {var.name} is used where it is not bound")
        if cell.is_closed:
            raise BrokenRule(f"cells: {var.name} is used after its close")
        if cell.level != self.level:
            raise BrokenRule(f"cells: a function captures {var.name}")

    def _bind(self, var: Var) -> None:
        if var in self.scope:
            raise BrokenRule(f"scope: {var.name} is bound twice")
        cell, ty = None, var.type
        if isinstance(ty, Acc):
            cell = self.cells[var] = _Cell(self.level)
            ty = ty.content
            if isinstance(ty, Box):
                raise BrokenRule(f"cells: {var.name} is the cell of a box")
        self.scope[var] = cell
        if not isinstance(ty, Scalar) and not self._is_storable(ty):
            raise BrokenRule(f"cells: {var.name} is a {var.type}, which holds a cell")

    def _leave(self, variables: Iterable[Var]) -> None:
        for var in variables:
            self.scope[var] = _GONE

    def _is_storable(self, ty: Type) -> bool:
        """Whether a value of this type holds no cell; functions may take cells."""
        known = self._storable.get(ty)
        if known is None:
            known = self._storable[ty] = self._compute_storable(ty)
        return known

    def _compute_storable(self, ty: Type) -> bool:
        match ty:
            case Scalar():
                return True
            case Acc():
                return False
            case Product(fields):
                return self._all_storable(fields)
            case Sum():
                return self._all_storable(ty.payloads)
            case Array(elem, _):
                return self._is_storable(elem)
            case Box(content):
                return self._is_storable(content)
            case Fun(params, results):
                values = (p.content if isinstance(p, Acc) else p for p in params)
                return self._all_storable(values) and self._all_storable(results)
            case _:
                assert_never(ty)

    def _all_storable(self, types: Iterable[Type]) -> bool:
        return all(map(self._is_storable, types))

    def _derive(self, expr: Expr, binding: Binding, place: _Place) -> None:
        """Follow what the binding does to cells."""
        match expr:
            case One() | Call():
                return
            case Close(cell):
                self._close(cell, place)
            case Open():
                place.open_cells.add(binding.vars[0])
            case View(cell, _):
                self._part(cell, binding.vars[0])
            case If(_, then, orelse):
                self._choice((then, orelse), binding)
            case Case(_, branches):
                self._choice([b.body for b in branches], binding)
            case Apply() | Const() | Tuple() | Proj() | Inject() | Lambda():
                return
            case _:
                assert_never(expr)

    def _choice(self, blocks: Iterable[Block], binding: Binding) -> None:
        for block in blocks:
            for chosen, var in zip(block.results, binding.vars, strict=True):
                self._part(chosen, var)

    def _part(self, whole: Operand, part: Var) -> None:
        if isinstance(whole, Var) and isinstance(whole.type, Acc):
            self.cells[whole].parts.append(self.cells[part])

    def _close(self, cell: Operand, place: _Place) -> None:
        assert isinstance(cell, Var)
        if cell not in place.open_cells:
            raise BrokenRule(f"cells: {cell.name} is closed, not opened in this block")
        place.open_cells.remove(cell)
        self.cells[cell].close()

    def _report(self, function: Function, rule: Exception) -> str:
        """The rule, the pass, and the innermost block around the binding."""
        title = f"{rule}\n  in {function.name}"
        if self.after:
            title += f", after {self.after}"
        return "\n".join([title, *self._excerpt()])

    def _excerpt(self) -> list[str]:
        if not self.places:
            return []
        place = self.places[-1]
        return bindings_around(place.block, place.index)
