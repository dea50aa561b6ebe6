"""A finding as a case: a file that shows it, and shows whether it is still there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.campaign.minimise import minimised
from tests.campaign.pool import Worker

TAIL = """

if __name__ == "__main__":
    from pathlib import Path

    from tests.campaign.keep import again

    print(again(Path(__file__).read_text(), {oracle!r}))
"""


def kept(folder: Path, seed: int, oracle: str, found: list[str], text: str) -> Path:
    """Write a case: `PYTHONPATH=.:tests python FILE` says what the oracle says."""
    folder.mkdir(parents=True, exist_ok=True)
    detail = found[1].replace('"""', "'''").replace("\\", "/")
    head = f'"""{oracle}: {found[0]}.\n\n{detail}\n"""\n\n'
    place = folder / f"{re.sub(r'[^a-z0-9]+', '_', oracle)}_{seed}.py"
    place.write_text(head + text + TAIL.format(oracle=oracle), encoding="utf-8")
    return place


def again(text: str, oracle: str, worker: Worker | None = None) -> list[str]:
    """What the oracle says of a program, in a process of its own."""
    worker = worker or Worker()
    try:
        answer = worker.ask({"text": text, "oracles": [oracle], "every": True})
    finally:
        worker.stop()
    found: list[str] = answer["found"].get(oracle) or answer["found"].get(
        "begin", ["none", ""]
    )
    return found


def signature(oracle: str, found: list[str]) -> str:
    """What makes two findings one: the oracle, what it says, and the kind of it."""
    status, detail = found
    if status == "differs":
        errors = re.findall(r"\b\w+Error\b", detail)
        words = re.sub(r"\d+|[(`].*", "", detail)[:60] if errors else ""
        detail = words.strip() or ("shape" if "shape" in detail else "value")
    elif status == "internal":
        detail = re.sub(r"[\d'`%].*", "", detail)
    return f"{oracle}: {status} {detail}"


def smaller(
    text: str,
    oracle: str,
    found: list[str],
    seconds: float,
    worker: Worker | None = None,
) -> str:
    """The smallest program of which the oracle says the same."""
    worker = worker or Worker(patience=30.0)
    worker.life = 1000
    goal = signature(oracle, found)

    def fails(candidate: str) -> bool:
        answer = worker.ask({"text": candidate, "oracles": [oracle], "every": True})
        each = answer["found"].get(oracle)
        return each is not None and signature(oracle, each) == goal

    try:
        return minimised(text, fails, seconds)
    finally:
        worker.stop()
