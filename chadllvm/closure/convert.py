"""Closure conversion by lambda sets: function values become what they capture.

Where a function is called it is known which functions it may be: CHAD's output is made
by the structure of the program. So no function value exists at run time, only its
captures:

    fs = build n { i ->                        ys = build n { i ->
      y = …                                      y = …
      f = fun (d) { … y … }           →          yield y }
      yield f }                                …
    f = index(fs, j)                           y' = index(ys, j)
    f(x)                                       … y' …   with d = x

A function out of a branch is a choice: both branches give the captures of both
functions, empty ones for the branch not taken, and the call is a branch again. Captured
arrays are boxed if their shapes may differ from one iteration to the next, and rows of
an array of higher rank if not. Captures from outside of the loop or branch are in scope
at the call and are not stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from chadllvm.closure.tape import store_or_recompute
from chadllvm.closure.updated import updated_states
from chadllvm.diagnostic import InternalError
from chadllvm.ir.build import Builder
from chadllvm.ir.rewrite import Renaming, free_vars_of, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Function,
    If,
    Lambda,
    Operand,
    Program,
    Var,
    operands,
)
from chadllvm.ir.types import Array, has_fun
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Index, MakeBox, Unbox, nothing
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update


def convert_closures(program: Program) -> Program:
    """Remove all function values."""
    tape: set[Var] = set()
    new = map_functions(program, lambda f: with_body(f, _Converter(tape).function(f)))
    return Program(new.functions, frozenset(tape)) if tape else new


class _Env:
    """What the variables of a piece of code stand for at a place in the output."""

    def lookup(self, var: Var) -> Value:
        return var


@dataclass(eq=False)
class _Scope(_Env):
    """The variables of one copy of a function, on top of where it was made."""

    parent: _Env
    values: dict[Var, Value] = field(default_factory=dict)

    def lookup(self, var: Var) -> Value:
        value = self.values.get(var)
        return self.parent.lookup(var) if value is None else value


@dataclass(eq=False)
class _Moved(_Env):
    """An environment whose output variables went out of scope and have new names."""

    parent: _Env
    names: dict[Var, Operand]

    def lookup(self, var: Var) -> Value:
        return _move(self.parent.lookup(var), self.names)


@dataclass(frozen=True, eq=False)
class _Closure:
    """One known function: its code, and the meaning of its free variables."""

    code: Lambda
    env: _Env


@dataclass(frozen=True, eq=False)
class _Choice:
    """The function of the branch that was taken."""

    cond: Operand
    then: FunctionValue
    orelse: FunctionValue


@dataclass(frozen=True, eq=False)
class _Stack:
    """An array of functions: element i is `element` with `index` := i and captures := …

    `arrays` maps a capture to the array of its values (of boxes, if it is an array).
    """

    element: FunctionValue
    index: Var
    arrays: dict[Var, Operand]


@dataclass(frozen=True, eq=False)
class _Again:
    """A function some of whose captures are computed again where it is called.

    `moves`: the renamings since, for what the bindings read.
    """

    function: FunctionValue
    bindings: tuple[Binding, ...]
    moves: tuple[dict[Var, Operand], ...] = ()


FunctionValue = _Closure | _Choice | _Stack | _Again
Value = Operand | FunctionValue


def _move(value: Value, names: dict[Var, Operand]) -> Value:
    match value:
        case Var():
            return names.get(value, value)
        case _Closure(code, env):
            return _Closure(code, _Moved(env, names))
        case _Choice(cond, then, orelse):
            return _Choice(
                _operand(_move(cond, names)),
                _function_value(_move(then, names)),
                _function_value(_move(orelse, names)),
            )
        case _Stack(element, index, arrays):
            moved = {k: _operand(_move(a, names)) for k, a in arrays.items()}
            return _Stack(_function_value(_move(element, names)), index, moved)
        case _Again(function, bindings, moves):
            return _Again(function, bindings, (*moves, names))
        case _:
            return value


def _operand(value: Value) -> Operand:
    if isinstance(value, FunctionValue):
        raise InternalError("closure: a function where a value is expected")
    return value


def _function_value(value: Value) -> FunctionValue:
    if not isinstance(value, FunctionValue):
        raise InternalError("closure: a function that is not known where it is called")
    return value


class _EnvRenaming(Renaming):
    """Renames by an environment; bound variables get new names in it."""

    def __init__(self, scope: _Scope) -> None:
        super().__init__(fresh=True)
        self.scope = scope

    def operand(self, operand: Operand) -> Operand:
        if isinstance(operand, Var):
            return _operand(self.scope.lookup(operand))
        return operand

    def bind(self, variables: tuple[Var, ...]) -> tuple[Var, ...]:
        new = tuple(Var(v.name, v.type) for v in variables)
        self.scope.values.update(zip(variables, new, strict=True))
        return new


class _MovedRenaming(Renaming):
    """Copies bindings whose operands went through renamings."""

    def __init__(self, moves: Sequence[dict[Var, Operand]]) -> None:
        super().__init__(fresh=True)
        self.moves = moves

    def operand(self, operand: Operand) -> Operand:
        if not isinstance(operand, Var) or operand in self.mapping:
            return super().operand(operand)
        for names in self.moves:
            operand = (
                names.get(operand, operand) if isinstance(operand, Var) else operand
            )
        return operand


class _Converter:
    """Converts one top-level function."""

    def __init__(self, tape: set[Var]) -> None:
        # The arrays of captures that it makes.
        self._tape = tape
        self._free: dict[Lambda, tuple[Var, ...]] = {}
        # The states that steps update, and all that shares a buffer with their copies.
        self._updated: set[Var] = set()
        self._fleeting: set[Var] = set()

    def function(self, function: Function) -> Block:
        self._updated = updated_states(function)
        scope = _Scope(_Env())
        bindings, results = self._block(function.body, scope)
        return Block(tuple(bindings), tuple(_operand(r) for r in results))

    def _block(self, block: Block, scope: _Scope) -> tuple[list[Binding], list[Value]]:
        out = Builder()
        for binding in block.bindings:
            out.span = binding.span
            self._binding(binding, scope, out)
        results = [scope.lookup(r) if isinstance(r, Var) else r for r in block.results]
        return out.bindings, results

    def _binding(self, binding: Binding, scope: _Scope, out: Builder) -> None:
        match binding.expr:
            case Lambda() as code:
                scope.values[binding.vars[0]] = _Closure(code, scope)
            case Call(Var() as function, args):
                target = _function_value(scope.lookup(function))
                values = [_value(a, scope) for a in args]
                results = self._call(target, values, out)
                scope.values.update(zip(binding.vars, results, strict=True))
            case Apply(Index(), (Var() as stack, i)) if has_fun(stack.type):
                target = _function_value(scope.lookup(stack))
                element = self._element(target, _operand(_value(i, scope)), out)
                scope.values[binding.vars[0]] = element
            case If() as node:
                self._if(node, binding, scope, out)
            case Apply(_, _, bodies) as node if bodies:
                self._loop(node, binding, scope, out)
            case _:
                renamed = _EnvRenaming(scope).binding(binding)
                out.bindings.append(renamed)
                match renamed.expr:
                    case Apply(Index() | Update() | Append() | DropLast(), (array, *_)):
                        self._follow(renamed.vars, [array])

    def _follow(self, new: Iterable[Var], old: Iterable[Operand]) -> None:
        """Note that new arrays are what fleeting ones are, if one of the old is."""
        if any(o in self._fleeting for o in old):
            self._fleeting.update(new)

    def _call(
        self, target: FunctionValue, args: Sequence[Value], out: Builder
    ) -> list[Value]:
        """The results of a call, with the function's body copied in place."""
        match target:
            case _Closure(code, env):
                scope = _Scope(env, dict(zip(code.params, args, strict=True)))
                bindings, results = self._block(code.body, scope)
                out.bindings += bindings
                return results
            case _Choice(cond, then, orelse):
                blocks = []
                for branch in (then, orelse):
                    inner = out.child()
                    results = self._call(branch, args, inner)
                    blocks.append(inner.block(_operand(r) for r in results))
                return list(out.emit(If(cond, *blocks)))
            case _Again():
                return self._call(self._recomputed(target, out), args, out)
            case _Stack():
                raise InternalError("closure: an array of functions is called")
            case _:
                assert_never(target)

    def _recomputed(self, target: _Again, out: Builder) -> FunctionValue:
        """The function, with the bindings for its captures copied in place."""
        renaming = _MovedRenaming(target.moves)
        out.bindings += [renaming.binding(b) for b in target.bindings]
        value: Value = _move(target.function, renaming.mapping)
        for names in target.moves:
            value = _move(value, names)
        return _function_value(value)

    def _element(self, stack: FunctionValue, i: Operand, out: Builder) -> Value:
        """The function at an index: its captures are read from their arrays."""
        match stack:
            case _Stack(element, index, arrays):
                names: dict[Var, Operand] = {index: i}
                for capture, array in arrays.items():
                    value = out.one(Apply(Index(), (array, i)), capture.name)
                    if value.type != capture.type:  # An array that was put into a box.
                        value = out.one(Apply(Unbox(), (value,)), capture.name)
                    names[capture] = value
                return _move(element, names)
            case _:
                raise InternalError("closure: index of what is not an array")

    # Branches.

    def _if(self, node: If, binding: Binding, scope: _Scope, out: Builder) -> None:
        """Both branches give their own results, then the captures of both."""
        cond = _operand(_value(node.cond, scope))
        branches = [self._block(b, scope) for b in (node.then, node.orelse)]
        plain = [k for k, v in enumerate(binding.vars) if not has_fun(v.type)]
        escaping, again = [], []
        for bindings, results in branches:
            captures = self._captures(_functions(results), bindings, ())
            stored, recomputed = store_or_recompute(
                captures, bindings, (), self._fleeting
            )
            escaping.append(stored)
            again.append(tuple(recomputed))
        blocks = []
        for which, (bindings, results) in enumerate(branches):
            inner = out.child()
            inner.bindings = bindings
            extra = [
                v if k == which else nothing(inner, v.type)
                for k, captures in enumerate(escaping)
                for v in captures
            ]
            own = [_operand(results[k]) for k in plain]
            blocks.append(inner.block([*own, *extra]))
        names = [binding.vars[k].name for k in plain]
        names += [v.name for captures in escaping for v in captures]
        outer = out.emit(If(cond, *blocks), *names)
        for var, *values in zip(outer, *(b.results for b in blocks), strict=True):
            self._follow([var], values)
        scope.values.update(zip((binding.vars[k] for k in plain), outer, strict=False))
        rest = iter(outer[len(plain) :])
        renamings: list[dict[Var, Operand]] = [
            {v: next(rest) for v in captures} for captures in escaping
        ]
        for k, var in enumerate(binding.vars):
            if has_fun(var.type):
                then, orelse = (
                    _function_value(
                        _move(_Again(_function_value(results[k]), bindings), moved)
                    )
                    for (_, results), bindings, moved in zip(
                        branches, again, renamings, strict=True
                    )
                )
                scope.values[var] = _Choice(cond, then, orelse)

    # Loops.

    def _loop(self, node: Apply, binding: Binding, scope: _Scope, out: Builder) -> None:
        """Functions among the collected results become the arrays of their captures."""
        (body,) = node.bodies
        renaming = _EnvRenaming(scope)
        args = renaming.operands(node.args)
        params = renaming.bind(body.params)
        pairs = zip(body.params, params, strict=True)
        self._fleeting.update(new for old, new in pairs if old in self._updated)
        bindings, results = self._block(body.body, scope)
        count = len(results)
        captures, again = store_or_recompute(
            self._captures(_functions(results), bindings, params[1:]),
            bindings,
            params[1:],
            self._fleeting,
        )
        inner = out.child()
        inner.bindings = bindings
        plain = [r for r in results if not isinstance(r, FunctionValue)]
        shapes = _Shapes([*bindings, *again], params)
        extra = [
            inner.one(Apply(MakeBox(), (v,)), v.name)
            if isinstance(v.type, Array) and not shapes.is_fixed(v)
            else v
            for v in captures
        ]
        block = inner.block([*plain, *extra])
        applied = Apply(node.op, args, (Lambda(params, block),))
        kept = [k for k, r in enumerate(results) if not isinstance(r, FunctionValue)]
        # The operation may return more than its body (the winner of a fold).
        trailing = list(range(count, len(binding.vars)))
        names = [binding.vars[k].name for k in kept]
        names += [v.name for v in captures]
        names += [binding.vars[k].name for k in trailing]
        outer = out.emit(applied, *names)
        self._tape.update(outer[len(kept) : len(kept) + len(captures)])
        if isinstance(node.op, Iterate):
            for final, init in zip(outer, args[1:], strict=False):
                self._follow([final], [init])
        positions = [*kept, *trailing]
        own = [*outer[: len(kept)], *outer[len(outer) - len(trailing) :]]
        scope.values.update(zip((binding.vars[k] for k in positions), own, strict=True))
        arrays: dict[Var, Operand] = dict(
            zip(captures, outer[len(kept) : len(kept) + len(captures)], strict=True)
        )
        for k, result in enumerate(results):
            if isinstance(result, FunctionValue):
                element = _Again(result, tuple(again))
                scope.values[binding.vars[k]] = _Stack(element, params[0], arrays)

    # What a function needs at run time.

    def _captures(
        self,
        functions: Sequence[FunctionValue],
        bindings: Sequence[Binding],
        params: Sequence[Var],
    ) -> list[Var]:
        """The variables, bound by bindings or as parameters, that functions capture."""
        local = {v for b in bindings for v in b.vars} | set(params)
        found: dict[Var, None] = {}
        for function in functions:
            for operand in self._needs(function):
                if isinstance(operand, Var) and operand in local:
                    found[operand] = None
        return list(found)

    def _needs(self, value: Value) -> Iterator[Operand]:
        match value:
            case _Closure(code, env):
                for var in self._free_vars(code):
                    yield from self._needs(env.lookup(var))
            case _Choice(cond, then, orelse):
                yield cond
                yield from self._needs(then)
                yield from self._needs(orelse)
            case _Stack(element, index, arrays):
                yield from arrays.values()
                for operand in self._needs(element):
                    if operand is not index and operand not in arrays:
                        yield operand
            case _Again(function, bindings, moves):
                yield from self._needs_again(function, bindings, moves)
            case _:
                yield value

    def _needs_again(
        self,
        function: FunctionValue,
        bindings: Sequence[Binding],
        moves: Sequence[dict[Var, Operand]],
    ) -> Iterator[Operand]:
        """What the function and the recomputed bindings read from outside of these."""
        recomputed = {v for b in bindings for v in b.vars}
        read = [o for b in bindings for o in operands(b.expr)]
        for operand in (*read, *self._needs(function)):
            if operand not in recomputed:
                yield _MovedRenaming(moves).operand(operand)

    def _free_vars(self, code: Lambda) -> Iterable[Var]:
        if code not in self._free:
            self._free[code] = tuple(free_vars_of(code))
        return self._free[code]


class _Shapes:
    """Which arrays made in a loop body have the same shape in every iteration."""

    def __init__(self, bindings: Sequence[Binding], params: Sequence[Var]) -> None:
        self.defined = {v: b for b in bindings for v in b.vars}
        self.params = set(params)

    def is_fixed(self, array: Var) -> bool:
        """The array is built in the body, of a size known in front of the loop."""
        binding = self.defined.get(array)
        match binding and binding.expr:
            case Apply(Build() | Fold(), (n,), (body,)) if self._is_outside(n):
                assert binding is not None
                row = body.body.results[binding.vars.index(array)]
                return not isinstance(row.type, Array)
            case _:
                return False

    def _is_outside(self, operand: Operand) -> bool:
        return operand not in self.defined and operand not in self.params


def _functions(values: Sequence[Value]) -> list[FunctionValue]:
    return [v for v in values if isinstance(v, FunctionValue)]


def _value(operand: Operand, scope: _Scope) -> Value:
    return scope.lookup(operand) if isinstance(operand, Var) else operand
