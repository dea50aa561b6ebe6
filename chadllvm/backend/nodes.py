"""Recursive data on its way into the columns of heaps.

    List(1.0, List(2.0, None))     →     head  0.0 1.0 2.0
                                         tail  tag 0 0 1, node 0 2 0   (None: tag 1)

Each occurrence of an object is a node of its own, so that what comes in is a tree. The
first row of each heap is nobody's: zeros, which a number that is nobody's may refer to.
The code that goes through the nodes of a class is Python source made for its fields.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, assert_never

import numpy as np

from chadllvm.backend.columns import Places, scalars
from chadllvm.backend.convert import DTYPES, Converter
from chadllvm.backend.results import leaf_types
from chadllvm.ir.record import Kind, RecordNames, ReferenceNames
from chadllvm.ir.types import (
    BOOL,
    F32,
    F64,
    I64,
    Array,
    Product,
    Scalar,
    Sum,
    Type,
    is_float,
    reference_names,
    references,
)
from chadllvm.ir.union import member_of
from chadllvm.support import call_rules
from chadllvm.support.diagnostic import InternalError

# After so many nodes it is asked whether there is an end.
_MANY = 100_000

# More nodes than that are not made of shared objects.
_TOO_MANY = 1 << 31

_USUAL = {F64: "float", F32: "float", I64: "int", BOOL: "bool"}
_CONVERT = {F64: "as_float", F32: "as_single", I64: "as_int", BOOL: "as_bool"}
_ZEROS = {F64: "0.0", F32: "0.0", I64: "0", BOOL: "False"}

# For each class the arrays of the leaves of what its nodes hold.
Columns = dict[ReferenceNames, list[np.ndarray]]


def is_own(ty: Type) -> list[bool]:
    """For each leaf of a type whether it is a number of the user's, no tag or node."""
    match ty:
        case Product() if reference_names(ty) is not None:
            return [False]
        case Product(fields):
            return [flag for field in fields for flag in is_own(field)]
        case Sum():
            inner = [flag for payload in ty.payloads for flag in is_own(payload)]
            return [False, *inner]
        case Array(elem):
            return is_own(elem)
        case _:
            return [True]


class Writer:
    """Puts recursive data into columns; made once for the types of some parameters."""

    def __init__(self, function: str, types: Sequence[Type], *, reals: bool) -> None:
        self.function = function
        self.classes = [*references(types)]
        # Whether what is no real may be None, as it is in tangents.
        self.reals = reals
        # The leaves of what the nodes of each class hold; True: a number of the user's.
        self.leaves = [
            [*zip(leaf_types(of.content), is_own(of.content), strict=True)]
            for of in self.classes
        ]
        self._places: list[str] = []
        self._types: list[Type] = []
        self._fill = self._compiled()

    def begin(self) -> Nodes:
        """Start with empty heaps."""
        return Nodes(self)

    def converter(self) -> Converter:
        return Converter(self.function, self._places, self._types)

    # ---- source

    def _compiled(self) -> Callable[..., Any]:
        lines, environment = ["def fill(nodes, check, converter):"], {}
        lines.append(
            "    as_record, as_product = converter.as_record, converter.as_product"
        )
        lines.append("    as_member = converter.as_member")
        count = len(self.classes)
        for c in range(count):
            lines += [f"    n{c}, i{c}, limit{c} = nodes[{c}], 1, {_MANY}"]
        bodies = []
        for c, names in enumerate(self.classes):
            environment[f"class{c}"] = names.python
            self._column, self._of = 0, c
            body: list[str] = []
            self._emit(body, "x", names.content, f"{names.title}")
            for k, leaf in enumerate(leaf_types(names.content)):
                assert isinstance(leaf, Scalar)
                lines.append(
                    f"    c{c}_{k} = [{_ZEROS[leaf]}]; a{c}_{k} = c{c}_{k}.append"
                )
            bodies.append(body)
        lines.append("    while True:")
        for c, body in enumerate(bodies):
            lines += [
                f"        while i{c} < len(n{c}):",
                f"            x = n{c}[i{c}]; i{c} += 1",
                f"            if i{c} > limit{c}: limit{c} = check()",
                *(" " * 12 + line for line in body),
            ]
        ends = " and ".join(f"i{c} == len(n{c})" for c in range(count)) or "True"
        lines.append(f"        if {ends}: break")
        columns = ", ".join(
            "["
            + ", ".join(f"c{c}_{k}" for k in range(len(leaf_types(n.content))))
            + "]"
            for c, n in enumerate(self.classes)
        )
        lines.append(f"    return [{columns}]")
        for k, ty in enumerate(self._types):
            if isinstance(ty, Product) and isinstance(ty.names, RecordNames):
                environment[f"python{k}"] = ty.names.python
        exec(compile("\n".join(lines), "<nodes>", "exec"), environment)
        made: Callable[..., Any] = environment["fill"]
        return made

    def _append(self) -> str:
        self._column += 1
        return f"a{self._of}_{self._column - 1}"

    def _site(self, path: str, ty: Type) -> int:
        self._places.append(path)
        self._types.append(ty)
        return len(self._types) - 1

    def _emit(self, out: list[str], name: str, ty: Type, path: str) -> None:
        """Append the leaves of what a variable of the code holds."""
        match ty:
            case Scalar():
                is_left_out = self.reals and not is_float(ty)
                out.append(f"{self._append()}({_ZEROS[ty] if is_left_out else name})")
            case Product(_, ReferenceNames() as names):
                c, site = self.classes.index(names), self._site(path, ty)
                out.append(
                    f"if type({name}) is not class{c}: as_record({site}, {name})"
                )
                out.append(f"{self._append()}(len(n{c})); n{c}.append({name})")
            case Product(fields, names):
                self._emit_parts(out, name, fields, names, path, ty)
            case Sum():
                self._emit_member(out, name, ty, path)
            case _:
                raise InternalError(f"{self.function}: a node that holds {ty}")

    def _emit_parts(
        self,
        out: list[str],
        name: str,
        fields: Sequence[Type],
        names: tuple[str, ...],
        path: str,
        ty: Product,
    ) -> None:
        site = self._site(path, ty)
        if name != "x" and not isinstance(names, RecordNames):
            out.append(f"as_product({site}, {name})")
        elif name != "x" and isinstance(names, RecordNames):
            if names.is_class:
                out.append(f"if type({name}) is not python{site}:")
                out.append(f"    as_record({site}, {name})")
            else:
                out.append(f"as_record({site}, {name})")
        for k, field in enumerate(fields):
            inner, where = f"{name}_{k}", f"{path}[{k}]"
            read = f"{name}[{k}]"
            if isinstance(names, RecordNames):
                where = names.path(path, names[k])
                key = names[k]
                read = f"{name}.{key}" if names.is_class else f"{name}[{key!r}]"
            out.append(f"{inner} = {read}")
            self._emit(out, inner, field, where)

    def _emit_member(self, out: list[str], name: str, ty: Sum, path: str) -> None:
        """The tag and the leaves of the member at hand; zeros for those of others."""
        site, tag = self._site(path, ty), f"{name}_tag"
        out.append(f"{tag}_of = type({name})")
        text = f"as_member({site}, {name})"
        for k, member in reversed([*enumerate(ty.payloads)]):
            test = self._usual(name, f"{tag}_of", member)
            text = f"{k} if {test} else {text}" if test else text
        out += [f"{tag} = {text}", f"{self._append()}({tag})"]
        start = self._column
        counts = [len(leaf_types(member)) for member in ty.payloads]
        leaves = [leaf for member in ty.payloads for leaf in leaf_types(member)]
        for k, member in enumerate(ty.payloads):
            body: list[str] = []
            first = start + sum(counts[:k])
            for j, leaf in enumerate(leaves, start):
                if not first <= j < first + counts[k]:
                    assert isinstance(leaf, Scalar)
                    body.append(f"a{self._of}_{j}({_ZEROS[leaf]})")
            self._column = first
            self._emit(body, f"{name}_{k}m", member, path)
            out.append(f"{'if' if k == 0 else 'elif'} {tag} == {k}:")
            out.append(f"    {name}_{k}m = {name}")
            out += ["    " + line for line in body]

    def _usual(self, name: str, kind: str, member: Type) -> str | None:
        """What tells at once that a value is a member."""
        match member:
            case Product(_, ReferenceNames() as names):
                return f"{kind} is class{self.classes.index(names)}"
            case Scalar():
                return f"{kind} is {_USUAL[member]}"
            case Product(_, RecordNames() as names) if names.kind is Kind.NONE:
                return f"{name} is None"
            case Product(_, RecordNames() as names) if names.is_class:
                return f"{kind} is python{self._site(names.title, member)}"
            case _:
                return None


class Nodes:
    """The objects that are nodes, by their numbers, as they are met."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.objects: list[list[Any]] = [[None] for _ in writer.classes]
        self._roots: list[tuple[ReferenceNames, Any]] = []

    def columns(self, names: str) -> Columns:
        """The columns of all classes; `names` are those of the parameters.

        Raises:
            TypeError: if something is not what its class says.
            ValueError: if an object contains itself.
        """
        writer = self.writer
        found = writer._fill(self.objects, self._check, writer.converter())
        return {
            of: [
                self._column(names, of, ty, own, items)
                for (ty, own), items in zip(leaves, columns, strict=True)
            ]
            for of, leaves, columns in zip(
                writer.classes, writer.leaves, found, strict=True
            )
        }

    def _column(
        self, names: str, of: ReferenceNames, ty: Any, own: bool, items: list[Any]
    ) -> np.ndarray:
        if not own:
            return np.array(items, np.int64)
        path = f"{names} (what a {of.title} holds)"
        return scalars(Places(self.writer.function, lambda _: path, False), ty, items)

    def leaves(self, path: str, ty: Type, value: Any) -> list[Any]:
        """The leaves of an argument, whose nodes are noted."""
        converter = Converter(self.writer.function, [path], [ty])
        match ty:
            case Scalar():
                if self.writer.reals and not is_float(ty):
                    return [False if ty == BOOL else 0]
                return [getattr(converter, _CONVERT[ty])(0, value)]
            case Product(_, ReferenceNames() as names):
                converter.as_record(0, value)
                self._roots.append((names, value))
                known = self.objects[self.writer.classes.index(names)]
                known.append(value)
                return [len(known) - 1]
            case Product(fields, names):
                found: list[Any] = []
                for k, part in enumerate(converter.parts(0, value)):
                    inner = f"{path}[{k}]"
                    if isinstance(names, RecordNames):
                        inner = names.path(path, names[k])
                    found += self.leaves(inner, fields[k], part)
                return found
            case Sum():
                return self._member(path, ty, value, converter.as_member(0, value))
            case Array(Scalar()):
                return [converter.as_array(0, value)]
            case Array(elem):
                return self._items(path, ty, elem, value)
            case _:
                raise InternalError(f"{self.writer.function}: a parameter of type {ty}")

    def _member(self, path: str, ty: Sum, value: Any, tag: int) -> list[Any]:
        found: list[Any] = [tag]
        for k, member in enumerate(ty.payloads):
            if k == tag:
                found += self.leaves(path, member, value)
            else:
                found += map(_nothing, leaf_types(member))
        return found

    def _items(self, path: str, ty: Array, elem: Type, value: Any) -> list[np.ndarray]:
        if not isinstance(value, list):
            Converter(self.writer.function, [path], [ty]).refuse(0, value)
        rows = [self.leaves(f"{path}[{k}]", elem, item) for k, item in enumerate(value)]
        dtypes = [DTYPES[leaf] for leaf in leaf_types(elem) if isinstance(leaf, Scalar)]
        columns = zip(*rows, strict=True) if rows else [()] * len(dtypes)
        return [np.array(c, d) for c, d in zip(columns, dtypes, strict=True)]

    # ---- is there an end

    def _check(self) -> float:
        """Refuse what never ends, or is far too much; when to ask again.

        As long as each object is there once only, none contains itself.
        """
        if all(len({*map(id, known)}) == len(known) for known in self.objects):
            return 4 * sum(map(len, self.objects))
        size: dict[int, int] = {}
        entered: set[int] = set()
        total = 0
        for root in self._roots:
            _survey(root, size, entered, self.writer.function)
            total += size[id(root[1])]
        if total > _TOO_MANY:
            raise call_rules.no_end(
                f"{self.writer.function}: what is shared within an argument is copied, "
                f"so that there would be {total:.3g} nodes"
            )
        return math.inf


def _survey(
    root: tuple[ReferenceNames, Any],
    size: dict[int, int],
    entered: set[int],
    function: str,
) -> None:
    """Count the nodes in an object and in all that it contains."""
    stack: list[tuple[ReferenceNames, Any, list[Any] | None]] = [(*root, None)]
    while stack:
        names, node, parts = stack.pop()
        if parts is not None:
            size[id(node)] = 1 + sum(size[id(part)] for part in parts)
            entered.discard(id(node))
        elif id(node) in entered:
            raise call_rules.no_end(f"{function}: a {names.title} contains itself")
        elif id(node) not in size:
            entered.add(id(node))
            inside = [*_nodes_in(names.content, node)]
            stack.append((names, node, [part for _, part in inside]))
            stack += [(*pair, None) for pair in inside if id(pair[1]) not in size]


def _nodes_in(ty: Type, value: Any) -> Iterator[tuple[ReferenceNames, Any]]:
    """The objects that are nodes of their own in what a node holds."""
    match ty:
        case Product(_, ReferenceNames() as names):
            yield names, value
        case Product(fields, RecordNames() as names):
            for name, field in zip(names, fields, strict=True):
                yield from _nodes_in(field, names.part(value, name))
        case Product(fields):
            for field, part in zip(fields, value, strict=True):
                yield from _nodes_in(field, part)
        case Sum():
            tag = member_of(ty, value)
            if tag is not None:
                yield from _nodes_in(ty.payloads[tag], value)
        case _:
            return


def _nothing(leaf: Scalar | Array) -> Any:
    match leaf:
        case Array(Scalar() as elem, rank):
            return np.zeros((0,) * rank, DTYPES[elem])
        case Scalar():
            return {BOOL: False, I64: 0}.get(leaf, 0.0)
        case Array():
            raise InternalError(f"an array of {leaf}")
        case _:
            assert_never(leaf)
