"""Which heaps may give their nodes numbers with gaps between them (`segments.py`).

A number has to be nothing but a place then. What is written in Python computes nothing
of numbers, for it knows of none (`frontend/references.py`). That is looked for here
nevertheless, and what derivatives and the border do:

- who asks how many nodes there are, or for all of them, counts;
- the tangents of nodes have the numbers of the nodes, in a heap of their own;
- a ledger has a row for each number. If there is one for all nodes, and it is only
  added to and read, at numbers, outside of loops, its rows may be anywhere, too. But
  then calls that add to it run in order (`tasks.py`), for it cannot be copied. So it
  stays in one piece where they do enough for copies to be worth it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from chadllvm.ir.op import Prim
from chadllvm.ir.term import (
    Apply,
    Binding,
    Block,
    Expr,
    If,
    Lit,
    One,
    Operand,
    Var,
    nested,
    operands,
)
from chadllvm.ops.heap import Columns, Count, Fetch, Load, New, Place
from chadllvm.ops.ledger import HeapOp, Ledger, Peek
from chadllvm.ops.recurse import Recurse

# What a call has to do for each column that it may add to, in operations, before a copy
# of the ledger is worth it.
_WORTH = 12


def with_gaps(
    body: Block, columns: Callable[[Ledger], int]
) -> dict[str, Ledger | None]:
    """The heaps of a function that may have gaps, of those that calls of a recursion
    make nodes in, each with its ledger, of which somebody reads so many `columns`."""
    if any(isinstance(op, Place) for op in _operations(body)):
        return {}
    numbers = _numbers(body)
    if any(_computes(e) and not numbers.isdisjoint(operands(e)) for e in _all(body)):
        return {}
    found: dict[str, Ledger | None] = {}
    for heap in dict.fromkeys(_made_by_calls(body)):
        ops = [op for op in _operations(body) if op.heap == heap]
        if any(isinstance(op, Columns) for op in ops) or not _begins(body, heap):
            continue
        ledgers = [op for op in ops if isinstance(op, Ledger)]
        counts = [op for op in ops if isinstance(op, Count)]
        if not ledgers and not counts:
            found[heap] = None
        elif (
            len(ledgers) == 1
            and _is_for_all(body, heap, len(counts))
            and _is_little(body, ledgers[0], columns(ledgers[0]))
        ):
            found[heap] = ledgers[0]
    return found


def _all(block: Block) -> Iterator[Expr]:
    for binding in block.bindings:
        yield binding.expr
        for _, inner in nested(binding.expr):
            yield from _all(inner)


def _operations(block: Block) -> Iterator[HeapOp]:
    """All that is done with heaps."""
    for expr in _all(block):
        if isinstance(expr, Apply) and isinstance(expr.op, HeapOp):
            yield expr.op


def _made_by_calls(body: Block) -> Iterator[str]:
    """The heaps in which recursions make nodes."""
    for expr in _all(body):
        if isinstance(expr, Apply) and isinstance(expr.op, Recurse):
            ops = (op for _, inner in nested(expr) for op in _operations(inner))
            yield from (op.heap for op in ops if isinstance(op, New))


def _numbers(body: Block) -> set[Operand]:
    """Variables that are numbers of nodes: those of which anything says it."""
    found: set[Operand] = set()
    pending = [body]
    while pending:
        for binding in pending.pop().bindings:
            match binding.expr:
                case Apply(New()):
                    found.update(binding.vars)
                case Apply(Fetch(), (number,)) | Apply(Peek(), (_, number, _)):
                    found.add(number)
                case _:
                    pass
            pending += [inner for _, inner in nested(binding.expr)]
    return {number for number in found if isinstance(number, Var)}


def _computes(expr: Expr) -> bool:
    return isinstance(expr, Apply) and isinstance(expr.op, Prim)


def _begins(body: Block, heap: str) -> bool:
    """Whether all nodes are made and looked at behind the one place that fills it."""
    loads = 0
    for binding in body.bindings:
        match binding.expr:
            case Apply(Load(name)) if name == heap:
                loads += 1
                continue
            case _:
                pass
        for op in _operations(Block((binding,), ())):
            if op.heap == heap and isinstance(op, Load):
                return False
            if op.heap == heap and not loads and not isinstance(op, Count):
                return False
    return loads == 1


def _is_for_all(body: Block, heap: str, counts: int) -> bool:
    """Whether the ledger is for all nodes, and nobody asks for more than that it is."""
    empty: set[Operand] = {Lit(0)}
    counted: set[Operand] = set()
    ledger: Binding | None = None
    is_filled = False
    for binding in body.bindings:
        match binding.expr:
            case Apply(Load(name)) if name == heap:
                is_filled = True
            case Apply(Count(name)) if name == heap:
                counted.update(binding.vars)
                empty.update(() if is_filled else binding.vars)
            case Apply(Ledger(name)) if name == heap:
                ledger = binding
            case _:
                pass
    if ledger is None or len(counted) != counts:
        return False
    base, end = operands(ledger.expr)
    if base not in empty or end not in counted or end in empty:
        return False
    others = (expr for expr in _all(body) if expr is not ledger.expr)
    if any(not counted.isdisjoint(operands(expr)) for expr in others):
        return False
    blocks = [body, *(inner for expr in _all(body) for _, inner in nested(expr))]
    if any(not counted.isdisjoint(block.results) for block in blocks):
        return False
    (var,) = ledger.vars
    return _only_entries(body, var, is_loop=False)


def _is_little(body: Block, ledger: Ledger, columns: int) -> bool:
    """Whether calls that add to the ledger do little besides."""
    exprs = ((b.vars, b.expr) for b in body.bindings)
    own = (v for v, e in exprs if isinstance(e, Apply) and e.op is ledger)
    ((var,),) = own
    for expr in _all(body):
        if isinstance(expr, Apply) and isinstance(expr.op, Recurse):
            inside = [e for _, inner in nested(expr) for e in _all(inner)]
            adds = any(isinstance(e, One) and e.cell is var for e in inside)
            if adds and len(inside) >= _WORTH * columns:
                return False
    return True


def _only_entries(block: Block, ledger: Var, is_loop: bool) -> bool:
    """Whether a ledger is only added to and read, outside of loops."""
    if ledger in block.results:
        return False
    for binding in block.bindings:
        expr = binding.expr
        match expr:
            case Apply(Peek(), (cell, *indices)) | One(cell, indices) if (
                cell is ledger and ledger not in indices
            ):
                if is_loop or len(indices) != 2 or not isinstance(indices[1], Lit):
                    return False
            case _ if ledger in operands(expr):
                return False
            case _:
                pass
        is_call = isinstance(expr, Apply) and isinstance(expr.op, Recurse)
        inside = is_loop or not (is_call or isinstance(expr, If))
        for _, inner in nested(expr):
            if not _only_entries(inner, ledger, inside):
                return False
    return True
