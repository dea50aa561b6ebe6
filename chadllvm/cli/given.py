"""The arguments of the user's function, from the words of a command.

2.5   [1, 2]   x=[1, 2]        JSON, by position or by name
x=data.npy  x=data.npz:key     an array from a file; data.json is JSON
x=-                            JSON from standard input
--arguments all.json           all of them: an object by name, or a list
--shape x=3,4  --seed 1        drawn at random
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chadllvm.api.compiled import Compiled
from chadllvm.api.reals import numbers
from chadllvm.cli.drawing import BETWEEN, LENGTH, Drawing
from chadllvm.cli.json_values import WORDS, argument_from_json
from chadllvm.cli.option_types import bounds, count
from chadllvm.cli.status import BadInput, called
from chadllvm.frontend import Parameter
from chadllvm.frontend.annotations import CLOSED
from chadllvm.ir.types import has_float, has_float_in_nodes

_NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_SHAPE = re.compile(r"(?P<path>[^=]+)=(?P<sizes>(\d+(,\d+)*)?)")


def add_values(parser: argparse.ArgumentParser) -> None:
    """The arguments that say what the function is called with."""
    parser.add_argument(
        "values",
        nargs="*",
        default=[],
        metavar="value",
        help="an argument, by position or as name=value: JSON, a .npy, .npz or .json "
        "file, or - for JSON from standard input",
    )
    parser.add_argument(
        "--arguments",
        metavar="FILE",
        help="all arguments: a .json file (an object by name, or a list), a .npz file, "
        "or - for JSON from standard input",
    )
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="x=3,4",
        help="draw this argument (or part: p.x) with this shape; arrays have "
        f"{LENGTH} elements in each dimension otherwise",
    )
    parser.add_argument(
        "--seed", type=count, default=0, help="what numbers are drawn from (default 0)"
    )
    parser.add_argument(
        "--between",
        type=bounds,
        default=BETWEEN,
        metavar="LOW,HIGH",
        help="reals are drawn uniformly between these (default 0.1,0.9)",
    )


@dataclass(frozen=True)
class Given:
    """The arguments of a function, in the order of its parameters."""

    parameters: tuple[Parameter, ...]
    values: tuple[Any, ...]

    def call(self, function: Callable[..., Any]) -> Any:
        """The result of a function with these parameters."""
        return called(function, self.positional, self.by_name)

    @property
    def positional(self) -> tuple[Any, ...]:
        pairs = zip(self.parameters, self.values, strict=True)
        return tuple(value for p, value in pairs if not p.is_keyword_only)

    @property
    def by_name(self) -> dict[str, Any]:
        pairs = zip(self.parameters, self.values, strict=True)
        return {p.name: value for p, value in pairs if p.is_keyword_only}

    def real(self) -> list[int]:
        """The positions of the arguments with real numbers in them."""
        pairs = enumerate(zip(self.parameters, self.values, strict=True))
        return [
            k
            for k, (p, v) in pairs
            if not p.is_static and (_has_reals(v) or says_reals(p))
        ]


def says_reals(parameter: Parameter) -> bool:
    """Whether a parameter's annotation says that there are real numbers in it."""
    ty = parameter.annotation
    if not isinstance(ty, CLOSED):
        return False
    return has_float(ty) or has_float_in_nodes(ty)


def _has_reals(value: Any) -> bool:
    try:
        return any(numbers(value))
    except ValueError:  # There are structured arrays in it.
        return True


def given(function: Compiled, options: argparse.Namespace, *, draw: bool) -> Given:
    """What the function is to be called with.

    Args:
        draw: whether what is neither given nor has a default is drawn, also where no
            shape asks for it.

    Raises:
        BadInput: if something does not fit, is missing, or is given twice.
    """
    named = _by_name(function, options)
    drawing = Drawing(
        np.random.default_rng(options.seed), _shapes(options.shape), options.between
    )
    values = tuple(
        _value(function, parameter, named, drawing, draw)
        for parameter in function.parameters
    )
    for path in drawing.shapes:
        if path not in drawing.used:
            raise BadInput(f"--shape {path}: nothing of this name is drawn")
    return Given(function.parameters, values)


def examples(function: Compiled, options: argparse.Namespace) -> Given | None:
    """Arguments that choose the types; none where annotations do."""
    is_closed = all(isinstance(p.annotation, CLOSED) for p in function.parameters)
    if is_closed and not (options.values or options.arguments or options.shape):
        return None
    return given(function, options, draw=True)


def _value(
    function: Compiled,
    parameter: Parameter,
    named: dict[str, Any],
    drawing: Drawing,
    draw: bool,
) -> Any:
    name = parameter.name
    if name in named:
        value = named[name]
        if not parameter.is_static:
            return argument_from_json(value, parameter.annotation, name)
        return tuple(value) if isinstance(value, list) else value
    is_asked = any(_root(path) == name for path in drawing.shapes)
    if not parameter.is_required and not is_asked:
        return parameter.default
    if parameter.is_static or not (draw or is_asked):
        how = "" if parameter.is_static else f", or draw it: --shape {name}=… or --draw"
        raise BadInput(f"{function.name}() needs {name}: write {name}=…{how}")
    return drawing.draw(parameter.annotation, name)


def _root(path: str) -> str:
    """The parameter that a path begins with."""
    return re.split(r"[.\[]", path)[0]


def _shapes(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    found = {}
    for text in texts:
        match = _SHAPE.fullmatch(text)
        if match is None:
            raise BadInput(f"--shape {text}: write name=sizes, as in x=3,4")
        sizes = match["sizes"].split(",") if match["sizes"] else []
        found[match["path"]] = tuple(map(int, sizes))
    return found


def _by_name(function: Compiled, options: argparse.Namespace) -> dict[str, Any]:
    """What was given, by the names of the parameters."""
    parameters = function.parameters
    names = [p.name for p in parameters]
    found = _from_file(options.arguments, names) if options.arguments else {}
    position = 0
    for word in options.values:
        match = _NAMED.fullmatch(word)
        if match is not None:
            name, text = match.groups()
        elif position < len(names):
            name, text, position = names[position], word, position + 1
        else:
            raise BadInput(f"{function.name}() takes {len(names)} arguments")
        if name in found:
            raise BadInput(f"{name} is given twice")
        if name not in names:
            raise BadInput(f"{function.name}() has no parameter {name!r}")
        found[name] = _read(text, parameters[names.index(name)])
    unknown = [name for name in found if name not in names]
    if unknown:
        raise BadInput(f"{function.name}() has no parameter {unknown[0]!r}")
    return found


def _from_file(place: str, names: Sequence[str]) -> dict[str, Any]:
    """All arguments of a file."""
    if place.endswith(".npz"):
        return _archive(place)
    value = _json_file(place)
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and len(value) <= len(names):
        return dict(zip(names, value, strict=False))
    raise BadInput(f"{place}: expected an object, or a list of at most {len(names)}")


def _read(text: str, parameter: Parameter) -> Any:
    """What a word says: JSON, or where the value is."""
    place, _, key = text.partition(":")
    if text == "-" or text.endswith(".json"):
        return _json_file(text)
    if text.endswith(".npy"):
        return _array(text)
    if place.endswith(".npz"):
        return _of_archive(place, key)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise BadInput(f"{parameter.name} is nested too deeply") from error
    except ValueError:
        if parameter.is_static or text.lower() in WORDS:
            return text
        raise BadInput(
            f"{parameter.name}={text!r} is neither JSON nor a .npy, .npz or .json file"
        ) from None


def _json_file(place: str) -> Any:
    try:
        text = sys.stdin.read() if place == "-" else Path(place).read_text("utf-8")
        return json.loads(text)
    except OSError as error:
        raise BadInput(f"{place}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        name = "standard input" if place == "-" else place
        raise BadInput(f"{name} is no JSON: {error}") from error


def _array(place: str) -> Any:
    """The array in a .npy file."""
    found = _loaded(place)
    if isinstance(found, np.ndarray):
        return found
    raise BadInput(f"{place} is an archive: name it .npz")


def _archive(place: str) -> dict[str, Any]:
    """The arrays in a .npz file, by name."""
    found = _loaded(place)
    if isinstance(found, dict):
        return found
    raise BadInput(f"{place} is no archive: name it .npy")


def _loaded(place: str) -> Any:
    """An array, or several by name; nothing is unpickled."""
    try:
        found = np.load(place, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return found
        with found:
            return {name: found[name] for name in found.files}
    except OSError as error:
        raise BadInput(f"{place}: {error.strerror or error}") from error
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise BadInput(f"{place} holds no arrays: {error}") from error


def _of_archive(place: str, key: str) -> Any:
    arrays = _archive(place)
    if not key and len(arrays) == 1:
        return next(iter(arrays.values()))
    if key not in arrays:
        names = ", ".join(arrays) or "nothing"
        raise BadInput(f"{place} has {names}: write {place}:NAME for one of these")
    return arrays[key]
