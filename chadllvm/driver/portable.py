"""Python functions by value: pickled with their text, and with what they refer to.

Pickle writes a function as the name that finds it in its module. That does for modules
that everybody can import; a function of a notebook, of `exec` or inside of another one
is written as its code and its text, the values it has captured and those of the globals
that it names, among them functions like itself. Modules are written by their names;
classes are left to the pickler, so that theirs must be found by name, unless it is
cloudpickle.

The text is what compiled functions are made of. A function that is read again stands
where it stood: at the same lines of the same file, if that is not another one now.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import io
import linecache
import marshal
import os
import pickle
import sys
from collections.abc import Iterable, Mapping
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, Protocol
from weakref import WeakValueDictionary

from chadllvm.backend import kept
from chadllvm.driver.reach import digest_of_reach
from chadllvm.frontend.signature import closure_values
from chadllvm.frontend.source import TOLD, WRITTEN_FOR, read_source
from chadllvm.support.diagnostic import CompileError

# Modules that are other ones in other processes.
_OWN = ("__main__", "__mp_main__")

# Where a function keeps what stands for it in pickles: its twin is the same each time.
_KEPT = "_chadllvm_portable"


class Skeleton(NamedTuple):
    """A function without the values that it refers to.

    `magic` is that of the interpreter whose code it is; `lines` are those of `file`
    from `first` on.
    """

    magic: bytes
    code: bytes
    file: str
    first: int
    lines: tuple[str, ...]
    name: str
    qualname: str
    module: str | None


def is_found_by_name(value: Any, module: str | None, qualname: str) -> bool:
    """Whether other processes find an object by the name of its module, and its own."""
    found: Any = sys.modules.get(module or "")
    if module in _OWN or getattr(found, "__spec__", None) is None:
        return False
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found is value


def skeleton(function: FunctionType) -> Skeleton:
    """What a function is made of, but for the values it refers to.

    Raises:
        CompileError: if its text is not known.
    """
    source = read_source(function)
    return Skeleton(
        importlib.util.MAGIC_NUMBER,
        marshal.dumps(function.__code__),
        source.file,
        source.first_line,
        source.lines,
        function.__name__,
        function.__qualname__,
        function.__module__,
    )


def references(function: FunctionType) -> dict[str, Any]:
    """The values that a function refers to, so that they can be pickled."""
    names = _names(read_source(function).definition, function.__annotations__)
    globals_ = function.__globals__
    return {
        "globals": _wrapped({n: globals_[n] for n in names if n in globals_}),
        "closure": _wrapped(closure_values(function)),
        "defaults": function.__defaults__,
        "kwdefaults": function.__kwdefaults__,
        "annotations": function.__annotations__,
        "written_for": portable(getattr(function, WRITTEN_FOR, None)),
        "updates": getattr(function, TOLD, None),
    }


def _names(node: ast.AST, annotations: Mapping[str, Any]) -> set[str]:
    """All names in a definition, and in annotations that are texts."""
    nodes = [node]
    for annotation in annotations.values():
        if isinstance(annotation, str):
            nodes.append(ast.parse(annotation, mode="eval"))
    names: set[str] = set()
    for inner in _walked(nodes):
        if isinstance(inner, ast.Name):
            names.add(inner.id)
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            # A text may be an annotation inside of another one.
            names |= {inner.value} if inner.value.isidentifier() else set()
    return names


def _walked(nodes: Iterable[ast.AST]) -> Iterable[ast.AST]:
    for node in nodes:
        yield from ast.walk(node)


def _wrapped(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: portable(value) for name, value in values.items()}


def portable(value: Any) -> Any:
    """What can be pickled in the place of a value, and is read as that value."""
    if isinstance(value, ModuleType):
        is_frozen = "frozen_names" in vars(value)
        return value if is_frozen else _Module(value)
    if not isinstance(value, FunctionType):
        return value
    if is_found_by_name(value, value.__module__, value.__qualname__):
        return value
    twin = vars(value).get(_KEPT)
    if twin is None or twin.function is not value:
        twin = _Function(value)
        setattr(value, _KEPT, twin)
    return twin


class _Module:
    """A module, pickled as its name."""

    def __init__(self, module: ModuleType) -> None:
        self.name = module.__name__

    def __reduce__(self) -> Any:
        return importlib.import_module, (self.name,)


class _Function:
    """A plain function, pickled by value."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function

    def __reduce__(self) -> Any:
        values = references(self.function)
        return made, (skeleton(self.function),), values, None, None, fill


def made(parts: Skeleton) -> FunctionType:
    """The function of a skeleton; `fill` gives it the values it refers to.

    Raises:
        UnpicklingError: if it is the code of another version of Python.
    """
    if parts.magic != importlib.util.MAGIC_NUMBER:
        raise pickle.UnpicklingError(
            f"{parts.name} was pickled by another version of Python"
        )
    code: CodeType = marshal.loads(parts.code)
    file = _with_text(parts)
    if file != code.co_filename:
        code = _moved(code, file)
    space = {"__name__": parts.module, "__builtins__": __builtins__}
    cells = tuple([CellType() for _ in code.co_freevars])
    function = FunctionType(code, space, parts.name, None, cells)
    function.__qualname__, function.__module__ = parts.qualname, parts.module or ""
    return function


def fill(function: FunctionType, values: Mapping[str, Any]) -> None:
    """Give a function the values that it refers to."""
    function.__globals__.update(values["globals"])
    names = function.__code__.co_freevars
    for name, cell in zip(names, function.__closure__ or (), strict=True):
        if name in values["closure"]:
            cell.cell_contents = values["closure"][name]
    function.__defaults__ = values["defaults"]
    function.__kwdefaults__ = values["kwdefaults"]
    function.__annotations__ = values["annotations"]
    if values["written_for"] is not None:
        setattr(function, WRITTEN_FOR, values["written_for"])
    if values["updates"] is not None:
        setattr(function, TOLD, values["updates"])


def _with_text(parts: Skeleton) -> str:
    """Let the lines be found, in the file they come from or under another name."""
    first, end = parts.first - 1, parts.first - 1 + len(parts.lines)
    name = parts.file
    while True:
        linecache.checkcache(name)
        there = linecache.getlines(name)
        if tuple(there[first:end]) == parts.lines:
            return name
        pairs = zip(there[first:end], parts.lines, strict=False)
        # Other functions of the file may have been read before.
        fits = all(old in ("\n", new) for old, new in pairs)
        if not there or (_is_ours(name) and fits):
            break
        name = f"{name} (pickled)"
    lines = [*there, *["\n"] * (end - len(there))]
    lines[first:end] = parts.lines
    linecache.cache[name] = (sum(map(len, lines)), None, lines, name)
    return name


def _is_ours(name: str) -> bool:
    """Whether a text was not read from a file."""
    entry = linecache.cache.get(name)
    return entry is not None and len(entry) == 4 and entry[1] is None


def _moved(code: CodeType, file: str) -> CodeType:
    """The same code, of another file."""
    constants = tuple(
        [_moved(c, file) if isinstance(c, CodeType) else c for c in code.co_consts]
    )
    return code.replace(co_filename=file, co_consts=constants)


class Portable(Protocol):
    """A compiled function, as pickling needs it."""

    py_func: Any
    _is_used: bool
    _options: Any
    static_argnames: tuple[str, ...]
    received: dict[bytes, bytes]

    def __init__(self, function: Any, options: Any, statics: tuple[str, ...]) -> None:
        """Make it of a plain function."""

    def _rules_given(self) -> dict[str, tuple[Any, ...] | None]:
        """The functions that are rules of its own, if it has some."""

    def _take_rules(self, rules: Mapping[str, tuple[Any, ...] | None]) -> None:
        """Take over what `_rules_given` has."""

    @property
    def frozen_function(self) -> Any:
        """The plain function with the values that it is compiled with."""

    def _code(self) -> list[tuple[bytes, bytes]]:
        """The machine code that there is, by its keys."""


# The functions of this process that were pickled by value: here they stay themselves.
_ORIGINALS: WeakValueDictionary[tuple[int, str], Any] = WeakValueDictionary()


def reduced(function: Portable) -> Any:
    """How a compiled function is pickled: by its name if that finds it, or by value.

    Behind a name there may be other values elsewhere than those that it was compiled
    with; so these go along if it was.
    """
    plain = function.py_func
    if not is_found_by_name(function, plain.__module__, plain.__qualname__):
        return _by_value(function)
    if not function._is_used:
        return plain.__qualname__
    if "_carried" not in vars(function):
        vars(function)["_carried"] = _carried(function)
    return found, (plain.__module__, plain.__qualname__, *vars(function)["_carried"])


def _carried(function: Portable) -> tuple[bytes | None, bytes | None]:
    """What a function reaches, in few bytes, and itself by value, if it can be."""
    digest = digest_of_reach(function)
    if digest is None:
        return None, None
    file = io.BytesIO()
    try:
        _ByValue(file, 5).dump(function)
    except (pickle.PicklingError, CompileError, AttributeError, TypeError):
        return digest, None
    return digest, file.getvalue()


class _ByValue(pickle.Pickler):
    """Pickles compiled functions by value, even if a name finds them."""

    def reducer_override(self, value: Any) -> Any:
        is_ours = callable(getattr(value, "_rules_given", None))
        is_one = is_ours and not isinstance(value, type)
        return _by_value(value) if is_one else NotImplemented


def found(
    module: str, qualname: str, digest: bytes | None, content: bytes | None
) -> Any:
    """The function of a name, if it reaches what it did where it was compiled.

    Raises:
        UnpicklingError: if it does not, and is all that was pickled.
    """
    value: Any = importlib.import_module(module)
    for name in qualname.split("."):
        value = getattr(value, name)
    if digest is None or digest_of_reach(value) == digest:
        return value
    if content is None:
        raise pickle.UnpicklingError(
            f"{module}.{qualname} refers to other values here than where it was "
            "compiled and pickled"
        )
    return pickle.loads(content)


def _by_value(function: Portable) -> Any:
    token = vars(function).get("_token")
    if token is None or _ORIGINALS.get(token) is not function:
        token = os.getpid(), os.urandom(16).hex()
        vars(function)["_token"] = token
        _ORIGINALS[token] = function
    # What was compiled in, not what is there now.
    plain = function.frozen_function if function._is_used else function.py_func
    state = {
        "skeleton": skeleton(plain),
        "references": references(plain),
        "rules": function._rules_given(),
        "options": function._options,
        "statics": function.static_argnames,
        "code": function._code(),
    }
    return restored, (token, _class(function)), state, None, None, refill


def _class(function: Portable) -> type[Portable]:
    """The class of a function, which may have one of its own below it."""
    kinds = type(function).__mro__
    return next(k for k in kinds if is_found_by_name(k, k.__module__, k.__qualname__))


def restored(token: tuple[int, str], kind: type[Portable]) -> Portable:
    """The function itself in the process that it is of, elsewhere one to be filled."""
    if token[0] == os.getpid() and token in _ORIGINALS:
        found: Portable = _ORIGINALS[token]
        return found
    return kind.__new__(kind)


def refill(function: Portable, state: Mapping[str, Any]) -> None:
    """Make a compiled function what it was; one that is there already stays."""
    if "py_func" in vars(function):
        return
    plain = made(state["skeleton"])
    fill(plain, state["references"])
    function.__init__(plain, state["options"], state["statics"])  # type: ignore[misc]
    function._take_rules(state["rules"])
    function.received.update(state["code"])
    for key, content in state["code"]:
        kept.receive(key, content)
