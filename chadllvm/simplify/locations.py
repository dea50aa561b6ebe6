"""Arrays that steps of a loop exchange and update stay where they are.

A state becomes the number of a *location*: a state of its own, in which an array stays
and is updated. To exchange two arrays is then to exchange two numbers:

    iterate(n, a, b) { i, p, q ->          iterate(n, 0, 1, a, b) { i, v, w, x, y ->
      u, t = if c { yield q, p }             k, l = if c { yield w, v }
             else { yield p, q }                    else { yield v, w }
      r = index(t, i)                  →     first = ieq(l, 0)
      s = update(u, i, r)                    r = if first { e = index(x, i); yield e }
      yield s, t }                               else { f = index(y, i); yield f }
                                             g = ieq(k, 0)
                                             x1 = if g { z = update(x, i, r); yield z }
                                                  else { yield x }
                                             h = ieq(k, 1)
                                             y1 = if h { … } else { yield y }
                                             yield k, l, x1, y1 }

An update is of a place then, and needs no copy; so it is in the reverse. An inner loop
that exchanges nothing is there once for each array that it may be about, so that it
asks for no numbers. That is legal for states that are linear values (`linearity.py`).
A name that is only read may also be about any other array, which has a number then too.
So has one that a step makes. If it takes the place of a state, it is put into a
location at the end of the step that no state is about any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from chadllvm.ir.build import Builder, lit
from chadllvm.ir.rewrite import (
    Renaming,
    free_vars_of,
    map_functions,
    rebuild,
    with_body,
)
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Function,
    If,
    Lambda,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import I64
from chadllvm.ops.index import Dim, Index, nothing
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.update import Update
from chadllvm.simplify.linearity import OTHER, Exchange, Flow, States, exchanged


def locations(program: Program) -> Program:
    """Numbers of locations in place of arrays that are exchanged and updated."""
    return map_functions(program, _function)


def _function(function: Function) -> Function:
    return with_body(function, _block(function.body))


def _block(block: Block) -> Block:
    """Rewrites outer loops before those inside of them."""
    bindings = [new for old in block.bindings for new in _located(old)]
    inner = [_inside(binding) for binding in bindings]
    if len(inner) == len(block.bindings) and all(
        new is old for new, old in zip(inner, block.bindings, strict=True)
    ):
        return block
    return Block(tuple(inner), block.results)


def _inside(binding: Binding) -> Binding:
    new = rebuild(binding.expr, _block)
    return binding if new is binding.expr else Binding(binding.vars, new, binding.span)


def _located(binding: Binding) -> Iterator[Binding]:
    match binding.expr:
        case Apply(Iterate()) as node if (found := exchanged(node)) is not None:
            for new in _Locations(found).whole(binding, node):
                yield from _located(new)
        case _:
            yield binding


@dataclass
class _Names:
    """What is known in a block: of each name the locations that it may be about, and
    the number of the one that it is about; and the arrays that are there."""

    may_be: dict[Operand, States]
    number: dict[Operand, Operand]
    arrays: dict[int, Var]

    def copy(self) -> _Names:
        return _Names({**self.may_be}, {**self.number}, {**self.arrays})

    def enter(self, name: Var, may_be: States, number: Operand) -> None:
        self.may_be[name], self.number[name] = may_be, number

    def places(self, name: Operand) -> list[int]:
        return sorted(self.may_be[name])


class _Locations:
    """Rewrites one loop, with all that is in it."""

    def __init__(self, found: Exchange) -> None:
        self._states = found.states
        self._owned = found.owned
        self._tracked = found.owned | found.borrowed
        # The numbers of other arrays.
        self._others: dict[Var, int] = {}

    def whole(self, binding: Binding, node: Apply) -> Sequence[Binding]:
        """What becomes of the loop: it begins with each array in its own location."""
        arrays = [node.args[1 + k] for k in self._states]
        assert all(isinstance(array, Var) for array in arrays)
        places = {at: a for at, a in enumerate(arrays) if isinstance(a, Var)}
        names = _Names({}, {}, places)
        given = {k: (frozenset([at]), lit(at)) for at, k in enumerate(self._states)}
        out, finals = Builder(binding.span), [binding.vars[k] for k in self._states]
        self._iterate(binding, node, given, names, out, finals)
        for final in finals:
            if len(names.places(final)) > 1:
                self._named(names, final, out, final)
        return out.bindings

    def _block(self, block: Block, names: _Names, out: Builder) -> None:
        for binding in block.bindings:
            out.span = binding.span
            self._binding(binding, names, out)

    def _binding(self, binding: Binding, names: _Names, out: Builder) -> None:
        match binding.expr:
            case Apply(Update() as op, (old, *rest)) if old in names.number:
                self._update(binding.vars[0], op, old, rest, names, out)
            case Apply(Index() | Dim() as op, (array, *_)) if array in names.number:
                self._read(binding, op, names, out)
            case If() as node:
                self._branch(binding, node, names, out)
            case Apply(Iterate(), (_, *inits)) as node if any(
                init in names.number for init in inits
            ):
                self._loop(binding, node, names, out)
            case expr:
                used = [v for v in free_vars_of(expr) if v in names.number]
                arrays = {v: self._named(names, v, out) for v in used}
                out.bindings.append(Renaming(arrays).binding(binding))

    def _named(
        self, names: _Names, name: Operand, out: Builder, var: Var | None = None
    ) -> Var:
        """The array that a name is about: `var`, if it may be one of several."""
        places = names.places(name)
        if len(places) == 1:
            return names.arrays[places[0]]
        blocks = [(place, Block((), (names.arrays[place],))) for place in places]
        made = var or _again(names.arrays[places[0]])
        _choose(names.number[name], blocks, [made], out)
        return made

    def _read(
        self, binding: Binding, op: Index | Dim, names: _Names, out: Builder
    ) -> None:
        """Read an array at the location that it is at, and only there."""
        assert isinstance(binding.expr, Apply)
        array, *at = binding.expr.args
        blocks = []
        for place in names.places(array):
            inner, made = out.child(), tuple(map(_again, binding.vars))
            expr = Apply(op, (names.arrays[place], *at))
            inner.bindings.append(Binding(made, expr, binding.span))
            blocks.append((place, inner.block(made)))
        _choose(names.number[array], blocks, binding.vars, out)

    def _update(
        self,
        new: Var,
        op: Update,
        old: Operand,
        rest: Sequence[Operand],
        names: _Names,
        out: Builder,
    ) -> None:
        """Update the array at the location, whichever it is."""
        places, number = names.places(old), names.number[old]
        for place in places:
            array = names.arrays[place]
            made = Apply(op, (array, *rest))
            if len(places) == 1:
                names.arrays[place] = out.one(made, array.name)
                continue
            is_here = out.prim("ieq", number, lit(place))
            inner = out.child()
            then = inner.block([inner.one(made, array.name)])
            node = If(is_here, then, Block((), (array,)))
            names.arrays[place] = out.one(node, array.name)
        names.enter(new, names.may_be[old], number)

    # Branches.

    def _branch(self, binding: Binding, node: If, names: _Names, out: Builder) -> None:
        sides: list[tuple[Builder, _Names, Block]] = []
        for block in (node.then, node.orelse):
            inner, own = out.child(), names.copy()
            self._block(block, own, inner)
            sides.append((inner, own, block))
        (one, then, a), (two, orelse, b) = sides
        rows: list[tuple[Var, Operand, Operand]] = []
        for var, x, y in zip(binding.vars, a.results, b.results, strict=True):
            if var not in self._tracked:
                rows.append((var, x, y))
                continue
            for own, result in ((then, x), (orelse, y)):
                self._enter_other(result, own)
            number, other = then.number[x], orelse.number[y]
            if number != other:
                rows.append((Var(f"{var.name}_at", I64), number, other))
                number = rows[-1][0]
            names.enter(var, then.may_be[x] | orelse.may_be[y], number)
        for place, array in names.arrays.items():
            pair = then.arrays[place], orelse.arrays[place]
            if pair != (array, array):
                rows.append((_again(array), *pair))
                names.arrays[place] = rows[-1][0]
        rows += self._others_behind(sides, names)
        blocks = one.block([x for _, x, _ in rows]), two.block([y for *_, y in rows])
        new = Binding(tuple(v for v, *_ in rows), If(node.cond, *blocks), binding.span)
        out.bindings.append(new)

    def _enter_other(self, array: Operand, names: _Names) -> None:
        """Any other array that a name may be about gets a number, too."""
        if array in names.number:
            return
        assert isinstance(array, Var)
        place = self._others.setdefault(array, len(self._states) + len(self._others))
        names.arrays[place] = array
        names.enter(array, frozenset([place]), lit(place))

    def _others_behind(
        self, sides: Sequence[tuple[Builder, _Names, Block]], names: _Names
    ) -> Iterator[tuple[Var, Operand, Operand]]:
        """Enters the other arrays that sides have named.

        Those that a side has made are yielded, with what each side gives for them.
        """
        named = [place for _, own, _ in sides for place in own.arrays]
        for place in dict.fromkeys(p for p in named if p not in names.arrays):
            arrays = [own.arrays.get(place) for _, own, _ in sides]
            array = next(a for a in arrays if a is not None)
            makers = [
                {v for b in side.bindings for v in b.vars} for side, _, _ in sides
            ]
            names.arrays[place] = array
            if any(array in made for made in makers):
                then, orelse = (
                    nothing(side, array.type) if given is None else given
                    for (side, _, _), given in zip(sides, arrays, strict=True)
                )
                names.arrays[place] = _again(array)
                yield names.arrays[place], then, orelse

    # Loops.

    def _loop(self, binding: Binding, node: Apply, names: _Names, out: Builder) -> None:
        """An inner loop; one that exchanges nothing is there for each array."""
        _, *inits = node.args
        given = {
            k: (names.may_be[init], names.number[init])
            for k, init in enumerate(inits)
            if init in names.number
        }
        unknown = [k for k, (may_be, _) in given.items() if len(may_be) > 1]
        is_alone = len(given) == 1 or len(self._states) == 2
        if unknown and is_alone and _stable(node, given) == given.keys():
            self._split(binding, node, inits[unknown[0]], names, out)
        else:
            self._iterate(binding, node, given, names, out)

    def _split(
        self, binding: Binding, node: Apply, name: Operand, names: _Names, out: Builder
    ) -> None:
        """The loop for each location that a name may be about, as a branch."""
        sides: list[tuple[int, Builder, _Names]] = []
        for place in names.places(name):
            inner, own = out.child(), names.copy()
            self._suppose(name, place, own)
            self._binding(binding, own, inner)
            sides.append((place, inner, own))
        *_, (_, _, own) = sides
        tracked = [v for v in binding.vars if v in own.number]
        plain = [v for v in binding.vars if v not in own.number]
        changed = [
            at
            for at, array in names.arrays.items()
            if any(own.arrays[at] is not array for _, _, own in sides)
        ]
        blocks = [
            (place, inner.block([*plain, *(own.arrays[at] for at in changed)]))
            for place, inner, own in sides
        ]
        finals = [*plain, *(_again(names.arrays[at]) for at in changed)]
        copies = [(k, Renaming(fresh=True).block(block)) for k, block in blocks]
        _choose(names.number[name], copies, finals, out)
        for at, array in zip(changed, finals[len(plain) :], strict=True):
            names.arrays[at] = array
        inits = dict(zip(binding.vars, node.args[1:], strict=False))
        for var in tracked:
            init = inits[var]
            names.enter(var, names.may_be[init], names.number[init])

    def _suppose(self, name: Operand, place: int, names: _Names) -> None:
        """That a name is about a location, and so no other one that is in use."""
        for other in names.number:
            if other is name:
                names.may_be[other] = frozenset([place])
            elif other in self._owned and len(names.may_be[other]) > 1:
                names.may_be[other] -= {place}
            if len(names.may_be[other]) == 1:
                names.number[other] = lit(*names.may_be[other])

    def _iterate(
        self,
        binding: Binding,
        node: Apply,
        given: Mapping[int, tuple[States, Operand]],
        names: _Names,
        out: Builder,
        finals: Sequence[Var] = (),
    ) -> None:
        """A loop of which some initial states are about locations.

        Those of `finals` that are of one location are the final array there.
        """
        (count, *inits), (body,) = node.args, node.bodies
        index, *params = body.params
        flow = Flow({v: s for v, s in names.may_be.items() if isinstance(v, Var)})
        flow.known.update((params[k], may_be) for k, (may_be, _) in given.items())
        flow.steps(body)
        stable = _stable(node, given)
        held = States().union(*(flow.of(params[k]) for k in given if k not in stable))
        is_making, places = OTHER in held, held - {OTHER}
        changed = [
            at
            for at in names.arrays
            if finals or at in flow.updated or (is_making and at in places)
        ]
        inner = names.copy()
        states: list[tuple[Var, Operand, Var]] = []
        numbers: dict[int, Var] = {}
        for k, (param, init) in enumerate(zip(params, inits, strict=True)):
            if k not in given:
                states.append((param, init, binding.vars[k]))
                continue
            is_any = is_making and k not in stable
            may_be = places if is_any else flow.of(param)
            number = given[k][1]
            if k not in stable:
                final = Var(f"{param.name}_at", I64)
                states.append((Var(final.name, I64), number, final))
                numbers[k], number = states[-1][0], final
            inner.enter(param, may_be, numbers.get(k, number))
            names.enter(binding.vars[k], may_be, number)
        for at in changed:
            array = names.arrays[at]
            own, final = _again(array), _again(array)
            if finals and names.may_be[finals[at]] == {at}:
                final = finals[at]
            states.append((own, array, final))
            inner.arrays[at], names.arrays[at] = own, final
        steps = out.child()
        self._block(body.body, inner, steps)
        kept = [k for k in range(len(params)) if k not in stable]
        after = {k: body.body.results[k] for k in kept}
        if is_making:
            moved = {k: r for k, r in after.items() if k in given}
            after |= self._stored(moved, numbers, places, inner, steps)
        results = [inner.number.get(r, r) for r in after.values()]
        results += [inner.arrays[at] for at in changed]
        block = steps.block([*results, *body.body.results[len(params) :]])
        loop = Lambda((index, *(p for p, *_ in states)), block)
        args = (count, *(init for _, init, _ in states))
        bound = (*(f for *_, f in states), *binding.vars[len(params) :])
        out.bindings.append(Binding(bound, Apply(node.op, args, (loop,)), binding.span))

    def _stored(
        self,
        results: Mapping[int, Operand],
        before: Mapping[int, Var],
        places: States,
        names: _Names,
        out: Builder,
    ) -> dict[int, Operand]:
        """The numbers of what a step results in, where each array that it has made is
        put into one of these places: of those of the states before it, a free one."""
        for array in results.values():
            self._enter_other(array, names)
        numbers = {k: names.number[array] for k, array in results.items()}
        may_be = places.union(*(names.may_be[a] for a in results.values()))
        for made in sorted(may_be - places):
            uses = {k: out.prim("ieq", n, lit(made)) for k, n in numbers.items()}
            is_used = _any([*uses.values()], out)
            *others, free = before.values()
            for other in reversed(others):
                taken = [out.prim("ieq", n, other) for n in numbers.values()]
                free = _either(_any(taken, out), free, other, out)
            for place in sorted(places):
                is_here = out.prim("ieq", free, lit(place))
                is_put = out.prim("and", is_used, is_here)
                arrays = names.arrays[made], names.arrays[place]
                names.arrays[place] = _either(is_put, *arrays, out)
            numbers = {k: _either(uses[k], free, n, out) for k, n in numbers.items()}
        return numbers


def _any(conditions: Sequence[Var], out: Builder) -> Var:
    return reduce(lambda a, b: out.prim("or", a, b), conditions)


def _either(cond: Operand, then: Operand, orelse: Operand, out: Builder) -> Var:
    hint = orelse.name if isinstance(orelse, Var) else "free"
    return out.one(If(cond, Block((), (then,)), Block((), (orelse,))), hint)


def _choose(
    number: Operand,
    blocks: Sequence[tuple[int, Block]],
    variables: Sequence[Var],
    out: Builder,
) -> None:
    """Bind what the block of a number gives; no other one is run."""
    (place, then), *others = blocks
    if not others:
        assert then.bindings
        last = then.bindings[-1]
        out.bindings += then.bindings[:-1]
        out.bindings.append(Binding(tuple(variables), last.expr, last.span))
        return
    is_here = out.prim("ieq", number, lit(place))
    if len(others) == 1:
        ((_, block),) = others
    else:
        inner, made = out.child(), [*map(_again, variables)]
        _choose(number, others, made, inner)
        block = inner.block(made)
    out.bindings.append(Binding(tuple(variables), If(is_here, then, block), out.span))


def _again(var: Var) -> Var:
    """A new variable like another one."""
    return Var(var.name, var.type)


def _stable(node: Apply, given: Mapping[int, object]) -> set[int]:
    """The states that steps may update, but never exchange."""
    (body,) = node.bodies
    flow = Flow({body.params[1 + k]: frozenset([k]) for k in given})
    flow.block(body.body)
    return {k for k in given if flow.of(body.body.results[k]) == {k}}
