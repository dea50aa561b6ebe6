"""What `import chadllvm` and a decorator load: not the compiler, which takes long."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import chadllvm as cl

SCRIPT = """
import sys
import chadllvm as cl

@cl.jit
def f(x: cl.f64[:], n: "int", m=2) -> float:
    return sum(x) * n * m

g = cl.value_and_grad(f, argnums=("x",))
heavy = [n for n in sys.modules if n.startswith(("chadllvm.frontend", "llvmlite"))]
assert not heavy, heavy
assert g._count == 3 and f.py_func.__name__ == "f"
"""


def test_functions_are_decorated_without_the_compiler(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    subprocess.run([sys.executable, str(script)], check=True, timeout=120)


def test_all_public_names_are_there() -> None:
    """Names stay functions, whichever modules have been imported meanwhile."""
    for name in cl.__all__:
        assert type(getattr(cl, name)).__name__ != "module"
        assert name in dir(cl)
