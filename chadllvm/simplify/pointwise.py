"""Accumulation that is a pointwise computation in truth (paper, §8.1: gathers).

    c = open f64[:](n)                         x = build(n) { i ->
    build(n) { i ->                              v = …
      v = …                            →         yield v }
      one c[i] v }
    x = close c

All contributions are made by one loop over the cell's first dimension, in each
iteration at the iteration's index. If there is one of them, the element is that
contribution. Where an iteration adds more to its element or row, in whatever way, that
becomes a cell of its own iteration, and a sum of scalars in the end (`cells`):

    build(n) { i ->                          x = build(n) { i ->
      one c[i] v                               r = open f64
      if p { one c[i] w } … }        →         one r v
                                               if p { one r w } …
                                               yield close r }

No rows have no length, so an array whose further dimensions are asked for stays a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
    Expr,
    Lambda,
    Lit,
    One,
    Open,
    Operand,
    Program,
    Var,
    View,
    nested,
    operands,
)
from chadllvm.ir.types import Acc, Array, Box, element, stacked
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Dim, Index
from chadllvm.ops.iterate import Iterate
from chadllvm.simplify.walk import Walk


def pointwise(program: Program) -> Program:
    """Turn accumulation into arrays where each element has one contribution."""
    return map_functions(program, lambda f: with_body(f, _Pointwise().block(f.body)))


class _Pointwise:
    """`made` has the loops that make arrays, `sizes` the arrays that have a size;
    `rows` the number of rows and their size, for sizes that are 0 if there are none.
    """

    def __init__(self) -> None:
        self.positive: dict[Operand, Operand] = {}
        self.rows: dict[Operand, tuple[Operand | None, Operand]] = {}
        self.made: dict[Operand, tuple[Apply, int]] = {}
        self.sizes: dict[Operand, tuple[Operand, int]] = {}

    def block(self, block: Block) -> Block:
        """Outer cells first: a row that becomes a cell may be pointwise itself."""
        self._learn(block)
        block = self._without_cells(block)
        bindings = []
        for binding in block.bindings:
            expr = rebuild(binding.expr, self.block)
            same = expr is binding.expr
            new = binding if same else Binding(binding.vars, expr, binding.span)
            bindings.append(new)
        if all(a is b for a, b in zip(bindings, block.bindings, strict=True)):
            return block
        return Block(tuple(bindings), block.results)

    def _learn(self, block: Block) -> None:
        for binding in block.bindings:
            match binding.expr:
                case Apply(Dim(axis), (array,)):
                    self.sizes[binding.vars[0]] = array, axis
                case Apply(Prim(name="ilt"), (Lit(0), number)):
                    self.positive[binding.vars[0]] = number
                case Apply(Prim(name="iselect"), (cond, size, Lit(0))):
                    self.rows[binding.vars[0]] = self.positive.get(cond), size
                case Apply(Build()) as loop:
                    for k, var in enumerate(binding.vars):
                        self.made[var] = loop, k

    def _without_cells(self, block: Block) -> Block:
        """The block without the cells that it need not have."""
        openings = [b for b in block.bindings if _is_array_cell(b)]
        if not openings:
            return block
        removal = _Removal(block, self.size_of_row)
        for opening in openings:
            removal.attempt(opening)
        return removal.result()

    def size_of_row(self, count: Operand, size: Operand) -> Operand:
        """A size of rows, inside of a loop over them, by an older name.

        An array without rows has no columns, so in front of the loop `dim[1](a)` is not
        known to be the m of `a = build(n) { i -> r = build(m) …; yield r }`; nor is
        `iselect(ilt(0, n), m, 0)`.
        """
        number, inner = self.rows.get(size, (None, size))
        if number is count:
            return inner
        array, axis = self.sizes.get(size, (size, 0))
        if axis != 1 or array not in self.made:
            return size
        loop, k = self.made[array]
        block = loop.bodies[0].body
        for binding in block.bindings:
            match binding.expr:
                case Apply(Build(), (m,)) if block.results[k] in binding.vars:
                    is_older = isinstance(m, Lit) or m in free_vars_of(loop)
                    return m if is_older and loop.args[0] is count else size
        return size


def _is_array_cell(binding: Binding) -> bool:
    match binding.expr:
        case Open(Array(elem)):
            return not isinstance(elem, Box)
        case _:
            return False


class _Removal:
    """Removes cells of a block, which is rebuilt once at the end.

    `users` has, for each variable, the bindings of the block that mention it; `changed`
    what becomes of a binding: another one, or nothing.
    """

    def __init__(
        self, block: Block, size_of_row: Callable[[Operand, Operand], Operand]
    ) -> None:
        self.block = block
        self.size_of_row = size_of_row
        self.users: dict[Var, list[Binding]] = {}
        for binding in block.bindings:
            for var in free_vars_of(binding.expr):
                self.users.setdefault(var, []).append(binding)
        self.results = set(block.results)
        self.changed: dict[Binding, Binding | None] = {}
        self.renaming = Renaming()

    def result(self) -> Block:
        if not self.changed:
            return self.block
        current = [self.changed.get(b, b) for b in self.block.bindings]
        bindings = [self.renaming.binding(b) for b in current if b is not None]
        return Block(tuple(bindings), self.renaming.operands(self.block.results))

    def attempt(self, opening: Binding) -> None:
        """Have the loop that makes all contributions to a cell collect them instead."""
        cell, opened = opening.vars[0], opening.expr
        pair = self._loop_and_close(cell)
        if pair is None:
            return
        old, close = pair
        loop = self.changed.get(old) or old
        node, total = loop.expr, close.vars[0]
        assert isinstance(node, Apply) and isinstance(opened, Open)
        if not _collects(node) or node.args[0] is not opened.dims[0]:
            return
        if len(opened.dims) > 1 and not self._is_only_read(total):
            return
        count, *sizes = opened.dims
        row = tuple(self.size_of_row(count, size) for size in sizes)
        body = _collecting(node.bodies[0], cell, opened, row)
        if body is None:
            return
        array = Var(total.name, stacked(body.body.results[-1].type))
        collecting = Apply(node.op, node.args, (body,))
        self.changed[old] = Binding((*loop.vars, array), collecting, loop.span)
        self.changed[opening] = self.changed[close] = None
        self.renaming.mapping[total] = array

    def _loop_and_close(self, cell: Var) -> tuple[Binding, Binding] | None:
        """The only loop that mentions the cell, if nothing else but its close does."""
        users = self.users.get(cell, [])
        if len(users) != 2 or cell in self.results:
            return None
        loop, close = users
        if not isinstance(close.expr, Close) or cell in operands(loop.expr):
            return None
        return (loop, close) if isinstance(loop.expr, Apply) else None

    def _is_only_read(self, array: Var) -> bool:
        users = Block(tuple(self.users.get(array, ())), ())
        return array not in self.results and only_read(users, array)


def _collects(node: Apply) -> bool:
    """Whether a loop takes one result more, of each iteration; it runs all of them."""
    return isinstance(node.op, Build) or node.op in (Iterate(), Fold("add"))


def only_read(block: Block, array: Var) -> bool:
    """Whether nothing is wanted of an array but elements, rows and their number."""
    for binding in block.bindings:
        match binding.expr:
            case Apply(Index() | Dim(axis=0), (first, *_)) if first is array:
                pass
            case expr:
                if array in operands(expr):
                    return False
        if not all(only_read(inner, array) for _, inner in nested(binding.expr)):
            return False
    return array not in block.results


def _mentions(block: Block, cell: Var) -> Iterator[Binding | None]:
    """The bindings that mention a cell, in nested blocks too; None for a result."""
    for binding in block.bindings:
        if cell in operands(binding.expr):
            yield binding
        for _, inner in nested(binding.expr):
            yield from _mentions(inner, cell)
    if cell in block.results:
        yield None


def _collecting(
    body: Lambda, cell: Var, opened: Open, row: tuple[Operand, ...]
) -> Lambda | None:
    """The body that yields what it adds at its index instead of adding it.

    `row` are the sizes of what the cell has at an index.
    """
    block, index = body.body, body.params[0]
    mentions = list(_mentions(block, cell))
    for binding in mentions:
        if binding is None:
            return None
        match binding.expr:
            case One(_, (i, *_), value) if i is index and value is not cell:
                pass
            case View(_, (i, *_)) if i is index:
                pass
            case _:
                return None
    if len(mentions) == 1:
        for k, binding in enumerate(block.bindings):
            match binding.expr:
                case One(c, (_,), value) if c is cell:
                    rest = (*block.bindings[:k], *block.bindings[k + 1 :])
                    return Lambda(body.params, Block(rest, (*block.results, value)))
    return _with_own_cell(body, cell, opened, row)


def _with_own_cell(
    body: Lambda, cell: Var, opened: Open, row: tuple[Operand, ...]
) -> Lambda:
    """The body with a cell of its own in place of the outer one's row or element."""
    assert isinstance(opened.content, Array)
    content, block = element(opened.content, 1), body.body
    own, span = Var(cell.name, Acc(content)), block.bindings[0].span
    changed = _Moved(cell, own).block(block)
    opening = Binding((own,), Open(content, row), span)
    total = Var(cell.name.removesuffix("_c") + "_ct", content)
    close = Binding((total,), Close(own), span)
    bindings = (opening, *changed.bindings, close)
    return Lambda(body.params, Block(bindings, (*changed.results, total)))


class _Moved(Walk):
    """Has what is added to one cell at the first index be added to another."""

    def __init__(self, cell: Var, own: Var) -> None:
        super().__init__()
        self.cell, self.own = cell, own

    def visit(self, binding: Binding) -> None:
        match binding.expr:
            case One(cell, (_, *rest), value) if cell is self.cell:
                expr: Expr = One(self.own, tuple(rest), value)
            case View(cell, (_,)) if cell is self.cell:
                self.replace(binding.vars[0], self.own)
                return
            case View(cell, (_, *rest)) if cell is self.cell:
                expr = View(self.own, tuple(rest))
            case _:
                self.keep(binding)
                return
        self.keep(Binding(binding.vars, expr, binding.span))
