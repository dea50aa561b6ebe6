"""What a process of a pool does: a request a line, and a line for each answer."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any


def serve(answer: Callable[[dict[str, Any]], Iterator[dict[str, Any]]]) -> None:
    """Answer what comes in; what programs write goes to the error stream."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        for each in answer(json.loads(line)):
            out.write(json.dumps(each) + "\n")
            out.flush()
