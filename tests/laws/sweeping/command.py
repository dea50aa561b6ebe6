"""Measures programs in worker processes, and tells what breaks the law.

A file of results has a line for each program, and grows: what is in it is not measured
again. Programs that break the law are made small by the campaign's minimiser.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from tests.campaign.minimise import minimised
from tests.campaign.pool import Worker
from tests.laws.sweeping.sources import program
from tests.laws.sweeping.verdicts import MOST, grown, ratios, violations
from tests.laws.sweeping.worker import ASKED

PRELUDE = "from tests.laws.sweeping.worker import answer"
SECONDS = 120.0  # for one of a program's measures
LIFE = 25  # programs of one process

Key = str | int


def worker() -> Worker:
    return Worker(patience=SECONDS, life=LIFE, prelude=PRELUDE)


def request(key: Key) -> dict[str, Any]:
    """A program is the name of a case of the corpus, or a seed."""
    return {("case" if isinstance(key, str) else "seed"): key}


def sweep(
    keys: Sequence[Key], file: Path | None, jobs: int
) -> Iterator[tuple[Key, dict[str, Any]]]:
    """What was found of programs: first what is in the file."""
    known = _known(file)
    todo: Queue[Key] = Queue()
    done: Queue[tuple[Key, dict[str, Any]]] = Queue()
    for key in keys:
        if key in known:
            yield key, known[key]
        else:
            todo.put(key)
    stop = threading.Event()

    def work() -> None:
        with worker() as process:
            while not stop.is_set():
                try:
                    key = todo.get_nowait()
                except Empty:
                    return
                done.put((key, asked(process, request(key))))

    left = todo.qsize()
    for _ in range(min(jobs, left)):
        threading.Thread(target=work, daemon=True).start()
    try:
        for _ in range(left):
            key, found = done.get()
            if file is not None:
                with file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps({"program": key, "found": found}) + "\n")
            yield key, found
    finally:
        stop.set()


def asked(
    process: Worker, request: dict[str, Any], what: Sequence[str] = ASKED
) -> dict[str, Any]:
    """What a worker finds of a program."""
    found: dict[str, Any] = process.ask({**request, "oracles": [*what]})["found"]
    return found


def _known(file: Path | None) -> dict[Key, dict[str, Any]]:
    if file is None or not file.exists():
        return {}
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {line["program"]: line["found"] for line in lines}


def measures(found: dict[str, Any]) -> dict[str, Any]:
    """What was measured of a program; nothing, where its value was not."""
    if found.get("value", ("",))[0] != "measured":
        return {}
    return {
        what: each for what, (status, each) in found.items() if status == "measured"
    }


class Summary:
    """The largest ratios and growths, the violations, and what was not measured."""

    def __init__(self) -> None:
        self.measured = 0
        self.largest: dict[str, tuple[float, Key]] = {}
        self.growth: dict[str, tuple[float, Key]] = {}
        self.broken: list[tuple[Key, str, str]] = []
        self.rest: Counter[str] = Counter()
        self.failures: list[tuple[Key, str, str]] = []

    def add(self, key: Key, found: dict[str, Any]) -> list[tuple[str, str]]:
        """What a program breaks."""
        taken = measures(found)
        for what, (status, detail) in found.items():
            if status in ("crash", "hang", "internal"):
                self.failures.append((key, what, f"{status} {detail}"))
            elif status != "measured":
                self.rest[f"{what}: {status}"] += 1
        if not taken:
            return []
        self.measured += 1
        for what in set(MOST) & set(taken):
            most = self.largest.get(what, (0.0, key))
            self.largest[what] = max(most, (ratios(taken, what)[-1], key), key=_first)
            most = self.growth.get(what, (0.0, key))
            self.growth[what] = max(most, (grown(taken, what), key), key=_first)
        wrong = list(violations(taken))
        self.broken += [(key, kind, text) for kind, text in wrong]
        return wrong

    def __str__(self) -> str:
        lines = [f"{self.measured} programs measured"]
        lines.append(f"{'':14}{'largest ratio':>24}{'largest growth':>26}")
        for what in MOST:
            if what in self.largest:
                ratio, growth = self.largest[what], self.growth[what]
                lines.append(
                    f"{what:14}{ratio[0]:8.1f} {ratio[1]!s:>15}"
                    f"{growth[0]:10.2f} {growth[1]!s:>15}"
                )
        lines += [f"{count:6} {what}" for what, count in sorted(self.rest.items())]
        lines += [f"{key}: {what}: {text}" for key, what, text in self.failures]
        for kind in sorted({kind for _, kind, _ in self.broken}):
            of = [(key, text) for key, each, text in self.broken if each == kind]
            lines.append(f"breaks the law, {kind}: {len(of)} programs")
            lines += [f"    {key}: {text}" for key, text in of]
        return "\n".join(lines)


def _first(pair: tuple[float, Key]) -> float:
    return pair[0]


def smallest(seed: int, kind: str, seconds: float) -> str:
    """The smallest program that breaks the law in the same way."""
    what = {"value: cost": "interpreter", "value: peak": "python"}
    needed = dict.fromkeys(("value", what.get(kind, kind.partition(":")[0])))
    with worker() as process:
        process.life, process.patience = 1000, 30.0

        def fails(text: str) -> bool:
            taken = measures(asked(process, {"text": text}, tuple(needed)))
            return bool(taken) and kind in dict(violations(taken))

        return minimised(program(seed), fails, seconds)


def run(
    keys: Sequence[Key], file: Path | None, jobs: int, seconds: float, alike: int = 3
) -> int:
    """Sweep over programs; 1 if one breaks the law."""
    summary, kinds = Summary(), Counter[str]()
    for key, found in sweep(keys, file, jobs):
        for kind, text in summary.add(key, found):
            print(f"{key}: {kind}: {text}", flush=True)
    print(summary)
    for key, kind, _ in summary.broken if seconds else ():
        kinds[kind] += 1
        if isinstance(key, int) and kinds[kind] <= alike:
            print(f"\n# {key}: {kind}\n{smallest(key, kind, seconds)}", flush=True)
    return bool(summary.broken)
