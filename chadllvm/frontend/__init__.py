"""Python functions → core programs, with messages for whatever is not in the language.

`source.py` finds a function's syntax, `read.py` brings its statements into a small
form, `liveness.py` says what branches and loops hand on, `statements.py` and
`expression.py` translate, knowing all types, `specialise.py` does so for a function and
all it calls.
"""

from chadllvm.frontend.annotations import (
    Annotation,
    Open,
    accepts,
    target_type,
)
from chadllvm.frontend.signature import Parameter, signature
from chadllvm.frontend.specialise import specialise, too_deep
from chadllvm.ir.annotation import boolean, f64, i64

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
