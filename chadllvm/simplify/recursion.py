"""Functions that call themselves, or each other, become applications of `recurse`.

    def f(x) { … y = @f(z) … }        def f(x) {
                                →       r = recurse(x) { (f, x) -> … y = call f(z) … }
                                        return r }

So the functions that are left call only those that stand in front of them, and can be
inlined. Functions that call each other become one, which takes a tag that says which of
them is meant, and the parameters of all; parameters of one type share a place, and so
do results.

Where each function calls the next one several times, to inline all calls would make of
a short program an endless one. What is called more than once and is long is then made
one function as well, with all that call it, as if they called each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.calls import differentiated, groups, is_recursive
from chadllvm.ir.rewrite import Renaming, everywhere, rebuild
from chadllvm.ir.term import (
    Binding,
    Block,
    Call,
    Function,
    If,
    Lambda,
    Operand,
    Program,
    Var,
    nested,
)
from chadllvm.ir.types import I64, Fun, Type
from chadllvm.ops.index import nothing
from chadllvm.ops.recurse import Recurse


def recursion(program: Program) -> Program:
    """The program without functions that call themselves by way of their names."""
    functions = {f.name: f for f in program.functions}
    made: dict[str, Function] = {}
    components = groups(functions, program.entry.name)
    together = _too_long_inlined(functions, components)
    for group in components:
        if is_recursive(functions, group) and together.isdisjoint(group):
            made.update(_replaced([functions[name] for name in group]))
    if together:
        chosen = [f for f in program.functions if f.name in together]
        made.update(_replaced(chosen))
    if not made:
        return program
    # What is put together calls what is not, but never the other way round.
    ordered = sorted(program.functions, key=lambda f: f.name in together)
    return Program(tuple([made.get(f.name, f) for f in ordered]))


# A program that inlining makes longer than this, and this many times as long as it is
# written, is left in functions; those that are shorter are inlined all the same.
_LONGEST = 4_000
_MOST_TIMES = 4
_SHORT = 100


def _too_long_inlined(
    functions: Mapping[str, Function], components: Sequence[Sequence[str]]
) -> set[str]:
    """The functions that are not to be inlined, with all that call them."""
    own = {
        name: _length(functions[name].body) for group in components for name in group
    }
    calls = {name: Counter(_calls(functions[name].body)) for name in own}
    inlined: dict[str, int] = {}
    for group in components:
        for name in group:
            outside = (c for c in calls[name] if c not in group)
            inlined[name] = own[name] + sum(
                calls[name][c] * inlined[c] for c in outside
            )
    entry = components[-1][-1]
    if inlined[entry] <= max(_LONGEST, _MOST_TIMES * sum(own.values())):
        return set()
    sites = sum(calls.values(), Counter())
    found = {name for name in own if sites[name] > 1 and inlined[name] > _SHORT}
    for group in components:
        if any(c in found for name in group for c in (name, *calls[name])):
            found.update(group)
    if any(differentiated(functions[name].body) for name in found):
        return set()  # A derivative would be of a function that it is taken in.
    return found


def _length(block: Block) -> int:
    """The number of bindings at any depth."""
    inner = (b for binding in block.bindings for _, b in nested(binding.expr))
    return len(block.bindings) + sum(map(_length, inner))


def _calls(block: Block) -> Iterator[str]:
    """The function that is called, for each call of one by its name."""
    for binding in everywhere(block):
        match binding.expr:
            case Call(str() as name):
                yield name


@dataclass
class _Places:
    """Where the values of one function stand among those of all of a group."""

    types: list[Type]

    def of(self, types: Iterable[Type]) -> list[int]:
        """A place of its own for each of these, which may be other functions' too."""
        taken: list[int] = []
        for ty in types:
            free = (k for k, t in enumerate(self.types) if t == ty and k not in taken)
            place = next(free, len(self.types))
            if place == len(self.types):
                self.types.append(ty)
            taken.append(place)
        return taken


def _replaced(group: Sequence[Function]) -> dict[str, Function]:
    """What replaces each function of a group."""
    params, results = _Places([]), _Places([])
    if len(group) > 1:
        params.types.append(I64)
    takes, gives = {}, {}
    for function in group:
        first = [I64] if len(group) > 1 else []
        types = [*first, *(p.type for p in function.params)]
        takes[function.name] = params.of(types)[len(first) :]
        gives[function.name] = results.of(function.body.types)
    joined = _Joined(group, params.types, results.types, takes, gives)
    return {function.name: joined.wrapper(function) for function in group}


@dataclass
class _Joined:
    """The function that a group of functions becomes."""

    group: Sequence[Function]
    params: list[Type]
    results: list[Type]
    takes: dict[str, list[int]]
    gives: dict[str, list[int]]

    def wrapper(self, function: Function) -> Function:
        """The function with an application of all in place of its body."""
        out = Builder(function.span)
        params = tuple(Var(p.name, p.type) for p in function.params)
        args = self._args(function.name, params, out)
        results = out.apply(Recurse(), args, [self._body(function.name)])
        chosen = [results[k] for k in self.gives[function.name]]
        return Function(function.name, params, out.block(chosen), function.span)

    def _args(
        self, name: str, args: Sequence[Operand], out: Builder
    ) -> tuple[Operand, ...]:
        """What a call of one of the functions gives for the parameters of all."""
        places = dict(zip(self.takes[name], args, strict=True))
        if len(self.group) > 1:
            tag = [f.name for f in self.group].index(name)
            places[0] = lit(tag)
        return tuple(
            places[k] if k in places else nothing(out, ty)
            for k, ty in enumerate(self.params)
        )

    def _body(self, title: str) -> Lambda:
        itself = Var(title, Fun(tuple(self.params), tuple(self.results)))
        params = [Var("p", ty) for ty in self.params]
        for function in self.group:
            for k, param in zip(
                self.takes[function.name], function.params, strict=True
            ):
                params[k] = Var(param.name, param.type)
        if len(self.group) > 1:
            params[0] = Var("which", I64)
        *others, last = self.group
        block = self._member(last, itself, params)
        for number, function in reversed([*enumerate(others)]):
            then = self._member(function, itself, params)
            choice = Builder(function.span)
            cond = choice.prim("ieq", params[0], lit(number), hint="is_it")
            block = choice.block(choice.emit(If(cond, then, block)))
        return Lambda((itself, *params), block)

    def _member(self, function: Function, itself: Var, params: Sequence[Var]) -> Block:
        """The body of one function, with places for the results of all."""
        places = self.takes[function.name]
        pairs = zip(function.params, (params[k] for k in places), strict=True)
        copy = Renaming(dict(pairs), fresh=True).block(function.body)
        out = Builder(function.span)
        out.bindings += self._redirected(copy, itself).bindings
        found = dict(zip(self.gives[function.name], copy.results, strict=True))
        results = [
            found[k] if k in found else nothing(out, ty)
            for k, ty in enumerate(self.results)
        ]
        return out.block(results)

    def _redirected(self, block: Block, itself: Var) -> Block:
        """The block with calls of the group's functions as calls of the joined one."""
        bindings: list[Binding] = []
        for binding in block.bindings:
            match binding.expr:
                case Call(str() as name, args) if name in self.takes:
                    out = Builder(binding.span)
                    given = self._args(name, args, out)
                    bindings += out.bindings
                    variables = [Var("unused", ty) for ty in self.results]
                    for k, var in zip(self.gives[name], binding.vars, strict=True):
                        variables[k] = var
                    call = Call(itself, given)
                    bindings.append(Binding(tuple(variables), call, binding.span))
                case expr:
                    new = rebuild(expr, lambda b: self._redirected(b, itself))
                    bindings.append(Binding(binding.vars, new, binding.span))
        return Block(tuple(bindings), block.results)
