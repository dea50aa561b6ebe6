"""Whether the arrays that go into a list may differ in size.

    [np.zeros(m) for i in range(n)]     →   a regular array, of n rows
    [np.zeros(i) for i in range(n)]     →   a list of arrays, each of its own size

They may if the size of one depends on the step that makes it, as far as that can be
seen: of the state of a loop, and of what a call makes of arrays that have one size, it
is taken for granted that it has one. It has not where its size is another number than
that of an array in the list that it goes into, as one more, or the half. If that is
wrong it is found when the program runs. An annotation decides where it matters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Delayed, Value
from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import free_vars_of
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Expr,
    If,
    Lambda,
    Lit,
    Operand,
    Proj,
    Var,
)
from chadllvm.ir.term import Tuple as Product
from chadllvm.ir.types import I64, Array, has_pieces, holds_array
from chadllvm.ir.union import can_vary
from chadllvm.ops.alias import Alias
from chadllvm.ops.build import Build
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Dim, Empty, Index, Sized, Zeros
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update

# What makes another number of a size.
_COUNTING = ("iadd", "isub", "imul", "ifloordiv")


def may_vary(cx: Context, level: int, array: Value, whole: object = None) -> bool:
    """Whether the size of an array depends on loops entered since a level of nesting.

    The level is that of `cx.enclosing` where the list begins, which is `whole` now.
    """
    walk = _walk(cx, level)
    if walk is None:
        return False
    walk.whole = whole
    if isinstance(array, Delayed):
        return any(map(walk.value, array.shape))
    return walk.size(array)


def record_may_vary(cx: Context, level: int, record: Operand) -> bool:
    """Whether the size of an array in a record or tuple does."""
    walk = _walk(cx, level) if can_vary(record.type) else None
    return walk is not None and walk.sizes_in(record)


def _walk(cx: Context, level: int) -> _Varying | None:
    """What depends on loops entered since a level; None if there are none."""
    if len(cx.enclosing) == level:
        return None
    outer, inner = cx.enclosing[: level + 1], cx.enclosing[level + 1 :]
    inside = [*(b for b, _ in inner), cx.builder]
    outside = [cx.prelude, *(b for b, _ in outer)]
    known: set[object] = {v for b in outside for x in b.bindings for v in x.vars}
    known |= cx.parameters
    for _, scope in outer:
        known |= set(scope.values.values())
    return _Varying((x for b in inside for x in b.bindings), known, cx.items)


class _Varying:
    """What depends on the step; `outside` is known not to. Sizes of `items` differ."""

    def __init__(
        self,
        bindings: Iterable[Binding],
        outside: set[object],
        items: Collection[object],
    ) -> None:
        self._defined: dict[Var, Binding] = {}
        self._outside, self._items = outside, items
        # The list that the arrays go into, if it is there already.
        self.whole: object = None
        self._sizes: dict[Var, bool] = {}
        self._values: dict[Var, bool] = {}
        # What the branches of a `Case` are given, with what that is about.
        self._held: dict[Var, Operand] = {}
        self._enter(bindings)

    def _enter(self, bindings: Iterable[Binding]) -> None:
        self._defined.update((v, b) for b in bindings for v in b.vars)

    def _made(self, operand: Operand) -> Expr | None:
        """What makes a value in the steps, if it is made there."""
        binding = self._defined.get(operand) if isinstance(operand, Var) else None
        return None if binding is None else binding.expr

    def size(self, operand: Operand) -> bool:
        """Whether the size of an array does."""
        if isinstance(operand, Var) and operand in self._held:
            return self._is_piece(operand)
        if not isinstance(operand, Var) or operand not in self._defined:
            return False
        if operand not in self._sizes:
            self._sizes[operand] = False
            self._sizes[operand] = self._size(operand, self._defined[operand])
        return self._sizes[operand]

    def sizes_in(self, operand: Operand) -> bool:
        """Whether the size of an array in a record or tuple does."""
        if isinstance(operand.type, Array):
            return self.size(operand)
        if not holds_array(operand.type):
            return False
        match self._made(operand):
            case Product(parts):
                return any(map(self.sizes_in, parts))
            case Call(_, args):
                return self._made_by_call(args)
            case _:
                return self._is_piece(operand)

    def _size(self, var: Var, binding: Binding) -> bool:
        position = binding.vars.index(var)
        match binding.expr:
            case Apply(Build(), (count,), (body,)):
                return self.value(count) or self._result(body.body, position)
            case Apply(Zeros(), sizes):
                return any(map(self.value, sizes))
            case Apply(Iterate()) as node:
                return self._state(node, position)
            case Apply(
                Index() | Alias() | Update() | Append() | DropLast() | Sized(), args
            ):
                return self.size(args[0])
            case If(cond, then, orelse):
                blocks = (then, orelse)
                if any([self._result(block, position) for block in blocks]):
                    return True
                counts = {self._count(block.results[position]) for block in blocks}
                are_known = None not in counts and len(counts) > 1
                return self.value(cond) and (are_known or var in self._items)
            case Call(_, args):
                return self._made_by_call(args)
            case Proj(arg, index):
                return self._is_piece(arg) or self._component(arg, index)
            case Case(arg, branches):
                held = self._branches(arg, branches)
                return any([self._result(block, position) for block in held])
            case _:
                return False

    def _branches(self, arg: Operand, branches: Sequence[Lambda]) -> list[Block]:
        self._held.update((p, arg) for branch in branches for p in branch.params)
        return [branch.body for branch in branches]

    def _is_piece(self, operand: Operand) -> bool:
        """Whether this is of a list whose items have arrays of sizes of their own."""
        if not isinstance(operand, Var):
            return False
        if operand in self._held:
            return self._is_piece(self._held[operand])
        match self._made(operand):
            case Apply(Index(), (array, *indices)):
                is_kept = isinstance(array.type, Array) and has_pieces(array.type.elem)
                return is_kept and any(map(self.value, indices))
            case Proj(arg, index):
                made = self._made(arg)
                part = made.args[index] if isinstance(made, Product) else arg
                return self._is_piece(part)
            case Case(arg, branches):
                blocks = self._branches(arg, branches)
                for block in blocks:
                    self._enter(block.bindings)
                return any(self._is_piece(block.results[0]) for block in blocks)
            case _:
                return False

    def _result(self, block: Block, position: int) -> bool:
        self._enter(block.bindings)
        return self.size(block.results[position])

    def _count(self, array: Operand) -> Operand | None:
        """The number of elements of an array if it is a constant."""
        match self._made(array):
            case Apply(Build(), (Lit() as count,)):
                return count
            case Apply(Alias() | Sized(), (inner, *_)):
                return self._count(inner)
            case _:
                return None

    def _made_by_call(self, args: Iterable[Operand]) -> bool:
        """Of arrays of one size arrays of one size are made; of integers none."""
        args = tuple(args)
        arrays = [a for a in args if isinstance(a.type, Array)]
        if arrays:
            return any(map(self.size, arrays))
        return any(self.value(a) for a in args if a.type == I64)

    def _component(self, arg: Operand, index: int) -> bool:
        match self._made(arg):
            case Product(parts):
                return self.size(parts[index])
            case Call(_, args):
                return self._made_by_call(args)
            case _:
                return False

    def _state(self, node: Apply, position: int) -> bool:
        """The last state of a loop, or what it collects."""
        (body,) = node.bodies
        self._enter(body.body.bindings)
        count, *starts = node.args
        if position >= len(starts):
            return self._result(body.body, position)
        state, result = body.params[1 + position], body.body.results[position]
        if self._is_size_in_whole(count) and self._appended(result) > 0:
            match self._made(starts[position]):
                case Apply(Empty()) if self._appended(result) == 1:
                    pass
                case _:
                    return True
        return self.size(starts[position]) or self._grows(state, result, count)

    def _appended(self, result: Operand) -> int:
        """How many elements a step of a loop appends, whatever it chooses."""
        match self._made(result):
            case Apply(Append(), (array, *_)):
                return 1 + self._appended(array)
            case _:
                return 0

    def _grows(self, state: Var, result: Operand, count: Operand) -> bool:
        """Whether a loop's steps change the size of a state in different ways."""
        while isinstance(result, Var) and result in self._defined:
            binding = self._defined[result]
            match binding.expr:
                case Apply(Append() | DropLast(), (array, *_)):
                    return self.value(count) or self._grows(state, array, count)
                case Apply(Alias() | Update() | Sized(), (array, *_)):
                    result = array
                case Apply(Iterate()) as node:
                    position = binding.vars.index(result)
                    if position + 1 >= len(node.args):
                        return self.size(result)
                    own: Lambda = node.bodies[0]
                    self._enter(own.body.bindings)
                    inner = own.params[1 + position], own.body.results[position]
                    if self._grows(*inner, node.args[0]):
                        return True
                    result = node.args[1 + position]
                case If(_, then, orelse):
                    position = binding.vars.index(result)
                    return any(
                        [self._changes(state, b, position) for b in (then, orelse)]
                    )
                case _:
                    return self.size(result)
        return False

    def _changes(self, state: Var, branch: Block, position: int) -> bool:
        """Whether a branch changes the size of a state."""
        self._enter(branch.bindings)
        result = branch.results[position]
        if not isinstance(result, Var) or result not in self._defined:
            return False
        match self._defined[result].expr:
            case Apply(Append() | DropLast() | Iterate()):
                return True
            case _:
                return self.size(result)

    def value(self, operand: Operand) -> bool:
        """Whether a number does, or some element of an array."""
        if not isinstance(operand, Var) or operand in self._outside:
            return False
        if operand not in self._defined:
            return True
        if operand not in self._values:
            self._values[operand] = False
            self._values[operand] = self._value(self._defined[operand])
        return self._values[operand]

    def _value(self, binding: Binding) -> bool:
        match binding.expr:
            case Apply(Dim(), (array,)):
                return self.size(array)
            case Apply(Prim(name), args) if name in _COUNTING and any(
                map(self._is_size_in_whole, args)
            ):
                return True
            case expr:
                return any(map(self.value, free_vars_of(expr)))

    def _is_size_in_whole(self, operand: Operand) -> bool:
        """Whether a number is a size of the arrays that are in the list already."""
        match self._made(operand):
            case Apply(Dim(), (array,)):
                return array is not self.whole and self._is_in_whole(array)
            case Apply(Prim(), args):
                return any(map(self._is_size_in_whole, args))
            case _:
                return False

    def _is_in_whole(self, array: Operand) -> bool:
        """Whether an array is in the list, or has the size of one."""
        if array is self.whole:
            return True
        match self._made(array):
            case Apply(
                Index() | Alias() | Update() | Append() | DropLast() | Sized(), args
            ):
                return self._is_in_whole(args[0])
            case Apply(Build(), (count,)):
                return self._is_size_in_whole(count)
            case _:
                return False
