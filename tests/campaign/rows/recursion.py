"""Functions that call themselves, and data that contains itself."""

from __future__ import annotations

from tests.campaign.table import expression, statement
from tests.campaign.writer import Writer


@expression("Recursion", "float", 0.7)
def recursive_call(w: Writer) -> str:
    name = w.pick("power_of", "even", "halved")
    w.need(name)
    return f"{name}({w.expr('float')}, {w.expr('small')})"


@expression("Recursion", "float", 0.5)
def recursion_over_an_array(w: Writer) -> str:
    w.need("tree_sum")
    v = w.a_variable("vec")
    return f"tree_sum({v}, 0, len({v}))"


@statement("Recursion", 0.6)
def local_recursion(w: Writer) -> None:
    name, n, t = w.fresh("rec"), w.fresh("n"), w.fresh("q")
    with w.bound("float") as (s,):
        step = w.capture(w.expr("float"))
        w.line(f"def {name}({n}, {s}):")
        w.line(f"    if {n} <= 0:")
        w.line(f"        return {s}")
        w.line(f"    return 0.5 * {name}({n} - 1, {s} * 0.5 + {step}) + {s}")
    w.line(f"{t} = {name}({w.expr('small')}, {w.expr('float')})")
    w.declare(t, "float")


@expression("Recursive data", "tree")
def tree_made(w: Writer) -> str:
    w.need("Tree")
    return w.pick(
        f"Leaf({w.expr('float')})",
        f"Node(Leaf({w.expr('float')}), {w.expr('tree')})",
        f"Node(Leaf({w.expr('float')}), Leaf(0.5))",
        f"scaled_tree({w.expr('tree')}, {w.expr('float')})",
    )


@expression("Recursive data", "float", 0.5)
def walk_of_a_tree(w: Writer) -> str:
    w.need("Tree")
    return f"product({w.expr('tree')})"


@expression("Recursive data", "float", 0.4)
def walk_of_a_chain(w: Writer) -> str:
    w.need("Chain")
    return f"horner({w.expr('chain')}, {w.expr('float')})"


@expression("Recursive data", "chain")
def chain_made(w: Writer) -> str:
    w.need("Chain")
    return w.pick(
        f"chained({w.expr('vec')})",
        f"Chain({w.expr('float')}, None)",
        f"backwards({w.expr('chain')})",
        f"Chain({w.expr('float')}, {w.expr('chain')})",
    )


@statement("Recursive data", 0.5)
def data_kept(w: Writer) -> None:
    kind = w.pick("tree", "chain")
    name = w.fresh("t")
    w.need({"tree": "Tree", "chain": "Chain"}[kind])
    annotation = {"tree": "Tree", "chain": "Chain | None"}[kind]
    w.line(f"{name}: {annotation} = {w.expr(kind)}")
    w.declare(name, kind)


@statement("Recursive data", 0.4)
def chain_grown(w: Writer) -> None:
    w.need("Chain")
    name, v = w.fresh("c"), w.fresh("v")
    w.line(f"{name}: Chain | None = None")
    w.line(f"for {v} in {w.expr('vec')}:")
    with w.looped():
        w.declare(v, "float")
        w.line(f"{name} = Chain({w.expr('float')} * 0.5, {name})")
    w.declare(name, "chain")
