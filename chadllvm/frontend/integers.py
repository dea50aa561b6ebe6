"""Functions of integers: those of `math`, `divmod`, `pow` with a modulus, methods."""

from __future__ import annotations

import ast
import builtins
import math
from typing import Any

import numpy as np

from chadllvm.errors import call_errors
from chadllvm.frontend.arithmetic import arithmetic, to_int
from chadllvm.frontend.context import Context
from chadllvm.frontend.scalar import EVERY, MANY, Meaning, ScalarFunction
from chadllvm.ir.build import Builder
from chadllvm.ir.term import Lit, Operand, Tuple


def on_integers(prim: str) -> Meaning:
    """A primitive on integers; booleans are 0 and 1."""
    return lambda b, *xs: b.prim(prim, *(to_int(b, x) for x in xs))


def _divisor(b: Builder, *xs: Operand) -> Operand:
    """`math.gcd` of any number of integers."""
    divisor: Operand = Lit(0)
    for x in xs:
        divisor = b.prim("gcd", divisor, to_int(b, x))
    return divisor


def _multiple(b: Builder, *xs: Operand) -> Operand:
    """`math.lcm` of any number of integers: 0 if one of them is."""
    multiple: Operand = Lit(1)
    for x in xs:
        divisor = b.prim("imax", b.prim("gcd", multiple, to_int(b, x)), Lit(1))
        product = b.prim("imul", b.prim("ifloordiv", multiple, divisor), to_int(b, x))
        multiple = b.prim("iabs", product)
    return multiple


def _arrangements(b: Builder, n: Operand, *k: Operand) -> Operand:
    """`math.perm(n, k)`: of all of them without k."""
    return on_integers("perm")(b, n, *k) if k else on_integers("factorial")(b, n)


def _quotient_and_rest(b: Builder, x: Operand, y: Operand) -> Operand:
    """`divmod(x, y)`, of floats as well."""
    parts = [arithmetic(b, op, x, y) for op in (ast.FloorDiv(), ast.Mod())]
    return b.one(Tuple(tuple(parts)))


MODULAR_POWER = ScalarFunction(3, on_integers("powmod"), integers=EVERY)

# The object that a name stands for: what it means.
INTEGERS: tuple[tuple[Any, ScalarFunction], ...] = (
    (builtins.divmod, ScalarFunction(2, _quotient_and_rest)),
    (math.gcd, ScalarFunction(0, _divisor, most=MANY, integers=EVERY)),
    (math.lcm, ScalarFunction(0, _multiple, most=MANY, integers=EVERY)),
    (np.gcd, ScalarFunction(2, _divisor, integers=EVERY)),
    (np.lcm, ScalarFunction(2, _multiple, integers=EVERY)),
    (math.factorial, ScalarFunction(1, on_integers("factorial"), integers=EVERY)),
    (math.isqrt, ScalarFunction(1, on_integers("isqrt"), integers=EVERY)),
    (math.comb, ScalarFunction(2, on_integers("comb"), integers=EVERY)),
    (math.perm, ScalarFunction(1, _arrangements, most=2, integers=EVERY)),
)


# The methods of integers: primitives of the same name.
INTEGER_METHODS = ("bit_length", "bit_count")


def integer_method(cx: Context, node: ast.Call, name: str, owner: Operand) -> Operand:
    """`n.bit_length()` or `n.bit_count()`"""
    if node.args or node.keywords:
        raise call_errors.wrong_argument_count(cx.span(node), name, "no arguments")
    return on_integers(name)(cx.at(node), owner)
