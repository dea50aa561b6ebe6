"""Marshalling code, made for each signature: what stands between Python and C.

The code is Python source: for `f(x: float, a: float[:])` it is, in essence,

    def f(x, a):
        if type(x) is not float: x = as_float(0, x)
        state = pop()                              # a context from the pool
        context, floats, ints, at = state
        status = native(at, x, a)
        if status == INVALID:                      # a is no plain array
            a = as_array(1, a)
            status = native(at, x, a)
        if status > 0: return failed(state, status, (x, a))
        value = floats[1]
        push(state)
        return value

and no more than that, because it is what a call of a small function costs. Native code
is a built-in function, which takes Python's objects (`llvm/entry.py`).
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from chadllvm.backend.arrays import list_parts
from chadllvm.backend.builtin import builtin
from chadllvm.backend.columns import columns
from chadllvm.backend.convert import DTYPES, INT64, Converter
from chadllvm.backend.machine import Code
from chadllvm.backend.offers import Offers
from chadllvm.backend.results import (
    Arrays,
    Choice,
    Group,
    Many,
    Result,
    array_maker,
    leaf_types,
    rows,
)
from chadllvm.backend.runtime import POOLED_WORDS, runtime
from chadllvm.ir.lists import nested
from chadllvm.ir.record import Kind, ListNames, RecordNames, Snapshot
from chadllvm.ir.types import (
    BOOL,
    F32,
    F64,
    I64,
    Acc,
    Array,
    Box,
    Fun,
    Product,
    Scalar,
    Sum,
    Type,
    is_float,
)
from chadllvm.llvm import status
from chadllvm.support.diagnostic import InternalError
from chadllvm.support.frames import hide_frames
from chadllvm.support.watch import OPEN, is_watched

if TYPE_CHECKING:
    from chadllvm.ir.loops import LoopFunction

_CONVERT = {F64: "as_float", F32: "as_single", I64: "as_int", BOOL: "as_bool"}
_USUAL = {F64: "float", F32: "single", I64: "int", BOOL: "bool"}

# Containers whose parts have no names outside.
_BY_PLACE = (Kind.OBJECT, Kind.SET)


class Marshal:
    """The marshalling code of one signature, as it is written."""

    # Where the results are: behind the address of the context.
    first_word = 1
    # What there is of a state behind the context.
    room: tuple[str, ...] = ("floats", "ints", "at")

    def __init__(
        self, name: str, names: Sequence[str], types: Sequence[Type], result: Result
    ) -> None:
        self.name = name
        self.names = tuple(names)
        self.types = tuple(types)
        self.result = result
        self.lines: list[str] = []
        # What converts arrays that native code refuses.
        self.conversions: list[str] = []
        # The variables that are the arguments of the native call, with their types.
        self.passed: list[tuple[str, Scalar | Array]] = []
        # The paths and types that messages about arguments name.
        self.paths: list[str] = []
        self.leaves: list[Type] = []
        # Whether calls may be watched, and then made by another function.
        self.is_watchable = False
        # Whether they may say `out`, and then are made by another function.
        self.takes_out = False
        # Whether the arrays for the results stand behind the arguments.
        self.is_filling = False
        # Objects that the code refers to, by their names in it.
        self.objects: dict[str, Any] = {}
        self.words = self.first_word
        # Our own names begin with what no name of the user's begins with.
        self.mine = "_"
        while any(n.startswith(self.mine) for n in (name, *names)):
            self.mine += "_"
        self.offers = Offers(self.mine)

    def _object(self, value: Any) -> str:
        """The name of an object in the code."""
        name = f"object{len(self.objects)}"
        self.objects[name] = value
        return self.mine + name

    def check(self, function: LoopFunction) -> None:
        """The loop function must have the flat form of the signature."""
        from chadllvm.ir.loops import ArrayResult, ScalarParam

        flat = [leaf for ty in self.types for leaf in leaf_types(ty)]
        params = [
            p.reg.type if isinstance(p, ScalarParam) else Array(p.elem, len(p.dims))
            for p in function.params
        ]
        results = [
            Array(r.elem, r.rank) if isinstance(r, ArrayResult) else r.type
            for r in function.results
        ]
        if params != flat or results != leaf_types(self.result):
            raise InternalError(f"{self.name}: the loops do not have its signature")

    def check_names(self) -> None:
        """The parameters must have names that Python lets them have."""
        for name in self.names:
            if not name.isidentifier() or keyword.iskeyword(name):
                raise InternalError(f"{self.name}: {name!r} cannot name a parameter")

    # ---- source

    def source(self) -> str:
        """The Python source of the function that marshals and calls."""
        mine = self.mine
        for name, ty in zip(self.names, self.types, strict=True):
            self._param(name, name, ty)
        value = self._result(self.result)
        arguments = "".join(f"{name}, " for name in self.names)
        watch = [
            f"if {mine}watches and {mine}is_watched():",
            f"    return {mine}watched({arguments})",
        ]
        given = [f"if out is not None: return {mine}filled(({arguments}), out)"]
        offers = self.offers.names() if self.is_filling else []
        keyword = ["*, out=None"] if self.takes_out else []
        lines = [
            *(given if self.takes_out else []),
            *(watch if self.is_watchable else []),
            *self.lines,
            *([] if self.is_filling else self.offers.before()),
            *self._take_state(),
            self._native_call(),
            *self._convert_and_call(),
            f"if {mine}status > 0:",
            f"    return {mine}failed({mine}state, {mine}status, ({arguments}))",
            *self.offers.after(),
            f"{mine}value = {value}",
            f"{mine}push({mine}state)",
            f"return {mine}value",
        ]
        lines = [
            "try:",
            *("    " + line for line in lines),
            f"except {mine}Exception as {mine}error:",
            f"    {mine}hide_frames({mine}error)",
            "    raise",
        ]
        body = "\n".join("    " + line for line in lines)
        params = ", ".join((*self.names, *offers, *keyword))
        return f"def {self._python_name()}({params}):\n{body}\n"

    def _python_name(self) -> str:
        plain = self.name.isidentifier() and not keyword.iskeyword(self.name)
        return self.name if plain else f"{self.mine}function"

    def _native_call(self) -> str:
        names = (*(name for name, _ in self.passed), *self.offers.names())
        args = "".join(f", {name}" for name in names)
        return f"{self.mine}status = {self.mine}native({self.mine}at{args})"

    def _convert_and_call(self) -> list[str]:
        """Call again if some array is not a plain one."""
        if not self.conversions:
            return []
        lines = [*self.conversions, self._native_call()]
        return [
            f"if {self.mine}status == {status.INVALID}:",
            *("    " + line for line in lines),
        ]

    def _take_state(self) -> list[str]:
        mine, parts = self.mine, ", ".join(self.mine + name for name in self.room)
        lines = [
            "try:",
            f"    {mine}state = {mine}pop()",
            "except IndexError:",
            f"    {mine}state = {mine}new_state()",
            f"{mine}context, {parts} = {mine}state",
        ]
        if self.words > POOLED_WORDS:
            lines.append(f"{parts} = {mine}words({mine}context, {self.words})")
        return lines

    def _param(self, name: str, path: str, ty: Type) -> None:
        leaf = len(self.leaves)
        self.paths.append(path)
        self.leaves.append(ty)
        match ty:
            case Scalar():
                test = f"type({name}) is {self.mine}{_USUAL[ty]}"
                if ty == F32:
                    test += f" or type({name}) is {self.mine}float"
                if ty == I64:
                    test += f" and {INT64.start} <= {name} < {INT64.stop}"
                self._unless(test, name, f"{self.mine}{_CONVERT[ty]}", leaf)
                self._pass(name, ty)
            case Product(_, ListNames()):
                self._list(name, path, ty, leaf)
            case Product(fields, names) if isinstance(names, RecordNames):
                self._record(name, path, fields, names, leaf)
            case Product(fields):
                self._product(name, path, fields, leaf)
            case Array(Scalar()):
                self._array(name, ty, leaf)
            case Array(Product() | Sum()):
                self._rows(name, path, ty, leaf)
            case Sum():
                self._union(name, path, ty, leaf)
            case Array() | Box() | Fun() | Acc():
                raise InternalError(f"{self.name}: a parameter of type {ty}")
            case _:
                assert_never(ty)

    def _unless(self, test: str, name: str, convert: str, leaf: int) -> None:
        self.lines.append(f"if not ({test}):")
        self.lines.append(f"    {name} = {convert}({leaf}, {name})")

    def _product(self, name: str, path: str, fields: Sequence[Type], leaf: int) -> None:
        mine = self.mine
        test = f"type({name}) is {mine}tuple and {mine}len({name}) == {len(fields)}"
        self._unless(test, name, f"{mine}as_product", leaf)
        parts = [f"{mine}p{leaf}_{k}" for k in range(len(fields))]
        if parts:
            self.lines.append(f"{', '.join(parts)}, = {name}")
        for k, (part, field) in enumerate(zip(parts, fields, strict=True)):
            self._param(part, f"{path}[{k}]", field)

    def _record(
        self,
        name: str,
        path: str,
        fields: Sequence[Type],
        names: RecordNames,
        leaf: int,
    ) -> None:
        """Read the fields of a container of exactly the right class or keys."""
        mine = self.mine
        self._unless(self._record_test(name, names), name, f"{mine}as_record", leaf)
        if names.kind is Kind.SET:
            self.lines.append(f"{name} = {self._object(names.parts)}({name})")
        for k, (field, ty) in enumerate(zip(names, fields, strict=True)):
            part = f"{mine}p{leaf}_{k}"
            read = f".{field}" if names.is_class else f"[{field!r}]"
            read = f"[{k}]" if names.kind in _BY_PLACE else read
            self.lines.append(f"{part} = {name}{read}")
            self._param(part, names.path(path, field), ty)

    def _record_test(self, name: str, names: RecordNames) -> str:
        match names.kind:
            case Kind.NAMED_TUPLE | Kind.DATACLASS:
                return f"type({name}) is {self._object(names.python)}"
            case Kind.DICT:
                keys = self._object(dict.fromkeys(names).keys())
                return f"type({name}) is {self.mine}dict and {name}.keys() == {keys}"
            case Kind.NONE:
                return f"{name} is None"
            case Kind.OBJECT:
                return f"type({name}) is {self._object(Snapshot)}"
            case Kind.ROW | Kind.SET:
                return "False"
            case _:
                assert_never(names.kind)

    def _rows(self, name: str, path: str, ty: Array, leaf: int) -> None:
        """An array of records is one array for each leaf."""
        mine = self.mine
        parts = [f"{mine}p{leaf}_{k}" for k in range(len(leaf_types(ty)))]
        arguments = f"{self._object(path)}, {self._object(ty)}, {name}"
        self.lines.append(
            f"{', '.join(parts)}, = {mine}columns({mine}name, {arguments})"
        )
        for part, flat in zip(parts, leaf_types(ty), strict=True):
            self._pass(part, flat)

    def _pass(self, name: str, ty: Scalar | Array) -> None:
        """Let a variable of the code be an argument of the native call."""
        self.passed.append((name, ty))

    def _union(self, name: str, path: str, ty: Sum, leaf: int) -> None:
        """The member that the value is, and the parts of all members.

        What the others would hold is zeros and empty arrays.
        """
        tag = f"{self.mine}p{leaf}_tag"
        self.lines.append(f"{tag} = {self._tag(name, ty, leaf)}")
        self._pass(tag, I64)
        outer, blocks = self.lines, []
        start = len(self.passed)
        for k, member in enumerate(ty.payloads):
            part, first = f"{self.mine}p{leaf}_{k}", len(self.passed)
            self.lines = [f"{part} = {name}"]
            self._param(part, path, member)
            blocks.append((self.lines, first, len(self.passed)))
        self.lines = outer
        for k, (lines, first, end) in enumerate(blocks):
            others = [*self.passed[start:first], *self.passed[end:]]
            zeros = [f"{n} = {self._zero(flat)}" for n, flat in others]
            self.lines.append(f"{'if' if k == 0 else 'elif'} {tag} == {k}:")
            self.lines += ["    " + line for line in (*lines, *zeros)]

    def _tag(self, name: str, ty: Sum, leaf: int) -> str:
        """The position of the member that a value is; the usual ones are asked here."""
        text = f"{self.mine}as_member({leaf}, {name})"
        for k, member in reversed([*enumerate(ty.payloads)]):
            if isinstance(member, Scalar):
                test = f"type({name}) is {self.mine}{_USUAL[member]}"
            elif isinstance(member, Product) and isinstance(member.names, RecordNames):
                test = self._record_test(name, member.names)
            else:
                continue
            text = f"{k} if {test} else {text}"
        return text

    def _zero(self, ty: Scalar | Array) -> str:
        """What stands for a part that there is not."""
        if isinstance(ty, Scalar):
            return {F64: "0.0", F32: "0.0", I64: "0", BOOL: "False"}[ty]
        assert isinstance(ty.elem, Scalar)
        return self._object(np.zeros((0,) * ty.rank, DTYPES[ty.elem]))

    def _list(self, name: str, path: str, ty: Product, leaf: int) -> None:
        """A list of arrays is one array for each of its parts."""
        mine = self.mine
        parts = [f"{mine}p{leaf}_{k}" for k in range(len(ty.fields))]
        arguments = f"{self._object(path)}, {self._object(ty)}, {name}"
        self.lines.append(
            f"{', '.join(parts)}, = {mine}list_parts({mine}name, {arguments})"
        )
        for part, flat in zip(parts, leaf_types(ty), strict=True):
            self._pass(part, flat)

    def _array(self, name: str, ty: Array, leaf: int) -> None:
        mine = self.mine
        self.conversions.append(f"{name} = {mine}as_array({leaf}, {name})")
        self._pass(name, ty)

    def _result(self, ty: Result) -> str:
        match ty:
            case Scalar():
                view = "floats" if is_float(ty) else "ints"
                word = f"{self.mine}{view}[{self._word()}]"
                if ty == F32:
                    return f"{self.mine}single({word})"
                return f"{word} != 0" if ty == BOOL else word
            case Product(parts, ListNames() as list_names):
                leaves = ", ".join(self._result(part) for part in parts)
                return f"{self.mine}nested({self._object(list_names)}, [{leaves}])"
            case Arrays(like):
                return self._result(like)
            case Product(parts, names) | Group(parts, names):
                return self._results(parts, names)
            case None:
                return "None"
            case Array(Scalar() as elem, rank):
                return self._array_result(elem, rank)
            case Array(elem, rank) | Many(elem, rank):
                leaves = ", ".join(self._result(leaf) for leaf in leaf_types(ty))
                return f"{self.mine}rows({self._object(elem)}, {rank}, [{leaves}])"
            case Sum(payloads=members) | Choice(members):
                tag = f"{self.mine}ints[{self._word()}]"
                options = "".join(f"{self._result(m)}, " for m in members)
                return f"({options})[{tag}]"
            case Box() | Fun() | Acc():
                raise InternalError(f"{self.name}: a result of type {ty}")
            case _:
                assert_never(ty)

    def _array_result(self, elem: Scalar, rank: int) -> str:
        """The array that was offered, or one of the block at its address."""
        return self.offers.result(elem, rank, *self._array_made(elem, rank))

    def _array_made(self, elem: Scalar, rank: int) -> tuple[str, str]:
        """Where the address of a result is, and the array of what is there."""
        address = f"{self.mine}ints[{self._word()}]"
        dims = "".join(f"{self.mine}ints[{self._word()}], " for _ in range(rank))
        return address, f"{self.mine}array_{elem}({address}, ({dims}))"

    def _results(self, parts: Sequence[Result], names: tuple[str, ...]) -> str:
        """A tuple of results, or a record."""
        values = [self._result(part) for part in parts]
        if not isinstance(names, RecordNames):
            return "(" + "".join(f"{value}, " for value in values) + ")"
        if names.kind is Kind.DICT:
            pairs = zip(names, values, strict=True)
            return "{" + ", ".join(f"{n!r}: {value}" for n, value in pairs) + "}"
        if names.kind is Kind.NAMED_TUPLE:
            fields = "".join(f"{value}, " for value in values)
            new, python = self._object(tuple.__new__), self._object(names.python)
            return f"{new}({python}, ({fields}))"
        return f"{self._object(names.make)}({', '.join(values)})"

    def _word(self) -> int:
        self.words += 1
        return self.words - 1

    # ---- the compiled function

    def compile(
        self,
        source: str,
        code: Code | None,
        failed: Callable[..., Any],
        watched: Callable[..., Any] | None = None,
        filled: Callable[[tuple[Any, ...], Any], Any] | None = None,
    ) -> Callable[..., Any]:
        """The function; it keeps the machine code alive.

        `failed(state, status, arguments)` ends a call that did not succeed;
        `watched(*arguments)` makes a call that is watched, `filled(arguments, out)` one
        whose results are to stand in arrays of the caller's.
        """
        environment = {
            **self._environment(code),
            "code": code,
            "failed": failed,
            "watched": watched,
            "filled": filled,
        }
        everything = {self.mine + name: value for name, value in environment.items()}
        everything["__name__"] = "chadllvm.call"
        exec(compile(source, f"<call of {self.name}>", "exec"), everything)
        function: Callable[..., Any] = everything[self._python_name()]
        return function

    def _environment(self, code: Code | None) -> dict[str, Any]:
        """What the source refers to."""
        assert code is not None
        rt = runtime()
        return {
            "native": builtin(self.name, code.address, code),
            "pop": rt.pool.pop,
            "push": rt.pool.append,
            "new_state": rt.new_state,
            "words": rt.words,
            "release": rt.lib.chad_results_release,
            **self.offers.objects(),
            **{f"array_{elem}": array_maker(elem) for elem in DTYPES},
            **self._shared_environment(),
        }

    def _shared_environment(self) -> dict[str, Any]:
        """What it refers to that has nothing to do with who is called."""
        converter = Converter(self.name, self.paths, self.leaves)
        return {
            "Exception": Exception,
            "hide_frames": hide_frames,
            "rows": rows,
            "columns": columns,
            "list_parts": list_parts,
            "nested": nested,
            "name": self.name,
            "watches": OPEN,
            "is_watched": is_watched,
            **self.objects,
            "float": float,
            "single": np.float32,
            "int": int,
            "bool": bool,
            "tuple": tuple,
            "dict": dict,
            "len": len,
            **{name: getattr(converter, name) for name in _CONVERT.values()},
            "as_array": converter.as_array,
            "as_product": converter.as_product,
            "as_record": converter.as_record,
            "as_member": converter.as_member,
        }
