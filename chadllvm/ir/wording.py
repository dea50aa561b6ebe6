"""Types as the user writes them, for messages: `float` for f64, `tuple[…]`, `Point`."""

from __future__ import annotations

from chadllvm.ir.record import Kind, ListNames, RecordNames
from chadllvm.ir.types import Array, Box, Fun, Product, Scalar, Sum
from chadllvm.ir.union import is_none, is_union, is_varied

# Python's own names; the elements of arrays are called as in `cl.f64[:]`.
_SCALARS = {"f64": "float", "i64": "int"}


def said(ty: object) -> str:
    """What messages call a type, or an annotation."""
    match ty:
        case Scalar(name):
            return _SCALARS.get(name, name)
        case Array(Scalar(), _):
            return str(ty)
        case Array(elem, rank):
            several = is_union(elem) and not is_varied(elem)
            inner = f"({said(elem)})" if several else said(elem)
            return f"{inner}[{', '.join([':'] * rank)}]"
        case Product(_, RecordNames() as names) if names.kind is Kind.NONE:
            return "None"
        case Product(_, RecordNames() as names) if names.kind is Kind.SET:
            return "set[int]"
        case Product(fields, RecordNames() as names):
            return _record(names, list(map(said, fields)))
        case Product(_, names) if title := getattr(names, "title", ""):
            return str(title).strip()
        case Product((Array(elem, _), *_), ListNames() as names):
            return names.said(said(elem) if names.of_lists else str(elem))
        case Product(()):
            return "tuple[()]"
        case Product(fields):
            return f"tuple[{', '.join(map(said, fields))}]"
        case Sum() if is_union(ty):
            return " | ".join(map(said, sorted(ty.payloads, key=is_none)))
        case Sum():
            return " or ".join(dict.fromkeys(map(said, ty.payloads)))
        case Box(content):
            return said(content)
        case Fun():
            return "a function"
        case _:
            return str(ty)


def _record(names: RecordNames, fields: list[str]) -> str:
    if names.is_class:
        return names.title
    entries = ", ".join(f'"{n}": {f}' for n, f in zip(names, fields, strict=True))
    return ("row " if names.kind is Kind.ROW else "") + "{" + entries + "}"


def shorten(text: str, length: int) -> str:
    """The beginning of a text that is longer than this."""
    return text if len(text) <= length else text[: length - 1] + "…"
