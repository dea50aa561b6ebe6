"""What a Python function refers to, as it is now: a twin that nothing changes any more.

A compiled function is made of its text and of the values that its names stand for.
These may be assigned again, and arrays may be written to; so the first use makes a twin
of the function, with globals and closure variables of its own, and all that is compiled
later, found on disk or pickled is made of the twin:

    SCALE = 3.0                       twin.__globals__ = {"SCALE": 3.0, "helper": twin}
    def f(x): return helper(x) * SCALE

Plain functions become twins of their own, as do the modules whose attributes are named;
arrays and what holds them are copied. A compiled function keeps what it froze itself.
Functions and modules of libraries are themselves, and so are classes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from chadllvm.driver.anatomy import Chain, anatomy, chains_in
from chadllvm.driver.reach import NOTES, PARTS, is_library_module, texts_in
from chadllvm.support.twins import FROZEN, ORIGINAL, original

# Names that functions have without asking.
_ALWAYS = ("__name__", "__builtins__", "__package__", "__file__")


class FrozenModule(ModuleType):
    """A module as it was; `frozen_names` are the attributes that functions name."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module.__name__)
        vars(self).update(vars(module))
        self.frozen_names: set[str] = set()

    def __reduce__(self) -> Any:
        from chadllvm.driver.portable import portable

        values = {name: vars(self)[name] for name in sorted(self.frozen_names)}
        plain = {n: portable(v) for n, v in values.items() if not _is_found(v)}
        return frozen_module, (self.__name__,), plain, None, None, _give


def frozen_module(name: str) -> FrozenModule:
    """A module of another process, to be given the attributes that it had there."""
    import importlib

    return FrozenModule(importlib.import_module(name))


def _give(module: FrozenModule, values: dict[str, Any]) -> None:
    vars(module).update(values)
    module.frozen_names.update(values)


def _is_found(value: Any) -> bool:
    """Whether something is left to the module, as are classes and libraries."""
    is_module = isinstance(value, ModuleType) and not isinstance(value, FrozenModule)
    is_ours = hasattr(value, FROZEN)
    return (
        is_module
        or isinstance(value, type)
        or (callable(value) and not is_ours and not isinstance(value, FunctionType))
    )


class Frozen:
    """The twin of a function; `compiled` are the compiled ones that it refers to."""

    def __init__(self, function: FunctionType) -> None:
        self.compiled: list[Any] = []
        self._found: dict[int, tuple[Any, Any]] = {}
        self._spaces: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self.function: FunctionType = self._function(function)

    def value(self, value: Any) -> Any:
        """The same value, as it is now."""
        if id(value) in self._found:
            return self._found[id(value)][1]
        match value:
            case FunctionType():
                is_known = is_library_module(value.__module__ or "")
                return value if is_known else self._function(value)
            case FrozenModule() | ModuleType():
                return self._module(value)
            case np.ndarray() if not value.dtype.hasobject:
                return self._note(value, value.copy())
            case _ if hasattr(type(value), FROZEN):
                self.compiled.append(value)
                return self._note(value, value)
            case list() | tuple() | dict() | set():
                return self._note(value, self._container(value))
            case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
                return self._note(value, self._record(value))
            case _:
                return value

    def _note(self, value: Any, made: Any) -> Any:
        self._found[id(value)] = value, made
        return made

    def _container(self, value: Any) -> Any:
        """A container of the values; one without any to copy is itself, if it can."""
        match value:
            case dict() if type(value) is dict:
                return {key: self.value(part) for key, part in value.items()}
            case list() if type(value) is list:
                return [self.value(part) for part in value]
            case set() if type(value) is set:
                return set(value)
            case tuple():
                parts = [self.value(part) for part in value]
                if all(a is b for a, b in zip(parts, value, strict=True)):
                    return value
                kind = type(value)
                return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
            case _:
                return value

    def _record(self, value: Any) -> Any:
        names = [field.name for field in dataclasses.fields(value)]
        if hasattr(type(value), PARTS) or not all(hasattr(value, n) for n in names):
            return value
        parts = {name: self.value(getattr(value, name)) for name in names}
        if all(parts[name] is getattr(value, name) for name in names):
            return value
        made = object.__new__(type(value))
        vars(made).update(getattr(value, "__dict__", {}))
        for name, part in parts.items():
            object.__setattr__(made, name, part)
        return made

    # ---- functions

    def _function(self, function: FunctionType) -> FunctionType:
        code = function.__code__
        space = self._space(function)
        cells = tuple([CellType() for _ in code.co_freevars])
        made = FunctionType(code, space, function.__name__, None, cells)
        self._note(function, made)
        made.__qualname__, made.__module__ = function.__qualname__, function.__module__
        made.__doc__ = function.__doc__
        made.__annotations__ = function.__annotations__
        vars(made)[ORIGINAL] = original(function)
        made.__defaults__ = self.value(function.__defaults__)
        made.__kwdefaults__ = self.value(function.__kwdefaults__)
        for name in vars(function).keys() & NOTES:
            note = vars(function)[name]
            is_rules = hasattr(type(note), "frozen")
            vars(made)[name] = note.frozen(self.value) if is_rules else note
        for new, old in zip(cells, function.__closure__ or (), strict=True):
            try:
                new.cell_contents = self.value(old.cell_contents)
            except ValueError:  # The variable has no value yet.
                continue
        self._fill(function, made)
        return made

    def _space(self, function: FunctionType) -> dict[str, Any]:
        """The globals of twins, which those of the same globals share."""
        old = function.__globals__
        if id(old) not in self._spaces:
            new = {name: old[name] for name in _ALWAYS if name in old}
            self._spaces[id(old)] = old, new
        return self._spaces[id(old)][1]

    def _fill(self, function: FunctionType, made: FunctionType) -> None:
        """Give a twin the globals that its function names."""
        old, new = function.__globals__, made.__globals__
        cells = made.__closure__ or ()
        closed = dict(zip(function.__code__.co_freevars, cells, strict=True))
        chains = _chains(function)
        for root, *_ in chains:
            if root in old and root not in new:
                new[root] = None  # It may be asked for meanwhile.
                new[root] = self.value(old[root])
        for root, *rest in chains:
            if root in closed:
                self._attributes(_content(closed[root]), rest)
            elif root in old:
                self._attributes(new[root], rest)

    def _module(self, module: ModuleType) -> ModuleType:
        if is_library_module(module.__name__):
            return module
        return self._note(module, FrozenModule(module))  # type: ignore[no-any-return]

    def _attributes(self, holder: Any, names: Iterable[str]) -> None:
        """Freeze what is named of a module."""
        for name in names:
            if not isinstance(holder, FrozenModule) or name not in vars(holder):
                return
            if name not in holder.frozen_names:
                holder.frozen_names.add(name)
                setattr(holder, name, self.value(getattr(holder, name)))
            holder = getattr(holder, name)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _chains(function: FunctionType) -> list[Chain]:
    """The names that a function, or its annotations, may look up."""
    found = anatomy(function)
    chains = list(_in_code(function.__code__)) if found is None else [*found.chains]
    for annotation in function.__annotations__.values():
        for text in texts_in(annotation):
            try:
                chains += chains_in(text)
            except SyntaxError:
                continue
    return chains


def _in_code(code: CodeType) -> Iterable[Chain]:
    """All names of a code, where its text cannot be told."""
    for name in code.co_names:
        yield (name,)
        yield from ((name, other) for other in code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _in_code(inner)
