"""Cells that loops add to at a distance from their index are read off instead.

    c = open f64[:](n)                  s = build(n) { k ->
    one c a                               x = index(a, k)
    build(m) { i ->                       i = iadd(k, -1)
      j = iadd(i, 1)                      u = ile(0, i); v = ilt(i, m); w = and(u, v)
      y = index(b, i)             →       t = if w {
      z = mul(y, 3.0)                       y = index(b, i)
      one c[j] z }                          z = mul(y, 3.0)
    s = close c                             yield z
                                          } else { yield 0.0 }
                                          r = add(x, t)
                                          yield r }

So each element is written once, and the cell need not be zero, or a copy, before. The
reverse of a stencil is a stencil then. What is added must be cheap, for it is computed
as often as before, but no more than that. A cell that begins as an array is left alone
unless nearly all of it is added to. `lower/ranges.py` takes the branches out of the
loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import (
    Renaming,
    free_vars_of,
    map_functions,
    rebuild,
    with_body,
)
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Close,
    Function,
    If,
    Lambda,
    Lit,
    One,
    Open,
    Operand,
    Program,
    Var,
    literal,
    operands,
)
from chadllvm.ir.types import I64, Array, Scalar, is_float
from chadllvm.ops.build import Build
from chadllvm.ops.index import Index, Sized
from chadllvm.simplify.nearly import Nearly

# What is computed for an element at most: operations, those for indices aside.
_MOST = 32
_CHEAP = ("add", "sub", "mul", "neg", "scale", "iadd", "isub", "imul")


def gather(program: Program) -> Program:
    """Make loops over cells of loops that add to them."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    return with_body(function, _Gathering(function).block(function.body))


@dataclass
class _Addition:
    """What a nest of loops adds to a cell, at the indices of the loops plus `away`.

    `loops` are indices and counts by the dimensions of the cell, `inside` is what the
    loops compute.
    """

    add: One
    loops: list[tuple[Var, Operand]]
    away: list[int]
    inside: list[Binding]


class _Gathering:
    def __init__(self, function: Function) -> None:
        self._nearly = Nearly(function)

    def block(self, block: Block) -> Block:
        new = list(block.bindings)
        for k, binding in enumerate(block.bindings):
            expr = rebuild(binding.expr, self.block)
            if expr is not binding.expr:
                new[k] = Binding(binding.vars, expr, binding.span)
        changed = self._read_off(new, block.results)
        new = [made for b in new for made in changed.get(b, (b,))]
        same = len(new) == len(block.bindings)
        if same and all(a is b for a, b in zip(new, block.bindings, strict=True)):
            return block
        return Block(tuple(new), block.results)

    def _read_off(
        self, bindings: Sequence[Binding], results: Sequence[Operand]
    ) -> dict[Binding, Sequence[Binding]]:
        """What becomes of the bindings of the cells that can be read off."""
        changed: dict[Binding, Sequence[Binding]] = {}
        opened = [b for b in bindings if _is_real_cell(b)]
        users: dict[Operand, list[Binding]] = {}
        for binding in bindings if opened else ():
            for var in free_vars_of(binding.expr):
                users.setdefault(var, []).append(binding)
        for opening in opened:
            mine = users.get(opening.vars[0], [])
            made = self._made(opening, mine, results)
            if made:
                changed.update(dict.fromkeys((opening, *mine), ()))
                changed[mine[-1]] = made
        return changed

    def _made(
        self,
        opening: Binding,
        mine: Sequence[Binding],
        results: Sequence[Operand],
    ) -> Sequence[Binding]:
        """The loops over a cell, if it can be read off."""
        cell, opened = opening.vars[0], opening.expr
        assert isinstance(opened, Open)
        if not mine or not isinstance(mine[-1].expr, Close) or cell in results:
            return ()
        found, close = _Found(cell, len(opened.dims)), mine[-1]
        if not all(map(found.visit, mine[:-1])) or not self._pays(found, opened):
            return ()
        return _made(found, opened, close)

    def _pays(self, found: _Found, opened: Open) -> bool:
        if not found.additions or len(found.additions) + len(found.arrays) < 2:
            return False
        if found.work > _MOST:
            return False
        return not found.arrays or all(
            self._nearly.all_of(count, size)
            for addition in found.additions
            for (_, count), size in zip(addition.loops, opened.dims, strict=True)
        )


def _is_real_cell(binding: Binding) -> bool:
    match binding.expr:
        case Open(Array(Scalar() as elem)):
            return is_float(elem)
        case _:
            return False


class _Found:
    """What is added to a cell: arrays, and what loops add that do nothing else."""

    def __init__(self, cell: Var, rank: int) -> None:
        self.cell = cell
        self.rank = rank
        self.arrays: list[Var] = []
        self.additions: list[_Addition] = []
        self.work = 0

    def visit(self, binding: Binding) -> bool:
        """Whether this is such an addition."""
        match binding.expr:
            case One(_, (), Var() as array):
                self.arrays.append(array)
                return True
            case Apply(Build(), (count,), (body,)) if not binding.vars:
                return self._loop({body.params[0]: count}, [], body.body)
            case _:
                return False

    def _loop(
        self, loops: Mapping[Var, Operand], around: list[Binding], block: Block
    ) -> bool:
        inside = list(around)
        for binding in block.bindings:
            match binding.expr:
                case Apply(Prim(name=name)) if name in _CHEAP:
                    inside.append(binding)
                case Apply(Index()):
                    inside.append(binding)
                case Apply(Build(), (count,), (body,)) if not binding.vars:
                    is_known = count in loops or any(count in b.vars for b in inside)
                    below = {**loops, body.params[0]: count}
                    if is_known or not self._loop(below, inside, body.body):
                        return False
                case One(cell, (_, *_)) as add if cell is self.cell:
                    if not self._addition(add, loops, inside):
                        return False
                case _:
                    return False
        return True

    def _addition(
        self, add: One, loops: Mapping[Var, Operand], inside: list[Binding]
    ) -> bool:
        """An element for each index of the loops, each in a dimension of its own."""
        defined = {b.vars[0]: b for b in inside}
        places = [_place(index, defined) for index in add.indices]
        indices = [var for var, _ in places]
        if len(places) != self.rank or {*indices} != {*loops}:
            return False
        found = [(var, loops[var]) for var in indices if isinstance(var, Var)]
        if len(found) != len(loops) or len(found) != self.rank:
            return False
        needed = _needed(add.value, inside)
        self.work += 1 + sum(b.vars[0].type != I64 for b in needed)
        away = [distance for _, distance in places]
        self.additions.append(_Addition(add, found, away, needed))
        return True


def _place(index: Operand, defined: Mapping[Var, Binding]) -> tuple[Operand, int]:
    """A variable and a number whose sum is the index."""
    binding = defined.get(index) if isinstance(index, Var) else None
    match binding.expr if binding else None:
        case Apply(Prim(name="iadd"), (Var() as var, Lit(value))):
            return var, int(value)
        case _:
            return index, 0


def _needed(value: Operand, inside: Sequence[Binding]) -> list[Binding]:
    """What a value is computed from."""
    wanted: set[Operand] = {value}
    needed = []
    for binding in reversed(inside):
        if binding.vars[0] in wanted:
            needed.append(binding)
            wanted.update(operands(binding.expr))
    return needed[::-1]


def _made(found: _Found, opened: Open, close: Binding) -> Sequence[Binding]:
    """The loops over the cell; its array has the sizes of rows without rows as well."""
    out = Builder(close.span)
    made = _level(found, opened, out, [], [[] for _ in found.additions])
    if len(opened.dims) > 1:
        out.one(Apply(Sized(), (made, *opened.dims[1:])))
    *before, last = out.bindings
    return *before, Binding(close.vars, last.expr, close.span)


def _level(
    found: _Found,
    opened: Open,
    out: Builder,
    path: list[Var],
    near: list[list[tuple[Var, Var]]],
) -> Operand:
    """The array, row or element at a path.

    `near` has, for each addition, its loops' indices there, and whether they are some.
    """
    axis = len(path)
    if axis == len(opened.dims):
        return _element(found, out, path, near)
    index, inner = Var("k", I64), out.child()
    below = []
    for addition, before in zip(found.additions, near, strict=True):
        _, count = addition.loops[axis]
        away = addition.away[axis]
        place = inner.prim("iadd", index, lit(-away)) if away else index
        first = inner.prim("ile", lit(0), place)
        last = inner.prim("ilt", place, count)
        below.append([*before, (place, inner.prim("and", first, last))])
    part = _level(found, opened, inner, [*path, index], below)
    body = Lambda((index,), inner.block([part]))
    (made,) = out.apply(Build(), (opened.dims[axis],), [body])
    return made


def _element(
    found: _Found,
    out: Builder,
    path: Sequence[Var],
    near: Sequence[Sequence[tuple[Var, Var]]],
) -> Operand:
    parts: list[Operand] = [
        out.one(Apply(Index(), (array, *path))) for array in found.arrays
    ]
    for addition, places in zip(found.additions, near, strict=True):
        cond = places[0][1]
        for _, here in places[1:]:
            cond = out.prim("and", cond, here)
        pairs = zip(addition.loops, places, strict=True)
        names = Renaming({var: k for (var, _), (k, _) in pairs}, fresh=True)
        inner = [names.binding(b) for b in addition.inside]
        then = Block(tuple(inner), (names.operand(addition.add.value),))
        zero = Block((), (literal(0, addition.add.value.type),))
        parts.append(out.one(If(cond, then, zero)))
    total, *rest = parts
    for part in rest:
        total = out.prim("add", total, part)
    return total
