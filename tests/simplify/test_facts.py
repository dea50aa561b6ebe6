"""What is known of integers holds: of random programs, in each step that they run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np
import pytest

from chadllvm.ir.interp import Interpreter
from chadllvm.ir.op import ProgramError
from chadllvm.ir.parse import parse
from chadllvm.ir.term import Binding, Block, Lambda, Program, Var
from chadllvm.ir.types import I64
from chadllvm.ir.value import to_value
from chadllvm.simplify.scopes import FactWalk

# How many of the numbers before it each one is compared with.
_NEAR = 5


class Claims(FactWalk):
    """The ends of each integer, and the others that it is not less than."""

    def __init__(self, program: Program) -> None:
        super().__init__(program.entry.params)
        self.ends: dict[Var, tuple[int, int]] = {}
        self.above: dict[Var, list[Var]] = {}
        self._seen: list[Var] = []
        self._note(*program.entry.params)
        self.block(program.entry.body)

    def _note(self, *variables: Var) -> None:
        for var in variables:
            if var.type != I64:
                continue
            value = self.facts.value(var)
            self.ends[var] = self.facts.range(value)
            near = self._seen[-_NEAR:]
            self.above[var] = [
                other
                for other in near
                if self.facts.is_not_negative(value - self.facts.value(other))
            ]
            self._seen.append(var)

    def inside(self, block: Block, index: Var | None) -> Block:
        count = len(self._seen)
        if index is not None:
            self._note(index)
        try:
            return super().inside(block, index)
        finally:
            del self._seen[count:]

    def keep(self, binding: Binding) -> None:
        super().keep(binding)
        self._note(*binding.vars)


class Checked(Interpreter):
    """Compares what is claimed with what is the case."""

    def __init__(self, program: Program, claims: Claims) -> None:
        super().__init__(program)
        self.claims = claims
        self.count = 0

    def call(self, body: Lambda, args: Sequence[Any]) -> tuple[Any, ...]:
        self.frame.update(zip(body.params, args, strict=True))
        for var in body.params:
            if var in self.claims.ends:
                self._check(var)
        return super().call(body, args)

    def _block(self, block: Block) -> tuple[Any, ...]:
        for binding in block.bindings:
            super()._block(Block((binding,), ()))
            for var in binding.vars:
                if var in self.claims.ends:
                    self._check(var)
        return self._operands(block.results)

    def _check(self, var: Var) -> None:
        value = self.frame[var]
        low, high = self.claims.ends[var]
        assert low <= value <= high, (var, value, low, high)
        for other in self.claims.above[var]:
            assert value >= self.frame[other], (var, value, other)
            self.count += 1
        self.count += 1


class Writer:
    """The text of a program over integers, loops and branches."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def statement(self, known: list[str], depth: int, out: list[str]) -> None:
        x, y = (self.random.choice(known) for _ in range(2))
        small, made = self.random.randint(1, 4), self.name()
        kind = self.random.randrange(12 if depth < 3 else 9)
        match kind:
            case 0 | 1 | 2:
                out.append(f"{made} = {self.random.choice(ARITHMETIC)}({x}, {y})")
            case 3:
                out.append(f"{made} = imul({x}, {self.random.choice((-2, 2, 3))})")
            case 4:
                out.append(f"{made} = {self.random.choice(DIVISION)}({x}, {small})")
            case 5:
                out.append(f"{made} = iadd({x}, {self.random.randint(-3, 3)})")
            case 6 | 7:
                out.append(f"{made} = {self.random.choice(ENDS)}({x}, {y})")
            case 8:
                out.append(f"{made} = bound({x}, {y})")
            case 9 | 10:
                cond = self.name()
                out.append(f"{cond} = {self.random.choice(TESTS)}({x}, {y})")
                sides = [self.block(known, depth + 1) for _ in range(2)]
                out.append(f"{made} = if {cond} {{ {sides[0]} }} else {{ {sides[1]} }}")
            case _:
                index = self.name()
                body = self.block([*known, index], depth + 1)
                out.append(f"{self.name()} = build({x}) {{ {index} -> {body} }}")
                return
        known.append(made)

    def block(self, known: list[str], depth: int) -> str:
        own, out = [*known], list[str]()
        for _ in range(self.random.randint(1, 4)):
            self.statement(own, depth, out)
        return f"{'  '.join(out)}  yield {own[-1]}"

    def program(self) -> str:
        known, out = ["n", "d", "m"], ["d = dim[0](a)", "m = imax(n, 0)"]
        for _ in range(self.random.randint(4, 10)):
            self.statement(known, 0, out)
        body = "  ".join(out)
        return f"def f(n: i64, a: f64[:]) {{ {body}  return {known[-1]} }}"


ARITHMETIC, DIVISION = ("iadd", "isub"), ("ifloordiv", "imod")
ENDS, TESTS = ("imin", "imax"), ("ilt", "ile", "ieq", "ine")


def checked(text: str) -> int:
    """How many claims there are of a program's numbers, all of them right."""
    program = parse(text)
    claims, count = Claims(program), 0
    for n in (-3, 0, 1, 2, 5):
        for size in (0, 1, 4):
            run = Checked(program, claims)
            with suppress(ProgramError):  # What ran before is checked.
                run.run(n, to_value(np.zeros(size)))
            count += run.count
    return count


@pytest.mark.sweep(share=5)
@pytest.mark.parametrize("seed", range(40))
def test_what_is_known_of_random_programs_holds(seed: int) -> None:
    counts = [checked(Writer(10 * seed + k).program()) for k in range(10)]
    assert sum(counts) > 200


def ends_of(text: str, name: str) -> tuple[int, int]:
    claims = Claims(parse(text))
    (found,) = (ends for var, ends in claims.ends.items() if var.name == name)
    return found


def above(text: str, name: str) -> list[str]:
    claims = Claims(parse(text))
    (found,) = (others for var, others in claims.above.items() if var.name == name)
    return [other.name for other in found]


def test_a_check_says_something_of_the_index_and_of_the_size() -> None:
    text = "def f(i: i64, n: i64) { k = bound(i, n)  return k }"
    assert ends_of(text, "k")[0] == 0
    five = "def f(i: i64) { n = imin(i, 5)  k = bound(i, n)  return k }"
    assert ends_of(five, "k") == (0, 4)
    sized = "def f(i: i64, a: f64[:]) { j = imax(i, 3)  d = dim[0](a)"
    sized += "  k = bound(j, d)  m = iadd(d, 0)  l = isub(d, k)  return m }"
    assert ends_of(sized, "m")[0] == 4
    assert ends_of(sized, "k")[0] == 0 and "k" in above(sized, "m")


def test_steps_are_fewer_than_their_count() -> None:
    def loop(count: str, body: str) -> str:
        steps = f"r = build({count}) {{ i -> {body}  yield i }}"
        return f"def f(a: f64[:]) {{ n = dim[0](a)  {steps}  return r }}"

    own, less, two = "k = iadd(i, 0)", "m = iadd(n, -1)", "m = iadd(n, -2)"
    assert ends_of(loop("n", own), "k")[0] == 0
    assert ends_of(loop("7", own), "k") == (0, 6)
    assert "i" in above(loop("n", less), "m")
    assert "i" not in above(loop("n", two), "m")
