"""Where the variables of a function are bound, and what its blocks do besides.

A *region* is a block with the blocks of branches and bodies inside of it; the body of a
lambda is a region of its own, since it is run somewhere else or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from chadllvm.ir.loops import UNBOUNDED
from chadllvm.ir.op import ArrayOp
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Close,
    Const,
    Function,
    If,
    Lambda,
    One,
    Open,
    Operand,
    Var,
    View,
    nested,
    node,
)
from chadllvm.ir.types import Acc, Array
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.index import Dim, Empty, Index, Zeros
from chadllvm.ops.iterate import Iterate


@dataclass(slots=True, eq=False)
class Region:
    """A block: the binding it is a part of, and what counts besides its results.

    `effects` are the bindings that can fail or not end, add to a cell, close one or
    call; `views` are the pairs (view, cell) of cells that are parts of others;
    `children` are the blocks that are run along with this one.
    """

    parent: Binding | None
    depth: int
    params: tuple[Var, ...]
    effects: list[Binding] = field(default_factory=list)
    views: list[tuple[Var, Var]] = field(default_factory=list)
    children: list[Region] = field(default_factory=list)


@node
class Definition:
    """Result `position` of a binding in a region."""

    binding: Binding
    position: int
    region: Region


class Regions:
    """The regions and definitions of a function."""

    def __init__(self, function: Function) -> None:
        self.definition: dict[Var, Definition] = {}
        self.region_of: dict[Binding, Region] = {}
        self.of_block: dict[Block, Region] = {}
        self.depth_of_param: dict[Var, int] = {}
        # For a state inside of its loop, the variable that is its final value.
        self.state_of: dict[Var, Var] = {}
        self.root = self._scan(function.body, function.params, None, 0)

    def parent_of(self, binding: Binding) -> Binding | None:
        """The binding that contains this one, if any."""
        return self.region_of[binding].parent

    def is_outside(self, operand: Operand, depth: int) -> bool:
        """Whether an operand in scope is bound at this depth of nesting or less."""
        if not isinstance(operand, Var):
            return True
        definition = self.definition.get(operand)
        if definition is None:
            return self.depth_of_param[operand] <= depth
        return definition.region.depth <= depth

    def _scan(
        self,
        block: Block,
        params: tuple[Var, ...],
        parent: Binding | None,
        depth: int,
    ) -> Region:
        region = Region(parent, depth, params)
        self.of_block[block] = region
        self.depth_of_param.update((p, depth) for p in params)
        for binding in block.bindings:
            expr = binding.expr
            self.region_of[binding] = region
            for position, var in enumerate(binding.vars):
                self.definition[var] = Definition(binding, position, region)
            self._note(binding, region)
            for inner_params, inner in nested(expr):
                child = self._scan(inner, inner_params, binding, depth + 1)
                if not isinstance(expr, Lambda):
                    region.children.append(child)
        return region

    def _note(self, binding: Binding, region: Region) -> None:
        """Enter a binding's effects and views into its region."""
        match binding.expr:
            case Apply(op, _, ()):
                if op.can_fail:
                    region.effects.append(binding)
            case Apply(Build() | Fold() | Iterate(), _, (body,)) as node:
                rows = any(_is_array_of_rows(v) for v in binding.vars)
                if node.op.can_fail or rows or may_not_end(node):
                    region.effects.append(binding)
                if isinstance(node.op, Iterate):
                    states = body.params[1:]
                    self.state_of.update(zip(states, binding.vars, strict=False))
            case Apply(op):
                if op.can_fail:
                    region.effects.append(binding)
            case One() | Close() | Call():
                region.effects.append(binding)
            case View(Var() as cell, _):
                region.views.append((binding.vars[0], cell))
            case If(_, then, orelse):
                for k, var in enumerate(binding.vars):
                    if isinstance(var.type, Acc):
                        cells = then.results[k], orelse.results[k]
                        pairs = [(var, c) for c in cells if isinstance(c, Var)]
                        region.views += pairs


def may_not_end(node: Apply) -> bool:
    """Whether a loop runs until a state stops it, if ever: then it has to be run."""
    return node.op == Iterate(stops=True) and node.args[0] == UNBOUNDED


def _is_array_of_rows(var: Var) -> bool:
    return isinstance(var.type, Array) and var.type.rank > 1


def has_equal_rows(
    regions: Regions, binding: Binding, node: Apply, position: int
) -> bool:
    """Whether the rows that make up a result are sure to have equal shapes."""
    assert isinstance(node.op, ArrayOp)
    results = node.bodies[0].body.results
    if not (node.op.carried(node) or 0) <= position < len(results):
        return True
    row = results[position]
    if not isinstance(row.type, Array):
        return True
    return _has_fixed_shape(regions, row, regions.region_of[binding].depth)


def _has_fixed_shape(regions: Regions, array: Operand, depth: int) -> bool:
    """Whether an array's shape depends only on what is bound at this depth or less."""
    while not regions.is_outside(array, depth):
        assert isinstance(array, Var)
        definition = regions.definition.get(array)
        if definition is None:
            return False
        match definition.binding.expr:
            case Const() | Apply(Empty()):
                return True
            case Apply(Index(), args):
                array = args[0]
            case Apply(Zeros(), args):
                return all(_is_fixed_size(regions, d, depth) for d in args)
            case Close(Var() as cell):
                opened = regions.definition.get(cell)
                if opened is None or not isinstance(opened.binding.expr, Open):
                    return False
                dims = opened.binding.expr.dims
                if isinstance(dims[0].type, Array):
                    array = dims[0]
                    continue
                return all(_is_fixed_size(regions, d, depth) for d in dims)
            case Apply(Build() | Fold() | Iterate() as op, args, (body,)) as node:
                position = definition.position
                if position < (op.carried(node) or 0) or op.stops:
                    return False
                if not _is_fixed_size(regions, args[0], depth):
                    return False
                array = body.body.results[position]
                if not isinstance(array.type, Array):
                    return True
            case _:
                return False
    return True


def _is_fixed_size(regions: Regions, size: Operand, depth: int) -> bool:
    if regions.is_outside(size, depth):
        return True
    assert isinstance(size, Var)
    definition = regions.definition.get(size)
    match definition and definition.binding.expr:
        case Apply(Dim(), (array,)):
            return _has_fixed_shape(regions, array, depth)
        case _:
            return False
