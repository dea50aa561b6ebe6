"""What passes that put references in place of arrays have in common (`references.py`).

They go over a block with a table of what its variables refer to, and name arrays again
where these are used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from chadllvm.ir.build import Builder
from chadllvm.ir.rewrite import Renaming
from chadllvm.ir.term import Block, Operand, Var
from chadllvm.simplify.codes import Code, Coded, Coding, Part, Table, joined
from chadllvm.simplify.reading import Reading
from chadllvm.simplify.reference import Reference
from chadllvm.simplify.renewed import renewed
from chadllvm.simplify.steps import Blocks
from chadllvm.support.diagnostic import Span

# References by the variables that they are, and the codes of these.
Named = Mapping[Var, tuple[Reference, Code]]


class Naming(Blocks):
    """A walk that knows what variables refer to.

    `windows`: the windows that branches, loops and calls choose, whose elements are to
    be read where they are.
    """

    def __init__(self, body: Block) -> None:
        super().__init__()
        self.table = Table()
        self.windows: dict[Var, tuple[Reference, Code]] = {}
        # Parameters that are one array in all steps or calls, which took their places.
        self._constant: dict[Var, Var] = {}
        self._renewed = renewed(body)
        self._chosen_windows = self._renewed.windows

    def owners(self, operand: Operand, windows: bool = False) -> tuple[Var, ...]:
        """The arrays that an operand may refer to."""
        assert isinstance(operand, Var)
        return self.table.owners(operand, windows)

    def name(self, ref: Reference, slots: Sequence[Operand], out: Builder) -> None:
        """Bind a reference again, to one owner or another."""
        if ref.only is not None:
            return
        code = ref.code(slots, self.table)
        ref.name(code, self.table, out)
        self.table.enter(ref.var, Coded(ref.owners, code, ref.is_window))
        if ref.is_window:
            self.windows[ref.var] = ref, code

    def with_constant(self, block: Block, params: Mapping[Var, Var]) -> Block:
        """A block with arrays in the places of parameters that are these always."""
        self._constant |= params
        for param, array in params.items():
            self.table.enter(param, Part(array, ()))
        return Renaming(params).block(block) if params else block

    def read_where_they_are(self, block: Block) -> Block:
        """The block that reads elements of windows where these are."""
        if not self.windows:
            return block
        reading = Reading(self.table, self.windows)
        for param, array in self._constant.items():
            while (outer := self._constant.get(array)) is not None:
                array = outer
            reading.replace(param, array)
        return reading.block(block)

    def bind_chosen(
        self,
        chosen: Mapping[int, Reference],
        slots: Mapping[int, Sequence[Var]],
        span: Span,
    ) -> None:
        """Bind what was rewritten to its owners, or put these in its place."""
        out = Builder(span)
        for k, ref in chosen.items():
            if ref.only is not None:
                self.replace(ref.var, ref.only)
            self.name(ref, slots[k], out)
        self.out += out.bindings

    def followed(self, result: Var, ref: Reference, params: Named, out: Coding) -> Code:
        """The code of what is handed on, by what the parameters refer to."""
        owners = self.table.owners(result, ref.is_window)
        code = followed = self.table.code(result, out, ref.is_window)
        for owner in (o for o in owners if o in params):
            meant = ref.part(*params[owner], code, out)
            if len(owners) == 1:
                return meant
            is_this = out.prim("ieq", code.number, self.table.number(owner))
            followed = out.choice(is_this, meant, followed)
        return followed

    def solved(
        self,
        params: Sequence[Var],
        given: Mapping[Var, Sequence[Operand]],
        inits: Mapping[Var, Operand],
        is_bad: Callable[[Var, Var], bool],
    ) -> dict[Var, tuple[Var, ...]]:
        """The owners of those parameters that are references.

        `given`: what they are from the second time on; `inits`: the first time. Owners
        that `is_bad` for a parameter are arrays from inside, which nobody keeps.
        """
        left = [*params]
        windows = self._chosen_windows & {*params}
        sources = {
            p: joined(*(self.owners(a, p in windows) for a in given[p])) for p in params
        }
        while dropped := [
            p
            for p in left
            if any(o not in left and is_bad(p, o) for o in sources[p])
            or (p not in windows and not windows.isdisjoint(sources[p]))
        ]:
            left = [p for p in left if p not in dropped]
        owners = {p: self.owners(inits[p], p in windows) for p in left}
        while True:
            reached = {
                p: joined(owners[p], *(owners.get(o, (o,)) for o in sources[p]))
                for p in left
            }
            if reached == owners:
                return owners
            owners = reached
