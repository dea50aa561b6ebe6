"""Calls of derivatives inside of programs become calls of functions that compute them.

    def f(x) { …; return y }                 def f(x) { …; return y }
    def main(a) {                      →     def f_grad(x) { D[…]…; return y, close xc }
      y, g = derivative gradient[0] @f(a)    def main(a) {
      … }                                      y, g = @f_grad(a)
                                               … }

Callees stand before their callers, so that a derivative of what calls derivatives
itself is made of a program in which these are functions already: D[·] knows cells.
What has to be done with a function before D[·] and after it, `driver/pipeline.py` says.
Products and sums are gone by then.

A pull-back is called in two halves (`halves.py`), the first where the function itself
was called with these arguments, if that is in scope: for `vjp` calls it for the result.

    y = @f(x)                                      y, c = @f_vjp_early(x)
    _, d = derivative pull_back[0] @f(x, y_ct)  →  _, d = @f_vjp_late(y, c, y_ct)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import assert_never

from chadllvm.chad.custom import Customs
from chadllvm.chad.forward import push_forward
from chadllvm.chad.gradient import pull_back, value_and_gradient
from chadllvm.chad.halves import Halves, halves
from chadllvm.ir.build import unused_name
from chadllvm.ir.rewrite import everywhere, rebuild, with_body
from chadllvm.ir.term import (
    Binding,
    Block,
    Call,
    Derivative,
    Function,
    Mode,
    Operand,
    Program,
    Var,
    nested,
)
from chadllvm.ir.types import has_float

Simplify = Callable[[Program], Program]


def derivatives(block: Block) -> Iterator[Derivative]:
    """The derivatives that are called in a block."""
    for binding in everywhere(block):
        if isinstance(binding.expr, Call) and binding.expr.derivative is not None:
            yield binding.expr.derivative


def has_derivatives(block: Block) -> bool:
    """Whether a derivative is called in a block."""
    return any(derivatives(block))


def has_tangents(program: Program) -> bool:
    """Whether forward mode is asked for somewhere in a program."""
    found = (d for f in program.functions for d in derivatives(f.body))
    return any(d.mode is Mode.PUSH_FORWARD for d in found)


def derived(
    program: Program, before: Simplify, after: Simplify, customs: Customs
) -> Program:
    """The program without calls of derivatives.

    `before` leaves of a program one function, without calls, that can be
    differentiated; `after` is applied to what came of it, and removes functions.
    """
    names = {f.name for f in program.functions}
    resolver = _Resolver(before, after, customs, names)
    for function in program.functions:
        resolver.function(function)
    return Program(tuple(resolver.functions))


# A function with its arguments, and the parameters that it is pulled back to.
_Key = tuple[str, tuple[object, ...], tuple[int, ...]]

# The results of first halves by what they are of, for those in scope.
_Run = dict[_Key, tuple[Var, ...]]


class _Resolver:
    """Goes through functions in order; each derivative is made once."""

    def __init__(
        self, before: Simplify, after: Simplify, customs: Customs, names: set[str]
    ) -> None:
        self.before, self.after, self.customs = before, after, customs
        self.names = names
        self.functions: list[Function] = []
        self.made: dict[tuple[str, Derivative], str] = {}
        self.halved: dict[tuple[str, Derivative], Halves] = {}
        # The calls in the function at hand that the first halves are to stand for.
        self.pulled: dict[Binding, Derivative] = {}

    def function(self, function: Function) -> None:
        """Append a function without calls of derivatives."""
        body = function.body
        if has_derivatives(body):
            self.pulled = {}
            self._note_pulled(body, {})
            body = self.block(body, {})
        self.functions.append(with_body(function, body))

    def _note_pulled(
        self, block: Block, calls: dict[tuple[str, tuple[object, ...]], Binding]
    ) -> None:
        """Note for each pull-back the last call of the function itself before it.

        `calls` are those in scope; it is called by `vjp`, in no branch that this is not
        in as well.
        """
        calls = dict(calls)
        for binding in block.bindings:
            match binding.expr:
                case Call(str() as name, args, Derivative(Mode.PULL_BACK) as rule):
                    primal = calls.get((name, _same(self._primals(name, args))))
                    if primal is not None:
                        self.pulled.setdefault(primal, rule)
                case Call(str() as name, args, None):
                    calls[name, _same(args)] = binding
            for _, inner in nested(binding.expr):
                self._note_pulled(inner, calls)

    def block(self, block: Block, run: _Run) -> Block:
        if not (has_derivatives(block) or self.pulled):
            return block
        run, bindings = dict(run), list[Binding]()
        for binding in block.bindings:
            bindings += self._binding(binding, run)
        return Block(tuple(bindings), block.results)

    def _binding(self, binding: Binding, run: _Run) -> list[Binding]:
        match binding.expr:
            case Call(str() as name, args, Derivative(Mode.PULL_BACK) as rule):
                return self._pull_back(binding, name, args, rule, run)
            case Call(str() as name, args, Derivative() as rule):
                call = Call(self._derived(name, rule), args)
                return [Binding(binding.vars, call, binding.span)]
            case Call(str() as name, args) if binding in self.pulled:
                rule = self.pulled[binding]
                return [self._early(binding, name, args, rule, run)]
            case expr:
                new = rebuild(expr, lambda block: self.block(block, run))
                return [Binding(binding.vars, new, binding.span)]

    def _pull_back(
        self,
        binding: Binding,
        name: str,
        args: tuple[Operand, ...],
        rule: Derivative,
        run: _Run,
    ) -> list[Binding]:
        """The second half, behind the first one if that has not been run yet."""
        primals = self._primals(name, args)
        key = name, _same(primals), rule.wrt
        found = []
        if key not in run:
            count = len(binding.vars) - len(rule.wrt)
            outs = tuple([Var(v.name, v.type) for v in binding.vars[:count]])
            primal = Binding(outs, binding.expr, binding.span)
            found.append(self._early(primal, name, primals, rule, run))
        made = self._halves(name, rule)
        saved = tuple([run[key][k] for k in made.saved])
        call = Call(made.late.name, (*saved, *args[len(primals) :]))
        return [*found, Binding(binding.vars, call, binding.span)]

    def _early(
        self,
        binding: Binding,
        name: str,
        args: tuple[Operand, ...],
        rule: Derivative,
        run: _Run,
    ) -> Binding:
        """The first half, in the place of a call of the function itself."""
        made = self._halves(name, rule)
        more = made.early.body.types[len(binding.vars) :]
        results = (*binding.vars, *(Var("saved", ty) for ty in more))
        run[name, _same(args), rule.wrt] = results
        return Binding(results, Call(made.early.name, args), binding.span)

    def _primals(self, name: str, args: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """The arguments of a pull-back without the cotangents."""
        (function,) = [f for f in self.functions if f.name == name]
        return args[: len(function.params)]

    def _halves(self, name: str, derivative: Derivative) -> Halves:
        key = name, derivative
        if key not in self.halved:
            (of,) = [f for f in self.functions if f.name == name]
            results = len(of.body.results)
            whole = self._differentiated(name, derivative)
            made = halves(whole, results, len(whole.params) - len(of.params))
            early, late = self._named(made.early), self._named(made.late)
            self.functions += [early, late]
            self.halved[key] = Halves(early, late, made.saved)
        return self.halved[key]

    def _derived(self, name: str, derivative: Derivative) -> str:
        key = name, derivative
        if key not in self.made:
            function = self._differentiated(name, derivative)
            self.functions.append(function)
            self.made[key] = function.name
        return self.made[key]

    def _differentiated(self, name: str, derivative: Derivative) -> Function:
        """The derivative of a function."""
        last = [f.name for f in self.functions].index(name)
        program = self.before(Program(tuple(self.functions[: last + 1])))
        function = differentiated(program.entry, derivative, self.customs)
        (function,) = self.after(Program((function,))).functions
        return self._named(function)

    def _named(self, function: Function) -> Function:
        """The function with a name of its own."""
        new = unused_name(function.name, self.names)
        return Function(new, function.params, function.body, function.span)


def _same(args: tuple[Operand, ...]) -> tuple[object, ...]:
    """What is equal for the same arguments; of numbers, 0 and -0 are two."""
    return tuple([a if isinstance(a, Var) else repr(a) for a in args])


def differentiated(
    function: Function, derivative: Derivative, customs: Customs
) -> Function:
    """The derivative of one flat function."""
    wrt = derivative.wrt
    match derivative.mode:
        case Mode.GRADIENT:
            return value_and_gradient(function, wrt, customs)
        case Mode.PULL_BACK:
            results = function.body.results
            reals = [k for k, r in enumerate(results) if has_float(r.type)]
            return pull_back(function, wrt, reals, customs)
        case Mode.PUSH_FORWARD:
            return push_forward(function, wrt, customs)
        case _:
            assert_never(derivative.mode)
