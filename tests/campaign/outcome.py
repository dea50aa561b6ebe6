"""What becomes of a call: a value, an exception, a refusal, a defect, or too late."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from chadllvm.support.diagnostic import CompileError, InternalError

SECONDS = 20  # of the processor's time, so that a busy machine decides nothing


class TooSlow(BaseException):
    """Not caught by programs, nor told as a defect."""


@dataclass(frozen=True)
class Outcome:
    """`kind` is "value", "raised", "refused", "internal" or "slow"."""

    kind: str
    value: Any = None
    detail: str = ""

    @property
    def is_value(self) -> bool:
        return self.kind == "value"


def outcome(call: Callable[[], Any], seconds: int = SECONDS) -> Outcome:
    """Make the call, for so many seconds of the processor at most."""
    try:
        with _limit(seconds), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return Outcome("value", call())
    except CompileError as error:
        codes = " ".join(sorted({d.code or "?" for d in error.diagnostics}))
        return Outcome("refused", error, codes)
    except InternalError as error:
        return Outcome("internal", error, str(error).splitlines()[0][:200])
    except TooSlow:
        return Outcome("slow")
    except Exception as error:
        return Outcome("raised", error, type(error).__name__)


@contextmanager
def _limit(seconds: int) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
