"""Checks one core program in every way it can be run.

The judge is the interpreter of the source program. Machine code must agree with it
under every option; the gradient's machine code with the interpreter of the `chad`
stage; and that with central differences, where the program is smooth. A program that
fails must fail with the same exception everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from chadllvm.backend.call import NativeFunction
from chadllvm.chad.forward import push_forward
from chadllvm.driver.passes import OPTIONAL
from chadllvm.driver.pipeline import Compilation, Gradient, compile_program
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import ProgramError
from chadllvm.ir.term import Program
from chadllvm.ir.types import Product, Type, has_float
from chadllvm.ir.value import from_value, to_value
from chadllvm.llvm.optimize import Effort
from chadllvm.simplify.flatten import flatten
from chadllvm.simplify.inline import inline
from chadllvm.support.options import CompileOptions
from tests.leaves import all_leaves, leaf_types
from tests.second_order import arguments, gradient_of_source, native
from tests.strategies import Case

OPTIONS = {
    "default": CompileOptions(),
    "checked": CompileOptions(speculate=False),
    "plain": CompileOptions(disabled=OPTIONAL),
    "permanent": CompileOptions(optimize=0),
}

KINDS = ("value", "gradient")

# What LLVM does for the others, which are there to test our own passes.
CHEAP = Effort(1, 0, loops=False)

STEP = 1e-6

# The outcome of a run: the results' leaves, or the exception that ended it.
Outcome = list[Any] | type[Exception]


class Disagreement(AssertionError):
    """Two ways to run a program differ; `where` names the way that is wrong."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}")
        self.where = where


WAYS = (
    *(f"{name} {kind}" for name in OPTIONS for kind in KINDS),
    *("derivative", "second"),
)


def check_case(case: Case, ways: Collection[str] = WAYS) -> None:
    """Check a program in some of the `WAYS` to run it.

    Raises:
        Disagreement: if two ways to run the program differ.
    """
    source = _Source(case)
    for way in ways:
        if way == "derivative":
            source.check_derivative(way)
        elif way == "second":
            source.check_second(way)
        else:
            name, kind = way.split()
            source.check_native(way, OPTIONS[name], kind == "gradient")


class _Source:
    """A source program, its arguments as leaves, and its outcome."""

    def __init__(self, case: Case) -> None:
        self.program = case.program
        self.flat = inline(flatten(case.program))
        entry = case.program.entry
        pairs = list(zip(case.args, entry.params, strict=True))
        self.types = [leaf for p in entry.params for leaf in leaf_types(p.type)]
        self.args = [to_value(arg, p.type) for arg, p in pairs]
        self.leaves = all_leaves(self.args, [p.type for p in entry.params])
        self.results = entry.body.types
        self.outcome = self.interpreted(self.args)
        self.wrt = tuple(k for k, ty in enumerate(self.types) if has_float(ty))
        self._derivative: Compilation | None = None

    def interpreted(self, args: Sequence[Any]) -> Outcome:
        return _outcome(Interpreter(self.program), args, self.results)

    def compiled(self, options: CompileOptions, gradient: bool) -> Compilation:
        request = Gradient(self.wrt) if gradient else None
        return compile_program(self.program, request, lambda f: f, options)

    def derivative(self) -> Outcome:
        """The outcome of the `chad` stage in the interpreter."""
        if self._derivative is None:
            self._derivative = self.compiled(OPTIONS["plain"], True)
        program = self._derivative.stages["chad"]
        return _outcome(Interpreter(program), self.leaves, program.entry.body.types)

    def check_native(self, where: str, options: CompileOptions, grad: bool) -> None:
        compilation, checked = self.compiled(options, grad), OPTIONS["checked"]
        types = [leaf for ty in self.results for leaf in leaf_types(ty)]
        if grad:
            types += [self.types[k] for k in self.wrt]
        found = self._run(compilation, options, types)
        if _is_default(options) and isinstance(found, type):
            found = self._run(self.compiled(checked, grad), checked, types)
        expected = self.derivative() if grad else self.outcome
        compare(where, found, expected)
        if grad:
            first = (
                expected if isinstance(expected, type) else expected[: -len(self.wrt)]
            )
            compare("chad value", first, self.outcome)

    def _run(
        self, compilation: Compilation, options: CompileOptions, types: Sequence[Type]
    ) -> Outcome:
        assert compilation.loops is not None
        native = NativeFunction(
            compilation.loops,
            "main",
            [f"p{k}" for k in range(len(self.types))],
            self.types,
            Product(tuple(types)),
            effort=None if _is_default(options) else CHEAP,
        )
        pairs = zip(self.leaves, self.types, strict=True)
        args = [from_value(leaf, ty) for leaf, ty in pairs]
        before = [np.copy(arg) for arg in args]
        try:
            found = list(native(*args))
        except (ArithmeticError, LookupError, ValueError) as error:
            return type(error)
        compare("inputs", args, before)
        return found

    def check_derivative(self, where: str) -> None:
        """The gradient's slope along a direction is that of the values."""
        if isinstance(self.outcome, type):
            return
        random = np.random.default_rng(1)
        slope, moves = 0.0, []
        derivative = self.derivative()
        assert isinstance(derivative, list)
        cts = iter(derivative[-len(self.wrt) :])
        for leaf, ty in zip(self.leaves, self.types, strict=True):
            number = from_value(leaf, ty)
            move = random.uniform(-1, 1, np.shape(number)) if has_float(ty) else None
            if move is not None:
                slope += float(np.sum(move * next(cts)))
            moves.append(move)
        sides = [self._slopes(moves, step) for step in (STEP, STEP / 4)]
        wanted = [float(np.mean(pair)) for pair in sides]
        if not any(_near(slope, w, 1e-5) for w in wanted) and _is_smooth(sides):
            raise Disagreement(where, f"{slope} is not {wanted[0]}")

    def check_second(self, where: str) -> None:
        """The gradient's derivative: machine code, the interpreter, forward mode."""
        first = gradient_of_source(self.program, self.wrt, OPTIONS["checked"])
        random = np.random.default_rng(2)
        leaves = [
            from_value(v, ty) for v, ty in zip(self.leaves, self.types, strict=True)
        ]
        moves = [
            to_value(random.uniform(-1, 1, np.shape(leaves[k])), self.types[k])
            for k in self.wrt
        ]
        second, args = first.next, [*self.leaves, *moves]
        types = second.program.entry.body.types
        expected = _outcome(Interpreter(second.program), args, types)
        try:
            found: Outcome = list(native(second, CHEAP)(*arguments(second, args)))
        except (ArithmeticError, LookupError, ValueError) as error:
            found = type(error)
        compare(where, found, expected)
        moving = Program((push_forward(first.program.entry, self.wrt),))
        tangents = _outcome(Interpreter(moving), args, moving.entry.body.types)
        if isinstance(expected, list) and isinstance(tangents, list):
            count = len(self.wrt)
            compare("forward over reverse", expected[-count:], tangents[-count:])

    def _slopes(self, moves: Sequence[Any], step: float) -> tuple[float, float]:
        """The slopes on both sides."""
        below, here, above = (self._at(moves, h) for h in (-step, 0.0, step))
        return (here - below) / step, (above - here) / step

    def _at(self, moves: Sequence[Any], step: float) -> float:
        args = [
            leaf if move is None else to_value(from_value(leaf, ty) + step * move, ty)
            for leaf, ty, move in zip(self.leaves, self.types, moves, strict=True)
        ]
        found = _outcome(Interpreter(self.flat), args, self.flat.entry.body.types)
        return float(found[0]) if isinstance(found, list) else float("nan")


def _is_default(options: CompileOptions) -> bool:
    return options == OPTIONS["default"]


def _near(a: float, b: float, tolerance: float) -> bool:
    return bool(abs(a - b) <= tolerance * (1 + abs(b)))


def _is_smooth(sides: Sequence[tuple[float, float]]) -> bool:
    """Whether the slopes on both sides, at two step lengths, are one."""
    numbers = [n for pair in sides for n in pair]
    return all(_near(a, b, 1e-4) for a in numbers for b in numbers)


def _outcome(run: Interpreter, args: Sequence[Any], types: Sequence[Type]) -> Outcome:
    try:
        results = run.run(*args)
    except ProgramError as error:
        return error.kind
    flat = [leaf for ty in types for leaf in leaf_types(ty)]
    pairs = zip(all_leaves(results, types), flat, strict=True)
    return [from_value(leaf, ty) for leaf, ty in pairs]


def compare(where: str, found: Outcome, expected: Outcome) -> None:
    """The same failure, or the same leaves up to rounding."""
    if isinstance(found, type) or isinstance(expected, type):
        if found is not expected:
            raise Disagreement(where, f"{found}, expected {expected}")
        return
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
        if np.shape(a) != np.shape(b) or not np.allclose(
            a, b, rtol=1e-9, atol=1e-9, equal_nan=True
        ):
            raise Disagreement(where, f"result {k} is {a}, expected {b}")
