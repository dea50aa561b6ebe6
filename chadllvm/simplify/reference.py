"""References: variables that are put together of a code again where they are used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chadllvm.ir.build import Builder
from chadllvm.ir.term import Apply, Binding, Block, If, Lambda, Operand, Var
from chadllvm.ir.types import I64, Array, Box, Type
from chadllvm.ops.build import Build
from chadllvm.ops.index import Index, MakeBox, Unbox, nothing, sized
from chadllvm.simplify.codes import (
    NONE,
    Code,
    Coding,
    Table,
    last,
    moved,
    of_scalars,
    scalars,
)


@dataclass(frozen=True)
class Reference:
    """A variable that is to be put together of a code again."""

    var: Var
    owners: tuple[Var, ...]
    is_window: bool = False

    @property
    def real(self) -> tuple[Var, ...]:
        """The owners that have elements."""
        return tuple([o for o in self.owners if o is not NONE])

    @property
    def width(self) -> int:
        """How many indices its code has."""
        return max((self.indices(owner.type) for owner in self.real), default=self.axes)

    @property
    def axes(self) -> int:
        """How many axes its code has steps and sizes of."""
        if not self.is_window:
            return 0
        assert isinstance(self.var.type, Array)
        return self.var.type.rank

    @property
    def steps(self) -> int:
        """How many steps its code has along each axis."""
        if not self.is_window:
            return 0
        ranks = (_innermost(owner.type).rank for owner in self.real)
        return max(ranks, default=self.axes)

    def indices(self, ty: Type) -> int:
        """How many indices lead to it, or its first element, from an array."""
        if not self.is_window:
            return rank(ty, self.var.type)
        inner = _innermost(ty)
        return rank(ty, inner) + inner.rank

    @property
    def is_one(self) -> bool:
        """Whether it needs no number."""
        return len(self.real) == len(self.owners) == 1

    @property
    def only(self) -> Var | None:
        """The array that it always is."""
        is_it = self.is_one and self.width == 0 and self.real[0].type == self.var.type
        return self.real[0] if is_it else None

    def slots(self) -> list[Var]:
        """New variables for the code."""
        number = [] if self.is_one else [Var("which", I64)]
        count = self.width + self.axes * (self.steps + 1)
        return [*number, *[Var("at", I64) for _ in range(count)]]

    def values(self, code: Code) -> tuple[Operand, ...]:
        """A code as it is handed on."""
        return scalars(code, self.width, self.steps, not self.is_one)

    def part(self, array: Reference, own: Code, code: Code, out: Coding) -> Code:
        """What the code of a part of an array says, by what the array refers to."""
        if array.is_window:
            return out.inside(own, code)
        path = (*own.path, *last(code.path, self.indices(array.var.type)))
        return code._replace(number=own.number, path=path)

    def code(self, slots: Sequence[Operand], table: Table) -> Code:
        """What was handed on, as a code."""
        number = [table.number(self.real[0])] if self.is_one else []
        return of_scalars([*number, *slots], self.steps, self.axes)

    def name(self, code: Code, table: Table, out: Builder) -> None:
        """Bind the variable to what a code says."""
        empty = nothing(out, self.var.type) if self._may_be_nothing else None

        def part(owner: Var | None, inner: Builder) -> Operand:
            if owner is None:
                assert empty is not None
                return empty
            if self.is_window:
                return _made(owner, code, inner)
            return self._row(owner, code, inner)

        self._of_owner(code, table, out, part)
        binding = out.bindings.pop()
        out.bindings.append(Binding((self.var,), binding.expr, binding.span))

    def element(
        self, code: Code, at: Sequence[Operand], table: Table, out: Builder
    ) -> Operand:
        """The element of a window at indices."""
        assert isinstance(self.var.type, Array)
        ty = self.var.type.elem

        def part(owner: Var | None, inner: Builder) -> Operand:
            return _element(owner, code, at, inner) if owner else nothing(inner, ty)

        return self._of_owner(code, table, out, part)

    def _of_owner(
        self,
        code: Code,
        table: Table,
        out: Builder,
        part: Callable[[Var | None, Builder], Operand],
    ) -> Operand:
        """What `part` reads of the owner that a code is about, None standing for none.

        With indices it reads no other, where they may lead outside.
        """
        *others, rest = (*self.real, None) if self._may_be_nothing else self.real
        tests = [
            out.prim("ieq", code.number, table.number(owner or NONE))
            for owner in others
        ]

        def read(k: int, inner: Builder) -> Operand:
            if k == len(others):
                return part(rest, inner)
            one, other = inner.child(), inner.child()
            then = one.block([part(others[k], one)])
            if self.width:
                orelse = other.block([read(k + 1, other)])
            else:
                orelse = Block((), (read(k + 1, inner),))
            return inner.one(If(tests[k], then, orelse), self.var.name)

        return read(0, out)

    @property
    def _may_be_nothing(self) -> bool:
        return NONE in self.owners or not self.owners

    def _row(self, owner: Var, code: Code, out: Builder) -> Var:
        """The row of an owner that a code is about."""
        path = list(last(code.path, rank(owner.type, self.var.type)))
        row = owner
        while row.type != self.var.type:
            match row.type:
                case Box():
                    row = out.one(Apply(Unbox(), (row,)), row.name)
                case Array(_, whole) if path:
                    at, path = path[:whole], path[whole:]
                    row = out.one(Apply(Index(), (row, *at)), "row")
                case _:
                    row = out.one(Apply(MakeBox(), (row,)), row.name)
        return row


def rank(ty: Type, part: Type) -> int:
    """How many indices lead from an array of one type to a row of the other."""
    match ty, part:
        case (Box(content), _) if ty != part:
            return rank(content, part)
        case (Array(elem), Box(content)) if ty != content and elem != part:
            return rank(ty, content)
        case (Array(elem, whole), Array(inner, left)) if elem == inner:
            return whole - left
        case (Array(elem, whole), _) if ty != part and Box(ty) != part:
            return whole + rank(elem, part)
        case _:
            return 0


def _innermost(ty: Type) -> Array:
    """The type of the arrays of numbers that an array is, or that it holds."""
    match ty:
        case Array(Box(content)) | Box(content):
            return _innermost(content)
        case _:
            assert isinstance(ty, Array)
            return ty


def _element(owner: Var, code: Code, at: Sequence[Operand], out: Builder) -> Var:
    """An element of a window."""
    inner = _innermost(owner.type)
    path = list(last(code.path, rank(owner.type, inner) + inner.rank))
    row = owner
    while row.type != inner:
        match row.type:
            case Array(_, whole):
                index, path = path[:whole], path[whole:]
                row = out.one(Apply(Index(), (row, *index)), "row")
            case _:
                row = out.one(Apply(Unbox(), (row,)), row.name)
    steps = [last(axis, inner.rank) for axis in code.steps]
    return out.one(Apply(Index(), (row, *moved(path, steps, at, out))))


def _made(owner: Var, code: Code, out: Builder, at: Sequence[Var] = ()) -> Var:
    """The elements of a window, as an array: rows of it, at some indices."""
    *_, last_axis = range(len(code.sizes))
    body, i = out.child(), Var("i", I64)
    indices = (*at, i)
    if len(at) == last_axis:
        row = _element(owner, code, indices, body)
    else:
        row = _made(owner, code, body, indices)
    args = (code.sizes[len(at)],)
    made = out.apply(Build(), args, [Lambda((i,), body.block([row]))])[0]
    return made if at else sized(out, made, code.sizes)
