"""The textual form of the core, which `ir/parse.py` reads back.

    def f(x: f64, a: f64[:]) {
      n = dim[0](a)
      s, s_bp = if c {
        yield x, bp
      } else {
        ...
      }
      o = <none: (), some: f64>.some(x)
      z = case o none(u: ()) {
        yield 0.0
      } some(y: f64) {
        yield y
      }
      r = build(n) { i ->
        y = index(a, i)
        yield y
      }
      g = fun (d: f64, cx: acc f64) -> {
        one cx d
        return
      }
      return r
    }

Names are made unique within a function by a number (x, x_1); the types of bound
variables follow from the rules and are not written, nor is the type of an i64 parameter
of an operation's body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import assert_never

import numpy as np

from chadllvm.ir.calls import called_early
from chadllvm.ir.op import ArrayOp
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Close,
    Const,
    Expr,
    Function,
    If,
    Inject,
    Lambda,
    Lit,
    One,
    Open,
    Operand,
    Program,
    Proj,
    Tuple,
    Var,
    View,
)
from chadllvm.ir.types import I64, Array, Scalar, Sum
from chadllvm.ir.typing import SCALAR_OF_DTYPE
from chadllvm.support.diagnostic import NO_SPAN, Span

_KEYWORDS = ("def", "fun", "if", "else", "case", "yield", "return", "call", "const")
_CELLS = ("open", "close", "view", "one")
_LITERALS = ("true", "false", "inf", "nan")
_TYPES = ("box", "acc", "f64", "f32", "i64", "bool")
RESERVED = frozenset((*_KEYWORDS, *_CELLS, *_LITERALS, *_TYPES))

Node = Program | Function | Block | Lambda


class Line(str):
    """A line of a program's text, with the place in the user's source that it is of."""

    __slots__ = ("span",)
    span: Span


def line_at(text: str, span: Span) -> Line:
    """A line with its place."""
    line = Line(text)
    line.span = span
    return line


def pretty_lines(node: Node) -> Iterator[str]:
    """The lines of `pretty`, each a `Line` if it is of some place."""
    return _lines(Printer(), node)


def pretty(node: Node, spans: bool = False) -> str:
    """The text of a program, function, block or lambda; `spans` adds places."""
    return "\n".join(_lines(Printer(spans), node))


def alpha_equal(a: Node, b: Node) -> bool:
    """Whether two terms are the same but for the names of their bound variables."""
    pairs = zip_longest(_lines(_Canonical(), a), _lines(_Canonical(), b))
    return all(x == y for x, y in pairs)


# How many bindings, and how much of them, are shown around a place.
_AROUND = 3
_WIDTH = 160


def bindings_around(block: Block, at: int) -> list[str]:
    """The bindings of a block around the one at a place, which is marked.

    At the end of the block that is what it yields.
    """
    printer, bindings = Printer(spans=True), block.bindings
    lines: list[str] = []
    for k in range(max(0, at - _AROUND), min(len(bindings), at + _AROUND + 1)):
        shown = list(printer.binding(bindings[k], ""))
        mark = "> " if k == at else "  "
        lines += [mark + line[:_WIDTH] for line in shown[: 2 * _AROUND]]
    if at == len(bindings):
        names = ", ".join(printer.operand(r) for r in block.results)
        lines.append(f"> yield {names}"[:_WIDTH])
    return lines


def _lines(printer: Printer, node: Node) -> Iterator[str]:
    match node:
        case Program(functions):
            early = called_early(functions)
            for k, function in enumerate(functions):
                if k:
                    yield ""
                is_early = function.name in early
                yield from printer.fresh().function(function, is_early)
        case Function():
            yield from printer.function(node)
        case Lambda(params, body):
            yield f"fun ({printer.params(params)}) -> {{"
            yield from printer.block(body, "  ", "return")
            yield "}"
        case Block():
            yield from printer.block(node, "", "yield")
        case _:
            assert_never(node)


class Printer:
    """Gives variables unique names and yields the lines of what it is shown."""

    def __init__(self, spans: bool = False) -> None:
        self.spans = spans
        self._names: dict[Var, str] = {}
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    def fresh(self) -> Printer:
        """A printer that knows no names yet."""
        return Printer(self.spans)

    def name(self, var: Var) -> str:
        """The unique name of a variable."""
        name = self._names.get(var)
        if name is None:
            name = self._names[var] = self._new_name(var)
        return name

    def bind(self, var: Var) -> str:
        """The name of a variable at the place where it is bound."""
        return self.name(var)

    def _new_name(self, var: Var) -> str:
        name = base = _identifier(var.name)
        if name in self._taken:
            base = re.sub(r"_\d+$", "", base)
        while name in self._taken:
            self._counts[base] = self._counts.get(base, 0) + 1
            name = f"{base}_{self._counts[base]}"
        self._taken.add(name)
        return name

    def function(self, function: Function, is_early: bool = False) -> Iterator[str]:
        """A function, with the types of its results if it is called before its end."""
        place = self._place(function.span)
        types = ", ".join(map(str, function.body.types))
        results = f" -> ({types})" if is_early else ""
        params = self.params(function.params)
        head = f"def {function.name}({params}){results} {{{place}"
        yield line_at(head, function.span)
        yield from self.block(function.body, "  ", "return")
        yield "}"

    def params(self, params: tuple[Var, ...]) -> str:
        return ", ".join(f"{self.bind(p)}: {p.type}" for p in params)

    def block(self, block: Block, indent: str, end: str) -> Iterator[str]:
        """The bindings, then `yield` or `return` with the results."""
        for binding in block.bindings:
            yield from self.binding(binding, indent)
        if block.results or end == "return":
            yield f"{indent}{end} {self._list(block.results)}".rstrip()

    def binding(self, binding: Binding, indent: str) -> Iterator[str]:
        """A binding; those of its blocks have places of their own."""
        lines, span = self._expr(binding.expr, indent), binding.span
        first = next(lines)
        names = ", ".join(map(self.bind, binding.vars))
        equals = " = " if names else ""
        yield line_at(f"{indent}{names}{equals}{first}{self._place(span)}", span)
        for line in lines:
            yield line if isinstance(line, Line) else line_at(line, span)

    def _place(self, span: Span) -> str:
        return f"  # {span}" if self.spans and span is not NO_SPAN else ""

    def operand(self, operand: Operand) -> str:
        return literal_text(operand) if isinstance(operand, Lit) else self.name(operand)

    def _list(self, operands: tuple[Operand, ...]) -> str:
        return ", ".join(map(self.operand, operands))

    def _path(self, cell: Operand, indices: tuple[Operand, ...]) -> str:
        path = f"[{self._list(indices)}]" if indices else ""
        return f"{self.operand(cell)}{path}"

    def _expr(self, expr: Expr, indent: str) -> Iterator[str]:
        """The lines of an expression, the first one without its indentation."""
        match expr:
            case Apply():
                yield from self._apply(expr, indent)
            case If(cond, then, orelse):
                yield f"if {self.operand(cond)} {{"
                yield from self.block(then, indent + "  ", "yield")
                yield f"{indent}}} else {{"
                yield from self.block(orelse, indent + "  ", "yield")
                yield f"{indent}}}"
            case Case():
                yield from self._case(expr, indent)
            case Lambda(params, body):
                yield f"fun ({self.params(params)}) -> {{"
                yield from self.block(body, indent + "  ", "return")
                yield f"{indent}}}"
            case _:
                yield self._simple(expr)

    def _apply(self, expr: Apply, indent: str) -> Iterator[str]:
        text = f"{_operation(expr)}({self._list(expr.args)})"
        for body in expr.bodies:
            params = ", ".join(map(self._body_param, body.params))
            yield f"{text} {{ {params} ->" if params else f"{text} {{ ->"
            yield from self.block(body.body, indent + "  ", "yield")
            text = f"{indent}}}"
        yield text

    def _case(self, expr: Case, indent: str) -> Iterator[str]:
        ty = expr.arg.type
        text = f"case {self.operand(expr.arg)}"
        # A broken program is shown too, so a case of anything must do.
        names = [name for name, _ in ty.constructors] if isinstance(ty, Sum) else []
        names += ["?"] * len(expr.branches)
        for name, branch in zip(names, expr.branches, strict=False):
            params = self.params(branch.params)
            yield f"{text} {name}({params}) {{"
            yield from self.block(branch.body, indent + "  ", "yield")
            text = f"{indent}}}"
        yield text

    def _body_param(self, param: Var) -> str:
        name = self.bind(param)
        return name if param.type == I64 else f"{name}: {param.type}"

    def _simple(
        self,
        expr: Const | Tuple | Proj | Inject | Call | Open | View | One | Close,
    ) -> str:
        match expr:
            case Const(value):
                return _constant(value)
            case Tuple(args, names):
                return self._tuple(args, names)
            case Proj(arg, index):
                return f"{self.operand(arg)}.{index}"
            case Inject(ty, index, arg):
                # A broken program is shown too, so any index must do.
                (name, _), *_ = *ty.constructors[index : index + 1], ("?", arg)
                return f"{ty}.{name}({self.operand(arg)})"
            case Call(function, args, derivative):
                if derivative is not None:
                    by = ", ".join(map(str, derivative.wrt))
                    wanted = f"derivative {derivative.mode.value}[{by}] "
                    return f"{wanted}@{function}({self._list(args)})"
                if isinstance(function, str):
                    return f"@{function}({self._list(args)})"
                return f"call {self.name(function)}({self._list(args)})"
            case Open(content, dims):
                return f"open {content}" + (f"({self._list(dims)})" if dims else "")
            case View(cell, indices):
                return f"view {self._path(cell, indices)}"
            case One(cell, indices, value):
                return f"one {self._path(cell, indices)} {self.operand(value)}"
            case Close(cell):
                return f"close {self.operand(cell)}"
            case _:
                assert_never(expr)

    def _tuple(self, args: tuple[Operand, ...], names: tuple[str, ...]) -> str:
        if names:
            pairs = zip(names, args, strict=True)
            return "{" + ", ".join(f"{n}: {self.operand(a)}" for n, a in pairs) + "}"
        comma = "," if len(args) == 1 else ""
        return f"({self._list(args)}{comma})"


class _Canonical(Printer):
    """Names bound variables by the order of their binding, free ones by identity."""

    def fresh(self) -> Printer:
        return _Canonical()

    def bind(self, var: Var) -> str:
        self._names[var] = f"{len(self._names)}"
        return f"{self._names[var]}: {var.type}"

    def name(self, var: Var) -> str:
        return self._names.get(var) or f"free {id(var)}"

    def _body_param(self, param: Var) -> str:
        return self.bind(param)


def _identifier(name: str) -> str:
    """The name as the parser reads it: letters, digits and _, and no keyword."""
    plain = re.sub(r"\W", "_", name) or "t"
    if plain[0].isdigit():
        plain = f"_{plain}"
    return f"{plain}_" if plain in RESERVED else plain


def literal_text(lit: Lit) -> str:
    """A constant as it is written: `true`, `3`, `0.5`, and `0.5f32` for an f32."""
    if lit.is_single:
        return f"{np.float32(lit.value)!s}f32"
    return repr(lit.value).lower() if isinstance(lit.value, bool) else repr(lit.value)


def _constant(value: np.ndarray) -> str:
    # A broken program is shown too, so any dtype must do.
    elem = SCALAR_OF_DTYPE.get(value.dtype, Scalar(str(value.dtype)))
    ty = Array(elem, value.ndim)
    shape = ", ".join(map(str, value.shape))
    single = value.dtype == np.float32
    items = ", ".join(literal_text(Lit(x, single)) for x in value.ravel().tolist())
    return f"const {ty}({shape}) [{items}]"


def _operation(expr: Apply) -> str:
    op = expr.op
    attributes = op.attributes if isinstance(op, ArrayOp) else ""
    return f"{op.name}[{attributes}]" if attributes else op.name
