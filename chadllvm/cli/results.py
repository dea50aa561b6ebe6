"""Results of the user's functions as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from chadllvm.cli.json_values import CLASS


def to_json(value: Any) -> Any:
    """A result as JSON: what is not finite as a word, a record with its class."""
    match value:
        case None | bool() | int() | str():
            return value
        case np.ndarray() if value.dtype.names:
            return [to_json(row) for row in value]
        case np.ndarray():
            return to_json(value.tolist())
        case np.void():
            return {n: to_json(value[n]) for n in value.dtype.names or ()}
        case np.generic():
            return to_json(value.item())
        case float():
            return value if math.isfinite(value) else repr(value)
        case dict():
            return {str(k): to_json(v) for k, v in value.items()}
        case tuple() if hasattr(value, "_fields"):
            return _tagged(value, value._fields)
        case tuple() | list():
            return [to_json(item) for item in value]
        case _ if is_dataclass(value):
            return _tagged(value, [field.name for field in fields(value)])
        case _:
            return repr(value)


def _tagged(value: Any, names: Sequence[str]) -> dict[str, Any]:
    tag = {} if CLASS in names else {CLASS: type(value).__name__}
    return {**tag, **{name: to_json(getattr(value, name)) for name in names}}
