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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chadllvm.backend.convert import DTYPES
from chadllvm.backend.nodes import Columns, Nodes, Writer, is_own
from chadllvm.backend.objects import Reader
from chadllvm.backend.results import Group, Result, leaf_types
from chadllvm.frontend import reference_errors
from chadllvm.ir.build import Builder, unused_name
from chadllvm.ir.record import ListNames, ReferenceNames
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
    Array,
    Fun,
    Product,
    Scalar,
    Sum,
    Type,
    has_float,
    holds_reference,
    reference_names,
    references,
)
from chadllvm.ops.custom import Custom
from chadllvm.ops.heap import Columns as ColumnsOf
from chadllvm.ops.heap import Fetch, Load, New
from chadllvm.pipeline import collector_paused
from chadllvm.request import Request
from chadllvm.simplify.flatten import leaves as leaves_of
from chadllvm.values import gradient_type, leaf_positions, tags_of_gradients


def boundary_of(program: Program, types: Sequence[Type]) -> Boundary | None:
    """The boundary of a program with recursive data; None if there is none in it."""
    used = heaps_used(program)
    value = program.entry.body.results[0].type
    if not used and not any(map(holds_reference, (*types, value))):
        return None
    for ty in (*types, value):
        if holds_reference(ty) and not _is_plain(ty):
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


def _is_plain(ty: Type, in_list: bool = False) -> bool:
    match ty:
        case Scalar():
            return True
        case Product(_, ListNames()):
            return False
        case Product() if reference_names(ty) is not None:
            return True
        case Product(fields):
            return all(_is_plain(field, in_list) for field in fields)
        case Sum():
            return all(_is_plain(payload, in_list) for payload in ty.payloads)
        case Array(Scalar()):
            return not in_list
        case Array(elem, 1):
            return not in_list and holds_reference(elem) and _is_plain(elem, True)
        case _:
            return False


@dataclass
class State:
    """The arguments of a call as native code takes them."""

    # For each parameter with references its leaves, by position.
    leaves: dict[int, list[Any]] = field(default_factory=dict)
    columns: Columns = field(default_factory=dict)
    # All arguments in order, with the columns behind.
    native: list[Any] = field(default_factory=list)


class Boundary:
    """How arguments go into a program with recursive data, and results come out."""

    def __init__(
        self, program: Program, types: Sequence[Type], used: dict[str, tuple[Type, ...]]
    ) -> None:
        self.types = tuple(types)
        self.title = program.entry.name
        self.value: Type = program.entry.body.results[0].type
        self.at = [k for k, ty in enumerate(types) if holds_reference(ty)]
        self.taken = [*references(types)]
        self.given = [*references([self.value])]
        self.function = program.entry
        self.param_names = [p.name for p in program.entry.params]
        _check_names(program.entry, [*self.taken, *self.given], used)
        self._writers: dict[bool, Writer] = {}
        self._name_parameters()
        self.program = self._wrapped(program, used)

    # ---- the program

    def _name_parameters(self) -> None:
        """The parameters of the native function: leaves, and columns behind."""
        taken = set(self.param_names)
        self.names: list[str] = []
        self.native_types: list[Type] = []
        for k, (name, ty) in enumerate(zip(self.param_names, self.types, strict=True)):
            if k not in self.at:
                self.names.append(name)
                self.native_types.append(ty)
                continue
            for j, leaf in enumerate(leaf_types(ty)):
                self.names.append(unused_name(f"{name}_{j}", taken))
                self.native_types.append(leaf)
        self.first_column = len(self.names)
        for of in self.taken:
            for j, leaf in enumerate(leaf_types(of.content)):
                self.names.append(unused_name(f"{of.heap}_{j}", taken))
                assert isinstance(leaf, Scalar)
                self.native_types.append(Array(leaf, 1))

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

    # ---- what native code takes and gives

    @property
    def returned(self) -> Result:
        """The value, or its leaves, in the form that native code gives."""
        if holds_reference(self.value):
            return Group(tuple(leaf_types(self.value)))
        return self.value

    @property
    def returned_columns(self) -> Group:
        """The columns of the classes that the value refers to."""
        return Group(_columns_of(self.given))

    @property
    def is_crossed(self) -> bool:
        """Whether recursive data comes in or goes out, or is in the program only."""
        return bool(self.at or self.given)

    def gradient_columns(self, positions: Sequence[int]) -> list[ReferenceNames]:
        """The classes that parameters at these positions refer to."""
        return [*references([self.types[k] for k in positions if k in self.at])]

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

    def result(self, request: Request) -> Group:
        """What native code gives: values and gradients, each with columns behind."""
        value = (self.returned, self.returned_columns)
        if request.argnums is None:
            return Group(value)
        gradients = (
            Group(tuple(map(self._gradient, request.positions))),
            self._gradient_columns(request.positions),
        )
        if request.value:
            return Group((*value, *gradients))
        if not request.has_aux:
            return Group(gradients)
        assert isinstance(self.value, Product)
        aux: Result = self.value.fields[1]
        if isinstance(self.returned, Group):
            aux = Group(self.returned.parts[1:])
        return Group((*gradients, aux, self.returned_columns))

    def _gradient(self, position: int) -> Result:
        ty = self.types[position]
        if position not in self.at:
            return gradient_type(ty)
        return Group(tuple([leaf for leaf in leaf_types(ty) if has_float(leaf)]))

    def _gradient_columns(self, positions: Sequence[int]) -> Group:
        columns = _columns_of(self.gradient_columns(positions))
        return Group(tuple([ty for ty in columns if _is_real(ty)]))

    def finish(
        self, request: Request, found: Sequence[Any], state: State, moved: Any = None
    ) -> Any:
        """What the user gets of what native code gave; with `moved`, its tangent."""
        if request.argnums is None:
            return self._value(self.value, found, moved, 0)
        if not request.value:
            gradients = self._gradients(request, found, state, moved, 0)
            if not request.has_aux:
                return gradients
            assert isinstance(self.value, Product)
            return gradients, self._value(self.value.fields[1], found, moved, 2)
        value = self._value(self.value, found, moved, 0)
        return value, self._gradients(request, found, state, moved, 2)

    def _value(self, ty: Type, found: Sequence[Any], moved: Any, at: int) -> Any:
        value, columns = found[at : at + 2]
        if moved is None:
            if not holds_reference(ty):
                return value
            return Reader(_by_class(self.given, columns)).value(ty, value)
        if not holds_reference(ty):
            return moved[at]
        both = _merged(columns, moved[at + 1])
        reader = Reader(_by_class(self.given, both), reals=True)
        return reader.value(ty, _merged(value, moved[at]))

    def _gradients(
        self, request: Request, found: Sequence[Any], state: State, moved: Any, at: int
    ) -> Any:
        gradients, columns = (found if moved is None else moved)[at : at + 2]
        made = self._made_gradients(request.positions, state, gradients, columns)
        return made[0] if isinstance(request.argnums, int) else tuple(made)

    # ---- calls

    def enter(self, args: Sequence[Any], *, reals: bool = False) -> State:
        """The arguments as native code takes them; with `reals`, they are tangents."""
        if not self.at:
            return State(native=[*args])
        if reals not in self._writers:
            types = [self.types[k] for k in self.at]
            self._writers[reals] = Writer(f"{self.title}()", types, reals=reals)
        nodes, state = self._writers[reals].begin(), State()
        for k, arg in enumerate(args):
            if k not in self.at:
                state.native.append(arg)
                continue
            state.leaves[k] = self._leaves(nodes, k, arg)
            state.native += state.leaves[k]
        names = ", ".join(self.param_names[k] for k in self.at)
        state.columns = nodes.columns(names)
        state.native += [c for columns in state.columns.values() for c in columns]
        return state

    def _leaves(self, nodes: Nodes, k: int, arg: Any) -> list[Any]:
        return nodes.leaves(self.param_names[k], self.types[k], arg)

    def _made_gradients(
        self,
        positions: Sequence[int],
        state: State,
        gradients: Sequence[Any],
        columns: Sequence[Any],
    ) -> list[Any]:
        """The gradients by parameters, of which those with references are leaves."""
        reals = iter(columns)
        classes = self.gradient_columns(positions)
        found: Columns = {}
        for of in self.taken:
            own = state.columns[of]
            if of in classes:
                own = [next(reals) if has_float(t) else c for t, c in _typed(of, own)]
            found[of] = own
        reader = Reader(found, reals=True) if classes else None
        made = []
        for k, gradient in zip(positions, gradients, strict=True):
            if k not in self.at:
                made.append(gradient)
                continue
            assert reader is not None
            pairs = zip(leaf_types(self.types[k]), state.leaves[k], strict=True)
            own_reals = iter(gradient)
            leaves = [next(own_reals) if has_float(t) else leaf for t, leaf in pairs]
            made.append(reader.value(self.types[k], leaves))
        return made

    # ---- tangents

    def tangents(
        self,
        args: Sequence[Any],
        state: State,
        given: Sequence[Any],
    ) -> tuple[dict[int, list[Any]], list[np.ndarray]]:
        """The tangents of leaves by parameter, and those of the columns of reals.

        Of a parameter that is held fixed the tangent is None.

        Raises:
            ValueError: if a tangent has not the structure of its argument.
        """
        filled: list[Any] = list(args)
        for k in self.at:
            filled[k] = given[k]
            if given[k] is None:
                filled[k] = self._zeros(k, state)
        moved = self.enter(filled, reals=True)
        found: dict[int, list[Any]] = {}
        for k in self.at:
            ty = self.types[k]
            self._check(ty, k, state.leaves[k], moved.leaves[k])
            pairs = zip(leaf_types(ty), moved.leaves[k], strict=True)
            found[k] = [leaf for t, leaf in pairs if has_float(t)]
        for of in self.taken:
            self._check(of.content, self.at[0], state.columns[of], moved.columns[of])
        columns = [
            column
            for of in self.taken
            for ty, column in _typed(of, moved.columns[of])
            if has_float(ty)
        ]
        return found, columns

    def _zeros(self, k: int, state: State) -> Any:
        """The tangent of an argument that is held fixed."""
        columns = {
            of: [np.zeros_like(c) if has_float(t) else c for t, c in _typed(of, found)]
            for of, found in state.columns.items()
        }
        pairs = zip(leaf_types(self.types[k]), state.leaves[k], strict=True)
        leaves = [
            (np.zeros_like(x) if isinstance(x, np.ndarray) else 0.0)
            if has_float(t)
            else x
            for t, x in pairs
        ]
        return Reader(columns, reals=True).value(self.types[k], leaves)

    def _check(
        self, ty: Type, k: int, primal: Sequence[Any], tangent: Sequence[Any]
    ) -> None:
        pairs = zip(is_own(ty), primal, tangent, strict=True)
        for own, x, y in pairs:
            same = np.shape(x) == np.shape(y) and (own or np.array_equal(x, y))
            if not same:
                raise ValueError(
                    f"{self.title}(): the tangent of {self.param_names[k]} has not "
                    "its structure"
                )


class Crossing:
    """A compiled function as it is called: over the boundary and back."""

    def __init__(
        self, boundary: Boundary, request: Request, native: Callable[..., Any]
    ) -> None:
        self.boundary, self.request, self.native = boundary, request, native

    def __call__(self, *args: Any) -> Any:
        with collector_paused():
            state = self.boundary.enter(args)
        found = self.native(*state.native)
        with collector_paused():
            return self.boundary.finish(self.request, found, state)


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


def _columns_of(classes: Sequence[ReferenceNames]) -> tuple[Result, ...]:
    leaves = [leaf for of in classes for leaf in leaf_types(of.content)]
    return tuple(Array(leaf, 1) for leaf in leaves if isinstance(leaf, Scalar))


def _typed(
    of: ReferenceNames, columns: Sequence[np.ndarray]
) -> Iterator[tuple[Type, np.ndarray]]:
    yield from zip(leaf_types(of.content), columns, strict=True)


def _by_class(classes: Sequence[ReferenceNames], columns: Sequence[Any]) -> Columns:
    rest = iter(columns)
    return {of: [next(rest) for _ in leaf_types(of.content)] for of in classes}


def _merged(values: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    pairs = zip(values, tangents, strict=True)
    return [x if t is None else t for x, t in pairs]


def _zero_row(leaf: Type) -> np.ndarray:
    assert isinstance(leaf, Scalar)
    row = np.zeros(1, DTYPES[leaf])
    row.flags.writeable = False
    return row


def _is_real(ty: Result) -> bool:
    return isinstance(ty, Array) and has_float(ty)
