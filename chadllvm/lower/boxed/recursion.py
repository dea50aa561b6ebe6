"""Functions that call themselves: each is a subroutine, which invokes itself.

    r = recurse(x) { f, p -> … }         def f(p): …         the calls know its name
    bp = fun (d) { … call bp'(e) … }     def bp(record, d): …

A recursion of the program sees what is around it. A lambda sees what its record holds,
which therefore is passed like a parameter: a backpropagator of a recursion calls those
of other calls, and they are the same lambda with other records. Everything is passed
as the atoms that stand for it, and all memory is in region 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chadllvm.ir import loops as l
from chadllvm.ir.build import unused_name
from chadllvm.ir.loops import PTR, Reg, Subroutine
from chadllvm.ir.term import Apply, Binding, Lit, Var
from chadllvm.ir.types import I64, Acc, Array, Box, Fun, Scalar, Type
from chadllvm.lower.boxed.cells import BoxCells, CellRep, Rep, atoms_of, rebuilt
from chadllvm.ops.recurse import Recurse
from chadllvm.support.diagnostic import InternalError

if TYPE_CHECKING:
    from chadllvm.lower.boxed.lower import BoxedLowering


class Routine:
    """A subroutine in the making, and how it is invoked."""

    def __init__(
        self, lowering: BoxedLowering, name: str, results: Sequence[Type]
    ) -> None:
        self.lowering = lowering
        self.name: str = unused_name(name, lowering.subroutine_names)
        self.results = results
        self._params: list[Reg] = []
        lowering.loops.open(is_loop=False)
        self._turn = lowering.loops.reg("turn", I64)

    def param(self, name: str, ty: Type) -> Rep:
        """One more parameter: what stands for it."""
        rep, regs = self._received(name, ty)
        self._params += regs
        return rep

    def leave(self, results: Sequence[Rep]) -> None:
        """Return from the subroutine, which is complete now."""
        values = tuple(atom for rep in results for atom in atoms_of(rep))
        loops = self.lowering.loops
        loops.emit(l.Leave(values))
        types = tuple(value.type for value in values)
        body, params = loops.close(), tuple(self._params)
        made = Subroutine(self.name, self._turn, params, types, (), body, ())
        self.lowering.subroutines.append(made)

    def invoke(self, args: Sequence[Rep]) -> list[Rep]:
        """What stands for the results of a call."""
        atoms = tuple(atom for rep in args for atom in atoms_of(rep))
        received = [self._received("r", ty) for ty in self.results]
        regs = tuple(reg for _, regs in received for reg in regs)
        self.lowering.loops.emit(l.Invoke(regs, self.name, atoms))
        return [rep for rep, _ in received]

    def _received(self, name: str, ty: Type) -> tuple[Rep, list[Reg]]:
        """What stands for a value that is passed, by the registers it comes in."""
        kind = _kind(ty)
        regs = [self.lowering.loops.reg(name, part.type) for part in atoms_of(kind)]
        return rebuilt(kind, regs), regs


def _kind(ty: Type) -> Rep:
    """Something that a value of this type may be; only the types of its atoms count."""
    match ty:
        case Scalar():
            return Reg("kind", ty)
        case Array() | Box() | Fun() | Acc(_, is_read=True):
            return Reg("kind", PTR)
        case Acc(Array(Box()) as content):
            return BoxCells(Reg("kind", PTR), Reg("kind", PTR), content)
        case Acc(Array(_, rank)):
            return CellRep(Lit(0), Lit(0), (Lit(0),) * rank)
        case Acc(Box(content)):
            return _kind(Acc(content))
        case Acc(Scalar()):
            return CellRep(Lit(0), Lit(0), ())
        case _:
            raise InternalError(f"boxed: {ty} is passed to a subroutine")


def lower_recursion(low: BoxedLowering, node: Apply, binding: Binding) -> None:
    """`recurse` → a subroutine, invoked at the place where it stands."""
    op, (body,) = node.op, node.bodies
    assert isinstance(op, Recurse)
    itself, *params = body.params
    assert isinstance(itself.type, Fun)
    count = op.plain(body)
    finals, number, outputs = op.parts(binding.vars, count)
    collectors = low.growing(outputs, body, count, binding.span)
    calls = low.loops.slot("calls", Lit(0)) if op.collects else None
    routine = Routine(low, itself.name, itself.type.results)
    low.recursions[itself] = routine
    for param in params:
        low.bind(param, routine.param(param.name, param.type))
    results = low.block(body.body)
    if calls is not None:
        call = low.loops.get(calls)
        for collector, result in zip(collectors, results[count:], strict=True):
            collector.collect(call, result)
        low.loops.set(calls, low.loops.let("iadd", call, Lit(1)))
        results = [*results[:count], call]
    routine.leave(results)
    bind_results(low, (*finals, *number), routine.invoke(low.reps(node.args)))
    for made in collectors:
        made.finish()


def bind_results(
    low: BoxedLowering, variables: Sequence[Var], results: Sequence[Rep]
) -> None:
    for var, rep in zip(variables, results, strict=True):
        low.bind(var, rep)
