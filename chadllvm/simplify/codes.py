"""What a reference to an array is in scalars: the number of an owner, and where in it.

The owner is an array that is there anyway. Of it the reference may be a row, at
indices, or a *window*: the elements at some indices, then at these indices plus steps,
and so on, as many as `count` says. So are slices, columns and diagonals. A code hands
on

    number, index, …, index                               of a row
    number, index, …, index, step, …, step, count         of a window

Owners of several ranks need not have as many indices: each takes the last ones. There
are steps for the indices of the innermost array alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chadllvm.diagnostic import Span
from chadllvm.ir.build import Builder, lit
from chadllvm.ir.rewrite import Renaming
from chadllvm.ir.term import Apply, Binding, Block, If, Lambda, Operand, Var
from chadllvm.ir.types import I64, Array, Box, Type
from chadllvm.ops.build import Build
from chadllvm.ops.index import Dim, Index, MakeBox, Unbox, nothing


class Code(NamedTuple):
    """The number of an owner, and indices of a row of it or of the first element of a
    window, whose steps and number of elements follow."""

    number: Operand
    path: tuple[Operand, ...] = ()
    steps: tuple[Operand, ...] = ()
    size: Operand | None = None


@dataclass(frozen=True)
class Part:
    """A row of an array; what is in a box, or a box, if there are no indices."""

    array: Var
    indices: tuple[Operand, ...]


@dataclass(frozen=True)
class Window:
    """`count` elements of an array: those at the places of a function.

    The function gives the indices of an element; it is of one index, and affine.
    """

    array: Var
    count: Operand
    place: Lambda


@dataclass(frozen=True)
class Choice:
    """One of two arrays."""

    cond: Operand
    then: Var | Part
    orelse: Var | Part


@dataclass(frozen=True)
class Coded:
    """What a code says, which is one of these owners, or a part of it."""

    owners: tuple[Var, ...]
    code: Code
    is_window: bool = False


Meaning = Part | Window | Choice | Coded

# The owner of an array without elements, at which nobody looks.
NONE = Var("none", I64)


class Table:
    """What variables refer to, and the numbers of owners.

    Who does not ask for windows takes those for arrays of their own.
    """

    def __init__(self) -> None:
        self._meaning: dict[Var, Meaning] = {}
        self._owners: dict[tuple[Var, bool], tuple[Var, ...]] = {}
        self._numbers: dict[Var, int] = {NONE: 0}

    def enter(self, var: Var, meaning: Meaning) -> None:
        self._meaning[var] = meaning

    def is_window(self, var: Var) -> bool:
        match self._meaning.get(var):
            case Window() | Coded(is_window=True):
                return True
            case _:
                return False

    def owners(self, var: Var, windows: bool = False) -> tuple[Var, ...]:
        """The arrays that a variable may refer to: itself, if it is no reference."""
        windows = windows and self.is_window(var)
        if (var, windows) not in self._owners:
            self._owners[var, windows] = self._found(var, windows)
        return self._owners[var, windows]

    def _found(self, var: Var, windows: bool) -> tuple[Var, ...]:
        match self._meaning.get(var):
            case Part(array):
                return self.owners(array)
            case Window(array) if windows:
                return self.owners(array, windows=True)
            case Choice(_, then, orelse):
                sides = [s.array if isinstance(s, Part) else s for s in (then, orelse)]
                return joined(*map(self.owners, sides))
            case Coded(owners, _, is_window) if is_window == windows:
                return owners
            case _:
                return (var,)

    def number(self, owner: Var) -> Operand:
        return lit(self._numbers.setdefault(owner, len(self._numbers)))

    def same_number(self, owner: Var, other: Var) -> None:
        """The same array goes by another name from somewhere on."""
        self.number(other)
        self._numbers[owner] = self._numbers[other]

    def code(self, meant: Var | Part, out: Coding, windows: bool = False) -> Code:
        """What a variable refers to, in scalars that `out` computes."""
        if isinstance(meant, Part):
            number, path, *_ = self.code(meant.array, out)
            return Code(number, (*path, *meant.indices))
        if (meant, windows) not in out.codes:
            code = self._window(meant, out) if windows else self._row(meant, out)
            out.codes[meant, windows] = code
        return out.codes[meant, windows]

    def all_of(self, owner: Var, var: Var, out: Coding, windows: bool) -> Code:
        """All of an owner, which has as many elements as a variable."""
        if not windows:
            return Code(self.number(owner))
        size = out.one(Apply(Dim(0), (var,)))
        return Code(self.number(owner), (lit(0),), (lit(1),), size)

    def _row(self, var: Var, out: Coding) -> Code:
        match self._meaning.get(var):
            case Part() as part:
                return self.code(part, out)
            case Choice(cond, then, orelse):
                return out.choice(cond, self.code(then, out), self.code(orelse, out))
            case Coded(_, code, is_window=False):
                return code
            case _:
                return Code(self.number(var))

    def _window(self, var: Var, out: Coding) -> Code:
        match self._meaning.get(var):
            case Coded(_, code, is_window=True):
                return code
            case Window(array, count, place):
                size = out.prim("imax", count, lit(0))
                first, second = (_at(place, lit(i), out) for i in (0, 1))
                steps = [
                    out.prim("isub", after, start)
                    for start, after in zip(first, second, strict=True)
                ]
                return self._within(array, Code(lit(0), first, (*steps,), size), out)
            case _:
                number, path, *_ = self._row(var, out)
                size = out.one(Apply(Dim(0), (var,)))
                return Code(number, (*path, lit(0)), (lit(1),), size)

    def _within(self, array: Var, window: Code, out: Coding) -> Code:
        """A window of what may be a window itself."""
        if self.is_window(array):
            return out.inside(self.code(array, out, windows=True), window)
        number, path, *_ = self.code(array, out)
        return window._replace(number=number, path=(*path, *window.path))


class Coding(Builder):
    """The bindings of a block that computes codes, each of them once."""

    def __init__(self, span: Span, bindings: Iterable[Binding] = ()) -> None:
        super().__init__(span)
        self.bindings += bindings
        self.codes: dict[tuple[Var, bool], Code] = {}

    def choice(self, cond: Operand, then: Code, orelse: Code) -> Code:
        """One of two codes."""
        width = max(len(then.path), len(orelse.path))
        steps = max(len(then.steps), len(orelse.steps))
        sides = [
            Block((), scalars(code, width, steps, is_numbered=True))
            for code in (then, orelse)
        ]
        hints = ["at"] * (len(sides[0].results) - 1)
        given = self.emit(If(cond, *sides), "which", *hints)
        return of_scalars(given, steps)

    def part(self, array: Reference, own: Code, code: Code, part: Reference) -> Code:
        """What the code of a part of an array says, by what the array refers to."""
        if array.is_window:
            return self.inside(own, code)
        width = rank(array.var.type, part.var.type) + part.is_window
        path = (*own.path, *last(code.path, width))
        return code._replace(number=own.number, path=path)

    def inside(self, outer: Code, window: Code) -> Code:
        """A window in a window."""
        (start,), (step,) = last(window.path, 1), last(window.steps, 1)
        end = len(outer.path) - len(outer.steps)
        row, starts = outer.path[:end], outer.path[end:]
        begins = [
            self.prim("iadd", at, self.prim("imul", stride, start))
            for at, stride in zip(starts, outer.steps, strict=True)
        ]
        steps = [self.prim("imul", stride, step) for stride in outer.steps]
        return Code(outer.number, (*row, *begins), (*steps,), window.size)


def scalars(
    code: Code, width: int, steps: int, is_numbered: bool
) -> tuple[Operand, ...]:
    """A code as it is handed on, with so many indices and steps."""
    number = (code.number,) if is_numbered else ()
    count = () if code.size is None else (code.size,)
    return (*number, *last(code.path, width), *last(code.steps, steps), *count)


def of_scalars(given: Sequence[Operand], steps: int) -> Code:
    """The code that was handed on, its number first."""
    number, *rest = given
    if not steps:
        return Code(number, tuple(rest))
    *path, count = rest
    end = len(path) - steps
    return Code(number, tuple(path[:end]), tuple(path[end:]), count)


def joined(*parts: Iterable[Var]) -> tuple[Var, ...]:
    return tuple(dict.fromkeys(var for part in parts for var in part))


def last(path: Sequence[Operand], width: int) -> tuple[Operand, ...]:
    """So many scalars of a path: the last, behind zeros that nobody looks at."""
    kept = path[max(len(path) - width, 0) :]
    return (*[lit(0)] * (width - len(kept)), *kept)


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
        ranks = (rank(owner.type, self.var.type) for owner in self.real)
        return max(ranks, default=0) + self.is_window

    @property
    def steps(self) -> int:
        """How many steps its code has."""
        if not self.is_window:
            return 0
        return max((_innermost(owner.type).rank for owner in self.real), default=1)

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
        count = self.width + self.steps + self.is_window
        return [*number, *[Var("at", I64) for _ in range(count)]]

    def values(self, code: Code) -> tuple[Operand, ...]:
        """A code as it is handed on."""
        return scalars(code, self.width, self.steps, not self.is_one)

    def code(self, slots: Sequence[Operand], table: Table) -> Code:
        """What was handed on, as a code."""
        number = [table.number(self.real[0])] if self.is_one else []
        return of_scalars([*number, *slots], self.steps)

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

        *others, rest = (*self.real, None) if self._may_be_nothing else self.real
        inner = out.child() if others else out
        block = inner.block([part(rest, inner)])
        for owner in reversed(others):
            assert owner is not None
            is_this = out.prim("ieq", code.number, table.number(owner))
            inner = out.child()
            then = inner.block([part(owner, inner)])
            block = Block((), out.emit(If(is_this, then, block), self.var.name))
        binding = out.bindings.pop()
        out.bindings.append(Binding((self.var,), binding.expr, binding.span))

    def element(self, code: Code, at: Operand, table: Table, out: Builder) -> Operand:
        """The element of a window at an index, which may be outside of other owners."""
        assert isinstance(self.var.type, Array)
        *others, rest = (*self.real, None) if self._may_be_nothing else self.real
        ty = self.var.type.elem

        def element(left: Sequence[Var | None], inner: Builder) -> Operand:
            owner, *more = left
            if owner is None:
                return nothing(inner, ty)
            if not more:
                return _element(owner, code, at, inner)
            is_this = inner.prim("ieq", code.number, table.number(owner))
            one, other = inner.child(), inner.child()
            blocks = (
                one.block([_element(owner, code, at, one)]),
                other.block([element(more, other)]),
            )
            return inner.one(If(is_this, *blocks), self.var.name)

        return element((*others, rest), out)

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


def _innermost(ty: Type) -> Array:
    """The type of the arrays of numbers that an array is, or that it holds."""
    match ty:
        case Array(Box(content)) | Box(content):
            return _innermost(content)
        case _:
            assert isinstance(ty, Array)
            return ty


def _element(owner: Var, code: Code, at: Operand, out: Builder) -> Var:
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
    places = [
        _moved(start, step, at, out)
        for start, step in zip(path, last(code.steps, inner.rank), strict=True)
    ]
    return out.one(Apply(Index(), (row, *places)))


def _moved(start: Operand, step: Operand, at: Operand, out: Builder) -> Operand:
    """An index so many steps further."""
    if step == lit(0):
        return start
    return out.prim("iadd", start, out.prim("imul", step, at))


def _made(owner: Var, code: Code, out: Builder) -> Var:
    """The elements of a window, as an array."""
    assert code.size is not None
    body, i = out.child(), Var("i", I64)
    element = Lambda((i,), body.block([_element(owner, code, i, body)]))
    return out.apply(Build(), (code.size,), [element])[0]


def _at(place: Lambda, index: Operand, out: Builder) -> tuple[Operand, ...]:
    """The places that belong to an index."""
    renaming = Renaming({place.params[0]: index}, fresh=True)
    out.bindings += map(renaming.binding, place.body.bindings)
    return renaming.operands(place.body.results)
