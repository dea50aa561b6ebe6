"""Reads the textual form of the core back; `ir/pretty.py` shows and explains it.

Line breaks mean nothing; `#` starts a comment. The operations must be registered, so
`chadllvm.ops` must have been imported. Types of bound variables follow from the typing
rules, which therefore hold for what was parsed, except those that `ir/check.py` adds.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from chadllvm.ir.op import ARRAY_OPS, PRIMS, Op, TypeRuleError
from chadllvm.ir.pretty import RESERVED
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Case,
    Close,
    Const,
    Derivative,
    Expr,
    Function,
    If,
    Inject,
    Lambda,
    Lit,
    Mode,
    One,
    Open,
    Operand,
    Program,
    Proj,
    Tuple,
    Var,
    View,
    literal,
)
from chadllvm.ir.tokens import ParseError, Reader, parse_type
from chadllvm.ir.types import F32, I64, Array, Fun, Scalar, Sum, Type
from chadllvm.ir.typing import SCALAR_OF_DTYPE, result_types

__all__ = ["ParseError", "parse", "parse_type"]


def parse(text: str) -> Program:
    """The program that a text describes.

    Raises:
        ParseError: if it describes none; says where and what was expected.
    """
    return _Parser(text).program()


class _Parser(Reader):
    """A recursive-descent parser; it recurses on nesting only."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.scope: dict[str, Var] = {}
        self.bound: list[str] = []
        self.functions: dict[str, Fun] = {}

    def program(self) -> Program:
        self._announce()
        functions = []
        while self.tokens[self.at][0] != "end":
            functions.append(self._function())
        if not functions:
            raise self.error("no function")
        return Program(tuple(functions))

    def _function(self) -> Function:
        self.expect("def")
        name = self.identifier()
        self.expect("(")
        outer = len(self.bound)
        params = self.listed(self._param, ")")
        self._results()
        self.expect("{")
        function = Function(name, params, self._block("return"))
        self._leave(outer)
        found = Fun(tuple(p.type for p in params), function.body.types)
        if self.functions.setdefault(name, found) != found:
            raise self.error(f"{name} does not return what it says")
        return function

    def _announce(self) -> None:
        """Enter the functions that tell what they return, wherever they stand."""
        start = self.at
        for at, (_, token, _) in enumerate(self.tokens):
            if token == "def":
                self.at = at + 1
                name = self.identifier()
                self.expect("(")
                params = self.listed(self.named_type, ")")
                results = self._results()
                if results is not None:
                    self.functions[name] = Fun(tuple(ty for _, ty in params), results)
        self.at = start

    def _results(self) -> tuple[Type, ...] | None:
        """The types of the results, which stand behind the parameters, or do not."""
        if not self.accept("->"):
            return None
        self.expect("(")
        return self.listed(self.type, ")")

    def _param(self) -> Var:
        name, ty = self.named_type()
        return self._bind(name, ty)

    def _body_param(self) -> Var:
        name = self.identifier()
        return self._bind(name, self.type() if self.accept(":") else I64)

    def _bind(self, name: str, ty: Type) -> Var:
        if name in self.scope:
            raise self.error(f"{name} is bound twice")
        if name in RESERVED:
            raise self.error(f"{name} is a keyword")
        self.bound.append(name)
        var = self.scope[name] = Var(name, ty)
        return var

    def _leave(self, outer: int) -> None:
        """Forget all names but the first `outer` ones."""
        while len(self.bound) > outer:
            del self.scope[self.bound.pop()]

    def _block(self, end: str) -> Block:
        """Bindings, results and the closing brace."""
        outer = len(self.bound)
        bindings = []
        while self.token not in (end, "}"):
            bindings.append(self._binding())
        results = self._operands_to_brace() if self.accept(end) else ()
        self.expect("}")
        self._leave(outer)
        return Block(tuple(bindings), results)

    def _operands_to_brace(self) -> tuple[Operand, ...]:
        results: list[Operand] = []
        while self.token != "}":
            results.append(self.operand())
            if not self.accept(","):
                break
        return tuple(results)

    def _binding(self) -> Binding:
        start = self.at
        names = []
        if self.following in (",", "="):
            names = [self.identifier()]
            while self.accept(","):
                names.append(self.identifier())
            self.expect("=")
        expr = self._expr()
        types = self._types(expr, start)
        if len(types) != len(names):
            self.at = start
            raise self.error(f"{len(types)} results bound to {len(names)} names")
        variables = tuple(map(self._bind, names, types))
        return Binding(variables, expr)

    def _types(self, expr: Expr, start: int) -> tuple[Type, ...]:
        try:
            return result_types(expr, self._signature)
        except TypeRuleError as error:
            self.at = start
            raise self.error(str(error)) from None
        except (ValueError, IndexError):
            self.at = start
            raise self.error("wrong number of arguments or bodies") from None

    def _signature(self, name: str) -> Fun:
        if name not in self.functions:
            raise TypeRuleError(f"no function named {name} above")
        return self.functions[name]

    def operand(self) -> Operand:
        kind, token, _ = self.tokens[self.at]
        if kind == "number" or token in ("true", "false"):
            return self._literal()
        if kind == "name" and token in self.scope:
            self.at += 1
            return self.scope[token]
        if kind == "name" and token not in RESERVED:
            raise self.error(f"{token} is not bound here")
        raise self.expected("an operand")

    def _literal(self) -> Lit:
        token = self.take()
        if token in ("true", "false"):
            return Lit(token == "true")
        digits = token.removesuffix("f32")
        try:
            return Lit(int(token))
        except ValueError:
            value = math.nan if digits.endswith("nan") else float(digits)
        return Lit(value) if digits == token else literal(value, F32)

    def _operands(self) -> tuple[Operand, ...]:
        self.expect("(")
        return self.listed(self.operand, ")")

    def _path(self) -> tuple[Operand, tuple[Operand, ...]]:
        cell = self.operand()
        return cell, self.listed(self.operand, "]") if self.accept("[") else ()

    def _expr(self) -> Expr:
        keyword = self.token
        if keyword == "<":
            return self._inject()
        if keyword in _KEYWORDS:
            self.at += 1
            return _KEYWORDS[keyword](self)
        if self.following == ".":
            arg = self.operand()
            self.expect(".")
            return Proj(arg, self.integer())
        return self._apply()

    def _apply(self) -> Apply:
        op = self._operation(self.identifier())
        args = self._operands()
        bodies = []
        while self.accept("{"):
            bodies.append(self._body())
        return Apply(op, args, tuple(bodies))

    def _operation(self, name: str) -> Op:
        if name in PRIMS:
            return PRIMS[name]
        if name not in ARRAY_OPS:
            self.at -= 1
            raise self.error(f"no operation named {name}")
        attributes = self._attributes()
        try:
            return ARRAY_OPS[name].parse(attributes)
        except ValueError:
            raise self.error(f"{name} has no attribute {attributes!r}") from None

    def _attributes(self) -> str:
        """The text between brackets behind an operation's name."""
        if not self.accept("["):
            return ""
        start, depth = self.tokens[self.at][2], 1
        while depth:
            token = self.take()
            depth += (token == "[") - (token == "]")
            if self.at == len(self.tokens):
                raise self.error("a bracket is not closed", start)
        return self.text[start : self.tokens[self.at - 1][2]].strip()

    def _body(self) -> Lambda:
        outer = len(self.bound)
        params = self.listed(self._body_param, "->")
        body = Lambda(params, self._block("yield"))
        self._leave(outer)
        return body

    def _if(self) -> If:
        cond = self.operand()
        self.expect("{")
        then = self._block("yield")
        self.expect("else")
        self.expect("{")
        return If(cond, then, self._block("yield"))

    def _case(self) -> Case:
        arg = self.operand()
        if not isinstance(arg.type, Sum):
            raise self.error(f"case: a {arg.type} is not a sum")
        names = [name for name, _ in arg.type.constructors]
        return Case(arg, tuple(map(self._branch, names)))

    def _branch(self, constructor: str) -> Lambda:
        self.expect(constructor)
        self.expect("(")
        outer = len(self.bound)
        params = self.listed(self._param, ")")
        self.expect("{")
        branch = Lambda(params, self._block("yield"))
        self._leave(outer)
        return branch

    def _inject(self) -> Inject:
        ty = self.sum_type()
        self.expect(".")
        name = self.identifier()
        names = [name for name, _ in ty.constructors]
        if name not in names:
            raise self.error(f"{ty} has no constructor {name}")
        self.expect("(")
        arg = self.operand()
        self.expect(")")
        return Inject(ty, names.index(name), arg)

    def _lambda(self) -> Lambda:
        self.expect("(")
        outer = len(self.bound)
        params = self.listed(self._param, ")")
        self.expect("->")
        self.expect("{")
        function = Lambda(params, self._block("return"))
        self._leave(outer)
        return function

    def _call(self) -> Call:
        function = self.operand()
        if isinstance(function, Lit):
            raise self.error("a literal is not a function")
        return Call(function, self._operands())

    def _call_named(self) -> Call:
        return Call(self.identifier(), self._operands())

    def _derivative(self) -> Call:
        mode = self.identifier()
        if mode not in {m.value for m in Mode}:
            raise self.error(f"there is no derivative {mode}")
        self.expect("[")
        wrt = self.listed(self.integer, "]")
        self.expect("@")
        call = self._call_named()
        return Call(call.function, call.args, Derivative(Mode(mode), wrt))

    def _open(self) -> Open:
        content = self.type()
        return Open(content, self._operands() if self.token == "(" else ())

    def _one(self) -> One:
        cell, path = self._path()
        return One(cell, path, self.operand())

    def _const(self) -> Const:
        ty = self.type()
        if not isinstance(ty, Array) or not isinstance(ty.elem, Scalar):
            raise self.error("const: not an array of scalars")
        self.expect("(")
        shape = self.listed(self.integer, ")")
        self.expect("[")
        items = [item.value for item in self.listed(self._literal, "]")]
        dtype = {elem: dtype for dtype, elem in SCALAR_OF_DTYPE.items()}[ty.elem]
        if len(items) != math.prod(shape):
            raise self.error(f"const: {len(items)} elements for the shape {shape}")
        return Const(np.array(items, dtype).reshape(shape))

    def _tuple(self) -> Tuple:
        return Tuple(self.listed(self.operand, ")"))

    def _named_tuple(self) -> Tuple:
        pairs = self.listed(self._named_operand, "}")
        return Tuple(tuple(a for _, a in pairs), tuple(n for n, _ in pairs))

    def _named_operand(self) -> tuple[str, Operand]:
        name = self.identifier()
        self.expect(":")
        return name, self.operand()


# What begins an expression, with the method that reads the rest.
_KEYWORDS: dict[str, Callable[[_Parser], Expr]] = {
    "if": _Parser._if,
    "case": _Parser._case,
    "fun": _Parser._lambda,
    "call": _Parser._call,
    "@": _Parser._call_named,
    "derivative": _Parser._derivative,
    "open": _Parser._open,
    "view": lambda parser: View(*parser._path()),
    "one": _Parser._one,
    "close": lambda parser: Close(parser.operand()),
    "const": _Parser._const,
    "(": _Parser._tuple,
    "{": _Parser._named_tuple,
}
