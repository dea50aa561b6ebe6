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


@code("CL1405")
def not_covered(span: Span, lacking: Sequence[str]) -> Diagnostic:
    """A `match` on a union has a case for each of its members.

    So has any `match` that a function ends with, for it must return a value. `case _`
    takes all that is left.

    Fails:

        class Circle(NamedTuple):
            r: float

        class Square(NamedTuple):
            side: float

        def f(s: Circle | Square) -> float:
            match s:
                case Circle(r):
                    return r

    Works:

        class Circle(NamedTuple):
            r: float

        class Square(NamedTuple):
            side: float

        def f(s: Circle | Square) -> float:
            match s:
                case Circle(r):
                    return r
                case Square(side):
                    return side
    """
    cases = ", ".join("other values" if c == "_" else f"`{c}`" for c in lacking)
    return error(
        "not all cases are covered",
        span,
        f"there is no case for {cases}",
        "add a case for what is missing, or `case _`",
    )


@code("CL1406")
def never_taken(span: Span, ty: Type) -> Diagnostic:
    """Each case of a `match` is taken for some value.

    A last case that only raises an exception may be there all the same, and in a
    function with parameters that are not annotated all cases may.

    Fails:

        def f(x: float | None) -> float:
            match x:
                case None:
                    return 0.0
                case float():
                    return x
                case _:
                    return 1.0

    Works:

        def f(x: float | None) -> float:
            match x:
                case None:
                    return 0.0
                case float():
                    return x
    """
    return error(
        "a case that is never taken",
        span,
        f"what is matched is {said(ty)}: no value of it comes here and fits",
        "leave it out, or correct the pattern or the cases before it",
    )


@code("CL1407")
def wrong_pattern_parts(span: Span, title: str, names: Sequence[str]) -> Diagnostic:
    """A class pattern names fields that the class has, each at most once.

    By position they are those in its `__match_args__`.

    Fails:

        class Circle(NamedTuple):
            r: float

        def f(s: Circle | None) -> float:
            match s:
                case Circle(r, x):
                    return r
                case None:
                    return 0.0

    Works:

        class Circle(NamedTuple):
            r: float

        def f(s: Circle | None) -> float:
            match s:
                case Circle(r):
                    return r
                case None:
                    return 0.0
    """
    known = f"its fields are {', '.join(names)}" if names else "it has no such fields"
    return error(
        "a pattern that does not fit its class",
        span,
        f"these are no patterns for the fields of {title}",
        known,
    )


@code("CL1408")
def unsupported_pattern(span: Span) -> Diagnostic:
    """Patterns are made of classes, constants, tuples and names.

    A constant is a number, None, True, False, or a dotted name of one of these. What a
    `*name` or `**name` would capture is a list or dictionary that there is not.

    Fails:

        def f(p: tuple[float, float, float]) -> float:
            match p:
                case (x, *rest):
                    return x

    Works:

        def f(p: tuple[float, float, float]) -> float:
            match p:
                case (x, *_):
                    return x
    """
    return error(
        "this pattern is not supported",
        span,
        "it is no class, constant, tuple or name",
        "take the value apart in the case",
    )


@code("CL1409")
def pattern_of_array(span: Span, ty: Type) -> Diagnostic:
    """Only tuples are matched with sequences: the length of an array is not known.

    Python does not take NumPy's arrays for sequences here either.

    Fails:

        def f(a: cl.f64[:]) -> float:
            match a:
                case [x, y]:
                    return x + y
                case _:
                    return 0.0

    Works:

        def f(a: cl.f64[:]) -> float:
            return a[0] + a[1] if len(a) == 2 else 0.0
    """
    return error(
        "an array is not matched with a sequence",
        span,
        f"this is {said(ty)}",
        "ask for its length with `len`",
    )


@code("CL1410")
def list_without_room(span: Span, ty: Type) -> Diagnostic:
    """What is in a list has the same parts everywhere, of which there is one at least.

    The members of a union in a list may hold arrays of numbers, but no lists; in a list
    of lists they hold no arrays either. And a list of None, or of records without
    fields, would hold nothing.

    Fails:

        def f(n: int) -> int:
            return len([None for _ in range(n)])

    Works:

        def f(n: int) -> int:
            return len([1.0 if k > 2 else None for k in range(n)])
    """
    return error(
        "a list that cannot be kept",
        span,
        f"its items are {said(ty)}",
        "keep what has lists, or nothing, in it outside of lists",
    )
