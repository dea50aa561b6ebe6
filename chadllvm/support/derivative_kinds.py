"""The functions of the library that make derivatives, as programs know them.

What programs mean by them stands in `frontend/derivatives.py`; this much is needed
where they are defined.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

# By this attribute a function of the library says which of these it is.
MARK = "__chadllvm_derivative__"


# By this one a gradient made outside says what it is made of: the function, the
# positions of the parameters, whether it gives the value, whether there is more.
GRADIENT_PARTS = "__chadllvm_gradient__"


class Transform(Enum):
    """The functions that make derivatives."""

    GRAD = "grad"
    VALUE_AND_GRAD = "value_and_grad"
    JVP = "jvp"
    VJP = "vjp"
    JACFWD = "jacfwd"
    JACREV = "jacrev"
    HESSIAN = "hessian"
    HVP = "hvp"
    LINEARIZE = "linearize"


Python = TypeVar("Python", bound=Callable[..., Any])


def means(which: Transform) -> Callable[[Python], Python]:
    """Decorator: what programs mean by a function of the library."""

    def mark(function: Python) -> Python:
        setattr(function, MARK, which)
        return function

    return mark
