"""Gradients of ordinary typed Python functions at native speed.

    import chadllvm as cl

    @cl.jit
    def f(x: cl.f64[:]) -> float:
        return sum(x[i] ** 2 for i in range(len(x)))

    cl.grad(f)(x)

The tour, in the order a program takes (`pipeline.py`): `frontend` reads the function's
syntax tree and types it, giving a program of the core language (`ir/term.py`);
`simplify` makes it plain; `chad` turns it into the program of its derivative (Smeding
and Vákár, "Efficient CHAD", POPL 2024); `closure` turns the backpropagators into what
they capture; `lower` makes loops over buffers (`ir/loops.py`) of it; `llvm` makes
machine code of these, which `backend` calls, or makes a C library of (`aot`). What an
operation means at each stage stands in `ops/`, one entry each.
"""

from importlib import import_module
from time import time_ns
from typing import TYPE_CHECKING, Any

from chadllvm._version import __version__
from chadllvm.forking import Busy
from chadllvm.threads import load_openmp

if TYPE_CHECKING:
    from chadllvm.api import grad, jit, value_and_grad
    from chadllvm.checking import check_grads
    from chadllvm.compiled import Compiled, Derivative, Function
    from chadllvm.custom import CustomFunction, custom_jvp, custom_vjp
    from chadllvm.diagnostic import CompileError
    from chadllvm.exporting import export, load
    from chadllvm.for_checkers import boolean, f32, f64, i64
    from chadllvm.interop import dask as _dask
    from chadllvm.jacobian import hessian, hvp, jacfwd, jacrev, linearize
    from chadllvm.library import build, fold, stop_gradient
    from chadllvm.options import CompileOptions
    from chadllvm.overloads import compile_package, overload
    from chadllvm.prelude import debug as _debug
    from chadllvm.prelude.flat import ravel
    from chadllvm.reverse import vjp
    from chadllvm.tangents import jvp
    from chadllvm.threads import get_num_threads, set_num_threads
    from chadllvm.told import log_compiles
    from chadllvm.vectorized import vectorize
    from chadllvm.watch import debug_nans

    debug, distributed = _debug, _dask

__all__ = [
    "CompileError",
    "CompileOptions",
    "Compiled",
    "CustomFunction",
    "Derivative",
    "Function",
    "__version__",
    "boolean",
    "build",
    "check_grads",
    "compile_package",
    "custom_jvp",
    "custom_vjp",
    "debug_nans",
    "export",
    "f32",
    "f64",
    "fold",
    "get_num_threads",
    "grad",
    "hessian",
    "hvp",
    "i64",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "linearize",
    "load",
    "log_compiles",
    "overload",
    "ravel",
    "set_num_threads",
    "stop_gradient",
    "value_and_grad",
    "vectorize",
    "vjp",
]

# Files that are newer were not there yet (`backend/host.py`).
STARTED = time_ns()

# Where each name is from: a module is imported when something of it is asked for, for a
# function whose code is kept already (`docs/cache.md`) needs but a few of them.
_HOMES = {
    "CompileError": "diagnostic",
    "CompileOptions": "options",
    "Compiled": "compiled",
    "CustomFunction": "custom",
    "Derivative": "compiled",
    "Function": "compiled",
    "boolean": "ir.annotation",
    "build": "library",
    "check_grads": "checking",
    "compile_package": "overloads",
    "custom_jvp": "custom",
    "custom_vjp": "custom",
    "debug_nans": "watch",
    "export": "exporting",
    "f32": "ir.annotation",
    "f64": "ir.annotation",
    "fold": "library",
    "get_num_threads": "threads",
    "grad": "api",
    "hessian": "jacobian",
    "hvp": "jacobian",
    "i64": "ir.annotation",
    "jacfwd": "jacobian",
    "jacrev": "jacobian",
    "jit": "api",
    "jvp": "tangents",
    "linearize": "jacobian",
    "load": "exporting",
    "log_compiles": "told",
    "overload": "overloads",
    "ravel": "prelude.flat",
    "set_num_threads": "threads",
    "stop_gradient": "library",
    "value_and_grad": "api",
    "vectorize": "vectorized",
    "vjp": "reverse",
}

# Modules under names that say what they are for.
_MODULES = {"debug": "prelude.debug", "distributed": "interop.dask"}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name) or _MODULES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with Busy():
        module = import_module(f"chadllvm.{home}")
    value = module if name in _MODULES else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


load_openmp()
