"""Closure conversion of functions that calls of a recursion return.

    r, f = recurse(x) { g, p ->               r, k, ys = recurse[1](x) { g, p ->
      …                                         …
      s, h = call g(a)                          s, j = call g(a)
      f = fun (d) { … h(e) … y … }     →        yield r, y }
      yield r, f }                            recurse(k, d) { g', i, d ->
    f(d)                                        y' = index(ys, i); j' = …
                                                … call g'(j', e) … y' … }

What the calls' functions capture is collected by the calls, and a function is the
number of its call. To call the outermost one is a recursion again, which finds by the
number what the function captured; numbers of the functions it calls are among that.

Arrays that a call was given are not kept by it. Who calls has them, because it made
them or was given them itself, and gives them to the function again:

    r, f = recurse(x) { g, p ->               …
      s, h = call g(p)                        recurse(k, d, x) { g', i, d, p ->
      f = fun (d) { … h(e) … p … }     →        … call g'(j', e, p) … p … }
      yield r, f }

So of an array that calls hand on the tape has one, and a derivative of the derivative
one cell. Of what is updated behind the calls it has the elements that are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from chadllvm.closure.shapes import Shapes
from chadllvm.closure.tape import store_or_recompute
from chadllvm.closure.values import (
    Again,
    Itself,
    Outermost,
    Recursion,
    Returned,
    Scope,
    Value,
    as_function,
    as_operand,
    functions_among,
    move,
    value_of,
)
from chadllvm.ir.build import Builder, lit
from chadllvm.ir.term import Apply, Binding, Call, Lambda, Operand, Var, nested
from chadllvm.ir.types import I64, Array, Box, Fun, has_fun
from chadllvm.ops.handed_back import handed_back_by
from chadllvm.ops.index import Index, MakeBox, Unbox
from chadllvm.ops.recurse import Recurse
from chadllvm.support.diagnostic import InternalError

if TYPE_CHECKING:
    from chadllvm.closure.convert import Converter


def convert_recursion(
    converter: Converter, node: Apply, binding: Binding, scope: Scope, out: Builder
) -> None:
    """Functions among the results of calls become the calls' numbers."""
    (body,) = node.bodies
    op = node.op
    assert isinstance(op, Recurse)
    count = op.plain(body)
    args = tuple(as_operand(value_of(a, scope)) for a in node.args)
    itself, *params = body.params
    assert isinstance(itself.type, Fun)
    plain = [ty for ty in body.body.types[:count] if not has_fun(ty)]
    returns = len(plain) < count
    collects = op.collects or returns
    number = (I64,) if collects else ()
    function = Var(itself.name, Fun(itself.type.params, (*plain, *number)))
    recursion = Recursion()
    new = [Var(p.name, p.type) for p in params]
    scope.values.update(zip(params, new, strict=True))
    converter.fleeting.update(new[k] for k in handed_back_by(body, count).values())
    converter.follow_calls(new, [args])
    while True:
        scope.values[itself] = Itself(recursion, function, itself.type.results)
        bindings, results = converter.block(body.body, scope)
        kept = [p for p in new if p not in recursion.lent.values()]
        captures, again = _stored(converter, results, bindings, kept)
        given = {k: p for k, p in enumerate(new) if p in captures and _is_array(p)}
        if converter.follow_calls(new, _given(bindings, function)):
            recursion.lent.clear()  # Elements that are read are stored now.
        elif given:
            recursion.lent |= given  # Then callers may need what they were given.
        else:
            break
    inner = out.child()
    inner.bindings = bindings
    shapes = Shapes([*bindings, *again], new, converter.steady)
    stored: list[Operand] = [
        inner.one(Apply(MakeBox(), (v,)), v.name)
        if isinstance(v.type, Array) and not shapes.is_fixed(v)
        else v
        for v in captures
    ]
    if returns and not stored and not op.collects:
        stored.append(lit(False))  # So that calls have numbers.
    own = [as_operand(r) for r in results[:count] if r not in functions_among(results)]
    collected = [as_operand(r) for r in results[count:]]
    block = inner.block([*own, *collected, *stored])
    applied = Apply(
        Recurse(op.collects + len(stored)), args, (Lambda((function, *new), block),)
    )
    names = [v.name for v in binding.vars if not has_fun(v.type)]
    start = len(own) + len(number)
    if number and not op.collects:
        names.insert(len(own), "last")
    outer = out.emit(applied, *names, *(v.name for v in captures))
    arrays = outer[start + op.collects :]
    converter.tape.update(arrays)
    rest = iter(outer)
    for var in binding.vars:
        if not has_fun(var.type):
            scope.values[var] = next(rest)
    found = functions_among(results)
    if not found:
        return
    (element,) = found
    recursion.captures = tuple(captures)
    recursion.element = Again(element, tuple(again))
    recursion.results = _returned(binding).results
    names_of = dict(zip(captures, arrays, strict=False))
    last = outer[len(own)]
    for var in binding.vars:
        if has_fun(var.type):
            lent = tuple(args[k] for k in recursion.lent)
            scope.values[var] = Outermost(recursion, last, lent, {**names_of})


def _given(bindings: Iterable[Binding], function: Var) -> Iterator[Sequence[Operand]]:
    """What the calls of a function are given."""
    for binding in bindings:
        match binding.expr:
            case Call(called, args) if called is function:
                yield args
        for _, block in nested(binding.expr):
            yield from _given(block.bindings, function)


def _is_array(var: Var) -> bool:
    return isinstance(var.type, Array | Box)


def _returned(binding: Binding) -> Fun:
    """The type of the function among the results."""
    (found,) = (v.type for v in binding.vars if isinstance(v.type, Fun))
    return found


def _stored(
    converter: Converter,
    results: Sequence[Value],
    bindings: Sequence[Binding],
    params: Sequence[Var],
) -> tuple[list[Var], list[Binding]]:
    """What the functions capture of a call: to keep, and to compute again."""
    captures = converter.captures(functions_among(results), bindings, params)
    return store_or_recompute(captures, bindings, params, converter.fleeting)


def call_recursion(
    converter: Converter,
    target: Itself | Returned | Outermost,
    args: Sequence[Value],
    out: Builder,
) -> list[Value]:
    """The results of a call of what is known by a recursion."""
    match target:
        case Itself(recursion, function, results):
            given = [*map(as_operand, args)]
            returned = out.call(function, given)
            lent = tuple(given[k] for k in recursion.lent)
            rest = iter(returned)
            return [
                Returned(recursion, returned[-1], lent) if has_fun(ty) else next(rest)
                for ty in results
            ]
        case Returned(recursion, number, lent):
            if recursion.itself is None:
                raise InternalError(
                    "closure: a call's function outside of its recursion"
                )
            operands = (number, *map(as_operand, args), *lent)
            return list(out.call(recursion.itself, operands))
        case Outermost():
            return list(_run(converter, target, [*map(as_operand, args)], out))


def _run(
    converter: Converter, target: Outermost, args: Sequence[Operand], out: Builder
) -> tuple[Var, ...]:
    """The recursion that runs the functions of all calls from the outermost on."""
    recursion = target.recursion
    assert recursion.element is not None
    number = Var("call", I64)
    params = [Var(a.name if isinstance(a, Var) else "ct", a.type) for a in args]
    lent = [Var(p.name, p.type) for p in recursion.lent.values()]
    inner = out.child()
    names: dict[Var, Operand] = dict(zip(recursion.lent.values(), lent, strict=True))
    for capture, array in target.arrays.items():
        value = inner.one(Apply(Index(), (array, number)), capture.name)
        if value.type != capture.type:  # An array that was put into a box.
            value = inner.one(Apply(Unbox(), (value,)), capture.name)
        names[capture] = value
    function: Value = move(recursion.element, names)
    for renaming in target.moves:
        function = move(function, renaming)
    types = (I64, *(p.type for p in (*params, *lent)))
    outer, recursion.itself = (
        recursion.itself,
        Var("back", Fun(types, recursion.results)),
    )
    itself = recursion.itself
    results = converter.call(as_function(function), params, inner)
    recursion.itself = outer
    block = inner.block(map(as_operand, results))
    body = Lambda((itself, number, *params, *lent), block)
    return out.apply(Recurse(), (target.number, *args, *target.lent), [body])


def needs_of_recursion(converter: Converter, value: Outermost) -> Iterator[Operand]:
    """What the function of the outermost call reads when it is called."""
    yield value.number
    yield from value.lent
    yield from value.arrays.values()
    recursion = value.recursion
    assert recursion.element is not None
    known = (*recursion.captures, *recursion.lent.values())
    for operand in converter.needs(recursion.element):
        if operand not in known:
            moved: Value = operand
            for renaming in value.moves:
                moved = move(moved, renaming)
            yield as_operand(moved)
