"""Recognises builds that gather in the source (§8.1).

    build n (i. … (a ! s) …)   →   map (x. … x …) (gather a (build n (i. s)))

for an `a` that is bound outside and is surely read. Where s is i, and n the length of
`a`, the gather is `a` itself. Several such reads are a gather each, zipped; so is the
index if it is used otherwise.

An index is computed once more for its gather, with what it is made of in the body: only
small ones are, so that this is a constant factor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from chadllvm.ir.term import Var
from chadllvm.ir.types import I64, Type
from chadllvm.paper.array_types import is_array
from chadllvm.paper.arrays import (
    Build,
    Dim,
    Index,
)
from chadllvm.paper.deep import deep
from chadllvm.paper.gathers import Gather, MapOver, Zip
from chadllvm.paper.machine import Machine
from chadllvm.paper.sparse import Sparse
from chadllvm.paper.terms import (
    Call,
    Do,
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
    fst,
    function,
    snd,
    type_of,
)

# The most nodes of an index that is computed again.
LARGEST_INDEX = 16


def gathered(term: Term) -> Term:
    """The term with its builds that gather rewritten, of any depth."""
    with deep():
        return _rewritten(term, {})


def _rewritten(term: Term, known: dict[Var, Term]) -> Term:
    """The term rewritten; `known`: what the variables of lets are bound to."""
    match term:
        case Ref():
            return term
        case Let(var, bound, body):
            known[var] = bound = _rewritten(bound, known)
            return Let(var, bound, _rewritten(body, known))
        case Lam(var, body):
            return Lam(var, _rewritten(body, known))
        case Call(function, arg):
            return Call(_rewritten(function, known), _rewritten(arg, known))
        case Match(arg, left, right):
            branches = [Lam(b.var, _rewritten(b.body, known)) for b in (left, right)]
            return Match(_rewritten(arg, known), *branches)
        case Do(op, args):
            new = tuple([_rewritten(arg, known) for arg in args])
            return _of_build(new, known) if isinstance(op, Build) else Do(op, new)
        case _:
            assert_never(term)


def _of_build(args: tuple[Term, ...], known: dict[Var, Term]) -> Term:
    count, body = args
    assert isinstance(body, Lam)
    reads = _Reads(body.var)
    found = reads.term(body.body)
    if not reads.found:
        return Do(Build(), args)
    if not _is_short(count):
        n = Var("n", I64)
        return Let(n, count, _of_build((Ref(n), body), known))
    parts = [(read.var, _source(read, count, body.var, known)) for read in reads.found]
    if body.var in Machine(Sparse()).free(found):
        places = function("i", I64, lambda i: i)
        parts.append((body.var, Do(Build(), (count, places))))
    return _mapped(parts, found)


def _is_short(count: Term) -> bool:
    """Whether a number is a name, a literal or a length: it is asked for twice."""
    match count:
        case Ref() | Do(Dim() | Literal()):
            return True
        case _:
            return False


def _mapped(parts: list[tuple[Var, Term]], body: Term) -> Term:
    """map of the body over the arrays, zipped, whose elements the variables are."""
    (var, whole), *others = parts
    for _, source in others:
        whole = Do(Zip(), (whole, source))
    if not others:
        return Do(MapOver(), (Lam(var, body), whole))
    x = Var("x", is_array("gather", type_of(whole)))
    lets: list[tuple[Var, Term]] = []
    rest = x
    for other, _ in reversed(others):
        lets.append((other, snd(Ref(rest))))
        first = fst(Ref(rest))
        rest = Var("x", type_of(first))
        lets.append((rest, first))
    lets.append((var, Ref(rest)))
    for bound, part in reversed(lets):
        body = Let(bound, part, body)
    return Do(MapOver(), (Lam(x, body), whole))


@dataclass(frozen=True)
class _Read:
    """A read a ! s in the body of a build, and the variable in its place."""

    array: Var
    index: Term
    var: Var


def _source(read: _Read, count: Term, index: Var, known: dict[Var, Term]) -> Term:
    """`a` itself, if the read is of each of its elements, or a gather of it."""
    size = known.get(count.var) if isinstance(count, Ref) else count
    match read.index, size:
        case Ref(var), Do(Dim(0), (Ref(measured),)) if (
            var is index and measured is read.array
        ):
            return Ref(read.array)
        case _:
            new = Var(index.name, I64)
            places = Let(index, Ref(new), read.index)
            return Do(
                Gather(), (Ref(read.array), Do(Build(), (count, Lam(new, places))))
            )


@dataclass
class _Reads:
    """Finds the reads that surely happen, and replaces them by variables."""

    index: Var
    found: list[_Read] = field(default_factory=list)
    # What is bound in the body: the terms that an index may be made of, or None.
    _bound: dict[Var, Term | None] = field(default_factory=dict)

    def term(self, term: Term) -> Term:
        match term:
            case Let(var, bound, body):
                new = self.term(bound)
                self._bound[var] = self._simple(bound)
                return Let(var, new, self.term(body))
            case Match(arg, left, right):
                return Match(self.term(arg), left, right)
            case Do(Index(), (Ref(whole), index)) if whole not in self._bound:
                simple = self._simple(index)
                if simple is None or not self._moves(simple):
                    return term
                return Ref(self._read(whole, simple, type_of(term)))
            case Do(op, args):
                return Do(op, tuple([self.term(arg) for arg in args]))
            case Ref() | Lam() | Call():
                return term
            case _:
                assert_never(term)

    def _moves(self, index: Term) -> bool:
        """Whether it is another one for each element."""
        match index:
            case Ref(var):
                return var is self.index
            case Do(_, args):
                return any([self._moves(arg) for arg in args])
            case _:
                return False

    def _read(self, whole: Var, index: Term, ty: Type) -> Var:
        """The variable for a read; the same one if it is the second at index i."""
        for read in self.found:
            same = isinstance(index, Ref) and isinstance(read.index, Ref)
            if read.array is whole and same:
                return read.var
        self.found.append(_Read(whole, index, Var("x", ty)))
        return self.found[-1].var

    def _simple(self, term: Term) -> Term | None:
        """A term of the index and of outer variables that may be evaluated again."""
        match term:
            case Ref(var):
                return self._bound.get(var, term)
            case Do(MakeUnit() | MakePair() | Part() | Literal() | Primitive(), args):
                return self._again(term, args)
            case Do(Dim() | Index(), args):
                return self._again(term, args)
            case _:
                return None

    def _again(self, term: Do, args: tuple[Term, ...]) -> Term | None:
        parts = [self._simple(arg) for arg in args]
        found = [part for part in parts if part is not None]
        if len(found) < len(parts) or sum(map(_size, found)) >= LARGEST_INDEX:
            return None
        return Do(term.op, tuple(found))


def _size(index: Term) -> int:
    """The nodes of an index."""
    if isinstance(index, Do):
        return 1 + sum([_size(arg) for arg in index.args])
    return 1
