"""What the interpreter finds of a derivative, beside what compiled code gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chadllvm.ir.interp import Interpreter
from chadllvm.ir.term import Program
from chadllvm.ir.types import Type, has_float
from chadllvm.ir.value import from_value, to_value
from tests.containers import flattened, has_union, leaves


def flat(args: Sequence[Any], types: Sequence[Type]) -> list[Any]:
    pairs = zip(args, types, strict=True)
    return [leaf for arg, ty in pairs for leaf in flattened(arg, ty)]


class Results:
    """What a derivative gave, to compare the interpreter's results with."""

    def __init__(
        self, types: Sequence[Type], params: Sequence[int], expected: Any
    ) -> None:
        self.has_unions = any(map(has_union, types))
        self.expected = leaves(expected)
        if self.has_unions:
            value, gradients = expected
            self.expected = [value]
            for k, gradient in zip(params, gradients, strict=True):
                self.expected += flattened(gradient, types[k], real=True)

    def check(self, stage: str, program: Program, args: Sequence[Any]) -> None:
        pairs = zip(args, program.entry.params, strict=True)
        run = Interpreter(program).run(*(to_value(a, p.type) for a, p in pairs))
        if stage == "core":
            np.testing.assert_allclose(run[0], self.expected[0], rtol=1e-12)
            return
        for found, want in self.pairs(run, program):
            np.testing.assert_allclose(
                found, want, rtol=1e-11, atol=1e-13, err_msg=stage
            )

    def pairs(self, run: Sequence[Any], program: Program) -> list[tuple[Any, Any]]:
        """What the interpreter finds, and what it is compared with."""
        # Beside numbers, a list of arrays says where these are.
        both = zip(run, program.entry.body.types, strict=True)
        results = [(x, ty) for x, ty in both if self.has_unions or has_float(ty)]
        found = [from_value(x, ty) for x, ty in results]
        return list(zip(found, self.expected[: len(results)], strict=True))


def bits(found: Any) -> tuple[Any, ...]:
    """What a number or an array is, to the bit; a NaN is as good as another one."""
    part = np.asarray(found)
    if part.dtype.kind == "f":
        part = np.where(np.isnan(part), part.dtype.type(np.nan), part)
    return part.dtype, part.shape, part.tobytes()


def gradient_pairs(
    derivative: Any, params: Sequence[int], args: Sequence[Any]
) -> list[tuple[Any, Any]]:
    """What the interpreter finds for a value and its gradient, and what machine code
    does; the program is the one that CHAD has made."""
    given = derivative(*args)
    (version,) = derivative._versions.values()
    program = version.compilation.stages["chad"]
    types = [p.type for p in version.compilation.stages["core"].entry.params]
    both = zip(flat(args, types), program.entry.params, strict=True)
    run = Interpreter(program).run(*(to_value(a, p.type) for a, p in both))
    return Results(types, params, given).pairs(run, program)
