"""What can be wrong with dictionaries, whose keys are known."""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said


@code("CL0903")
def unknown_key(span: Span, name: str, names: Sequence[str]) -> Diagnostic:
    """A dictionary has the keys that it was made with.

    They are part of its type.

    Fails:

        def f(x: float) -> float:
            params = {"w": x}
            return params["v"]

    Works:

        def f(x: float) -> float:
            params = {"w": x}
            return params["w"]
    """
    return error(
        "unknown key",
        span,
        f"there is no key {name!r}",
        f"the keys are {', '.join(map(repr, names))}",
    )


@code("CL0905")
def key_by_attribute(span: Span, ty: Type, name: str) -> Diagnostic:
    """The entries of a dictionary are read by their keys.

    Fails:

        def f(x: float) -> float:
            params = {"w": x}
            return params.w

    Works:

        def f(x: float) -> float:
            params = {"w": x}
            return params["w"]
    """
    return error(
        "a key is not an attribute",
        span,
        f"this is {said(ty)}",
        f'write `["{name}"]`',
    )


@code("CL0906")
def key_needed(span: Span, ty: Type) -> Diagnostic:
    """An entry of a dictionary is read by a constant key.

    The entries may have different types, and the key decides which one the result has.

    Fails:

        def f(x: float, n: int) -> float:
            params = {"w": x}
            return params[n]

    Works:

        def f(x: float) -> float:
            params = {"w": x}
            return params["w"]
    """
    return error(
        "a key must be a constant string",
        span,
        f"an index into {said(ty)}",
        "write the key as a string, or use an array instead of the dictionary",
    )


@code("CL0907")
def dictionary_method(span: Span, name: str) -> Diagnostic:
    """A dictionary has `keys`, `values`, `items` and, with a default, `get` here.

    Its keys are known when the program is compiled, so there is nothing to ask for; and
    it is a value, which nothing changes.

    Fails:

        def f(x: float) -> float:
            params = {"w": x}
            return params.setdefault("w", 0.0)

    Works:

        def f(x: float) -> float:
            params = {"w": x}
            return params["w"]
    """
    return error(
        f"`{name}` of a dictionary is not supported",
        span,
        "the keys are known when the program is compiled",
        'read the entries by their keys, as in `params["w"]`',
    )


@code("CL0915")
def spread(span: Span, ty: object) -> Diagnostic:
    """`**` spreads a dictionary into another.

    Fails:

        def f(x: float):
            return {**x, "a": 1.0}

    Works:

        def f(x: float):
            first = {"x": x}
            return {**first, "a": 1.0}
    """
    return error(
        "`**` needs a dictionary",
        span,
        f"this is {said(ty)}",
        "only dictionaries with known keys can be spread",
    )


@code("CL0916")
def dictionary_key(span: Span) -> Diagnostic:
    """The keys of a dictionary are constant strings.

    They are part of its type, as the names of fields are part of a record's. What is
    looked up by a number is an array.

    Fails:

        def f(x: float) -> float:
            table = {1: x, 2: 2.0 * x}
            return table[1]

    Works:

        def f(x: float) -> float:
            table = np.array([x, 2.0 * x])
            return table[1]
    """
    return error(
        "a key must be a constant string",
        span,
        "its value is not a string known when the program is compiled",
        'write it out, as in `{"w": w, "b": b}`',
    )


@code("CL0919")
def key_assigned(span: Span, name: str) -> Diagnostic:
    """What stands for a key in a loop is not assigned in its body.

    Strings are no values at run time: a loop over keys is written out when the program
    is compiled, with a step for each key, in which the name stands for it.

    Fails:

        def f(x: float) -> float:
            params = {"w": x, "b": 2.0 * x}
            total = 0.0
            for k in params:
                total += params[k]
                k = 1.0
            return total * k

    Works:

        def f(x: float) -> float:
            params = {"w": x, "b": 2.0 * x}
            total = 0.0
            for k in params:
                total += params[k]
            return total
    """
    return error(
        "the name of a key is assigned",
        span,
        f"`{name}` stands for a key of a dictionary here",
        "give one of the two another name",
    )


@code("CL0920")
def key_as_value(span: Span) -> Diagnostic:
    """A key has a name of its own in a loop over entries.

    Strings are no values at run time: a name may stand for one that is known, but not
    for a tuple with one in it.

    Fails:

        def f(x: float) -> float:
            params = {"w": x, "b": 2.0 * x}
            return sum(item[1] for item in params.items())

    Works:

        def f(x: float) -> float:
            params = {"w": x, "b": 2.0 * x}
            return sum(v for k, v in params.items())
    """
    return error(
        "a key is no part of a value",
        span,
        "this would be a tuple with a string in it",
        "take it apart, as in `for k, v in params.items()`",
    )


@code("CL0921")
def keys_as_value(span: Span, what: str) -> Diagnostic:
    """What has the keys of a dictionary in it is run over, and no value.

    Strings are no values at run time. Loops and comprehensions run over `keys()` and
    `items()`, also by way of `sorted`, `reversed`, `list`, `enumerate` and `zip`.

    Fails:

        def f(x: float) -> float:
            params = {"w": x, "b": 2.0 * x}
            pairs = params.items()
            return sum(v for k, v in pairs)

    Works:

        def f(x: float) -> float:
            params = {"w": x, "b": 2.0 * x}
            return sum(v for k, v in params.items())
    """
    return error(
        f"{what} is not a value",
        span,
        "this would hold strings",
        "run over it in a `for` loop or a comprehension, by `zip` with other entries",
    )


@code("CL0922")
def unknown_test(span: Span) -> Diagnostic:
    """A comprehension over keys has as many elements as are known beforehand.

    It is written out when the program is compiled, with an element for each key. What
    is left out must be known by then: by the key, or by the type of the entry. Sums,
    `any` and `all` may have any test. `min` and `max` have one `for` only.

    Fails:

        def f(x: float) -> float:
            params = {"w": x, "b": 2.0 * x}
            return max(v for k, v in params.items() if v < 1.0)

    Works:

        def f(x: float) -> float:
            params = {"w": x, "b": 2.0 * x}
            return max(v for k, v in params.items() if k != "b")
    """
    return error(
        "which entries are taken is not known",
        span,
        "this is found out when the program runs",
        "test keys alone, or write a `for` loop",
    )
