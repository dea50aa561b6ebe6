"""A process that measures programs: a request a line, an answer for each.

It speaks as the campaign's workers do (`tests/campaign/worker.py`), so that the same
pool starts it again where it dies or hangs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("CHADLLVM_CACHE", "0")

from chadllvm.support.diagnostic import CompileError, InternalError
from tests.campaign.load import load
from tests.laws.sweeping.derivatives import ORDERS, Unmeasured
from tests.laws.sweeping.measured import Subject
from tests.laws.sweeping.sources import program
from tests.program_cases import CASES
from tests.sweep import named

ASKED = ("value", *ORDERS, "interpreter", "python")

Answer = tuple[str, Any]


def subject(request: dict[str, Any]) -> Subject:
    """The program of a request: a case of the corpus, a text, or that of a seed."""
    if "case" in request:
        case = dict(zip(named(CASES), CASES, strict=True))[request["case"]]
        return Subject(case.function, case.args)
    loaded = load(request.get("text") or program(request["seed"]))
    return Subject(loaded.function, loaded.args, (loaded.plain, loaded.plain_args))


def told(make: Callable[[], Any]) -> Answer:
    """What was measured, or why it was not."""
    try:
        return "measured", make()
    except Unmeasured as error:
        return "skipped", str(error)
    except CompileError as error:
        return "refused", str(error).splitlines()[0]
    except InternalError as error:
        return "internal", " ".join(str(error).split())[:300]
    except Exception as error:
        return "raised", f"{type(error).__name__}: {error}"[:150]


def measured(one: Subject, what: str) -> dict[str, Any]:
    """What a call takes: by default, or in the interpreter, or in Python."""
    if what == "interpreter":
        costs, works = one.interpreted()
        return {"cost": costs, "work": works}
    if what == "python":
        peaks, ours = one.python_peak()
        return {"peak": peaks, "ours": ours}
    taken = one.taken(what)
    found = {"work": taken.work, "peak": taken.peak, "sizes": one.sizes}
    return found | ({"value": taken.value} if taken.value else {})


def answer(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"begins": "begin"}
    status, one = told(lambda: subject(request))
    found: dict[str, Answer] = {}
    if status != "measured":
        found["begin"] = status, one
    for what in request["oracles"] if status == "measured" else ():
        yield {"begins": what}
        found[what] = told(lambda what=what: measured(one, what))
    yield {"found": found, "constructs": []}
