"""What a reference to an array is in scalars: the number of an owner, and where in it.

The owner is an array that is there anyway. Of it the reference may be a row, at
indices, or a *window*: the elements at some indices, then along each axis at these
indices plus steps, and so on, as many as a size says. So are slices, columns, diagonals
and transposes, and what is cut from them. A code hands on

    number, index, …, index                                     of a row
    number, index, …, index, step, …, step, …, size, …, size    of a window

Owners of several ranks need not have as many indices: each takes the last ones. There
are steps along each axis, for the indices of the innermost array alone.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.rewrite import Renaming
from chadllvm.ir.term import Apply, Binding, Block, If, Lambda, Lit, Operand, Var
from chadllvm.ir.types import I64, Array
from chadllvm.ops.index import Dim, Index
from chadllvm.support.diagnostic import Span


class Code(NamedTuple):
    """The number of an owner, and indices of a row of it or of the first element of a
    window, whose steps and size along each axis follow."""

    number: Operand
    path: tuple[Operand, ...] = ()
    steps: tuple[tuple[Operand, ...], ...] = ()
    sizes: tuple[Operand, ...] = ()


@dataclass(frozen=True)
class Part:
    """A row of an array; what is in a box, or a box, if there are no indices."""

    array: Var
    indices: tuple[Operand, ...]


@dataclass(frozen=True)
class Window:
    """So many elements of an array along each axis: those at the places of a function.

    The function gives the indices of an element; it is of an index for each axis, and
    affine.
    """

    array: Var
    counts: tuple[Operand, ...]
    place: Lambda


@dataclass(frozen=True)
class Shaped:
    """An array whose rows are of these sizes, also where there are none."""

    array: Var
    sizes: tuple[Operand, ...]


@dataclass(frozen=True)
class Choice:
    """One of two arrays, or of two such choices."""

    cond: Operand
    then: Var | Part | Choice
    orelse: Var | Part | Choice


@dataclass(frozen=True)
class Coded:
    """What a code says, which is one of these owners, or a part of it."""

    owners: tuple[Var, ...]
    code: Code
    is_window: bool = False


Meaning = Part | Window | Shaped | Choice | Coded

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
        # The columns of lists, in which the scalars of their elements' codes are.
        self._lists: dict[Var, tuple[Var, ...]] = {}

    def enter(self, var: Var, meaning: Meaning) -> None:
        self._meaning[var] = meaning

    def enter_list(self, var: Var, columns: tuple[Var, ...]) -> None:
        self._lists[var] = columns

    def forget_owners(self) -> None:
        """What owners were found by what was known, where more is known now."""
        self._owners.clear()

    def is_window(self, var: Var) -> bool:
        match self._meaning.get(var):
            case Window() | Coded(is_window=True):
                return True
            case Part(array) | Shaped(array):
                return self.is_window(array)
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
            case Part(array) if not windows:
                return self.owners(array)
            case Part(array) | Window(array) | Shaped(array) if windows:
                return self.owners(array, windows=True)
            case Choice() as choice:
                return self._chosen(choice)
            case Coded(owners, _, is_window) if is_window == windows:
                return owners
            case _:
                return (var,)

    def _chosen(self, meant: Var | Part | Choice) -> tuple[Var, ...]:
        match meant:
            case Choice(_, then, orelse):
                return joined(self._chosen(then), self._chosen(orelse))
            case Part(array):
                return self.owners(array)
            case _:
                return self.owners(meant)

    def takes_elements(self, meant: Var | Part | Choice, lists: Container[Var]) -> bool:
        """Whether of some lists nothing but elements is referred to."""
        match meant:
            case Part(array):
                return array in lists or self.takes_elements(array, lists)
            case Choice(_, then, orelse):
                sides = (then, orelse)
                return all(self.takes_elements(side, lists) for side in sides)
        match self._meaning.get(meant):
            case Part() | Choice() as found:
                return self.takes_elements(found, lists)
        return not any(
            owner in lists and owner.type == meant.type for owner in self.owners(meant)
        )

    def number(self, owner: Var) -> Operand:
        return lit(self._numbers.setdefault(owner, len(self._numbers)))

    def same_number(self, owner: Var, other: Var) -> None:
        """The same array goes by another name from somewhere on."""
        self.number(other)
        self._numbers[owner] = self._numbers[other]

    def code(
        self, meant: Var | Part | Choice, out: Coding, windows: bool = False
    ) -> Code:
        """What a variable refers to, in scalars that `out` computes."""
        match meant:
            case Part(array, indices):
                if array in self._lists:
                    columns, indices = self._lists[array], indices[1:]
                    number, path, *_ = element_code(columns, meant.indices[0], out)
                else:
                    number, path, *_ = self.code(array, out)
                return Code(number, (*path, *indices))
            case Choice(cond, then, orelse):
                return self._choice(cond, (then, orelse), out)
        if (meant, windows) not in out.codes:
            code = self._window(meant, out) if windows else self._row(meant, out)
            out.codes[meant, windows] = code
        return out.codes[meant, windows]

    def _choice(
        self, cond: Operand, meant: Sequence[Var | Part | Choice], out: Coding
    ) -> Code:
        """One of two codes; of lists nothing is read but where a branch has read it."""
        sides = [Coding(out.span) if self._lists else out for _ in meant]
        then, orelse = (self.code(m, s) for m, s in zip(meant, sides, strict=True))
        if not self._lists:
            return out.choice(cond, then, orelse)
        return out.choice(cond, then, orelse, *(side.bindings for side in sides))

    def all_of(self, owner: Var, var: Var, out: Coding, windows: bool) -> Code:
        """All of an owner, which has as many elements as a variable."""
        if not windows:
            return Code(self.number(owner))
        return out.all_of(self.number(owner), (), var)

    def _row(self, var: Var, out: Coding) -> Code:
        match self._meaning.get(var):
            case Part() | Choice() as meant:
                return self.code(meant, out)
            case Coded(owners, code, is_window=False):
                return self._followed(var, owners, code, out)
            case _:
                return Code(self.number(var))

    def _followed(
        self, var: Var, owners: Iterable[Var], code: Code, out: Coding
    ) -> Code:
        """A code by what owners have turned out to be: lists, or references as well."""
        for owner in owners if self._lists else ():
            if owner in self._lists or owner in self._meaning:
                inner = Coding(out.span)
                at = last(code.path, _rank(owner) - _rank(var))
                meant = self.code(Part(owner, at) if at else owner, inner)
                is_this = out.prim("ieq", code.number, self.number(owner))
                code = out.choice(is_this, meant, code, inner.bindings)
        return code

    def _window(self, var: Var, out: Coding) -> Code:
        match self._meaning.get(var):
            case Coded(_, code, is_window=True):
                return code
            case Window(array, counts, place):
                return self._within(array, out.window(counts, place), out)
            case Part(array, indices) if self.is_window(array):
                return out.row(self.code(array, out, windows=True), indices)
            case Shaped(array, sizes) if self.is_window(array):
                code = self.code(array, out, windows=True)
                given = [out.positive(size) for size in sizes]
                rest = code.sizes[1 + len(given) :]
                return code._replace(sizes=(code.sizes[0], *given, *rest))
            case _:
                number, path, *_ = self._row(var, out)
                return out.all_of(number, path, var)

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

    def choice(
        self,
        cond: Operand,
        then: Code,
        orelse: Code,
        inside: Iterable[Binding] = (),
        otherwise: Iterable[Binding] = (),
    ) -> Code:
        """One of two codes, with what computes each of them."""
        width = max(len(then.path), len(orelse.path))
        steps = max((len(s) for c in (then, orelse) for s in c.steps), default=0)
        sides = [
            Block(tuple(made), scalars(code, width, steps, is_numbered=True))
            for code, made in ((then, inside), (orelse, otherwise))
        ]
        hints = ["at"] * (len(sides[0].results) - 1)
        given = self.emit(If(cond, *sides), "which", *hints)
        return of_scalars(given, steps, len(then.sizes))

    def all_of(self, number: Operand, path: Sequence[Operand], var: Var) -> Code:
        """All of a row at some indices, which has as many elements as a variable."""
        assert isinstance(var.type, Array)
        axes = range(var.type.rank)
        sizes = [self.one(Apply(Dim(axis), (var,))) for axis in axes]
        steps = [tuple([lit(int(k == axis)) for k in axes]) for axis in axes]
        return Code(number, (*path, *[lit(0)] * len(axes)), (*steps,), (*sizes,))

    def window(self, counts: Sequence[Operand], place: Lambda) -> Code:
        """The elements at the places of a function, of no owner yet."""
        zeros = [lit(0) for _ in counts]
        start = _at(place, zeros, self)
        sizes: list[Operand] = []
        steps: list[tuple[Operand, ...]] = []
        for axis, count in enumerate(counts):
            size = self.positive(count)
            if sizes and not (isinstance(sizes[-1], Lit) and sizes[-1].value):
                has_rows = self.prim("ilt", lit(0), sizes[-1])
                size = self.prim("iselect", has_rows, size, lit(0))
            sizes.append(size)
            unit = [*zeros[:axis], lit(1), *zeros[axis + 1 :]]
            after = _at(place, unit, self)
            pairs = zip(after, start, strict=True)
            steps.append(tuple([_difference(*pair, self) for pair in pairs]))
        return Code(lit(0), start, (*steps,), (*sizes,))

    def positive(self, size: Operand) -> Operand:
        """A size, which is 0 if it is negative."""
        if isinstance(size, Lit):
            return lit(max(int(size.value), 0))
        return self.prim("imax", size, lit(0))

    def inside(self, outer: Code, window: Code) -> Code:
        """A window in a window."""
        rank = len(outer.sizes)
        within, starts = _split(outer)
        begins = moved(starts, outer.steps, last(window.path, rank), self)
        zeros = [lit(0) for _ in starts]
        steps = [
            moved(zeros, outer.steps, last(along, rank), self) for along in window.steps
        ]
        return Code(outer.number, (*within, *begins), (*steps,), window.sizes)

    def row(self, window: Code, indices: Sequence[Operand]) -> Code:
        """A row of a window."""
        count = len(indices)
        within, starts = _split(window)
        begins = moved(starts, window.steps, indices, self)
        return Code(
            window.number,
            (*within, *begins),
            window.steps[count:],
            window.sizes[count:],
        )


def _rank(array: Var) -> int:
    assert isinstance(array.type, Array)
    return array.type.rank


def _split(window: Code) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """The indices of the row that a window is of, and those of its first element."""
    end = len(window.path) - max(map(len, window.steps), default=0)
    return window.path[:end], window.path[end:]


def scalars(
    code: Code, width: int, steps: int, is_numbered: bool
) -> tuple[Operand, ...]:
    """A code as it is handed on, with so many indices, and steps along each axis."""
    number = (code.number,) if is_numbered else ()
    along = [step for axis in code.steps for step in last(axis, steps)]
    return (*number, *last(code.path, width), *along, *code.sizes)


def of_scalars(given: Sequence[Operand], steps: int, axes: int) -> Code:
    """The code that was handed on, its number first, then indices, steps and sizes."""
    number, *rest = given
    end = len(rest) - axes
    start = end - axes * steps
    along = [tuple(rest[k : k + steps]) for k in range(start, end, steps or 1)]
    return Code(number, tuple(rest[:start]), (*along,), tuple(rest[end:]))


def element_code(columns: Sequence[Operand], at: Operand, out: Builder) -> Code:
    """The code of an element of a list."""
    given = [out.one(Apply(Index(), (column, at))) for column in columns]
    return of_scalars(given, 0, 0)


def joined(*parts: Iterable[Var]) -> tuple[Var, ...]:
    return tuple(dict.fromkeys(var for part in parts for var in part))


def last(path: Sequence[Operand], width: int) -> tuple[Operand, ...]:
    """So many scalars of a path: the last, behind zeros that nobody looks at."""
    kept = path[max(len(path) - width, 0) :]
    return (*[lit(0)] * (width - len(kept)), *kept)


def moved(
    starts: Sequence[Operand],
    steps: Sequence[Sequence[Operand]],
    at: Sequence[Operand],
    out: Builder,
) -> tuple[Operand, ...]:
    """Indices so many steps further along each axis."""
    places = [*starts]
    for axis, index in zip(steps, at, strict=False):
        for k, step in enumerate(last(axis, len(places))):
            places[k] = _sum(places[k], _product(step, index, out), out)
    return tuple(places)


def _product(step: Operand, index: Operand, out: Builder) -> Operand:
    if lit(0) in (step, index):
        return lit(0)
    if lit(1) in (step, index):
        return index if step == lit(1) else step
    return out.prim("imul", step, index)


def _sum(start: Operand, way: Operand, out: Builder) -> Operand:
    if lit(0) in (start, way):
        return way if start == lit(0) else start
    return out.prim("iadd", start, way)


def _difference(end: Operand, start: Operand, out: Builder) -> Operand:
    if start == lit(0) or end == start:
        return lit(0) if end == start else end
    return out.prim("isub", end, start)


def _at(place: Lambda, indices: Sequence[Operand], out: Builder) -> tuple[Operand, ...]:
    """The places that belong to indices."""
    given = dict(zip(place.params, indices, strict=True))
    renaming = Renaming(given, fresh=True)
    out.bindings += map(renaming.binding, place.body.bindings)
    return renaming.operands(place.body.results)
