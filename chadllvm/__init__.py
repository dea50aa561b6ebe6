"""Gradients of ordinary typed Python functions at native speed.

    import chadllvm as cl

    @cl.jit
    def f(x: cl.f64[:]) -> float:
        return sum(x[i] ** 2 for i in range(len(x)))

    cl.grad(f)(x)

The tour, in the order a program takes (`driver/pipeline.py`): `frontend` reads the
function's syntax tree and types it, giving a program of the core language
(`ir/term.py`); `simplify` makes it plain; `chad` turns it into the program of its
derivative (Smeding and Vákár, "Efficient CHAD", POPL 2024); `closure` turns the
backpropagators into what they capture; `lower` makes loops over buffers (`ir/loops.py`)
of it; `llvm` makes machine code of these, which `backend` calls, or makes a C library
of (`aot`). What an operation means at each stage stands in `ops/`, one entry each.
"""

from importlib import import_module
from time import time_ns
from typing import TYPE_CHECKING, Any

from chadllvm._version import __version__
from chadllvm.api.threads import load_openmp
from chadllvm.support.forking import Busy

if TYPE_CHECKING:
    from chadllvm.api.checking import check_grads
    from chadllvm.api.compiled import Compiled, Derivative, Function
    from chadllvm.api.custom import CustomFunction, custom_jvp, custom_vjp
    from chadllvm.api.exporting import export, load
    from chadllvm.api.jacobian import hessian, hvp, jacfwd, jacrev, linearize
    from chadllvm.api.reverse import vjp
    from chadllvm.api.tangents import jvp
    from chadllvm.api.threads import get_num_threads, set_num_threads
    from chadllvm.api.transforms import grad, jit, value_and_grad
    from chadllvm.api.vectorized import vectorize
    from chadllvm.for_checkers import boolean, f32, f64, i64
    from chadllvm.interop import dask as _dask
    from chadllvm.prelude import debug as _debug
    from chadllvm.prelude.flat import ravel
    from chadllvm.support.diagnostic import CompileError
    from chadllvm.support.library import build, fold, stop_gradient
    from chadllvm.support.options import CompileOptions
    from chadllvm.support.overloads import compile_package, overload
    from chadllvm.support.told import log_compiles
    from chadllvm.support.watch import debug_nans

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
    "CompileError": "support.diagnostic",
    "CompileOptions": "support.options",
    "Compiled": "api.compiled",
    "CustomFunction": "api.custom",
    "Derivative": "api.compiled",
    "Function": "api.compiled",
    "boolean": "ir.annotation",
    "build": "support.library",
    "check_grads": "api.checking",
    "compile_package": "support.overloads",
    "custom_jvp": "api.custom",
    "custom_vjp": "api.custom",
    "debug_nans": "support.watch",
    "export": "api.exporting",
    "f32": "ir.annotation",
    "f64": "ir.annotation",
    "fold": "support.library",
    "get_num_threads": "api.threads",
    "grad": "api.transforms",
    "hessian": "api.jacobian",
    "hvp": "api.jacobian",
    "i64": "ir.annotation",
    "jacfwd": "api.jacobian",
    "jacrev": "api.jacobian",
    "jit": "api.transforms",
    "jvp": "api.tangents",
    "linearize": "api.jacobian",
    "load": "api.exporting",
    "log_compiles": "support.told",
    "overload": "support.overloads",
    "ravel": "prelude.flat",
    "set_num_threads": "api.threads",
    "stop_gradient": "support.library",
    "value_and_grad": "api.transforms",
    "vectorize": "api.vectorized",
    "vjp": "api.reverse",
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
