"""What is known about integers at a place in a program, and a small prover.

    for i in build(n): 0 <= i <= n - 1        k = bound(e, n): 0 <= k <= n - 1
    dim[0](a) >= 0                            if ilt(i, n) { here i <= n - 1 }

Integers wrap around, so a *form* (`affine`) gives a value modulo 2^64 only, unless the
ranges of its variables show that it cannot leave the range of i64. Indices of loops and
sizes of arrays are taken to be less than 2^62, nothing is assumed of a user's integers.
A variable that is not a polynomial of others is an *atom*; so are sizes of arrays, and
max(n, 0) for the size of what `build(n)` makes, whether or not a variable holds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from chadllvm.ir.op import ArrayOp, Prim
from chadllvm.ir.term import (
    Apply,
    Binding,
    Close,
    Const,
    If,
    Lambda,
    Lit,
    Open,
    Operand,
    Var,
)
from chadllvm.ir.types import BOOL, I64, Acc, Array, Box
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Dim, Empty, Index, Sized, Zeros
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.require import Require
from chadllvm.ops.update import Update
from chadllvm.simplify.affine import Form, Monomial

LIMIT = 1 << 62
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1
_ZERO = Form.constant(0)
# How many steps the search for a proof may take, and how many facts it looks at.
_STEPS = 80
_NEAR = 12

_Key = frozenset[tuple[Monomial, int]]


@dataclass(eq=False)
class _Atom:
    """The bounds of an atom: forms of older atoms, and numbers.

    It is one of the `cases`, if there are any; it is `equal` to a form if none of the
    forms `given` is negative.
    """

    order: int
    low: int = _LOWEST
    high: int = _HIGHEST
    lower: list[Form] = field(default_factory=list)
    upper: list[Form] = field(default_factory=list)
    cases: tuple[Form, ...] = ()
    equal: Form | None = None
    given: tuple[Form, ...] = ()

    @property
    def is_bounded(self) -> bool:
        """Whether there is a form to put in its place."""
        return bool(self.lower or self.upper or self.cases or self.equal)


class Facts:
    """Learns from bindings in program order; `loop` and `branch` open scopes."""

    def __init__(self) -> None:
        self.depth = 0
        self.depth_of: dict[Var, int] = {}
        # The atoms that no variable holds: a size of an array, max(form, 0), and a size
        # of rows with the number of rows: 0 if there are none.
        self.size_of: dict[Var, tuple[Var, int]] = {}
        self.clamp_of: dict[Var, Form] = {}
        self.rows_of: dict[Var, tuple[Form, Form]] = {}
        self._forms: dict[Var, Form] = {}
        self._atoms: dict[Var, _Atom] = {}
        self._sizes: dict[tuple[Var, int], Form] = {}
        self._clamps: dict[_Key, Form] = {}
        self._rows: dict[tuple[_Key, _Key], Form] = {}
        self._supposed: dict[tuple[Var, int], tuple[Form, tuple[Form, ...]]] = {}
        self._conditions: dict[Var, tuple[str, tuple[Operand, ...]]] = {}
        self._arrays: dict[Var, tuple[Binding, int]] = {}
        self._assumed: list[Form] = []

    def bind(self, variables: Sequence[Var]) -> None:
        """Enter variables of which nothing is known."""
        for var in variables:
            self.depth_of[var] = self.depth

    @contextmanager
    def nested(self, params: Sequence[Var] = ()) -> Iterator[None]:
        """The scope of a nested block under its parameters."""
        self.depth += 1
        self.bind(params)
        assumed = len(self._assumed)
        yield
        del self._assumed[assumed:]
        self.depth -= 1

    @contextmanager
    def loop(self, count: Operand, body: Lambda) -> Iterator[None]:
        """The scope of a body that is run for each index below the count."""
        with self.nested(body.params):
            last = self.value(count).plus(-1)
            highest = min(max(self.range(last)[1], 0), LIMIT - 1)
            self._new_atom(body.params[0], 0, highest).upper.append(last)
            self._assumed.append(last)
            yield

    @contextmanager
    def branch(self, cond: Operand, taken: bool) -> Iterator[None]:
        """The scope of a branch, where the condition is known."""
        with self.nested():
            self._assume(cond, taken)
            yield

    @contextmanager
    def assuming(self, *forms: Form) -> Iterator[None]:
        """A scope in which these forms are known not to be negative."""
        with self.nested():
            self._assumed += forms
            yield

    def suppose(
        self, array: Var, axis: int, size: Form, given: tuple[Form, ...]
    ) -> None:
        """Say what the size of an array is if none of the forms given is negative."""
        self._supposed[array, axis] = size, given

    def _assume(self, cond: Operand, holds: bool) -> None:
        found = self._conditions.get(cond) if isinstance(cond, Var) else None
        match (*found, holds) if found else None:
            case "not", (x,), _:
                self._assume(x, not holds)
            case ("and", args, True) | ("or", args, False):
                for arg in args:
                    self._assume(arg, holds)
            case ("ilt", (x, y), True) | ("ile", (y, x), False):
                self._assumed.append(self.value(y) - self.value(x).plus(1))
            case ("ile", (x, y), True) | ("ilt", (y, x), False):
                self._assumed.append(self.value(y) - self.value(x))
            case ("ieq", (x, y), True) | ("ine", (x, y), False):
                difference = self.value(y) - self.value(x)
                self._assumed += [difference, difference.times(-1)]
            case ("ieq", (x, y), False) | ("ine", (x, y), True):
                for a, b in ((x, y), (y, x)):
                    difference = self.value(a) - self.value(b)
                    if self.is_not_negative(difference):
                        self._assumed.append(difference.plus(-1))

    def learn(self, binding: Binding) -> None:
        """Enter what a binding says about its variables."""
        self.bind(binding.vars)
        expr = binding.expr
        for position, var in enumerate(binding.vars):
            if isinstance(var.type, Array | Acc):
                self._arrays[var] = binding, position
        match expr:
            case Apply(Prim(name=name, result=result), args):
                if result == I64:
                    self._learn_integer(binding.vars[0], name, args)
                elif result == BOOL:
                    self._conditions[binding.vars[0]] = name, args
            case Apply(Require(), (cond, *_)):
                self._assume(cond, True)
            case Apply(Dim(axis), (Var() as array,)):
                self._forms[binding.vars[0]] = self.size(array, axis)
            case Apply(Fold(kind), (count,)) if kind.startswith("arg"):
                winner = self._new_atom(binding.vars[-1], 0, LIMIT - 1)
                winner.upper.append(self.value(count).plus(-1))
            case Apply(Index(), (Var() as array, *_)) if binding.vars[0].type == I64:
                self._learn_element(binding.vars[0], array)

    def _learn_element(self, var: Var, array: Var) -> None:
        """The elements of a constant array lie between its least and its largest."""
        found = self._arrays.get(array)
        if found and isinstance(found[0].expr, Const) and found[0].expr.value.size:
            value = found[0].expr.value
            self._new_atom(var, int(value.min()), int(value.max()))

    def _learn_integer(self, var: Var, name: str, args: tuple[Operand, ...]) -> None:
        form = self._polynomial(name, args)
        if form is not None and form.is_small:
            self._forms[var] = form
            return
        values = [self.value(a) for a in args if a.type == I64]
        ranges = [self.range(v) for v in values]
        match name:
            case "bound" | "within":
                atom = self._new_atom(var, 0, max(ranges[1][1] - 1, 0))
                atom.upper.append(values[1].plus(-1))
                if self.depth == 0 and (size := self._is_atom(values[1])):
                    # All that follows is behind this check.
                    size.low = max(size.low, ranges[0][0] + 1)
            case "same":
                self._forms[var] = values[0]
                if self.depth == 0:
                    self._learn_equal(*values)
            case "size":
                self._forms[var] = values[0]
                self._assumed.append(values[0])
            case "imax" if values[1].number == 0:
                self._forms[var] = self._clamp(values[0])
            case "imax":
                low, high = (max(pair) for pair in zip(*ranges, strict=True))
                self._new_case(var, low, high, values).lower += values
            case "imin":
                low, high = (min(pair) for pair in zip(*ranges, strict=True))
                self._new_case(var, low, high, values).upper += values
            case "iselect" if (rows := self._rows_asked_for(args)) is not None:
                self._forms[var] = self._if_rows(values[0], rows)
            case "iselect":
                low, high = _hull(*ranges)
                self._new_case(var, low, high, values)
            case "span":
                self._learn_span(var, values[0] - values[1])
            case "imod" if ranges[1][0] >= 0:
                atom = self._new_atom(var, 0, ranges[1][1] - 1)
                atom.upper.append(values[1].plus(-1))
            case "ifloordiv" if ranges[1][0] > 0 and ranges[0][0] >= 0:
                self._new_atom(var, 0, ranges[0][1]).upper.append(values[0])
            case "row_of" if ranges[0][0] >= 0:
                self._new_atom(var, 0, ranges[0][1]).upper.append(values[0])
            case "column_of" if ranges[0][0] >= 0:
                self._new_atom(var, 0, ranges[0][1]).upper.append(values[0])
            case "iand" if most := [high for low, high in ranges if low >= 0]:
                self._new_atom(var, 0, min(most))
            case "ior" | "ixor" if all(low >= 0 for low, _ in ranges):
                digits = max(high for _, high in ranges).bit_length()
                self._new_atom(var, 0, (1 << digits) - 1)
            case "shift_count":
                self._forms[var] = values[0]
            case "steps":
                self._new_atom(var, 0, _HIGHEST)
            case "bool_to_int":
                self._new_atom(var, 0, 1)

    def _learn_equal(self, first: Form, second: Form) -> None:
        """Two values are equal in all that follows: the newer atom is the other one."""
        forms = self.resolved(first), self.resolved(second)
        atoms = [self._is_atom(form) for form in forms]
        if forms[0].key == forms[1].key or not all(
            atom or form.number is not None
            for form, atom in zip(forms, atoms, strict=True)
        ):
            return
        orders = [atom.order if atom else -1 for atom in atoms]
        newer = int(orders[1] > orders[0])
        if (atom := atoms[newer]) is not None:
            atom.equal, atom.given = forms[1 - newer], ()

    def _learn_span(self, var: Var, difference: Form) -> None:
        """A difference, or what is nearest to it."""
        low, high = self.range(difference)
        if low >= _LOWEST and high <= _HIGHEST:
            self._forms[var] = difference
            return
        if not difference.is_small:
            return
        ends = max(low, _LOWEST), min(high, _HIGHEST)
        cases = [difference, *map(Form.constant, ends)]
        atom = self._new_case(var, *ends, cases)
        if low >= _LOWEST:
            atom.upper.append(difference)
        if high <= _HIGHEST:
            atom.lower.append(difference)

    def _polynomial(self, name: str, args: tuple[Operand, ...]) -> Form | None:
        match name, args:
            case "iadd", (x, y):
                return self.form(x) + self.form(y)
            case "isub", (x, y):
                return self.form(x) - self.form(y)
            case "imul", (x, y):
                return self.form(x) * self.form(y)
            case "ineg", (x,):
                return self.form(x).times(-1)
            case _:
                return None

    def _new_atom(self, var: Var, low: int, high: int) -> _Atom:
        atom = self._atoms[var] = _Atom(len(self._atoms), low, high)
        return atom

    def _new_case(self, var: Var, low: int, high: int, cases: Sequence[Form]) -> _Atom:
        atom = self._new_atom(var, low, high)
        atom.cases = tuple(cases)
        return atom

    def _atom(self, var: Var) -> _Atom:
        return self._atoms.get(var) or self._new_atom(var, _LOWEST, _HIGHEST)

    def form(self, operand: Operand) -> Form:
        """The value of an integer modulo 2^64."""
        if isinstance(operand, Lit):
            return Form.constant(int(operand.value))
        return self._forms.get(operand) or Form.variable(operand)

    def value(self, operand: Operand) -> Form:
        """The value of an integer."""
        form = self.form(operand)
        low, high = self.range(form)
        if low >= _LOWEST and high <= _HIGHEST:
            return form
        assert isinstance(operand, Var)
        return Form.variable(operand)

    def steps(self, count: Operand) -> Form:
        """How many steps a loop of this count makes."""
        return self._clamp(self.value(count))

    def size(self, array: Var, axis: int) -> Form:
        """The size of an array along an axis."""
        key = array, axis
        if key not in self._sizes:
            # It is known from here on, also where less is assumed than here.
            assumed, self._assumed = self._assumed, []
            self._sizes[key] = self._new_size(array, axis)
            self._assumed = assumed
        return self._sizes[key]

    def _new_size(self, array: Var, axis: int) -> Form:
        if (array, axis) in self._supposed:
            return self._supposed_size(array, axis)
        binding, position = self._arrays.get(array, (None, 0))
        match binding.expr if binding else None:
            case Const(value):
                return Form.constant(value.shape[axis])
            case Apply(Empty()):
                return _ZERO
            case Apply(Index(), (Var() as whole, *indices)):
                return self.size(whole, axis + len(indices))
            case Apply(Update(), (Var() as whole, *_)):
                return self.size(whole, axis)
            case Apply(Zeros(), dims):
                return self._clamp(self.value(dims[axis]))
            case Apply(Sized(), (Var() as whole, *sizes)):
                if 1 <= axis <= len(sizes):
                    return self._clamp(self.value(sizes[axis - 1]))
                return self.size(whole, axis)
            case Close(Var() as cell):
                opened = self._arrays.get(cell)
                match opened[0].expr if opened else None:
                    case Open(Array(Box()), (Var() as like,)):
                        return self.size(like, axis)
                    case Open(_, dims):
                        return self.value(dims[axis])
            case If(_, then, orelse):
                results = then.results[position], orelse.results[position]
                return self._either_size(array, axis, results)
            case Apply(Build() | Fold() | Iterate() as op, args, (body,)) as node:
                assert isinstance(op, ArrayOp)
                rows = body.body.results
                is_made = (op.carried(node) or 0) <= position < len(rows)
                if is_made and not op.stops:
                    if axis == 0:
                        return self._clamp(self.value(args[0]))
                    return self._row_size(array, axis, args[0], rows[position])
        return self._size_atom(array, axis)

    def _supposed_size(self, array: Var, axis: int) -> Form:
        size, given = self._supposed[array, axis]
        if not given:
            return size
        form = self._size_atom(array, axis)
        (var,) = form.variables()
        self._atoms[var].equal, self._atoms[var].given = size, given
        return form

    def _size_atom(self, array: Var, axis: int) -> Form:
        var = Var(f"{array.name}_dim", I64)
        self._new_atom(var, 0, LIMIT - 1)
        self.size_of[var] = array, axis
        self.depth_of[var] = self.depth_of[array]
        return Form.variable(var)

    def _clamp(self, value: Form) -> Form:
        """max(value, 0)"""
        if self._prove(value, [_STEPS]):
            return value
        if value.key not in self._clamps:
            var = Var("size", I64)
            high = max(self.range(value)[1], 0)
            self._new_case(var, 0, high, (value, _ZERO)).lower.append(value)
            self.clamp_of[var] = value
            self.depth_of[var] = self._depth(value)
            self._clamps[value.key] = Form.variable(var)
        return self._clamps[value.key]

    def _row_size(self, array: Var, axis: int, count: Operand, row: Operand) -> Form:
        """A size of the rows that were stacked; 0 if there were none."""
        inner = self.size(row, axis - 1) if isinstance(row, Var) else None
        if inner is None or self._depth(inner) > self.depth_of[array]:
            return self._size_atom(array, axis)
        return self._if_rows(inner, self.value(count))

    def _rows_asked_for(self, args: tuple[Operand, ...]) -> Form | None:
        """The number in `iselect(ilt(0, number), size, 0)`, which says what
        `_if_rows` does.
        """
        cond, _, none = args
        found = self._conditions.get(cond) if isinstance(cond, Var) else None
        match found if none == Lit(0) else None:
            case "ilt", (Lit(0), number):
                return self.value(number)
            case _:
                return None

    def _if_rows(self, inner: Form, number: Form) -> Form:
        """A size of so many rows, or 0 if there are none."""
        if inner.key == number.key or self._prove(number.plus(-1), [_STEPS]):
            return inner
        key = inner.key, number.key
        if key not in self._rows:
            var = Var("rows", I64)
            atom = self._new_atom(var, 0, max(self.range(inner)[1], 0))
            atom.upper.append(inner)
            atom.equal, atom.given = inner, (number.plus(-1),)
            self.rows_of[var] = inner, number
            self.depth_of[var] = max(self._depth(inner), self._depth(number))
            self._rows[key] = Form.variable(var)
        return self._rows[key]

    def _either_size(self, array: Var, axis: int, results: Sequence[Operand]) -> Form:
        """A size of the array that one of two branches gives."""
        sizes = [self.size(r, axis) for r in results if isinstance(r, Var)]
        if any(self._depth(size) > self.depth_of[array] for size in sizes):
            return self._size_atom(array, axis)
        if sizes[0].key == sizes[1].key:
            return sizes[0]
        form = self._size_atom(array, axis)
        (var,) = form.variables()
        self._atoms[var].cases = tuple(sizes)
        return form

    def _depth(self, form: Form) -> int:
        """The depth of the scope where all variables of a form are known."""
        return max(map(self.depth_of.__getitem__, form.variables()), default=0)

    def is_bound(self, var: Var) -> bool:
        """Whether a variable of a form is one of the program."""
        derived = (self.size_of, self.clamp_of, self.rows_of)
        return not any(var in table for table in derived)

    def resolved(self, form: Form) -> Form:
        """The same value in terms of older atoms, as far as that is known here."""
        while (atom := self._is_atom(form)) and atom.equal is not None:
            if not all(map(self.is_not_negative, atom.given)):
                break
            form = atom.equal
        return form

    def _is_atom(self, form: Form) -> _Atom | None:
        """The atom that a form is."""
        match [*form.terms.items()]:
            case [((var,), 1)]:
                return self._atoms.get(var)
            case _:
                return None

    def range(self, form: Form) -> tuple[int, int]:
        """Numbers between which the value of a form lies."""
        low = high = 0
        for monomial, coefficient in form.terms.items():
            least = most = coefficient
            for var in monomial:
                atom = self._atom(var)
                if least == most:  # One variable, in nearly all of them.
                    ends = least * atom.low, least * atom.high
                    least, most = ends if least >= 0 else ends[::-1]
                    continue
                products = [a * b for a in (least, most) for b in (atom.low, atom.high)]
                least, most = min(products), max(products)
            low += least
            high += most
        return low, high

    def is_not_negative(self, form: Form) -> bool:
        """Whether a form is proved to be at least 0, as a number, not modulo 2^64."""
        if self._prove(form, [_STEPS]):
            return True
        known = set(form.variables())
        near = [f for f in self._assumed if not known.isdisjoint(f.variables())]
        return any(self._prove(form - f, [_STEPS]) for f in near[-_NEAR:])

    def is_in_range(self, index: Form, size: Form) -> bool:
        """Whether 0 <= index < size is proved; then the index is no larger than an i64.

        `index` may be known modulo 2^64 only, `size` is a value.
        """
        return self.is_not_negative(index) and self.is_not_negative(
            size - index.plus(1)
        )

    def _prove(self, form: Form, steps: list[int]) -> bool:
        """Put bounds in the place of atoms, newest first, until a number is left."""
        if self.range(form)[0] >= 0:
            return True
        steps[0] -= 1
        if steps[0] < 0:
            return False
        atoms = {v: self._atom(v) for v in form.variables()}
        for var in sorted(atoms, key=lambda v: -atoms[v].order):
            if not atoms[var].is_bounded:
                continue
            split = form.split(var)
            slope = split[0].number if split else None
            if not split or not slope:
                continue
            for bound in self._bounds(atoms[var], slope > 0, steps):
                if self._prove(bound.times(slope) + split[1], steps):
                    return True
            cases = [c.times(slope) + split[1] for c in atoms[var].cases]
            if cases and all(self._holds(case, steps) for case in cases):
                return True
        return False

    def _bounds(self, atom: _Atom, lower: bool, steps: list[int]) -> Iterator[Form]:
        """What the atom is not less than, or not more than."""
        yield from atom.lower if lower else atom.upper
        if atom.equal and all(self._holds(form, steps) for form in atom.given):
            yield atom.equal

    def _holds(self, condition: Form, steps: list[int]) -> bool:
        if self._prove(condition, steps):
            return True
        return any(self._prove(condition - f, steps) for f in self._assumed[-_NEAR:])


def _hull(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return min(a[0], b[0]), max(a[1], b[1])
