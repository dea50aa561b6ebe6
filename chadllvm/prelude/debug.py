"""`cl.debug`: what programs tell of themselves while they run."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import Any

from chadllvm.api.custom import custom_vjp
from chadllvm.support.library import pause
from chadllvm.support.overloads import overload

__all__ = ["interpret", "print"]


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


def interpret(
    function: Callable[..., Any], *, at: int | str | Iterable[int | str] = ()
) -> Callable[..., Any]:
    """Run a function in the reference interpreter, which stops at breakpoints.

    It stops where the function, or one that it calls, says `breakpoint()`, and in front
    of the statements at the lines `at`. There `breakpoint()` of Python is called, which
    opens `pdb` by default: the variables in scope are its locals, with the values that
    the compiled program has there. A derivative stops twice: with the values, and
    again on its way back, with the cotangent of `x` as `x_ct`; forward mode has the
    tangent `x_t` beside the value. `c` goes on. Assignments change nothing.

    Args:
        function: a function that `jit` takes, compiled or not, or a derivative of one,
            as `value_and_grad(f)` is.
        at: lines, as in `12` (in the file of the function) or `"model.py:12"`.

    Returns:
        A function of the same arguments with the same result, thousands of times as
        slow, which is compiled anew at each call.

    Raises:
        TypeError: for methods and partials; from a call, where a derivative takes or
            gives unions, recursive data or lists of records.
    """
    from chadllvm.api.stepping import interpreted

    return interpreted(function, at)


@overload(builtins.breakpoint)
@custom_vjp(static_argnames="label")
def stop(values: Any, others: Any, when: Any, label: str) -> Any:
    """What `breakpoint()` is in a program (`frontend/pausing.py`): `values`, as given.

    Args:
        values: a tuple of the variables in scope that have cotangents.
        others: a tuple of others that can be shown.
        when: whether it stops.
        label: the names of the variables, and the place.
    """
    if when:
        _ = pause(label, "value", values, others)
    return values


def _stopped(values: Any, others: Any, when: Any, label: Any) -> Any:
    if when:
        _ = pause(label, "value", values, others)
    return values, (values, others, when)


def _stopped_back(kept: Any, ct: Any, label: Any) -> Any:
    values, others, when = kept
    if when:
        _ = pause(label, "reverse", values, others, ct)
    return ct, None, None


def _stopped_along(primals: Any, tangents: Any, label: Any) -> Any:
    values, others, when = primals
    along, _, _ = tangents
    if when:
        _ = pause(label, "tangents", values, others, along)
    return values, along


stop.defvjp(_stopped, _stopped_back)
stop.defjvp(_stopped_along)
