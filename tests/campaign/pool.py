"""Workers and their programs: a worker that dies or hangs is a finding."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300.0  # for one oracle, on a machine that may be busy
SERVING = "from tests.campaign.serving import serve; serve(answer)"
LIFE = 60  # programs of one process, which keeps some memory of each


@dataclass
class Worker:
    """A process at a time; another one after so many programs, or after a crash."""

    process: subprocess.Popen[bytes] | None = None
    done: int = 0
    rest: bytes = b""
    patience: float = SECONDS
    life: int = LIFE
    prelude: str = "from tests.campaign.worker import answer"
    environment: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The verdicts of the oracles; `{"found": {oracle: [status, detail]}}`.

        The oracles after one that kills the process are asked in another one.
        """
        whole: dict[str, Any] = {"seed": request.get("seed", 0), "found": {}}
        left = [*request["oracles"]]
        while left:
            answer = self._once({**request, "oracles": left})
            whole["constructs"] = answer.get("constructs") or whole.get(
                "constructs", []
            )
            whole["found"] |= answer["found"]
            fallen = answer.get("fallen")
            if fallen is None:
                break
            left = left[left.index(fallen) + 1 :] if fallen in left else []
        return whole

    def _once(self, request: dict[str, Any]) -> dict[str, Any]:
        self._ready()
        assert self.process is not None and self.process.stdin is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        at = "begin"
        while True:
            line = self._line()
            if line is None:
                return self._fallen(at)
            answer: dict[str, Any] = json.loads(line)
            if "begins" not in answer:
                self.done += 1
                return answer
            at = answer["begins"]

    def _fallen(self, at: str) -> dict[str, Any]:
        assert self.process is not None
        code = self.process.poll()
        if code is None:
            try:
                code = self.process.wait(1.0)
            except subprocess.TimeoutExpired:
                code = None
        if code is None:
            self.stop()
            return {
                "found": {at: ["hang", f"after {self.patience:.0f} s"]},
                "fallen": at,
            }
        self.stop()
        what = signal.Signals(-code).name if code < 0 else f"exit {code}"
        return {"found": {at: ["crash", what]}, "fallen": at}

    def _line(self) -> bytes | None:
        """The next line, or None if the process ends or there is none in time."""
        assert self.process is not None and self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.rest:
                if not selector.select(self.patience):
                    return None
                more = os.read(self.process.stdout.fileno(), 1 << 16)
                if not more:
                    return None
                self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        return line

    def _ready(self) -> None:
        if (
            self.process is not None
            and self.done < self.life
            and self.process.poll() is None
        ):
            return
        self.stop()
        path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"{self.prelude}\n{SERVING}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": path} | self.environment,
        )
        self.done, self.rest = 0, b""

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                assert pipe is not None
                pipe.close()
            self.process = None
