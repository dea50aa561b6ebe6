"""What may have been meant, and what to write instead of what is not there."""

from __future__ import annotations

import math
from collections.abc import Iterable

from chadllvm.ir.types import Array, Scalar, Type

# What to write instead of functions and types that have no meaning in compiled code, by
# the last parts of their names.
_INSTEAD = {
    "isinstance": "a function is compiled for the types of its arguments, which are "
    "known: write one function for each",
    "str": "format the number outside of the function",
    "repr": "format the number outside of the function",
    "format": "format the number outside of the function",
    "input": "pass the value as an argument",
    "open": "read the file outside, and pass what it holds as an argument",
    "set": "use an array of flags, or `np.sort`",
    "complex": "compute with the real and the imaginary part",
    "time": "take the time around the call",
    "vectorize": "write a comprehension or a loop: loops are fast here",
    "eig": "eigenvalues are there of symmetric matrices: `np.linalg.eigh`",
}

# What changes its owner or its argument in Python, and is a statement there.
_CHANGES = {
    "out=": "assign it, as in `y[:] = np.add(a, b)` for `out=y`",
    "reverse": "write `x = x[::-1]`",
    "insert": "lists change at their end; make a new one: `xs[:k] + [v] + xs[k:]`",
    "remove": "make a new list, as in `[x for x in xs if x != v]`",
    "clear": "write `xs = []`",
    "resize": "write `x = x.reshape(n, m)`",
    "copyto": "write `x[:] = y`",
    "put": "write `x[indices] = values`",
    "at": "write a loop, as in `for k in range(len(indices)): a[indices[k]] += b[k]`",
    "fill_diagonal": "write `k = np.arange(len(x))` and `x[k, k] = value`",
    "shuffle": "shuffle outside of the function, or index with an order of its own",
}

# The methods of NumPy's elementwise functions.
_OF_UFUNCS = {
    "outer": "write it with a new axis, as in `x[:, None] + y`",
    "reduce": "use `np.sum`, `np.prod`, `np.max` or `np.min`",
    "accumulate": "use `np.cumsum` or `np.cumprod`, or a loop",
    "reduceat": "write a loop: loops are fast here",
    "at": _CHANGES["at"],
}

CLASS = (
    "its objects are no values: use numbers, or a `NamedTuple` or a dataclass, "
    "whose methods can be called"
)

_RANDOM = "draw the numbers outside of the function, and pass them as an argument"

_TYPES = {
    "str": "strings are static arguments: name the parameter in `static_argnames`",
    "list": "say what it holds, as in `list[float]`; an array is `cl.f64[:]`",
    "dict": "write a `TypedDict`, or leave the annotation out",
    "tuple": "say what it holds, as in `tuple[float, int]`",
    "complex": "use two floats",
    "Optional": "say what there is if it is not None, as in `Optional[float]`",
}


def similar(name: str, known: Iterable[str]) -> str:
    """`did you mean …?` with the names that are close to this one, or nothing."""
    from difflib import get_close_matches  # Only a mistake needs it.

    public = sorted({k for k in known if not k.startswith("_") and k.isidentifier()})
    close = get_close_matches(name, public, n=2, cutoff=0.8)
    return f"did you mean {' or '.join(f'`{c}`' for c in close)}?" if close else ""


def of_name(name: str, known: Iterable[str]) -> str:
    """Help for a name that is not defined."""
    modules = {"np": "numpy as np", "math": "math", "cl": "chadllvm as cl"}
    modules |= {"numpy": "numpy", "scipy": "scipy"}
    if name in modules:
        return f"write `import {modules[name]}` outside of the function"
    if hasattr(math, name) and not name.startswith("_"):
        return f"write `math.{name}`, or `np.{name}` for arrays, and import the module"
    return similar(name, known) or (
        "check the spelling, or import or define it before the function is compiled"
    )


def of_attribute(name: str, known: Iterable[str]) -> str:
    """Help for an attribute that a value or a module does not have."""
    if name == "dtype":
        return (
            "`x.dtype` of an array stands where a type of elements is taken, as in "
            "`np.zeros(n, x.dtype)`, and in conditions"
        )
    return similar(name, known) or (
        "check the spelling; arrays have `shape`, `ndim`, `size` and `T`"
    )


def of_function(name: str, known: Iterable[str] = ()) -> str:
    """Help for a function, by its dotted name, that compiled code cannot call."""
    *owners, last = name.split(".")
    if "random" in (*owners, last):
        return _RANDOM
    close = similar(last, known)
    if last in _INSTEAD and close != f"did you mean `{last}`?":
        return _INSTEAD[last]
    return close or (
        "write it with loops, which are fast here; `docs/language.md` lists the "
        "functions that there are"
    )


def of_statement(called: str) -> str:
    """Help for a call, of a function or method, whose value is not used."""
    return _CHANGES.get(called) or (
        "it changes nothing: use its value, as in `y = f(x)`, or remove it"
    )


def of_method(owner: Type, name: str, known: Iterable[str]) -> str:
    """Help for a method that values of a type do not have."""
    if name in _OF_UFUNCS and not isinstance(owner, Array | Scalar):
        return _OF_UFUNCS[name]
    if isinstance(owner, Scalar):
        return "numbers have no methods; use the functions of `math`"
    if not isinstance(owner, Array):
        return "write what it does as a function of its own"
    if name in ("shape", "ndim", "size", "T"):
        return f"it is an attribute: write `.{name}` without a call"
    return similar(name, known) or "there are " + ", ".join(known)


def of_type(name: str) -> str:
    """Help for an annotation that is not a type of the language."""
    if name.endswith("| None") or name.startswith("None |"):
        return _TYPES["Optional"]
    return _TYPES.get(name.partition("[")[0].rpartition(".")[2]) or (
        "use `float`, `int`, `bool`, `cl.f64[:]`, `cl.i64[:, :]`, `tuple[...]`, or a "
        "`NamedTuple` or dataclass of these"
    )
