"""Whole-program defunctionalisation (§9), in the two steps that the paper sees in it.

The first is closure conversion, T[·] (`closure`). The second, "deexistentialisation",
is here: Σα. τ becomes the finite sum of what is hidden in the program, σ →ᶜ τ that of
the functions that occur, and a call a case of that sum, with the bodies as branches:

    if c then pack_ρ ⟨a, λp. s⟩ else pack_ρ′ ⟨b, λp. t⟩     f : ρ + ρ′
      unpack f as α, z in (snd z) ⟨fst z, x⟩          ⟶     case f of {inl a → s[a, x];
                                                                       inr b → t[b, x]}

Which types and functions these are is found by going through the program in the order
of its evaluation, with a *layout* (`layouts`) for every value: the lambda sets of each
place. A function's body is gone through once for each call, so that what it is called
with at one place does not mix with what it is called with elsewhere.

The result is a term of the first-order language (Fig. 1) with the same scope and value,
to which all forms of first-order CHAD apply.

Layouts are finite, as the terms' types are simple and no function is recursive. What is
refused: functions in the scope or in the value of the program, of which nothing is
known; functions in the state of a loop (or in what a fold combines), as a step may wrap
the function of the last one: a layout that contains itself needs boxes; arrays whose
functions differ, where control flow joins; programs of more copies than `LARGEST`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import assert_never

from chadllvm.ir.term import Var
from chadllvm.ir.types import I64, UNIT, Product, Sum, Type
from chadllvm.paper.arrays import Build, Dim, Index
from chadllvm.paper.closure import convert
from chadllvm.paper.deep import deep
from chadllvm.paper.function_types import has_function, instantiated
from chadllvm.paper.layouts import (
    Code,
    Either,
    Flat,
    Layout,
    Never,
    Pair,
    Row,
    Tagged,
    cases,
    first_order,
    injected,
    joined,
    moved,
    pair_layout,
    row_layout,
)
from chadllvm.paper.packed import ClosedFunction, Pack, Unpack
from chadllvm.paper.terms import (
    Call,
    Do,
    Inject,
    Lam,
    Let,
    MakePair,
    Match,
    Operation,
    Part,
    Ref,
    Term,
    pair,
    unit,
)
from chadllvm.paper.types import arrow
from chadllvm.support.diagnostic import InternalError

# A term with the layout of its value.
Found = tuple[Term, Layout]

# What stands for the variables of a function's body, or of the program. A variable has
# one place in it; where the code below that is gone through again, so is the binding.
Known = dict[Var, Found]

LARGEST = 10_000


def defunctionalise(variables: Collection[Var], term: Term) -> Term:
    """The first-order term of a term with functions, in the same scope.

    Raises:
        InternalError: if the program is one of those that are refused (see above).
    """
    return deexistentialise(variables, convert(term))


def deexistentialise(variables: Collection[Var], term: Term) -> Term:
    """The same for a term whose functions are closed ones, packed or not."""
    known: Known = {}
    for var in variables:
        if has_function(var.type):
            raise InternalError(f"reference: the function in {var.name} is unknown")
        known[var] = Ref(var), Flat(var.type)
    with deep():
        found, layout = _Program().term(term, known)
    if not isinstance(layout, Flat):
        raise InternalError("reference: a function in the result of a program")
    return found


class _Program:
    """`_hidden` are the types that the unpacks around here have found."""

    def __init__(self) -> None:
        self._copies = 0
        self._hidden: dict[Var, Type] = {}

    def term(self, term: Term, known: Known) -> Found:
        match term:
            case Ref(var):
                if var not in known:
                    raise InternalError(f"reference: {var.name} is unknown")
                return known[var]
            case Let(var, Do(Unpack(alpha), (arg,)), body):
                return self._unpack(alpha, var, self.term(arg, known), body, known)
            case Let(var, value, body):
                return self._let(var, self.term(value, known), body, known)
            case Lam():
                raise InternalError("reference: a function that is not closed")
            case Call(function, arg):
                return self._call(self.term(function, known), self.term(arg, known))
            case Match(arg, left, right):
                return self._match(self.term(arg, known), left, right, known)
            case Do(op, args) if any(isinstance(arg, Lam) for arg in args):
                return self._loop(op, args, known)
            case Do():
                return self._do(term, [self.term(arg, known) for arg in term.args])
            case _:
                assert_never(term)

    def _let(self, var: Var, value: Found, body: Term, known: Known) -> Found:
        term, layout = value
        new = Var(var.name, first_order(layout))
        known[var] = Ref(new), layout
        inner, result = self.term(body, known)
        return Let(new, term, inner), result

    def _call(self, function: Found, arg: Found) -> Found:
        """A case of the functions that may be called; of one, its body."""
        which, code = function
        assert isinstance(code, Code)
        if len(code.functions) == 1:
            return self._body(code.functions[0], arg)
        term, layout = arg
        given = Var("a", first_order(layout))
        found = [self._body(f, (Ref(given), layout)) for f in code.functions]
        call, result = _joined(which, [Var("code", UNIT) for _ in found], found)
        return Let(given, term, call), result

    def _body(self, function: Lam, arg: Found) -> Found:
        self._copies += 1
        if self._copies > LARGEST:
            raise InternalError(f"reference: more than {LARGEST} copies of functions")
        return self._let(function.var, arg, function.body, {})

    def _unpack(
        self, alpha: Var, var: Var, packed: Found, body: Term, known: Known
    ) -> Found:
        """A case of what may be packed."""
        term, layout = packed
        assert isinstance(layout, Tagged)
        held = [Var(var.name, first_order(content)) for content in layout.layouts]
        found: list[Found] = []
        around = self._hidden
        for new, (tag, content) in zip(held, layout.contents, strict=True):
            self._hidden = {**around, alpha: tag}
            known[var] = Ref(new), content
            found.append(self.term(body, known))
        self._hidden = around
        return _joined(term, held, found)

    def _match(self, subject: Found, left: Lam, right: Lam, known: Known) -> Found:
        term, layout = subject
        found: list[Found] = []
        held: list[Var] = []
        for branch, content in zip((left, right), _alternatives(layout), strict=True):
            new = Var(branch.var.name, first_order(content))
            held.append(new)
            if isinstance(content, Never):
                found.append((unit(), content))
            else:
                known[branch.var] = Ref(new), content
                found.append(self.term(branch.body, known))
        return _joined(term, held, found)

    def _loop(self, op: Operation, args: Sequence[Term], known: Known) -> Found:
        """An operation with bodies, which are given values without functions."""
        terms: list[Term] = []
        layouts: list[Layout] = []
        types: list[Type] = []
        for arg in args:
            if isinstance(arg, Lam):
                found, layout = self._body_of(arg, known)
                types.append(arrow(arg.var.type, first_order(layout)))
            else:
                found, layout = self.term(arg, known)
                types.append(first_order(layout))
            terms.append(found)
            layouts.append(layout)
        done = Do(op, tuple(terms))
        if isinstance(op, Build):
            return done, row_layout(layouts[1])
        if not all(isinstance(layout, Flat) for layout in layouts):
            raise InternalError(f"reference: functions in {op.rule}")
        return done, Flat(op.type_of(types))

    def _body_of(self, body: Lam, known: Known) -> Found:
        ty = body.var.type
        if has_function(ty):
            raise InternalError("reference: a function in the state of a loop")
        new = Var(body.var.name, ty)
        known[body.var] = Ref(new), Flat(ty)
        term, layout = self.term(body.body, known)
        return Lam(new, term), layout

    def _do(self, term: Do, args: Sequence[Found]) -> Found:
        terms = tuple([arg for arg, _ in args])
        layouts = [layout for _, layout in args]
        match term.op, layouts:
            case Part(index), (Pair() as whole,):
                return Do(term.op, terms), (whole.first, whole.second)[index]
            case Part(index), (Flat(Product(fields)),):
                return Do(term.op, terms), Flat(fields[index])
            case Index(), (Row(element), _):
                return Do(term.op, terms), element
            case Dim(), (Row(),):
                return Do(term.op, terms), Flat(I64)
            case MakePair(), (first, second):
                return pair(*terms), pair_layout(first, second)
            case Inject(index, ty), (held,) if has_function(ty):
                either = Either(Never(), held) if index else Either(held, Never())
                types = [first_order(either.left), first_order(either.right)]
                return injected(terms[0], index, types), either
            case ClosedFunction(function), ():
                return unit(), Code((function,))
            case Pack(tag, _), (content,):
                tag = instantiated(tag, self._hidden)
                return terms[0], Tagged(((tag, content),))
            case _ if all(isinstance(layout, Flat) for layout in layouts):
                types = [first_order(layout) for layout in layouts]
                return Do(term.op, terms), Flat(term.op.type_of(types))
            case _:
                raise InternalError(f"reference: {term.op.rule} with functions")


def _joined(subject: Term, held: Sequence[Var], found: Sequence[Found]) -> Found:
    """A case whose branches may have results of several layouts."""
    result: Layout = Never()
    for _, layout in found:
        result = joined(result, layout)
    branches = [moved(term, layout, result) for term, layout in found]
    return cases(subject, held, branches), result


def _alternatives(layout: Layout) -> tuple[Layout, Layout]:
    """The layouts of what the two constructors of a sum hold."""
    match layout:
        case Either(left, right):
            return left, right
        case Flat(Sum() as ty):
            left_type, right_type = ty.payloads
            return Flat(left_type), Flat(right_type)
        case _:
            raise InternalError("reference: a case of what is no sum")
