"""What is compiled for `jvp`: a function, or its gradient, with its tangents."""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.backend.results import Arrays, Choice, Group, Many, Result, leaf_types
from chadllvm.driver.pipeline import Compilation, Tangents, compile_program
from chadllvm.driver.plan import Plan
from chadllvm.driver.values import gradient_type, leaf_positions, tags_of_tangent
from chadllvm.ir.term import Block, Function, Program
from chadllvm.ir.types import Type
from chadllvm.support.options import CompileOptions
from chadllvm.support.request import Request


class TangentPlan(Plan):
    """The parameters and results of a function, or of its gradient, with tangents."""

    prefix = "tangents of "

    def __init__(
        self, program: Program, types: tuple[Type, ...], request: Request
    ) -> None:
        super().__init__(program, types, request)
        types = self.types
        leaves = [leaf for ty in types for leaf in leaf_types(ty)]
        self.moved = leaf_positions(types, range(len(types)))
        self.types = (*types, *(leaves[k] for k in self.moved))
        self.names = (*self.names, *_new_names(self.names, len(self.moved)))
        self.moved_tags = tags_of_tangent(self.result)
        self.result = Group((self.result, _tangent_type(self.result)))

    def compile(self, options: CompileOptions) -> Compilation:
        return compile_program(
            self.program,
            self.gradient,
            self.select,
            options,
            Tangents(self.moved, self._with_tags),
            self.ones,
        )

    def _with_tags(self, function: Function) -> Function:
        """The function whose results' tangents say which member of a union they are."""
        tangents = sum(tag is None for tag in self.moved_tags)
        results = function.body.results
        reals = iter(results[len(results) - tangents :])
        moved = [
            next(reals) if tag is None else results[tag] for tag in self.moved_tags
        ]
        everything = (*results[: len(results) - tangents], *moved)
        body = Block(function.body.bindings, everything)
        return Function(function.name, function.params, body, function.span)


def _new_names(names: Sequence[str], count: int) -> list[str]:
    """Names for the tangents' parameters, none of which is taken."""
    prefix = "t"
    while any(name.startswith(prefix) for name in names):
        prefix += "_"
    return [f"{prefix}{k}" for k in range(count)]


def _tangent_type(result: Result) -> Result:
    """The type of a result's tangent: None where there are no reals."""
    match result:
        case Group(parts, names):
            return Group(tuple(map(_tangent_type, parts)), names)
        case Choice(members):
            return Choice(tuple(map(_tangent_type, members)))
        case Many(elem, rank):
            inner = _tangent_type(elem)
            assert isinstance(inner, Group | Choice)
            return Many(inner, rank)
        case None | Arrays():
            return result
        case _:
            return gradient_type(result)
