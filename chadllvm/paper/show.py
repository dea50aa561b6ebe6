"""A term in the paper's notation, cut off where it nests deeply: for messages."""

from __future__ import annotations

from typing import assert_never

from chadllvm.paper.terms import (
    Call,
    Do,
    Inject,
    Lam,
    Let,
    Literal,
    MakePair,
    MakeUnit,
    Match,
    Part,
    Primitive,
    Ref,
    Term,
)

_DEPTH = 4


def show(term: Term, depth: int = _DEPTH) -> str:
    """The text of a term, with … for what is deeper than that."""
    if depth == 0:
        return "…"
    d = depth - 1
    match term:
        case Ref(var):
            return var.name
        case Let(var, bound, body):
            return f"let {var.name} = {show(bound, d)} in {show(body, d)}"
        case Lam(var, body):
            return f"λ{var.name}. {show(body, d)}"
        case Call(function, arg):
            return f"({show(function, d)}) ({show(arg, d)})"
        case Match(arg, left, right):
            branches = [
                f"{tag} {branch.var.name} → {show(branch.body, d)}"
                for tag, branch in (("inl", left), ("inr", right))
            ]
            return f"case {show(arg, d)} of {{{'; '.join(branches)}}}"
        case Do():
            return _operation(term, d)
        case _:
            assert_never(term)


def _operation(term: Do, depth: int) -> str:
    args = ", ".join([show(arg, depth) for arg in term.args])
    match term.op:
        case MakeUnit():
            return "⟨⟩"
        case MakePair():
            return f"⟨{args}⟩"
        case Part(index):
            return f"{('fst', 'snd')[index]}({args})"
        case Inject(index, _):
            return f"{('inl', 'inr')[index]}({args})"
        case Literal(value):
            return str(value)
        case Primitive(prim):
            return f"{prim.name}({args})"
        case op:
            return f"{op.rule}({args})"
