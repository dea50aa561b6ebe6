"""Objects of ordinary classes as arguments: the fields that a function uses, as read.

    class Model:                            m   →   Snapshot(k=2.0, rest=array([…]))
        def __init__(self, k, rest): …
        def energy(self, x): …              (of `name` and `__init__` nobody asks)

An object may change, so its fields are read once at the beginning of each call, and are
arguments from then on. Which ones is told by the names in the function, in those that
it calls and in the methods of the object: every attribute of such a name is read. What
is no data, as a string, is a part of the type.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from chadllvm.driver.prints import fingerprint
from chadllvm.driver.reach import digest_of_reach, is_library_module
from chadllvm.driver.values import type_of
from chadllvm.ir.dtypes import scalar_of
from chadllvm.ir.record import (
    ObjectNames,
    Snapshot,
    is_frozen_dataclass,
    is_record_of,
)
from chadllvm.support.forking import Lock

# Instances of these, and of their subclasses, are something else.
_NO_OBJECTS = (
    *(int, float, complex, str, bytes, tuple, list, dict, set, frozenset, type),
    *(np.ndarray, np.generic, np.dtype, Enum, BaseException, ModuleType),
    *(functools.partial, Snapshot),
)

# What is nothing but data, told without further questions.
_PLAIN = frozenset([float, int, bool, np.float64, type(None)])

# An object by what makes NumPy an array of it is an array.
_ARRAYS = ("__array__", "__array_interface__", "__dlpack__")

# Fields that are no data: code is made for what they are.
_STATIC = (str, bytes, Enum, type, FunctionType, BuiltinFunctionType, np.ufunc)

# Where a function has rules for its derivatives.
_RULES = "__chadllvm_rules__"

# More objects inside of objects than this there are only where these are in a circle.
_DEEPEST = 16


def is_object(value: Any) -> bool:
    """Whether a value is an object: of a user's class, and no data.

    A dataclass is a record, unless it holds what is no data.
    """
    kind: type = type(value)
    return _is_ordinary(kind) and not (
        dataclasses.is_dataclass(kind) and _holds_data(value)
    )


def _holds_data(value: Any) -> bool:
    """Whether a dataclass has its fields only, and they are arguments."""
    names = [field.name for field in dataclasses.fields(value)]
    return is_record_of(value, names) and all(
        _is_data(getattr(value, n)) for n in names
    )


@functools.lru_cache(maxsize=4096)
def _is_ordinary(kind: type) -> bool:
    is_python = bool(kind.__flags__ & (1 << 9))  # Made by a `class` statement.
    if not is_python or issubclass(kind, _NO_OBJECTS):
        return False
    if is_library_module(kind.__module__) or any(
        hasattr(kind, name) for name in _ARRAYS
    ):
        return False
    return not is_frozen_dataclass(kind)


class Reading:
    """How a function reads the objects among its arguments.

    `classes` are those of the objects that it has seen, whose methods it may call.
    """

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._classes: dict[type, _Attributes] = {}
        self._names: dict[object, ObjectNames] = {}
        self._lock = Lock()

    def __call__(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments, with what is read of objects in their places."""
        while True:
            known = self._classes
            read = [self.read(a) if is_object(a) else a for a in args]
            if known is self._classes:
                return tuple(read)

    def read(self, value: Any, depth: int = 0) -> Snapshot:
        """The fields of an object, each read once."""
        kind: type = type(value)
        if kind not in self._classes:
            self._learn(kind)
        fields: list[str] = []
        parts: list[Any] = []
        statics: list[tuple[str, Any, object]] = []
        unfit: list[tuple[str, str]] = []
        for name, found in self._classes[kind].of(value):
            is_plain = type(found) in _PLAIN
            part = found if is_plain else self._part(found, depth + 1)
            if part is not _MISSING:
                fields.append(name)
                parts.append(part)
            elif _is_static(found):
                statics.append((name, found, _key(found)))
            else:
                unfit.append((name, type(found).__name__))
        return Snapshot(self._interned(kind, fields, statics, unfit), parts)

    def _part(self, value: Any, depth: int) -> Any:
        """A field as an argument; missing if it cannot be one.

        A list of objects is a tuple: they may be of several classes.
        """
        if is_object(value):
            return self.read(value, depth) if depth < _DEEPEST else _MISSING
        is_several = type(value) in (tuple, list) and any(map(is_object, value))
        if not is_several:
            return value if _is_data(value) else _MISSING
        parts = [self._part(part, depth + 1) for part in value]
        return _MISSING if any(p is _MISSING for p in parts) else tuple(parts)

    def _interned(
        self,
        kind: type,
        fields: Sequence[str],
        statics: Sequence[tuple[str, Any, object]],
        unfit: Sequence[tuple[str, str]],
    ) -> ObjectNames:
        """The names of these fields, the same ones each time."""
        constants = tuple([(name, key) for name, _, key in statics])
        at = kind, (*fields,), constants, (*unfit,)
        names = self._names.get(at)
        if names is None:
            values = {name: value for name, value, _ in statics}
            names = ObjectNames(fields, kind, values, constants, unfit)
            self._names[at] = names
        return names

    def _learn(self, kind: type) -> None:
        """Find out which attributes are read of the instances of one more class.

        What those of other classes are asked for may be more than before.
        """
        with self._lock:
            classes = [*self._classes, kind]
            names = _names_used(self._function, classes)
            found = {k: _attributes(k, names) for k in classes}
            self._classes = found


_MISSING: Any = object()


@dataclasses.dataclass(frozen=True, slots=True)
class _Attributes:
    """Which attributes of a class's instances may be fields.

    `own` are those that an object has itself, `shared` those of its class and slots; of
    a class that has a `__getattribute__` it is asked for both (`is_asked`).
    """

    own: frozenset[str]
    shared: tuple[str, ...]
    is_asked: bool

    def of(self, value: Any) -> list[tuple[str, Any]]:
        """The fields that there are, by name."""
        held: dict[str, Any] = getattr(value, "__dict__", {})
        found = []
        for name in sorted(self.own & held.keys()):
            part = getattr(value, name, _MISSING) if self.is_asked else held[name]
            found.append((name, part))
        for name in self.shared:
            if name not in held:
                found.append((name, getattr(value, name, _MISSING)))
        return [(name, part) for name, part in found if part is not _MISSING]


def _attributes(kind: type, names: Iterable[str]) -> _Attributes:
    """The attributes of a class's instances with these names that are no methods."""
    own, shared = set(names), []
    for name in sorted(names):
        match inspect.getattr_static(kind, name, _MISSING):
            case property():
                own.remove(name)
            case found if found is _MISSING or _code_of(found) is not None:
                continue
            case found if _is_descriptor(found):
                own.remove(name)
            case _:
                shared.append(name)
    ask = inspect.getattr_static(kind, "__getattribute__")
    is_asked = ask is not object.__getattribute__
    return _Attributes(frozenset(own), tuple(shared), is_asked)


def _is_descriptor(value: Any) -> bool:
    """Whether an attribute of a class is something else in its instances, no slot."""
    is_slot = isinstance(value, MemberDescriptorType)
    return hasattr(type(value), "__get__") and not is_slot


def _is_data(value: Any) -> bool:
    """Whether a field is an argument of the machine code."""
    if isinstance(value, np.ndarray):
        return bool(value.dtype.names) or scalar_of(value.dtype) is not None
    if fingerprint(value) is not None:
        return True
    try:
        type_of(value, "", "")
    except TypeError:
        return False
    return True


def _is_static(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(
            v is None or isinstance(v, (int, float)) or _is_static(v) for v in value
        )
    return isinstance(value, _STATIC) or _compiled_from(value) is not None


def _key(value: Any) -> object:
    """What tells static fields apart; of a function, what it reaches as well."""
    if isinstance(value, FunctionType):
        return value, digest_of_reach(value)
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    return type(value), value


# ---- the names in a function


def _names_used(function: FunctionType, classes: Sequence[type]) -> set[str]:
    """All names in the code of a function and of all that it may call.

    Among these are the methods of `classes` of such names.
    """
    names: set[str] = set()
    seen: set[FunctionType] = set()
    holders: list[type | ModuleType] = [*classes]
    waiting = {function}
    while waiting:
        for at in waiting:
            names.update(_names_in(at.__code__))
        seen |= waiting
        found = [value for at in waiting for value in _outside(at)]
        holders += [v for v in found if _is_holder(v) and v not in holders]
        called = {f for value in found for f in _functions_of(value)}
        called |= {*_members(holders, names)}
        waiting = {
            f for f in called - seen if not is_library_module(f.__module__ or "")
        }
    return names


def _is_holder(value: Any) -> bool:
    """Whether the members of something may be called: a user's class, or a module."""
    if isinstance(value, ModuleType):
        return not is_library_module(value.__name__)
    return isinstance(value, type) and not is_library_module(value.__module__)


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)
        elif isinstance(constant, str):
            yield constant  # That of an annotation, or of `getattr`.


def _outside(function: FunctionType) -> Iterator[Any]:
    """What the names of a function stand for outside of it."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # The variable has no value yet.
            continue
    space = function.__globals__
    yield from [space[name] for name in _names_in(function.__code__) if name in space]
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()


def _functions_of(value: Any) -> list[FunctionType]:
    """The functions that a value is, or is made of."""
    code = _code_of(value)
    if code is None:
        return []
    rules = getattr(code, _RULES, None)
    more = [*(getattr(rules, "vjp", None) or ()), *(getattr(rules, "jvp", None) or ())]
    return [code, *(f for f in more if isinstance(f, FunctionType))]


def _code_of(value: Any) -> FunctionType | None:
    """The Python function below decorators and compilers, if there is one."""
    for _ in range(_DEEPEST):
        match value:
            case FunctionType():
                return value
            case staticmethod() | classmethod():
                value = value.__func__
            case property():
                value = value.fget
            case functools.cached_property():
                value = value.func
            case functools.partial():
                value = value.func
            case MethodType():
                value = value.__func__
            case _:
                value = _compiled_from(value)
    return None


def _compiled_from(value: Any) -> FunctionType | None:
    """The Python function that a compiled one is made from."""
    is_ours = type(value).__module__.partition(".")[0] == "chadllvm"
    found = getattr(value, "_function", None) if is_ours else None
    return found if isinstance(found, FunctionType) else None


def _members(
    holders: Iterable[type | ModuleType], names: Iterable[str]
) -> Iterator[FunctionType]:
    """The functions of these names in classes, in their bases, and in modules."""
    for holder in holders:
        spaces: Iterable[Mapping[str, Any]] = [vars(holder)]
        if isinstance(holder, type):
            spaces = [vars(base) for base in holder.__mro__ if base is not object]
        for space in spaces:
            for name in space.keys() & {*names, "__call__", *_OPERATORS}:
                yield from _functions_of(space[name])


# Methods that operators stand for have no name in the code.
_OPERATORS = [
    f"__{side}{name}__"
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
        *("neg", "pos", "abs", "len"),
    )
    for side in ("", "r", "i")
]


Read = Callable[[Sequence[Any]], tuple[Any, ...]]
