"""What a call raises: the status of a native function → a Python exception."""

from __future__ import annotations

import builtins
import struct
from collections.abc import Sequence

import numpy as np

from chadllvm.backend.machine import Site
from chadllvm.backend.runtime import runtime
from chadllvm.llvm import status
from chadllvm.support.diagnostic import Diagnostic, InternalError, Span

# Exceptions that are not built in.
OTHERS: dict[str, type[Exception]] = {"LinAlgError": np.linalg.LinAlgError}


def program_error(site: Site, span: Span, words: Sequence[int]) -> Exception:
    """The exception of a failed check, at the user's line."""
    kind = OTHERS.get(site.kind) or getattr(builtins, site.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        return InternalError(f"a check raises {site.kind}, no exception")
    values = [_value(ty, word) for ty, word in zip(site.values, words, strict=False)]
    text = site.message.format(*values)
    if site.own:
        error: Exception = kind(text) if text else kind()
        error.add_note(_place(span))
    else:
        error = kind(f"{text} ({_place(span)})" if span.line else text)
    for note in _excerpt(span):
        error.add_note(note)
    return error


def other_error(code: int, function: str) -> Exception:
    """The exception of a status that has no site."""
    if code == status.MEMORY:
        return MemoryError(
            f"{function}: the system or the memory limit refused an allocation"
        )
    if code == status.RECURSION:
        return RecursionError(f"{function}: too many nested calls")
    if code == status.DEFECT:
        return InternalError(f"sanitized code of {function}: {runtime().violation()}")
    return InternalError(f"{function} returned the unknown status {code}")


def _value(ty: str, word: int) -> float | int | bool:
    if ty in ("f64", "f32"):
        (value,) = struct.unpack("<d", struct.pack("<q", word))
        return float(value)
    return bool(word) if ty == "bool" else word


def _place(span: Span) -> str:
    place = f"{span.file}:{span.line}"
    return f"{place}, in {span.function}" if span.function else place


def _excerpt(span: Span) -> list[str]:
    """The source line with a caret, if there is source."""
    lines = Diagnostic("", span).render().splitlines()[2:]
    return ["\n".join(lines)] if lines else []
