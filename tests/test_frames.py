"""A traceback shows the user's frames and the message, and nothing of the compiler."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from chadllvm.driver import specialising
from chadllvm.support.diagnostic import InternalError

SCRIPT = """\
import chadllvm as cl


@cl.jit
def f(x: float) -> float:
    y = x * scale
    return y + offset


def main():
    return f(1.0)


main()
"""

PRINTED = """\
Traceback (most recent call last):
  File "script.py", line 14, in <module>
    main()
  File "script.py", line 11, in main
    return f(1.0)
           ^^^^^^
chadllvm.support.diagnostic.CompileError: error[CL0301]: unknown name
  --> script.py:6:13, in f
  |
6 |     y = x * scale
  |             ^^^^^ `scale` is not defined
  = help: check the spelling, or import or define it before the function is compiled

error[CL0301]: unknown name
  --> script.py:7:16, in f
  |
7 |     return y + offset
  |                ^^^^^^ `offset` is not defined
  = help: check the spelling, or import or define it before the function is compiled

2 errors
"""


def test_what_python_prints(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr.replace(f"{tmp_path}/", "") == PRINTED


@cl.jit
def unknown(x: float) -> float:
    return missing(x)  # noqa: F821


@cl.jit
def element(x: cl.f64[:], k: int) -> float:
    return x[k]


@cl.jit
def added(x, y):
    return x + y


def annotated(x: nothing) -> float:  # noqa: F821
    return 1.0


def tuned(x: float, n: int) -> float:
    return x * n


VECTOR = np.ones(3)

# A call that fails, and how.
CALLS: list[tuple[type[Exception], Callable[[], Any]]] = [
    (cl.CompileError, lambda: unknown(1.0)),
    (cl.CompileError, lambda: cl.grad(unknown)(1.0)),
    (cl.CompileError, lambda: cl.jvp(unknown, (1.0,), (1.0,))),
    (cl.CompileError, lambda: unknown.show("llvm")),
    (cl.CompileError, lambda: cl.jit(annotated)),
    (cl.CompileError, lambda: cl.grad(np.sin)),
    (cl.CompileError, lambda: cl.jacfwd(element, "k")(VECTOR, 1)),
    (ValueError, lambda: cl.hessian(element, 5)),
    (cl.CompileError, lambda: cl.grad(element, argnums="k")(VECTOR, 1)),
    (IndexError, lambda: element(VECTOR, 3)),
    (IndexError, lambda: cl.grad(element)(VECTOR, 3)),
    (TypeError, lambda: element(1.0, 3)),
    (TypeError, lambda: element(VECTOR, 1.5)),
    (ValueError, lambda: element(np.ones((3, 3)), 1)),
    (TypeError, lambda: element(VECTOR)),
    (TypeError, lambda: added(1.0, y="text")),
    (TypeError, lambda: added(1.0)),
    (TypeError, lambda: added(1.0, z=2.0)),
    (TypeError, lambda: cl.jvp(element, (VECTOR, 1), (1.0, None))),
    (ValueError, lambda: cl.jvp(element, (VECTOR, 1), (VECTOR,))),
    (ValueError, lambda: cl.grad(element, argnums=7)),
    (TypeError, lambda: cl.jit(element, optimize=0)),
    (ValueError, lambda: cl.jit(tuned, static_argnames="m")),
    (ValueError, lambda: element.show("nonsense")),
]


@pytest.mark.parametrize(("kind", "call"), CALLS)
def test_only_the_caller_is_shown(
    kind: type[Exception], call: Callable[[], Any]
) -> None:
    with pytest.raises(kind) as caught:
        call()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert {frame.filename for frame in frames} == {__file__}


def test_what_the_user_was_handling_stays() -> None:
    with pytest.raises(cl.CompileError) as caught:
        try:
            raise KeyError("first")
        except KeyError:
            unknown(1.0)
    assert isinstance(caught.value.__context__, KeyError)
    assert not caught.value.__suppress_context__


def test_frames_of_the_user_stay() -> None:
    """Also those below ours, as here of a method that Python calls for us."""

    class Strange:
        def __index__(self) -> int:
            raise ValueError("not an index")

    with pytest.raises(ValueError, match="not an index") as caught:
        element(VECTOR, Strange())
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].name == "__index__"


@pytest.mark.parametrize("kind", [InternalError, KeyError, ValueError])
def test_our_own_mistakes_keep_their_frames(
    monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    def broken(*args: Any) -> None:
        raise kind("ours")

    monkeypatch.setattr(specialising, "specialise", broken)
    with pytest.raises(InternalError, match="ours") as caught:
        cl.jit(tuned)(1.0, 2)
    raised = caught.value if kind is InternalError else caught.value.__cause__
    assert isinstance(raised, kind)
    assert traceback.extract_tb(raised.__traceback__)[-1].name == "broken"
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert any(frame.name == "_compile" for frame in frames)
