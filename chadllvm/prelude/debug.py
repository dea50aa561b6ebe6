"""`cl.debug`: what programs tell of themselves while they run."""

from __future__ import annotations

import builtins
from typing import Any

from chadllvm.custom import custom_vjp


@custom_vjp(static_argnames="label")
def print(x: Any, label: str = "value") -> Any:
    """Write a value, and return it; derivatives write what belongs to it.

    `y = cl.debug.print(y, "y")` writes `y: 0.5` where it stands, in plain Python and in
    compiled code. Forward mode writes its tangent behind it (`y, tangent: 1.0`), and
    reverse mode its cotangent, when that is known (`y, cotangent: 2.0`): all that the
    rest of the program adds up for it.

    Args:
        x: a float, or an array of floats.
        label: what the line begins with; a constant.

    Returns:
        `x`. What is not used afterwards has no cotangent to be written.
    """
    builtins.print(label, x, sep=": ")
    return x


def _forward(x: Any, label: Any) -> Any:
    builtins.print(label, x, sep=": ")
    return x, None


def _backward(_: Any, ct: Any, label: Any) -> Any:
    builtins.print(label, ct, sep=", cotangent: ")
    return ct


def _pushed(primals: Any, tangents: Any, label: Any) -> Any:
    (x,), (tangent,) = primals, tangents
    builtins.print(label, x, sep=": ")
    builtins.print(label, tangent, sep=", tangent: ")
    return x, tangent


print.defvjp(_forward, _backward)
print.defjvp(_pushed)
