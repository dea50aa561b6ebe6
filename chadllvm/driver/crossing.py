"""Calls over the border of `border.py`: arguments in, results and gradients out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chadllvm.backend.nodes import Columns, Nodes, Writer, is_own
from chadllvm.backend.objects import Reader
from chadllvm.backend.outs import filled
from chadllvm.backend.results import leaf_types
from chadllvm.driver.border import Border
from chadllvm.driver.pipeline import collector_paused
from chadllvm.ir.record import ReferenceNames
from chadllvm.ir.types import Product, Type, has_float, holds_reference
from chadllvm.support import call_rules
from chadllvm.support.request import Request


@dataclass
class State:
    """The arguments of a call as native code takes them."""

    # For each parameter with references its leaves, by position.
    leaves: dict[int, list[Any]] = field(default_factory=dict)
    columns: Columns = field(default_factory=dict)
    # All arguments in order, with the columns behind.
    native: list[Any] = field(default_factory=list)


class Crossing:
    """A compiled function as it is called: over the boundary and back."""

    def __init__(
        self, boundary: Border, request: Request, native: Callable[..., Any]
    ) -> None:
        self.boundary, self.request, self.native = boundary, request, native
        self._writers: dict[bool, Writer] = {}

    def __call__(self, *args: Any, out: Any = None) -> Any:
        with collector_paused():
            state = self.enter(args)
        found = self.native(*state.native)
        with collector_paused():
            made = self.finish(found, state)
        return filled(self.boundary.title, made, out)

    def finish(self, found: Sequence[Any], state: State, moved: Any = None) -> Any:
        """What the user gets of what native code gave; with `moved`, its tangent."""
        request, ty = self.request, self.boundary.value
        if request.argnums is None:
            return self._value(ty, found, moved, 0)
        if not request.value:
            gradients = self._gradients(request, found, state, moved, 0)
            if not request.has_aux:
                return gradients
            assert isinstance(ty, Product)
            return gradients, self._value(ty.fields[1], found, moved, 2)
        value = self._value(ty, found, moved, 0)
        return value, self._gradients(request, found, state, moved, 2)

    def _value(self, ty: Type, found: Sequence[Any], moved: Any, at: int) -> Any:
        value, columns = found[at : at + 2]
        if moved is None:
            if not holds_reference(ty):
                return value
            return Reader(_by_class(self.boundary.given, columns)).value(ty, value)
        if not holds_reference(ty):
            return moved[at]
        both = _merged(columns, moved[at + 1])
        reader = Reader(_by_class(self.boundary.given, both), reals=True)
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
        if not self.boundary.at:
            return State(native=[*args])
        if reals not in self._writers:
            types = [self.boundary.types[k] for k in self.boundary.at]
            title = f"{self.boundary.title}()"
            self._writers[reals] = Writer(title, types, reals=reals)
        nodes, state = self._writers[reals].begin(), State()
        for k, arg in enumerate(args):
            if k not in self.boundary.at:
                state.native.append(arg)
                continue
            state.leaves[k] = self._leaves(nodes, k, arg)
            state.native += state.leaves[k]
        names = ", ".join(self.boundary.param_names[k] for k in self.boundary.at)
        state.columns = nodes.columns(names)
        state.native += [c for columns in state.columns.values() for c in columns]
        return state

    def _leaves(self, nodes: Nodes, k: int, arg: Any) -> list[Any]:
        return nodes.leaves(self.boundary.param_names[k], self.boundary.types[k], arg)

    def _made_gradients(
        self,
        positions: Sequence[int],
        state: State,
        gradients: Sequence[Any],
        columns: Sequence[Any],
    ) -> list[Any]:
        """The gradients by parameters, of which those with references are leaves."""
        reals = iter(columns)
        classes = self.boundary.gradient_columns(positions)
        found: Columns = {}
        for of in self.boundary.taken:
            own = state.columns[of]
            if of in classes:
                own = [next(reals) if has_float(t) else c for t, c in _typed(of, own)]
            found[of] = own
        reader = Reader(found, reals=True) if classes else None
        made = []
        for k, gradient in zip(positions, gradients, strict=True):
            if k not in self.boundary.at:
                made.append(gradient)
                continue
            assert reader is not None
            ty = self.boundary.types[k]
            pairs = zip(leaf_types(ty), state.leaves[k], strict=True)
            own_reals = iter(gradient)
            leaves = [next(own_reals) if has_float(t) else leaf for t, leaf in pairs]
            made.append(reader.value(ty, leaves))
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
        for k in self.boundary.at:
            filled[k] = given[k]
            if given[k] is None:
                filled[k] = self._zeros(k, state)
        moved = self.enter(filled, reals=True)
        found: dict[int, list[Any]] = {}
        for k in self.boundary.at:
            ty = self.boundary.types[k]
            self._check(ty, k, state.leaves[k], moved.leaves[k])
            pairs = zip(leaf_types(ty), moved.leaves[k], strict=True)
            found[k] = [leaf for t, leaf in pairs if has_float(t)]
        for of in self.boundary.taken:
            self._check(
                of.content, self.boundary.at[0], state.columns[of], moved.columns[of]
            )
        columns = [
            column
            for of in self.boundary.taken
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
        pairs = zip(leaf_types(self.boundary.types[k]), state.leaves[k], strict=True)
        leaves = [
            (np.zeros_like(x) if isinstance(x, np.ndarray) else 0.0)
            if has_float(t)
            else x
            for t, x in pairs
        ]
        return Reader(columns, reals=True).value(self.boundary.types[k], leaves)

    def _check(
        self, ty: Type, k: int, primal: Sequence[Any], tangent: Sequence[Any]
    ) -> None:
        title, name = self.boundary.title, self.boundary.param_names[k]
        for own, x, y in zip(is_own(ty), primal, tangent, strict=True):
            if np.shape(x) != np.shape(y) or not (own or np.array_equal(x, y)):
                raise call_rules.unlike_tangent(
                    f"{title}(): the tangent of {name} is made otherwise"
                )


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
