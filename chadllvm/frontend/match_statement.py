"""`match` as `if`: each case is a branch, what it captures are assignments.

    match s:                          if <s fits Circle(r)>:
        case Circle(r): a = r             r = <r of Circle(r) in s>; a = r
        case Square(b): a = b     →   else:
                                          if <s fits Square(b)>: …
                                          else: if <s may fit none>: pass

What stands between < and > are expressions of our own, which `matching.py` translates.
The branches are Python's syntax trees still, so `read.py` treats them as any others.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from copy import copy
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)


class Matched(ast.expr):
    """Whether a case of a `match` is the one that is taken.

    `earlier` are the patterns of the cases before it that have no guard; the first one
    knows all `cases`. What the pattern captures is seen by the guard.
    """

    __match_args__ = ("subject", "pattern")
    _fields = ("subject",)

    def __init__(
        self,
        subject: ast.expr,
        pattern: ast.pattern,
        guard: ast.expr | None,
        earlier: tuple[ast.pattern, ...],
        cases: Sequence[ast.match_case] = (),
    ) -> None:
        super().__init__()
        self.subject = subject
        self.pattern = pattern
        self.guard = guard
        self.earlier = earlier
        self.cases = cases


class Captured(ast.expr):
    """What a name of a pattern stands for, where the subject fits the pattern."""

    _fields = ("subject",)

    def __init__(self, subject: ast.expr, pattern: ast.pattern, name: str) -> None:
        super().__init__()
        self.subject = subject
        self.pattern = pattern
        self.name = name


class Uncovered(ast.expr):
    """False, behind the last case: a value of the program is here that fits none.

    With `is_end`, it is the result of a function that ends with the `match`.
    """

    _fields = ()

    def __init__(
        self, cases: Sequence[ast.match_case], *, is_end: bool = False
    ) -> None:
        super().__init__()
        self.cases = cases
        self.is_end = is_end


def captures(pattern: ast.pattern) -> list[str]:
    """The names that a pattern binds, in order."""
    found: dict[str, None] = {}
    for node in ast.walk(pattern):
        match node:
            case ast.MatchAs(_, str(name)) | ast.MatchStar(str(name)):
                found[name] = None
            case ast.MatchMapping(rest=str(name)):
                found[name] = None
            case _:
                pass
    return list(found)


def without_match(nodes: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """Statements without `match`, also inside of others; not in local functions."""
    if not any(isinstance(n, ast.Match) for node in nodes for n in ast.walk(node)):
        return nodes
    found: list[ast.stmt] = []
    for node in nodes:
        match node:
            case ast.Match():
                found += _branches(node)
            case ast.If() | ast.While() | ast.For():
                inner = copy(node)  # With what it knows of itself, as its position.
                inner.body = [*without_match(node.body)]
                inner.orelse = [*without_match(node.orelse)]
                found.append(inner)
            case _:
                found.append(node)
    return found


def _branches(node: ast.Match) -> list[ast.stmt]:
    """The subject, computed once, and a chain of branches."""
    bound = {name for case in node.cases for name in captures(case.pattern)}
    if isinstance(node.subject, ast.Name) and node.subject.id not in bound:
        return _chain(node, node.subject)
    # No variable of the user's is called so.
    name = f"match {node.lineno}:{node.col_offset}"
    target = _at(node.subject, ast.Name(name, ast.Store()))
    subject = _at(node.subject, ast.Name(name, ast.Load()))
    return [_at(node, ast.Assign([target], node.subject)), *_chain(node, subject)]


def _chain(node: ast.Match, subject: ast.expr) -> list[ast.stmt]:
    cases, last = node.cases, node.cases[-1]
    if _takes_all(last):
        cases = cases[:-1]
        rest = [*_captured(subject, last.pattern), *without_match(last.body)]
    else:
        test = _at(node.subject, Uncovered(node.cases))
        rest = [_at(node, ast.If(test, [_at(node, ast.Pass())], []))]
    for k, case in reversed([*enumerate(cases)]):
        before = cases[:k]
        earlier = tuple(c.pattern for c in before if c.guard is None)
        rest = [_branch(node, subject, case, earlier, rest)]
    return rest


def _takes_all(case: ast.match_case) -> bool:
    """Whether this is `case _` or `case name`."""
    pattern = case.pattern
    is_wild = isinstance(pattern, ast.MatchAs) and pattern.pattern is None
    return is_wild and case.guard is None


def _branch(
    node: ast.Match,
    subject: ast.expr,
    case: ast.match_case,
    earlier: tuple[ast.pattern, ...],
    rest: list[ast.stmt],
) -> ast.If:
    pattern, is_first = case.pattern, case is node.cases[0]
    cases = node.cases if is_first else ()
    test = _at(pattern, Matched(subject, pattern, case.guard, earlier, cases))
    taken = _captured(subject, pattern)
    if case.guard is not None and taken:
        # In Python the names are bound also where the guard fails then.
        fits = _at(pattern, Matched(subject, pattern, None, earlier))
        rest = [_at(pattern, ast.If(fits, _captured(subject, pattern), [])), *rest]
    body = [*taken, *without_match(case.body)]
    return _at(pattern, ast.If(test, body, rest))


def _captured(subject: ast.expr, pattern: ast.pattern) -> list[ast.stmt]:
    return [
        _at(
            pattern,
            ast.Assign(
                [_at(pattern, ast.Name(name, ast.Store()))],
                _at(pattern, Captured(subject, pattern, name)),
            ),
        )
        for name in captures(pattern)
    ]


def _at(place: ast.AST, node: Node) -> Node:
    return ast.copy_location(node, place)
