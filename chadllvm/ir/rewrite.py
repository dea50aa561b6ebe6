"""What every pass needs: free variables, substitution, copies with fresh variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar, assert_never

from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Close,
    Const,
    Expr,
    Function,
    If,
    Inject,
    Lambda,
    One,
    Open,
    Operand,
    Program,
    Proj,
    Tuple,
    Var,
    View,
    nested,
    operands,
)

T = TypeVar("T")


def map_functions(program: Program, change: Callable[[Function], Function]) -> Program:
    """Apply a pass to every function; the same program if none changed."""
    functions = tuple(change(f) for f in program.functions)
    if all(a is b for a, b in zip(functions, program.functions, strict=True)):
        return program
    return Program(functions)


def with_body(function: Function, body: Block) -> Function:
    """The function with another body."""
    if body is function.body:
        return function
    return Function(function.name, function.params, body, function.span)


def everywhere(block: Block) -> Iterator[Binding]:
    """The bindings of a block and of those in it, in order."""
    stack = [iter(block.bindings)]
    while stack:
        binding = next(stack[-1], None)
        if binding is None:
            stack.pop()
            continue
        yield binding
        stack += [iter(inner.bindings) for _, inner in reversed(nested(binding.expr))]


def has(block: Block, *ops: type) -> bool:
    """Whether one of these operations is in a block."""
    return any(
        isinstance(b.expr, Apply) and isinstance(b.expr.op, ops)
        for b in everywhere(block)
    )


def has_bodies(block: Block) -> bool:
    """Whether an operation in a block has a body, as loops have."""
    return any(isinstance(b.expr, Apply) and b.expr.bodies for b in everywhere(block))


def bound_in(block: Block) -> Iterator[Var]:
    """All that is bound in a block, and in those in it."""
    for binding in everywhere(block):
        yield from binding.vars
        for params, _ in nested(binding.expr):
            yield from params


def free_vars(
    blocks: Iterable[tuple[tuple[Var, ...], Block]],
) -> dict[Var, None]:
    """The free variables of blocks under their parameters, in order of first use."""
    found: dict[Var, None] = {}
    for params, block in blocks:
        _free(block, set(params), found)
    return found


def free_vars_of(expr: Expr) -> dict[Var, None]:
    """The free variables of an expression with its nested blocks."""
    found: dict[Var, None] = {v: None for v in operands(expr) if isinstance(v, Var)}
    for params, block in nested(expr):
        _free(block, set(params), found)
    return found


def _free(block: Block, bound: set[Var], found: dict[Var, None]) -> None:
    """Add the free variables; `bound` is this block's own and is consumed."""
    for binding in block.bindings:
        expr = binding.expr
        for operand in operands(expr):
            if isinstance(operand, Var) and operand not in bound:
                found[operand] = None
        for params, inner in nested(expr):
            below: dict[Var, None] = {}
            _free(inner, set(params), below)
            found.update((v, None) for v in below if v not in bound)
        bound.update(binding.vars)
    for operand in block.results:
        if isinstance(operand, Var) and operand not in bound:
            found[operand] = None


class Renaming:
    """Replaces variables by operands, in expressions and in the blocks below them.

    With `fresh`, every variable bound on the way is replaced by a new one of the same
    name and type, so that the result is a copy that can stand beside the original.
    """

    def __init__(
        self, mapping: Mapping[Var, Operand] | None = None, fresh: bool = False
    ) -> None:
        self.mapping: dict[Var, Operand] = dict(mapping or {})
        self.fresh = fresh

    def operand(self, operand: Operand) -> Operand:
        return (
            self.mapping.get(operand, operand) if isinstance(operand, Var) else operand
        )

    def operands(self, args: tuple[Operand, ...]) -> tuple[Operand, ...]:
        return tuple(map(self.operand, args))

    def bind(self, variables: tuple[Var, ...]) -> tuple[Var, ...]:
        """The variables to bind in place of these."""
        if not self.fresh:
            return variables
        new = tuple([Var(v.name, v.type) for v in variables])
        self.mapping.update(zip(variables, new, strict=True))
        return new

    def expr(self, expr: Expr) -> Expr:
        match expr:
            case Apply(op, args, bodies):
                new = tuple(map(self.body, bodies)) if bodies else ()
                return Apply(op, self.operands(args), new)
            case One(cell, indices, value):
                path = self.operands(indices) if indices else ()
                return One(self.operand(cell), path, self.operand(value))
            case Close(cell):
                return Close(self.operand(cell))
            case Open(content, dims):
                return Open(content, self.operands(dims))
            case Call(function, args, derivative):
                if isinstance(function, Var):
                    target = self.operand(function)
                    assert isinstance(target, Var)
                    function = target
                return Call(function, self.operands(args), derivative)
            case Const():
                return expr
            case Lambda():
                return self.body(expr)
            case If(cond, then, orelse):
                return If(self.operand(cond), self.block(then), self.block(orelse))
            case View(cell, indices):
                return View(self.operand(cell), self.operands(indices))
            case Tuple(args, names):
                return Tuple(self.operands(args), names)
            case Proj(arg, index):
                return Proj(self.operand(arg), index)
            case Inject(ty, index, arg):
                return Inject(ty, index, self.operand(arg))
            case Case(arg, branches):
                return Case(self.operand(arg), tuple(map(self.body, branches)))
            case _:
                assert_never(expr)

    def body(self, body: Lambda) -> Lambda:
        return Lambda(self.bind(body.params), self.block(body.body))

    def binding(self, binding: Binding) -> Binding:
        expr = self.expr(binding.expr)
        return Binding(self.bind(binding.vars), expr, binding.span)

    def block(self, block: Block) -> Block:
        bindings = tuple([self.binding(b) for b in block.bindings])
        return Block(bindings, self.operands(block.results))


def rebuild(expr: Expr, change: Callable[[Block], Block]) -> Expr:
    """The expression with each nested block changed; itself if none changed."""
    match expr:
        case Apply(op, args, bodies):
            if not bodies:
                return expr
            new = tuple([_with_block(body, change) for body in bodies])
            if all(a is b for a, b in zip(new, bodies, strict=True)):
                return expr
            return Apply(op, args, new)
        case One() | Close() | Open() | Call():
            return expr
        case Lambda():
            return _with_block(expr, change)
        case If(cond, then, orelse):
            then2, orelse2 = change(then), change(orelse)
            if then2 is then and orelse2 is orelse:
                return expr
            return If(cond, then2, orelse2)
        case Case(arg, branches):
            new = tuple([_with_block(branch, change) for branch in branches])
            if all(a is b for a, b in zip(new, branches, strict=True)):
                return expr
            return Case(arg, new)
        case Const() | View() | Tuple() | Proj() | Inject():
            return expr
        case _:
            assert_never(expr)


def _with_block(body: Lambda, change: Callable[[Block], Block]) -> Lambda:
    block = change(body.body)
    return body if block is body.body else Lambda(body.params, block)
