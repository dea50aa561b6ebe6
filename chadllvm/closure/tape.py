"""Store or recompute: what is kept of a loop body or branch for a function that leaves
it.

    fs = build n { i ->                        as, bs = build n { i ->
      a = exp(…)                                 a = exp(…)
      x = index(p, i)                            x = index(p, i)
      y = mul(x, a)                      →       y = mul(x, a)
      f = fun (d) { … a … x … y … }              yield a }
      yield f }                                 and where f is called, for index j:
                                               a' = index(as, j); x' = index(p, j)
                                               y' = mul(x', a')

What a function captures from inside the body is stored for every iteration: that is the
tape, and it is nothing else. What can be computed again from the index, from variables
outside and from what is stored for other reasons need not be. Every operation runs at
most twice, since recomputation happens where the function is called, once, and contains
no call and nothing that can fail: what has not failed the first time needs no check
(`Prim.sure`). Of loops it contains those alone that make an array of cheap elements,
without a loop inside: such a loop is part of no other one that is run again. And a
loop in a loop looks for a maximum or minimum again, which is the same in whatever
order, where the body has a loop as long that does several times the work, as the one
over exponentials from which the maximum is subtracted, and where nothing but numbers is
stored then, so that one less is worth something.

What is stored is chosen so that the price of all of it, bytes and work, is the least: a
least cut through the graph of what is computed of what (`cut.py`). So a step of a chain
of cheap operations keeps its state, and computes what it made of it once more. What is
outside costs nothing: a loop's variables stand against those of all of its steps, but
for the arrays of the body around it, which may be as long.

A number that an array holds in the end anyway is not stored for good either: the pass
`lasting` reads it from there. A loop that needs nothing else of its steps, one that
fills a table, computes even an exponential again, rather than keep as many numbers as
the table has several times over.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from chadllvm.closure.cut import NEVER, SINK, SOURCE, Network
from chadllvm.ir.op import Prim
from chadllvm.ir.rewrite import free_vars_of, has_bodies, rebuild
from chadllvm.ir.term import Apply, Binding, Block, Expr, If, Lit, Operand, Var, nested
from chadllvm.ir.types import BOOL, F32, Scalar
from chadllvm.ops.build import Build
from chadllvm.ops.fold import Fold
from chadllvm.ops.heap import Fetch
from chadllvm.ops.index import Dim, Empty, Index, Sized, Unbox

# The work, in additions, that costs about what writing eight bytes to memory and
# reading them back from the cache does.
BUDGET = 8

# Operations of one body that are looked at: others are not run again.
_MOST = 2000


@dataclass(frozen=True, slots=True)
class Prices:
    """What eight bytes on the tape are worth, in additions, and the heaviest operation
    that is run again."""

    word: int
    heaviest: int


# A branch is run once, and what is outside of it may have to be stored as well.
ONCE = Prices(BUDGET, BUDGET)

# What steps store does not stay in the cache. Those that wait for each other wait for
# what is heavy; others compute it for many elements at once, about as fast as memory.
# That is done where nothing has to be stored then.
IN_ORDER = Prices(2 * BUDGET, BUDGET)
TOGETHER = Prices(2 * BUDGET, 2 * BUDGET)

# Where nothing is stored that no array holds in the end, only work counts.
_FILLING = Prices(1 << 10, 2 * BUDGET)

# A division of integers by a number that is known, which becomes a multiplication.
_DIVISION = 4

# What tells of an index where it is.
_OF_PLACES = frozenset(
    (
        *("iadd", "isub", "imul", "ineg", "imin", "imax", "from_end", "iselect"),
        *("ilt", "ile", "ieq", "ine", "and", "or", "not", "row_of", "column_of"),
    )
)

# A loop costs little beside one whose steps are so many times the work of its own.
_LITTLE = 4

# How long arrays are taken to be: what is stored and what is computed of them both are
# proportional to that.
_LENGTH = 1 << 17


def store_or_recompute(
    captures: Sequence[Var],
    bindings: Sequence[Binding],
    states: Sequence[Var],
    fleeting: Container[Var] = (),
    prices: Prices = ONCE,
    passing: Callable[[Var], bool] = lambda array: False,
    lasting: Container[Var] = (),
    *,
    is_inner: bool = False,
) -> tuple[list[Var], list[Binding]]:
    """What to store, and the bindings that compute the other captures again.

    `bindings` are those of the body in order; `states` are parameters of the body that
    are not at hand later (its index is). Arrays of an outer loop that are `fleeting`
    are not either: their steps overwrite them, so what is read of them is stored. Those
    that are `passing` would have to be stored as well, for this loop alone. Numbers
    that are `lasting` cost nothing to store. A loop that `is_inner` is run again and
    again, so that the numbers it stores in each step may be most of the tape.
    """
    known = bindings, states, fleeting, lasting, passing
    if prices is TOGETHER:
        plan = _Plan(*known, prices)
        stored, again = plan.choose(captures)
        if not stored and not plan.is_passing:
            return stored, again
        prices = IN_ORDER
    plan = _Plan(*known, prices)
    stored, again = plan.choose(captures)
    if prices is IN_ORDER and not plan.is_filling(stored):
        filling = _Plan(*known, _FILLING)
        most, work = filling.choose(captures)
        if filling.is_filling(most):
            return most, work
    if is_inner and any(_is_extremum(binding.expr) for binding in bindings):
        was_passing = plan.is_passing
        plan.beside = _beside(bindings)
        fewer, work = plan.choose(captures)
        is_plain = was_passing or not plan.is_passing
        if is_plain and len(fewer) < len(stored) and all(map(_is_number, fewer)):
            return fewer, work
    return stored, again


class _Plan:
    def __init__(
        self,
        bindings: Sequence[Binding],
        states: Sequence[Var],
        fleeting: Container[Var],
        lasting: Container[Var],
        passing: Callable[[Var], bool],
        prices: Prices,
    ) -> None:
        self.defined = {v: b for b in map(_sure, bindings) for v in b.vars}
        self.states = dict.fromkeys(states)
        self.fleeting = fleeting
        self.lasting = lasting
        self.passing = passing
        self.prices = prices
        # Whether arrays that are passing are read again.
        self.is_passing = False
        # The loops beside which an extremum is little: their sizes, and their work.
        self.beside: dict[object, int] = {}
        # Whether variables tell where a step is.
        self._places: dict[Var, bool] = {}
        # What it costs to run bindings again.
        self._weights: dict[Binding, int] = {}

    def choose(self, captures: Sequence[Var]) -> tuple[list[Var], list[Binding]]:
        """Cut the graph between what is captured and what is stored.

        A variable on the source's side is at hand later, and a binding on it is run
        again, for which what it reads has to be at hand.
        """
        self._weights.clear()
        network = Network()
        for var in captures:
            network.edge(SOURCE, var, NEVER)
        seen = dict.fromkeys(captures)
        waiting = [*captures]
        bindings: set[Binding] = set()
        while waiting:
            var = waiting.pop()
            # One more, so that what costs the same is computed.
            cost = 2 * self._bytes(var) * self.prices.word + 1
            again = self._again(var) if len(bindings) < _MOST else None
            if again is not None and _is_choice(var, again):
                cost = NEVER
            network.edge(var, SINK if again is None else again, cost)
            if again is None or again in bindings:
                continue
            bindings.add(again)
            weight = 0 if self._tells_place(var) else self._weight(again)
            network.edge(again, SINK, 16 * weight)
            for read in free_vars_of(again.expr):
                if not self._is_local(read) and not self.passing(read):
                    continue
                network.edge(again, read, NEVER)
                if read not in seen:
                    seen[read] = None
                    waiting.append(read)
        kept = network.cut()
        chosen = [b for b in dict.fromkeys(self.defined.values()) if b in kept]
        places = {v: k for k, v in enumerate([*self.states, *self.defined])}
        found = [v for v in seen if v in kept and self.defined.get(v) not in kept]
        stored = [v for v in found if self._is_local(v)]
        self.is_passing = len(stored) < len(found)
        return sorted(stored, key=places.__getitem__), chosen

    def is_filling(self, stored: Sequence[Var]) -> bool:
        """Whether what is stored is in arrays in the end, and is something."""
        return bool(stored) and all(var in self.lasting for var in stored)

    def _is_local(self, var: Var) -> bool:
        return var in self.defined or var in self.states

    def _bytes(self, var: Var) -> int:
        """What a variable takes; a large number for an array that may not be needed.

        Of an array of the body around an element, for it is read in a loop over it.
        """
        if var in self.lasting:
            return 0
        if not isinstance(var.type, Scalar):
            return 8 * _LENGTH if self._is_local(var) else 8
        return 1 if var.type == BOOL else 4 if var.type == F32 else 8

    def _again(self, var: Var) -> Binding | None:
        """The binding that would compute a variable again, if it may be."""
        binding = self.defined.get(var)
        if binding is None or self._weight(binding) >= NEVER:
            return None
        return binding

    def _tells_place(self, var: Var) -> bool:
        """Whether a number or a truth value is made of the index, and of what is the
        same in all steps: it is asked for again, and loops are split where that tells
        another thing (`lower/ranges.py`)."""
        if var not in self._places:
            match self.defined[var].expr if var in self.defined else None:
                case None:
                    self._places[var] = var not in self.states
                case Apply(Prim(name=name), args) if name in _OF_PLACES:
                    self._places[var] = all(
                        isinstance(arg, Lit) or self._tells_place(arg) for arg in args
                    )
                case _:
                    self._places[var] = False
        return self._places[var]

    def _weight(self, binding: Binding) -> int:
        """The cost of running a binding again; `NEVER` if it must not be."""
        if binding not in self._weights:
            self._weights[binding] = self._weight_of(binding.expr)
        return self._weights[binding]

    def _weight_of(self, expr: Expr) -> int:
        match expr:
            case Apply(Index() | Dim() | Sized(), (Var() as array, *_)):
                return NEVER if array in self.fleeting else 1
            case Apply(Unbox() | Fetch() | Empty()):
                return 1
            case Apply(Prim(name="row_of" | "column_of")):
                return 1  # For memory they are mostly one number, and not divided.
            case Apply(Prim(cycles=cycles, can_fail=False)):
                return cycles if cycles <= self.prices.heaviest else NEVER
            case Apply(Prim(name="ifloordiv" | "imod"), (_, Lit(value))) if value:
                return _DIVISION
            case Apply(Build(), _, (body,)) if not has_bodies(body.body):
                step = self._inner_weight(expr)
                return _LENGTH * (1 + step) if step <= BUDGET else NEVER
            case Apply(Fold(), (count,)) if _is_extremum(expr):
                step = self._inner_weight(expr)
                most = min(BUDGET, self.beside.get(_size(count), -1) // _LITTLE)
                return BUDGET if step <= most else NEVER
            case If():
                return 2 + self._inner_weight(expr)
            case _:
                return NEVER

    def _inner_weight(self, expr: Expr) -> int:
        return sum(
            self._weight(binding)
            for _, block in nested(expr)
            for binding in block.bindings
        )


def _is_choice(var: Var, binding: Binding) -> bool:
    """Whether an array is one of others: these have owners, which each of many copies
    of a choice on the tape has not."""
    match binding.expr:
        case If(_, then, orelse):
            makes = any(map(has_bodies, (then, orelse)))
            return not makes and not isinstance(var.type, Scalar)
        case _:
            return False


def _is_number(var: Var) -> bool:
    return isinstance(var.type, Scalar)


def _is_extremum(expr: Expr) -> bool:
    """Whether it is a maximum or minimum, and makes nothing else in its loop."""
    match expr:
        case Apply(Fold(kind="min" | "max"), _, (body,)):
            return len(body.body.results) == 1 and not has_bodies(body.body)
        case _:
            return False


def _beside(bindings: Sequence[Binding]) -> dict[object, int]:
    """The work of a step of the heaviest one of the loops of each size."""
    found: dict[object, int] = {}
    for binding in bindings:
        match binding.expr:
            case Apply(Build() | Fold(), (count,)) as loop:
                size = _size(count)
                found[size] = max(found.get(size, 0), _work(loop))
            case _:
                pass
    return found


def _size(count: Operand) -> object:
    """What is the same for loops of the same size."""
    return count.value if isinstance(count, Lit) else count


def _work(expr: Expr) -> int:
    """The work of a step of a loop, or of one of the steps inside of it."""
    return sum(
        binding.expr.op.cycles
        if isinstance(binding.expr, Apply) and isinstance(binding.expr.op, Prim)
        else _work(binding.expr) + 1
        for _, block in nested(expr)
        for binding in block.bindings
    )


def _sure(binding: Binding) -> Binding:
    """The binding as it is computed again, when it is known not to fail."""
    match binding.expr:
        case Apply(Prim(sure=Prim() as op), args):
            return Binding(binding.vars, Apply(op, args), binding.span)
        case If() | Apply(Build() | Fold()) as node:
            return Binding(binding.vars, rebuild(node, _sure_block), binding.span)
        case _:
            return binding


def _sure_block(block: Block) -> Block:
    return Block(tuple(map(_sure, block.bindings)), block.results)
