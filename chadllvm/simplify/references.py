"""Arrays that are chosen become a number and indices: which array it is, and which row.

An array that a branch or a step of a loop chooses among others is a *reference*: an
owner, which is an array from outside, and indices into it. The number of the owner and
the indices are scalars, so to hand them on costs nothing; the array is named again
where it is used.

    k = iterate(n, a)                   w = iterate(n, 1)
      { i, k: f64[:] ->                   { i, w: i64 ->
      x = index(k, i)                     first = ieq(w, 1)
      c = lt(x, 0.0)               →      k = if first { yield a } else { yield b }
      s = if c { yield b }                x = index(k, i)
          else { yield k }                c = lt(x, 0.0)
      yield s }                           s = if c { yield b } else { yield k }
                                          v = if c { yield 2 } else { yield w }
                                          yield v }
                                        first = ieq(w, 1)
                                        k = if first { yield a } else { yield b }

CHAD has to know: the cell of a reference is (a part of) the cell of its owner. A cell
of its own would have to be cleared and added up in each run of a block that perhaps
reads one element. Neither is a state of a loop then an array, of which steps would need
copies.

    r = if c {                          w, k = if c {
      y = index(m, i)                     yield 1, i
      yield y                      →    } else {
    } else {                              yield 2, j
      z = index(p, j)                   }
      yield z                           first = ieq(w, 1)
    }                                   r = if first { y = index(m, k); yield y }
                                            else { z = index(p, k); yield z }

Where all references have one owner, no number is needed. An array that a step makes and
a state refers to later is kept in a slot (`slots.py`), which is an owner as well.

In front of CHAD (`separate`) a branch may also give an array that it makes. That one
gets a variable of its own, which is without elements where an old array is given, so
that its cell costs nothing there:

    b = if c {                          f, w = if c {
      y = build(n) { … }                  y = build(n) { … }
      yield y                             yield y, 1
    } else {                     →      } else {
      yield x                             e = empty[f64[:]]()
    }                                     yield e, 2
                                        }
                                        new = ieq(w, 1)
                                        b = if new { yield f } else { yield x }

What a branch makes of an old array by an update is none of this: its cotangent is
handed on in place. Nor is an array that the block hands on, for its cotangent begins as
a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from chadllvm.ir.rewrite import map_functions, with_body
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Call,
    Function,
    If,
    Lambda,
    Lit,
    Operand,
    Program,
    Var,
)
from chadllvm.ir.types import Array, Box, Type
from chadllvm.ops.build import Build
from chadllvm.ops.index import Empty, Index, MakeBox, Sized, Unbox, nothing
from chadllvm.ops.iterate import Iterate
from chadllvm.ops.recurse import Recurse
from chadllvm.ops.update import Update
from chadllvm.simplify.codes import (
    NONE,
    Choice,
    Code,
    Coded,
    Coding,
    Part,
    Shaped,
    joined,
)
from chadllvm.simplify.lists import lists
from chadllvm.simplify.recursive import Recursions
from chadllvm.simplify.reference import Reference
from chadllvm.simplify.slots import Slots
from chadllvm.simplify.steps import Side, guarded
from chadllvm.simplify.windows import window
from chadllvm.support.diagnostic import Span


def references(program: Program) -> Program:
    """Numbers and indices in place of arrays that branches and loops choose."""
    return map_functions(program, lambda f: _rewritten(guarded(f), separates=False))


def separate(program: Program) -> Program:
    """The same where branches also give arrays that they make."""
    return map_functions(program, lambda f: _rewritten(f, separates=True))


def _rewritten(function: Function, separates: bool) -> Function:
    walk = _References(function.body, separates)
    body = walk.read_where_they_are(walk.block(function.body))
    new = with_body(function, body)
    done = new if separates else lists(new, walk.table)
    is_again = walk.is_again or done is not new
    return _rewritten(done, separates) if is_again else new


class _References(Recursions):
    """Rewrites inner branches, loops and recursions before those around them."""

    def __init__(self, body: Block, separates: bool) -> None:
        super().__init__(body)
        self._separates = separates
        # What blocks of functions and of loops hand on.
        self._handed_on: set[Operand] = {*body.results}
        self._hand_on(body)

    def body(self, body: Lambda) -> Lambda:
        self._handed_on.update(body.body.results)
        self._hand_on(body.body)
        return super().body(body)

    def _hand_on(self, block: Block) -> None:
        """What a block, or a branch or a loop of it, updates and then hands on."""
        for binding in reversed(block.bindings):
            match binding.expr:
                case Apply(Update(), (old, *_)) if binding.vars[0] in self._handed_on:
                    self._handed_on.add(old)
                case Apply(Iterate(), (_, *inits)):
                    pairs = zip(binding.vars, inits, strict=False)
                    handed = {init for v, init in pairs if v in self._handed_on}
                    self._handed_on |= handed
                case If(_, then, orelse):
                    for k, var in enumerate(binding.vars):
                        if var in self._handed_on:
                            self._handed_on |= {then.results[k], orelse.results[k]}
                    for side in (then, orelse):
                        self._hand_on(side)

    def visit(self, binding: Binding) -> None:
        self.steps.enter(binding)
        match binding.expr:
            case If() as node:
                for one, branch in self._without_twins(binding, node):
                    self._branch(one, branch)
                return
            case Apply(Iterate()) as node:
                self._loop(binding, node)
                return
            case Apply(Recurse()) as node:
                self.recursion(binding, node)
                return
            case Call(Var() as function) as node:
                self.call(binding, function, node)
                return
            case Apply(Empty()):
                self.table.enter(binding.vars[0], Coded((NONE,), Code(Lit(0))))
            case Apply(Index() | Unbox() | MakeBox(), (Var() as array, *at)):
                (var,) = binding.vars
                if isinstance(var.type, Array | Box):
                    self.table.enter(var, Part(array, tuple(at)))
            case Apply(Sized(), (Var() as array, *sizes)):
                self.table.enter(binding.vars[0], Shaped(array, tuple(sizes)))
            case Apply(Build()) as node:
                if (found := window(node)) is not None:
                    self.table.enter(binding.vars[0], found)
        self.keep(binding)

    # Branches.

    def _without_twins(
        self, binding: Binding, node: If
    ) -> Iterator[tuple[Binding, If]]:
        """A branch without the arrays that it gives twice, as the new version of one
        and as what is read; behind it they are choices among its other results."""
        sides = self._sides(node)
        left = [*range(len(binding.vars))]
        twice: list[tuple[Var, If]] = []
        for k, var in enumerate(binding.vars):
            if isinstance(var.type, Array | Box) and var not in self._handed_on:
                others = {m: binding.vars[m] for m in left if m != k}
                then, orelse = (_twin(side, k, others) for side in sides)
                is_inside = any(not s.is_outside(s.block.results[k]) for s in sides)
                if then is not None and orelse is not None and is_inside:
                    left = [*others]
                    twice.append((var, If(node.cond, then, orelse)))
        if not twice:
            yield binding, node
            return
        blocks = [
            Block(side.block.bindings, tuple([side.block.results[k] for k in left]))
            for side in sides
        ]
        new = If(node.cond, *blocks)
        yield Binding(tuple([binding.vars[k] for k in left]), new, binding.span), new
        for var, choice in twice:
            yield Binding((var,), choice, binding.span), choice

    def _sides(self, node: If) -> tuple[Side, Side]:
        around = self.side or Side(Block((), ()), self.steps)
        return around.sides(node)

    def _branch(self, binding: Binding, node: If) -> None:
        sides = self._sides(node)
        chosen: dict[int, Reference] = {}
        made: dict[int, Var] = {}
        for k, var in enumerate(binding.vars):
            if not isinstance(var.type, Array | Box):
                continue
            results = [side.block.results[k] for side in sides]
            windows = var in self._chosen_windows
            owners, inside = self._joined(results, sides, windows)
            if (
                windows
                and inside
                and not self._is_apart(var, k, sides, owners, windows)
            ):
                windows = False
                owners, inside = self._joined(results, sides, windows)
            if inside:
                if not self._is_apart(var, k, sides, owners, windows):
                    continue
                made[k] = Var(var.name, var.type)
                owners = (made[k], *(o for o in owners if o not in inside))
            ref = Reference(var, owners, windows)
            then, orelse = (self._from_outside(r, sides) for r in results)
            if inside or windows or ref.is_one or then is None or orelse is None:
                chosen[k] = ref
            else:
                self.table.enter(var, Choice(node.cond, then, orelse))
        if not chosen:
            self.keep(binding)
            return
        slots = {k: ref.slots() for k, ref in chosen.items()}
        blocks = [self._coded(side, chosen, made, binding.span) for side in sides]
        variables: list[Var] = []
        for k, var in enumerate(binding.vars):
            new = [made[k]] if k in made else []
            variables += [*new, *slots[k]] if k in chosen else [var]
        self.keep(Binding(tuple(variables), If(node.cond, *blocks), binding.span))
        self.bind_chosen(chosen, slots, binding.span)

    def _joined(
        self, results: Sequence[Operand], sides: Sequence[Side], windows: bool
    ) -> tuple[tuple[Var, ...], list[Var]]:
        """The owners of what branches give, and those of them that are made inside."""
        owners = joined(*(self.owners(r, windows) for r in results))
        bound = {v for side in sides for v in side.bound}
        return owners, [o for o in owners if o in bound]

    def _is_apart(
        self,
        var: Var,
        k: int,
        sides: Sequence[Side],
        owners: Sequence[Var],
        windows: bool,
    ) -> bool:
        """Whether an array that a branch makes gets a variable of its own.

        Where all are new it needs none.
        """
        is_whole = not self._separates or var in self._handed_on
        if is_whole and not windows and var not in self._renewed.branches:
            return False
        bound = {v for side in sides for v in side.bound}
        if bound.union((NONE,)).issuperset(owners):
            return False
        return all(
            side.makes(owner)
            for side in sides
            for owner in self.owners(side.block.results[k], windows)
            if owner in side.bound
        )

    def _from_outside(
        self, result: Operand, sides: Sequence[Side]
    ) -> Var | Part | Choice | None:
        """What a branch gives, if it takes it from outside of all sides as it is."""
        assert isinstance(result, Var)
        side = next((s for s in sides if result in s.bound), None)
        if side is None:
            return result
        match side.bound[result].expr:
            case Apply(Index() | Unbox() | MakeBox(), (Var() as array, *at)):
                if not all(s.is_outside(*at) for s in sides):
                    return None
                match self._from_outside(array, sides):
                    case Var() as outer:
                        return Part(outer, tuple(at))
                    case Part(outer, indices):
                        return Part(outer, (*indices, *at))
                    case _:
                        return None
            case If(cond, then, orelse) if all(s.is_outside(cond) for s in sides):
                k = side.bound[result].vars.index(result)
                one, other = (
                    self._from_outside(
                        block.results[k], [*sides, Side(block, self.steps)]
                    )
                    for block in (then, orelse)
                )
                return one and other and Choice(cond, one, other)
            case _:
                return None

    def _coded(
        self,
        side: Side,
        chosen: Mapping[int, Reference],
        made: Mapping[int, Var],
        span: Span,
    ) -> Block:
        """A branch that gives codes, and what it has made, in place of references."""
        out = Coding(span, side.block.bindings)
        results: list[Operand] = []
        for k, result in enumerate(side.block.results):
            if k not in chosen:
                results.append(result)
                continue
            assert isinstance(result, Var)
            if k in made:
                own, code = self._made(result, made[k], side, out, chosen[k].is_window)
                results.append(own)
            else:
                code = self.table.code(result, out, chosen[k].is_window)
            results += chosen[k].values(code)
        return out.block(results)

    def _made(
        self, result: Var, made: Var, side: Side, out: Coding, windows: bool
    ) -> tuple[Operand, Code]:
        """What a branch has made of a result, or nothing; and the result's code."""
        owners = self.table.owners(result, windows)
        inside = tuple([o for o in owners if o in side.bound])
        if not inside:
            return nothing(out, made.type), self.table.code(result, out, windows)
        if {*owners} <= {*inside, NONE}:
            return result, self.table.all_of(made, result, out, windows)
        old = self.table.code(result, out, windows)
        own = Reference(Var(made.name, made.type), (*inside, NONE), windows)
        self.name(own, own.values(old), out)
        new, code = self.table.all_of(made, own.var, out, windows), old
        for owner in inside:
            is_this = out.prim("ieq", old.number, self.table.number(owner))
            code = out.choice(is_this, new, code)
        return own.var, code

    # Loops.

    def _loop(self, binding: Binding, node: Apply) -> None:
        (count, *inits), (body,) = node.args, node.bodies
        chosen, slots_of = self._states(binding, node)
        if not chosen:
            self.keep(binding)
            return
        index, *params = body.params
        before, head = Coding(binding.span), Coding(binding.span)
        tail = Coding(binding.span, body.body.bindings)
        slots = {k: (ref.slots(), ref.slots()) for k, ref in chosen.items()}
        inner = {
            params[k]: (replace(ref, var=params[k]), ref.code(slots[k][0], self.table))
            for k, ref in chosen.items()
        }
        onlies: dict[Var, Var] = {}
        states: list[tuple[Var, Operand, Operand, Var]] = []
        firsts: dict[int, Sequence[Operand]] = {}
        codes: dict[int, Code] = {}
        for k, (param, init) in enumerate(zip(params, inits, strict=True)):
            result, final = body.body.results[k], binding.vars[k]
            if k not in chosen:
                states.append((param, init, result, final))
                continue
            ref = chosen[k]
            assert isinstance(init, Var) and isinstance(result, Var)
            if ref.only is not None:
                onlies[param] = ref.only
            code = self.table.code(init, before, ref.is_window)
            firsts[k] = ref.values(code)
            codes[k] = self.followed(result, ref, inner, tail)
        for group in slots_of:
            kept = group.store(codes, self.table, tail)
            none = [nothing(before, group.type) for _ in kept]
            states += zip(group.params, none, kept, group.finals, strict=True)
        for k, ref in chosen.items():
            rows = zip(*slots[k], firsts[k], ref.values(codes[k]), strict=True)
            states += [(p, i, r, f) for p, f, i, r in rows]
        for k, ref in chosen.items():
            self.name(replace(ref, var=params[k]), slots[k][0], head)
        self.out += before.bindings
        results = (*(r for _, _, r, _ in states), *body.body.results[len(params) :])
        block = Block((*head.bindings, *tail.bindings), results)
        block = self.with_constant(block, onlies)
        loop = Lambda((index, *(p for p, *_ in states)), block)
        args = (count, *(init for _, init, _, _ in states))
        finals = (*(f for *_, f in states), *binding.vars[len(params) :])
        self.keep(Binding(finals, Apply(node.op, args, (loop,)), binding.span))
        chosen = {k: _behind(ref, slots_of) for k, ref in chosen.items()}
        self.bind_chosen(
            chosen, {k: ends for k, (_, ends) in slots.items()}, binding.span
        )

    def _states(
        self, binding: Binding, node: Apply
    ) -> tuple[dict[int, Reference], list[Slots]]:
        """The final states that are references to arrays from outside of the loop, or
        to those that its steps make; and the slots for these."""
        (_, *inits), (body,) = node.args, node.bodies
        params, results = body.params[1:], body.body.results
        position = {
            p: k for k, p in enumerate(params) if isinstance(p.type, Array | Box)
        }
        step = Side(body.body, self.steps)
        inside = {*params, *step.bound}
        owners = self.solved(
            [*position],
            {p: [results[k]] for p, k in position.items()},
            {p: inits[k] for p, k in position.items()},
            lambda p, owner: owner in inside and not self._is_kept(p, owner, step),
        )
        found = {p: position[p] for p in owners}
        windows = self._chosen_windows & found.keys()
        groups = self._slots({found[p]: owners[p] for p in found}, step)
        chosen = {
            k: Reference(binding.vars[k], _kept(owners[p], step, groups), p in windows)
            for p, k in found.items()
        }
        return chosen, [*groups.values()]

    def _slots(
        self, owners: Mapping[int, Sequence[Var]], step: Side
    ) -> dict[Type, Slots]:
        """Slots for each type of the arrays made in a step that states refer to."""
        groups: dict[Type, Slots] = {}
        for k, found in owners.items():
            for ty in dict.fromkeys(o.type for o in found if o in step.bound):
                groups.setdefault(ty, Slots(ty)).states.append(k)
        made = [o for o in joined(*owners.values()) if o in step.bound]
        for ty, group in groups.items():
            group.made = [o for o in made if o.type == ty]
            group.open(self.table)
        return groups

    def _is_kept(self, state: Var, owner: Var, step: Side) -> bool:
        """Whether a step makes an array, which is kept for a state."""
        return state in self._renewed.states and step.makes(owner)


def _twin(side: Side, k: int, others: Mapping[int, Var]) -> Block | None:
    """What a branch gives, if it is from outside or given as one of these as well."""
    result = side.block.results[k]
    if side.is_outside(result):
        return Block((), (result,))
    for m, var in others.items():
        if side.block.results[m] is result:
            return Block((), (var,))
    return None


def _kept(
    owners: Sequence[Var], step: Side, groups: Mapping[Type, Slots]
) -> tuple[Var, ...]:
    """The owners of a state, with slots in place of what a step makes."""
    return joined(*(groups[o.type].params if o in step.bound else [o] for o in owners))


def _behind(ref: Reference, groups: Sequence[Slots]) -> Reference:
    """A reference behind the loop."""
    finals = {p: f for g in groups for p, f in zip(g.params, g.finals, strict=True)}
    return replace(ref, owners=tuple([finals.get(o, o) for o in ref.owners]))
