"""How a row of the table is written: all there is to know about a scalar operation.

    row("exp", "f->f", or_infinity(math.exp), lambda b, r, x: r, code=libm(11, 37),
        is_strict=True, check="no_overflow", names="math.exp numpy.exp",
        page=Page("all; overflow is inf"))

A row has the signature, the meaning, the partial derivatives, the lowering or the
instruction (`code`), and what passes, debug mode, the frontend and the documentation
ask of the operation. `Prim` and `Instruction` (`ir/op.py`) say what each part means. A
row of another package is as good as one here, if it is entered before anything is
compiled.

Costs are cycles of the processor in C compiled without vectors, measured on a Xeon of
the generation Sapphire Rapids with glibc 2.36: the throughput of `y[i] = f(x[i])` over
1 000 numbers of the row's domain (1 is the least that there is), and the latency of
`z = f(x[i] + 0 * z)` less that of its sum and product, or of a chain of nothing else
where C has an operator. The time of a cycle is that of a chain of multiplications of
integers, which takes 3 of them each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from chadllvm.ir.build import Builder
from chadllvm.ir.op import (
    INSTRUCTIONS,
    Instruction,
    Page,
    Prim,
    PrimLowering,
    Speculation,
    Transpose,
    register,
)
from chadllvm.ir.term import Lit, Operand, same_width
from chadllvm.ir.types import BOOL, F32, F64, I64

_TYPES = {"f": F64, "d": F64, "s": F32, "i": I64, "b": BOOL}

# A partial derivative: given the result and the arguments, for one argument. It is a
# function, so that what only a literal argument would need is not emitted.
Slope = Callable[..., Operand]


def row(
    name: str,
    signature: str,
    meaning: Callable[..., Any],
    *slopes: Slope | None,
    transpose: Transpose | None = None,
    lowering: PrimLowering | None = None,
    code: Instruction | None = None,
    names: str = "",
    domain: tuple[tuple[float, float], ...] = (),
    **more: Any,
) -> Prim:
    """Enter a primitive; its signature is written like `ff->f` (`Instruction`).

    What takes f64 takes f32 as well (`Prim`). There is a slope for each argument, or
    the `transpose` as a whole, or there is no derivative. Without a lowering it is an
    instruction, by default a cheap one. A float argument without a `domain` is tested
    between -2 and 2.
    """
    params, result = signature.split("->")
    if code is None and lowering is None:
        code = machine()
    if code is not None:
        instruction(name, signature, code)
    default = ((-2.0, 2.0),) * sum(params.count(letter) for letter in "fds")
    return register(
        Prim(
            name=name,
            params=tuple(_TYPES[letter] for letter in params),
            result=_TYPES[result],
            meaning=meaning,
            transpose=_transposed(slopes) if slopes else transpose,
            lowering=lowering,
            domain=domain or default,
            names=tuple(names.split()),
            **more,
        )
    )


def function(
    name: str, meaning: Callable[[float], float], slope: Slope, **more: Any
) -> None:
    """Enter a function of a float that is NaN of NaN, and whose zeros are the same."""
    row(name, "f->f", meaning, slope, is_strict=True, **more)


# ---- instructions ----------------------------------------------------------------


def instruction(name: str, signature: str, code: Instruction) -> None:
    """Enter an instruction; a signature in `code` is more general than the row's."""
    if name in INSTRUCTIONS:
        raise ValueError(f"instruction {name} is registered twice")
    params, result = signature.split("->")
    if not code.params:
        code = replace(code, params=params, result=result)
    symbol = code.symbol.format(name=name)
    INSTRUCTIONS[name] = replace(code, symbol=symbol)


def machine(cycles: int = 1, latency: int = 1, **more: Any) -> Instruction:
    """Code that the code generator writes itself (`llvm/instructions.py`)."""
    return Instruction("", "", cycles, latency, **more)


def alone(cycles: int, latency: int, **more: Any) -> Instruction:
    """The same, of which there are no vectors."""
    more = {"speculation": Speculation.SAFE, **more}
    return machine(cycles, latency, has_vectors=False, **more)


def libm(
    cycles: int, latency: int, symbol: str = "{name}", has_vectors: bool = True
) -> Instruction:
    """A call of libm, of whose functions libmvec has most."""
    return Instruction(
        "",
        "",
        cycles,
        latency,
        symbol=symbol,
        has_vectors=has_vectors,
        speculation=Speculation.SAFE,
    )


def runtime(
    cycles: int,
    latency: int,
    most: int = 0,
    speculation: Speculation = Speculation.NEVER,
) -> Instruction:
    """A call of the C runtime's function of this name (`special.c`), for f64 alone."""
    return alone(
        cycles,
        latency,
        most=most,
        symbol="chad_{name}",
        is_double=True,
        speculation=speculation,
    )


# ---- derivatives -----------------------------------------------------------------


def _transposed(slopes: Sequence[Slope | None]) -> Transpose:
    def transpose(
        b: Builder, args: Sequence[Operand], result: Operand, ct: Operand
    ) -> Sequence[Operand | None]:
        return chain(b, args, ct, *(s and partial(s, b, result, *args) for s in slopes))

    return transpose


def chain(
    b: Builder,
    args: Sequence[Operand],
    ct: Operand,
    *slopes: Callable[[], Operand] | None,
) -> list[Operand | None]:
    """The cotangents of the arguments; None for literals and where no slope is."""
    return [
        None if slope is None or isinstance(arg, Lit) else times(b, ct, slope())
        for arg, slope in zip(args, slopes, strict=True)
    ]


def times(b: Builder, ct: Operand, slope: Operand) -> Operand:
    """The cotangent times a partial derivative; zero where the cotangent is zero.

    Only a finite literal is multiplied outright: anything else may be infinite or NaN,
    and a zero cotangent must contribute zero even then.
    """
    _, slope = same_width((ct, slope))
    if not isinstance(slope, Lit) or not math.isfinite(slope.value):
        return b.prim("scale", ct, slope)
    return ct if slope.value == 1.0 else b.prim("mul", ct, slope)


def float_like(b: Builder, n: Operand, x: Operand) -> Operand:
    """The integer as a float of the width of x."""
    return b.prim("to_single" if x.type == F32 else "to_float", n)


def no_derivative(
    b: Builder, args: Sequence[Operand], result: Operand, ct: Operand
) -> list[Operand | None]:
    """The transposed derivative of a step function: zero wherever it exists."""
    return [None] * len(args)


def one(b: Builder, r: Operand, *args: Operand) -> Operand:
    """The slope of a sum along a term."""
    return Lit(1.0)


# ---- documentation ---------------------------------------------------------------


def pages(prims: Sequence[Prim]) -> list[str]:
    """The lines of `docs/functions.md` about these: names, domain, derivative."""
    told: dict[Page, list[Prim]] = {}
    for prim in prims:
        if prim.page is not None:
            told.setdefault(prim.page, []).append(prim)
    return [
        f"| {page.names or _named(group)} | {page.domain} | {page.edges} |".replace(
            "|  |", "| |"
        )
        for page, group in told.items()
    ]


def _named(group: Sequence[Prim]) -> str:
    """The names of functions, and in brackets the other ones that they have."""
    first, others = [], []
    for prim in group:
        short = dict.fromkeys(name.rpartition(".")[2] for name in prim.names)
        first.append(prim.name if prim.name in short else next(iter(short)))
        others += [name for name in short if name != first[-1]]
    brackets = f" (`{' '.join(others)}`)" if others else ""
    return f"`{' '.join(first)}`{brackets}"
