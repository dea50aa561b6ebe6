"""`build(n; i -> r1, …)`: arrays from a function of the index (paper, §7).

Each result of the body is stacked along a new first axis; rows must have equal shapes.
Of no rows the further sizes are 0: see `sized` for those that are known.
A build without results is a loop that is run for its contributions to cells, the
paper's `sequence`; its iterations commute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chadllvm.ir.build import Builder
from chadllvm.ir.op import ArrayOp, TypeRuleError, register_array_op
from chadllvm.ir.term import Apply, Binding, Lambda, Var
from chadllvm.ir.types import I64, Type, stacked
from chadllvm.ir.value import stack
from chadllvm.ops.index import Index

if TYPE_CHECKING:
    from chadllvm.chad.forward import Forward
    from chadllvm.chad.transform import Chad, Rule
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering


@register_array_op
@dataclass(frozen=True)
class Build(ArrayOp):
    """`build(n; i -> r1, …)`"""

    name = "build"

    def carried(self, node: Apply) -> int | None:
        return 0

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        (body,) = bodies
        if tuple(args) != (I64,) or [p.type for p in body.params] != [I64]:
            raise TypeRuleError("build: takes a size and a body of one index")
        return tuple(stacked(ty) for ty in body.body.types)

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        (n,), (body,) = args, bodies
        rows = [run.call(body, (i,)) for i in range(n)]
        run.pay(1 + max(n, 0))
        return tuple(
            stack([row[k] for row in rows], ty) for k, ty in enumerate(body.body.types)
        )

    def differentiate(
        self, chad: Chad, node: Apply, binding: Binding, asked: Sequence[bool]
    ) -> Rule:
        """D[build n (i. t)] = let (a, bps) = build n (i. D[t]) in
        (a, fun d. build n (i. bps[i] d[i]))

        The elements' cotangents may be untouched zeros, for nobody need use an element.
        """
        (body,) = node.bodies
        inner = chad.block(body.body, asked, [False] * len(asked), body.params)
        block = inner.primal_and_bp(binding)
        new = Apply(self, node.args, (Lambda(body.params, block),))
        bps = Var("bps", stacked(block.results[-1].type))
        with chad.backpropagator(binding, asked) as bp:
            each = Builder(binding.span)
            index = Var(body.params[0].name, I64)
            function = each.one(Apply(Index(), (bps, index)), "bp")
            cts = [
                each.one(Apply(Index(), (ct, index)), ct.name.removesuffix("_ct"))
                for ct in bp.cts
            ]
            each.call(function, (*cts, *(bp.dual(v) for v in inner.free)))
            bp.body.apply(self, node.args, [Lambda((index,), each.block(()))])
        forward = Binding((*binding.vars, bps), new, binding.span)
        return bp.rule([forward])

    def push_forward(
        self, forward: Forward, node: Apply, binding: Binding, out: Builder
    ) -> None:
        """build n (i. t) gives the tangents as further results: build n (i. t, t_t)"""
        (body,) = node.bodies
        inner, results = forward.block(body.body), body.body.results
        tangents = forward.tangents(results, binding.vars)
        both = Lambda(body.params, inner.block((*results, *tangents)))
        variables = (*binding.vars, *forward.bind(binding.vars))
        new = Apply(self, node.args, (both,))
        out.bindings.append(Binding(variables, new, binding.span))

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        (body,) = node.bodies
        count = lowering.loops.count(lowering.atom(node.args[0]))
        collectors = lowering.collectors(binding.vars, body, 0, count, binding.span)
        with lowering.loop(count, body, commutes=True) as index:
            results = lowering.step(body, index, collectors)
            for collector, result in zip(collectors, results, strict=True):
                collector.collect(index, result)
        for collector in collectors:
            collector.finish()
