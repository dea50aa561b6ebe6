"""What can be wrong with unions, and with what takes them apart."""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said


@code("CL1401")
def not_one(span: Span, what: str, ty: Type) -> Diagnostic:
    """A value of a union is asked which member it is before it is computed with.

    `isinstance`, `is None` and `match` ask; in the branch they lead to, the value is
    that member.

    Fails:

        def f(x: float | None) -> float:
            return 2.0 * x

    Works:

        def f(x: float | None) -> float:
            return 0.0 if x is None else 2.0 * x
    """
    return error(
        "this may be one of several things",
        span,
        f"{what} takes one type, this is {said(ty)}",
        "ask first which one it is, by `is None`, `isinstance` or `match`",
    )


@code("CL1402")
def not_in_all(span: Span, ty: Type, name: str, missing: Sequence[Type]) -> Diagnostic:
    """All members of a union have the fields and methods that are asked of it.

    Fails:

        class Circle(NamedTuple):
            r: float

        class Square(NamedTuple):
            side: float

        def f(s: Circle | Square) -> float:
            return s.r

    Works:

        class Circle(NamedTuple):
            r: float

        class Square(NamedTuple):
            side: float

        def f(s: Circle | Square) -> float:
            return s.r if isinstance(s, Circle) else s.side
    """
    return error(
        "unknown field",
        span,
        f"this is {said(ty)}; there is no `{name}` in {', '.join(map(said, missing))}",
        "ask first which one it is, by `is None`, `isinstance` or `match`",
    )


@code("CL1403")
def not_a_class(span: Span, shown: str) -> Diagnostic:
    """The second argument of `isinstance` is a class, or a tuple or union of classes.

    The names are looked up when the function is compiled.

    Fails:

        def f(x: float | None, y: float) -> float:
            return y if isinstance(x, y) else 0.0

    Works:

        def f(x: float | None, y: float) -> float:
            return y if isinstance(x, float) else 0.0
    """
    return error(
        "not a class",
        span,
        f"`{shown}` is no class that is known when the function is compiled",
        "name the class, or a tuple of classes",
    )


@code("CL1404")
def unknown_class(span: Span, ty: Type) -> Diagnostic:
    """`isinstance` asks for classes of records, numbers, tuples, arrays and None.

    A list of numbers is an array in compiled code, an integer that is passed for a
    float is one, and a function has no class.

    Fails:

        def f(xs: cl.f64[:]) -> float:
            return 1.0 if isinstance(xs, list) else xs[0]

    Works:

        def f(xs: cl.f64[:]) -> float:
            return xs[0] if isinstance(xs, np.ndarray) else 1.0
    """
    return error(
        "this class cannot be told",
        span,
        f"what is asked is {said(ty)}",
        "ask for a class of records, a number, a tuple, `np.ndarray` or None",
    )
