"""A program of any arguments and results → functions of one float to be measured.

The value is a sum of the real numbers in the result; that and each derivative is a
function of our own language, written for the types of the arguments.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import chadllvm as cl
from chadllvm.api.compiled import Function
from chadllvm.frontend import specialise
from chadllvm.ir.types import (
    F32,
    F64,
    Array,
    Product,
    Scalar,
    Type,
    has_float,
    list_names,
)

ORDERS = ("gradient", "jvp", "hvp", "grad of grad")


class Unmeasured(Exception):
    """A program that this cannot be done for: the text says why."""


def functions(
    function: Function[..., Any], types: Sequence[Type]
) -> tuple[dict[str, Callable[..., float]], tuple[int, ...]]:
    """The value and what is to be measured of it, by name; the active parameters.

    The gradient is that of the value; it has no function of its own.

    Raises:
        Unmeasured: where there is no real number to differentiate, or by.
    """
    names = [f"x{k}" for k in range(len(types))]
    active = tuple(k for k, ty in enumerate(types) if _is_real(ty))
    if not active:
        raise Unmeasured("no real arguments")
    result = specialise(function.py_func, tuple(types)).entry.body.results[0].type
    space = {"cl": cl, "np": np, "program": function}
    plain = function.py_func
    if result != F64:
        text = f"return {_sum(result, 'program({})'.format(', '.join(names)))}"
        plain = _function("value", names, text, space)
    space["value"] = cl.jit(plain)
    given, wrt = ", ".join(names), f"argnums={active}"
    along = [name if k in active else "None" for k, name in enumerate(names)]
    args, ways = f"({given},)", f"({', '.join(along)},)"
    made = {"value": plain}
    made["jvp"] = _function(
        "jvp", names, f"return cl.jvp(value, {args}, {ways})[1]", space
    )
    gradient = f"cl.grad(value, {wrt})"
    texts = {
        "hvp": (f"found = cl.jvp({gradient}, {args}, {ways})[1]", "{}"),
        "grad of grad": (f"found = {gradient}({given})", "{0} * {0}"),
    }
    for name, (first, share) in texts.items():
        shares = [_sum(types[k], f"found[{n}]", share) for n, k in enumerate(active)]
        lines = (first, f"return {' + '.join(shares)}")
        made[name] = _function(name.replace(" ", "_"), names, "\n".join(lines), space)
    return made, active


def _function(
    name: str, params: Sequence[str], body: str, space: dict[str, Any]
) -> Callable[..., float]:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text, file = f"def {name}({', '.join(params)}):\n{lines}", f"<{name} of a sweep>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), space)
    made: Callable[..., float] = space[name]
    return made


def _is_real(ty: Type) -> bool:
    """Whether a value of the type is real numbers and nothing else."""
    match ty:
        case Scalar():
            return ty in (F64, F32)
        case Array(elem):
            return _is_real(elem)
        case Product(fields):
            return list_names(ty) is None and all(map(_is_real, fields))
        case _:
            return False


def _sum(ty: Type, value: str, share: str = "{}") -> str:
    """The sum of the real numbers in a value, each of them as `share` has it."""
    shares = list(_shares(ty, value, share))
    if not shares:
        raise Unmeasured(f"no real numbers in {ty}")
    return " + ".join(shares)


def _shares(ty: Type, value: str, share: str) -> Iterator[str]:
    match ty:
        case _ if not has_float(ty):
            return
        case Scalar():
            yield f"np.float64({share.format(value)})"
        case Array(Scalar()):
            yield f"np.float64(np.sum({share.format(value)}))"
        case Array(elem, 1):
            yield f"sum({_sum(elem, 'e', share)} for e in {value})"
        case Product(fields, names) if list_names(ty) is None:
            for k, field in enumerate(fields):
                part = f"{value}.{names[k]}" if names else f"{value}[{k}]"
                yield from _shares(field, part, share)
        case _:
            raise Unmeasured(f"a value of type {ty}")
