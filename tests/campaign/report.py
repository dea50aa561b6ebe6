"""The table of a campaign: by oracle, by construct, and each finding."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.campaign.judge import FAILURES
from tests.campaign.keep import signature

COLUMNS = ("agrees", "documented", "ill", "skipped", "rightly", *FAILURES)


def table(results: list[dict[str, Any]]) -> str:
    """The counts of verdicts by oracle; `rightly`: refused by the rules of aliases."""
    counts: dict[str, Counter[str]] = {}
    for result in results:
        for oracle, (status, _) in result["found"].items():
            counts.setdefault(oracle, Counter())[status] += 1
    lines = [f"{'oracle':22}" + "".join(f"{c:>11}" for c in COLUMNS)]
    for oracle, found in counts.items():
        lines.append(f"{oracle:22}" + "".join(f"{found[c] or '':>11}" for c in COLUMNS))
    return "\n".join(lines)


def by_construct(results: list[dict[str, Any]], least: int = 1) -> str:
    """How many programs have a construct, and how many of these fail."""
    used, failing = Counter[str](), Counter[str]()
    for result in results:
        used.update(result["constructs"])
        if any(status in FAILURES for status, _ in result["found"].values()):
            failing.update(result["constructs"])
    lines = [f"{'construct':64}{'programs':>9}{'failing':>9}"]
    for name, count in sorted(used.items()):
        if failing[name] >= least or least == 0:
            lines.append(f"{name[:62]:64}{count:9}{failing[name]:9}")
    return "\n".join(lines)


def findings(results: list[dict[str, Any]]) -> dict[str, list[int]]:
    """The seeds of each kind of finding."""
    found: dict[str, list[int]] = {}
    for result in results:
        for oracle, each in result["found"].items():
            if each[0] in FAILURES:
                found.setdefault(signature(oracle, each), []).append(result["seed"])
    return found
