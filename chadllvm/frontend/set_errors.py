"""What can be wrong with sets, which hold integers."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said


@code("CL1901")
def not_an_element(span: Span, ty: Type) -> Diagnostic:
    """A set holds integers.

    Whether two floats are equal has no derivative, and depends on rounding. A pair of
    integers may be written as one, as in `i * width + j`.

    Fails:

        def f(x: float) -> int:
            return len({x, 2.0 * x})

    Works:

        def f(x: float, n: int) -> int:
            return len({n, 2 * n})
    """
    return error(
        "a set holds integers",
        span,
        f"this is {said(ty)}",
        "write what is looked up as an integer, a pair as `i * width + j`",
    )


@code("CL1902")
def not_a_set(span: Span, ty: Type) -> Diagnostic:
    """Operators of sets have a set on both sides.

    So they are in Python. The methods `union`, `intersection`, `difference`,
    `symmetric_difference`, `issubset`, `issuperset`, `isdisjoint` and `update` take
    whatever holds integers.

    Fails:

        def f(n: int) -> int:
            s = {1, 2}
            return len(s | [n])

    Works:

        def f(n: int) -> int:
            s = {1, 2}
            return len(s | {n}) + len(s.union([n]))
    """
    return error(
        "an operator of sets needs two sets",
        span,
        f"this is {said(ty)}",
        "make it one by `set(...)`",
    )


@code("CL1903")
def not_an_operator(span: Span) -> Diagnostic:
    """Sets have the operators `|`, `&`, `-`, `^` and comparisons.

    Fails:

        def f(n: int) -> int:
            return len({n} + {1})

    Works:

        def f(n: int) -> int:
            return len({n} | {1})
    """
    return error(
        "sets do not have this operator",
        span,
        "an operand is a set",
        "sets have `|`, `&`, `-`, `^`, `in` and comparisons",
    )


@code("CL1904")
def set_method(span: Span, name: str) -> Diagnostic:
    """Some methods of sets are not in the language.

    `add`, `discard`, `remove`, `update`, `clear` and `pop` change a set that has a
    name, and are statements; `x = s.pop()` is one too. `copy`, `union`, `intersection`,
    `difference`, `symmetric_difference`, `issubset`, `issuperset` and `isdisjoint` take
    one argument at most, and are expressions.

    Fails:

        def f(n: int) -> int:
            return len({n, 1}.difference_update({1}))

    Works:

        def f(n: int) -> int:
            return len({n, 1}.difference({1}))
    """
    return error(
        f"`{name}` of a set is not supported here",
        span,
        "",
        "`add`, `discard`, `remove`, `update`, `clear`, `pop` are statements, and so "
        "are `|=`, `&=`, `-=`, `^=`",
    )


@code("CL1905")
def changing_operator(span: Span) -> Diagnostic:
    """The operators that change a set are `|=`, `&=`, `-=` and `^=`.

    Fails:

        def f(n: int) -> int:
            s = {n, 1}
            s += {1, 2}
            return len(s)

    Works:

        def f(n: int) -> int:
            s = {n, 1}
            s |= {1, 2}
            return len(s)
    """
    return error(
        "this operator does not change a set",
        span,
        "`|=`, `&=`, `-=` and `^=` do",
        "`s |= t` adds all of `t`",
    )


@code("CL1906")
def changed_in_loop(span: Span, name: str) -> Diagnostic:
    """A loop over a set does not change the set.

    Python raises a `RuntimeError` there. Run over a copy: over `list(s)` or
    `sorted(s)`.

    Fails:

        def f(n: int) -> int:
            s = {n, 1}
            for i in s:
                s.add(i + 1)
            return len(s)

    Works:

        def f(n: int) -> int:
            s = {n, 1}
            for i in list(s):
                s.add(i + 1)
            return len(s)
    """
    return error(
        "a loop changes the set that it runs over",
        span,
        f"the elements of `{name}` are run over here",
        f"run over `list({name})`",
    )


@code("CL1907")
def in_a_list(span: Span) -> Diagnostic:
    """Sets are not elements of lists.

    A list of records is an array for each field, and sets differ in size.

    Fails:

        def f(n: int) -> int:
            groups = [{1, 2}, {n}]
            return len(groups[0])

    Works:

        def f(n: int) -> int:
            groups = ({1, 2}, {n})
            return len(groups[0])
    """
    return error(
        "a set is no element of a list",
        span,
        "",
        "use one set of numbers such as `group * size + i`, or a tuple of sets",
    )
