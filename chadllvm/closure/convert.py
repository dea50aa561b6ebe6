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

from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Sequence,
)
from typing import assert_never

from chadllvm.closure.recursion import (
    call_recursion,
    convert_recursion,
    needs_of_recursion,
)
from chadllvm.closure.renewed import Renewal, renewal
from chadllvm.closure.shapes import Shapes
from chadllvm.closure.tape import IN_ORDER, TOGETHER, store_or_recompute
from chadllvm.closure.updated import updated_states
from chadllvm.closure.values import (
    Again,
    Choice,
    Closure,
    Env,
    EnvRenaming,
    FunctionValue,
    Itself,
    MovedRenaming,
    Outermost,
    Returned,
    Scope,
    Stack,
    Value,
    as_function,
    as_operand,
    functions_among,
    move,
    value_of,
)
from chadllvm.ir.build import Builder, lit
from chadllvm.ir.rewrite import free_vars_of, map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Close,
    Function,
    If,
    Lambda,
    One,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import Array, Box, has_fun
from chadllvm.ops.grow import Append, DropLast
from chadllvm.ops.index import Index, MakeBox, Sized, Unbox, nothing
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Update
from chadllvm.support.diagnostic import InternalError

# Finds variables of a function: the states of loops that have one shape in all steps;
# the numbers that arrays hold in the end.
Finder = Callable[[Function], Container[Var]]

# What gives an array with elements of another one.
_HOLDS = (Index, Update, Append, DropLast, Sized)


def convert_closures(
    program: Program,
    steady: Finder = lambda function: (),
    lasting: Finder = lambda function: (),
) -> Program:
    """Remove all function values."""
    tape: set[Var] = set()

    def converted(function: Function) -> Function:
        return with_body(function, Converter(tape, steady, lasting).function(function))

    new = map_functions(program, converted)
    return Program(new.functions, frozenset(tape)) if tape else new


class Converter:
    """Converts one top-level function."""

    def __init__(self, tape: set[Var], steady: Finder, lasting: Finder) -> None:
        # The arrays of captures that it makes.
        self.tape = tape
        # The states that have the shape of what they begin with, and that.
        self.steady: dict[Operand, Operand] = {}
        self._keeps_shape: Container[Var] = ()
        self._find_steady = steady
        # The numbers that an array holds in the end, and those of the program given.
        self._lasting: set[Var] = set()
        self._lasts: Container[Var] = ()
        self._find_lasting = lasting
        self._free: dict[Lambda, tuple[Var, ...]] = {}
        self._needs: dict[FunctionValue, dict[Operand, None]] = {}
        # The states that steps update, and all that shares a buffer with their copies.
        self._updated: set[Var] = set()
        self.fleeting: set[Var] = set()
        # How many loops each array is inside of, and how many this place is.
        self._inside: dict[Var, int] = {}
        self._depth = 0

    def function(self, function: Function) -> Block:
        self._updated = updated_states(function)
        self._keeps_shape = self._find_steady(function)
        self._lasts = self._find_lasting(function) if self._updated else ()
        scope = Scope(Env())
        bindings, results = self.block(function.body, scope)
        return Block(tuple(bindings), tuple(as_operand(r) for r in results))

    def block(self, block: Block, scope: Scope) -> tuple[list[Binding], list[Value]]:
        out = Builder()
        for binding in block.bindings:
            out.span = binding.span
            before = len(out.bindings)
            self._binding(binding, scope, out)
            for new in out.bindings[before:]:
                self._place(new)
        results = [scope.lookup(r) if isinstance(r, Var) else r for r in block.results]
        return out.bindings, results

    def _binding(self, binding: Binding, scope: Scope, out: Builder) -> None:
        match binding.expr:
            case Lambda() as code:
                scope.values[binding.vars[0]] = Closure(code, scope)
            case Call(Var() as function, args):
                target = as_function(scope.lookup(function))
                values = [value_of(a, scope) for a in args]
                results = self.call(target, values, out)
                scope.values.update(zip(binding.vars, results, strict=True))
            case Apply(Index(), (Var() as stack, i)) if has_fun(stack.type):
                target = as_function(scope.lookup(stack))
                element = self._element(target, as_operand(value_of(i, scope)), out)
                scope.values[binding.vars[0]] = element
            case If() as node:
                self._if(node, binding, scope, out)
            case Apply(Recurse()) as node:
                convert_recursion(self, node, binding, scope, out)
            case Apply(_, _, bodies) as node if bodies:
                self._loop(node, binding, scope, out)
            case _:
                renamed = EnvRenaming(scope).binding(binding)
                out.bindings.append(renamed)
                pairs = zip(binding.vars, renamed.vars, strict=True)
                self._lasting.update(new for old, new in pairs if old in self._lasts)
                match renamed.expr:
                    case Apply(op, (array, *_)) if isinstance(op, _HOLDS):
                        self._follow(renamed.vars, [array])
                    case One(Var() as cell, (), array):
                        self._follow([cell], [array])
                    case Close(cell):
                        self._follow(renamed.vars, [cell])

    def _place(self, binding: Binding) -> None:
        """Note how many loops arrays are inside of; a part is where the whole is."""
        depth = self._depth
        match binding.expr:
            case Apply(Index() | Unbox() | Sized(), (Var() as whole, *_)):
                depth = self._inside.get(whole, 0)
        for var in binding.vars:
            if _is_array(var):
                self._inside.setdefault(var, depth)

    def _is_passing(self, array: Var) -> bool:
        """Whether the body around a loop at this place has made an array."""
        return self._depth > 0 and self._inside.get(array, 0) == self._depth

    def _follow(self, new: Iterable[Var], old: Iterable[Operand]) -> None:
        """Note that new arrays are what fleeting ones are, if one of the old is."""
        if any(o in self.fleeting for o in old):
            self.fleeting.update(new)

    def follow_calls(
        self, params: Sequence[Var], calls: Iterable[Sequence[Operand]]
    ) -> bool:
        """Note the parameters that fleeting arrays are given for; whether there are
        more than before."""
        before = len(self.fleeting)
        for args in calls:
            for param, arg in zip(params, args, strict=True):
                self._follow([param], [arg])
        return len(self.fleeting) > before

    def call(
        self, target: FunctionValue, args: Sequence[Value], out: Builder
    ) -> list[Value]:
        """The results of a call, with the function's body copied in place."""
        match target:
            case Closure(code, env):
                scope = Scope(env, dict(zip(code.params, args, strict=True)))
                bindings, results = self.block(code.body, scope)
                out.bindings += bindings
                return results
            case Choice(cond, then, orelse):
                blocks = []
                for branch in (then, orelse):
                    inner = out.child()
                    results = self.call(branch, args, inner)
                    blocks.append(inner.block(as_operand(r) for r in results))
                return list(out.emit(If(cond, *blocks)))
            case Again():
                return self.call(self._recomputed(target, out), args, out)
            case Itself() | Returned() | Outermost():
                return call_recursion(self, target, args, out)
            case Stack():
                raise InternalError("closure: an array of functions is called")
            case _:
                assert_never(target)

    def _recomputed(self, target: Again, out: Builder) -> FunctionValue:
        """The function, with the bindings for its captures copied in place."""
        renaming = MovedRenaming(target.moves)
        out.bindings += [renaming.binding(b) for b in target.bindings]
        # What is bound inside of them is none of the function's.
        made = (v for b in target.bindings for v in b.vars)
        value: Value = move(target.function, {v: renaming.mapping[v] for v in made})
        for names in target.moves:
            value = move(value, names)
        return as_function(value)

    def _element(self, stack: FunctionValue, i: Operand, out: Builder) -> Value:
        """The function at an index: its captures are read from their arrays."""
        match stack:
            case Stack(element, index, arrays):
                names: dict[Var, Operand] = {index: i}
                for capture, array in arrays.items():
                    value = out.one(Apply(Index(), (array, i)), capture.name)
                    if value.type != capture.type:  # An array that was put into a box.
                        value = out.one(Apply(Unbox(), (value,)), capture.name)
                    names[capture] = value
                return move(element, names)
            case _:
                raise InternalError("closure: index of what is not an array")

    # Branches.

    def _if(self, node: If, binding: Binding, scope: Scope, out: Builder) -> None:
        """Both branches give their own results, then the captures of both."""
        cond = as_operand(value_of(node.cond, scope))
        branches = [self.block(b, scope) for b in (node.then, node.orelse)]
        plain = [k for k, v in enumerate(binding.vars) if not has_fun(v.type)]
        escaping, again = [], []
        for bindings, results in branches:
            captures = self.captures(functions_among(results), bindings, ())
            stored, recomputed = store_or_recompute(
                captures, bindings, (), self.fleeting
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
            own = [as_operand(results[k]) for k in plain]
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
                    as_function(move(Again(as_function(results[k]), bindings), moved))
                    for (_, results), bindings, moved in zip(
                        branches, again, renamings, strict=True
                    )
                )
                scope.values[var] = Choice(cond, then, orelse)

    # Loops.

    def _loop(self, node: Apply, binding: Binding, scope: Scope, out: Builder) -> None:
        """Functions among the collected results become the arrays of their captures."""
        (body,) = node.bodies
        renaming = EnvRenaming(scope)
        args = renaming.operands(node.args)
        params = renaming.bind(body.params)
        pairs = zip(body.params, params, strict=True)
        self.fleeting.update(new for old, new in pairs if old in self._updated)
        for old, new, init in zip(body.params[1:], params[1:], args[1:], strict=False):
            if old in self._keeps_shape:
                self.steady[new] = init
        self._depth += 1
        self._inside.update({p: self._depth for p in params if _is_array(p)})
        bindings, results = self.block(body.body, scope)
        self._depth -= 1
        count = len(results)
        functions = functions_among(results)
        # What is read of an array that is stored in any case need not be.
        needs = {v for f in functions for v in self.needs(f)}
        stored = {v for v in needs if isinstance(v.type, Array)}
        captures, again = store_or_recompute(
            self.captures(functions, bindings, params[1:]),
            bindings,
            params[1:],
            self.fleeting,
            IN_ORDER if isinstance(node.op, Iterate) else TOGETHER,
            lambda var: var not in stored and self._is_passing(var),
            self._lasting,
            is_inner=self._depth > 0,
        )
        plain = [r for r in results if not isinstance(r, FunctionValue)]
        nexts = {
            state: result
            for state, result in zip(params[1:], results, strict=False)
            if not isinstance(result, FunctionValue)
        }
        shapes = Shapes([*bindings, *again], params, self.steady, nexts)
        renewals = (
            []
            if not isinstance(node.op, Iterate)
            else [
                found
                for state, init in zip(params[1:], args[1:], strict=True)
                if state in captures
                and _is_array(state)
                and not shapes.is_fixed(state)
                and (found := renewal(state, init, nexts[state], bindings))
            ]
        )
        captures = _renewed(captures, renewals)
        inner = out.child()
        inner.bindings = bindings
        more = [v for found in renewals for v in found.step(params[0], inner)]
        extra = [
            inner.one(Apply(MakeBox(), (v,)), v.name)
            if isinstance(v.type, Array) and not shapes.is_fixed(v)
            else v
            for v in captures
        ]
        # The states that tell of others stand behind these.
        states = len(args) - 1
        block = inner.block([*plain[:states], *more, *plain[states:], *extra])
        told = tuple([v for found in renewals for v in (found.since, found.which)])
        body = Lambda((*params, *told), block)
        applied = Apply(node.op, (*args, *[lit(0)] * len(told)), (body,))
        kept = [k for k, r in enumerate(results) if not isinstance(r, FunctionValue)]
        # The operation may return more than its body (the winner of a fold).
        trailing = list(range(count, len(binding.vars)))
        names = [binding.vars[k].name for k in kept]
        names[states:states] = [v.name for v in told]
        names += [v.name for v in captures]
        names += [binding.vars[k].name for k in trailing]
        outer = out.emit(applied, *names)
        outer = (*outer[:states], *outer[states + len(told) :])
        self.tape.update(outer[len(kept) : len(kept) + len(captures)])
        if isinstance(node.op, Iterate):
            for final, init in zip(outer, args[1:], strict=False):
                self._follow([final], [init])
        positions = [*kept, *trailing]
        own = [*outer[: len(kept)], *outer[len(outer) - len(trailing) :]]
        scope.values.update(zip((binding.vars[k] for k in positions), own, strict=True))
        arrays: dict[Var, Operand] = dict(
            zip(captures, outer[len(kept) : len(kept) + len(captures)], strict=True)
        )
        restored = [b for r in renewals for b in r.restored(arrays, binding.span)]
        for k, result in enumerate(results):
            if isinstance(result, FunctionValue):
                element = Again(result, (*restored, *again))
                scope.values[binding.vars[k]] = Stack(element, params[0], arrays)

    # What a function needs at run time.

    def captures(
        self,
        functions: Sequence[FunctionValue],
        bindings: Sequence[Binding],
        params: Sequence[Var],
    ) -> list[Var]:
        """The variables, bound by bindings or as parameters, that functions capture."""
        local = {v for b in bindings for v in b.vars} | set(params)
        found: dict[Var, None] = {}
        for function in functions:
            for operand in self.needs(function):
                if isinstance(operand, Var) and operand in local:
                    found[operand] = None
        return list(found)

    def needs(self, value: Value) -> Collection[Operand]:
        """What a value is made of at run time, each once.

        It is asked for again by each of the blocks that a function goes through.
        """
        if not isinstance(value, FunctionValue):
            return (value,)
        if value not in self._needs:
            self._needs[value] = dict.fromkeys(self._needs_of(value))
        return self._needs[value]

    def _needs_of(self, value: FunctionValue) -> Iterator[Operand]:
        match value:
            case Closure(code, env):
                for var in self._free_vars(code):
                    yield from self.needs(env.lookup(var))
            case Choice(cond, then, orelse):
                yield cond
                yield from self.needs(then)
                yield from self.needs(orelse)
            case Stack(element, index, arrays):
                yield from arrays.values()
                for operand in self.needs(element):
                    if operand is not index and operand not in arrays:
                        yield operand
            case Again(function, bindings, moves):
                yield from self._needs_again(function, bindings, moves)
            case Returned(_, number, lent):
                yield from (number, *lent)
            case Outermost():
                yield from needs_of_recursion(self, value)
            case Itself():
                raise InternalError("closure: the function of a recursion is captured")
            case _:
                assert_never(value)

    def _needs_again(
        self,
        function: FunctionValue,
        bindings: Sequence[Binding],
        moves: Sequence[dict[Var, Operand]],
    ) -> Iterator[Operand]:
        """What the function and the recomputed bindings read from outside of these."""
        recomputed = {v for b in bindings for v in b.vars}
        read = [v for b in bindings for v in free_vars_of(b.expr)]
        renaming = MovedRenaming(moves)
        for operand in (*read, *self.needs(function)):
            if operand not in recomputed:
                yield renaming.operand(operand)

    def _free_vars(self, code: Lambda) -> Iterable[Var]:
        if code not in self._free:
            self._free[code] = tuple(free_vars_of(code))
        return self._free[code]


def _renewed(captures: Sequence[Var], renewals: Sequence[Renewal]) -> list[Var]:
    """What is stored where these states are told of by others."""
    states = {found.state for found in renewals}
    told = [v for found in renewals for v in (found.since, found.which, *found.made)]
    return [*dict.fromkeys([v for v in (*captures, *told) if v not in states])]


def _is_array(var: Var) -> bool:
    return isinstance(var.type, Array | Box)
