"""A process that judges programs: a request a line, and a line for each verdict.

It says what it is about to do before it does it, so that a process that dies or hangs
tells of which program and which oracle.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

os.environ.setdefault("CHADLLVM_CACHE", "0")

from chadllvm.llvm import optimize
from chadllvm.llvm.optimize import Effort
from chadllvm.support.diagnostic import CompileError
from tests.campaign import costs, slopes  # noqa: F401  # They enter oracles.
from tests.campaign.judge import Judged, Verdict
from tests.campaign.load import load
from tests.campaign.oracles import ORACLES
from tests.campaign.program import written

FULL = optimize.EFFORTS
LITTLE = ((*FULL[-1][:-1], Effort(0, 0, loops=False)),)


def verdicts(
    text: str, names: Sequence[str], seed: int, every: bool
) -> Iterator[tuple[str, Verdict]]:
    """What the oracles say; one program of twelve is optimised in full."""
    optimize.EFFORTS = FULL if seed % 12 == 0 else LITTLE
    judged = Judged(text)
    for each in ORACLES:
        if each.name in names and (every or seed % each.every == 0):
            yield each.name, Verdict("begins")
            yield each.name, _judged(each, judged)


def _judged(each: Any, judged: Judged) -> Verdict:
    try:
        return each.judge(judged)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(last.filename)}:{last.lineno}"
        return Verdict("internal", f"{type(error).__name__}: {error} ({where})"[:300])


def answer(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    seed, text = request.get("seed", 0), request.get("text")
    constructs: list[str] = []
    if text is None:
        program = written(seed)
        text, constructs = program.text, sorted(program.constructs)
    found: dict[str, list[str]] = {}
    try:
        load(text)
    except CompileError as error:
        found["begin"] = ["refused", str(error).splitlines()[0]]
    except Exception as error:
        found["begin"] = ["skipped", f"no program: {type(error).__name__}"]
    if found:
        yield {"seed": seed, "found": found, "constructs": constructs}
        return
    for name, verdict in verdicts(text, request["oracles"], seed, request["every"]):
        if verdict.status == "begins":
            yield {"begins": name}
        else:
            found[name] = [verdict.status, verdict.detail]
    yield {"seed": seed, "found": found, "constructs": constructs}
