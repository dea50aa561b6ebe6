"""Local functions that call themselves, or others that are defined right behind them.

    def even(n): …odd(n - 1)…      even = {x: x}     of the type `function even`
    def odd(n): …even(n - x)…  →   odd = {x: x}      of the type `function odd`

                                   in even:  odd = {x: x} of what even has captured

Such functions do not capture each other: a function cannot be part of itself. Each of
them captures all variables that any of them reads, which are the same for all, since
nothing stands between their definitions. In its body the others are made anew.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from chadllvm.frontend.free import captured_names
from chadllvm.frontend.source import lambda_definition
from chadllvm.frontend.surface import Defined, NamedLambda

Node = ast.Lambda | Defined


def definition_of(node: Node) -> ast.FunctionDef:
    """What a local function is, as a `def`."""
    return node.definition if isinstance(node, Defined) else lambda_definition(node)


def group_of(node: Node) -> Mapping[str, Node]:
    """The functions that are defined one behind the other with this one, by name."""
    return node.group if isinstance(node, Defined | NamedLambda) else {}


def name_of(node: Node) -> str:
    """The variable that a local function is given to, if there is one."""
    return next((n for n, other in group_of(node).items() if other is node), "")


def siblings_of(node: Node) -> dict[str, Node]:
    """The functions that a local function needs to make anew.

    If it calls, maybe by way of others, itself or one that is defined behind it, these
    are all of its group that it calls. Else there are none: it captures them.
    """
    group = group_of(node)
    found: dict[str, Node] = {}
    pending = [node]
    while pending:
        names = captured_names(definition_of(pending.pop())) & group.keys()
        new = sorted(names - found.keys())
        found |= {name: group[name] for name in new}
        pending += [group[name] for name in new]
    order = list(group)
    own = name_of(node)
    if any(order.index(name) >= order.index(own) for name in found):
        return found
    return {}


def default_name(parameter: str, owner: str = "") -> str:
    """What a capture is called that is the default of a parameter, maybe of another."""
    return f"{owner}.{parameter}=" if owner else f"{parameter}="


def capture_in(captured: str, owner: str, own: str) -> str:
    """What the function `own` calls a capture of the function `owner`."""
    if not captured.endswith("="):
        return captured
    whole = captured if "." in captured else f"{owner}.{captured}"
    owner, _, default = whole.partition(".")
    return default if owner == own else whole
