"""Names for generated code in Linux `perf`, with `CHADLLVM_PERF=1`.

`perf report` looks up what no file on disk contains in /tmp/perf-PID.map: a line for
each function, with its address and size in hexadecimal digits, and its name.

    7f12a4c61000 1a4 chadllvm:energy
"""

from __future__ import annotations

import os
from pathlib import Path

from chadllvm.backend import elf

_PREFIX = "chad_fn_"


def map_file() -> Path:
    """Where `perf` looks for the names of this process."""
    return Path(f"/tmp/perf-{os.getpid()}.map")


def tell(code: bytes, symbol: str, address: int) -> None:
    """Enter the functions of an object, one of which is at an address.

    What cannot be written there, or is no ELF object, has no names.
    """
    try:
        lines = [
            f"{address + distance:x} {size:x} chadllvm:{name.removeprefix(_PREFIX)}\n"
            for name, distance, size in elf.functions_beside(code, symbol)
        ]
        # Others may own what is there already: it is not followed.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(map_file(), flags, 0o644)
    except (OSError, elf.Unsupported):
        return
    with open(file, "wb") as opened:
        opened.write("".join(lines).encode())
