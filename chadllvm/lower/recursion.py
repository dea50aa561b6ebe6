"""`recurse` → a subroutine that invokes itself.

    r = recurse(x) { f, p ->          def f(p):
      … s = call f(a) …                 … s = f(a) …
      yield y }                →        return y
                                      r = f(x)

Numbers are passed by value; arrays and their cells as what stands for them. An array
that a call returns is in a region of whom it was called by: it is made there
(`returned.py`), or copied in time before the regions of the call are given back. What
calls collect goes into rows (`kept.py`), or into arrays that grow, at the number of the
call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from chadllvm.ir import loops as l
from chadllvm.ir.build import unused_name
from chadllvm.ir.loops import PTR, Atom, Buffer, Reg, Slot, Subroutine, into
from chadllvm.ir.term import Apply, Binding, Lit, Operand, Var
from chadllvm.ir.types import I64, Acc, Array, Box, Scalar, Type
from chadllvm.lower.collect import Collector
from chadllvm.lower.kept import KeptRows
from chadllvm.lower.reasons import NOT_FRESH, Reason
from chadllvm.lower.represent import ArrayRep, Rep, element_type
from chadllvm.ops.recurse import Recurse
from chadllvm.support.diagnostic import InternalError

if TYPE_CHECKING:
    from chadllvm.lower.lower import Lowering


class Recursion:
    """The lowering of one `recurse`, and of the calls in its body."""

    def __init__(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        assert isinstance(node.op, Recurse)
        self.lowering = lowering
        self.node = node
        self.binding = binding
        self.op = node.op
        (self.body,) = node.bodies
        self.itself, *self.params = self.body.params
        self.count = self.op.plain(self.body)
        taken = {r.name for r in lowering.recursions.values()}
        self.name: str = unused_name(self.itself.name, taken)
        # What stands for the parameters, and the roots of the results.
        self.reps: list[Rep] = []
        self.roots: dict[int, int] = {}
        # The results that are in the buffers of parameters.
        self.back = lowering.in_place.handed_back.get(self.itself, {})
        self.calls: Slot | None = None

    def lower(self) -> None:
        low, op = self.lowering, self.op
        finals, number, outputs = op.parts(self.binding.vars, self.count)
        kept = self._kept(outputs)
        collectors: list[Collector] = []
        if kept is None:
            collectors = low.growing(outputs, self.body, self.count, self.binding.span)
        if op.collects and kept is None:
            self.calls = low.loops.slot("calls", Lit(0))
        scope, outer = low.life.bodies[self.body], low.scope
        low.recursions[self.itself] = self
        low.scope = scope
        low.loops.open(is_loop=False, owner=scope)
        turn = low.loops.reg("turn", I64)
        regs = self._bind_params()
        results = low.block(self.body.body)
        if kept is not None:
            results = [*results[: self.count], kept.collect(results[self.count :])]
        if self.calls is not None:
            call = low.loops.get(self.calls)
            collected = zip(collectors, results[self.count :], strict=True)
            for collector, result in collected:
                collector.collect(call, result)
            low.loops.set(self.calls, low.loops.let("iadd", call, Lit(1)))
            results = [*results[: self.count], call]
        self._leave(turn, regs, results)
        low.scope = outer
        self.call(self.node.args, (*finals, *number))
        for made in collectors:
            made.finish()
        if kept is not None:
            kept.finish()

    def _kept(self, outputs: Sequence[Var]) -> KeptRows | None:
        """The rows that calls keep, if that is how they do."""
        low = self.lowering
        if not outputs or outputs[0] not in low.plans:
            return None
        depth = low.life.bodies[self.body].depth
        low.notes.loop(self.body, outputs, self.binding.span, depth)
        return KeptRows(low, outputs, low.plans[outputs[0]])

    def _bind_params(self) -> list[Reg]:
        """Registers for what is passed."""
        regs: list[Reg] = []
        for param in self.params:
            rep: Rep
            match _content(param.type):
                case Scalar() as ty:
                    regs.append(self.lowering.loops.reg(param.name, ty))
                    rep = regs[-1]
                case Array(_, rank) as ty:
                    root = self.lowering.roots.new()
                    rep, found = self._array(param.name, ty, rank, root)
                    regs += found
                case ty:
                    raise InternalError(f"lower: a parameter of type {ty}")
            self.reps.append(rep)
            self.lowering.bind(param, rep)
        return regs

    def _array(
        self, name: str, ty: Type, rank: int, root: int
    ) -> tuple[ArrayRep, list[Reg]]:
        """An array that is passed: its pointer and its dimensions."""
        loops = self.lowering.loops
        ptr = loops.reg(name, PTR)
        dims = [loops.reg(f"{name}_n{k}", I64) for k in range(rank)]
        for dim in dims:
            loops.is_count(dim)
        return ArrayRep(ptr, tuple(dims), element_type(ty), root), [ptr, *dims]

    def _leave(self, turn: Reg, regs: list[Reg], results: Sequence[Rep]) -> None:
        """Return from the subroutine, which is complete now."""
        low = self.lowering
        values: list[Atom] = []
        buffers: list[Buffer] = []
        for k, result in enumerate(results):
            if k in self.back:
                continue
            if isinstance(result, ArrayRep):
                made = self._wanted(k, result)
                buffers.append(Buffer(len(values), len(made.dims), made.elem))
                values += [made.ptr, *made.dims]
            else:
                values.append(low.atom_of(result))
        low.loops.emit(l.Leave(tuple(values)))
        subroutine = Subroutine(
            self.name,
            turn,
            tuple(regs),
            tuple(v.type for v in values),
            tuple(buffers),
            low.loops.close(),
            tuple(low.owned.get(low.scope, ())),
        )
        low.subroutines.append(subroutine)

    def _wanted(self, k: int, result: ArrayRep) -> ArrayRep:
        """A result where whom the call was made by wants it."""
        low = self.lowering
        root = self._root(k)
        if k in low.life.direct.get(self.itself, ()):
            low.roots.union(root, result.root)
            return result
        low.notes.copied(
            self.body.body.results[k], self.binding.span, Reason(NOT_FRESH)
        )
        ptr = low.new_buffer(result, into(self._arrays().index(k)), root)
        target = replace(result, ptr=ptr, root=root, growth=None)
        low.copy_into(target, result)
        return target

    def _arrays(self) -> list[int]:
        """The positions of the results that are arrays."""
        results = enumerate(self.body.body.results[: self.count])
        found = [k for k, r in results if isinstance(r.type, Array)]
        return [k for k in found if k not in self.back]

    def _root(self, k: int) -> int:
        """All calls' results are of one root."""
        if k not in self.roots:
            self.roots[k] = self.lowering.roots.new()
        return self.roots[k]

    def call(self, args: Sequence[Operand], variables: Sequence[Var]) -> None:
        """Invoke the subroutine, and bind what it returns."""
        low = self.lowering
        atoms: list[Atom] = []
        for rep, arg in zip(self.reps, args, strict=True):
            if isinstance(rep, ArrayRep):
                given = low.array(arg)
                low.roots.union(rep.root, given.root)
                atoms += [given.ptr, *given.dims]
            else:
                atoms.append(low.atom(arg))
        regs: list[Reg] = []
        homes: list[int] = []
        for k, var in enumerate(variables):
            if k in self.back:
                low.bind(var, low.array(args[self.back[k]]))
            elif isinstance(var.type, Array):
                root = self._root(k)
                made, found = self._array(var.name, var.type, var.type.rank, root)
                regs += found
                homes.append(low.region(low.life.home(var)))
                low.bind(var, made)
            else:
                assert isinstance(var.type, Scalar)
                regs.append(low.loops.reg(var.name, var.type))
                low.bind(var, regs[-1])
        low.loops.emit(l.Invoke(tuple(regs), self.name, tuple(atoms), tuple(homes)))


def _content(ty: Type) -> Type:
    """What a cell holds; other types are what they are."""
    match ty:
        case Acc(content) | Box(content):
            return content
        case _:
            return ty
