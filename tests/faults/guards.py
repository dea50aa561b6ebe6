"""Each array ends where a page begins that nobody may touch.

So it is with arguments, results and all buffers of a call; what was given back is gone.
An access beyond ends the process, whoever makes it: generated code, which is that of
users here, vector functions, or the C runtime, which nobody else checks. Guards hold
for all of a process: one runs a part of the corpus, and says which program it begins.
"""

from __future__ import annotations

import ctypes
import mmap
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.faults import Fault

ROOT = Path(__file__).parents[2]
MODES = ("default", "permanent")

SECONDS = 3600

WORKER = (sys.executable, "-m", "tests.faults.guards")

# Of `mprotect`: nobody may read, write or run it.
_NOBODY = 0


def behind_guards(part: int, parts: int, mode: str) -> str:
    """Run one in so many programs: value, gradient and tangents.

    Raises:
        Fault: if the process ends, or a value is wrong; with the program.
    """
    done = subprocess.run(
        [*WORKER, str(part), str(parts), mode],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    programs = done.stdout.split()
    if done.returncode:
        last = programs[-1] if programs else "the first program"
        raise Fault(f"{last}: exit status {done.returncode}\n{done.stderr}")
    return f"{len(programs)} programs"


def guarded(array: np.ndarray) -> np.ndarray:
    """A copy of an array that ends where nobody may touch."""
    whole = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    pages = mmap.mmap(-1, whole + mmap.PAGESIZE)
    last = ctypes.addressof(ctypes.c_char.from_buffer(pages)) + whole
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(last), mmap.PAGESIZE, _NOBODY):
        raise OSError(ctypes.get_errno(), "mprotect")
    flat = np.frombuffer(pages, array.dtype, array.size, offset=whole - array.nbytes)
    flat[:] = array.ravel()
    return flat.reshape(array.shape)


def _guarded(value: Any) -> Any:
    """A container whose arrays are guarded."""
    from tests.containers import parts, rebuilt

    if isinstance(value, np.ndarray) and value.dtype.names is None and value.ndim:
        return guarded(value)
    components = parts(value)
    if components is None or isinstance(value, np.ndarray | np.void):
        return value
    return rebuilt(value, [_guarded(component) for component in components])


def _worker(part: int, parts: int, mode: str) -> None:
    import chadllvm as cl
    from chadllvm.backend.runtime import runtime
    from tests.containers import leaves
    from tests.program_cases import CASES, real_params, tangents_of

    runtime().lib.chad_set_guards()
    level = 0 if mode == "permanent" else 2
    options = cl.CompileOptions(optimize=level, cache=False)
    for case in CASES[part::parts]:
        print(case.name, flush=True)
        function = cl.jit(options=options)(case.function.py_func)
        args = tuple(_guarded(arg) for arg in case.args)
        found = leaves(function(*args))
        if params := real_params(case):
            cl.value_and_grad(function, argnums=params)(*args)
        cl.jvp(function, args, tangents_of(case))
        for a, b in zip(found, leaves(case.plain_value()), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


if __name__ == "__main__":
    # As pytest does it, so that the programs of the corpus find their helpers.
    sys.path.insert(0, str(ROOT / "tests"))
    _worker(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
