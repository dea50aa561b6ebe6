"""The command line, and the campaign itself."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from tests.campaign.judge import FAILURES
from tests.campaign.keep import kept, signature, smaller
from tests.campaign.pool import Worker
from tests.campaign.program import written
from tests.campaign.report import by_construct, findings, table


def options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaign", description=__doc__
    )
    parser.add_argument("--programs", type=int, default=200, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="the first one's")
    parser.add_argument("--resume", type=Path, help="a file of results, which grows")
    parser.add_argument("--oracles", default="", help="names with commas, or `all`")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--keep", type=Path, help="a folder for minimised findings")
    parser.add_argument("--minimise", type=float, default=90.0, help="seconds for each")
    parser.add_argument(
        "--alike", type=int, default=2, help="cases of a kind of finding"
    )
    parser.add_argument("--show", type=int, help="print the program of this seed")
    parser.add_argument("--constructs", action="store_true", help="the table of all")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run what is not in the file yet; 1 if there is a finding in it then."""
    given = options(arguments)
    if given.show is not None:
        print(written(given.show).text)
        return 0
    known = _known(given.resume)
    seeds = range(given.seed, given.seed + given.programs)
    results = [known[seed] for seed in seeds if seed in known]
    todo = [seed for seed in seeds if seed not in known]
    for result in campaign(
        todo, _oracles(given.oracles), given.oracles == "all", given.jobs
    ):
        results.append(result)
        if given.resume is not None:
            with given.resume.open("a", encoding="utf-8") as out:
                out.write(json.dumps(result) + "\n")
    _tell(results, given.constructs)
    if given.keep is not None:
        _keep(results, given.keep, given.minimise, given.alike)
    return bool(findings(results))


def _known(file: Path | None) -> dict[int, dict[str, Any]]:
    if file is None or not file.exists():
        return {}
    lines = file.read_text(encoding="utf-8").splitlines()
    return {result["seed"]: result for result in map(json.loads, lines)}


def _oracles(names: str) -> list[str]:
    from tests.campaign.worker import ORACLES

    there = [each.name for each in ORACLES]
    chosen = there if names in ("", "all") else names.split(",")
    if unknown := set(chosen) - set(there):
        raise SystemExit(
            f"no oracle {', '.join(unknown)}; there are {', '.join(there)}"
        )
    return chosen


def campaign(
    seeds: list[int], oracles: list[str], every: bool, jobs: int
) -> Iterator[dict[str, Any]]:
    """The results as they come."""
    todo: Queue[int] = Queue()
    done: Queue[dict[str, Any]] = Queue()
    for seed in seeds:
        todo.put(seed)
    stop = threading.Event()

    def work() -> None:
        worker = Worker()
        while not stop.is_set():
            try:
                seed = todo.get_nowait()
            except Empty:
                break
            result = worker.ask({"seed": seed, "oracles": oracles, "every": every})
            if not result["constructs"]:
                result["constructs"] = sorted(written(seed).constructs)
            done.put(result)
        worker.stop()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    failing = 0
    try:
        with _progress(len(seeds)) as step:
            for _ in seeds:
                result = done.get()
                failing += any(s in FAILURES for s, _ in result["found"].values())
                step(f"seed {result['seed']}, {failing} failing")
                yield result
    finally:
        stop.set()


@contextmanager
def _progress(count: int) -> Iterator[Any]:
    """A line of progress, if `rich` is there and somebody looks."""
    try:
        from rich.progress import Progress
    except ImportError:
        Progress = None  # type: ignore[assignment,misc]
    if Progress is None or not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("campaign", total=count)
        yield lambda text: progress.update(task, advance=1, description=text)


def _tell(results: list[dict[str, Any]], whole: bool) -> None:
    print(
        table(results), by_construct(results, 0 if whole else 1), sep="\n\n", end="\n\n"
    )
    for name, seeds in sorted(
        findings(results).items(), key=lambda found: -len(found[1])
    ):
        print(f"{len(seeds):5}  {name}: seeds {', '.join(map(str, seeds[:8]))}")


def _keep(
    results: list[dict[str, Any]], folder: Path, seconds: float, alike: int
) -> None:
    """Minimise some cases of each kind of finding."""
    kinds: dict[str, int] = {}
    for result in results:
        for oracle, found in result["found"].items():
            kind = signature(oracle, found)
            if found[0] in FAILURES and kinds.get(kind, 0) < alike:
                kinds[kind] = kinds.get(kind, 0) + 1
                text = smaller(written(result["seed"]).text, oracle, found, seconds)
                print(kept(folder, result["seed"], oracle, found, text))
