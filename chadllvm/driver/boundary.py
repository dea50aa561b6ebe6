"""What stands between Python and a program with recursive data.

    def f(t: Tree) -> Tree      →      f_nodes(t, Node_0, Node_1, …) = {
                                         load[Node](Node_0, Node_1, …)
                                         y = @f(t)
                                         ys… = columns[Node]();  y, ys… }

An argument that refers to nodes becomes numbers, and its nodes rows of columns, which
are parameters behind all others. So the gradient by such an argument is the one by the
columns of reals, and what is made of it has the structure of the argument.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chadllvm.backend.convert import DTYPES
from chadllvm.backend.results import leaf_types
from chadllvm.driver.border import Border, is_plain
from chadllvm.driver.values import leaf_positions, tags_of_gradients
from chadllvm.errors import reference_errors
from chadllvm.ir.build import Builder, unused_name
from chadllvm.ir.record import ReferenceNames
from chadllvm.ir.term import (
    Apply,
    Block,
    Const,
    Function,
    Operand,
    Program,
    Var,
    nested,
)
from chadllvm.ir.types import (
    Fun,
    Scalar,
    Type,
    has_float,
    holds_reference,
)
from chadllvm.ops.custom import Custom
from chadllvm.ops.heap import Columns as ColumnsOf
from chadllvm.ops.heap import Fetch, Load, New
from chadllvm.simplify.flatten import leaves as leaves_of


def boundary_of(program: Program, types: Sequence[Type]) -> Boundary | None:
    """The boundary of a program with recursive data; None if there is none in it."""
    used = heaps_used(program)
    value = program.entry.body.results[0].type
    if not used and not any(map(holds_reference, (*types, value))):
        return None
    for ty in (*types, value):
        if holds_reference(ty) and not is_plain(ty):
            raise reference_errors.mixed(program.entry.span, ty)
    return Boundary(program, types, used)


def heaps_used(program: Program) -> dict[str, tuple[Type, ...]]:
    """The heaps that a program makes or reads nodes in, with the leaves of a node.

    In derivatives of functions, which may call the function, as well.
    """
    found: dict[str, tuple[Type, ...]] = {}
    waiting, seen = [program], set()
    while waiting:
        blocks = [function.body for function in waiting.pop().functions]
        while blocks:
            for binding in blocks.pop().bindings:
                match binding.expr:
                    case Apply(New(heap, types) | Fetch(heap, types)):
                        held = (leaf for ty in types for leaf in leaves_of(ty))
                        leaves = tuple(held)
                        if found.setdefault(heap, leaves) != leaves:
                            span = program.entry.span
                            raise reference_errors.same_name(span, heap)
                    case Apply(Custom(rules)) if rules not in seen:
                        seen.add(rules)
                        waiting += rules.programs()
                blocks += [inner for _, inner in nested(binding.expr)]
    return found


class Boundary(Border):
    """How arguments go into a program with recursive data, and results come out."""

    def __init__(
        self, program: Program, types: Sequence[Type], used: dict[str, tuple[Type, ...]]
    ) -> None:
        entry = program.entry
        names = [p.name for p in entry.params]
        super().__init__(entry.name, names, types, entry.body.results[0].type)
        self.function = entry
        _check_names(entry, [*self.taken, *self.given], used)
        self.program = self._wrapped(program, used)

    # ---- the program

    def _wrapped(self, program: Program, used: dict[str, tuple[Type, ...]]) -> Program:
        """The program that fills the heaps first and gives what is in them last."""
        entry = program.entry
        signature = Fun(tuple(self.types), (self.value,))
        out = Builder(entry.span, lambda _: signature)
        params = [Var(p.name, p.type) for p in entry.params]
        columns = [
            Var(name, ty)
            for name, ty in zip(
                self.names[self.first_column :],
                self.native_types[self.first_column :],
                strict=True,
            )
        ]
        rest = iter(columns)
        for of in self.taken:
            leaves = leaves_of(of.content)
            out.emit(Apply(Load(of.heap, leaves), tuple(next(rest) for _ in leaves)))
        known = {of.heap: leaves_of(of.content) for of in self.given}
        for heap, leaves in {**used, **known}.items():
            if heap not in [of.heap for of in self.taken]:
                blank = tuple(out.one(Const(_zero_row(leaf))) for leaf in leaves)
                out.emit(Apply(Load(heap, leaves), blank))
        results: list[Operand] = [*out.call(entry.name, params)]
        for of in self.given:
            leaves = leaves_of(of.content)
            results += out.emit(Apply(ColumnsOf(of.heap, leaves), ()))
        name = unused_name(f"{entry.name}_nodes", {f.name for f in program.functions})
        body = Block(tuple(out.bindings), tuple(results))
        wrapped = Function(name, (*params, *columns), body, entry.span)
        return Program((*program.functions, wrapped))

    @property
    def is_crossed(self) -> bool:
        """Whether recursive data comes in or goes out, or is in the program only."""
        return bool(self.at or self.given)

    def column_positions(self, classes: Sequence[ReferenceNames]) -> list[int]:
        """The leaves of all native parameters that are columns of reals."""
        leaf = sum(len(leaf_types(t)) for t in self.native_types[: self.first_column])
        found = []
        for of in self.taken:
            for ty in leaf_types(of.content):
                if of in classes and has_float(ty):
                    found.append(leaf)
                leaf += 1
        return found

    # ---- requests

    def gradient_positions(self, positions: Sequence[int]) -> tuple[int, ...]:
        """The leaves, of all native parameters, that a gradient is taken by."""
        columns = self.column_positions(self.gradient_columns(positions))
        return (*leaf_positions(self.types, positions), *columns)

    def gradient_tags(self, positions: Sequence[int]) -> tuple[int | None, ...]:
        """For each leaf of the gradients the tag that it is, if it is one."""
        tags: list[int | None] = []
        for k in positions:
            if k in self.at:
                tags += [None] * len(leaf_positions(self.types, [k]))
            else:
                tags += tags_of_gradients(self.types, [k])
        columns = self.column_positions(self.gradient_columns(positions))
        return (*tags, *(None for _ in columns))


def _check_names(
    entry: Function,
    classes: Sequence[ReferenceNames],
    used: dict[str, tuple[Type, ...]],
) -> None:
    """Classes with one heap are the same, or at least their nodes hold the same."""
    known: dict[str, ReferenceNames] = {}
    for of in classes:
        leaves = leaves_of(of.content)
        if known.setdefault(of.heap, of) != of or used.get(of.heap, leaves) != leaves:
            raise reference_errors.same_name(entry.span, of.heap)


def _zero_row(leaf: Type) -> np.ndarray:
    assert isinstance(leaf, Scalar)
    row = np.zeros(1, DTYPES[leaf])
    row.flags.writeable = False
    return row
