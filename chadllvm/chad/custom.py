"""Derivatives that the user has written take the place of those that CHAD makes.

With `forward` and `backward` the rules of a vjp, and `tangent` that of a jvp:

    y = custom[f](x)    →   y, r = forward(x);    bp = fun d. one x_c (backward(r, d))
                        →   y, y_t = tangent(x, x_t)             (forward mode)

Where only the rule of the other mode is there, it is transposed, as D[·] transposes any
program. A rule is a linear map of its tangents or cotangents, so that the place where
it is differentiated does not matter, and the primals themselves, which have the right
shapes, serve as one:

    y = custom[f](x)    →   y, y_t, bp = D[tangent](x, x)  by its tangents
    y = custom[f](x)    →   y, r = forward(x); bp = D[backward](r, y)
                            y_c = open; bp(x_t, y_c); y_t = close y_c

That it is linear is proved first (`linear.py`), else the program is refused; so a rule
that is transposed applies no functions with rules to tangents, and no transpose needs
itself. Derivatives of derivatives are made of what the rules do.

A rule's products of something fixed and a tangent are `scale`: a zero tangent
contributes zero even if the other factor is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from chadllvm.chad.linear import LINEAR, ZERO, Linearity
from chadllvm.errors import custom_errors
from chadllvm.ir.op import PRIMS, Prim
from chadllvm.ir.rewrite import Renaming, has, rebuild
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Function,
    Lambda,
    Lit,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import has_float
from chadllvm.ops.custom import Custom
from chadllvm.support.diagnostic import InternalError

Prepare = Callable[[Program], Program]


@dataclass(eq=False)
class Customs:
    """The functions with rules, and the rules, as plain as the mode makes them.

    `prepare` leaves of a program one function without products and calls. Each is made
    once, when it is needed.
    """

    prepare: Prepare
    made: dict[Program, Function] = field(default_factory=dict)

    def copy(self, program: Program) -> Function:
        """A copy of a function, for one place."""
        if program not in self.made:
            self.made[program] = self.prepare(program).entry
        function = self.made[program]
        renaming = Renaming(fresh=True)
        params = renaming.bind(function.params)
        body = renaming.block(function.body)
        return Function(function.name, params, body, function.span)


def _refuse(program: Program) -> Program:
    raise InternalError("custom: nobody says how rules are prepared")


# For functions in which no rules are called.
NO_CUSTOMS = Customs(_refuse)


def settled(program: Program, customs: Customs) -> Program:
    """The program with calls of the functions themselves, whose rules nobody needs."""
    if not any(has_customs(f.body) for f in program.functions):
        return program
    functions = []
    for f in program.functions:
        body = _Settling(customs).block(f.body)
        functions.append(Function(f.name, f.params, body, f.span))
    return Program(tuple(functions), program.tape)


def has_customs(block: Block) -> bool:
    """Whether a function with rules is called in a block."""
    return has(block, Custom)


class _Settling(Renaming):
    """Puts copies of the functions in the place of calls."""

    def __init__(self, customs: Customs) -> None:
        super().__init__()
        self.customs = customs

    def block(self, block: Block) -> Block:
        bindings: list[Binding] = []
        for binding in block.bindings:
            match binding.expr:
                case Apply(Custom() as op, args):
                    function = self.customs.copy(the(op.rules.primal))
                    inner = _Settling(self.customs)
                    inner.mapping.update(
                        zip(function.params, self.operands(args), strict=True)
                    )
                    body = inner.block(function.body)
                    bindings += body.bindings
                    self.mapping.update(zip(binding.vars, body.results, strict=True))
                case _:
                    bindings.append(self.binding(binding))
        return Block(tuple(bindings), self.operands(block.results))


def differentiated_operands(
    op: Custom, args: Sequence[Operand], silent: bool = False
) -> list[int]:
    """The positions of the operands that have a cotangent or tangent in the rules.

    `silent`: those without a cotangent in the rule of a vjp are left out.
    """
    return [
        k
        for k, (origin, arg) in enumerate(zip(op.origin, args, strict=True))
        if op.rules.differentiable[origin]
        and has_float(arg.type)
        and not (silent and origin in op.rules.silent)
    ]


def check_others(
    op: Custom, binding: Binding, is_active: Callable[[Operand], bool]
) -> None:
    """Refuse a derivative by what the rules say nothing of: what a function captured.

    Raises:
        CompileError: if one is asked for.
    """
    assert isinstance(binding.expr, Apply)
    pairs = zip(op.origin, binding.expr.args, strict=True)
    for origin, arg in pairs:
        if is_active(arg) and not op.rules.differentiable[origin]:
            raise custom_errors.captured_real(binding.span, op.rules.title)


def check_linear(
    block: Block,
    params: Sequence[Var],
    primals: Sequence[Operand],
    tangents: Sequence[Operand],
) -> bool:
    """Whether `tangents` are linear in the parameters, and `primals` are without them.

    What may fail must not depend on them either.
    """
    found = Linearity(block, params)
    is_linear = all(found.level(t) in (LINEAR, ZERO) for t in tangents)
    return is_linear and found.is_pure and not any(map(found.depends, primals))


def scaled(block: Block, params: Sequence[Var]) -> Block:
    """A rule whose tangents or cotangents, its parameters, are zero where they are so.

    mul(d, p)  →  scale(d, p)  where d depends on these parameters and p does not.
    """
    found = Linearity(block, params)

    def operation(binding: Binding) -> Binding:
        match binding.expr:
            case Apply(Prim(name="mul"), (a, b)) if found.depends(a) != found.depends(
                b
            ):
                d, p = (a, b) if found.depends(a) else (b, a)
                if isinstance(p, Lit) and math.isfinite(p.value):
                    return binding
                new = Apply(PRIMS["scale"], (d, p))
                return Binding(binding.vars, new, binding.span)
            case expr:
                return Binding(binding.vars, rebuild(expr, change), binding.span)

    def change(block: Block) -> Block:
        return Block(tuple(map(operation, block.bindings)), block.results)

    return change(block)


def call_here(
    function: Lambda,
    args: Sequence[Operand],
    variables: Sequence[Var],
    binding: Binding,
) -> list[Binding]:
    """The bindings of a function and of its call, whose results are these variables."""
    var = Var("rule", function.type)
    return [
        Binding((var,), function, binding.span),
        Binding(tuple(variables), Call(var, tuple(args)), binding.span),
    ]


def the(program: Program | None) -> Program:
    """A rule that has to be there."""
    if program is None:
        raise InternalError("custom: a function without this rule")
    return program
