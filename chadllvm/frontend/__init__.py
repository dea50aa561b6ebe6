"""Python functions → core programs, with messages for whatever is not in the language.

`source.py` finds a function's syntax, `read.py` brings its statements into a small
form, `liveness.py` says what branches and loops hand on, `statements.py` and
`expression.py` translate, knowing all types, `translation.py` does so for a function
and all it calls. The latter are imported when somebody translates something: what reads
signatures and annotations is needed at calls as well.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from chadllvm.frontend.annotations import (
    Annotation,
    Open,
    accepts,
    target_type,
)
from chadllvm.frontend.signature import Parameter, signature
from chadllvm.ir.annotation import boolean, f64, i64

if TYPE_CHECKING:
    from chadllvm.frontend.translation import specialise, too_deep

__all__ = [
    "Annotation",
    "Open",
    "Parameter",
    "accepts",
    "boolean",
    "f64",
    "i64",
    "signature",
    "specialise",
    "target_type",
    "too_deep",
]


def __getattr__(name: str) -> Any:
    if name not in ("specialise", "too_deep"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("chadllvm.frontend.translation"), name)
