"""Forks, spawned processes, threads and exits while something is being compiled.

Each script runs in a process of its own, and does what its name says at a moment that
is drawn. It prints `done`; whatever else it does is a fault: a crash, words on stderr,
or that it hangs.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from tests.faults import Fault

SECONDS = 120

_COMMON = """
import math, multiprocessing, os, sys, threading, time
import numpy as np
import chadllvm as cl

def made(k):
    def f(x: float, a: cl.f64[:]) -> float:
        total = x * k
        for v in a:
            if v > x:
                total += math.sin(v) * total
        return total
    return cl.jit(cache=False)(f)

A = np.linspace(0.0, 2.0, 20)

def compiles(k):
    f = made(k)
    value, slope = cl.value_and_grad(f)(0.5, A)
    assert value == f(0.5, A) and math.isfinite(slope)

def forever(stop):
    k = 0
    while not stop.is_set():
        k += 1
        compiles(k)

def begun(count=1, **more):
    stop = threading.Event()
    for thread in (threads := [
        threading.Thread(target=forever, args=(stop,), **more) for _ in range(count)
    ]):
        thread.start()
    time.sleep(float(sys.argv[1]))
    return stop, threads

def ended(stop, threads):
    stop.set()
    for thread in threads:
        thread.join()
"""

SCRIPTS = {
    "fork": """
        stop, threads = begun()
        children = []
        for _ in range(3):
            child = os.fork()
            if child == 0:
                compiles(7)
                os._exit(0)
            children.append(child)
        assert all(os.waitpid(child, 0)[1] == 0 for child in children)
        ended(stop, threads)
        print("done")
    """,
    "spawn": """
        stop, threads = begun()
        child = multiprocessing.get_context("spawn").Process(target=compiles, args=(3,))
        child.start()
        child.join()
        assert child.exitcode == 0
        ended(stop, threads)
        print("done")
    """,
    "threads": """
        stop, threads = begun(4)
        f = made(3)
        found = []
        many = [threading.Thread(target=lambda: found.append(f(0.5, A)))
                for _ in range(8)]
        for thread in many:
            thread.start()
        for thread in many:
            thread.join()
        assert len(found) == 8 and len(set(found)) == 1
        ended(stop, threads)
        print("done")
    """,
    "exit": """
        begun(daemon=True)
        print("done", flush=True)
    """,
    "exit by an exception": """
        begun(2, daemon=True)
        print("done", flush=True)
        sys.exit(0)
    """,
}


def survives(name: str, rounds: int, seed: int) -> str:
    """Run a script so many times.

    Raises:
        Fault: if it does anything but its work.
    """
    if name == "fork" and not hasattr(os, "fork"):
        return "there is no fork"
    moments = random.Random(f"{name} {seed}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "script.py")
        body = textwrap.indent(textwrap.dedent(SCRIPTS[name]), "    ")
        path.write_text(f"{_COMMON}\nif __name__ == '__main__':\n{body}\n", "utf-8")
        for k in range(rounds):
            _run(name, path, k, moments.uniform(0.0, 1.0))
    return f"survived {rounds} times"


def _run(name: str, path: Path, number: int, moment: float) -> None:
    where = f"{name}, round {number}, {moment:.3f} s after the start"
    # Newer Pythons warn of each fork where there are threads.
    flags = ["-W", "ignore::DeprecationWarning", "-X", "faulthandler"]
    command = [sys.executable, *flags, str(path), str(moment)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired as late:
            os.killpg(process.pid, signal.SIGKILL)  # Its children, too.
            raise Fault(f"{where}: it hangs\n{late.stderr}") from late
    if (process.returncode, out, err) != (0, "done\n", ""):
        raise Fault(f"{where}: status {process.returncode}\n{out}{err}")
