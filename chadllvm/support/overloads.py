"""Which functions of the compiled language stand for functions of other packages.

    @overload("scipy.stats.norm.logpdf")
    @vectorize
    def logpdf(x, loc=0.0, scale=1.0): ...

A program that calls the one calls the other. A function of a package that need not be
there is given by its dotted name, which is looked up once that package is imported.

    @overload(np.einsum, choose=("subscripts",))
    def einsum(subscripts, *operands): ...

With `choose` the decorated function is called when a program is compiled, with the
values of the parameters that are named there and the types of the others, and returns
the function that is called with the others.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import Any, TypeVar

from chadllvm.support.twins import original

F = TypeVar("F", bound=Callable[..., Any])

# By this attribute a function that `vectorize` made gives the function of numbers.
SCALAR = "scalar_function"

# The modules of ours that bring overloads for a package: loaded where a program calls
# a function of it that is not known otherwise.
_PROVIDERS = {
    "builtins": ("chadllvm.prelude.lists", "chadllvm.prelude.debug"),
    "itertools": ("chadllvm.prelude.lists",),
    "_functools": ("chadllvm.prelude.lists",),
    "_operator": ("chadllvm.prelude.linear", "chadllvm.prelude.lists"),
    "_bisect": ("chadllvm.prelude.searching",),
    "math": ("chadllvm.prelude.arrays",),
    "chadllvm.frontend.places": ("chadllvm.prelude.ordering",),
    "numpy.linalg": (
        "chadllvm.prelude.factorisations",
        "chadllvm.prelude.linear",
        "chadllvm.prelude.products",
        "chadllvm.prelude.shaping",
    ),
    "numpy": (
        "chadllvm.prelude.arrays",
        "chadllvm.prelude.bessel",
        "chadllvm.prelude.grids",
        "chadllvm.prelude.nans",
        "chadllvm.prelude.products",
        "chadllvm.prelude.searching",
        "chadllvm.prelude.selecting",
        "chadllvm.prelude.shaping",
        "chadllvm.prelude.signals",
        "chadllvm.prelude.statistics",
        "chadllvm.prelude.ufuncs",
    ),
    "scipy.linalg": ("chadllvm.prelude.factorisations", "chadllvm.prelude.linear"),
    "scipy.special": (
        "chadllvm.prelude.special",
        "chadllvm.prelude.incomplete",
        "chadllvm.prelude.bessel",
        "chadllvm.prelude.elliptic",
    ),
    "scipy.stats": ("chadllvm.stats",),
}

# The packages whose plain functions programs call as they call compiled ones.
_packages = ["chadllvm.prelude", "chadllvm.stats"]

_functions: dict[Callable[..., Any], Any] = {}
_names: dict[str, Any] = {}
_tuples: dict[Any, frozenset[str]] = {}
_vectors: dict[Any, frozenset[str]] = {}
_sequences: dict[Any, frozenset[str]] = {}


class Namespace:
    """A class whose attributes are functions of programs, such as `stats.norm`."""


@dataclass(frozen=True)
class Chooser:
    """Chooses the function that is called, by constants and types of arguments."""

    function: Callable[..., Any]
    constants: tuple[str, ...]

    def _reached_parts(self) -> tuple[object, ...]:
        """What it means, for `driver/reach.py`."""
        return (self.function, self.constants)


def overload(
    target: Callable[..., Any] | str,
    *,
    choose: Sequence[str] | None = None,
    tuples: Sequence[str] | None = None,
    vectors: Sequence[str] = (),
    sequences: Sequence[str] = (),
) -> Callable[[F], F]:
    """Decorator: where a program calls `target`, it calls the decorated function.

    Args:
        target: a function of another package, or its dotted name, as in
            `"scipy.stats.norm.logpdf"`: then the package need not be imported. The last
            overload of a function counts.
        choose: the names of parameters whose arguments must be constants. The decorated
            function is then called when a program is compiled, with their values and
            the types of the other arguments (such as `cl.f64[:]`, which have a `rank`
            and an `elem`), and returns a function of the others, which programs call.
            A `ValueError` or `TypeError` that it raises is an error of the program.
        tuples: with it, tuples of numbers are arrays where they are arguments, as they
            are to NumPy, but for the parameters that it names and constants.
        vectors: the names of parameters whose arrays must have one axis; others are an
            error of the program. It needs `tuples`.
        sequences: the names of parameters that are run over. What is no value, such as
            `range(n)`, `zip(a, b)` or a generator, and sets are lists there.

    The decorated function is one that programs can call: compiled by `jit`, made by
    `vectorize`, or a plain Python function in the compiled language.

    Raises:
        TypeError: if `target` is neither a hashable function nor a name, or if what is
            decorated is not callable.
    """
    if not (isinstance(target, str) or (callable(target) and _is_hashable(target))):
        raise TypeError(f"expected a function or its name, not {target!r}")

    def enter(function: F) -> F:
        if not callable(function):
            raise TypeError(f"expected a function, not {function!r}")
        table: dict[Any, Any] = _names if isinstance(target, str) else _functions
        if target not in table or not is_provided(function):
            chosen = function if choose is None else Chooser(function, tuple(choose))
            table[target] = chosen
            _sequences[chosen] = frozenset(sequences)
            if tuples is not None:
                _tuples[chosen] = frozenset(tuples)
                _vectors[chosen] = frozenset(vectors)
        _named.cache_clear()
        _owners.cache_clear()
        return function

    return enter


def newer(name: str) -> Any:
    """A function of a package that is there, by its dotted name; the name where this
    version of the package has no such function."""
    *owners, last = name.split(".")
    return getattr(import_module(".".join(owners)), last, name)


def compile_package(name: str) -> None:
    """Let programs call the plain Python functions of a package or a module.

    They are compiled where they are called, for the types of the arguments, as those of
    the caller's own module are.

    Args:
        name: as in `"models"` or `"models.priors"`; all that is in it is meant.
    """
    if name not in _packages:
        _packages.append(name)


def is_compiled_with(caller: Any, function: Any) -> bool:
    """Whether a plain function is one that programs in another one may call."""
    module = function.__module__ or ""
    if module == caller.__module__:
        return True
    return any(f"{module}.".startswith(f"{name}.") for name in _packages)


def overloaded(value: Any, *, provided: bool = True) -> Any:
    """What stands for a function of another package; None if nothing does.

    With `provided` that may be of ours, which are loaded then; else it is a user's.
    """
    if isinstance(value, FunctionType):
        value = original(value)
    if not (callable(value) and _is_hashable(value)):
        return None
    if value in _functions and not (is_provided(_functions[value]) and not provided):
        return _functions[value]
    if provided:
        _provide(value)
    found = _functions.get(value) or _named(_imported())[0].get(value)
    return found if provided or not is_provided(found) else None


def provided() -> dict[Any, Any]:
    """Our functions by those that they stand for, all of them loaded."""
    for provider in {name for names in _PROVIDERS.values() for name in names}:
        import_module(provider)
    every: dict[Any, Any] = dict(_functions)
    every.update(_names)
    return {target: f for target, f in every.items() if is_provided(f)}


def _provide(value: Any) -> None:
    """Load what we have for the package that an object is of, if it is known."""
    module = getattr(value, "__module__", None)
    for package, providers in _PROVIDERS.items():
        is_of_it = module is None or f"{module}.".startswith(f"{package}.")
        for provider in providers if is_of_it and package in sys.modules else ():
            import_module(provider)


def tuples_of(function: Any) -> frozenset[str] | None:
    """The parameters whose tuples stay so, if others become arrays."""
    return _tuples.get(function)


def vectors_of(function: Any) -> frozenset[str]:
    """The parameters that take arrays of one axis only."""
    return _vectors.get(function, frozenset())


def sequences_of(function: Any) -> frozenset[str]:
    """The parameters that are run over, whatever iterator is given for them."""
    return _sequences.get(function, frozenset())


def parameters_of(function: Any) -> dict[str, inspect.Parameter]:
    """The parameters of an overload."""
    if isinstance(function, Chooser):
        function = function.function
    written = getattr(function, SCALAR, getattr(function, "py_func", function))
    return dict(inspect.signature(written).parameters)


def is_provided(function: Any) -> bool:
    """Whether a function is of our library."""
    named = function.function if isinstance(function, Chooser) else function
    return (getattr(named, "__module__", None) or "").startswith("chadllvm.")


def is_namespace(value: Any) -> bool:
    """Whether an object only leads to functions, as `scipy.stats.norm` does."""
    if isinstance(value, type):
        return issubclass(value, Namespace)
    package = type(value).__module__.partition(".")[0]
    if package not in _roots() or not _is_hashable(value):
        return False
    _provide(value)
    return value in _named(_imported())[1]


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _roots() -> set[str]:
    return {name.partition(".")[0] for name in (*_PROVIDERS, *_names)}


def _imported() -> tuple[str, ...]:
    """The modules on the way to overloaded functions that somebody has imported."""
    return tuple(owner for owner in _owners() if owner in sys.modules)


@cache
def _owners() -> tuple[str, ...]:
    """All that stands before a dot in the names, shorter ones first."""
    owners = {name[:k] for name in _names for k, c in enumerate(name) if c == "."}
    return tuple(sorted(owners, key=len))


@cache
def _named(imported: tuple[str, ...]) -> tuple[dict[Any, Any], set[Any]]:
    """The functions with these modules' names, and the objects that lead to them."""
    functions: dict[Any, Any] = {}
    leading: set[Any] = set()
    for name, function in _names.items():
        module = next((m for m in reversed(imported) if name.startswith(f"{m}.")), "")
        if not module:
            continue
        way: list[Any] = [sys.modules[module]]
        for attribute in name[len(module) + 1 :].split("."):
            way.append(getattr(way[-1], attribute, None))
        functions[way[-1]] = function
        leading.update(way[1:-1])
    functions.pop(None, None)
    return functions, leading
