"""CHAD closed under differentiation: second and third derivatives by reverse mode.

D[·] makes programs that add to cells. With its rules for cells it applies to what it
made: the transposed derivative of the gradient, w ↦ w·∇∇f, and so on. Forward mode on
top is the exact oracle, ⟨v, D(∇f) t⟩ = ⟨D(∇f)ᵀ v, t⟩.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bench.paper.claim import Claim, Curve, Report, Series
from bench.paper.programs import corpus, for_each, numbers
from chadllvm.backend.call import NativeFunction
from chadllvm.chad.forward import push_forward
from chadllvm.chad.gradient import pull_back, value_and_gradient
from chadllvm.driver.passes import DERIVATIVE, FINAL, NORMALISE, SOURCE, Pass
from chadllvm.driver.pipeline import Compilation
from chadllvm.frontend import specialise
from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import ProgramError
from chadllvm.ir.parse import parse
from chadllvm.ir.term import Function, Open, Program, nested
from chadllvm.ir.types import Array, Box, Product, has_float
from chadllvm.ir.value import ArrayValue, from_value, to_value
from chadllvm.lower.lower import lower_function
from chadllvm.simplify.flatten import flatten
from chadllvm.simplify.inline import inline
from chadllvm.support.options import CompileOptions
from tests.array_strategies import array_cases
from tests.containers import drawn
from tests.leaves import all_leaves
from tests.strategies import cases

BOUND = 6
GROWTH = 1.1
TOLERANCE = 1e-9

# Programs of n steps with three numbers as parameters.
LOOPS = {
    "a chain": """
        def main(x: f64[:], n: i64) {
          a = index(x, 0)
          s = iterate(n, a) { i, t: f64 ->
            u = sin(t)  v = mul(u, a)  yield v
          }
          return s
        }
    """,
    "a chain of arrays": """
        def main(x: f64[:], n: i64) {
          a = index(x, 0)
          s = iterate(n, x) { i, t: f64[:] ->
            r = build(3) { j ->
              e = index(t, j)  u = sin(e)  v = mul(u, a)  yield v
            }
            yield r
          }
          r = index(s, 1)
          return r
        }
    """,
    "rows of different lengths": """
        def main(x: f64[:], n: i64) {
          r = fold[add](n) { i ->
            k = imod(i, 4)
            row = build(k) { j ->
              m = imod(j, 3)  a = index(x, m)  b = sin(a)  yield b
            }
            y = fold[add](k) { j ->
              a = index(row, j)  b = mul(a, a)  yield b
            }
            yield y
          }
          return r
        }
    """,
}


@dataclass(frozen=True)
class _Order:
    """A derivative: its last results are those by the parameters `wrt`."""

    program: Program
    wrt: tuple[int, ...]

    @cached_property
    def next(self) -> _Order:
        count = len(self.program.entry.body.results)
        asked = range(count - len(self.wrt), count)
        return _order(pull_back(self.program.entry, self.wrt, asked), self.wrt)

    def of(self, *args: Any) -> list[Any]:
        return list(Interpreter(self.program).run(*args)[-len(self.wrt) :])

    def along(self, tangents: Sequence[Any], *args: Any) -> list[Any]:
        """The tangents of the derivatives."""
        moving = Program((push_forward(self.program.entry, self.wrt),))
        return list(Interpreter(moving).run(*args, *tangents)[-len(self.wrt) :])

    def cost(self, *args: Any) -> int:
        run = Interpreter(self.program)
        run.run(*args)
        return run.cost


def _passes(program: Program, passes: Sequence[Pass]) -> Program:
    return Compilation(CompileOptions(speculate=False)).run(program, passes)


def _order(function: Function, wrt: Sequence[int]) -> _Order:
    return _Order(_passes(Program((function,)), DERIVATIVE), tuple(wrt))


def _gradient(entry: Function) -> _Order:
    wrt = [k for k, p in enumerate(entry.params) if has_float(p.type)]
    return _order(value_and_gradient(entry, wrt), wrt)


@dataclass
class _Findings:
    """What was seen so far, over all programs; `boxed`: with cells of boxes."""

    programs: int = 0
    boxed: int = 0
    ratio: float = 0.0
    gaps: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("second", "third", "native"), 0.0)
    )
    numbers: dict[str, int] = field(default_factory=dict)
    random: np.random.Generator = field(
        default_factory=lambda: np.random.default_rng(7)
    )

    def meet(self, what: str, found: float, expected: float) -> None:
        """Note how far two numbers are apart; NaN is equal to nothing but NaN."""
        self.numbers[what] = self.numbers.get(what, 0) + 1
        if found == expected or (np.isnan(found) and np.isnan(expected)):
            return
        gap = abs(found - expected) / max(1.0, abs(expected))
        gap = gap if np.isfinite(gap) else np.inf
        self.gaps[what] = max(self.gaps[what], gap)


def report(quick: bool) -> Report:
    """Random programs and loops in the interpreter, the corpus in machine code."""
    found = _Findings()
    for strategy in (cases(single=False), array_cases()):
        count = 15 if quick else 300
        for_each(strategy, count, lambda case: _check_random(case, found))
    chosen = corpus()[:: 24 if quick else 4]  # The tests go over all of them.
    natives = sum(_check_native(case, found) for case in chosen)
    curve = _curve((10, 100) if quick else (10, 30, 100, 300, 1000))
    return Report([*_agreements(found, natives), *_costs(found, curve)], [curve])


def _agreements(found: _Findings, natives: int) -> list[Claim]:
    counted = f"{found.programs} random programs, {found.boxed} with cells of boxes"
    measured = {
        "second": f"{counted}; largest relative difference {found.gaps['second']:.1e}",
        "third": f"the same; largest relative difference {found.gaps['third']:.1e}",
        "native": f"{natives} programs of the corpus, {found.numbers['native']} "
        f"numbers; largest relative difference {found.gaps['native']:.1e}",
    }
    says = {
        "second": "reverse over reverse equals forward over reverse",
        "third": "reverse over reverse over reverse agrees with forward mode on top",
        "native": "machine code of reverse over reverse agrees with the interpreter",
    }
    place = "beyond the paper, which takes first derivatives only"
    return [
        Claim(says[what], place, measured[what], found.gaps[what] <= TOLERANCE)
        for what in says
    ]


def _costs(found: _Findings, curve: Curve) -> list[Claim]:
    growth = max(s.points[-1][1] / s.points[-2][1] for s in curve.series)
    return [
        Claim(
            f"the gradient's derivative costs at most {BOUND} times the gradient",
            "the theorem of §6, applied to D's own output",
            f"largest ratio {found.ratio:.2f} on {found.programs} random programs",
            found.ratio <= BOUND,
        ),
        Claim(
            "that factor does not grow with the number of steps of a loop",
            "the theorem of §6, applied to D's own output",
            f"last over last but one at most {growth:.3f} for {len(LOOPS)} loops",
            growth <= GROWTH,
        ),
    ]


def _curve(sizes: Sequence[int]) -> Curve:
    series = []
    for name, text in LOOPS.items():
        first = _gradient(parse(text).entry)
        x = to_value(np.array([0.3, 0.9, 0.5]), first.program.entry.params[0].type)
        costs = [(n, first.next.cost(x, n, x) / first.cost(x, n)) for n in sizes]
        series.append(Series(name, tuple((float(n), ratio) for n, ratio in costs)))
    return Curve(
        "second_order",
        "The cost of the gradient's derivative over the gradient's",
        "§6",
        "steps of the loop",
        "ratio of costs",
        tuple(series),
    )


def _check_random(case: Any, found: _Findings) -> None:
    types = [p.type for p in case.program.entry.params]
    values = all_leaves(list(map(to_value, case.args, types)), types)
    first = _gradient(inline(flatten(case.program)).entry)
    w, v, t = ([_like(values[k], found.random) for k in first.wrt] for _ in range(3))
    try:
        cost = first.cost(*values)
    except ProgramError:
        return
    second = first.next
    hessian = second.of(*values, *w)
    found.meet("second", _dot(hessian, t), _dot(w, first.along(t, *values)))
    third = second.next.of(*values, *w, *v)
    found.meet("third", _dot(third, t), _dot(v, second.along(t, *values, *w)))
    size = sum(len(_numbers(value)) for value in values)
    found.ratio = max(found.ratio, second.cost(*values, *w) / (cost + size))
    found.programs += 1
    found.boxed += _has_boxed_cells(second.program)


def _has_boxed_cells(program: Program) -> bool:
    pending = [program.entry.body]
    while pending:
        for binding in pending.pop().bindings:
            match binding.expr:
                case Open(Array(Box())):
                    return True
            pending += [block for _, block in nested(binding.expr)]
    return False


def _check_native(case: Any, found: _Findings) -> bool:
    """Machine code for a function of the corpus; False if it has no real arguments."""
    if not numbers(drawn(case.args, found.random)):
        return False
    source = specialise(case.function.py_func, case.function._types(case.args))
    second = _gradient(_passes(source, (*NORMALISE, *SOURCE)).entry).next
    types = [p.type for p in source.entry.params]
    values = all_leaves(list(map(to_value, case.args, types)), types)
    values += [_like(values[k], found.random) for k in second.wrt]
    hessian = second.of(*values)
    pairs = zip(_native(second, values), hessian, strict=True)
    for a, b in pairs:
        for x, y in zip(np.ravel(a), _numbers(b), strict=True):
            found.meet("native", float(x), y)
    return True


def _native(order: _Order, values: Sequence[Any]) -> list[Any]:
    """The derivatives by machine code."""
    entry = _passes(order.program, FINAL).entry
    types = [p.type for p in entry.params]
    names = [f"p{k}" for k in range(len(types))]
    results = Product(entry.body.types)
    run = NativeFunction(lower_function(entry), "main", names, types, results)
    args = [from_value(value, ty) for value, ty in zip(values, types, strict=True)]
    return list(run(*args)[-len(order.wrt) :])


def _numbers(value: Any) -> list[float]:
    return value.data if isinstance(value, ArrayValue) else [value]


def _like(value: Any, random: np.random.Generator) -> Any:
    """A random value of the same shape."""
    if isinstance(value, ArrayValue):
        return ArrayValue(value.shape, random.normal(size=len(value.data)).tolist())
    return float(random.normal())


def _dot(a: Sequence[Any], b: Sequence[Any]) -> float:
    pairs = zip(a, b, strict=True)
    return sum(
        p * q for x, y in pairs for p, q in zip(_numbers(x), _numbers(y), strict=True)
    )
