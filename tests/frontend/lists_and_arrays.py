"""Programs in which a value is an array, or a list, and then is operated on.

A program is made of how the value is made, on which ways it gets to the operation, and
of the operation: what plain Python makes of it, the frontend makes too, or refuses it.
"""

from __future__ import annotations

import functools
import itertools
import linecache
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import chadllvm as cl
from chadllvm.ir.op import ProgramError
from chadllvm.support.diagnostic import CompileError
from tests.frontend.meaning import interpret


class Held(NamedTuple):
    """A record with room for a list or an array."""

    values: Any
    weight: float


ARRAYS = ["x * 1.0", "x", "np.array([v + 1.0 for v in x])", "x[:2]", "np.zeros(2)"]
LISTS = ["[v + 1.0 for v in x]", "[1.0, 2.0]", "list(x)", "x.tolist()", "[3.0] * 2"]
LISTS += ["[v for v in x][:2]", "sorted(x)", "listed(x)", "[1.0] + [v for v in x]"]
LISTS += ["[[v, 1.0] for v in x][0]", "appended(x)", "[v for v in x if v > 1.0]"]
LISTS += ["[v for v in x].copy()", "[v for v in x][::-1]", "list(reversed(x))"]

JOINS = {
    "itself": "y = A",
    "if": "y = A\nif c:\n    y = B",
    "else": "if c:\n    y = A\nelse:\n    y = B",
    "elif": "if n == 0:\n    y = A\nelif n == 1:\n    y = B\nelse:\n    y = A",
    "conditional": "y = A if c else B",
    "for": "y = A\nfor i in range(n):\n    y = B",
    "for with a break": "y = A\nfor i in range(n):\n    if i == 1:\n        y = B\n"
    "        break",
    "break before": "y = A\nfor i in range(n):\n    if i == 1:\n        break\n"
    "    y = B",
    "continue": "y = A\nfor i in range(n):\n    if c:\n        continue\n    y = B",
    "for over": "y = A\nfor v in x:\n    if v > 2.0:\n        y = B",
    "for else": "y = A\nfor i in range(n):\n    if c:\n        break\nelse:\n    y = B",
    "while": "y = A\nk = 0\nwhile k < n:\n    y = B\n    k += 1",
    "while with a break": "y = A\nwhile True:\n    if c:\n        break\n    y = B\n"
    "    break",
    "nested loops": "y = A\nfor i in range(n):\n    for j in range(i):\n        y = B",
    "swap": "y = A\nz = B\nfor i in range(n):\n    y, z = z, y",
    "delay": "y = A\nz = A\nfor i in range(n):\n    y = z\n    z = B",
    "match": "match n:\n    case 1:\n        y = A\n    case _:\n        y = B",
    "tuple": "p = (A, 1.0)\nif c:\n    p = (B, 2.0)\ny = p[0]",
    "unpacked": "y, w = (A, 1.0) if c else (B, 2.0)",
    "nested tuple": "p = (1.0, (A, 2.0))\nfor i in range(n):\n    p = (1.0, (B, 2.0))\n"
    "y = p[1][0]",
    "record": "r = Held(A, 1.0)\nif c:\n    r = Held(B, 2.0)\ny = r.values",
    "replaced": "r = Held(A, 1.0)\nif c:\n    r = r._replace(values=B)\ny = r.values",
    "dictionary": "d = {'k': A}\nif c:\n    d = {'k': B}\ny = d['k']",
    "union": "o = None\nif c:\n    o = A\ny = B\nif o is not None:\n    y = o",
    "member": "o = A if c else None\ny = B if o is None else o",
    "early return": "def g():\n    if c:\n        return A\n    return B\ny = g()",
    "return in a loop": "def g():\n    for i in range(n):\n        if i == 1:\n"
    "            return A\n    return B\ny = g()",
    "tuple from a loop": "def g():\n    for i in range(n):\n        if i == 1:\n"
    "            return A, 1.0\n    return B, 2.0\ny = g()[0]",
    "capture": "z = A if c else B\ndef g():\n    return z\ny = g()",
    "captured list": "z = A\ndef g(k):\n    return z if k else B\ny = g(c)",
    "argument": "g = lambda v: v\ny = g(A) if c else g(B)",
    "argument of one": "g = lambda v: v\ny = A\nif c:\n    y = g(B)",
    "default": "def g(v=A):\n    return v\ny = g() if c else g(B)",
    "functions": "f = (lambda: A) if c else (lambda: B)\ny = f()",
    "partial": "f = lambda k: (lambda: A) if k else (lambda: B)\ny = f(c)()",
    "recursion": "def g(k):\n    return A if k < 1 else g(k - 1) if c else B\ny = g(n)",
    "rows": "y = [A, B][n]",
    "row of a comprehension": "y = [A for i in range(3)][n]",
    "two of a tuple": "for y in (A, B):\n    pass",
    "try again": "y = A\ny = y if c else B\ny = y if n else A",
    "aliases": "z = A\ny = z\nif c:\n    z = B\n    y = z",
    "dead after": "y = A\nif c:\n    y = B\n    y = A",
    "loop of tuples": "p = (A, 0)\nfor i in range(n):\n    p = (B, p[1] + 1)\ny, _ = p",
    "zip": "y = A\nfor y, w in zip([A, A], [1.0, 2.0]):\n    if c:\n        y = B",
    "kept in a loop": "y = A\nz = B\nfor i in range(n):\n    w = y\n    y = w",
    "unpacked loop": "y, k = A, 0\nwhile k < n:\n    y, k = B, k + 1",
    "one side raises": "if n > 5:\n    raise ValueError('many')\nelse:\n    y = A",
    "loop in a branch": "y = A\nif c:\n    for i in range(n):\n        y = B",
    "branch in a loop": "y, z = A, B\nfor i in range(n):\n    if c:\n        y = z\n"
    "    else:\n        z = y",
    "two breaks": "y = A\nfor i in range(n):\n    if c:\n        y = B\n        break\n"
    "    if i == 1:\n        break",
    "tuple in a match": "match n:\n    case 0:\n        p = (A, 1.0)\n    case 1:\n"
    "        p = (B, 1.0)\n    case _:\n        p = (A, 2.0)\ny, w = p",
    "record in a loop": "r = Held(A, 1.0)\nfor i in range(n):\n"
    "    r = Held(B, r.weight)\ny = r.values",
    "captured tuple": "p = (A, 1.0) if c else (B, 2.0)\ng = lambda: p[0]\ny = g()",
    "tuple through": "g = lambda p: (p[1], p[0])\ny, z = g((A, B)) if c else g((B, A))",
    "captured functions": "u, v = A, B\nf = (lambda: u) if c else (lambda: v)\ny = f()",
    "list of tuples": "q = [(A, 1.0), (B, 2.0)]\ny = q[n % 2][0]",
    "optional tuple": "o = (A, 1.0) if c else None\ny = B\nif o is not None:\n"
    "    y = o[0]",
    "recursion of tuples": "def g(k, p):\n    return p if k < 1 else g(k - 1, (B, 1.0))"
    "\ny = g(n, (A, 1.0))[0]",
    "reduce": "y = functools.reduce(lambda s, v: (B, v), x, (A, 0.0))[0]",
    "enumerate": "for i, y in enumerate([A, B]):\n    pass",
    "star": "p = A, B, 1.0\ny, *z = p",
    "sum of tuples": "p = (1.0,) + (A, B)\ny = p[1:][0]",
    "tuples that are made": "q = [(A, w) for w in x]\nq.append((B, 1.0))\ny = q[n][0]",
    "pattern": "match (A if c else B, n):\n    case (y, 0):\n        pass\n"
    "    case (y, _):\n        pass",
    "while else": "y = A\nk = 0\nwhile k < n:\n    k += 1\n    if c:\n        break\n"
    "else:\n    y = B",
    "swapped tuple": "p = (A, B)\nfor i in range(n):\n    p = (p[1], p[0])\ny = p[0]",
    "entry": "d = {'k': A, 'm': B}\nfor i in range(n):\n"
    "    d = {'k': d['m'], 'm': d['k']}\ny = d['k']",
    "stopped": "y = A\nif c:\n    y = cl.stop_gradient(B)",
    "stopped tuple": "y, w = cl.stop_gradient((A, 1.0))",
    "loop with return": "y = A\nfor i in range(n):\n    if n > 5:\n        return 0.0\n"
    "    y = B",
}

OPERATIONS = ["y + y", "y * n", "n * y", "y + [1.0, 2.0]", "y + x[:2]", "x[:2] + y"]
OPERATIONS += ["y == y", "y != [1.0, 2.0]", "y < y", "1.0 in y", "y * 2.0", "y + 1.0"]
OPERATIONS += ["y[1:] + y[1:]", "y[::-1] + y", "-y", "y - y", "y - x[:2]", "y ** 2"]
OPERATIONS += ["np.sin(y) + y", "y.copy() + y", "list(y) + list(y)", "[1.0] + y"]
OPERATIONS += ["np.array(y) + 1.0", "sum(y)", "len(y)", "(y, 1.0)[0] + y", "y[0] + y"]
OPERATIONS += ["same(y) + y", "doubled(y)", "(lambda v: v + v)(y)", "y @ y", "abs(y)"]
OPERATIONS += ["y += y", "y *= 2", "y += [1.0]", "y += x[:2]", "y -= y", "y *= 2.0"]
OPERATIONS += ["Held(y, 1.0).values * n", "[y, y][0] + y", "y if y else y", "y / y"]
OPERATIONS += ["y * c", "y + (1.0, 2.0)", "np.float64(2.0) * y", "y.append(1.0)"]
OPERATIONS += ["[w for w in (y, y)][0] + y", "np.float64(2.0) + y"]
OPERATIONS += ["y + x.tolist()[:2]"]

MATRICES = ["np.array([[v, 1.0] for v in x])", "x.reshape(2, 1) * x", "np.ones((2, 2))"]
MATRICES += ["[[v, 1.0] for v in x]", "[x, x * 2.0]", "[[1.0, 2.0], [3.0, 4.0]]"]
MATRICES += ["[x + v for v in x]", "[list(x), list(x)]", "[[v for v in x] for _ in x]"]
MATRICES += ["rows_of(x)", "lists_of(x)", "[np.array(r) for r in [[1.0, 2.0]] * 2]"]
MATRICES += ["[[1.0] * k for k in range(1, 3)]", "[x[:k] for k in range(1, 3)]"]

PARTS = ["y + y", "y * n", "y[0] + y[0]", "y[1] * n", "y[-1] + y[0]", "y[0] == y[1]"]
PARTS += ["y == y", "y[:1] + y", "[r + r for r in y][0]", "[r * 2 for r in y][1]", "-y"]
PARTS += ["y[0] * 2.0", "y * 2.0", "y @ x", "np.array(y) + x", "y[0] += y[1]", "y + x"]
PARTS += ["y += y", "y[0][:1] + y[1]", "sum(r[0] for r in y)", "y[0].append(1.0)"]
PARTS += [
    "[[w for w in r] for r in y][0] + y[0]",
    "y.append(y[0])",
    "y[1] + [1.0, 2.0]",
]
PARTS += ["next_of(y)", "(lambda v: v[0] + v[1])(y)", "y.copy()[0] + y[1]", "y ** 2"]
PARTS += [
    "[*y[0]] + y[1]",
    "[r for r in y][0] + y[0]",
    "list(y)[0] + y[0]",
    "len(y[0])",
]

HELPERS = """
def listed(v):
    return [w for w in v]
def appended(v):
    r = []
    for w in v:
        r.append(w)
    return r
def same(v):
    return v
def doubled(v):
    return v + v
def rows_of(v):
    r = []
    for w in v:
        r.append(v * w)
    return r
def lists_of(v):
    r = []
    for w in v:
        r.append([w, 1.0])
    return r
def next_of(m):
    for r in m:
        s = r + r
    return s
"""


def program(join: str, operation: str, first: str, second: str) -> Callable[..., Any]:
    """The function of a way to an operation; `A` and `B` are how values are made."""
    lines = [*HELPERS.strip().split("\n")]
    text = JOINS[join].replace("A", f"({first})").replace("B", f"({second})")
    lines += text.split("\n")
    if "append" in operation or any(f" {op}= " in operation for op in "+-*"):
        lines += [operation, "return y"]
    else:
        lines += [f"return {operation}"]
    whole = "def program(x, n, c):\n" + "".join(f"    {line}\n" for line in lines)
    name = f"<{abs(hash(whole)):x}>"
    linecache.cache[name] = (len(whole), None, whole.splitlines(True), name)
    space: dict[str, Any] = {"np": np, "cl": cl, "Held": Held, "functools": functools}
    exec(compile(whole, name, "exec"), space)
    made: Callable[..., Any] = space["program"]
    return made


ARGUMENTS = [
    (np.array([2.0, 3.0]), n, c) for n, c in itertools.product(range(3), (False, True))
]


def grid() -> list[tuple[str, str, str, str]]:
    """All programs: the ways, the operation, how the two values are made."""
    values = itertools.product(ARRAYS + LISTS, repeat=2)
    found = [
        (join, operation, *pair)
        for pair in values
        for join in JOINS
        for operation in OPERATIONS
    ]
    rows = itertools.product(JOINS, PARTS, MATRICES, MATRICES)
    return [*found, *rows]


def outcome(run: Callable[[], Any]) -> Any:
    """The value, or the class of the exception."""
    try:
        return run()
    except (CompileError, ProgramError):
        return CompileError
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        return type(error)


def disagreement(function: Callable[..., Any]) -> str:
    """How the function differs from plain Python, empty if it does not."""
    for x, n, c in ARGUMENTS:
        found = outcome(lambda x=x, n=n, c=c: interpret(function, x, n, c))
        if found is CompileError:
            return ""
        with np.errstate(all="ignore"):
            wanted = outcome(lambda x=x, n=n, c=c: function(x.copy(), n, c))
        if not _agree(found, wanted):
            return f"n={n}, c={c}: {found}, and not {wanted}"
    return ""


def _agree(found: Any, wanted: Any) -> bool:
    if isinstance(found, type) or isinstance(wanted, type):
        # What is a mistake in Python need not be found by the compiler at run time.
        return isinstance(found, type) and isinstance(wanted, type)
    if isinstance(wanted, list) and not isinstance(found, np.ndarray):
        return len(found) == len(wanted) and all(map(_agree, found, wanted))
    try:
        same_shape = np.shape(found) == np.shape(wanted)
    except ValueError:  # A list of lists of different sizes.
        return False
    return same_shape and bool(np.allclose(found, wanted, equal_nan=True))
