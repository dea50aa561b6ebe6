"""Lists of numbers to which each step of a loop appends one are collected.

    c = build(1) { _ -> yield x }           x_1, n = iterate(k, x) { i, p ->
    l = iterate(k, c) { i, s ->               w = f(p)
      d = dim[0](s)                           yield w, w }
      j = iadd(d, -1)                   →   l = the numbers of c, and those of n
      v = index(s, j)
      w = f(v)
      t = append(s, w)
      yield t }

What a step may read of its list is its size, which follows from the index, and the last
numbers, no more than the list began with: each of these is a state. It may also read
what was there at first. A list that is not empty must have been made with few numbers,
since it is copied when the loop is done.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from chadllvm.ir.build import Builder
from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import free_vars_of
from chadllvm.ir.term import Apply, Binding, Block, If, Lambda, Lit, Operand, Var
from chadllvm.ir.types import I64, Array
from chadllvm.ops.build import Build
from chadllvm.ops.grow import Append
from chadllvm.ops.index import Dim, Index
from chadllvm.simplify.walk import Walk

# The longest list of which a loop makes a longer one.
LONGEST = 8


@dataclass
class _Step:
    """What a step does but for its list: it appends a value.

    It may read sizes of the list, which are so much more than before, numbers that are
    so far from the end that it had before, and the first ones of all.
    """

    others: list[Binding] = field(default_factory=list)
    value: Operand | None = None
    sizes: dict[Var, int] = field(default_factory=dict)
    numbers: dict[Var, int] = field(default_factory=dict)
    firsts: dict[Var, int] = field(default_factory=dict)


def appended(
    walk: Walk, binding: Binding, node: Apply, k: int, length: int
) -> Binding | None:
    """What makes the list that is a loop's state number k, and begins with so many
    numbers: the loop itself if there are none, or else what joins them and more, behind
    the loop that makes these.

    None if a step does anything else with its list.
    """
    step = _step(node.bodies[0], k, length)
    if step is None:
        return None
    made = binding.vars[k]
    if not length:
        return _loop(walk, binding, node, k, step, length, made)
    more, start = Var(made.name, made.type), walk.operand(node.args[1 + k])
    walk.keep(walk.walked(_loop(walk, binding, node, k, step, length, more)))
    out = Builder(binding.span)
    size = out.prim("iadd", out.one(Apply(Dim(0), (more,))), Lit(length))
    for new in out.bindings:
        walk.keep(new)
    joined = Apply(Build(), (size,), (_joined(start, length, more),))
    return Binding((made,), joined, binding.span)


def _step(body: Lambda, k: int, length: int) -> _Step | None:
    """What a step does, if it does nothing else with the list than this."""
    block, state, found = body.body, body.params[1 + k], _Step()
    names, ends = {state: 0}, dict[Operand, int]()
    for binding in block.bindings:
        match binding.expr:
            case Apply(Append(), (array, value)) if array is state and len(names) == 1:
                names[binding.vars[0]], found.value = 1, value
            case Apply(Dim(), (array,)) if array in names:
                found.sizes[binding.vars[0]] = names[array]
            case Apply(Index(), (array, Lit(int() as at))) if (
                array in names and 0 <= at < length
            ):
                found.firsts[binding.vars[0]] = at
            case Apply(Index(), (array, at)) if array in names and at in ends:
                found.numbers[binding.vars[0]] = ends[at]
            case expr if not names.keys().isdisjoint(free_vars_of(expr)):
                return None
            case Apply(Prim(name="iadd"), (Var() as size, Lit(int() as more))) if (
                size in found.sizes and 0 <= -found.sizes[size] - more <= length
            ):
                ends[binding.vars[0]] = -found.sizes[size] - more
                found.others.append(binding)
            case Apply(Prim(name="within"), (at, _)) if at in ends:
                ends[binding.vars[0]] = ends[at]
                found.others.append(binding)
            case _:
                found.others.append(binding)
    *_, made = names
    others = [*block.results[:k], *block.results[k + 1 :]]
    if found.value is None or isinstance(found.value.type, Array):
        return None
    is_alone = names.keys().isdisjoint(others)
    return found if block.results[k] is made and is_alone else None


def _loop(
    walk: Walk,
    binding: Binding,
    node: Apply,
    k: int,
    step: _Step,
    length: int,
    made: Var,
) -> Binding:
    """The loop that makes the numbers, and has the last of them as its states."""
    count, *inits = node.args
    (body,) = node.bodies
    (index, *states), results, variables = body.params, body.body.results, binding.vars
    assert step.value is not None
    before, top = Builder(binding.span), Builder(binding.span)
    start, among = walk.operand(inits[k]), range(max(step.numbers.values(), default=0))
    last = [Var("last", step.value.type) for _ in among]
    first = [before.one(Apply(Index(), (start, Lit(length - 1 - j)))) for j in among]
    for number, at in step.firsts.items():
        walk.replace(number, before.one(Apply(Index(), (start, Lit(at)))))
    for new in before.bindings:
        walk.keep(new)
    for number, distance in step.numbers.items():
        walk.replace(number, walk.operand([step.value, *last][distance]))
    for size, more in step.sizes.items():
        walk.replace(size, top.prim("iadd", index, Lit(length + more)))
    end = len(states)
    params = (index, *states[:k], *states[k + 1 :], *last)
    after = [step.value, *last][: len(last)]
    kept = (*results[:k], *results[k + 1 : end], *after, *results[end:], step.value)
    finals = [Var("last", var.type) for var in last]
    rest = (*variables[k + 1 : end], *finals, *variables[end:])
    args = (count, *inits[:k], *inits[k + 1 :], *first)
    block = Block((*top.bindings, *step.others), kept)
    op = node.op if len(args) > 1 else Build()
    return Binding(
        (*variables[:k], *rest, made),
        Apply(op, args, (Lambda(params, block),)),
        binding.span,
    )


def _joined(start: Operand, length: int, more: Var) -> Lambda:
    """An element of a list of so many numbers and more of them."""
    index, out = Var("i", I64), Builder()
    cond = out.prim("ilt", index, Lit(length))
    first, second = out.child(), out.child()
    then = first.block([first.one(Apply(Index(), (start, index)))])
    place = second.prim("iadd", index, Lit(-length))
    orelse = second.block([second.one(Apply(Index(), (more, place)))])
    return Lambda((index,), out.block([out.one(If(cond, then, orelse))]))
