"""All that a Python function can reach, in few bytes: the same for what means the same.

What a function is compiled to depends on its text, on the values that its names stand
for, on the texts of the functions among these, and so on. All of that is written down
here without a compiler, so that a process may know that it would compile what was
compiled before (`ready.py`). Lines are those of the function, wherever it stands.

Whatever else a name may stand for makes the function `Unknown`: nothing is supposed of
it. Functions and classes of libraries are their names, for their versions are a part of
every key; modules are their names, and what is asked of them is looked up.
"""

from __future__ import annotations

import builtins
import dataclasses
import os
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from chadllvm.backend.hashing import digest_of
from chadllvm.driver.anatomy import Chain, anatomy, chains_in
from chadllvm.support.overloads import overloaded

# By this attribute an object of ours says what it is made of.
PARTS = "_reached_parts"

# Where functions keep what changes their meaning: that they are rules, or have some,
# or were written for others.
NOTES = {
    *("__chadllvm_rules__", "__chadllvm_gradient__", "__chadllvm_derivative__"),
    *("_chadllvm_written_for", "_chadllvm_updates", "py_func", "static_argnames"),
}

# What knows its version, which is a part of every key; SciPy says its own.
_LIBRARIES = frozenset(["chadllvm", "numpy", "llvmlite"])

_BUILTIN = (
    *(types.BuiltinFunctionType, types.MethodDescriptorType),
    *(types.WrapperDescriptorType, types.GetSetDescriptorType, np.ufunc),
)

_STANDARD = os.path.dirname(os.__file__) + os.sep

# More levels than this have only data that contain themselves, nearly.
_DEEPEST = 60

# What says nothing of a class that its other members do not say.
_NOISE = frozenset(
    [
        *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__"),
        *("__firstlineno__", "__static_attributes__", "__annotations__"),
        *("__annotate__", "__annotate_func__", "__annotations_cache__"),
        *("__abstractmethods__", "_abc_impl", "__orig_bases__", "__parameters__"),
        *("__dataclass_fields__", "__dataclass_params__", "__match_args__"),
        *("_fields", "_field_defaults", "__slots__", "__replace__"),
        *("__getnewargs__", "_make", "_replace", "_asdict", "__hash__"),
    ]
)


class Unknown(Exception):
    """Something that is not told; says what."""


class Place(NamedTuple):
    """Where a function's lines are: those of `file` from `first` to `end`."""

    file: str
    first: int
    end: int


class Reach:
    """What some objects reach: a digest, and what it was found by.

    `places` are those of the functions, and `classes` the user's classes, in the order
    in which they are come to, which is the same for the same digest.

    Raises:
        Unknown: if there is something among it that is not told.
    """

    def __init__(self, *roots: Any) -> None:
        self.places: list[Place] = []
        self.classes: list[type] = []
        self._words: list[str] = []
        self._seen: dict[int, tuple[int, Any]] = {}
        self._depth = 0
        for root in roots:
            self._add(root)
        text = "\0".join(self._words).encode(errors="surrogatepass")
        self.digest = digest_of(text)

    def _say(self, *words: object) -> None:
        self._words += map(str, words)

    def _is_new(self, value: Any) -> bool:
        """Note what is told apart by identity; it is written once, and then named."""
        if id(value) in self._seen:
            self._say("the", self._seen[id(value)][0])
            return False
        self._say("new", len(self._seen))
        self._seen[id(value)] = len(self._seen), value
        return True

    def _add(self, value: Any) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unknown("very deep data")
        kind = type(value)
        write = _WRITERS.get(kind) or _family(kind)
        write = write or Reach._named
        write(self, value)
        self._depth -= 1

    def _all(self, values: Iterable[Any]) -> None:
        self._say("(")
        for value in values:
            self._add(value)
        self._say(")")

    # ---- data

    def _scalar(self, value: Any) -> None:
        self._say(type(value).__name__, repr(value))

    def _float(self, value: float) -> None:
        self._say("float", value.hex())

    def _sequence(self, value: Any) -> None:
        self._say(type(value).__name__)
        self._all(value)

    def _dict(self, value: Mapping[Any, Any]) -> None:
        self._say("dict")
        for key, part in value.items():
            self._all((key, part))

    def _set(self, value: Any) -> None:
        if not all(type(part) in (int, str) for part in value):
            raise Unknown("a set of objects")
        self._say(type(value).__name__)
        self._all(sorted(value, key=repr))

    def _array(self, value: np.ndarray) -> None:
        if value.dtype.hasobject:
            raise Unknown("an array of objects")
        self._say("array", value.dtype.descr, value.shape)
        self._say(digest_of(np.ascontiguousarray(value).tobytes()).hex())

    def _number(self, value: np.generic) -> None:
        if value.dtype.hasobject:
            raise Unknown("an object")
        self._say("number", value.dtype.descr, value.tobytes().hex())

    def _dtype(self, value: np.dtype) -> None:
        self._say("dtype", value.descr, value.isnative)

    def _record(self, value: Any) -> None:
        self._class(type(value))
        self._all(value)

    def _dataclass(self, value: Any) -> None:
        kind = type(value)
        if _is_ours(kind):
            self._say(kind.__qualname__)
        else:
            self._class(kind)
        self._all(getattr(value, f.name) for f in dataclasses.fields(value))

    def _member(self, value: Enum) -> None:
        self._class(type(value))
        self._say(value.name)

    # ---- libraries

    def _module(self, value: ModuleType) -> None:
        # One that is frozen (`frozen.py`) is what the module was.
        is_found = sys.modules.get(value.__name__) is value
        if not (is_found or "frozen_names" in vars(value)):
            raise Unknown(f"the module {value.__name__}")
        self._say("module", value.__name__)

    def _named(self, value: Any) -> None:
        """What may be anything, such as a function that NumPy dispatches."""
        module, name = getattr(value, "__module__", ""), getattr(value, "__name__", "")
        if not is_library_module(str(module)):
            raise Unknown(f"a {type(value).__qualname__}")
        self._library(value, module, str(name))

    def _library(self, value: Any, module: str, name: str) -> None:
        """What is found by its name in a library."""
        if not _is_found(value, module, name):
            raise Unknown(f"{module}.{name}")
        self._say("library", module, name, _version(module))
        self._overload(value)

    def _builtin(self, value: Any) -> None:
        owner = getattr(value, "__objclass__", None)
        if owner is not None:
            self._add(owner)
            self._say(value.__name__)
        elif isinstance(value, np.ufunc):
            modules = ("numpy", "scipy.special")
            found = [m for m in modules if _is_found(value, m, value.__name__)]
            self._library(value, (*found, "")[0], value.__name__)
        else:
            self._library(value, value.__module__ or "builtins", value.__qualname__)

    # ---- functions

    def _function(self, value: FunctionType) -> None:
        if not self._is_new(value):
            return
        module = value.__module__ or ""
        if is_library_module(module) and _is_found(value, module, value.__qualname__):
            self._library(value, module, value.__qualname__)
            return
        found = anatomy(value)
        if found is None:
            raise Unknown(f"the text of {value.__qualname__}")
        code = value.__code__
        end = found.first + len(found.lines)
        self.places.append(Place(code.co_filename, found.first, end))
        self._say("function", value.__name__, value.__qualname__, *found.lines)
        if value.__name__ == "<lambda>":
            self._say(code.co_varnames, code.co_firstlineno, *code.co_positions())
        self._all((value.__defaults__, value.__kwdefaults__))
        captured = _captured(value)
        self._dict(captured)
        layers = captured, value.__globals__, vars(builtins)
        self._names(found.chains, layers)
        self._annotations(value.__annotations__, layers)
        for note in sorted(vars(value).keys() & NOTES):
            if vars(value)[note] is not value:
                self._say(note)
                self._add(vars(value)[note])

    def _names(
        self, chains: Iterable[Chain], layers: Iterable[Mapping[str, Any]]
    ) -> None:
        """What names stand for: by way of modules their attributes."""
        for root, *rest in chains:
            self._say("name", root, *rest)
            holder = next((layer for layer in layers if root in layer), None)
            if holder is None:
                self._say("nothing")
                continue
            value = holder[root]
            while rest and isinstance(value, ModuleType):
                self._module(value)
                if _top(value.__name__) == "chadllvm":
                    break  # To look for it would load it.
                attribute = rest.pop(0)
                if not hasattr(value, attribute):
                    self._say("nothing")
                    break
                module, value = value.__name__, getattr(value, attribute)
                if _is_object_of(module, value):
                    self._library_object(module, attribute, rest, value)
                    break
            else:
                self._add(value)

    def _library_object(
        self, module: str, name: str, rest: Sequence[str], value: Any
    ) -> None:
        """An object that a library holds, and an attribute of it."""
        self._say("object", module, name, *rest, _version(module))
        for attribute in rest:
            value = getattr(value, attribute, None)
        self._overload(value)

    def _overload(self, value: Any) -> None:
        """What a program calls in the place of a library's function."""
        other = overloaded(value, provided=False)
        if other is not None:
            self._say("overload")
            self._add(other)

    def _annotations(
        self, annotations: Mapping[str, Any], layers: Iterable[Mapping[str, Any]]
    ) -> None:
        """Annotations, with what names mean in those that are texts."""
        for name, value in annotations.items():
            self._say(name)
            self._add(value)
            for text in texts_in(value):
                try:
                    self._names(chains_in(text), layers)
                except SyntaxError:
                    raise Unknown(f"the annotation {text}") from None

    def _code(self, code: CodeType) -> None:
        """A code that nobody has written."""
        self._say("code", code.co_name, code.co_varnames, code.co_names)
        self._say(code.co_code.hex(), code.co_freevars, code.co_flags)
        self._all(code.co_consts)

    def _made_of(self, value: Any) -> None:
        """An object of ours, by what it is made of."""
        if self._is_new(value):
            self._say(type(value).__name__)
            self._all(getattr(value, PARTS)())

    # ---- classes

    def _class(self, value: type) -> None:
        if not self._is_new(value):
            return
        if is_library_module(value.__module__):
            self._library(value, value.__module__, value.__qualname__)
            return
        self.classes.append(value)
        self._say("class", value.__module__, value.__qualname__)
        for base in value.__mro__[1:]:
            self._add(base)
        self._annotations(_own_annotations(value), _spaces(value))
        params = getattr(value, "__dataclass_params__", None)
        self._say(repr(params), vars(value).get("__match_args__"))
        self._say(vars(value).get("_fields"), vars(value).get("__slots__"))
        for keys in ("__optional_keys__", "__required_keys__"):
            self._say(sorted(vars(value).get(keys, ())))
        self._add(vars(value).get("_field_defaults"))
        if dataclasses.is_dataclass(value):
            for field in dataclasses.fields(value):
                self._say(field.name, field.init, field.kw_only)
                self._default(field.default)
        if issubclass(value, Enum):
            self._enumeration(value)
            return
        for name, part in vars(value).items():
            if name not in _NOISE:
                self._say(name)
                self._part(part)

    def _default(self, value: Any) -> None:
        if value is dataclasses.MISSING:
            self._say("none")
        else:
            self._add(value)

    def _enumeration(self, value: type[Enum]) -> None:
        for member in value:
            self._say(member.name)
            self._add(member.value)
            held = {n: v for n, v in vars(member).items() if not n.startswith("_")}
            self._dict(held)
        for name, part in vars(value).items():
            if not name.startswith("_") and not isinstance(part, Enum):
                self._say(name)
                self._part(part)

    def _part(self, value: Any) -> None:
        """A member of a class, as it stands there."""
        match value:
            case staticmethod() | classmethod():
                self._say(type(value).__name__)
                self._part(value.__func__)
            case property():
                self._say("property")
                self._part(value.fget)
            case cached_property():
                self._say("property")
                self._part(value.func)
            case FunctionType() if _is_generated(value.__code__.co_filename):
                self._code(value.__code__)
            case types.MemberDescriptorType():
                self._say("slot", value.__name__)
            case _ if type(value).__name__ == "_tuplegetter":
                self._say("field", repr(value))
            case _:
                self._add(value)

    def _generic(self, value: Any) -> None:
        """An annotation that is made of others, such as `list[f64]`."""
        self._say(type(value).__name__)
        self._add(typing.get_origin(value))
        self._all(typing.get_args(value))

    def _alias(self, value: Any) -> None:
        self._say("alias", value.__name__)
        self._add(value.__value__)

    def _text(self, value: typing.ForwardRef) -> None:
        self._say("text", value.__forward_arg__)

    def _special(self, value: Any) -> None:
        self._say("typing", repr(value))


def digest_of_reach(*roots: Any) -> bytes | None:
    """The digest of what some objects reach; None if it is not told."""
    try:
        return Reach(*roots).digest
    except (Unknown, RecursionError):
        return None


def is_users(function: FunctionType) -> bool:
    """Whether a function is of no library, and nothing was noted of it."""
    is_known = is_library_module(function.__module__ or "")
    return not (is_known or vars(function).keys() & NOTES)


def _captured(function: FunctionType) -> dict[str, Any]:
    """The closed-over variables that have a value."""
    values = {}
    names = function.__code__.co_freevars
    for name, cell in zip(names, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # The variable has no value yet.
            continue
    return values


def texts_in(annotation: Any) -> Iterable[str]:
    """The texts in an annotation, which names are looked up in."""
    if isinstance(annotation, str):
        yield annotation
    elif isinstance(annotation, typing.ForwardRef):
        yield annotation.__forward_arg__
    elif dataclasses.is_dataclass(annotation) and _is_ours(type(annotation)):
        for part in getattr(annotation, "options", ()):
            yield from texts_in(part)
    else:
        for part in typing.get_args(annotation):
            yield from texts_in(part)


def _own_annotations(python: type) -> dict[str, Any]:
    from inspect import get_annotations

    return get_annotations(python)


def _spaces(python: type) -> list[Mapping[str, Any]]:
    """Where the names in a class's annotations are looked up, in this order."""
    module = sys.modules.get(python.__module__)
    spaces: list[Mapping[str, Any]] = [vars(python)]
    if module is not None:
        spaces.append(vars(module))
    else:
        methods = (v for v in vars(python).values() if isinstance(v, FunctionType))
        spaces += [method.__globals__ for method in methods]
    return [*spaces, {python.__name__: python}, vars(typing), vars(builtins)]


def _top(module: str) -> str:
    return module.partition(".")[0]


def is_library_module(module: str) -> bool:
    """Whether a module is of a library that knows its version."""
    top = _top(module)
    if top in _LIBRARIES or top == "scipy":
        return True
    # Users may have modules of the same names.
    found = sys.modules.get(module)
    if found is None or top not in sys.stdlib_module_names:
        return False
    origin = getattr(getattr(found, "__spec__", None), "origin", None) or ""
    return origin in ("built-in", "frozen") or _is_standard(origin)


def _is_standard(file: str) -> bool:
    """Whether a file is of Python's own library."""
    return file.startswith(_STANDARD) and "-packages" not in file


def _is_generated(file: str) -> bool:
    """Whether code is not the user's: `dataclass` and `NamedTuple` write methods."""
    return file.startswith("<string>") or _is_standard(file)


def _is_found(value: Any, module: str, name: str) -> bool:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value


def _version(module: str) -> str:
    """That of a library which is not a part of every key."""
    top = _top(module)
    found = "" if top in _LIBRARIES else getattr(sys.modules[top], "__version__", "")
    return str(found)


def _is_object_of(module: str, value: Any) -> bool:
    """Whether a library's module holds an object of one of its own classes."""
    kind = type(value)
    is_own = _top(kind.__module__) == _top(module) and is_library_module(module)
    return is_own and kind not in _WRITERS and _family(kind) is None


def _is_ours(kind: type) -> bool:
    return _top(kind.__module__) == "chadllvm"


def _family(kind: type) -> Callable[[Reach, Any], None] | None:
    """What writes the instances of a class that has no entry of its own."""
    if hasattr(kind, PARTS):
        return Reach._made_of
    if issubclass(kind, Enum):
        return Reach._member
    if issubclass(kind, ModuleType):
        return Reach._module
    if issubclass(kind, type):
        return Reach._class
    if issubclass(kind, np.generic):
        return Reach._number
    if issubclass(kind, np.dtype):
        return Reach._dtype
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return Reach._record
    if dataclasses.is_dataclass(kind):
        return Reach._dataclass
    if issubclass(kind, _BUILTIN):
        return Reach._builtin
    if issubclass(kind, types.GenericAlias):
        return Reach._generic
    if kind.__module__ in ("typing", "types"):
        return _annotation_writer(kind)
    return None


def _annotation_writer(kind: type) -> Callable[[Reach, Any], None] | None:
    if kind.__name__ == "TypeAliasType":
        return Reach._alias
    if kind.__name__ == "ForwardRef":
        return Reach._text
    if kind.__name__ in ("_SpecialForm", "_AnyMeta", "TypeVar", "ParamSpec"):
        return Reach._special
    is_generic = "Alias" in kind.__name__ or kind.__name__ in ("UnionType", "Union")
    return Reach._generic if is_generic else None


_WRITERS: dict[type, Callable[[Reach, Any], None]] = {
    **dict.fromkeys((bool, int, str, bytes, complex, slice), Reach._scalar),
    **dict.fromkeys((type(None), type(...), type(NotImplemented)), Reach._scalar),
    **dict.fromkeys((tuple, list), Reach._sequence),
    **dict.fromkeys((set, frozenset), Reach._set),
    **dict.fromkeys((dict, types.MappingProxyType), Reach._dict),
    float: Reach._float,
    np.ndarray: Reach._array,
    ModuleType: Reach._module,
    FunctionType: Reach._function,
    CodeType: Reach._code,
}
